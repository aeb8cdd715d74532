//! Three times what the limits allow, for every provider of the catalog: how many 429s, and how much of what was possible.
//!
//! The gateway's side is the catalog's row alone, read as it is by default: its windows, its charge, its settlement, a
//! window that may already be used up, and what the provider's answers say. The provider's side is the fake's profile, with
//! fixed windows that begin when nobody knows, and one of four troubles. The first minute, in which a gateway knows nothing,
//! and two windows after it are not counted. `UPDATE_EXPECTED=1` rewrites the table in `docs/results`; `ZERO429_SEED` draws
//! other calls and prints a line for each trouble, `ZERO429_ROW` plays one provider only and shows it.

mod expected;
mod reading;
mod row;
mod summary;
mod table;

use std::collections::BTreeMap;

use sluicegate_catalog::providers;
use sluicegate_core::Timestamp;
use sluicegate_sim::{Call, Run};

use crate::MINUTE;
use row::Row;

/// Beginning of the measured time, in minutes.
const WARM_UP_MINUTES: u64 = 3;
const MINUTES: u64 = 11;

/// Determines everything that is drawn, unless `ZERO429_SEED` is set.
const SEED: u64 = 429;

fn seed() -> u64 {
    let Ok(seed) = std::env::var("ZERO429_SEED") else {
        return SEED;
    };
    seed.parse().expect("ZERO429_SEED is a number")
}

/// What calls look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Load {
    /// Small ones: a limit on requests binds.
    Small,
    /// Large ones, up to a hundredth of a limit on tokens, which binds.
    Large,
}

/// What the gateway is not told of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trouble {
    /// The provider estimates a prompt a tenth higher than we do, and each by up to a twentieth otherwise.
    Dear,
    /// A tenth lower.
    Cheap,
    /// Another client takes 30 % of the account.
    Others,
    /// Limits are cut to half for ten windows.
    Cut,
}

impl Trouble {
    const ALL: [Self; 4] = [Self::Dear, Self::Cheap, Self::Others, Self::Cut];
    /// The minute in which limits are cut, and for how many.
    const CUT_FROM: u64 = 4;
    const CUT_FOR: u64 = 10;
    /// Minutes that full use may take to come back.
    const BACK: u64 = 3;

    /// The minute from which on it counts how much the provider gave. Of a cut that is when it is over and full use is back.
    const fn measured_from(self) -> u64 {
        match self {
            Self::Cut => Self::CUT_FROM + Self::CUT_FOR + Self::BACK,
            Self::Dear | Self::Cheap | Self::Others => WARM_UP_MINUTES,
        }
    }

    const fn end(self) -> u64 {
        match self {
            Self::Cut => self.measured_from() + 3,
            Self::Dear | Self::Cheap | Self::Others => MINUTES,
        }
    }

    /// The minute from which on 429s count.
    const fn counts_from(self) -> u64 {
        match self {
            Self::Cut => Self::CUT_FROM,
            Self::Dear | Self::Cheap | Self::Others => WARM_UP_MINUTES,
        }
    }
}

/// What came of a provider under a load.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Outcome {
    provider: &'static str,
    load: Load,
    trouble: Trouble,
    /// 429s that count.
    rejections: u64,
    /// Of these, calls that were on their way when the first of them was known.
    rejections_at_once: u64,
    /// The most of the others in one minute.
    rejections_a_minute: u64,
    /// Which limit of the provider answered the first of them.
    rejected_by: Option<String>,
    /// Calls that the provider took meanwhile.
    calls: u64,
    /// The limit that gave the largest share, and that share in hundredths of a percent.
    binding: String,
    share: u64,
    wait_ms_p50: u64,
    wait_ms_p99: u64,
}

