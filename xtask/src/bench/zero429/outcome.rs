//! What came of a case, by the provider's own counting.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::case::Case;
use super::load::Seen;

/// What the provider says of the measured time, from `began` to `ended` in nanoseconds since the Unix epoch.
pub(super) struct Observed {
    pub(super) began: u64,
    pub(super) ended: u64,
    pub(super) before: Value,
    pub(super) after: Value,
    pub(super) log: Value,
}

/// What came of a case in the measured time.
#[derive(Serialize)]
pub(super) struct Outcome {
    pub(super) provider: String,
    pub(super) load: &'static str,
    /// Calls that the gateway was sent.
    pub(super) offered: u64,
    /// Calls that the provider took.
    pub(super) taken: u64,
    /// Calls that the provider turned away, by the limit that did.
    pub(super) rejections: BTreeMap<String, u64>,
    /// The limit that gave the largest share of what it could have given, and that share in percent.
    pub(super) binding: String,
    pub(super) share_percent: f64,
    pub(super) wait_ms_p50: u64,
    pub(super) wait_ms_p99: u64,
    /// What the clients were answered, by status; 0 where a connection broke.
    pub(super) answers: BTreeMap<u16, u64>,
}

impl Outcome {
    pub(super) fn new(case: &Case, seen: &Seen, observed: &Observed) -> Self {
        let (binding, share_percent) = observed
            .shares()
            .into_iter()
            .chain(case.slots().map(|slots| observed.slot_share(slots)))
            .max_by(|(_, one), (_, other)| one.total_cmp(other))
            .unwrap_or_default();
        let (taken, rejections) = observed.verdicts();
        Self {
            provider: case.provider().to_owned(),
            load: case.load().name(),
            offered: seen.offered,
            taken,
            rejections,
            binding,
            share_percent,
            wait_ms_p50: seen.wait_ms(50),
            wait_ms_p99: seen.wait_ms(99),
            answers: seen.answers.clone(),
        }
    }

    pub(super) fn rejected(&self) -> u64 {
        self.rejections.values().sum()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} taken, {} turned away, {:.1} % of {}",
            self.taken,
            self.rejected(),
            self.share_percent,
            self.binding
        )
    }
}

impl Observed {
    /// Of what each limit could have given, how much was taken, in percent.
    #[expect(clippy::cast_precision_loss, reason = "amounts far below 2^52")]
    fn shares(&self) -> Vec<(String, f64)> {
        let limits = |stats: &Value| stats["limits"].as_array().cloned().unwrap_or_default();
        let (before, after) = (limits(&self.before), limits(&self.after));
        let shares = before.iter().zip(&after).filter_map(|(before, after)| {
            let taken = after["taken"]
                .as_u64()?
                .saturating_sub(before["taken"].as_u64()?);
            let possible = after["theoretical"].as_u64().filter(|amount| *amount > 0)?;
            let (meter, per) = (after["meter"].as_str()?, after["per"].as_str()?);
            Some((
                format!("{meter} in {per}"),
                taken as f64 * 100.0 / possible as f64,
            ))
        });
        shares.collect()
    }

    /// Of the time of the slots, how much the provider was at work.
    #[expect(clippy::cast_precision_loss, reason = "an estimate in percent")]
    fn slot_share(&self, slots: u64) -> (String, f64) {
        let busy = self.calls().filter(|call| call["verdict"] == "accepted");
        let busy = busy.filter_map(|call| {
            let arrived = call["arrived_unix_ns"].as_u64()?.max(self.began);
            let ended = call["ended_unix_ns"].as_u64().unwrap_or(self.ended);
            Some(ended.min(self.ended).saturating_sub(arrived))
        });
        let whole = slots * (self.ended - self.began);
        let share = busy.sum::<u64>() as f64 * 100.0 / whole as f64;
        ("concurrent".to_owned(), share)
    }

    /// How many calls arrived in the measured time and were taken, and how many each limit turned away.
    fn verdicts(&self) -> (u64, BTreeMap<String, u64>) {
        let mut taken = 0;
        let mut rejections = BTreeMap::new();
        for call in self.calls() {
            let arrived = call["arrived_unix_ns"].as_u64().unwrap_or(0);
            if !(self.began..self.ended).contains(&arrived) {
                continue;
            }
            match call["verdict"].as_str() {
                Some("accepted") => taken += 1,
                Some("rejected") => {
                    let limit = call["limit"].as_str().unwrap_or("?").to_owned();
                    *rejections.entry(limit).or_default() += 1;
                }
                _ => *rejections.entry("invalid".to_owned()).or_default() += 1,
            }
        }
        (taken, rejections)
    }

    fn calls(&self) -> impl Iterator<Item = &Value> {
        self.log.as_array().into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn observed() -> Observed {
        let call = |arrived: u64, ended: u64, verdict: &str, limit: Value| json!({ "arrived_unix_ns": arrived, "ended_unix_ns": ended, "verdict": verdict, "limit": limit });
        Observed {
            began: 1_000,
            ended: 2_000,
            before: json!({ "limits": [{ "taken": 40 }, { "taken": 0 }] }),
            after: json!({ "limits": [
                { "meter": "requests", "per": "6s", "taken": 139, "theoretical": 100 },
                { "meter": "tokens", "per": "6s", "taken": 500, "theoretical": 1_000 },
            ] }),
            log: json!([
                call(900, 1_100, "accepted", Value::Null),
                call(1_000, 1_400, "accepted", Value::Null),
                call(1_500, 2_600, "accepted", Value::Null),
                call(1_600, 1_600, "rejected", json!("tokens")),
                call(2_000, 2_001, "rejected", json!("requests")),
            ]),
        }
    }

    #[test]
    fn only_the_measured_time_counts() {
        let (taken, rejections) = observed().verdicts();
        assert_eq!(taken, 2);
        assert_eq!(rejections, BTreeMap::from([("tokens".to_owned(), 1)]));
    }

    #[test]
    fn shares_are_of_what_was_possible() {
        let shares = observed().shares();
        assert_eq!(
            shares,
            [
                ("requests in 6s".to_owned(), 99.0),
                ("tokens in 6s".to_owned(), 50.0)
            ]
        );
        // 100, 400 and 500 of twice a thousand.
        assert_eq!(observed().slot_share(2), ("concurrent".to_owned(), 50.0));
    }
}
