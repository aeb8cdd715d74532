//! Some requests counted exactly, with their model's own vocabulary, off their path.
//!
//! A vocabulary costs some 46 MiB and half a second to load, and counting costs a thousand times an estimate: so it is
//! done for a share of the requests only, after they were sent, on one thread that starts with the first of them. What finds the
//! queue full is not counted. The thread ends with the gateway. What it learns from is the texts alone: of what a provider adds to
//! them, settled usage tells.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use bytes::Bytes;
use serde_json::Value;
use sluicegate_catalog::Vocabulary;
use sluicegate_core::BasisPoints;
use sluicegate_dialect::{Parts, TextTally};
use tiktoken_rs::CoreBPE;

use crate::answer_lengths::Asked;
use crate::calibrations::Calibrations;

/// So many requests wait to be counted. With [`BODY_MAX`], the memory of that is bounded.
const QUEUE: usize = 16;
/// Larger bodies are not counted.
const BODY_MAX: usize = 64 * 1024;
/// The whole of a share.
const WHOLE: u64 = 10_000;

/// Who counts some requests exactly.
#[derive(Debug)]
pub(crate) struct SampledCounts {
    calibrations: Arc<Calibrations>,
    /// Of [`WHOLE`] requests.
    share: AtomicU64,
    /// Requests that might have been counted so far.
    offered: AtomicU64,
    /// `None` where no thread could be started.
    queue: OnceLock<Option<SyncSender<Job>>>,
}

#[derive(Debug)]
struct Job {
    body: Bytes,
    vocabulary: Vocabulary,
    asked: Asked,
}

impl SampledCounts {
    pub(crate) fn new(calibrations: &Arc<Calibrations>, share: BasisPoints) -> Self {
        Self {
            calibrations: Arc::clone(calibrations),
            share: AtomicU64::new(u64::from(share.points())),
            offered: AtomicU64::new(0),
            queue: OnceLock::new(),
        }
    }

    /// From now on this share of the requests is counted.
    pub(crate) fn count_share(&self, share: BasisPoints) {
        self.share
            .store(u64::from(share.points()), Ordering::Relaxed);
    }

    /// A request with this body went to a model of that vocabulary. Never waits.
    pub(crate) fn offer(&self, body: &Bytes, vocabulary: Vocabulary, asked: &Asked) {
        if body.len() > BODY_MAX || !self.is_next() {
            return;
        }
        let queue = self.queue.get_or_init(|| start(&self.calibrations));
        if let Some(queue) = queue {
            // Full: this one is left out.
            let _ = queue.try_send(Job {
                body: body.clone(),
                vocabulary,
                asked: asked.clone(),
            });
        }
    }

    /// Whether the one that is offered now is one of the share: evenly spread, the first of all among them.
    fn is_next(&self) -> bool {
        let share = self.share.load(Ordering::Relaxed);
        let before = self.offered.fetch_add(1, Ordering::Relaxed);
        before.wrapping_mul(share) % WHOLE < share
    }
}

fn start(calibrations: &Arc<Calibrations>) -> Option<SyncSender<Job>> {
    let (queue, jobs) = sync_channel(QUEUE);
    let calibrations = Arc::clone(calibrations);
    let thread = thread::Builder::new().name("token-counts".to_owned());
    match thread.spawn(move || count_all(&jobs, &calibrations)) {
        Ok(_) => Some(queue),
        Err(error) => {
            tracing::warn!(%error, "no thread to count tokens on: estimates follow usage alone");
            None
        }
    }
}

/// Until the gateway is gone.
fn count_all(jobs: &Receiver<Job>, calibrations: &Calibrations) {
    for job in jobs {
        if let Some((parts, tokens)) = count(&job.body, tokenizer(job.vocabulary)) {
            calibrations.learn(&job.asked, &parts, tokens);
        }
    }
}

/// Loaded when it is first asked for.
fn tokenizer(vocabulary: Vocabulary) -> &'static CoreBPE {
    match vocabulary {
        Vocabulary::O200k => tiktoken_rs::o200k_base_singleton(),
        Vocabulary::Cl100k => tiktoken_rs::cl100k_base_singleton(),
    }
}

