//! How far our formula for a charge is from what the provider says that it charged.
//!
//! Some providers tell a charge in a header, many in the text of a refusal; where neither does, two answers in a row show
//! it, if nothing else of ours was on its way between them and the limit was whole again. Each such word is held against
//! what we charged, and both sums fade by halving, so that their quotient follows a formula that changes. Nothing here
//! decides anything: a wrong formula is mended in the provider's row, by an operator who sees it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sluicegate_config::Account;
use sluicegate_core::{Amounts, Meter, Signal, Timestamp};
use sluicegate_dialect::taken_between;

/// After so many comparisons the older ones weigh half.
const HALVED_AFTER: u32 = 256;

/// What one account's provider told of its charges.
#[derive(Debug, Default)]
pub(crate) struct ChargeDrift(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    sums: BTreeMap<Meter, Sums>,
    /// Requests sent so far.
    sent: u64,
    /// Of these, without the head of an answer, by number.
    open: BTreeMap<u64, Open>,
    /// The last answer to a request that was alone on its way.
    before: Option<Before>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Sums {
    told: u64,
    charged: u64,
    until_halving: u32,
}

#[derive(Debug)]
struct Open {
    model: String,
    demand: Amounts,
}

#[derive(Debug)]
struct Before {
    model: String,
    signals: Vec<Signal>,
    at: Timestamp,
    /// Requests that had been sent by then.
    sent: u64,
}

/// Where a charge is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// In a header of its own.
    Header,
    /// In the text of a refusal.
    Refusal,
    /// In what two answers say is left. An answer may show its own settlement, so this tells of no charge that is settled.
    Remainders,
}

impl Source {
    const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Refusal => "refusal",
            Self::Remainders => "remainders",
        }
    }
}

/// A request on its way, until its answer's head has come or it is dropped.
#[derive(Debug)]
pub(crate) struct Sent<'a> {
    drift: &'a ChargeDrift,
    model: &'a str,
    at: Timestamp,
    number: u64,
    /// Whether nothing else was on its way when it was sent.
    alone: bool,
}

impl ChargeDrift {
    /// A request to `model`, by the provider's name, goes out.
    pub(crate) fn send<'a>(&'a self, model: &'a str, demand: Amounts, now: Timestamp) -> Sent<'a> {
        let mut book = self.book();
        book.sent += 1;
        let number = book.sent;
        let alone = book.open.is_empty();
        let open = Open {
            model: model.to_owned(),
            demand,
        };
        book.open.insert(number, open);
        Sent {
            drift: self,
            model,
            at: now,
            number,
            alone,
        }
    }

    /// What requests to `model` are charged on `meter` that are on their way now.
    pub(crate) fn on_the_way(&self, model: &str, meter: Meter) -> u64 {
        let book = self.book();
        let open = book.open.values().filter(|open| open.model == model);
        open.map(|open| open.demand.of(meter))
            .fold(0, u64::saturating_add)
    }

    /// The provider of `account` told by `source` that it charged `told` where we `charged`. A meter of which it told nothing, or
    /// nothing new, is left alone. What it told of the others.
    pub(crate) fn compare(
        &self,
        account: &Account,
        source: Source,
        told: Amounts,
        charged: Amounts,
    ) -> Amounts {
        let mut taken = Amounts::ZERO;
        let is_kept = |meter| {
            let mut rows = account.provider.limits.iter();
            rows.all(|row| row.meter != meter || !row.follows_usage())
        };
        for meter in Meter::ALL {
            let (told, charged) = (told.of(meter), charged.of(meter));
            if told == 0 || source == Source::Remainders && !is_kept(meter) {
                continue;
            }
            tracing::debug!(
                account = &*account.name,
                meter = meter.name(),
                source = source.name(),
                told,
                charged,
                "the provider tells what it charged"
            );
            taken = taken.with(meter, told);
            self.add(meter, told, charged);
        }
        taken
    }

    fn add(&self, meter: Meter, told: u64, charged: u64) {
        let mut book = self.book();
        let sums = book.sums.entry(meter).or_default();
        if sums.until_halving == 0 {
            sums.until_halving = HALVED_AFTER;
            sums.told /= 2;
            sums.charged /= 2;
        }
        sums.until_halving -= 1;
        sums.told = sums.told.saturating_add(told);
        sums.charged = sums.charged.saturating_add(charged);
    }

