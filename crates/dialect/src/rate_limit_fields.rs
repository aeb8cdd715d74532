//! The standard header fields for limits, which mean the same wherever they stand.
//!
//! The IETF's draft "RateLimit header fields for HTTP" in two generations: up to draft 07
//! `ratelimit-limit`, `-remaining` and `-reset`; since then `ratelimit` (`"name";r=50;t=30`) with
//! `ratelimit-policy` (`"name";q=100;w=60`). The policy's items are read loosely rather than as
//! strict structured fields, because a widely used service writes a bare string as a parameter
//! (`"fixed window";"api";q=1000;w=300`), for which a strict parser refuses the whole field.

use std::time::Duration;

use http::HeaderMap;
use sluicegate_core::{Meter, Signal};

use crate::header_text::{text, whole};

/// As many policies are read.
const POLICIES_MAX: usize = 8;
/// No window and no reset is longer.
const TIME_MAX_S: u64 = 31 * 86_400;

/// Every limit that the standard fields tell of. The period is known where a policy tells it.
pub(crate) fn signals(headers: &HeaderMap) -> Vec<Signal> {
    let policies: Vec<Item<'_>> = text(headers, "ratelimit-policy").map_or_else(Vec::new, items);
    match text(headers, "ratelimit") {
        Some(states) => {
            let states = items(states).into_iter();
            states
                .filter_map(|state| of_state(&state, &policies))
                .collect()
        }
        None => of_three(headers, &policies).into_iter().collect(),
    }
}

/// One item of a list: its names and its parameters.
#[derive(Debug, Default)]
struct Item<'t> {
    names: Vec<&'t str>,
    parameters: Vec<(&'t str, &'t str)>,
}

impl Item<'_> {
    fn number(&self, key: &str) -> Option<u64> {
        self.parameter(key).and_then(whole)
    }

    fn time(&self, key: &str) -> Option<Duration> {
        self.number(key).and_then(time)
    }

    fn parameter(&self, key: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        parameters
            .find(|(name, _)| *name == key)
            .map(|&(_, value)| value)
    }
}

/// `"name";r=50;t=30` with the policy of that name.
fn of_state(state: &Item<'_>, policies: &[Item<'_>]) -> Option<Signal> {
    let is_of_state =
        |policy: &&Item<'_>| policy.names.iter().any(|name| state.names.contains(name));
    let policy = match policies {
        [only] => Some(only),
        several => several.iter().find(is_of_state),
    };
    let unit = policy.and_then(|policy| policy.parameter("qu"));
    let mut signal = Signal::on(meter(unit)?);
    signal.remaining = Some(state.number("r")?);
    signal.reset = state.time("t");
    signal.limit = policy
        .and_then(|policy| policy.number("q"))
        .filter(|&limit| limit > 0);
    signal.per = policy.and_then(|policy| policy.time("w"));
    Some(signal)
}

/// `ratelimit-limit`, `-remaining` and `-reset`. The limit may bring its policies in a list.
fn of_three(headers: &HeaderMap, policies: &[Item<'_>]) -> Option<Signal> {
    let limits = text(headers, "ratelimit-limit").map_or_else(Vec::new, items);
    let name = |item: &Item<'_>| item.names.first().and_then(|name| whole(name));
    let mut signal = Signal::on(Meter::Requests);
    signal.limit = limits.first().and_then(name).filter(|&limit| limit > 0);
    signal.remaining = text(headers, "ratelimit-remaining").and_then(whole);
    if signal.limit.is_none() && signal.remaining.is_none() {
        return None;
    }
    signal.reset = text(headers, "ratelimit-reset")
        .and_then(whole)
        .and_then(time);
    let mut windows = limits.iter().chain(policies);
    let window = windows.find(|item| name(item) == signal.limit && item.parameter("w").is_some());
    signal.per = window.and_then(|window| window.time("w"));
    Some(signal)
}

/// The meter of a quota's unit, which is requests unless it is named. We count no bytes.
fn meter(unit: Option<&str>) -> Option<Meter> {
    match unit.unwrap_or("requests") {
        "requests" => Some(Meter::Requests),
        "concurrent-requests" => Some(Meter::Concurrent),
        "tokens" => Some(Meter::Tokens),
        _ => None,
    }
}

fn time(seconds: u64) -> Option<Duration> {
    (seconds <= TIME_MAX_S).then(|| Duration::from_secs(seconds))
}

fn items(list: &str) -> Vec<Item<'_>> {
    let items = outside_quotes(list, ',').take(POLICIES_MAX);
    items.map(item).collect()
}

fn item(text: &str) -> Item<'_> {
    let mut item = Item::default();
    for part in outside_quotes(text, ';') {
        match part.split_once('=') {
            Some((key, value)) if !part.starts_with('"') => {
                let value = value.trim().trim_matches('"');
                item.parameters.push((key.trim(), value));
            }
            _ => item.names.push(part.trim_matches('"')),
        }
    }
    item
}

