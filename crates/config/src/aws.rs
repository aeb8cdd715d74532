//! Credentials of Amazon's.

use crate::Secret;

/// By what requests to Amazon are signed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AwsCredentials {
    /// Names the secret.
    pub access_key_id: Secret<String>,
    /// Is never sent.
    pub secret_access_key: Secret<String>,
    /// Of credentials that hold for some hours only.
    pub session_token: Option<Secret<String>>,
    /// The region for which is signed, like `us-east-1`.
    pub region: String,
}
