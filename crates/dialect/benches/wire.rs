//! What reading a request and watching a stream cost.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use sluicegate_catalog::provider;
use sluicegate_dialect::gemini::{Call, Framing};
use sluicegate_dialect::openai::{ChatStream, UsageChunk};
use sluicegate_dialect::{
    Calibration, Changes, Envelope, IncludeUsage, Operation, Parts, TextTally,
};

fn main() {
    divan::main();
}

const ENGLISH: &str =
    "The gate holds back what the river cannot carry, and lets the rest pass (at once).\\n";
const KOREAN: &str = "수문은 강이 감당하지 못하는 물을 막아 두고, 나머지는 곧바로 흘려보낸다.\\n";

/// A request of a client, by what it asks for, in which language it is and about how large.
#[derive(Clone, Copy)]
struct Asked {
    operation: Operation,
    language: &'static str,
    kib: usize,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.operation.name();
        write!(f, "{name}, {}, {} KiB", self.language, self.kib)
    }
}

fn all_asked() -> impl Iterator<Item = Asked> {
    let content = Operation::Content(Call::GenerateContent, Framing::Events);
    let operations = [
        Operation::ChatCompletions,
        Operation::Responses,
        Operation::Messages,
        content,
    ];
    operations.into_iter().flat_map(|operation| {
        ["english", "korean"].into_iter().flat_map(move |language| {
            [1, 30].map(|kib| Asked {
                operation,
                language,
                kib,
            })
        })
    })
}

impl Asked {
    /// In four messages, as the dialect has them.
    fn body(self) -> Bytes {
        let sentence = sentence(self.language);
        let text = sentence.repeat(self.kib * 1_024 / 4 / sentence.len() + 1);
        let four = |message: String| [message.as_str(); 4].join(",");
        let message = four(format!(r#"{{"role":"user","content":"{text}"}}"#));
        Bytes::from(match self.operation {
            Operation::Responses => format!(
                r#"{{"model":"gpt-5.5","temperature":0.2,"stream":true,"input":[{message}],"max_output_tokens":512}}"#
            ),
            Operation::Content(..) => {
                let contents = four(format!(
                    r#"{{"role":"user","parts":[{{"text":"{text}"}}]}}"#
                ));
                format!(
                    r#"{{"contents":[{contents}],"generationConfig":{{"temperature":0.2,"maxOutputTokens":512}}}}"#
                )
            }
            _ => format!(
                r#"{{"model":"gpt-5.5","temperature":0.2,"stream":true,"messages":[{message}],"max_tokens":512}}"#
            ),
        })
    }

    fn envelope(self, body: &Bytes) -> Envelope {
        Envelope::decode(self.operation, "gpt-5.5", body).expect("a request")
    }
}

fn sentence(language: &str) -> &'static str {
    if language == "korean" {
        KOREAN
    } else {
        ENGLISH
    }
}

/// What every request costs: it is read, and passes as it is.
#[divan::bench(args = all_asked())]
fn pass(bencher: Bencher<'_, '_>, asked: Asked) {
    let body = asked.body();
    bencher.counter(BytesCount::new(body.len())).bench(|| {
        let envelope = asked.envelope(black_box(&body));
        let passed = envelope.rewrite(&Changes::default());
        assert_eq!(passed.len(), body.len());
        passed
    });
}

/// Where the model's name and the maximum change.
#[divan::bench(args = all_asked())]
fn rewrite(bencher: Bencher<'_, '_>, asked: Asked) {
    let envelope = asked.envelope(&asked.body());
    let changes = Changes {
        model: Some("other"),
        include_usage: IncludeUsage::Ask,
        output_cap: Some(256),
        ..Changes::default()
    };
    bencher.bench(|| black_box(&envelope).rewrite(&changes));
}

#[divan::bench(args = ["english", "korean"])]
fn tally(bencher: Bencher<'_, '_>, language: &str) {
    let sentence = sentence(language);
    let text = sentence.repeat(30 * 1_024 / sentence.len());
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut tally = TextTally::default();
        tally.add(black_box(text.as_bytes()));
        tally
    });
}

/// 200 events in chunks of one event each, as they come from a provider that is asked for usage.
#[divan::bench(args = [1, 8])]
fn stream_event(bencher: Bencher<'_, '_>, events_per_chunk: usize) {
    let event = "data: {\"id\":\"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG\",\"object\":\"chat.completion.chunk\",\
        \"created\":1741570283,\"model\":\"gpt-5.5-2026-03-01\",\"service_tier\":\"default\",\
        \"system_fingerprint\":\"fp_fc9f1d7035\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" water\"},\
        \"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n";
    let chunk = Bytes::from(event.repeat(events_per_chunk));
    let openai = provider("openai").expect("a row");
    bencher.counter(ItemsCount::new(200_usize)).bench(|| {
        let mut stream = ChatStream::new(Arc::clone(openai), UsageChunk::Hide);
        let mut out = BytesMut::with_capacity(4_096);
        for _ in 0..200 / events_per_chunk {
            out.clear();
            let _ = stream.push(black_box(chunk.clone()), &mut out);
        }
        stream.progress().output_bytes
    });
}

fn korean() -> Envelope {
    let asked = Asked {
        operation: Operation::ChatCompletions,
        language: "korean",
        kib: 1,
    };
    Envelope::decode(asked.operation, "", &asked.body()).expect("a request")
}

/// What an estimate costs beyond the tally, once the model is known.
#[divan::bench]
fn calibrated(bencher: Bencher<'_, '_>) {
    let facts = korean().facts().clone();
    let mut calibration = Calibration::default();
    for tokens in 0..200 {
        calibration.learn(&Parts::of(&facts, None), 300 + tokens);
    }
    bencher.bench(|| black_box(&calibration).expected(&Parts::of(black_box(&facts), None)));
}

/// What it costs to learn from one answer.
#[divan::bench]
fn learn(bencher: Bencher<'_, '_>) {
    let facts = korean().facts().clone();
    let mut calibration = Calibration::default();
    bencher.bench_local(|| calibration.learn(&Parts::of(black_box(&facts), None), 400));
}