/// The trimmed parts of `text` between `separator`s that stand in no quotes.
fn outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let parts = text.split(move |c: char| {
        quoted ^= c == '"';
        c == separator && !quoted
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    fn read(lines: &[(&'static str, &str)]) -> Vec<Signal> {
        let value = |value: &str| HeaderValue::from_str(value).expect("a value");
        let lines = lines.iter();
        signals(
            &lines
                .map(|&(n, v)| (HeaderName::from_static(n), value(v)))
                .collect(),
        )
    }

    fn requests(
        limit: Option<u64>,
        remaining: Option<u64>,
        reset_s: Option<u64>,
        per_s: Option<u64>,
    ) -> Signal {
        Signal {
            limit,
            remaining,
            reset: reset_s.map(Duration::from_secs),
            per: per_s.map(Duration::from_secs),
            ..Signal::on(Meter::Requests)
        }
    }

    #[test]
    fn the_structured_fields_are_joined_by_name() {
        let one = read(&[
            ("ratelimit-policy", r#""default";q=100;w=60"#),
            ("ratelimit", r#""default";r=50;t=30"#),
        ]);
        assert_eq!(one, [requests(Some(100), Some(50), Some(30), Some(60))]);
        let two = read(&[
            (
                "ratelimit-policy",
                r#""burst";q=10;w=1, "a,b; day" ; q=1000 ; w=86400;pk=:c2Vj:"#,
            ),
            ("ratelimit", r#""a,b; day";r=999;t=8000, "burst";r=0;t=1"#),
        ]);
        assert_eq!(
            two,
            [
                requests(Some(1_000), Some(999), Some(8_000), Some(86_400)),
                requests(Some(10), Some(0), Some(1), Some(1)),
            ]
        );
        let bare = read(&[("ratelimit", r#""x";r=5"#)]);
        assert_eq!(bare, [requests(None, Some(5), None, None)]);
    }

    #[test]
    fn a_string_among_the_parameters_is_borne() {
        let found = read(&[
            ("ratelimit-policy", r#""fixed window";"api";q=1000;w=300"#),
            ("ratelimit", r#""api";r=987;t=120"#),
        ]);
        assert_eq!(
            found,
            [requests(Some(1_000), Some(987), Some(120), Some(300))]
        );
    }

    #[test]
    fn the_older_three_are_read() {
        let found = read(&[
            ("ratelimit-limit", "100, 100;w=60, 1000;w=3600"),
            ("ratelimit-remaining", "40"),
            ("ratelimit-reset", "12"),
        ]);
        assert_eq!(found, [requests(Some(100), Some(40), Some(12), Some(60))]);
        let with_policy = read(&[
            ("ratelimit-limit", "10"),
            ("ratelimit-policy", "10;w=1, 50;w=60"),
            ("ratelimit-remaining", "9"),
        ]);
        assert_eq!(with_policy, [requests(Some(10), Some(9), None, Some(1))]);
        // Replicate sends no limit.
        let two = read(&[("ratelimit-remaining", "599"), ("ratelimit-reset", "1")]);
        assert_eq!(two, [requests(None, Some(599), Some(1), None)]);
    }

    #[test]
    fn a_unit_is_a_meter_or_nothing_we_count() {
        let unit = |unit: &str| {
            let policy = format!(r#""p";q=9;qu="{unit}""#);
            let found = read(&[("ratelimit-policy", &policy), ("ratelimit", r#""p";r=1"#)]);
            found.first().map(|signal| signal.meter)
        };
        assert_eq!(unit("requests"), Some(Meter::Requests));
        assert_eq!(unit("concurrent-requests"), Some(Meter::Concurrent));
        assert_eq!(unit("content-bytes"), None);
    }

    #[test]
    fn junk_tells_nothing() {
        for junk in [
            "",
            ";;;",
            "\"",
            "\"x\"",
            "\"x\";r=-1;t=5",
            "x;r=1.5",
            "=;=,=",
            "\"x\";r=9e9",
        ] {
            assert_eq!(read(&[("ratelimit", junk)]), [], "{junk}");
        }
        let absurd = read(&[("ratelimit", "\"x\";r=1;t=99999999999")]);
        assert_eq!(absurd, [requests(None, Some(1), None, None)]);
        let zero = read(&[("ratelimit-limit", "0"), ("ratelimit-reset", "5")]);
        assert_eq!(zero, []);
    }

    proptest! {
        #[test]
        fn nothing_panics(policy in "[ -~]{0,60}", state in "[\";,=rqtw0-9 a]{0,60}") {
            let found = read(&[("ratelimit-policy", &policy), ("ratelimit", &state)]);
            prop_assert!(found.len() <= POLICIES_MAX);
            let found = read(&[("ratelimit-limit", &state), ("ratelimit-reset", &policy)]);
            prop_assert!(found.len() <= 1);
        }
    }
}
