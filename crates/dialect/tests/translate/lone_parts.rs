//! A message of one part, which the other side may not be able to say: what is left of it is a message, or there is none.

use serde_json::{Value, json};
use sluicegate_dialect::canonical::{Part, Role, Target};
use sluicegate_dialect::{Dialect, ProviderDialect, Translation, translate_request};

use crate::fixtures::{DIALECTS, targets};
use crate::provider_only::{PROVIDER_ONLY, targets_of};

/// What a user may send in each dialect, piece by piece; beside it a text. The first five of each dialect are not taken by everybody.
fn parts(dialect: Dialect) -> Vec<Value> {
    match dialect {
        Dialect::OpenAiChat => vec![
            json!({"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}),
            json!({"type":"image_url","image_url":{"url":"https://a.example/a.png"}}),
            json!({"type":"image_url","image_url":{"url":"data:image/bmp;base64,QUJD"}}),
            json!({"type":"file","file":{"file_id":"file-1"}}),
            json!({"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,QUJD"}}),
            json!({"type":"refusal","refusal":"no"}),
            json!({"type":"text","text":""}),
        ],
        Dialect::Anthropic => vec![
            json!({"type":"image","source":{"type":"file","file_id":"f"}}),
            json!({"type":"image","source":{"type":"url","url":"https://a.example/a.png"}}),
            json!({"type":"document","source":{"type":"file","file_id":"f"}}),
            json!({"type":"document","source":{"type":"url","url":"https://a.example/a.pdf"}}),
            json!({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"}}),
            json!({"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}),
            json!({"type":"document","source":{"type":"text","media_type":"text/plain","data":"a"}}),
            json!({"type":"thinking","thinking":"hm","signature":"c2VhbA=="}),
            json!({"type":"redacted_thinking","data":"c2VhbA=="}),
            json!({"type":"text","text":" "}),
        ],
        Dialect::OpenAiResponses => vec![
            json!({"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}),
            json!({"type":"input_image","file_id":"file-1"}),
            json!({"type":"input_image","image_url":"https://a.example/a.png"}),
            json!({"type":"input_file","file_id":"file-1"}),
            json!({"type":"input_file","file_url":"https://a.example/a.pdf"}),
            json!({"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,QUJD"}),
            json!({"type":"refusal","refusal":"no"}),
            json!({"type":"input_text","text":""}),
        ],
        Dialect::Gemini => vec![
            json!({"inlineData":{"mimeType":"audio/wav","data":"AAAA"}}),
            json!({"inlineData":{"mimeType":"image/bmp","data":"QUJD"}}),
            json!({"fileData":{"mimeType":"image/png","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/f"}}),
            json!({"fileData":{"mimeType":"application/pdf","fileUri":"https://a.example/a.pdf"}}),
            json!({"inlineData":{"mimeType":"application/pdf","data":"QUJD"}}),
            json!({"text":"hm","thought":true}),
            json!({"text":""}),
        ],
    }
}

fn text(dialect: Dialect, text: &str) -> Value {
    match dialect {
        Dialect::OpenAiChat | Dialect::Anthropic => json!({"type":"text","text":text}),
        Dialect::OpenAiResponses => json!({"type":"input_text","text":text}),
        Dialect::Gemini => json!({"text":text}),
    }
}

fn user(dialect: Dialect, parts: &[Value]) -> Value {
    match dialect {
        Dialect::Gemini => json!({"role":"user","parts":parts}),
        _ => json!({"role":"user","content":parts}),
    }
}

/// The part as a message of its own. Only models think.
fn alone(dialect: Dialect, part: &Value) -> Value {
    let is_thought = ["thinking", "redacted_thinking"].map(Value::from);
    let mut message = user(dialect, std::slice::from_ref(part));
    if is_thought.contains(&part["type"]) || part["thought"] == true {
        message["role"] = model(dialect, "")["role"].clone();
    }
    message
}

/// What the model has said.
fn model(dialect: Dialect, said: &str) -> Value {
    match dialect {
        Dialect::Gemini => json!({"role":"model","parts":[{"text":said}]}),
        _ => json!({"role":"assistant","content":said}),
    }
}

/// A result that is an image and nothing else, with its call.
fn image_result(dialect: Dialect) -> Option<[Value; 2]> {
    let url = "data:image/png;base64,QUJD";
    match dialect {
        Dialect::OpenAiChat => None,
        Dialect::Anthropic => Some([
            json!({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}),
            json!({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[
                {"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}]}),
        ]),
        Dialect::OpenAiResponses => Some([
            json!({"type":"function_call","call_id":"c","name":"f","arguments":"{}"}),
            json!({"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":url}]}),
        ]),
        Dialect::Gemini => Some([
            json!({"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":{}}}]}),
            json!({"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{},
                "parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}}]}),
        ]),
    }
}

fn request(dialect: Dialect, turns: &[Value]) -> String {
    let body = match dialect {
        Dialect::OpenAiChat => json!({"model":"m","messages":turns}),
        Dialect::Anthropic => json!({"model":"m","max_tokens":999,"messages":turns}),
        Dialect::OpenAiResponses => json!({"model":"m","store":false,"input":turns}),
        Dialect::Gemini => json!({"contents":turns}),
    };
    body.to_string()
}

/// Every pair, with each kind of model.
fn pairs() -> Vec<(Dialect, ProviderDialect, Target)> {
    let mut pairs = Vec::new();
    for (from, _, _) in DIALECTS {
        for (to, _, _) in DIALECTS.into_iter().filter(|(to, _, _)| *to != from) {
            pairs.extend(targets().map(|(_, target)| (from, to.into(), target)));
        }
        for (to, folder, _) in PROVIDER_ONLY {
            let targets = targets_of(folder).into_iter();
            pairs.extend(targets.map(|(_, target)| (from, to, target)));
        }
    }
    pairs
}

/// How many messages the body has. Each of them says something, and the last is the user's.
fn messages_of(to: ProviderDialect, sent: &Translation, of: &str) -> usize {
    let body: Value = serde_json::from_slice(&sent.body).expect("JSON");
    let told = format!("{of} to {to:?}: {body}");
    let ProviderDialect::Shared(to) = to else {
        let messages = body["messages"].as_array().expect(&told);
        for message in messages {
            let content = &message["content"];
            let says = content.as_str().is_some_and(|text| !text.is_empty())
                || content.as_array().is_some_and(|parts| !parts.is_empty())
                || message["tool_calls"].is_array()
                || message["role"] == "tool" && content.is_string();
            assert!(says, "{told}");
        }
        assert!(
            messages.last().expect(&told)["role"] != "assistant",
            "{told}"
        );
        return messages.len();
    };
    let read = to.read_request(&sent.body).expect(&told);
    let turns = read.request.turns;
    assert!(turns.iter().all(|turn| !turn.parts.is_empty()), "{told}");
    assert_eq!(turns.last().expect(&told).role, Role::User, "{told}");
    let is_blank = |part: &Part| matches!(part, Part::Text(text) if text.trim().is_empty());
    let is_told = !sent.inexpressible.is_empty();
    for turn in turns.iter().filter(|_| is_told) {
        assert!(!turn.parts.iter().all(is_blank), "{told}");
    }
    turns.len()
}

#[test]
fn a_part_alone_is_said_or_refused() {
    let mut refused = 0;
    for (from, to, target) in pairs() {
        for part in parts(from) {
            for beside in [None, Some(text(from, ""))] {
                let parts: Vec<_> = [part.clone()].into_iter().chain(beside).collect();
                let wire = request(from, &[user(from, &parts)]);
                match translate_request(from, to, wire.as_bytes(), &target) {
                    Err(error) => {
                        refused += 1;
                        let param = error.param.expect("where it is");
                        assert!(error.message.contains(param), "{error}");
                    }
                    Ok(sent) => {
                        assert_eq!(messages_of(to, &sent, &wire), 1, "{wire} to {to:?}");
                        assert_eq!(sent.inexpressible, [], "{wire} to {to:?}");
                    }
                }
            }
        }
    }
    assert!(refused > 200, "{refused} were refused");
}

#[test]
fn a_part_beside_others_goes_alone() {
    let mut dropped = 0;
    for (from, to, target) in pairs() {
        for part in parts(from) {
            let beside = user(from, &[text(from, "look"), part.clone()]);
            let wire = request(from, &[beside]);
            let sent = translate_request(from, to, wire.as_bytes(), &target).expect("a text");
            assert_eq!(messages_of(to, &sent, &wire), 1, "{wire} to {to:?}");
            // Between two others, and after what the model has said.
            let alone = alone(from, &part);
            let look = || user(from, &[text(from, "look")]);
            for turns in [
                vec![look(), model(from, "what?"), alone.clone(), look()],
                vec![look(), model(from, "what?"), alone.clone()],
                vec![alone, model(from, "what?"), look()],
            ] {
                let wire = request(from, &turns);
                let sent = translate_request(from, to, wire.as_bytes(), &target);
                let sent = sent.expect("a text");
                dropped += usize::from(!sent.inexpressible.is_empty());
                messages_of(to, &sent, &wire);
            }
        }
    }
    assert!(dropped > 200, "{dropped} were dropped");
}

#[test]
fn a_result_that_is_only_an_image_stays_a_result() {
    for (from, to, target) in pairs() {
        let Some([call, result]) = image_result(from) else {
            continue;
        };
        let asked = user(from, &[text(from, "look")]);
        let wire = request(from, &[asked, call, result]);
        let sent = translate_request(from, to, wire.as_bytes(), &target).expect("a text");
        assert_eq!(messages_of(to, &sent, &wire), 3, "{wire} to {to:?}");
    }
}

/// More than are named, so that nobody who counts names misses one.
#[test]
fn as_many_as_there_are_are_left_out() {
    let image = json!({"type":"image_url","image_url":{"url":"https://a.example/a.png"}});
    let [(_, target), _] = targets();
    for count in [1, 40] {
        let images = vec![image.clone(); count];
        let alone = request(
            Dialect::OpenAiChat,
            &[
                json!({"role":"system","content":"be kind"}),
                user(Dialect::OpenAiChat, &images),
            ],
        );
        let to = ProviderDialect::Bedrock;
        let error = translate_request(Dialect::OpenAiChat, to, alone.as_bytes(), &target);
        assert_eq!(
            error.expect_err("nobody asks").message,
            "`messages[1].content[0].image_url` cannot be said to this model, and nothing else is left of `messages`: \
             let a user say something that is not empty"
        );
        let mut beside = images;
        beside.push(text(Dialect::OpenAiChat, "look"));
        let beside = request(Dialect::OpenAiChat, &[user(Dialect::OpenAiChat, &beside)]);
        let sent = translate_request(Dialect::OpenAiChat, to, beside.as_bytes(), &target);
        let sent = sent.expect("a text");
        let body = String::from_utf8(sent.body.to_vec()).expect("UTF-8");
        assert_eq!(
            body,
            r#"{"messages":[{"role":"user","content":[{"text":"look"}]}]}"#
        );
        assert_eq!(sent.inexpressible.len(), count.min(32));
    }
}
