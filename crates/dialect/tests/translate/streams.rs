//! Where chunks break makes no difference, and what order calls come in neither.

use bytes::BytesMut;
use sluicegate_dialect::Dialect;
use sluicegate_dialect::anthropic::StreamWriter;
use sluicegate_dialect::canonical::Event;

use crate::fixtures::{DIALECTS, fixtures, play, stamp};

/// Every stream, to every dialect, its own too.
fn each(test: impl Fn(&str, &[u8], usize, usize)) {
    for (from, (_, folder, _)) in DIALECTS.iter().enumerate() {
        for (path, wire) in fixtures(folder, ".stream.sse") {
            for to in 0..DIALECTS.len() {
                test(&path.to_string_lossy(), &wire, from, to);
            }
        }
    }
}

#[test]
fn byte_by_byte_is_the_same() {
    each(|name, wire, from, to| {
        let whole = play(from, to, [wire]);
        assert_eq!(play(from, to, wire.chunks(1)), whole, "{name}");
    });
}

#[test]
fn cut_in_two_anywhere_is_the_same() {
    each(|name, wire, from, to| {
        if from == to {
            return; // What is read is the same as for the others.
        }
        let whole = play(from, to, [wire]);
        for at in 0..wire.len() {
            let (first, second) = wire.split_at(at);
            assert_eq!(play(from, to, [first, second]), whole, "{name} cut at {at}");
        }
    });
}

#[test]
fn a_stream_without_its_end_is_incomplete() {
    each(|name, wire, from, to| {
        let (_, progress) = play(from, to, [wire]);
        if progress.error.is_some() || !progress.done {
            return;
        }
        // The end begins where the reason of it stands.
        let reason: &[u8] = match DIALECTS[from].0 {
            Dialect::OpenAiChat => b"\"finish_reason\": \"",
            Dialect::Anthropic => b"message_delta",
            Dialect::Gemini => b"\"finishReason\"",
        };
        let place = |reason: &[u8]| {
            let mut windows = wire.windows(reason.len());
            windows.position(|window| window == reason)
        };
        // A prompt that Google refuses has no answer that could end.
        let at = place(reason).or_else(|| place(b"\"promptFeedback\""));
        let at = at.expect("it is told");
        let (said, progress) = play(from, to, [&wire[..at]]);
        let has_unreadable_rest = progress.error.is_some();
        assert!(!progress.is_complete(), "{name}");
        assert!(
            has_unreadable_rest || !said.contains("[DONE]") && !said.contains("message_stop"),
            "{name}"
        );
    });
}

/// OpenAI tells of two calls in turns; Anthropic's blocks come one after the other, each whole.
#[test]
fn calls_in_turns_are_put_in_order() {
    let piece = |index: u32, text: &str| {
        let text = serde_json::Value::from(text);
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"function\":{{\"arguments\":{text}}}}}]}}}}]}}\n\n"
        )
    };
    let begin = |index: u32| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":\"c{index}\",\"function\":{{\"name\":\"f\",\"arguments\":\"\"}}}}]}}}}]}}\n\n"
        )
    };
    let wire = [
        begin(0),
        begin(1),
        piece(0, "{\"a\":"),
        piece(1, "{\"b\":"),
        begin(2),
        piece(1, "2}"),
        piece(0, "1}"),
        piece(2, "{}"),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let (said, _) = play(0, 1, [wire.as_bytes()]);
    let mut calls = Vec::new();
    for line in said.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        match text(&event["type"]).as_str() {
            "content_block_start" => {
                calls.push((text(&event["content_block"]["id"]), String::new()));
            }
            "content_block_delta" => {
                let at =
                    usize::try_from(event["index"].as_u64().expect("a number")).expect("small");
                assert_eq!(at + 1, calls.len(), "only the last block grows");
                calls[at].1 += &text(&event["delta"]["partial_json"]);
            }
            _ => {}
        }
    }
    let expected = [("c0", "{\"a\":1}"), ("c1", "{\"b\":2}"), ("c2", "{}")];
    assert_eq!(
        calls,
        expected.map(|(id, text)| (id.to_owned(), text.to_owned()))
    );
}

fn written(events: &[Event]) -> String {
    let mut writer = StreamWriter::new(stamp());
    let mut out = BytesMut::new();
    for event in events {
        writer.write(event, &mut out);
    }
    String::from_utf8(out.to_vec()).expect("what is written is UTF-8")
}

#[test]
fn thoughts_that_were_sealed_apart_stay_apart() {
    let thought = |text: &str| Event::Thinking(text.to_owned());
    let seal = |seal: &str| Event::Signature(seal.to_owned());
    let said = written(&[
        thought("a"),
        thought("b"),
        seal("1"),
        thought("c"),
        seal("2"),
    ]);
    let count = |part: &str| said.matches(part).count();
    assert_eq!(count("event: content_block_start"), 2);
    assert_eq!(count("event: content_block_stop"), 2);
    assert!(said.contains(r#""index":1,"delta":{"type":"signature_delta","signature":"2"}"#));
}

#[test]
fn calls_in_turns_without_end_are_not_held_for_ever() {
    let call = |index: u32| Event::ToolCall {
        index,
        id: format!("c{index}"),
        name: "f".to_owned(),
        signature: None,
    };
    let more = |index: u32| Event::Arguments {
        index,
        text: "[".repeat(1 << 20),
    };
    let said = written(&[
        call(0),
        more(0),
        call(1),
        more(1),
        more(1),
        more(1),
        more(1),
        more(1),
    ]);
    assert!(
        said.trim_end().ends_with("put in order\"}}"),
        "{}",
        &said[said.len() - 200..]
    );
    assert_eq!(said.matches("event: error").count(), 1);
}

/// What the gateway adds where the upstream has closed too early.
#[test]
fn a_stream_that_was_cut_can_be_failed_once() {
    use sluicegate_dialect::openai::UsageChunk;
    use sluicegate_dialect::{StreamTranslation, classify};
    let provider = crate::fixtures::row("anthropic");
    let status = http::StatusCode::BAD_GATEWAY;
    let error = classify(&provider, status, &http::HeaderMap::new(), b"");
    let from = (Dialect::Anthropic, provider);
    let mut stream = StreamTranslation::new(from, Dialect::OpenAiChat, stamp(), UsageChunk::Pass);
    let mut out = BytesMut::new();
    stream.finish(&mut out);
    assert_eq!(out, b""[..]);
    stream.fail(error.clone(), &mut out);
    stream.fail(error, &mut out);
    let said = String::from_utf8(out.to_vec()).expect("text");
    assert_eq!(
        said,
        "data: {\"error\":{\"message\":\"the provider failed without saying why\",\"type\":\"api_error\",\"code\":\"upstream_error\",\"param\":null}}\n\n"
    );
    assert!(!stream.progress().is_complete());
}
