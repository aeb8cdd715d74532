//! AWS' signature, version 4, as the provider checks it: made again from the request and the secret, and compared.
//!
//! Written from the specification and not with the crate that signs in the gateway, so that a mistake there shows here.

use hmac::{Hmac, KeyInit, Mac};
use http::request;
use sha2::{Digest, Sha256};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What an `authorization` header with a signature says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Signature<'a> {
    pub(super) access_key: &'a str,
    /// Day, region, service and `aws4_request`.
    scope: &'a str,
    signed_headers: &'a str,
    signature: &'a str,
}

impl<'a> Signature<'a> {
    /// Reads the header; nothing if it carries no such signature.
    pub(super) fn read(authorization: &'a str) -> Option<Self> {
        let fields = authorization.strip_prefix(ALGORITHM)?;
        let field = |name: &str| {
            fields
                .split(',')
                .find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='))
        };
        let (access_key, scope) = field("Credential")?.split_once('/')?;
        Some(Self {
            access_key,
            scope,
            signed_headers: field("SignedHeaders")?,
            signature: field("Signature")?,
        })
    }

    /// Whether this is the signature of the request under `secret`.
    pub(super) fn fits(&self, parts: &request::Parts, body: &[u8], secret: &str) -> bool {
        let Some(date) = header(parts, "x-amz-date") else {
            return false;
        };
        // The host is always signed, and the day is that of the date.
        let signed: Vec<&str> = self.signed_headers.split(';').collect();
        if !signed.contains(&"host")
            || !date.starts_with(self.scope.split('/').next().unwrap_or("-"))
        {
            return false;
        }
        let Some(canonical) = self.canonical(parts, body) else {
            return false;
        };
        let digest = hexadecimal(&Sha256::digest(canonical.as_bytes()));
        let text = format!("{ALGORITHM}\n{date}\n{}\n{digest}", self.scope);
        let mut key = format!("AWS4{secret}").into_bytes();
        for piece in self.scope.split('/') {
            key = authenticated(&key, piece.as_bytes());
        }
        hexadecimal(&authenticated(&key, text.as_bytes())) == self.signature
    }

    /// The request in the form that is signed; nothing if a header that should be signed is missing.
    fn canonical(&self, parts: &request::Parts, body: &[u8]) -> Option<String> {
        let mut query: Vec<&str> = parts.uri.query().unwrap_or_default().split('&').collect();
        query.sort_unstable();
        let mut headers = String::new();
        for name in self.signed_headers.split(';') {
            let value = header(parts, name)?;
            let words: Vec<&str> = value.split_whitespace().collect();
            headers.push_str(&format!("{name}:{}\n", words.join(" ")));
        }
        let unsigned =
            header(parts, "x-amz-content-sha256").filter(|hash| hash == "UNSIGNED-PAYLOAD");
        let payload = unsigned.unwrap_or_else(|| hexadecimal(&Sha256::digest(body)));
        Some(format!(
            "{}\n{}\n{}\n{headers}\n{}\n{payload}",
            parts.method,
            encoded(parts.uri.path()),
            query.join("&"),
            self.signed_headers,
        ))
    }
}

fn header(parts: &request::Parts, name: &str) -> Option<String> {
    let value = parts
        .headers
        .get(name)
        .and_then(|value| value.to_str().ok());
    match (value, name) {
        (Some(value), _) => Some(value.to_owned()),
        // HTTP/2 carries the host elsewhere.
        (None, "host") => parts.uri.authority().map(ToString::to_string),
        (None, _) => None,
    }
}

/// The path as it came, encoded once more, as all services but S3 want it.
fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len() + 8);
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn authenticated(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key).expect("this authentication takes keys of any length");
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
