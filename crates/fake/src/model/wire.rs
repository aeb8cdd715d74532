//! How a verdict looks on the wire: rate-limit headers, rejection bodies, Go durations.
//!
//! Shapes only; the numbers come from the windows. Sources: the providers' rate-limit pages, and captured responses where
//! those say nothing (a reset is the time until *full*; Azure's unit changed from milliseconds to seconds in 2026).

use serde_json::{Value, json};

use super::settings::{Hints, Meter, Profile, ResetUnit, Settings};
use crate::Period;

/// A response header.
pub type Header = (&'static str, String);

/// A limit as the headers show it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub(super) meter: Meter,
    pub(super) limit: u64,
    pub(super) remaining: u64,
    /// Nanoseconds until nothing is used.
    pub(super) reset: u64,
    pub(super) per: Period,
    pub(super) quantum: Option<Period>,
}

/// What a rejection says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal<'a> {
    pub(super) model: &'a str,
    pub(super) meter: Meter,
    pub(super) per: Period,
    pub(super) limit: u64,
    pub(super) used: u64,
    pub(super) requested: u64,
    /// Nanoseconds after which the call would fit; `None`: never.
    pub(super) wait: Option<u64>,
}

/// The headers that every counted answer carries.
pub(super) fn state(settings: &Settings, model: &str, shown: &[Shown]) -> Vec<Header> {
    let mut headers = Vec::with_capacity(3 * shown.len() + 4);
    for limit in shown {
        let names = match limit.meter {
            Meter::Requests => [
                "x-ratelimit-limit-requests",
                "x-ratelimit-remaining-requests",
                "x-ratelimit-reset-requests",
                "x-ratelimit-renewalperiod-requests",
            ],
            Meter::Tokens => [
                "x-ratelimit-limit-tokens",
                "x-ratelimit-remaining-tokens",
                "x-ratelimit-reset-tokens",
                "x-ratelimit-renewalperiod-tokens",
            ],
        };
        headers.push((names[0], limit.limit.to_string()));
        headers.push((names[1], limit.remaining.to_string()));
        headers.push((names[2], reset(settings, limit.reset)));
        if settings.profile == Profile::Azure {
            let renewal = limit.quantum.unwrap_or(limit.per);
            headers.push((names[3], renewal.as_seconds().to_string()));
        }
    }
    if settings.profile == Profile::Azure && !shown.is_empty() {
        headers.push(("x-ratelimit-key", model.to_owned()));
        headers.push(("x-ratelimit-abusepenalty-active", "False".to_owned()));
    }
    headers
}

fn reset(settings: &Settings, nanos: u64) -> String {
    match (settings.profile, settings.reset_unit) {
        (Profile::OpenAi, _) => go_duration(nanos),
        (Profile::Azure, ResetUnit::Seconds) => (nanos / 1_000_000_000).to_string(),
        (Profile::Azure, ResetUnit::Milliseconds) => (nanos / 1_000_000).to_string(),
    }
}

/// The hints that a 429 carries, and for Azure the meter that refused. None for what never fits.
pub(super) fn hints(settings: &Settings, meter: Option<Meter>, wait: Option<u64>) -> Vec<Header> {
    let mut headers = Vec::with_capacity(3);
    if let Some(wait) = wait {
        if matches!(settings.hints, Hints::Both | Hints::Milliseconds) {
            headers.push(("retry-after-ms", wait.div_ceil(1_000_000).to_string()));
        }
        if matches!(settings.hints, Hints::Both | Hints::Seconds) {
            headers.push((
                "retry-after",
                wait.div_ceil(1_000_000_000).max(1).to_string(),
            ));
        }
    }
    if let (Profile::Azure, Some(meter)) = (settings.profile, meter) {
        let name = match meter {
            Meter::Requests => "Requests",
            Meter::Tokens => "Tokens",
        };
        headers.push(("x-ratelimit-type", name.to_owned()));
    }
    headers
}

