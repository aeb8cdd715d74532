//! Every member of every fixture, in a kind of JSON that it cannot have: whatever is refused is refused in the client's words.

use bytes::Bytes;
use serde_json::{Value, json};
use sluicegate_dialect::gemini::{Call, Framing};
use sluicegate_dialect::{Dialect, Envelope, Operation};

use crate::fixtures::{DIALECTS, fixtures};

const OPERATIONS: [Operation; 4] = [
    Operation::ChatCompletions,
    Operation::Messages,
    Operation::Responses,
    Operation::Content(Call::GenerateContent, Framing::Events),
];

/// What our own types are called, which means nothing to a client.
const OURS: [&str; 15] = [
    "struct", "enum", "variant", "untagged", "newtype", "sequence", "map", "i8", "i32", "i64",
    "u8", "u32", "u64", "f64", "usize",
];

/// Arrays in place of objects, and where.
const ARRAYS: [(Dialect, &str, &str); 8] = [
    (
        Dialect::OpenAiChat,
        r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":["https://a.example/a.png"]}]}]}"#,
        "messages[0].content[0].image_url",
    ),
    (
        Dialect::OpenAiChat,
        r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":["f","{}"]}]}]}"#,
        "messages[0].tool_calls[0].function",
    ),
    (
        Dialect::OpenAiChat,
        r#"{"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":["AAAA","wav"]}]}]}"#,
        "messages[0].content[0].input_audio",
    ),
    (
        Dialect::OpenAiChat,
        r#"{"messages":[],"response_format":["json_object"]}"#,
        "response_format",
    ),
    (
        Dialect::Anthropic,
        r#"{"max_tokens":1,"messages":[],"tool_choice":["any"]}"#,
        "tool_choice",
    ),
    (
        Dialect::OpenAiResponses,
        r#"{"input":[{"role":"user","content":[{"type":"input_audio","input_audio":["AAAA","wav"]}]}]}"#,
        "input[0].content[0].input_audio",
    ),
    (
        Dialect::Gemini,
        r#"{"contents":[{"parts":[{"inlineData":["image/png","QUJD"]}]}]}"#,
        "contents[0].parts[0].inlineData",
    ),
    (
        Dialect::Gemini,
        r#"{"contents":[{"parts":[{"fileData":["image/png","https://a.example/a.png"]}]}]}"#,
        "contents[0].parts[0].fileData",
    ),
];

#[test]
fn nobody_is_told_of_our_types() {
    let kinds = [
        json!(7),
        json!(-1.5),
        json!("a"),
        json!([]),
        json!([7]),
        json!([[{}]]),
        json!(["a", "b", "c"]),
        json!({}),
        json!({ "a": 1 }),
        json!(true),
        Value::Null,
    ];
    let mut refused = 0;
    for ((dialect, folder, _), operation) in DIALECTS.into_iter().zip(OPERATIONS) {
        for (path, wire) in fixtures(folder, ".request.json") {
            let whole: Value = serde_json::from_slice(&wire).expect("a fixture is JSON");
            for place in places(&whole) {
                for kind in &kinds {
                    let mut spoilt = whole.clone();
                    let member = spoilt.pointer_mut(&place).expect("it is there");
                    member.clone_from(kind);
                    let body = Bytes::from(spoilt.to_string());
                    let read = dialect.read_request(&body).err();
                    let decoded = Envelope::decode(operation, "m", &body).err();
                    for error in [read, decoded].into_iter().flatten() {
                        refused += 1;
                        let said = &error.message;
                        let name = path.display();
                        let mut words = said.split(|it: char| !it.is_alphanumeric());
                        let is_ours = words.any(|word| OURS.contains(&word)) || said.contains("::");
                        assert!(!is_ours, "{name} {place} {kind}: {said}");
                        assert!(
                            said.contains('`') || place.is_empty(),
                            "{name} {place}: {said}"
                        );
                    }
                }
            }
        }
    }
    assert!(refused > 1_000, "{refused} were refused");
}

/// Elements would be taken for members in the order in which our types name them, and go out as what nobody has written.
#[test]
fn an_array_is_no_object() {
    for (dialect, body, place) in ARRAYS {
        let error = dialect.read_request(body.as_bytes()).expect_err(body);
        let expected = format!("`{place}` must be an object, not an array");
        assert_eq!(error.message, expected, "{body}");
    }
}

/// The members of `value`, at any depth, as pointers.
fn places(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
            let members = members.iter();
            members
                .map(|(name, value)| (escaped(name), value))
                .collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(at, value)| (at.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (step, value) in inside {
        found.extend(
            places(value)
                .into_iter()
                .map(|place| format!("/{step}{place}")),
        );
    }
    found
}
