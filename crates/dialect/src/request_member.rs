//! Reading the members of a request that decide what is charged: strictly, whatever the dialect.
//!
//! A request that means one thing here and another upstream would be charged wrongly, so what is
//! impossible is refused with its name.

use serde::de::IgnoredAny;

use crate::json::{self, Cursor, Span};
use crate::request_error::{RequestError, wrong};

/// The largest output maximum that is believed.
pub(crate) const OUTPUT_CAP_MAX: u64 = 1 << 31;
/// The longest model name.
pub(crate) const MODEL_BYTES_MAX: usize = 256;

/// The body's object, after the whole body was found to be JSON in UTF-8.
pub(crate) fn checked_object(body: &[u8]) -> Result<Cursor<'_>, RequestError> {
    checked_object_with(body, "`model` and `messages`")
}

/// The same of a request that needs other members, which an error names.
pub(crate) fn checked_object_with<'t>(
    body: &'t [u8],
    needed: &str,
) -> Result<Cursor<'t>, RequestError> {
    checked_members(
        body,
        &format!("the body must be a JSON object with {needed}"),
    )
}

/// The same, with what to say `otherwise`, where the body is JSON of another kind.
pub(crate) fn checked_members<'b>(
    body: &'b [u8],
    otherwise: &str,
) -> Result<Cursor<'b>, RequestError> {
    let text = simdutf8::compat::from_utf8(body).map_err(|error| RequestError {
        param: None,
        message: format!(
            "the body is not UTF-8: invalid byte at offset {}",
            error.valid_up_to()
        ),
    })?;
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| RequestError {
        param: None,
        message: format!("the body is not valid JSON: {error}"),
    })?;
    let root = Cursor::new(body);
    if root.peek() == b'{' {
        Ok(root)
    } else {
        Err(RequestError {
            param: None,
            message: otherwise.to_owned(),
        })
    }
}

/// The name of the model, which every request has.
pub(crate) fn model(body: &[u8], value: Option<&Span>) -> Result<String, RequestError> {
    let Some(value) = value else {
        return Err(RequestError::of(
            "model",
            "`model` is missing: name the model or route to use",
        ));
    };
    if body[value.start] != b'"' {
        return Err(wrong("model", "a string", &Cursor::at(body, value.start)));
    }
    match json::string(body, value) {
        Some(name) if name.is_empty() => Err(RequestError::of(
            "model",
            "`model` is empty: name the model or route to use",
        )),
        Some(name) if name.len() <= MODEL_BYTES_MAX => Ok(name.into_owned()),
        Some(_) => Err(RequestError {
            param: Some("model"),
            message: format!("`model` is longer than {MODEL_BYTES_MAX} bytes"),
        }),
        None => Err(RequestError::of(
            "model",
            "`model` holds an escape that stands for no character",
        )),
    }
}

/// A boolean, false where it is absent.
pub(crate) fn flag(
    body: &[u8],
    param: &'static str,
    value: Option<&Span>,
) -> Result<bool, RequestError> {
    let Some(value) = value else { return Ok(false) };
    match &body[value.clone()] {
        b"true" => Ok(true),
        b"false" => Ok(false),
        _ => Err(wrong(
            param,
            "true or false",
            &Cursor::at(body, value.start),
        )),
    }
}

/// A whole number in `range`; null is absent.
pub(crate) fn count(
    body: &[u8],
    param: &'static str,
    value: Option<&Span>,
    range: std::ops::RangeInclusive<u64>,
) -> Result<Option<u64>, RequestError> {
    let Some(value) = value.filter(|value| !json::is_null(body, value)) else {
        return Ok(None);
    };
    match json::unsigned(body, value).filter(|number| range.contains(number)) {
        Some(number) => Ok(Some(number)),
        None => {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            Err(wrong(param, &expected, &Cursor::at(body, value.start)))
        }
    }
}

/// Bytes that the value takes, 0 where it is absent.
pub(crate) fn length(value: Option<&Span>) -> u64 {
    value.map_or(0, |value| value.len() as u64)
}
