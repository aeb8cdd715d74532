//! The seals of Gemini's thoughts, as they have to come back.

use serde_json::Value;

use super::either;
use crate::ask::Complaint;
use crate::ask::field::complain;
use crate::seal::Sealer;

/// What stands for the seal of a call of another model.
const STAND_IN: &str = "skip_thought_signature_validator";

/// Whether the model seals its calls and wants the seals back.
pub(crate) fn seals_calls(model: &str) -> bool {
    model.contains("gemini-3")
}

/// Seals are the provider's own, and none is missing in the turn at hand.
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures>)
pub(super) fn check_seals(body: &Value, model: &str) -> Result<(), Complaint> {
    let contents: Vec<&Value> = either(body, "contents")
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let parts = |content: &'_ Value| content["parts"].as_array().cloned().unwrap_or_default();
    for part in contents.iter().flat_map(|content| parts(content)) {
        let seal = either(&part, "thoughtSignature").as_str();
        if seal.is_some_and(|seal| seal != STAND_IN && !Sealer::Google.made(seal)) {
            return Err(complain("Thought signature is not valid."));
        }
    }
    let asks = |content: &&Value| {
        let is_result = |part: &Value| !either(part, "functionResponse").is_null();
        content["role"] != "model" && !parts(content).iter().all(is_result)
    };
    let start = contents.iter().rposition(asks).map_or(0, |at| at + 1);
    for content in &contents[start..] {
        let parts = parts(content);
        let mut calls = parts
            .iter()
            .filter(|part| !either(part, "functionCall").is_null());
        let first = calls.next();
        if seals_calls(model)
            && first.is_some_and(|call| either(call, "thoughtSignature").is_null())
        {
            return Err(complain(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and \
                 missing thought_signature may lead to degraded model performance.",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ask::Ask;
    use crate::dialect::{Dialect, Door};

    #[test]
    fn newer_models_want_their_seals_back() {
        let own = Sealer::Google.seal(7);
        let other = Sealer::Anthropic.seal(7);
        let told = |model: &str, seal: Option<&str>, later: &Value| {
            let mut call = json!({"functionCall": {"name": "f", "args": {}}});
            if let Some(seal) = seal {
                call["thoughtSignature"] = json!(seal);
            }
            let body = json!({"contents": [
                {"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [call]},
                {"role": "user", "parts": [later]}]});
            let door = Door {
                model: Some(model.to_owned()),
                ..Door::to(Dialect::Gemini)
            };
            let ask = Ask::read(body.to_string().as_bytes(), &door);
            ask.err()
                .map_or_else(String::new, |complaint| complaint.message)
        };
        let result = json!({"functionResponse": {"name": "f", "response": {"output": "y"}}});
        let question = json!({"text": "z"});
        let cases = [
            ("gemini-3-pro-preview", Some(&*own), &result, ""),
            ("gemini-3-pro-preview", Some(STAND_IN), &result, ""),
            ("gemini-3-pro-preview", Some(&*other), &result, "not valid"),
            (
                "gemini-3-pro-preview",
                None,
                &result,
                "missing a thought_signature",
            ),
            ("gemini-3-pro-preview", None, &question, ""),
            ("gemini-2.5-flash", None, &result, ""),
        ];
        for (model, seal, later, words) in cases {
            let said = told(model, seal, later);
            assert!(
                said.contains(words) && said.is_empty() == words.is_empty(),
                "{said}"
            );
        }
    }
}
