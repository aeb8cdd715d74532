//! Signing requests as Amazon wants them where no key is sent: AWS Signature Version 4.
//!
//! A signature holds for one body, one address and a few minutes, so that it is made anew for every attempt. How it is made is
//! the business of Amazon's own crate; this says what is signed. It must not know where keys come from, and reads no clock.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings};
use aws_sigv4::sign::v4;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Request};
use sluicegate_config::AwsCredentials;
use sluicegate_core::WallTime;

/// A request that cannot be signed: its address has no host, or a part of the key stands in no header.
#[derive(Debug, thiserror::Error)]
#[error("the request cannot be signed: {0}")]
pub(crate) struct SigningFailed(String);

/// Signs `request`, whose body will be `body`: method, address, content type and body, which must not change any more. Its other
/// headers are not signed, since a proxy may change them. Headers of an earlier signature are replaced.
///
/// `service` is the name by which the service is signed for, like `bedrock`. `now` has to be right to a few minutes, or the provider
/// refuses it.
///
/// # Errors
/// [`SigningFailed`]; nothing has been added then.
pub(crate) fn sign<B>(
    request: &mut Request<B>,
    body: &[u8],
    credentials: &AwsCredentials,
    service: &str,
    now: WallTime,
) -> Result<(), SigningFailed> {
    let failed = |error: &dyn std::fmt::Display| SigningFailed(error.to_string());
    if request.uri().authority().is_none() {
        return Err(failed(&"its address names no host"));
    }
    let token = credentials.session_token.as_ref();
    let identity = Credentials::new(
        credentials.access_key_id.expose().clone(),
        credentials.secret_access_key.expose().clone(),
        token.map(|token| token.expose().clone()),
        None,
        "configuration",
    )
    .into();
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(now.as_unix_nanos());
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(&credentials.region)
        .name(service)
        .time(time)
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| failed(&error))?
        .into();
    let content_type = request.headers().get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let headers = content_type.map(|value| (CONTENT_TYPE.as_str(), value));
    let signable = SignableRequest::new(
        request.method().as_str(),
        request.uri().to_string(),
        headers.into_iter(),
        SignableBody::Bytes(body),
    )
    .map_err(|error| failed(&error))?;
    let signed = aws_sigv4::http_request::sign(signable, &params);
    let (instructions, _) = signed.map_err(|error| failed(&error))?.into_parts();
    let mut added = Vec::new();
    for (name, value) in instructions.headers() {
        let name = HeaderName::try_from(name).map_err(|error| failed(&error))?;
        let mut value = HeaderValue::try_from(value).map_err(|error| failed(&error))?;
        value.set_sensitive(true);
        added.push((name, value));
    }
    for (name, value) in added {
        request.headers_mut().insert(name, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_config::Secret;

    /// 2026-11-30T08:15:30Z.
    const NOW: WallTime = WallTime::from_unix_nanos(1_796_026_530_000_000_000);

    fn credentials(region: &str, session_token: Option<&str>) -> AwsCredentials {
        let secret = |text: &str| Secret::new(text.to_owned());
        AwsCredentials {
            access_key_id: secret("AKIDEXAMPLE"),
            secret_access_key: secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: session_token.map(secret),
            region: region.to_owned(),
        }
    }

    fn request(address: &str) -> Request<()> {
        Request::post(address)
            .header(CONTENT_TYPE, "application/json")
            .header("x-unsigned", "1")
            .body(())
            .expect("it is a request")
    }

    /// What botocore 1.44 signs the same requests with.
    #[test]
    fn signatures_are_those_of_amazons_sdk() {
        let cases = [
            (
                "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse",
                r#"{"messages":[]}"#,
                None,
                ("bedrock", "us-east-1"),
                "5351874064732043943f597cf9e034787ec881cc0a84f618d2b8bb015b057c52",
            ),
            (
                "https://bedrock-runtime.eu-central-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A1%3Ainference-profile%2Fx/converse-stream",
                r#"{"messages":["수문"]}"#,
                Some("TOKEN/+=="),
                ("bedrock", "eu-central-1"),
                "7676e16a04b8f43cf80348c1112c6e0d6e8044576c3a7b0d9b0a6bb2da3bddaf",
            ),
            (
                "http://127.0.0.1:9000/v1/chat/completions?a=b%20c",
                "",
                None,
                ("bedrock-mantle", "us-east-1"),
                "3082230fed2a87784896d4fcb4097cf7512c388206b2d5b3e05f311812be9991",
            ),
        ];
        for (address, body, token, (service, region), signature) in cases {
            let mut request = request(address);
            let credentials = credentials(region, token);
            sign(&mut request, body.as_bytes(), &credentials, service, NOW)
                .expect("it can be signed");
            let headers = request.headers();
            let named = if token.is_some() {
                "content-type;host;x-amz-date;x-amz-security-token"
            } else {
                "content-type;host;x-amz-date"
            };
            let expected = format!(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/{region}/{service}/aws4_request, SignedHeaders={named}, Signature={signature}"
            );
            assert_eq!(headers["authorization"], expected, "{address}");
            assert!(headers["authorization"].is_sensitive());
            assert_eq!(headers["x-amz-date"], "20261130T081530Z");
            assert_eq!(
                headers
                    .get("x-amz-security-token")
                    .map(HeaderValue::as_bytes),
                token.map(str::as_bytes)
            );
        }
    }

    #[test]
    fn signing_anew_replaces_the_signature() {
        let with = |token| credentials("us-east-1", token);
        let mut request = request("https://x.example/model/a/converse");
        sign(&mut request, b"{}", &with(Some("old")), "bedrock", NOW).expect("it can be signed");
        let later = WallTime::from_unix_nanos(NOW.as_unix_nanos() + 60_000_000_000);
        sign(&mut request, b"{}", &with(Some("new")), "bedrock", later).expect("it can be signed");
        assert_eq!(request.headers()["x-amz-date"], "20261130T081630Z");
        assert_eq!(request.headers()["x-amz-security-token"], "new");
        assert_eq!(request.headers().get_all("authorization").iter().count(), 1);
    }

    #[test]
    fn what_cannot_be_signed_stays_as_it_was() {
        let with = |token| credentials("us-east-1", token);
        let mut without_host = request("/model/a/converse");
        let failed = sign(&mut without_host, b"{}", &with(None), "bedrock", NOW);
        failed.expect_err("nobody is named");
        let mut odd = request("https://x.example/");
        let failed = sign(&mut odd, b"{}", &with(Some("a\nb")), "bedrock", NOW)
            .expect_err("no header holds it");
        assert!(!failed.to_string().contains("a\nb"), "{failed}");
        for request in [without_host, odd] {
            assert_eq!(request.headers().len(), 2);
        }
    }
}
