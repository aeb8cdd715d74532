//! Where chunks break makes no difference, and what order calls come in neither.

use bytes::BytesMut;
use sluicegate_dialect::Dialect;
use sluicegate_dialect::anthropic::StreamWriter;
use sluicegate_dialect::canonical::{CallsInOrder, Event};

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
        // Of a long one not at every byte, which the test above sees to.
        for at in (0..wire.len()).step_by(1 + wire.len() / 2_000) {
            let (first, second) = wire.split_at(at);
            assert_eq!(play(from, to, [first, second]), whole, "{name} cut at {at}");
        }
    });
}

/// What stands only at the end of a whole stream.
const ENDS: [&str; 4] = [
    "[DONE]",
    "message_stop",
    "response.completed",
    "response.incomplete",
];

#[test]
fn a_stream_without_its_end_is_incomplete() {
    each(|name, wire, from, to| {
        let (_, progress) = play(from, to, [wire]);
        if progress.error.is_some() || !progress.done {
            return;
        }
        // The end begins where the reason of it stands.
        let reasons: &[&[u8]] = match DIALECTS[from].0 {
            Dialect::OpenAiChat => &[b"\"finish_reason\": \""],
            Dialect::Anthropic => &[b"message_delta"],
            Dialect::OpenAiResponses => {
                &[b"event: response.completed", b"event: response.incomplete"]
            }
            // A prompt that Google refuses has no answer that could end.
            Dialect::Gemini => &[b"\"finishReason\"", b"\"promptFeedback\""],
        };
        let at = (0..wire.len()).find(|at| reasons.iter().any(|it| wire[*at..].starts_with(it)));
        let at = at.expect("it is told");
        let (said, progress) = play(from, to, [&wire[..at]]);
        let has_unreadable_rest = progress.error.is_some();
        assert!(!progress.is_complete(), "{name}");
        assert!(
            has_unreadable_rest || ENDS.iter().all(|end| !said.contains(end)),
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
    let mut order = CallsInOrder::default();
    let mut ordered = Vec::new();
    for event in events {
        order.take(event.clone(), &mut ordered);
    }
    let mut writer = StreamWriter::new(stamp());
    let mut out = BytesMut::new();
    for event in &ordered {
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

/// Two thoughts without seals, in a stream and in an answer that came whole and is streamed, stay two.
#[test]
fn thoughts_that_have_no_seal_stay_apart_too() {
    use sluicegate_dialect::canonical::{Answer, FinishReason, Part};
    let thought = |text: &str| Part::Thinking {
        text: text.to_owned(),
        signature: None,
    };
    let answer = Answer {
        id: String::new(),
        model: String::new(),
        parts: vec![thought("a"), thought("b")],
        logprobs: Vec::new(),
        finish: FinishReason::Stop,
        usage: None,
    };
    let said = written(&answer.into_events());
    assert_eq!(
        said.matches("event: content_block_start").count(),
        2,
        "{said}"
    );
    assert_eq!(
        said.matches("event: content_block_stop").count(),
        2,
        "{said}"
    );
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

/// What the gateway adds where the upstream has closed too early, in the words of the client.
#[test]
fn a_stream_that_was_cut_is_broken_off_in_the_clients_dialect() {
    use sluicegate_dialect::openai::UsageChunk;
    use sluicegate_dialect::{ErrorOut, StreamTranslation};
    let error = ErrorOut {
        status: http::StatusCode::BAD_GATEWAY,
        message: "cut",
        kind: "api_error",
        code: "upstream_error",
        param: None,
        wait: None,
    };
    for (to, expected) in [
        (
            Dialect::OpenAiChat,
            "data: {\"error\":{\"message\":\"cut\",\"type\":\"api_error\",\"code\":\"upstream_error\",\"param\":null}}\n\n",
        ),
        (
            Dialect::Anthropic,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"cut\"}}\n\n",
        ),
    ] {
        let from = (Dialect::Anthropic, crate::fixtures::row("anthropic"));
        let mut stream = StreamTranslation::new(from, to, stamp(), UsageChunk::Pass);
        let mut out = BytesMut::new();
        stream.finish(&mut out);
        assert_eq!(out, b""[..]);
        stream.break_off(&error, &mut out);
        assert_eq!(out, expected.as_bytes());
        assert!(!stream.progress().is_complete());
    }
}
