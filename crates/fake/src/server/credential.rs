//! The key that a call carries, and whether it is one of those that are accepted.

use http::{HeaderMap, request};

use crate::dialect::Dialect;
use crate::model::Profile;

use super::error::Failure;
use super::signature::Signature;

/// The longest key that is told from others.
const KEY_CHARS_MAX: usize = 512;

/// The key that a call carries: Azure's header, or a bearer token, or the headers of other providers, or Google's parameter.
/// Of an endless one only the beginning is kept.
pub(super) fn key(headers: &HeaderMap, query: Option<&str>) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let parameter = || {
        let mut pairs = query.unwrap_or_default().split('&');
        pairs.find_map(|pair| pair.strip_prefix("key="))
    };
    text("api-key")
        .or_else(|| text("authorization").and_then(|value| value.strip_prefix("Bearer ")))
        .or_else(|| text("x-api-key"))
        .or_else(|| text("x-goog-api-key"))
        .or_else(|| Some(Signature::read(text("authorization")?)?.access_key))
        .or_else(parameter)
        .map(|key| key.chars().take(KEY_CHARS_MAX).collect())
        .unwrap_or_default()
}

/// Whether a call may come in: with one of `keys`, or signed with the secret of one that is written `id:secret`. Without keys
/// everybody may.
pub(super) fn check(
    keys: &[String],
    dialect: Dialect,
    manners: Profile,
    parts: &request::Parts,
    key: &str,
    body: &[u8],
) -> Result<(), Failure> {
    if keys.is_empty() || keys.iter().any(|known| known == key) {
        return Ok(());
    }
    match (dialect, manners) {
        (Dialect::Converse, _) => signed(keys, parts, body),
        (Dialect::Gemini, Profile::Gemini) => Err(Failure::wrong_gemini_key(key)),
        _ => Err(Failure::unauthorized(manners, key)),
    }
}

fn signed(keys: &[String], parts: &request::Parts, body: &[u8]) -> Result<(), Failure> {
    let authorization = parts.headers.get("authorization");
    let authorization = authorization.and_then(|value| value.to_str().ok());
    let Some(authorization) = authorization else {
        return Err(Failure::forbidden(
            "MissingAuthenticationTokenException",
            "Missing Authentication Token",
        ));
    };
    let unknown = Failure::forbidden(
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    );
    let Some(signature) = Signature::read(authorization) else {
        return Err(unknown);
    };
    let pairs = keys.iter().filter_map(|key| key.split_once(':'));
    let secret = pairs.filter(|(id, _)| *id == signature.access_key);
    match secret.map(|(_, secret)| secret).next() {
        None => Err(unknown),
        Some(secret) if signature.fits(parts, body, secret) => Ok(()),
        Some(_) => Err(Failure::forbidden(
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key \
             and signing method. Consult the service documentation for details.",
        )),
    }
}
