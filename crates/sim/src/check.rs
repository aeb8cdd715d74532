//! What must be true of a run, judged from what happened alone.
//!
//! Nothing here asks the core or the provider's model; each check reads the calls or the trace.

use sluicegate_core::{Amounts, Timestamp};

use crate::run::{Call, Run};
use crate::trace::TraceEvent;

/// How many 429s the provider answered.
pub fn rejections(run: &Run) -> usize {
    let rejected = |call: &&Call| call.rejected_by.is_some();
    run.calls.iter().filter(rejected).count()
}

/// The calls that were not answered in the end, by job and turn. Empty where every turn of every
/// job was answered once.
pub fn unanswered(run: &Run) -> Vec<(usize, usize)> {
    let last_of_turn = |call: &&Call| {
        !run.calls[call.index + 1..]
            .iter()
            .any(|later| (later.job, later.turn) == (call.job, call.turn))
    };
    run.calls
        .iter()
        .filter(|call| call.answered.is_none())
        .filter(last_of_turn)
        .map(|call| (call.job, call.turn))
        .collect()
}

/// How many calls were answered.
pub fn answered(run: &Run) -> usize {
    run.calls
        .iter()
        .filter(|call| call.answered.is_some())
        .count()
}

/// The calls in the order in which the core let them start.
pub fn starts(run: &Run) -> Vec<&Call> {
    run.trace
        .lines()
        .iter()
        .filter(|line| line.event == TraceEvent::Starts)
        .filter_map(|line| line.call)
        .map(|name| &run.calls[name.index])
        .collect()
}

/// The first two calls of which the later one in the order of arrival started first.
pub fn overtaken(run: &Run) -> Option<(usize, usize)> {
    let order: Vec<usize> = starts(run).iter().map(|call| call.index).collect();
    order
        .windows(2)
        .find(|pair| pair[0] > pair[1])
        .map(|pair| (pair[1], pair[0]))
}

/// The calls that started at another instant than the one that was promised to them.
pub fn promises_broken(run: &Run) -> Vec<usize> {
    let broken = |call: &&Call| call.promised.is_some() && call.started != call.promised;
    run.calls
        .iter()
        .filter(broken)
        .map(|call| call.index)
        .collect()
}

/// The most that started within `per_nanos`, wherever that begins, of what `amount` takes from a
/// demand.
pub fn peak_started(run: &Run, per_nanos: u64, amount: impl Fn(Amounts) -> u64) -> u64 {
    let starts: Vec<(Timestamp, u64)> = starts(run)
        .iter()
        .filter_map(|call| Some((call.started?, amount(call.demand))))
        .collect();
    let within = |from: usize| -> u64 {
        starts[from..]
            .iter()
            .take_while(|(at, _)| at.as_nanos() - starts[from].0.as_nanos() < per_nanos)
            .map(|(_, amount)| amount)
            .sum()
    };
    (0..starts.len()).map(within).max().unwrap_or(0)
}

/// The tokens that the provider charged for everything that it took.
pub fn tokens_charged(run: &Run) -> u64 {
    let charged = |call: &Call| call.accepted.map(|(_, tokens)| tokens);
    run.calls.iter().filter_map(charged).sum()
}
