//! What the text of a refusal tells in numbers: which limit, how much was used and asked for, and
//! how long to wait.
//!
//! It is the one place where some providers name the minute's limits (Groq), and where many say
//! what *they* charged for a request, which our own formula can be held against. Texts are written
//! for people and change without notice, so nothing depends on a sentence: numbers are sought
//! behind a few words, and what contradicts itself is dropped.

use std::time::Duration;

use sluicegate_catalog::ErrorClass;
use sluicegate_core::{Meter, Signal};

use crate::UpstreamError;
use crate::clock_text::spelled_duration;
use crate::error_text::{ErrorText, Quota};
use crate::header_text::whole;
use crate::period::{DAY, MINUTE, MONTH, period_of};

/// A provider that refuses for a limit and does not say for how long is left alone for that long.
const CLOSED_UNTOLD: Duration = Duration::from_secs(1);

/// A refusal in numbers. What its text did not carry is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RefusalFacts {
    /// What the limit counts.
    pub meter: Option<Meter>,
    /// The ceiling in force, in units of the meter.
    pub limit: Option<u64>,
    /// What was used of it before this request.
    pub used: Option<u64>,
    /// What this request would have been charged, by the provider's own rule.
    pub requested: Option<u64>,
    /// How long to wait, as the text says it: not bounded.
    pub wait: Option<Duration>,
    /// The window's length, as the text names it or as the numbers reveal it. `None` also where
    /// the two disagree.
    pub per: Option<Duration>,
}

impl RefusalFacts {
    /// The state of the limit that the refusal tells of, for the ledger. `None` where it does not
    /// name the meter, or nothing of its limit that a ceiling of zero would not contradict.
    pub fn signal(&self) -> Option<Signal> {
        let limit = self.limit.filter(|&limit| limit > 0)?;
        let mut signal = Signal::on(self.meter?);
        signal.limit = Some(limit);
        signal.remaining = self.used.map(|used| limit.saturating_sub(used));
        signal.per = self.per;
        Some(signal)
    }
}

/// What the body of a refusal tells in numbers; `None` where it tells none.
///
/// The period is recovered from `wait = (used + requested − limit) × per / limit`, which holds for
/// every recorded refusal of OpenAI and Groq that names all of them.
///
/// ```
/// let body = br#"{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s.","type":"tokens"}}"#;
/// let facts = sluicegate_dialect::refusal_facts(body).expect("it is in numbers");
/// assert_eq!((facts.used, facts.requested), (Some(22_999), Some(12_528)));
/// assert_eq!(facts.per.map(|per| per.as_secs()), Some(60));
/// ```
pub fn refusal_facts(body: &[u8]) -> Option<RefusalFacts> {
    of_text(&ErrorText::of_body(body))
}

/// What a refusal tells the ledger: the limits that it is about take nothing for `hint`, a second where it names no wait,
/// and, where its text says so, how the one stands. One for a rate that names no meter is about any of them, one of an
/// overload about what is in flight; all others are about none.
pub fn told_by_refusal(error: &UpstreamError, body: &[u8], hint: Option<Duration>) -> Vec<Signal> {
    let facts = refusal_facts(body);
    let meter = match error.class {
        ErrorClass::Rate => facts
            .and_then(|facts| facts.meter)
            .or_else(|| meter_of_kind(&error.kind)),
        ErrorClass::Overload => Some(Meter::Concurrent),
        _ => return Vec::new(),
    };
    let about = Meter::ALL
        .into_iter()
        .filter(|one| meter.is_none_or(|named| named == *one));
    about
        .map(|meter| Signal {
            closed_for: Some(hint.unwrap_or(CLOSED_UNTOLD)),
            ..Signal::on(meter)
        })
        .chain(facts.and_then(|facts| facts.signal()))
        .collect()
}

/// The meter that an error's `type` names.
fn meter_of_kind(kind: &str) -> Option<Meter> {
    match kind {
        "tokens" => Some(Meter::Tokens),
        "requests" => Some(Meter::Requests),
        _ => None,
    }
}

pub(crate) fn of_text(text: &ErrorText) -> Option<RefusalFacts> {
    let said = of_message(&text.message);
    // Who passes a refusal on wraps it; the numbers are inside then.
    let passed_on = of_message(&text.raw);
    let quota = of_quota(&text.quota);
    let by_kind = meter_of_kind(&text.kind);
    let facts = RefusalFacts {
        meter: quota.meter.or(said.meter).or(passed_on.meter).or(by_kind),
        limit: quota.limit.or(said.limit).or(passed_on.limit),
        used: said.used.or(passed_on.used),
        requested: said.requested.or(passed_on.requested),
        wait: said.wait.or(passed_on.wait),
        per: quota.per.or(said.per).or(passed_on.per),
    };
    let in_numbers = facts.limit.is_some() || facts.wait.is_some() || facts.requested.is_some();
    in_numbers.then_some(facts)
}

fn of_message(message: &str) -> RefusalFacts {
    let message = message.to_lowercase();
    let words = words(&message);
    let (counted, abbreviated) = abbreviation(&words).unzip();
    let rate = rate(&words);
    let mut facts = RefusalFacts {
        meter: counted.or(rate.meter).or_else(|| described(&message)),
        limit: number_behind(&words, &["limit", "limited"]).or(rate.limit),
        used: number_behind(&words, &["used", "current", "usage"]),
        requested: number_behind(&words, &["requested"]),
        wait: wait(&words),
        per: None,
    };
    let named = abbreviated.or(rate.per);
    let revealed = revealed_period(&facts);
    facts.per = match (named, revealed) {
        (Some(named), Some(revealed)) => (named == revealed).then_some(named),
        (named, revealed) => named.or(revealed),
    };
    facts
}