    /// The share by which the provider charges more than we do, below zero where it charges less, by meter; nothing where it told
    /// nothing or we charge nothing.
    pub(crate) fn shares(&self) -> Vec<(Meter, f64)> {
        let share = |(meter, sums): (&Meter, &Sums)| {
            // Sums of tokens are far below what a double holds exactly.
            #[expect(clippy::cast_precision_loss)]
            let (told, charged) = (sums.told as f64, sums.charged as f64);
            (sums.charged > 0).then_some((*meter, told / charged - 1.0))
        };
        self.book().sums.iter().filter_map(share).collect()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Whatever panicked there, what is shown may be a little off; nothing is decided by it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sent<'_> {
    /// The head of its answer came at `now` and showed `signals`. What was taken from each limit since the answer before; zero
    /// where that cannot be told.
    pub(crate) fn answered(self, signals: &[Signal], now: Timestamp) -> Amounts {
        let mut book = self.drift.book();
        // Somebody else was sent meanwhile: nobody knows whose charge is whose.
        if !self.alone || self.number != book.sent {
            return Amounts::ZERO;
        }
        let before = book.before.replace(Before {
            model: self.model.to_owned(),
            signals: signals.to_vec(),
            at: now,
            sent: self.number,
        });
        drop(book);
        let follows =
            |before: &Before| before.model == self.model && before.sent + 1 == self.number;
        let Some(before) = before.filter(follows) else {
            return Amounts::ZERO;
        };
        let gap = self.at.saturating_since(before.at);
        let mut taken = Amounts::ZERO;
        for after in signals {
            let between = |before: &Signal| taken_between(before, gap, after);
            if let Some(amount) = before.signals.iter().find_map(between) {
                taken = taken.with(after.meter, amount);
            }
        }
        taken
    }
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        let mut book = self.drift.book();
        book.open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO.saturating_add(Duration::from_millis(millis))
    }

    fn sent<'a>(drift: &'a ChargeDrift, model: &'a str, millis: u64) -> Sent<'a> {
        drift.send(model, Amounts::one_request(), at(millis))
    }

    fn left(remaining: u64) -> [Signal; 1] {
        [Signal {
            limit: Some(1_000),
            remaining: Some(remaining),
            reset: Some(Duration::from_millis(1_000 - remaining)),
            ..Signal::on(Meter::Tokens)
        }]
    }

    #[test]
    fn two_answers_in_a_row_show_the_charge_of_the_later() {
        let drift = ChargeDrift::default();
        let first = sent(&drift, "m", 0).answered(&left(900), at(10));
        assert_eq!(first, Amounts::ZERO);
        // The limit was whole again at 110 ms.
        let second = sent(&drift, "m", 110).answered(&left(890), at(120));
        assert_eq!(second.of(Meter::Tokens), 110);
        let too_soon = sent(&drift, "m", 121).answered(&left(800), at(130));
        assert_eq!(too_soon, Amounts::ZERO);
        let other_model = sent(&drift, "n", 900).answered(&left(890), at(910));
        assert_eq!(other_model, Amounts::ZERO);
    }

    #[test]
    fn what_was_not_alone_shows_nothing() {
        let drift = ChargeDrift::default();
        sent(&drift, "m", 0).answered(&left(900), at(10));
        let one = sent(&drift, "m", 200);
        let other = sent(&drift, "m", 201);
        assert_eq!(drift.on_the_way("m", Meter::Requests), 2);
        assert_eq!(drift.on_the_way("n", Meter::Requests), 0);
        assert_eq!(one.answered(&left(800), at(210)), Amounts::ZERO);
        assert_eq!(drift.on_the_way("m", Meter::Requests), 1);
        assert_eq!(other.answered(&left(700), at(211)), Amounts::ZERO);
        // The one before it was not alone either.
        let third = sent(&drift, "m", 600).answered(&left(900), at(610));
        assert_eq!(third, Amounts::ZERO);
        // One that failed before its answer's head may have been charged.
        drop(sent(&drift, "m", 800));
        let after_failure = sent(&drift, "m", 900).answered(&left(900), at(910));
        assert_eq!(after_failure, Amounts::ZERO);
        let fourth = sent(&drift, "m", 1_200).answered(&left(850), at(1_210));
        assert_eq!(fourth.of(Meter::Tokens), 150);
    }

    #[test]
    fn the_share_is_of_sums_and_follows_a_change() {
        let drift = ChargeDrift::default();
        drift.add(Meter::Tokens, 110, 100);
        drift.add(Meter::Tokens, 1_100, 1_000);
        drift.add(Meter::OutputTokens, 5, 0);
        let [(Meter::Tokens, share)] = drift.shares()[..] else {
            panic!("{:?}", drift.shares());
        };
        assert!((share - 0.1).abs() < 1e-9, "{share}");
        for _ in 0..20 * HALVED_AFTER {
            drift.add(Meter::Tokens, 50, 100);
        }
        let share = drift.shares()[0].1;
        assert!((share + 0.5).abs() < 1e-3, "{share}");
    }
}
