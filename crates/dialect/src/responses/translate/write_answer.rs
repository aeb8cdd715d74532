//! A canonical answer as a response.

use bytes::Bytes;

use super::asked::Asked;
use super::output::{COMPLETED, Content, Item, Response, Summary, status};
use super::seal;
use crate::canonical::seal::before_call;
use crate::canonical::{Answer, Part, Stamp};
use crate::openai::logprobs;
use crate::wire_form::to_json;

/// Writes an answer. What it lacks of an id and a model's name is the stamp's. What was said in a row
/// is one message.
pub fn write_answer(answer: &Answer, stamp: &Stamp) -> Bytes {
    let or = |told: &str, stamp: &str| if told.is_empty() { stamp } else { told }.to_owned();
    let stamp = Stamp {
        id: or(&answer.id, &stamp.id),
        model: or(&answer.model, &stamp.model),
        ..stamp.clone()
    };
    let mut items = Vec::new();
    for part in &answer.parts {
        add(part, &stamp.id, &mut items);
    }
    let texts = items.iter_mut().find_map(|item| match item {
        Item::Message { content, .. } => content
            .iter_mut()
            .find(|part| matches!(part, Content::OutputText { .. })),
        _ => None,
    });
    if let Some(text) = texts {
        text.tell(logprobs::write(&answer.logprobs));
    }
    let finish = answer.finish.clone().with_calls(answer.calls_tools());
    if let Some((last, others)) = items.split_last_mut() {
        others.iter_mut().for_each(|item| item.complete(COMPLETED));
        last.complete(status(&finish).0);
    }
    let asked = Asked::of(&stamp.request);
    let response = Response::new(&stamp, &asked, &items, Some(&finish), answer.usage);
    Bytes::from(to_json(&response))
}

fn add(part: &Part, id: &str, items: &mut Vec<Item>) {
    let index = items.len();
    match part {
        Part::Text(text) => say(Content::text(text.clone()), id, items),
        Part::Refusal(refusal) => {
            let refusal = refusal.clone();
            say(Content::Refusal { refusal }, id, items);
        }
        Part::Thinking { text, signature } => {
            let mut item = Item::thought(id, index);
            if let Item::Reasoning {
                summary,
                encrypted_content,
                ..
            } = &mut item
            {
                if !text.is_empty() {
                    summary.push(Summary::SummaryText { text: text.clone() });
                }
                *encrypted_content = signature.as_deref().map(seal::of_thought);
            }
            items.push(item);
        }
        Part::SealedThinking(data) => items.push(sealed(data, id, index)),
        Part::ToolCall {
            id: call_id,
            name,
            arguments: written,
            signature,
        } => {
            let seal = signature.as_deref().map(before_call);
            items.extend(seal.map(|seal| sealed(&seal, id, index)));
            let mut item = Item::call(id, items.len(), call_id, name);
            if let Item::FunctionCall { arguments, .. } = &mut item {
                arguments.clone_from(written);
            }
            items.push(item);
        }
        // No answer of a provider holds the others.
        Part::Image(_) | Part::Document { .. } | Part::Audio { .. } | Part::ToolResult { .. } => {}
    }
}

fn say(part: Content, id: &str, items: &mut Vec<Item>) {
    if !matches!(items.last(), Some(Item::Message { .. })) {
        items.push(Item::message(id, items.len()));
    }
    if let Some(Item::Message { content, .. }) = items.last_mut() {
        content.push(part);
    }
}

/// An item of thoughts that are not shown.
pub(super) fn sealed(data: &str, answer_id: &str, index: usize) -> Item {
    let mut item = Item::thought(answer_id, index);
    if let Item::Reasoning {
        encrypted_content, ..
    } = &mut item
    {
        *encrypted_content = Some(seal::of_sealed(data));
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{Event, FinishReason};
    use bytes::BytesMut;
    use serde_json::{Value, json};

    fn stamp(request: &Value) -> Stamp {
        Stamp {
            request: Bytes::from(request.to_string()),
            ..crate::Dialect::OpenAiResponses.stamp("1", "m", 0)
        }
    }

    fn answer() -> Answer {
        Answer {
            id: String::new(),
            model: String::new(),
            parts: vec![Part::Text("hi".to_owned())],
            logprobs: Vec::new(),
            finish: FinishReason::Stop,
            usage: None,
        }
    }

    /// The response of each event that holds one, and the whole one.
    fn responses(request: &Value) -> Vec<Value> {
        let whole = write_answer(&answer(), &stamp(request));
        let mut all = vec![serde_json::from_slice(&whole).expect("JSON")];
        let mut writer = super::super::StreamWriter::new(stamp(request));
        let mut out = BytesMut::new();
        let events: Vec<Event> = answer().into_events();
        for event in &events {
            writer.write(event, &mut out);
        }
        let said = String::from_utf8(out.to_vec()).expect("UTF-8");
        let data = said.lines().filter_map(|line| line.strip_prefix("data: "));
        let events = data.map(|data| serde_json::from_str::<Value>(data).expect("JSON"));
        all.extend(events.filter_map(|event| event.get("response").cloned()));
        assert_eq!(all.len(), 4, "{said}");
        all
    }

    #[test]
    fn a_response_repeats_what_was_asked() {
        let asked = json!({
            "instructions": "be brief", "max_output_tokens": 64, "metadata": {"run": "7"},
            "parallel_tool_calls": false, "reasoning": {"effort": "low", "summary": null},
            "temperature": 0.25, "top_p": 0.5, "tool_choice": {"type": "function", "name": "f"},
            "tools": [{"type": "function", "name": "f", "parameters": {}, "x": 1}],
            "text": {"format": {"type": "json_object"}, "verbosity": "low"},
            "truncation": "auto", "user": "u", "safety_identifier": "s", "prompt_cache_key": "k",
        });
        let mut request = asked.clone();
        request["model"] = json!("other");
        request["input"] = json!("hi");
        for response in responses(&request) {
            for (name, value) in asked.as_object().expect("an object") {
                assert_eq!(response[name], *value, "{name}");
            }
            assert_eq!(
                (&response["model"], &response["store"]),
                (&json!("m"), &json!(false))
            );
        }
    }

    #[test]
    fn what_was_not_asked_is_what_openai_tells_then() {
        for request in [json!({"input": "hi", "tools": null}), json!([])] {
            for response in responses(&request) {
                for (name, value) in [
                    ("instructions", Value::Null),
                    ("metadata", json!({})),
                    ("parallel_tool_calls", json!(true)),
                    ("reasoning", json!({"effort": null, "summary": null})),
                    ("text", json!({"format": {"type": "text"}})),
                    ("tool_choice", json!("auto")),
                    ("tools", json!([])),
                    ("truncation", json!("disabled")),
                    ("temperature", Value::Null),
                ] {
                    assert_eq!(response.get(name), Some(&value), "{name}");
                }
                assert_eq!(response.get("safety_identifier"), None);
            }
        }
    }
}
