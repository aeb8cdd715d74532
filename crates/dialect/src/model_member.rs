//! The body for an address that names the model: what stands there instead of it.

use bytes::Bytes;

use crate::json::Cursor;
use crate::splice::{Edit, splice};

/// `body` with the string `value` under `name` in place of its `model`; where it says `name` itself, only without its `model`.
pub(crate) fn replaced(body: &Bytes, name: &str, value: &str) -> Bytes {
    let mut cursor = Cursor::new(body);
    let mut model = None;
    let mut said = false;
    cursor.enter(b'{');
    while let Some(key) = cursor.next_key() {
        let is_model = *key.name(body) == *b"model";
        said |= *key.name(body) == *name.as_bytes();
        let Some(place) = cursor.skip() else { break };
        if is_model {
            model = Some((key.span().start..place.end, key.removal(body, &place)));
        }
    }
    let Some((member, removal)) = model else {
        return body.clone();
    };
    let edit = if said {
        Edit {
            at: removal,
            text: "".into(),
        }
    } else {
        let json = |text: &str| serde_json::Value::from(text).to_string();
        Edit {
            at: member,
            text: format!("{}:{}", json(name), json(value)).into(),
        }
    };
    splice(body, vec![edit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_makes_way_for_what_the_address_wants_in_the_body() {
        let cases = [
            (
                r#"{ "model" : "m", "a": 1 }"#,
                r#"{ "anthropic_version":"v", "a": 1 }"#,
            ),
            (
                r#"{"a":{"model":"x"},"model":"m"}"#,
                r#"{"a":{"model":"x"},"anthropic_version":"v"}"#,
            ),
            (
                r#"{"model":"m","anthropic_version":"w"}"#,
                r#"{"anthropic_version":"w"}"#,
            ),
            (r#"{"a":1}"#, r#"{"a":1}"#),
        ];
        for (body, expected) in cases {
            let body = Bytes::from_static(body.as_bytes());
            assert_eq!(replaced(&body, "anthropic_version", "v"), expected);
        }
    }
}