/// The period in which the limit gives back what is asked for above what is left in the wait.
fn revealed_period(facts: &RefusalFacts) -> Option<Duration> {
    let limit = facts.limit?;
    let over = facts
        .used?
        .checked_add(facts.requested?)?
        .checked_sub(limit)?;
    period_of(facts.wait?, over, limit)
}

/// Letters and digits with what stands within a word or a number, and slashes.
fn words(message: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '_' | '-' | '\'');
    let mut words = Vec::new();
    for stretch in message.split(|c: char| !is_word(c) && c != '/') {
        for (index, part) in stretch.split('/').enumerate() {
            if index > 0 {
                words.push("/");
            }
            let word = part.trim_matches(['.', ',', '\'']);
            if !word.is_empty() {
                words.push(word);
            }
        }
    }
    words
}

/// The number behind the first of `names` that one follows, as in `limit: 3` or `limit of 30,000`.
fn number_behind(words: &[&str], names: &[&str]) -> Option<u64> {
    let places = (0..words.len()).filter(|&at| names.contains(&words[at]));
    let mut numbers = places.filter_map(|at| {
        let rest = &words[at + 1..];
        let rest = match rest {
            ["of" | "is" | "to", rest @ ..] => rest,
            rest => rest,
        };
        rest.first().and_then(|word| number(word))
    });
    numbers.next()
}

/// A whole number, in groups of three or not.
fn number(word: &str) -> Option<u64> {
    let starts = word.starts_with(|c: char| c.is_ascii_digit());
    starts.then(|| whole(&word.replace([',', '_'], "")))?
}

/// `tpm` and its like.
fn abbreviation(words: &[&str]) -> Option<(Meter, Duration)> {
    words.iter().find_map(|word| {
        let (stem, per) = match word.strip_suffix('d') {
            Some(stem) => (stem, DAY),
            None => (word.strip_suffix('m')?, MINUTE),
        };
        let meter = match stem {
            "rp" | "qp" => Meter::Requests,
            "tp" => Meter::Tokens,
            "itp" => Meter::InputTokens,
            "otp" => Meter::OutputTokens,
            _ => return None,
        };
        Some((meter, per))
    })
}

/// `30,000 input tokens per minute`, `20 api calls / minute`, `limit: 3 / min`, `tokens per day`.
fn rate(words: &[&str]) -> RefusalFacts {
    let is_per = |at: &usize| matches!(words[*at], "per" | "/") && *at > 0;
    let mut rates = (0..words.len()).filter(is_per).filter_map(|at| {
        let per = unit(words.get(at + 1)?)?;
        let (meter, number_at) = match (words[at - 1], at.checked_sub(2).map(|at| words[at])) {
            ("tokens", Some("input" | "prompt")) => (Some(Meter::InputTokens), at.checked_sub(3)),
            ("tokens", Some("output" | "completion")) => {
                (Some(Meter::OutputTokens), at.checked_sub(3))
            }
            ("tokens", _) => (Some(Meter::Tokens), at.checked_sub(2)),
            ("calls", Some("api")) => (Some(Meter::Requests), at.checked_sub(3)),
            ("requests" | "calls" | "queries", _) => (Some(Meter::Requests), at.checked_sub(2)),
            _ => (None, Some(at - 1)),
        };
        let limit = number_at.and_then(|at| number(words[at]));
        (meter.is_some() || limit.is_some()).then_some(RefusalFacts {
            meter,
            limit,
            per: Some(per),
            ..RefusalFacts::default()
        })
    });
    rates.next().unwrap_or_default()
}

fn unit(word: &str) -> Option<Duration> {
    Some(match word {
        "s" | "sec" | "second" => Duration::from_secs(1),
        "m" | "min" | "minute" => MINUTE,
        "h" | "hr" | "hour" => Duration::from_secs(3_600),
        "d" | "day" => DAY,
        "month" => MONTH,
        _ => return None,
    })
}

/// Meters that are described in other words. `too many requests` is only the status's own name.
fn described(message: &str) -> Option<Meter> {
    let meters = [
        ("input token", Meter::InputTokens),
        ("output token", Meter::OutputTokens),
        ("token rate limit", Meter::Tokens),
        ("too many tokens", Meter::Tokens),
        ("call rate limit", Meter::Requests),
    ];
    let mut meters = meters.into_iter();
    meters
        .find(|(words, _)| message.contains(words))
        .map(|(_, meter)| meter)
}

/// The duration behind `try again in`, `retry after` or the like.
fn wait(words: &[&str]) -> Option<Duration> {
    let mut behind = (0..words.len()).filter_map(|at| match &words[at..] {
        ["try", "again", "in" | "after", rest @ ..] | ["retry", "in" | "after", rest @ ..] => {
            spelled_duration(rest.iter().copied())
        }
        _ => None,
    });
    behind.next()
}

/// Google names the quota by an id like `GenerateContentInputTokensPerModelPerMinute-FreeTier`.
fn of_quota(quota: &Quota) -> RefusalFacts {
    let id = format!("{} {}", quota.metric, quota.id).to_lowercase();
    let has = |part: &str| id.contains(part);
    let meter = if has("input_token") || has("inputtoken") {
        Some(Meter::InputTokens)
    } else if has("output_token") || has("outputtoken") {
        Some(Meter::OutputTokens)
    } else if has("token") {
        Some(Meter::Tokens)
    } else {
        has("request").then_some(Meter::Requests)
    };
    let per = match (has("perminute"), has("perday")) {
        (true, false) => Some(MINUTE),
        (false, true) => Some(DAY),
        _ => None,
    };
    RefusalFacts {
        meter,
        limit: whole(&quota.value),
        per,
        ..RefusalFacts::default()
    }
}

#[cfg(test)]
mod tests;
