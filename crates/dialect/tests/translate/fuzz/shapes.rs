//! JSON that is looked for in what a model says, and held against a schema that a client wrote.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use serde_json::Value;
use sluicegate_dialect::canonical::{JsonText, OutputForm};
use sluicegate_dialect::openai::UsageChunk;
use sluicegate_dialect::{Dialect, Progress, Shape, StreamTranslation};

use super::{assert_bounded, fuzz_texts, spoilt};
use crate::fixtures::{row, stamp};

const SCHEMAS: [&str; 4] = [
    r##"{"type":"object","properties":{"river":{"type":"string","pattern":"^[A-Z]\\w{2,9}$"},"level":{"type":"number","minimum":0},"next":{"$ref":"#"}},"required":["river"],"additionalProperties":false}"##,
    r##"{"$defs":{"gate":{"type":"object","properties":{"open":{"type":"boolean"}}}},"type":"array","items":{"anyOf":[{"$ref":"#/$defs/gate"},{"type":"null"}]},"maxItems":3}"##,
    r#"{"enum":["open","shut"]}"#,
    r#"{"type":["object","string"],"allOf":[{"minProperties":1},{"not":{"required":["no"]}}],"format":"date"}"#,
];

const SAID: [&str; 6] = [
    "Here:\n```json\n{\"river\": \"Han\", \"level\": 2.5}\n```\nThat is all.",
    r#"{"river":"Han","level":1e2,"next":{"river":"Imjin"}}"#,
    r#"[{"open":true},null,{"open":false}] and [{}]"#,
    "\"open\"",
    r#"{"a":"\"}","b":["\u005d",{"c":"\\"}]} {"river":"수문"}"#,
    "I {cannot} say [that].",
];

#[test]
fn schemas_and_what_is_said() {
    let schemas = SCHEMAS.map(|text| text.as_bytes().to_vec());
    fuzz_texts(&SAID.map(|text| text.as_bytes().to_vec()), |said, draws| {
        let said = String::from_utf8_lossy(said);
        let cuts = draws.cuts(said.len());
        let schema = spoilt(&schemas, draws);
        for form in [Some(OutputForm::Json), schema_form(&schema)] {
            let Some(shape) = form.and_then(|form| Shape::of(&form).ok()?) else {
                continue;
            };
            match shape.json_in(&said) {
                Ok(json) => {
                    let read: Result<Value, _> = serde_json::from_str(json);
                    assert!(read.is_ok(), "{json} is no JSON");
                    assert!(said.contains(json));
                }
                Err(wrong) => {
                    assert!(wrong.problem.len() <= 8_192 && wrong.said.len() <= said.len());
                }
            }
            let shape = Arc::new(shape);
            let whole = streamed(&shape, [&*said]);
            assert_bounded(said.as_bytes(), whole.0.len());
            let pieces = cuts.windows(2).map(|ends| {
                let [from, to] = [ends[0], ends[1]].map(|at| said.floor_char_boundary(at));
                &said[from..to]
            });
            let (out, progress) = streamed(&shape, pieces.filter(|piece| !piece.is_empty()));
            // What passed cannot be taken back: pieces may fail where the whole does not.
            if progress.error.is_none() {
                assert!(whole.1.error.is_none(), "cut at {cuts:?}");
                let passed = text_of(&out);
                assert_eq!(passed, text_of(&whole.0), "cut at {cuts:?}");
                assert_eq!(shape.json_in(&passed), Ok(&*passed));
            }
        }
    });
}

fn schema_form(schema: &[u8]) -> Option<OutputForm> {
    let schema = JsonText::parse(std::str::from_utf8(schema).ok()?)?;
    Some(OutputForm::Schema {
        name: None,
        description: None,
        schema,
        strict: false,
    })
}

/// What a client of chat completions gets of a message whose text comes in these pieces and has to be of that shape.
fn streamed<'t>(
    shape: &Arc<Shape>,
    pieces: impl IntoIterator<Item = &'t str>,
) -> (Vec<u8>, Progress) {
    let from = (Dialect::OpenAiChat, row("openai"));
    let stream = StreamTranslation::new(from, Dialect::OpenAiChat, stamp(), UsageChunk::Hide);
    let mut stream = stream.shaped(Arc::clone(shape));
    let mut out = BytesMut::new();
    let mut event = |choice: Value| {
        let event = serde_json::json!({ "id": "c", "choices": [choice] });
        let event = Bytes::from(format!("data: {event}\n\n"));
        stream.push(event, &mut out).expect("no event is too large");
    };
    for piece in pieces {
        event(serde_json::json!({ "index": 0, "delta": { "content": piece } }));
    }
    event(serde_json::json!({ "index": 0, "delta": {}, "finish_reason": "stop" }));
    stream
        .push(Bytes::from_static(b"data: [DONE]\n\n"), &mut out)
        .expect("no event is too large");
    stream.finish(&mut out);
    (out.to_vec(), stream.progress().clone())
}

/// The content of all events.
fn text_of(stream: &[u8]) -> String {
    let stream = String::from_utf8_lossy(stream);
    let events = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let events = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    events
        .filter_map(|event| Some(event["choices"][0]["delta"]["content"].as_str()?.to_owned()))
        .collect()
}
