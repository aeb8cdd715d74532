//! The gateway's side of a world: its limits, what it expects calls to be charged, what it takes them
//! to have used.
//!
//! For a provider whose settings are known, [`limits`] says what a configuration would say. Only the words are translated
//! here, no amount is computed: how the core counts and how the provider's model counts stay two separate things.

use std::time::Duration;

use sluicegate_catalog::{TimeOfDay, Zone};
use sluicegate_core::{
    Amounts, Authority, BasisPoints, Book, Failures, Headroom, Limit, Meter, Mode, Settlement,
    Signal, Start, WallTime, Window,
};
use sluicegate_fake::Period;
use sluicegate_fake::model::{self, FailedCount, Settings};

use crate::workload::Turn;

/// What a gateway expects a call to be charged, whose answer it expects to have so many tokens by those that it has seen.
pub type Demand<'a> = Box<dyn Fn(&Turn, Option<u64>) -> Amounts + 'a>;

/// How a gateway sees the provider.
#[expect(
    missing_debug_implementations,
    reason = "functions have nothing to show"
)]
pub struct Mirror<'a> {
    /// Its limits for the provider's.
    pub limits: Vec<Limit>,
    /// What it expects a call to be charged.
    pub demand: Demand<'a>,
    /// What it takes an answered call to have used in the end.
    pub counted: &'a dyn Fn(&Turn) -> Amounts,
    /// What it makes of the provider's answers; nothing where it reads none.
    pub reads: Option<Box<Reader>>,
    /// Whether it can tell how long calls are on their way.
    pub transits: Transits,
}

/// Reads what an answer says of the provider's limits, at that time of the gateway's wall clock.
pub type Reader = dyn Fn(&Said<'_>, WallTime) -> Vec<Signal>;

/// What an answer says.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// Its status.
    pub status: u16,
    /// Its headers about limits.
    pub headers: &'a [(&'static str, String)],
    /// Its body, of a refusal; empty otherwise.
    pub body: &'a [u8],
}

/// Whether a gateway can tell how long calls are on their way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transits {
    /// It assumes what its limits say.
    Assumed,
    /// The provider says how long it worked, so that the rest is known.
    Measured,
}

/// A prompt and an answer, one token as much as the other, none of it cached.
pub fn plain_usage(turn: &Turn) -> Amounts {
    let tokens = turn.prompt_tokens.saturating_add(turn.answer_tokens);
    Amounts::one_request()
        .with(Meter::Tokens, tokens)
        .with(Meter::InputTokens, turn.prompt_tokens)
        .with(Meter::OutputTokens, turn.answer_tokens)
}

/// A core limit for each limit of `settings`, used to the full and believed to be unused.
///
/// A provider's fixed window that does not begin at multiples of its length is mirrored as a
/// sliding one, since the core finds edges on the calendar only. Limits that count models or keys
/// apart are mirrored as one: the world has one model and one key. `arrival_spread` is the longest
/// time that a call is on its way.
pub fn limits(settings: &Settings, arrival_spread: Duration) -> Vec<Limit> {
    let failures = match settings.failed_count {
        FailedCount::Kept => Failures::Count,
        FailedCount::Returned => Failures::Return,
    };
    let limit = |name: String, meter, amount, window, quantum: Option<Period>| Limit {
        name: name.into(),
        meter,
        amount,
        window,
        quantum: quantum.map(length),
        headroom: Headroom::Share(BasisPoints::WHOLE),
        start: Start::Full,
        mode: Mode::Enforce,
        settlement: Settlement::Keep,
        failures,
        arrival_spread,
        authority: Authority::Local,
        book: Book::Mirror,
    };
    let offset = settings.utc_offset().to_string();
    let zone = Zone::named(&offset)
        .expect("an offset of less than a day, as the fake writes it, is a zone");
    let in_flight = settings.concurrent.map(|amount| {
        let name = Meter::Concurrent.name().to_owned();
        limit(name, Meter::Concurrent, amount, Window::Concurrent, None)
    });
    settings
        .limits()
        .iter()
        .enumerate()
        .map(|(index, mirrored)| {
            let meter = match mirrored.meter {
                model::Meter::Requests => Meter::Requests,
                model::Meter::Tokens => Meter::Tokens,
                model::Meter::InputTokens => Meter::InputTokens,
                model::Meter::OutputTokens => Meter::OutputTokens,
            };
            let per = length(mirrored.per);
            let window = match (mirrored.window, mirrored.phase) {
                (model::Window::Fixed, None) => Window::Fixed { per },
                (model::Window::Fixed, Some(_)) | (model::Window::Sliding, _) => {
                    Window::Sliding { per }
                }
                (model::Window::Bucket, _) => Window::Bucket { per },
                (model::Window::Pacing, _) => Window::Pacing {
                    per,
                    burst: mirrored.burst.map_or(per, length),
                },
                (model::Window::Month, _) => Window::Calendar(zone.months()),
                (model::Window::Day, _) if mirrored.per == Period::DAY => {
                    Window::Calendar(zone.days(TimeOfDay::MIDNIGHT))
                }
                // A day of another length is one of the fake's alone: what never holds more is safe.
                (model::Window::Day, _) => Window::Sliding { per },
            };
            let quantum = mirrored.quantum.map(|quantum| quantum.per);
            let name = format!("{index} {meter}/{}", mirrored.per);
            limit(name, meter, mirrored.amount, window, quantum)
        })
        .chain(in_flight)
        .collect()
}

fn length(period: Period) -> Duration {
    Duration::from_nanos(period.as_nanos())
}
