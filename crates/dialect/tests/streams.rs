//! Recorded streams, with and without usage: what a client gets must be what it would have got.
//!
//! `NAME.usage.sse` is what the wire carries when usage is asked for, `NAME.plain.sse` when it is
//! not. All tell the same answer, or the same tool call.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use sluicegate_catalog::provider;
use sluicegate_dialect::Progress;
use sluicegate_dialect::openai::{ChatStream, UsageChunk};

macro_rules! pair {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!("../fixtures/openai-chat/", $name, ".usage.sse")).as_slice(),
            include_bytes!(concat!("../fixtures/openai-chat/", $name, ".plain.sse")).as_slice(),
        )
    };
}

const PAIRS: [(&str, &[u8], &[u8]); 6] = [
    pair!("text"),
    pair!("text-crlf"),
    pair!("text-cr"),
    pair!("tools"),
    pair!("azure"),
    pair!("cumulative"),
];

fn play(wire: &[u8], usage_chunk: UsageChunk, step: usize) -> (Vec<u8>, Progress) {
    let mut stream = ChatStream::new(Arc::clone(provider("openai").expect("a row")), usage_chunk);
    let mut out = BytesMut::new();
    for chunk in wire.chunks(step) {
        stream
            .push(Bytes::copy_from_slice(chunk), &mut out)
            .expect("no event is too large");
    }
    stream.finish(&mut out);
    (out.to_vec(), stream.progress().clone())
}

fn steps(wire: &[u8]) -> [usize; 5] {
    [1, 2, 7, 333, wire.len()]
}

#[test]
fn a_client_that_did_not_ask_sees_no_trace_of_usage() {
    for (name, with_usage, plain) in PAIRS {
        for step in steps(with_usage) {
            let (out, _) = play(with_usage, UsageChunk::Hide, step);
            assert!(
                out == plain,
                "{name} in steps of {step}:\n{}",
                String::from_utf8_lossy(&out)
            );
        }
    }
}

#[test]
fn a_client_that_asked_sees_every_byte() {
    for (name, with_usage, plain) in PAIRS {
        for wire in [with_usage, plain] {
            for step in steps(wire) {
                assert!(
                    play(wire, UsageChunk::Pass, step).0 == wire,
                    "{name} in steps of {step}"
                );
            }
        }
    }
}

#[test]
fn what_is_seen_does_not_depend_on_chunks() {
    for (name, with_usage, plain) in PAIRS {
        let whole = play(with_usage, UsageChunk::Hide, with_usage.len()).1;
        for step in steps(with_usage) {
            assert_eq!(play(with_usage, UsageChunk::Hide, step).1, whole, "{name}");
        }
        let without = play(plain, UsageChunk::Hide, 1).1;
        assert_eq!(
            Progress {
                usage: whole.usage,
                ..without
            },
            whole,
            "{name}"
        );
    }
}

#[test]
fn the_answer_is_counted_and_its_usage_told() {
    for (name, with_usage, _) in PAIRS {
        let (_, progress) = play(with_usage, UsageChunk::Pass, 9);
        let usage = progress.usage.expect(name);
        assert_eq!((usage.input_tokens, usage.output_tokens), (19, 7), "{name}");
        assert!(
            progress.is_complete() && progress.finished && progress.done,
            "{name}"
        );
        // Text: `수문`, `은 "usage":null`, ` 열렸다 🌊` and a line feed. Call: `gate`, `{"open":`,
        // `true}`.
        let expected = if name == "tools" {
            (3, 17, 17)
        } else {
            (3, 6 + 16 + 16, 2 + 14 + 7)
        };
        let counted = (
            progress.content_events,
            progress.output_bytes,
            progress.output_chars,
        );
        assert_eq!(counted, expected, "{name}");
    }
}

#[test]
fn a_cut_stream_is_incomplete_wherever_it_is_cut() {
    let (_, wire, _) = PAIRS[0];
    let reason = b"\"finish_reason\":\"stop\"";
    let told = wire
        .windows(reason.len())
        .position(|window| window == reason)
        .expect("it is there");
    for end in 0..told {
        let (out, progress) = play(&wire[..end], UsageChunk::Pass, wire.len());
        assert_eq!(out, &wire[..end]);
        assert!(!progress.is_complete(), "cut at {end}");
    }
}
