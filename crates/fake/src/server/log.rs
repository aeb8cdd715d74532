//! What arrived and what became of it: a bounded ring of calls, and the counters over all of them.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::Period;
use crate::model::{Charge, Limit, Scope, peak_aligned, peak_in_any};
use crate::settings::Memory;

/// Headers whose values are shown only by their last four characters.
const SECRET: [&str; 6] = [
    "api-key",
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-api-key",
    "x-goog-api-key",
];

/// The log keeps so much of a header's value.
const HEADER_CHARS_MAX: usize = 1_024;

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) number: u64,
    /// Nanoseconds since the Unix epoch at which the limits saw it.
    pub(super) arrived: u64,
    pub(super) ended: Option<u64>,
    pub(super) path: String,
    pub(super) model: String,
    pub(super) key: String,
    pub(super) verdict: Verdict,
    pub(super) charge: Charge,
    pub(super) status: Option<u16>,
    pub(super) stream: bool,
    pub(super) output_tokens: u64,
    pub(super) aborted: bool,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
}

/// What was decided about a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// The limits let it in.
    Accepted,
    /// This limit did not.
    Rejected(String),
    /// It was refused before the limits saw it.
    Invalid,
}

/// The ring and the counters.
#[derive(Debug)]
pub(super) struct Log {
    memory: Memory,
    entries: VecDeque<Entry>,
    /// Bytes of bodies that entries hold, and how many entries from the front have lost theirs.
    body_bytes: usize,
    bodiless: usize,
    next: u64,
    counters: Counters,
}

#[derive(Debug, Default)]
struct Counters {
    accepted: u64,
    invalid: u64,
    rejected_by: BTreeMap<String, u64>,
    failed: u64,
    aborted: u64,
    tokens_charged: u64,
    output_tokens: u64,
    in_flight: u64,
    in_flight_peak: u64,
}

impl Log {
    pub(super) fn new(memory: Memory) -> Self {
        Self {
            memory,
            entries: VecDeque::new(),
            body_bytes: 0,
            bodiless: 0,
            next: 1,
            counters: Counters::default(),
        }
    }

    /// Forgets all calls and counters, but not what is in flight; what comes is kept within `memory`.
    pub(super) fn reset(&mut self, memory: Memory) {
        let in_flight = self.counters.in_flight;
        let next = self.next;
        *self = Self {
            next,
            ..Self::new(memory)
        };
        self.counters.in_flight = in_flight;
        self.counters.in_flight_peak = in_flight;
    }

    /// Records a call and gives it its number.
    pub(super) fn push(&mut self, mut entry: Entry) -> u64 {
        match &entry.verdict {
            Verdict::Accepted => {
                self.counters.accepted += 1;
                self.counters.tokens_charged += entry.charge.tokens;
                self.counters.in_flight += 1;
                let in_flight = self.counters.in_flight;
                self.counters.in_flight_peak = self.counters.in_flight_peak.max(in_flight);
            }
            Verdict::Rejected(limit) => {
                *self.counters.rejected_by.entry(limit.clone()).or_default() += 1;
            }
            Verdict::Invalid => self.counters.invalid += 1,
        }
        entry.number = self.next;
        self.next += 1;
        self.body_bytes += entry.body.len();
        self.entries.push_back(entry);
        self.keep_within_bounds();
        self.next - 1
    }

    /// Marks the end of an accepted call, which may have left the ring by now.
    pub(super) fn end(&mut self, number: u64, end: End) {
        self.counters.in_flight = self.counters.in_flight.saturating_sub(1);
        self.counters.failed += u64::from(end.failed);
        self.counters.aborted += u64::from(end.aborted);
        self.counters.output_tokens += end.output_tokens;
        let Some(first) = self.entries.front().map(|entry| entry.number) else {
            return;
        };
        let index = number
            .checked_sub(first)
            .and_then(|index| usize::try_from(index).ok());
        if let Some(entry) = index.and_then(|index| self.entries.get_mut(index)) {
            entry.ended = Some(end.at);
            entry.status = end.status;
            entry.output_tokens = end.output_tokens;
            entry.aborted = end.aborted;
        }
    }

