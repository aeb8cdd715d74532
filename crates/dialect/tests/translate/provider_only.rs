//! Dialects that only providers speak: every request to each of them, and what comes back to every
//! client.

use std::fmt::Write as _;
use std::path::Path;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use sluicegate_dialect::canonical::Target;
use sluicegate_dialect::openai::UsageChunk;
use sluicegate_dialect::{
    Dialect, Progress, ProviderDialect, StreamTranslation, Usage, bedrock, classify, cohere,
    translate_request,
};

use crate::fixtures::{DIALECTS, compare, fixtures, row, stamp, targets, text_of};
use crate::frames::framed;
use crate::indent::indented;

/// A dialect, its folder and catalog row, and how its streams are kept.
pub(crate) const PROVIDER_ONLY: [(ProviderDialect, &str, &str); 2] = [
    (ProviderDialect::Bedrock, "bedrock", ".stream.frames"),
    (ProviderDialect::Cohere, "cohere", ".stream.sse"),
];

/// The models of a dialect: Bedrock's differ by whose they are.
pub(crate) fn targets_of(folder: &str) -> Vec<(String, Target)> {
    let mut all = Vec::new();
    for (age, target) in targets() {
        let models = match folder {
            "bedrock" => &["anthropic.claude-x", "amazon.nova-x", "meta.llama-x"][..],
            _ => &["target"][..],
        };
        for model in models {
            let model = (*model).to_owned();
            all.push((
                format!("{age} {model}"),
                Target {
                    model,
                    ..target.clone()
                },
            ));
        }
    }
    all
}

/// The bytes of a stream that is kept as `kept`.
pub(crate) fn wire(dialect: ProviderDialect, kept: &[u8]) -> Vec<u8> {
    match dialect {
        ProviderDialect::Bedrock => framed(kept),
        ProviderDialect::Cohere | ProviderDialect::Shared(_) => kept.to_vec(),
    }
}

/// What a client gets of a stream that comes in these chunks.
pub(crate) fn play<'w>(
    (from, row_id): (ProviderDialect, &str),
    to: Dialect,
    chunks: impl IntoIterator<Item = &'w [u8]>,
) -> (String, Progress) {
    let from = (from, row(row_id));
    let mut stream = StreamTranslation::new(from, to, stamp(), UsageChunk::Pass);
    let mut out = BytesMut::new();
    for chunk in chunks {
        let chunk = Bytes::copy_from_slice(chunk);
        stream.push(chunk, &mut out).expect("no event is too large");
    }
    stream.finish(&mut out);
    let text = String::from_utf8(out.to_vec()).expect("what is written is UTF-8");
    (text, stream.progress().clone())
}

