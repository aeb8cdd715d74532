//! Wire text that is spoilt in every way: no reader panics, no writer writes what cannot be read, and
//! what comes out is not much more than what went in.
//!
//! Fixtures are changed by seed, byte by byte, piece by piece and by pieces of each other.
//! `SLUICEGATE_FUZZ_ROUNDS` asks for more rounds than the ordinary run makes, `SLUICEGATE_FUZZ_SEED`
//! for other ones; a failure prints its seed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use sluicegate_dialect::anthropic::{self, MessageStream};
use sluicegate_dialect::canonical::Inexpressible;
use sluicegate_dialect::gemini::{self, ContentStream, Framing};
use sluicegate_dialect::openai::{self, ChatStream, UsageChunk};
use sluicegate_dialect::{Changes, IncludeUsage, Progress, Usage, classify, translate_request};

use crate::fixtures::{DIALECTS, fixtures, play, row, stamp, targets};

/// Rounds of each target in the ordinary run.
const ROUNDS: u64 = 1_500;
/// Changes to one text.
const CHANGES_MAX: u64 = 6;
/// The longest text.
const BYTES_MAX: usize = 16 << 10;

/// Runs `target` on spoilt texts of the fixtures with that ending.
fn fuzz(ending: &str, target: impl Fn(&[u8], &mut Seed)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let rounds = number("SLUICEGATE_FUZZ_ROUNDS")
        .unwrap_or(ROUNDS)
        .max(ROUNDS);
    let base = number("SLUICEGATE_FUZZ_SEED").unwrap_or(0_u64);
    let corpus: Vec<_> = DIALECTS
        .iter()
        .flat_map(|(_, folder, _)| fixtures(folder, ending))
        .map(|(_, text)| text)
        .collect();
    for round in 0..rounds {
        let seed = base.wrapping_mul(1 << 32).wrapping_add(round);
        let mut draws = Seed(seed);
        let text = spoilt(&corpus, &mut draws);
        let run = catch_unwind(AssertUnwindSafe(|| target(&text, &mut draws)));
        assert!(
            run.is_ok(),
            "repeat with SLUICEGATE_FUZZ_SEED={base} SLUICEGATE_FUZZ_ROUNDS={}; the text is {:?}",
            round + 1,
            String::from_utf8_lossy(&text)
        );
    }
}

#[test]
fn envelopes() {
    fuzz(".request.json", |text, _| {
        let body = Bytes::copy_from_slice(text);
        if let Ok(envelope) = openai::Envelope::decode(&body) {
            let changes = Changes {
                model: Some("other \" model"),
                include_usage: IncludeUsage::Ask,
                output_cap: Some(7),
                priority: None,
            };
            let again = openai::Envelope::decode(&envelope.rewrite(&changes));
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
            assert!(again.facts.output_cap.is_some_and(|cap| cap <= 7));
        }
        for call in [anthropic::Call::Messages, anthropic::Call::CountTokens] {
            let Ok(envelope) = anthropic::Envelope::decode(&body, call) else {
                continue;
            };
            let changes = Changes {
                model: Some("other \" model"),
                output_cap: Some(7),
                ..Changes::default()
            };
            let again = anthropic::Envelope::decode(&envelope.rewrite(&changes), call);
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
            assert!(again.facts.output_cap.is_none_or(|cap| cap <= 7));
        }
        for method in [
            "generateContent",
            "countTokens",
            "embedContent",
            "batchEmbedContents",
        ] {
            let call = gemini::Call::named(method).expect("a call");
            let Ok(envelope) = gemini::Envelope::decode(&body, "fast", call) else {
                continue;
            };
            let changes = Changes {
                model: Some("other \" model"),
                output_cap: Some(7),
                ..Changes::default()
            };
            let again = gemini::Envelope::decode(&envelope.rewrite(&changes), "fast", call);
            let again = again.expect("what was rewritten can be read");
            assert_eq!(
                again.facts.output_cap.is_some_and(|cap| cap <= 7),
                call.generates()
            );
        }
    });
}

#[test]
fn requests() {
    fuzz(".request.json", |text, _| {
        for (from, _, _) in DIALECTS {
            for (to, _, _) in DIALECTS {
                for (_, target) in targets() {
                    let Ok(translated) = translate_request(from, to, text, &target) else {
                        continue;
                    };
                    let again = to
                        .read_request(&translated.body)
                        .expect("what is written can be read");
                    assert_eq!(again.inexpressible, [], "what is written is known");
                    assert_bounded(text, translated.body.len());
                    let names: usize = translated.inexpressible.iter().map(length).sum();
                    assert!(names <= 64 * 128);
                }
            }
        }
    });
}

#[test]
fn answers_and_errors() {
    fuzz(".json", |text, draws| {
        let _ = (Usage::from_completion(text), Usage::from_message(text));
        let _ = (Usage::from_generation(text), gemini::is_cut(text));
        let _ = (openai::is_cut(text), anthropic::is_cut(text));
        let status = 400 + u16::try_from(draws.below(200)).expect("a status");
        let status = StatusCode::from_u16(status).expect("a status");
        for (dialect, _, id) in DIALECTS {
            let error = classify(&row(id), status, &HeaderMap::new(), text);
            for (to, _, _) in DIALECTS {
                assert!(to.write_error(&error).len() <= 16 << 10);
                let Ok(answer) = dialect.read_answer(text) else {
                    continue;
                };
                let written = to.write_answer(&answer, &stamp());
                to.read_answer(&written)
                    .expect("what is written can be read");
                assert_bounded(text, written.len());
            }
        }
    });
}