/// The texts of a request's messages: of what they consist, and the tokens that they make.
fn count(body: &[u8], tokenizer: &CoreBPE) -> Option<(Parts, u64)> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let mut texts = Vec::new();
    for member in ["system", "messages", "input", "contents"] {
        collect(body.get(member), &mut texts);
    }
    let (mut tally, mut tokens) = (TextTally::default(), 0);
    for text in texts {
        tally.add(text.as_bytes());
        tokens += tokenizer.count_ordinary(text) as u64;
    }
    Some((Parts::of_text(&tally), tokens))
}

/// Texts where dialects have them; what else is a string there (images, names of kinds) is left out.
fn collect<'a>(value: Option<&'a Value>, texts: &mut Vec<&'a str>) {
    match value {
        Some(Value::String(text)) => texts.push(text),
        Some(Value::Array(values)) => values.iter().for_each(|value| collect(Some(value), texts)),
        Some(Value::Object(members)) => {
            for member in ["content", "text", "parts"] {
                collect(members.get(member), texts);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    fn share(points: u16) -> BasisPoints {
        BasisPoints::new(points).expect("a share")
    }

    fn counts(points: u16) -> SampledCounts {
        SampledCounts::new(&Calibrations::new(&Metrics::new()), share(points))
    }

    #[test]
    fn the_share_is_spread_evenly_and_nothing_is_started_without_one() {
        for (points, expected) in [(0, 0), (100, 10), (2_500, 250), (10_000, 1_000)] {
            let counts = counts(points);
            let counted = (0..1_000).filter(|_| counts.is_next()).count();
            assert_eq!(counted, expected, "{points}");
        }
        let off = counts(0);
        let asked = Asked {
            deployment: "d".to_owned(),
            model: "m".to_owned(),
        };
        off.offer(&Bytes::from_static(b"{}"), Vocabulary::O200k, &asked);
        assert!(off.queue.get().is_none());
        off.count_share(share(10_000));
        off.offer(
            &Bytes::from(vec![b' '; BODY_MAX + 1]),
            Vocabulary::O200k,
            &asked,
        );
        assert!(off.queue.get().is_none());
        off.offer(&Bytes::from_static(b"{}"), Vocabulary::O200k, &asked);
        assert!(off.queue.get().is_some());
    }

    #[test]
    fn texts_are_counted_and_images_are_not() {
        let body = br#"{"model":"gpt-5.5","messages":[
            {"role":"system","content":"You are helpful."},
            {"role":"user","content":[{"type":"text","text":"Hello, how are you?"},
                {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}"#;
        let (parts, tokens) = count(body, tokenizer(Vocabulary::O200k)).expect("it is JSON");
        assert_eq!(tokens, 4 + 6);
        assert_eq!(parts.tokens(), 10);
        assert_eq!(count(b"no JSON", tokenizer(Vocabulary::O200k)), None);
    }

    #[test]
    fn what_is_counted_is_learned() {
        let calibrations = Calibrations::new(&Metrics::new());
        let asked = Asked {
            deployment: "d".to_owned(),
            model: "m".to_owned(),
        };
        let (queue, jobs) = sync_channel(QUEUE);
        let text = "수문은 강이 감당하지 못하는 물을 막아 둔다. ".repeat(20);
        let body = serde_json::json!({ "messages": [{ "role": "user", "content": text }] });
        let body = Bytes::from(body.to_string());
        let (parts, tokens) = count(&body, tokenizer(Vocabulary::Cl100k)).expect("it is JSON");
        let before = calibrations.expected(&asked, &parts).central;
        for _ in 0..QUEUE {
            let job = Job {
                body: body.clone(),
                vocabulary: Vocabulary::Cl100k,
                asked: asked.clone(),
            };
            queue.send(job).expect("the receiver is here");
        }
        drop(queue);
        count_all(&jobs, &calibrations);
        let after = calibrations.expected(&asked, &parts).central;
        assert!(
            after.abs_diff(tokens) < before.abs_diff(tokens) / 4,
            "{before} -> {after} of {tokens}"
        );
    }
}
