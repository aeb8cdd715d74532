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
use sluicegate_dialect::responses::{self, ResponseStream};
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
    fuzz_files(DIALECTS.map(|(_, folder, _)| (folder, ending)), target);
}

/// The same with the files of these folders and endings.
pub(crate) fn fuzz_files<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
    target: impl Fn(&[u8], &mut Seed),
) {
    let corpus: Vec<Vec<u8>> = files
        .into_iter()
        .flat_map(|(folder, ending)| fixtures(folder, ending))
        .map(|(_, text)| text)
        .collect();
    fuzz_texts(&corpus, target);
}

/// The same on spoilt texts of `corpus`.
fn fuzz_texts(corpus: &[Vec<u8>], target: impl Fn(&[u8], &mut Seed)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let rounds = number("SLUICEGATE_FUZZ_ROUNDS")
        .unwrap_or(ROUNDS)
        .max(ROUNDS);
    let base = number("SLUICEGATE_FUZZ_SEED").unwrap_or(0_u64);
    for round in 0..rounds {
        let seed = base.wrapping_mul(1 << 32).wrapping_add(round);
        let mut draws = Seed(seed);
        let text = spoilt(corpus, &mut draws);
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
        if let Ok(envelope) = responses::Envelope::decode(&body) {
            let changes = Changes {
                model: Some("other \" model"),
                output_cap: Some(20),
                ..Changes::default()
            };
            let again = responses::Envelope::decode(&envelope.rewrite(&changes));
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
            assert!(again.facts.output_cap.is_some_and(|cap| cap <= 20));
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

/// Those that are not translated have no fixtures: a few texts are spoilt instead.
#[test]
fn envelopes_of_what_only_passes() {
    let corpus: [&[u8]; 4] = [
        br#"{"model":"m","prompt":["a","b"],"suffix":"c","n":2,"stream":true,"stream_options":{"x":1}}"#,
        br#"{"model":"m","prompt":[[1,2],[3]],"max_tokens":null,"best_of":3}"#,
        br#"{"model":"m","input":"text","dimensions":64}"#,
        br#"{"input":[5,17,9],"model":"m"}"#,
    ];
    fuzz_texts(&corpus.map(<[u8]>::to_vec), |text, _| {
        let body = Bytes::copy_from_slice(text);
        let changes = Changes {
            model: Some("other \" model"),
            include_usage: IncludeUsage::Ask,
            output_cap: Some(7),
            priority: None,
        };
        if let Ok(envelope) = openai::CompletionEnvelope::decode(&body) {
            let again = openai::CompletionEnvelope::decode(&envelope.rewrite(&changes));
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
            assert!(again.facts.output_cap.is_some_and(|cap| cap <= 7));
            assert!(again.usage_wanted || !again.facts.stream);
        }
        if let Ok(envelope) = openai::EmbeddingEnvelope::decode(&body) {
            let again = openai::EmbeddingEnvelope::decode(&envelope.rewrite(&changes));
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
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
        let _ = (Usage::from_response(text), responses::is_cut(text));
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

/// What the streams that pass their bytes have seen, and what is left where some of it is hidden or framed otherwise.
fn watched<'t>(chunks: impl IntoIterator<Item = &'t [u8]>) -> ([Progress; 4], [Vec<u8>; 2]) {
    let mut chat = ChatStream::new(row("openai"), UsageChunk::Hide);
    let mut message = MessageStream::new(row("anthropic"));
    let mut response = ResponseStream::new(row("openai"));
    let mut content = ContentStream::new(row("gemini"), Framing::Events);
    let mut array = ContentStream::new(row("gemini"), Framing::Array);
    let [mut hidden, mut listed] = [(); 2].map(|()| BytesMut::new());
    let mut passed = [(); 3].map(|()| BytesMut::new());
    let mut came = Vec::new();
    for chunk in chunks {
        came.extend_from_slice(chunk);
        let chunk = Bytes::copy_from_slice(chunk);
        let pushed = [
            chat.push(chunk.clone(), &mut hidden),
            message.push(chunk.clone(), &mut passed[0]),
            response.push(chunk.clone(), &mut passed[1]),
            content.push(chunk.clone(), &mut passed[2]),
            array.push(chunk, &mut listed),
        ];
        assert_eq!(pushed, [Ok(()); 5], "no event is too large");
    }
    chat.finish(&mut hidden);
    message.finish(&mut passed[0]);
    response.finish(&mut passed[1]);
    content.finish(&mut passed[2]);
    array.finish(&mut listed);
    for passed in passed {
        assert_eq!(passed, came, "every byte passes");
    }
    assert_eq!(content.progress(), array.progress());
    let progress = [
        chat.progress(),
        message.progress(),
        response.progress(),
        content.progress(),
    ];
    (
        progress.map(Progress::clone),
        [hidden.to_vec(), listed.to_vec()],
    )
}

/// A byte may become an event of its own, or an escape.
pub(crate) fn assert_bounded(text: &[u8], written: usize) {
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
pub(crate) fn spoilt(corpus: &[Vec<u8>], draws: &mut Seed) -> Vec<u8> {
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
const TOKENS: [&[u8]; 36] = [
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
    b"\"type\":\"function_call\",",
    b"\"output_index\":1,",
    b"\"encrypted_content\":\"sealed#\",",
    b"event: response.completed\n",
];

/// A generator that is small, portable and good enough (splitmix64).
pub(crate) struct Seed(u64);

impl Seed {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn place(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).expect("it is below a usize")
    }

    fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.place(choices.len())]
    }

    /// Where a text of that length is cut, its ends included.
    pub(crate) fn cuts(&mut self, length: usize) -> Vec<usize> {
        let mut cuts: Vec<_> = (0..self.below(12))
            .map(|_| self.place(length + 1))
            .collect();
        cuts.extend([0, length]);
        cuts.sort_unstable();
        cuts
    }
}
