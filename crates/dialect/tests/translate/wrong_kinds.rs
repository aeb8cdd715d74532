//! Every member of every fixture, in a kind of JSON that it cannot have: whatever is refused is refused in the client's words.

use bytes::Bytes;
use serde_json::{Value, json};
use sluicegate_dialect::gemini::{Call, Framing};
use sluicegate_dialect::{Envelope, Operation};

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

#[test]
fn nobody_is_told_of_our_types() {
    let kinds = [
        json!(7),
        json!(-1.5),
        json!("a"),
        json!([]),
        json!([7]),
        json!([[{}]]),
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