    /// The last `limit` calls whose number is above `after`, oldest first.
    pub(super) fn select(&self, after: u64, limit: usize) -> Vec<Entry> {
        let newer = self.entries.iter().filter(|entry| entry.number > after);
        let mut selected: Vec<Entry> = newer.rev().take(limit).cloned().collect();
        selected.reverse();
        selected
    }

    pub(super) fn stats(&self, limits: &[Limit]) -> Value {
        let counters = &self.counters;
        json!({
            "accepted": counters.accepted,
            "rejected": counters.rejected_by.values().sum::<u64>(),
            "rejected_by": counters.rejected_by,
            "invalid": counters.invalid,
            "failed": counters.failed,
            "aborted": counters.aborted,
            "in_flight": counters.in_flight,
            "in_flight_peak": counters.in_flight_peak,
            "tokens_charged": counters.tokens_charged,
            "output_tokens": counters.output_tokens,
            "limits": limits.iter().map(|limit| self.peaks(limit)).collect::<Vec<_>>(),
        })
    }

    /// The most that the calls in the ring took of `limit` in any interval and in any aligned one, of its own length and
    /// of its quantum's. Reckoned from the log alone, whatever the model thought.
    fn peaks(&self, limit: &Limit) -> Value {
        let mut scopes: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
        for entry in &self.entries {
            if entry.verdict == Verdict::Accepted {
                let scope = match limit.scope {
                    Scope::All => "",
                    Scope::Model => entry.model.as_str(),
                    Scope::Key => entry.key.as_str(),
                };
                let amount = entry.charge.of(limit.meter);
                scopes
                    .entry(scope)
                    .or_default()
                    .push((entry.arrived, amount));
            }
        }
        let most = |peak: fn(Vec<(u64, u64)>, Period) -> u64, per| {
            scopes
                .values()
                .map(|arrivals| peak(arrivals.clone(), per))
                .max()
                .unwrap_or(0)
        };
        let mut peaks = json!({
            "meter": limit.meter,
            "amount": limit.amount,
            "per": limit.per,
            "peak": most(peak_in_any, limit.per),
            "peak_aligned": most(peak_aligned, limit.per),
        });
        if let Some(quantum) = limit.quantum {
            peaks["quantum"] = json!({
                "per": quantum.per,
                "peak": most(peak_in_any, quantum.per),
                "peak_aligned": most(peak_aligned, quantum.per),
            });
        }
        peaks
    }

    fn keep_within_bounds(&mut self) {
        while self.entries.len() > self.memory.log_entries {
            if let Some(oldest) = self.entries.pop_front() {
                self.body_bytes -= oldest.body.len();
                self.bodiless = self.bodiless.saturating_sub(1);
            }
        }
        while self.body_bytes > self.memory.log_body_bytes && self.bodiless < self.entries.len() {
            let body = std::mem::take(&mut self.entries[self.bodiless].body);
            self.body_bytes -= body.len();
            self.bodiless += 1;
        }
    }
}

/// How an accepted call ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) at: u64,
    /// Of the head that was sent, if one was.
    pub(super) status: Option<u16>,
    pub(super) output_tokens: u64,
    /// A fault made it fail.
    pub(super) failed: bool,
    /// The client left before the end.
    pub(super) aborted: bool,
}

