//! What models refuse of how their tokens are to be chosen, in their provider's words.
//!
//! Which models they are is no knowledge of this crate: the settings name them.

use serde_json::{Map, Value};

use super::Complaint;
use super::field::{complain, given};
use crate::dialect::Dialect;
use crate::settings::Sampling as Models;

/// What a request says of it, as far as some model refuses it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Sampling {
    temperature: Option<f64>,
    top_p: Option<f64>,
    /// The first that is there of what has no value that every model takes.
    other: Option<&'static str>,
}

impl Sampling {
    /// Of the members of `body`; `others` are its members that have no value which every model takes.
    pub(super) fn of(
        body: &Map<String, Value>,
        [temperature, top_p]: [&str; 2],
        others: &[&'static str],
    ) -> Self {
        let number = |name| given(body, name).and_then(Value::as_f64);
        let says = |value: &Value| *value != Value::Bool(false) && value.as_f64() != Some(0.0);
        let mut others = others.iter().copied();
        Self {
            temperature: number(temperature),
            top_p: number(top_p),
            other: others.find(|name| given(body, name).is_some_and(says)),
        }
    }

    /// The same with `name`, which stood elsewhere.
    pub(super) fn or(self, name: Option<&'static str>) -> Self {
        Self {
            other: self.other.or(name),
            ..self
        }
    }

    /// What `model` says to it in `dialect`.
    pub(super) fn check(
        &self,
        dialect: Dialect,
        model: &str,
        models: &Models,
    ) -> Result<(), Complaint> {
        let is_one = |names: &[String]| names.iter().any(|name| names_model(name, model));
        let both = self.temperature.is_some() && self.top_p.is_some();
        if both && is_one(&models.one) && is_claudes(dialect) {
            return Err(of_claude(
                dialect,
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
            ));
        }
        match self.refused() {
            Some((name, value)) if is_one(&models.fixed) => match dialect {
                Dialect::Messages | Dialect::Converse => Err(of_claude(
                    dialect,
                    &format!("`{name}` is deprecated for this model."),
                )),
                Dialect::Chat => Err(of_chat(name, value)),
                Dialect::Responses => Err(unsupported(name, None)),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// What says something other than holds without it.
    fn refused(&self) -> Option<(&'static str, Option<f64>)> {
        let differs = |value: Option<f64>| value.filter(|value| *value != 1.0);
        let temperature = differs(self.temperature).map(|value| ("temperature", Some(value)));
        let top_p = differs(self.top_p).map(|value| ("top_p", Some(value)));
        let other = self.other.map(|name| (name, None));
        temperature.or(top_p).or(other)
    }
}

fn is_claudes(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Messages | Dialect::Converse)
}

/// Amazon passes on what the model says.
fn of_claude(dialect: Dialect, words: &str) -> Complaint {
    match dialect {
        Dialect::Converse => complain(format!("The model returned the following errors: {words}")),
        _ => complain(words),
    }
}

fn of_chat(name: &'static str, value: Option<f64>) -> Complaint {
    match value {
        Some(value) if name == "temperature" => Complaint {
            message: format!(
                "Unsupported value: 'temperature' does not support {value} with this model. Only the default (1) value is supported."
            ),
            param: Some(name),
            code: Some("unsupported_value"),
        },
        _ => unsupported(name, Some("unsupported_parameter")),
    }
}

fn unsupported(name: &'static str, code: Option<&'static str>) -> Complaint {
    Complaint {
        message: format!("Unsupported parameter: '{name}' is not supported with this model."),
        param: Some(name),
        code,
    }
}

/// A `*` at the beginning or at the end of a name stands for anything.
fn names_model(name: &str, model: &str) -> bool {
    let stem = name.trim_matches('*');
    match (name.starts_with('*'), name.ends_with('*')) {
        (false, false) => model == stem,
        (false, true) => model.starts_with(stem),
        (true, false) => model.ends_with(stem),
        (true, true) => model.contains(stem),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Ask;
    use super::*;
    use crate::dialect::Door;

    fn check(dialect: Dialect, model: &str, members: &Value) -> Result<(), Complaint> {
        let models = Models {
            fixed: vec!["*claude-b-*".to_owned(), "gpt-b*".to_owned()],
            one: vec!["*claude-a-*".to_owned()],
        };
        let said = json!([{"role": "user", "content": "x"}]);
        let mut body = match dialect {
            Dialect::Responses => json!({"input": "x"}),
            Dialect::Converse => {
                json!({"messages": [{"role": "user", "content": [{"text": "x"}]}]})
            }
            _ => json!({"max_tokens": 9, "messages": said}),
        };
        let mut door = Door::to(dialect);
        match dialect {
            Dialect::Converse => door.model = Some(model.to_owned()),
            _ => body["model"] = json!(model),
        }
        let all = body.as_object_mut().unwrap();
        all.extend(members.as_object().unwrap().clone());
        let ask = Ask::read(body.to_string().as_bytes(), &door).unwrap();
        ask.check_sampling(&models)
    }

    #[test]
    fn what_a_model_refuses_is_refused_in_its_providers_words() {
        let both = json!({"temperature": 0.2, "top_p": 0.9});
        let both_at_amazon = json!({"inferenceConfig": {"temperature": 1.0, "topP": 0.9}});
        for (dialect, model, members, words, code) in [
            (
                Dialect::Messages,
                "claude-a-1",
                both.clone(),
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
                None,
            ),
            (
                Dialect::Converse,
                "us.anthropic.claude-a-1-v1:0",
                both_at_amazon,
                "The model returned the following errors: `temperature` and `top_p` cannot both be specified for this model. Please use \
                 only one.",
                None,
            ),
            (
                Dialect::Messages,
                "claude-b-1",
                both.clone(),
                "`temperature` is deprecated for this model.",
                None,
            ),
            (
                Dialect::Messages,
                "claude-b-1",
                json!({"temperature": 1, "top_k": 4}),
                "`top_k` is deprecated for this model.",
                None,
            ),
            (
                Dialect::Converse,
                "eu.anthropic.claude-b-1-v1:0",
                json!({"inferenceConfig": {"topP": 0.9}}),
                "The model returned the following errors: `top_p` is deprecated for this model.",
                None,
            ),
            (
                Dialect::Converse,
                "eu.anthropic.claude-b-1-v1:0",
                json!({"additionalModelRequestFields": {"top_k": 4}}),
                "The model returned the following errors: `top_k` is deprecated for this model.",
                None,
            ),
            (
                Dialect::Chat,
                "gpt-b-mini",
                both.clone(),
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                Some("unsupported_value"),
            ),
            (
                Dialect::Chat,
                "gpt-b-mini",
                json!({"presence_penalty": 0, "logprobs": true}),
                "Unsupported parameter: 'logprobs' is not supported with this model.",
                Some("unsupported_parameter"),
            ),
            (
                Dialect::Responses,
                "gpt-b-mini",
                both,
                "Unsupported parameter: 'temperature' is not supported with this model.",
                None,
            ),
        ] {
            let complaint = check(dialect, model, &members).unwrap_err();
            assert_eq!(complaint.message, words, "{model} {members}");
            assert_eq!(complaint.code, code, "{model} {members}");
        }
    }

    #[test]
    fn what_holds_anyway_is_taken_and_so_is_all_by_other_models() {
        let both = json!({"temperature": 0.2, "top_p": 0.9, "top_k": 4});
        for (dialect, model, members) in [
            (
                Dialect::Messages,
                "claude-a-1",
                json!({"top_p": 0.9, "top_k": 4}),
            ),
            (
                Dialect::Messages,
                "claude-b-1",
                json!({"temperature": 1.0, "top_p": 1}),
            ),
            (Dialect::Messages, "claude-c-1", both.clone()),
            (
                Dialect::Chat,
                "gpt-b",
                json!({"temperature": 1, "logprobs": false, "logit_bias": null}),
            ),
            (Dialect::Chat, "not-gpt-b", both.clone()),
            (Dialect::Chat, "claude-a-1", both),
        ] {
            assert_eq!(check(dialect, model, &members), Ok(()), "{model} {members}");
        }
    }
}
