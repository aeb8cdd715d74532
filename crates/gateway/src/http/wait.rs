//! In which lane a request wants to stand and how long it is willing to wait, from its headers.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use sluicegate_config::Lanes;
use sluicegate_core::Lane;

use super::Failure;

const LANE: HeaderName = HeaderName::from_static("x-sluicegate-lane");
const MAX_WAIT: HeaderName = HeaderName::from_static("x-sluicegate-max-wait");
/// How long the client's SDK waits for an answer, in seconds.
const SDK_TIMEOUTS: [HeaderName; 2] = [
    HeaderName::from_static("x-stainless-read-timeout"),
    HeaderName::from_static("x-stainless-timeout"),
];

/// What a request's headers say about its wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wish {
    lane: Option<Lane>,
    max_wait: Option<Duration>,
    /// No wait is of use for longer.
    sdk: Option<Duration>,
}

impl Wish {
    /// What `headers` say.
    ///
    /// # Errors
    ///
    /// Where a header of ours means nothing.
    pub(super) fn read(headers: &HeaderMap) -> Result<Self, Failure> {
        let sdk = SDK_TIMEOUTS.into_iter();
        Ok(Self {
            lane: lane(headers)?,
            max_wait: max_wait(headers)?,
            sdk: sdk.filter_map(|name| seconds(headers.get(name)?)).min(),
        })
    }

    /// The lane, that of its `route` where it names none, and the longest wait in the queue that is of use. Where nobody has a key,
    /// anyone may choose.
    pub(super) fn of(self, route: Option<Lane>, lanes: &Lanes) -> (Lane, Duration) {
        let lane = self.lane.or(route).unwrap_or_default();
        let max_wait = self.max_wait.unwrap_or(lanes.of(lane).max_wait);
        let max_wait = self.sdk.map_or(max_wait, |sdk| max_wait.min(sdk));
        (lane, max_wait)
    }
}

fn lane(headers: &HeaderMap) -> Result<Option<Lane>, Failure> {
    let named = |value: &HeaderValue| Lane::from_name(value.to_str().ok()?);
    match headers.get(LANE) {
        None => Ok(None),
        Some(value) => match named(value) {
            Some(lane) => Ok(Some(lane)),
            None => Err(Failure::Header {
                name: "x-sluicegate-lane",
                expected: "expected interactive, api or batch".to_owned(),
            }),
        },
    }
}

fn max_wait(headers: &HeaderMap) -> Result<Option<Duration>, Failure> {
    let read = |value: &HeaderValue| duration(value.to_str().ok()?);
    match headers.get(MAX_WAIT) {
        None => Ok(None),
        Some(value) => match read(value) {
            Some(wait) => Ok(Some(wait)),
            None => Err(Failure::Header {
                name: "x-sluicegate-max-wait",
                expected: "expected a duration like 5s, 300ms, 2m or 0s".to_owned(),
            }),
        },
    }
}

/// `300ms`, `5s`, `1.5s`, `2m`, `1h`.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit);
    let factor = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * factor).ok()
}

/// A number of seconds that an SDK may mean: some send words where nothing is set.
fn seconds(value: &HeaderValue) -> Option<Duration> {
    let seconds: f64 = value.to_str().ok()?.trim().parse().ok()?;
    if seconds > 0.0 {
        Duration::try_from_secs_f64(seconds).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_people_write_them() {
        for (text, expected) in [
            ("300ms", Some(Duration::from_millis(300))),
            ("5s", Some(Duration::from_secs(5))),
            ("1.5s", Some(Duration::from_millis(1_500))),
            ("2m", Some(Duration::from_secs(120))),
            ("24h", Some(Duration::from_secs(86_400))),
            ("0s", Some(Duration::ZERO)),
            ("5", None),
            ("s", None),
            ("-5s", None),
            ("5 s", None),
            ("1e400s", None),
            ("99999999999999999999h", None),
        ] {
            assert_eq!(duration(text), expected, "{text}");
        }
    }

    #[test]
    fn an_sdk_that_says_nothing_useful_bounds_nothing() {
        for text in ["NOT_GIVEN", "0", "-1", "nan", "inf", ""] {
            assert_eq!(
                seconds(&HeaderValue::from_str(text).expect("ASCII")),
                None,
                "{text}"
            );
        }
        let value = HeaderValue::from_static("600.5");
        assert_eq!(seconds(&value), Some(Duration::from_millis(600_500)));
    }

    #[test]
    fn the_header_goes_before_the_route_and_the_route_before_the_default() {
        let policy = "
accounts: { a: { provider: openai, base_url: http://127.0.0.1:9 } }
deployments: { m: { account: a } }
lanes: { interactive: { max_wait: 1s }, api: { max_wait: 2s }, batch: { max_wait: 3s } }
";
        let policy = sluicegate_config::parse("a.yaml", policy, &|_| None).expect("a valid policy");
        let of = |headers: &[(&'static str, &'static str)], route| {
            let headers = headers.iter().map(|(name, value)| {
                let name = HeaderName::from_static(name);
                (name, HeaderValue::from_static(value))
            });
            let wish = Wish::read(&headers.collect()).expect("headers that mean something");
            let (lane, wait) = wish.of(route, &policy.lanes);
            (lane, wait.as_millis())
        };
        assert_eq!(of(&[], None), (Lane::Api, 2_000));
        assert_eq!(of(&[], Some(Lane::Batch)), (Lane::Batch, 3_000));
        let urgent = ("x-sluicegate-lane", "interactive");
        assert_eq!(of(&[urgent], Some(Lane::Batch)), (Lane::Interactive, 1_000));
        let short = ("x-sluicegate-max-wait", "300ms");
        assert_eq!(of(&[urgent, short], None), (Lane::Interactive, 300));
        let sdk = ("x-stainless-timeout", "0.5");
        assert_eq!(of(&[sdk], Some(Lane::Batch)), (Lane::Batch, 500));
        assert_eq!(of(&[sdk, short], None), (Lane::Api, 300));
    }
}
