//! Fields of a request by their type, and the complaint about one that is missing or of another type.

use serde_json::{Map, Value};

use super::Complaint;

/// The request as a JSON object.
pub(super) fn object(body: &[u8]) -> Result<Map<String, Value>, Complaint> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(body)) => Ok(body),
        _ => Err(complain(
            "We could not parse the JSON body of your request: expected a JSON object.",
        )),
    }
}

/// A field that is there and not `null`.
pub(super) fn given<'a>(body: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    body.get(name).filter(|value| !value.is_null())
}

/// A boolean that is false where it is missing.
pub(super) fn flag(body: &Map<String, Value>, name: &'static str) -> Result<bool, Complaint> {
    match given(body, name) {
        None => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(wrong_type(name, "a boolean")),
    }
}

/// A positive number.
pub(super) fn count(
    body: &Map<String, Value>,
    name: &'static str,
) -> Result<Option<u64>, Complaint> {
    match given(body, name) {
        None => Ok(None),
        Some(value) => match value.as_u64() {
            Some(0) => Err(Complaint {
                message: format!(
                    "Invalid '{name}': integer below minimum value. Expected a value >= 1."
                ),
                param: Some(name),
                code: Some("integer_below_min_value"),
            }),
            Some(count) => Ok(Some(count)),
            None => Err(wrong_type(name, "a positive integer")),
        },
    }
}

/// The items of a list that may be missing.
pub(super) fn list<'a>(
    body: &'a Map<String, Value>,
    name: &'static str,
) -> Result<&'a [Value], Complaint> {
    match given(body, name) {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(wrong_type(name, "an array")),
    }
}

/// One text or a list of texts.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(texts)) => texts
            .iter()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// A complaint in these words alone.
pub(super) fn complain(message: impl Into<String>) -> Complaint {
    Complaint {
        message: message.into(),
        param: None,
        code: None,
    }
}

pub(super) fn missing(param: &'static str) -> Complaint {
    Complaint {
        message: format!("Missing required parameter: '{param}'."),
        param: Some(param),
        code: Some("missing_required_parameter"),
    }
}

pub(super) fn wrong_type(param: &'static str, expected: &str) -> Complaint {
    Complaint {
        message: format!("Invalid type for '{param}': expected {expected}."),
        param: Some(param),
        code: Some("invalid_type"),
    }
}

pub(super) fn invalid(param: &'static str, message: String) -> Complaint {
    Complaint {
        message,
        param: Some(param),
        code: Some("invalid_value"),
    }
}