#[test]
fn streams() {
    fuzz(".stream.sse", |text, draws| {
        let cuts = draws.cuts(text.len());
        let chunks = || cuts.windows(2).map(|ends| &text[ends[0]..ends[1]]);
        for from in 0..DIALECTS.len() {
            for to in 0..DIALECTS.len() {
                let whole = play(from, to, [text]);
                assert_bounded(text, whole.0.len());
                assert_eq!(play(from, to, chunks()), whole, "cut at {cuts:?}");
            }
        }
        assert_eq!(watched(chunks()), watched([text]), "cut at {cuts:?}");
    });
}

/// What the streams that pass their bytes have seen.
fn watched<'t>(chunks: impl IntoIterator<Item = &'t [u8]>) -> ([Progress; 3], [Vec<u8>; 2]) {
    let mut chat = ChatStream::new(row("openai"), UsageChunk::Hide);
    let mut message = MessageStream::new(row("anthropic"));
    let mut content = ContentStream::new(row("gemini"), Framing::Events);
    let mut array = ContentStream::new(row("gemini"), Framing::Array);
    let (mut hidden, mut passed) = (BytesMut::new(), BytesMut::new());
    let (mut also_passed, mut listed) = (BytesMut::new(), BytesMut::new());
    let mut came = Vec::new();
    for chunk in chunks {
        came.extend_from_slice(chunk);
        let chunk = Bytes::copy_from_slice(chunk);
        chat.push(chunk.clone(), &mut hidden)
            .expect("no event is too large");
        message
            .push(chunk.clone(), &mut passed)
            .expect("no event is too large");
        content
            .push(chunk.clone(), &mut also_passed)
            .expect("no event is too large");
        array
            .push(chunk, &mut listed)
            .expect("no event is too large");
    }
    chat.finish(&mut hidden);
    message.finish(&mut passed);
    content.finish(&mut also_passed);
    array.finish(&mut listed);
    assert_eq!(passed, came, "every byte passes");
    assert_eq!(also_passed, came, "every byte passes");
    assert_eq!(content.progress(), array.progress());
    let progress = [
        chat.progress().clone(),
        message.progress().clone(),
        content.progress().clone(),
    ];
    (progress, [hidden.to_vec(), listed.to_vec()])
}

/// A byte may become an event of its own, or an escape.
fn assert_bounded(text: &[u8], written: usize) {
    assert!(
        written <= 64 * text.len() + 8_192,
        "{} bytes became {written}",
        text.len()
    );
}

fn length(inexpressible: &Inexpressible) -> usize {
    inexpressible.field.len()
}

/// One text of the corpus with some changes.
fn spoilt(corpus: &[Vec<u8>], draws: &mut Seed) -> Vec<u8> {
    let mut text = draws.pick(corpus).clone();
    for _ in 0..draws.below(CHANGES_MAX + 1) {
        let at = draws.place(text.len() + 1);
        let end = (at + draws.place(64)).min(text.len());
        match draws.below(7) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
            2 => {
                let token = *draws.pick(&TOKENS);
                text.splice(at..end, token.iter().copied());
            }
            3 => {
                let token = *draws.pick(&TOKENS);
                text.splice(at..at, token.iter().copied());
            }
            4 => {
                let other = draws.pick(corpus);
                let from = draws.place(other.len() + 1);
                let piece = &other[from..(from + draws.place(256)).min(other.len())];
                text.splice(at..end, piece.iter().copied());
            }
            5 => text.truncate(at),
            _ => {
                if let Some(byte) = text.get_mut(at) {
                    *byte = draws.below(256).to_le_bytes()[0];
                }
            }
        }
    }
    text.truncate(BYTES_MAX);
    text
}

/// What breaks readers.
const TOKENS: [&[u8]; 32] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b":",
    b",",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"\\ud83d",
    b"\\u0000",
    b"\xf0\x9f",
    b"\xff",
    b"\n\n",
    b"\r",
    b"\r\n\r\n",
    b"data: ",
    b"event: error\n",
    b": \n",
    b"[DONE]",
    b"{}",
    b"[[[[[[[[",
    b"\"type\":\"tool_use\",",
    b"\"index\":4294967295,",
    b"\"content\":[],",
    b"\"usage\":{},",
    b"\"id\":\"\",",
    b"\"input\":7,",
];

/// A generator that is small, portable and good enough (splitmix64).
struct Seed(u64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn place(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).expect("it is below a usize")
    }

    fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.place(choices.len())]
    }

    /// Where a text of that length is cut, its ends included.
    fn cuts(&mut self, length: usize) -> Vec<usize> {
        let mut cuts: Vec<_> = (0..self.below(12))
            .map(|_| self.place(length + 1))
            .collect();
        cuts.extend([0, length]);
        cuts.sort_unstable();
        cuts
    }
}
