//! How a provider's limits count and refill, and from that the limits that mirror them.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use sluicegate_core::{
    Authority, Book, Failures, Headroom, Limit, Meter, Mode, Settlement, Start, Window,
};

use crate::window::{FailuresRow, SettlementRow, StartRow, WindowRow, seconds_of};
use crate::{Evidence, Provider};

/// The short name for what is in flight, which every provider has: where its row says nothing of it, it is the operator's
/// own bound, no fact about a provider.
const CONCURRENT: &str = "concurrent";

/// Assumed of every limit as long as it is not learned: a request arrives within 100 ms of another that left with it. No
/// provider's fact but our own path's, so it stands in no row. A busy machine alone adds tens of milliseconds between
/// admission and the wire; too much costs a sixth of a percent of a minute, and a tenth of a quantum of a second.
pub const ARRIVAL_SPREAD: Duration = Duration::from_millis(100);

impl Provider {
    /// The limit that mirrors this provider's `short` one (`rpm`, `rps`, `rpd`, `tpm`, `tpd`,
    /// `itpm`, `otpm`, `concurrent`) at `amount`, read as the row reads it by default.
    ///
    /// # Errors
    /// [`LimitError::UnknownShort`] where the provider has no such limit, naming those that it has.
    pub fn limit(&self, short: &str, amount: NonZeroU64) -> Result<LimitTemplate, LimitError> {
        if short == CONCURRENT {
            return Ok(LimitTemplate::concurrent(amount));
        }
        let row = self.limit_row(short)?;
        Ok(LimitTemplate::of(row, &row.reading(), amount))
    }

    /// Like [`Provider::limit`], read as the row's alternative of that name.
    ///
    /// # Errors
    /// [`LimitError::UnknownShort`], or [`LimitError::UnknownAlternative`] naming those that the limit has.
    pub fn limit_as(
        &self,
        short: &str,
        alternative: &str,
        amount: NonZeroU64,
    ) -> Result<LimitTemplate, LimitError> {
        let row = self.limit_row(short)?;
        let other = row
            .alternatives
            .iter()
            .find(|other| other.name == alternative);
        let other = other.ok_or_else(|| LimitError::UnknownAlternative {
            limit: short.to_owned(),
            alternative: alternative.to_owned(),
            known: list(row.alternatives.iter().map(|other| other.name.as_str())),
        })?;
        Ok(LimitTemplate::of(
            row,
            &row.reading().changed(other),
            amount,
        ))
    }

    /// Short names of the limits that [`Provider::limit`] knows here, in the row's order,
    /// `concurrent` last.
    pub fn limit_names(&self) -> impl Iterator<Item = &str> {
        self.limits
            .iter()
            .map(|row| row.short.as_str())
            .filter(|short| *short != CONCURRENT)
            .chain([CONCURRENT])
    }

    fn limit_row(&self, short: &str) -> Result<&LimitRow, LimitError> {
        let row = self.limits.iter().find(|row| row.short == short);
        row.ok_or_else(|| LimitError::UnknownShort {
            provider: self.name.clone(),
            limit: short.to_owned(),
            known: list(self.limit_names()),
        })
    }
}

/// A limit that lacks only its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LimitTemplate {
    meter: Meter,
    amount: NonZeroU64,
    window: Window,
    quantum: Option<Duration>,
    start: Start,
    settlement: Settlement,
    failures: Failures,
}

impl LimitTemplate {
    /// The limit, enforced at the whole of its amount: headroom and shadow mode are the operator's.
    pub fn named(self, name: Arc<str>) -> Limit {
        Limit {
            name,
            meter: self.meter,
            amount: self.amount,
            window: self.window,
            quantum: self.quantum,
            headroom: Headroom::Auto,
            start: self.start,
            mode: Mode::Enforce,
            settlement: self.settlement,
            failures: self.failures,
            arrival_spread: ARRIVAL_SPREAD,
            authority: Authority::Local,
            book: Book::Mirror,
        }
    }

    /// What the limit counts.
    pub const fn meter(&self) -> Meter {
        self.meter
    }