#[test]
fn three_times_the_limits_make_no_429() {
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let under = |troubles: [Trouble; 2]| move || played(troubles);
        let [dear, cheap, others, cut] = Trouble::ALL;
        let threads = [[dear, others], [cheap, cut]].map(|pair| scope.spawn(under(pair)));
        let outcomes = threads.map(|thread| thread.join().expect("a trouble is played"));
        outcomes.concat()
    });
    if std::env::var_os("ZERO429_ROW").is_some() {
        println!("{outcomes:#?}");
        return;
    }
    // The table is that of the usual seed; the bounds hold for any.
    match seed() {
        SEED => table::check(&outcomes),
        _ => print!("{}", summary::lines(&outcomes)),
    }
    assert_eq!(outcomes.len(), 4 * 37);
    let beyond = |outcome: &&Outcome| !expected::bounds(outcome).hold(outcome);
    let beyond: Vec<_> = outcomes.iter().filter(beyond).collect();
    assert!(beyond.is_empty(), "ZERO429_SEED={}: {beyond:#?}", seed());
}

fn played(troubles: [Trouble; 2]) -> Vec<Outcome> {
    let only = std::env::var("ZERO429_ROW").ok();
    let is_played = |id: &str| only.as_ref().is_none_or(|only| only == id);
    let mut outcomes = Vec::new();
    for trouble in troubles {
        for load in [Load::Small, Load::Large] {
            let rows = providers().iter().filter(|row| is_played(&row.id));
            let rows = rows.filter_map(|row| Row::read(row, load, trouble));
            outcomes.extend(rows.map(|row| judge(&row, load, trouble, &row.play())));
        }
    }
    outcomes
}

fn judge(row: &Row, load: Load, trouble: Trouble, run: &Run) -> Outcome {
    let from = Timestamp::from_nanos(trouble.counts_from() * MINUTE);
    let counts = |call: &&Call| call.started.is_some_and(|at| at >= from);
    let calls = || run.calls.iter().filter(counts);
    let mut waits: Vec<u64> = calls()
        .filter_map(|call| Some(call.started?.as_nanos() - call.came.as_nanos()))
        .map(|nanos| nanos / 1_000_000)
        .collect();
    waits.sort_unstable();
    let wait = |percent: usize| waits.get(waits.len() * percent / 100).copied().unwrap_or(0);
    let shares = run
        .served
        .iter()
        .map(|served| (served.limit.clone(), served.share()));
    let (binding, share) = shares
        .chain(slot_share(row, trouble, run))
        .max_by_key(|(_, share)| *share)
        .expect("a row has a limit");
    let rejected: Vec<&Call> = calls().filter(|call| call.rejected_by.is_some()).collect();
    let known = rejected.iter().filter_map(|call| call.rejected_at).min();
    let at_once = |call: &&&Call| call.started < known;
    let mut by_minute = BTreeMap::<_, u64>::new();
    for call in rejected.iter().filter(|call| !at_once(call)) {
        let minute = call.started.map(|at| at.as_nanos() / MINUTE);
        *by_minute.entry(minute).or_default() += 1;
    }
    Outcome {
        provider: &row.provider.id,
        load,
        trouble,
        rejections: rejected.len() as u64,
        rejections_at_once: rejected.iter().filter(at_once).count() as u64,
        rejections_a_minute: by_minute.into_values().max().unwrap_or_default(),
        rejected_by: rejected.iter().find_map(|call| call.rejected_by.clone()),
        calls: calls().filter(|call| call.accepted.is_some()).count() as u64,
        binding,
        share,
        wait_ms_p50: wait(50),
        wait_ms_p99: wait(99),
    }
}

/// Of the time of the slots that others leave, how much the provider was at work on calls that it has ended.
fn slot_share(row: &Row, trouble: Trouble, run: &Run) -> Option<(String, u64)> {
    const DAY: u64 = 24 * 60 * MINUTE;
    let slots = row.limit("concurrent")?.get();
    let slots = match trouble {
        Trouble::Others => slots - slots * 3 / 10,
        Trouble::Dear | Trouble::Cheap | Trouble::Cut => slots,
    };
    let (began, ended) = (trouble.measured_from() * MINUTE, trouble.end() * MINUTE);
    let busy = run.calls.iter().filter_map(|call| {
        let (accepted, _) = call.accepted?;
        let accepted = (accepted % DAY).max(began);
        let answered = call.answered.map_or(ended, |at| at.as_nanos()).min(ended);
        Some(answered.saturating_sub(accepted))
    });
    let share = busy.sum::<u64>() / slots * 10_000 / (ended - began);
    Some(("concurrent".to_owned(), share))
}