/// Compares what `translate` makes of every fixture for every client with what is kept.
fn check(
    ending: impl Fn(&'static str) -> &'static str,
    translate: impl Fn(&Path, &[u8], (ProviderDialect, &'static str), Dialect) -> String,
) {
    let mut wrong = String::new();
    for (from, folder, streams) in PROVIDER_ONLY {
        for (path, text) in fixtures(folder, ending(streams)) {
            for (to, client, _) in DIALECTS {
                let said = translate(&path, &text, (from, folder), to);
                let kept = path.with_added_extension(format!("{client}.txt"));
                compare(&kept, &said, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn requests() {
    let mut wrong = String::new();
    for (from, client, _) in DIALECTS {
        for (path, text) in fixtures(client, ".request.json") {
            for (to, folder, _) in PROVIDER_ONLY {
                let mut said = String::new();
                let mut before = String::new();
                for (name, target) in targets_of(folder) {
                    let translated = translate_request(from, to, &text, &target);
                    let now = text_of(translated);
                    if now != before {
                        let _ = writeln!(said, "--- {name}\n{now}");
                    }
                    before = now;
                }
                let kept = path.with_added_extension(format!("{folder}.txt"));
                compare(&kept, &said, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn answers() {
    check(
        |_| ".answer.json",
        |path, text, (from, _), to| {
            let answer = from.read_answer(text);
            let answer = answer.expect("a fixture is of its dialect");
            let (usage, is_cut) = match from {
                ProviderDialect::Bedrock => (Usage::from_converse(text), bedrock::is_cut(text)),
                ProviderDialect::Cohere => (Usage::from_cohere(text), cohere::is_cut(text)),
                ProviderDialect::Shared(_) => (None, false),
            };
            assert_eq!(answer.usage, usage, "{}", path.display());
            let body = indented(&to.write_answer(&answer, &stamp()));
            format!("{body}\n--- cut: {is_cut}")
        },
    );
}

/// `NAME.STATUS.error.json`.
#[test]
fn errors() {
    check(
        |_| ".error.json",
        |path, text, (_, row_id), to| {
            let name = path.to_string_lossy();
            let status = name.rsplit('.').nth(2).and_then(|it| it.parse().ok());
            let status = StatusCode::from_u16(status.expect("a number")).expect("a status");
            let error = classify(&row(row_id), status, &HeaderMap::new(), text);
            format!("{:?}\n{}", error.class, indented(&to.write_error(&error)))
        },
    );
}

#[test]
fn streams() {
    check(
        |streams| streams,
        |path, text, from, to| {
            let wire = wire(from.0, text);
            let whole = play(from, to, [&wire[..]]);
            let name = path.display();
            assert_eq!(play(from, to, wire.chunks(1)), whole, "{name} byte by byte");
            for at in 0..wire.len() {
                let (first, second) = wire.split_at(at);
                assert_eq!(play(from, to, [first, second]), whole, "{name} cut at {at}");
            }
            let (said, progress) = whole;
            format!("{}\n--- progress\n{progress:#?}", said.trim_end())
        },
    );
}

/// Nobody takes what was lost in the middle for the end.
#[test]
fn a_stream_without_its_end_is_incomplete() {
    for (from, folder, streams) in PROVIDER_ONLY {
        let end: &[u8] = match from {
            ProviderDialect::Bedrock => b"messageStop",
            ProviderDialect::Cohere | ProviderDialect::Shared(_) => b"event: message-end",
        };
        for (path, text) in fixtures(folder, streams) {
            let wire = wire(from, &text);
            let Some(at) = wire.windows(end.len()).position(|window| window == end) else {
                continue;
            };
            for (to, _, _) in DIALECTS {
                let (said, progress) = play((from, folder), to, [&wire[..at]]);
                let name = path.display();
                assert!(!progress.is_complete(), "{name}");
                assert!(
                    !said.contains("[DONE]") && !said.contains("message_stop"),
                    "{name}"
                );
            }
        }
    }
}

/// A frame that was damaged on its way ends the stream with one error.
#[test]
fn a_damaged_frame_is_an_error() {
    let lines = b"event messageStart {\"role\":\"assistant\"}\nevent contentBlockDelta {\"delta\":{\"text\":\"a\"}}\n";
    let mut wire = framed(lines);
    let last = wire.len() - 6;
    wire[last] ^= 1;
    wire.extend(framed(lines));
    let from = (ProviderDialect::Bedrock, "bedrock");
    let (said, progress) = play(from, Dialect::OpenAiChat, [&wire[..]]);
    let error = progress.error.expect("it is told");
    assert_eq!(
        error.message,
        "an event of the provider's stream cannot be read"
    );
    assert!(!progress.done && progress.content_events == 0);
    assert_eq!(said.matches("data: ").count(), 2, "{said}");
}

/// The provider's word for an answer that it could not end is its failure.
#[test]
fn an_answer_that_ended_in_an_error_is_none() {
    for reason in ["ERROR", "TIMEOUT"] {
        let body = format!(
            r#"{{"id":"x","finish_reason":"{reason}","message":{{"role":"assistant","content":[]}}}}"#
        );
        let answer = ProviderDialect::Cohere.read_answer(body.as_bytes());
        answer.expect_err("it is no answer");
    }
    for body in [
        "{}",
        "[]",
        "<html>",
        r#"{"output":{}}"#,
        r#"{"message":null}"#,
    ] {
        for (dialect, _, _) in PROVIDER_ONLY {
            let answer = dialect.read_answer(body.as_bytes());
            answer.expect_err("it is no answer");
        }
    }
}
