//! Who is refused, and why: what never fits, then slots, then room.

use super::charge::Sizes;
use super::rule::{Part, Rule};
use super::settings::{ChargeRule, Meter, Window};
use super::wire::{self, Reason, Refusal};
use super::{Call, Charge, Model, Rejected};

/// A refusal before it is worded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refused {
    /// No slot is free.
    Slots { limit: u64 },
    /// The rule at `index` has no room for `requested`, for so many nanoseconds; `None`: it never has.
    Room {
        index: usize,
        requested: u64,
        wait: Option<u64>,
    },
}

impl Model {
    /// What refuses the call, if anything does.
    pub(super) fn refused(&self, at: u64, call: &Call<'_>, sizes: &Sizes) -> Option<Refused> {
        self.too_large(sizes)
            .or_else(|| self.no_slot(call))
            .or_else(|| self.no_room(at, call, sizes))
    }

    fn too_large(&self, sizes: &Sizes) -> Option<Refused> {
        self.rules.iter().enumerate().find_map(|(index, rule)| {
            let requested = wanted(rule, sizes);
            let bounded = rule.part == Part::Whole && rule.window != Window::Pacing;
            (bounded && requested > rule.amount).then_some(Refused::Room {
                index,
                requested,
                wait: None,
            })
        })
    }

    fn no_slot(&self, call: &Call<'_>) -> Option<Refused> {
        let limit = self.settings.concurrent?.get();
        let held: u64 = self.in_flight.values().map(|call| call.slots).sum();
        let others = self.others.slots(limit);
        // A call for more slots than there are is let in when none is held.
        let wanted = self.slots(call).min(limit.saturating_sub(others).max(1));
        (held + others + wanted > limit).then_some(Refused::Slots { limit })
    }

    fn no_room(&self, at: u64, call: &Call<'_>, sizes: &Sizes) -> Option<Refused> {
        self.rules.iter().enumerate().find_map(|(index, rule)| {
            let requested = wanted(rule, sizes);
            let wait = match self.count(index, call) {
                Some(count) => count.wait(rule, at, requested),
                None => super::Count::default().wait(rule, at, requested),
            };
            (wait > 0).then_some(Refused::Room {
                index,
                requested,
                wait: Some(wait),
            })
        })
    }

    /// The refusal in the provider's words.
    pub(super) fn rejected(
        &self,
        at: u64,
        call: &Call<'_>,
        charge: Charge,
        refused: &Refused,
    ) -> Rejected {
        let (limit, wait, reason) = match *refused {
            Refused::Slots { limit } => ("concurrent".to_owned(), None, Reason::Slots { limit }),
            Refused::Room {
                index,
                requested,
                wait,
            } => {
                let rule = &self.rules[index];
                let refusal = Refusal {
                    meter: rule.meter,
                    window: rule.window,
                    per: rule.per,
                    limit: rule.amount_at(at),
                    used: self
                        .count(index, call)
                        .map_or(0, |count| count.used(rule, at)),
                    requested: match rule.charge {
                        ChargeRule::Produced => 0,
                        _ => requested,
                    },
                    wait,
                    cut: rule.amount_at(at) < rule.amount,
                };
                (rule.name.clone(), wait, Reason::Room(refusal))
            }
        };
        let view = self.view(at, call, charge, None);
        let worded = wire::refusal(&view, &reason);
        Rejected {
            limit,
            wait,
            charge,
            status: worded.status,
            headers: worded.headers,
            body: worded.body,
        }
    }
}

fn wanted(rule: &Rule, sizes: &Sizes) -> u64 {
    match rule.meter {
        Meter::Requests => 1,
        _ => sizes.wanted(rule.charge),
    }
}