impl Entry {
    /// As `/_log` shows it.
    pub(super) fn to_json(&self, bodies: Bodies) -> Value {
        let (verdict, limit) = match &self.verdict {
            Verdict::Accepted => ("accepted", None),
            Verdict::Rejected(limit) => ("rejected", Some(limit)),
            Verdict::Invalid => ("invalid", None),
        };
        let headers: Map<String, Value> = self
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), Value::String(value.clone())))
            .collect();
        let mut shown = json!({
            "number": self.number,
            "arrived_unix_ns": self.arrived,
            "ended_unix_ns": self.ended,
            "path": self.path,
            "model": self.model,
            "verdict": verdict,
            "limit": limit,
            "tokens_charged": self.charge.tokens,
            "status": self.status,
            "stream": self.stream,
            "output_tokens": self.output_tokens,
            "aborted": self.aborted,
            "headers": headers,
        });
        if bodies == Bodies::Shown {
            shown["body"] = serde_json::from_slice(&self.body).unwrap_or_else(|_| {
                Value::String(String::from_utf8_lossy(&self.body).into_owned())
            });
        }
        shown
    }
}

/// Whether `/_log` shows bodies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bodies {
    Shown,
    Hidden,
}

/// The headers of a request as the log keeps them, without secrets. Those that came more than once are joined.
pub(super) fn headers_for_log(headers: &http::HeaderMap) -> Vec<(String, String)> {
    headers
        .keys()
        .map(|name| {
            let values: Vec<_> = headers
                .get_all(name)
                .iter()
                .map(|v| String::from_utf8_lossy(v.as_bytes()))
                .collect();
            let value = values.join(", ");
            let shown = if SECRET.contains(&name.as_str()) {
                redacted(&value)
            } else {
                value
            };
            let shown = shown.chars().take(HEADER_CHARS_MAX).collect();
            (name.as_str().to_owned(), shown)
        })
        .collect()
}

/// `***` and the last four characters; less of a short one.
pub(super) fn redacted(secret: &str) -> String {
    let length = secret.chars().count();
    let kept = (length / 2).min(4);
    format!(
        "***{}",
        secret.chars().skip(length - kept).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(arrived: u64, body: &'static str) -> Entry {
        Entry {
            number: 0,
            arrived,
            ended: None,
            path: "/v1/chat/completions".to_owned(),
            model: "m".to_owned(),
            key: String::new(),
            verdict: Verdict::Accepted,
            charge: Charge {
                requests: 1,
                tokens: 10,
                ..Charge::default()
            },
            status: None,
            stream: false,
            output_tokens: 0,
            aborted: false,
            headers: Vec::new(),
            body: Bytes::from_static(body.as_bytes()),
        }
    }

    #[test]
    fn the_ring_and_its_bodies_are_bounded() {
        let memory = Memory {
            log_entries: 3,
            log_body_bytes: 8,
            body_bytes_max: 100,
        };
        let mut log = Log::new(memory);
        for arrived in 1..=5 {
            log.push(entry(arrived, "12345"));
        }
        let kept = log.select(0, 10);
        assert_eq!(
            kept.iter().map(|entry| entry.number).collect::<Vec<_>>(),
            [3, 4, 5]
        );
        assert_eq!(
            kept.iter()
                .map(|entry| entry.body.len())
                .collect::<Vec<_>>(),
            [0, 0, 5]
        );
        assert_eq!(log.select(3, 1)[0].number, 5);
        let end = End {
            at: 9,
            status: Some(200),
            output_tokens: 2,
            failed: false,
            aborted: true,
        };
        for number in 1..=5 {
            log.end(number, end);
        }
        let stats = log.stats(&[]);
        assert_eq!(
            (&stats["accepted"], &stats["aborted"]),
            (&json!(5), &json!(5))
        );
        assert_eq!(
            (&stats["in_flight"], &stats["in_flight_peak"]),
            (&json!(0), &json!(5))
        );
        assert_eq!(log.select(4, 1)[0].status, Some(200));
    }

    #[test]
    fn secrets_show_their_end_only() {
        assert_eq!(redacted("Bearer sk-abcdefgh1234"), "***1234");
        assert_eq!(redacted("abc"), "***c");
        assert_eq!(redacted(""), "***");
    }
}
