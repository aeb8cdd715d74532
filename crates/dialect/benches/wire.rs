//! What reading a request and watching a stream cost.

use std::hint::black_box;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use sluicegate_catalog::provider;
use sluicegate_dialect::TextTally;
use sluicegate_dialect::openai::{ChatStream, Envelope, UsageChunk};
use sluicegate_dialect::{Calibration, Changes, IncludeUsage, Parts};

fn main() {
    divan::main();
}

const ENGLISH: &str =
    "The gate holds back what the river cannot carry, and lets the rest pass (at once).\\n";
const KOREAN: &str = "수문은 강이 감당하지 못하는 물을 막아 두고, 나머지는 곧바로 흘려보낸다.\\n";

/// A request of about `kib` KiB in a few messages.
fn request(sentence: &str, kib: usize) -> Bytes {
    let content = sentence.repeat(kib * 1_024 / 4 / sentence.len() + 1);
    let message = format!(r#"{{"role":"user","content":"{content}"}}"#);
    let messages = [message.as_str(); 4].join(",");
    Bytes::from(format!(
        r#"{{"model":"gpt-5.5","temperature":0.2,"stream":true,"messages":[{messages}],"max_tokens":512}}"#
    ))
}

#[divan::bench(args = [1, 30])]
fn decode_english(bencher: Bencher<'_, '_>, kib: usize) {
    let body = request(ENGLISH, kib);
    bencher
        .counter(BytesCount::new(body.len()))
        .bench(|| Envelope::decode(black_box(&body)));
}

#[divan::bench(args = [1, 30])]
fn decode_korean(bencher: Bencher<'_, '_>, kib: usize) {
    let body = request(KOREAN, kib);
    bencher
        .counter(BytesCount::new(body.len()))
        .bench(|| Envelope::decode(black_box(&body)));
}

#[divan::bench(args = [1, 30])]
fn rewrite(bencher: Bencher<'_, '_>, kib: usize) {
    let envelope = Envelope::decode(&request(ENGLISH, kib)).expect("a request");
    let changes = Changes {
        model: Some("other"),
        include_usage: IncludeUsage::Ask,
        output_cap: Some(256),
        priority: None,
    };
    bencher.bench(|| black_box(&envelope).rewrite(&changes));
}

#[divan::bench(args = ["english", "korean"])]
fn tally(bencher: Bencher<'_, '_>, language: &str) {
    let sentence = if language == "korean" {
        KOREAN
    } else {
        ENGLISH
    };
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

/// What an estimate costs beyond the tally, once the model is known.
#[divan::bench]
fn calibrated(bencher: Bencher<'_, '_>) {
    let facts = Envelope::decode(&request(KOREAN, 1))
        .expect("a request")
        .facts;
    let mut calibration = Calibration::default();
    for tokens in 0..200 {
        calibration.learn(&Parts::of(&facts, None), 300 + tokens);
    }
    bencher.bench(|| black_box(&calibration).expected(&Parts::of(black_box(&facts), None)));
}

/// What it costs to learn from one answer.
#[divan::bench]
fn learn(bencher: Bencher<'_, '_>) {
    let facts = Envelope::decode(&request(KOREAN, 1))
        .expect("a request")
        .facts;
    let mut calibration = Calibration::default();
    bencher.bench_local(|| calibration.learn(&Parts::of(black_box(&facts), None), 400));
}