    fn of(row: &LimitRow, reading: &Reading, amount: NonZeroU64) -> Self {
        Self {
            meter: row.meter,
            amount,
            window: reading.window.window(),
            quantum: reading.quantum_s.map(seconds_of),
            start: match row.start {
                StartRow::Full => Start::Full,
                StartRow::Empty => Start::Empty,
            },
            settlement: reading.settlement.settlement(),
            failures: match row.failures {
                FailuresRow::Count => Failures::Count,
                FailuresRow::Return => Failures::Return,
            },
        }
    }

    pub(crate) fn window(&self) -> &Window {
        &self.window
    }

    /// Counted otherwise; a quantum of the window before means nothing in it.
    pub(crate) fn with_window(self, window: Window) -> Self {
        Self {
            window,
            quantum: None,
            ..self
        }
    }

    const fn concurrent(amount: NonZeroU64) -> Self {
        Self {
            meter: Meter::Concurrent,
            amount,
            window: Window::Concurrent,
            quantum: None,
            start: Start::Full,
            settlement: Settlement::Usage,
            failures: Failures::Return,
        }
    }
}

/// One limit of a provider.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitRow {
    /// Its name in the short form of a configuration.
    pub short: String,
    /// What it counts, by [`Meter::name`].
    #[serde(deserialize_with = "crate::provider::meter")]
    pub meter: Meter,
    /// How it counts and refills.
    pub window: WindowRow,
    /// Also enforced over this many seconds, in proportion.
    pub quantum_s: Option<NonZeroU64>,
    settlement: SettlementRow,
    failures: FailuresRow,
    start: StartRow,
    /// Other readings, chosen by name.
    #[serde(default)]
    pub alternatives: Vec<Alternative>,
    /// How the above is known.
    pub evidence: Evidence,
}

impl LimitRow {
    /// The row's own.
    fn reading(&self) -> Reading {
        Reading {
            window: self.window.clone(),
            quantum_s: self.quantum_s,
            settlement: self.settlement,
        }
    }

    /// Whether what failed at the provider stays charged.
    pub const fn counts_failures(&self) -> bool {
        matches!(self.failures, FailuresRow::Count)
    }

    /// Whether the charge becomes the usage in the end.
    pub const fn follows_usage(&self) -> bool {
        !matches!(self.settlement, SettlementRow::Keep)
    }
}

/// What a limit may be read as in several ways.
#[derive(Clone)]
struct Reading {
    window: WindowRow,
    quantum_s: Option<NonZeroU64>,
    settlement: SettlementRow,
}

impl Reading {
    fn changed(self, other: &Alternative) -> Self {
        Self {
            quantum_s: match (other.quantum_s, &other.window) {
                (Some(seconds), _) => Some(seconds),
                (None, Some(_)) => None,
                (None, None) => self.quantum_s,
            },
            settlement: other.settlement.unwrap_or(self.settlement),
            window: other.window.clone().unwrap_or(self.window),
        }
    }
}

/// Another reading of a limit: what it says replaces the default, the rest stays. A window without
/// a quantum has none.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The name by which it is chosen.
    pub name: String,
    /// How it counts and refills.
    pub window: Option<WindowRow>,
    /// Also enforced over this many seconds, in proportion.
    pub quantum_s: Option<NonZeroU64>,
    settlement: Option<SettlementRow>,
    /// Why one would choose it, and why it is not the default.
    pub why: String,
    /// How it is known.
    pub evidence: Evidence,
}

impl Alternative {
    /// Whether the charge becomes the usage in the end; `None` where the reading says nothing of it.
    pub fn follows_usage(&self) -> Option<bool> {
        let settlement = self.settlement?;
        Some(settlement != SettlementRow::Keep)
    }
}

/// A limit that a row cannot give.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LimitError {
    /// The provider has no limit of that short name.
    #[error(
        "{provider} has no `{limit}` limit: it has {known}. Another limit can be written in the long form, with its meter, \
         amount, per and window"
    )]
    UnknownShort {
        /// The provider's name.
        provider: String,
        /// What was asked for.
        limit: String,
        /// The short names that it has, as a list in words.
        known: String,
    },
    /// The limit has no alternative of that name.
    #[error("`{limit}` has no alternative `{alternative}`: it has {known}")]
    UnknownAlternative {
        /// The limit's short name.
        limit: String,
        /// What was asked for.
        alternative: String,
        /// The alternatives that it has, as a list in words.
        known: String,
    },
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