/// The body of a 429.
pub(super) fn refusal(profile: Profile, refusal: &Refusal<'_>) -> Value {
    match profile {
        Profile::OpenAi => openai_refusal(refusal),
        Profile::Azure => azure_refusal(refusal),
    }
}

fn openai_refusal(refusal: &Refusal<'_>) -> Value {
    let Refusal {
        model,
        limit,
        used,
        requested,
        per,
        ..
    } = *refusal;
    let day = per >= Period::DAY;
    let (kind, unit) = match (refusal.meter, day) {
        (Meter::Requests, false) => ("requests", "requests per min (RPM)"),
        (Meter::Requests, true) => ("requests", "requests per day (RPD)"),
        (Meter::Tokens, false) => ("tokens", "tokens per min (TPM)"),
        (Meter::Tokens, true) => ("tokens", "tokens per day (TPD)"),
    };
    let message = match refusal.wait {
        Some(wait) => format!(
            "Rate limit reached for {model} in organization org-fake on {unit}: Limit {limit}, Used {used}, \
             Requested {requested}. Please try again in {}.",
            go_duration(wait)
        ),
        None => format!(
            "Request too large for {model} in organization org-fake on {unit}: Limit {limit}, \
             Requested {requested}. The input or output tokens must be reduced in order to run successfully."
        ),
    };
    json!({"error": {
        "message": message, "type": kind, "param": null, "code": "rate_limit_exceeded",
    }})
}

/// Azure names a rate and whole seconds only. What can never fit it does not tell apart: it asks to come back after the
/// renewal period.
fn azure_refusal(refusal: &Refusal<'_>) -> Value {
    let rate = match refusal.meter {
        Meter::Requests => "call",
        Meter::Tokens => "token",
    };
    let wait = refusal.wait.unwrap_or(refusal.per.as_nanos());
    let seconds = wait.div_ceil(1_000_000_000).max(1);
    let unit = if seconds == 1 { "second" } else { "seconds" };
    json!({"error": {
        "code": "429",
        "message": format!(
            "Requests to the ChatCompletions_Create Operation have exceeded {rate} rate limit of your current \
             pricing tier. Please retry after {seconds} {unit}."
        ),
    }})
}

/// The body of a 429 for too many calls in flight.
pub(super) fn too_many_in_flight(profile: Profile, limit: u64) -> Value {
    let message = format!(
        "Too many concurrent requests: Limit {limit}. Please try again when a running request ends."
    );
    match profile {
        Profile::OpenAi => json!({"error": {
            "message": message, "type": "requests", "param": null, "code": "rate_limit_exceeded",
        }}),
        Profile::Azure => json!({"error": {"code": "429", "message": message}}),
    }
}

/// As Go prints a duration, cut to whole milliseconds: `0s`, `84ms`, `1.146s`, `7m12s`, `83h10m39s`.
pub fn go_duration(nanos: u64) -> String {
    let millis = nanos / 1_000_000;
    if millis == 0 {
        return "0s".to_owned();
    }
    if millis < 1_000 {
        return format!("{millis}ms");
    }
    let (seconds, fraction) = (millis / 1_000, millis % 1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = match fraction {
        0 => String::new(),
        _ => format!(".{fraction:03}").trim_end_matches('0').to_owned(),
    };
    match (hours, minutes) {
        (0, 0) => format!("{seconds}{fraction}s"),
        (0, _) => format!("{minutes}m{seconds}{fraction}s"),
        _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_look_like_go() {
        const MS: u64 = 1_000_000;
        for (nanos, text) in [
            (0, "0s"),
            (60_000, "0s"),
            (2_640_000, "2ms"),
            (84_300_000, "84ms"),
            (1_146 * MS, "1.146s"),
            (3_890 * MS, "3.89s"),
            (20_000 * MS, "20s"),
            (360_000 * MS, "6m0s"),
            (432_000 * MS, "7m12s"),
            (179_560 * MS, "2m59.56s"),
            (3_600_000 * MS, "1h0m0s"),
            (299_439_000 * MS, "83h10m39s"),
        ] {
            assert_eq!(go_duration(nanos), text);
        }
    }
}
