//! What becomes of an accepted call: output as it is produced, the usage, the end.
//!
//! Every change goes to each rule by its own way of settling; a call remembers what it took of each, so that it may be
//! settled more than once and the last word holds.

use super::charge::{Call, Sizes, Usage};
use super::settings::{ChargeRule, FailedCount, Meter, Profile, SettleRule};
use super::{Header, InFlight, Model, Ticket, scope};

/// How an accepted call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was answered to the end, for so much: it is settled.
    Served(Usage),
    /// Its answer broke off after so much, or its client left. Settled the same way; at Raon the reserved output is given
    /// back and the input stays as estimated.
    Cut(Usage),
    /// It failed: it keeps what it was charged on arrival, and only where failed calls count.
    Failed,
}

impl Model {
    /// An accepted call has produced `tokens` more of output: limits that count output as it is produced take it now.
    /// What is not told here counts when the call ends.
    pub fn produced(&mut self, at: u64, ticket: &Ticket, tokens: u64) {
        let at = self.advance(at);
        let Ticket(number) = *ticket;
        let Some(mut call) = self.in_flight.remove(&number) else {
            return;
        };
        for (index, taken) in call.taken.iter_mut().enumerate() {
            if self.rules[index].charge == ChargeRule::Produced {
                *taken += tokens;
                self.produce(index, at, number, &call.model, &call.key, tokens);
            }
        }
        self.in_flight.insert(number, call);
    }

    /// The usage of an accepted call is known before the call has ended, as when an answer is sent in one piece; its slot
    /// stays taken. Gives the rate-limit headers of that answer, which show the settled state.
    pub fn settle(&mut self, at: u64, ticket: &Ticket, usage: Usage) -> Vec<Header> {
        let at = self.advance(at);
        let Ticket(number) = *ticket;
        let Some(mut in_flight) = self.in_flight.remove(&number) else {
            return Vec::new();
        };
        self.settle_call(at, number, &mut in_flight, |sizes, rule, taken| {
            sizes.settled(rule, usage, taken)
        });
        let call = Call {
            model: &in_flight.model,
            key: &in_flight.key,
            ..Call::default()
        };
        let headers = self.headers(at, &call, in_flight.charge, Some((in_flight.sizes, usage)));
        self.in_flight.insert(number, in_flight);
        headers
    }

    /// An accepted call ended at `at`.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a call ends once, so its ticket is used up"
    )]
    pub fn finish(&mut self, at: u64, ticket: Ticket, outcome: Outcome) {
        let at = self.advance(at);
        let Ticket(number) = ticket;
        let Some(mut call) = self.in_flight.remove(&number) else {
            return;
        };
        match outcome {
            Outcome::Cut(_) if self.settings.profile == Profile::Raon => {
                self.settle_call(at, number, &mut call, |_, rule, taken| match rule {
                    SettleRule::Output => 0,
                    _ => taken,
                });
            }
            Outcome::Served(usage) | Outcome::Cut(usage) => {
                self.settle_call(at, number, &mut call, |sizes, rule, taken| {
                    sizes.settled(rule, usage, taken)
                });
            }
            Outcome::Failed if self.settings.failed_count == FailedCount::Returned => {
                for count in self.counts.values_mut() {
                    count.give_back(number);
                }
                for (tally, taken) in self.tallies.iter_mut().zip(call.taken) {
                    tally.calls = tally.calls.saturating_sub(taken);
                }
            }
            Outcome::Failed => {}
        }
    }

    fn produce(&mut self, index: usize, at: u64, number: u64, model: &str, key: &str, amount: u64) {
        let rule = &self.rules[index];
        let place = (index, scope(rule, model, key).to_owned());
        let count = self.counts.entry(place).or_default();
        count.produce(rule, at, amount, number);
        self.tallies[index].calls += amount;
    }

    /// Changes what a call took of each rule to what `settled` makes of it.
    fn settle_call(
        &mut self,
        at: u64,
        number: u64,
        call: &mut InFlight,
        settled: impl Fn(&Sizes, SettleRule, u64) -> u64,
    ) {
        for index in 0..call.taken.len() {
            let rule = &self.rules[index];
            let before = call.taken[index];
            let after = settled(&call.sizes, rule.settle, before);
            if rule.meter == Meter::Requests || after == before {
                continue;
            }
            call.taken[index] = after;
            if rule.charge == ChargeRule::Produced && after > before {
                self.produce(index, at, number, &call.model, &call.key, after - before);
                continue;
            }
            let place = (index, scope(rule, &call.model, &call.key).to_owned());
            let count = self.counts.entry(place).or_default();
            count.settle(rule, at, number, before, after);
            let tally = &mut self.tallies[index];
            tally.calls = (tally.calls + after).saturating_sub(before);
        }
    }
}
