//! A window to enforce: a limit's own, or its quantum's; where it begins and ends, and how much it holds at a given time.
//!
//! A limit that is cut for a while is the same rule with another amount; everything that depends on the amount asks for it
//! at a time.

use super::calendar::UtcOffset;
use super::settings::{ChargeRule, Limit, Meter, Scope, Settings, SettleRule, Window};
use crate::Period;

/// One ten-thousandth is one.
const WHOLE: u64 = 10_000;

/// A window to enforce.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Rule {
    /// As rejections name it: `requests`, `tokens`, `requests quantum`, `tokens per day`.
    pub(super) name: String,
    pub(super) meter: Meter,
    /// As it is configured; a cut lowers what is in force.
    pub(super) amount: u64,
    pub(super) per: Period,
    pub(super) scope: Scope,
    pub(super) quantum: Option<Period>,
    pub(super) part: Part,
    pub(super) window: Window,
    pub(super) charge: ChargeRule,
    pub(super) settle: SettleRule,
    /// How many nanoseconds' worth a bucket holds.
    burst: u64,
    phase: u64,
    utc_offset: UtcOffset,
    cuts: Vec<CutSpan>,
}

/// Which part of a limit a rule is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Whole,
    Quantum,
}

/// A cut between two instants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CutSpan {
    from: u64,
    to: u64,
    basis_points: u64,
}

impl Rule {
    /// The rules that enforce `limit`, the whole before its quantum.
    pub(super) fn of(limit: &Limit, settings: &Settings) -> impl Iterator<Item = Self> + use<> {
        let name = name(limit);
        let phase = match limit.window {
            Window::Day => settings.utc_offset().phase(limit.per.as_nanos()),
            _ => limit.phase.or(settings.phase).map_or(0, Period::as_nanos),
        };
        let whole = Self {
            meter: limit.meter,
            amount: limit.amount.get(),
            per: limit.per,
            scope: limit.scope,
            quantum: limit.quantum.map(|quantum| quantum.per),
            part: Part::Whole,
            window: limit.window,
            charge: settings.charge_of(limit),
            settle: settings.settlement_of(limit),
            burst: limit.burst.unwrap_or(limit.per).as_nanos(),
            phase,
            utc_offset: settings.utc_offset(),
            cuts: Vec::new(),
            name,
        };
        let quantum = limit.quantum.map(|quantum| Self {
            name: format!("{} quantum", whole.name),
            amount: share(whole.amount, quantum.per, limit.per),
            per: quantum.per,
            burst: quantum.per.as_nanos(),
            quantum: None,
            part: Part::Quantum,
            window: if quantum.any {
                Window::Sliding
            } else {
                Window::Fixed
            },
            ..whole.clone()
        });
        std::iter::once(whole).chain(quantum)
    }

    /// Fixes the cuts in time, now that the first call came at `origin`.
    pub(super) fn begin(&mut self, settings: &Settings, origin: u64) {
        self.cuts = settings
            .cuts
            .iter()
            .map(|cut| {
                let from = origin.saturating_add(cut.at.map_or(0, Period::as_nanos));
                CutSpan {
                    from,
                    to: from.saturating_add(cut.r#for.as_nanos()),
                    basis_points: cut.factor.basis_points(),
                }
            })
            .collect();
    }

    /// The amount in force, at least one.
    pub(super) fn amount_at(&self, at: u64) -> u64 {
        if self.cuts.is_empty() {
            return self.amount;
        }
        let factor = self
            .cuts
            .iter()
            .filter(|cut| (cut.from..cut.to).contains(&at))
            .map(|cut| cut.basis_points)
            .min()
            .unwrap_or(WHOLE);
        let amount = u128::from(self.amount) * u128::from(factor) / u128::from(WHOLE);
        u64::try_from(amount).unwrap_or(u64::MAX).max(1)
    }

    /// Nanoseconds until a cut next begins or ends.
    pub(super) fn until_change(&self, at: u64) -> Option<u64> {
        let edges = self.cuts.iter().flat_map(|cut| [cut.from, cut.to]);
        edges.filter(|edge| *edge > at).min().map(|edge| edge - at)
    }

    /// What flows between two instants, in units: the amount in force for each nanosecond.
    pub(super) fn flow(&self, from: u64, to: u64) -> u128 {
        let (mut at, mut units) = (from, 0);
        while at < to {
            let length = self.until_change(at).unwrap_or(u64::MAX).min(to - at);
            units += u128::from(self.amount_at(at)) * u128::from(length);
            at += length;
        }
        units
    }

    pub(super) fn units(&self, amount: u64) -> u128 {
        u128::from(amount) * u128::from(self.per.as_nanos())
    }

    /// What it holds at `at`, in units.
    pub(super) fn capacity(&self, at: u64) -> u128 {
        let length = match self.window {
            Window::Bucket | Window::Pacing => self.burst,
            _ => self.per.as_nanos(),
        };
        u128::from(self.amount_at(at)) * u128::from(length)
    }

    /// The first instant from which arrivals are in the window at `at`; for a bucket, from which they are kept apart.
    pub(super) fn counts_from(&self, at: u64) -> u64 {
        match self.window {
            Window::Fixed | Window::Day | Window::Month => self.start(at),
            Window::Sliding | Window::Bucket | Window::Pacing => {
                at.saturating_add(1).saturating_sub(self.per.as_nanos())
            }
        }
    }

    /// When the aligned window around `at` began; for windows that are not aligned, `at`.
    pub(super) fn start(&self, at: u64) -> u64 {
        let per = self.per.as_nanos();
        match self.window {
            Window::Month => self.utc_offset.month(at).0,
            Window::Fixed | Window::Day => {
                at.saturating_sub((at % per + per - self.phase % per) % per)
            }
            Window::Sliding | Window::Bucket | Window::Pacing => at,
        }
    }

    /// When the window around `at` ends; one that is not aligned begins there.
    pub(super) fn end(&self, at: u64) -> u64 {
        match self.window {
            Window::Month => self.utc_offset.month(at).1,
            _ => self.start(at).saturating_add(self.per.as_nanos()),
        }
    }
}

/// `amount × quantum / per`, rounded down, at least one.
fn share(amount: u64, quantum: Period, per: Period) -> u64 {
    let share = u128::from(amount) * u128::from(quantum.as_nanos()) / u128::from(per.as_nanos());
    u64::try_from(share).unwrap_or(u64::MAX).max(1)
}

fn name(limit: &Limit) -> String {
    let meter = match limit.meter {
        Meter::Requests => "requests",
        Meter::Tokens => "tokens",
        Meter::InputTokens => "input tokens",
        Meter::OutputTokens => "output tokens",
    };
    let per = match limit.window {
        Window::Month => " per month",
        _ if limit.per >= Period::DAY => " per day",
        _ => "",
    };
    format!("{meter}{per}")
}
