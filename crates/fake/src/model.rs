//! How a provider counts and whom it turns away: a pure model, driven by the time that it is handed.
//!
//! It owns the windows, the rule of charging and what answers say about limits. It knows no clock, socket or runtime, so
//! that a simulator and a server can drive the same code, and it shares nothing with the gateway that it is meant to test:
//! it keeps every arrival and adds them up again for each call.

mod charge;
mod peaks;
mod settings;
mod window;
mod wire;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use charge::{Call, Charge};
pub use peaks::{peak_aligned, peak_in_any};
pub use settings::{
    ChargeRule, FailedCount, Hints, Limit, Limits, Meter, Profile, Quantum, RejectedCount,
    ResetUnit, Scope, Settings, ShortLimits, Window,
};
pub use wire::{Header, go_duration};

use window::{Count, Part, Rule};

/// Scopes (models, keys) that are counted apart at most; beyond it those that are not in use are forgotten.
const SCOPES_MAX: usize = 4_096;

/// The provider's side of the limits.
///
/// ```
/// use sluicegate_fake::model::{Call, Model, Settings, Verdict};
///
/// let settings: Settings = serde_json::from_str(r#"{"limits": {"rpm": 3}}"#)?;
/// let mut provider = Model::new(settings);
/// let call = Call { model: "m", prompt_bytes: 400, ..Call::default() };
/// for _ in 0..3 {
///     assert!(matches!(provider.arrive(0, &call), Verdict::Accepted(_)));
/// }
/// let Verdict::Rejected(rejected) = provider.arrive(0, &call) else { unreachable!() };
/// assert_eq!(rejected.limit, "requests");
/// assert_eq!(rejected.wait, Some(20_000_000_000)); // three a minute: one every 20 s
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    settings: Settings,
    rules: Vec<Rule>,
    /// By rule and scope.
    counts: BTreeMap<(usize, String), Count>,
    in_flight: BTreeSet<u64>,
    calls: u64,
    latest: u64,
}

/// What becomes of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It is served.
    Accepted(Accepted),
    /// It is answered with 429.
    Rejected(Rejected),
}

/// A call that is served.
#[derive(Clone, PartialEq, Debug)]
pub struct Accepted {
    /// Ends it, through [`Model::finish`].
    pub ticket: Ticket,
    /// What it was charged.
    pub charge: Charge,
    /// Rate-limit headers for its answer.
    pub headers: Vec<Header>,
}

/// A call that a limit turned away.
#[derive(Clone, PartialEq, Debug)]
pub struct Rejected {
    /// The limit: `requests`, `tokens`, `requests per day`, `tokens quantum`, `concurrent`, …
    pub limit: String,
    /// Nanoseconds after which this call would fit if nothing else arrived; `None` where no time can be told: it never
    /// will, or a slot must become free.
    pub wait: Option<u64>,
    /// What it would have been charged.
    pub charge: Charge,
    /// Headers of the 429.
    pub headers: Vec<Header>,
    /// Body of the 429.
    pub body: Value,
}

/// An accepted call, until it ends.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Debug)]
pub struct Ticket(u64);

/// How an accepted call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was answered, or its client left: it keeps its charge.
    Served,
    /// It failed: it keeps its charge only where failed calls count.
    Failed,
}

impl Model {
    /// A provider at which nothing was used yet.
    pub fn new(settings: Settings) -> Self {
        let rules = settings.limits().iter().flat_map(Rule::of).collect();
        Self {
            settings,
            rules,
            counts: BTreeMap::new(),
            in_flight: BTreeSet::new(),
            calls: 0,
            latest: 0,
        }
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Puts other settings in force and starts every window anew. Calls in flight stay in flight.
    pub fn replace_settings(&mut self, settings: Settings) {
        let (in_flight, calls) = (std::mem::take(&mut self.in_flight), self.calls);
        *self = Self {
            in_flight,
            calls,
            ..Self::new(settings)
        };
    }

    /// A call arrives at `at`, in nanoseconds since the Unix epoch. A time before an earlier call's counts as that one's.
    ///
    /// What can never fit is told so first; then the calls in flight are checked, then the limits in the order of the
    /// settings, each before its quantum. The first that refuses is the one that is reported. Nothing is taken unless all
    /// agree, except the request that a rejection may cost ([`RejectedCount`]).
    pub fn arrive(&mut self, at: u64, call: &Call<'_>) -> Verdict {
        let at = at.max(self.latest);
        self.latest = at;
        self.calls += 1;
        let charge = call.charge(self.settings.charge_rule(), self.settings.default_output);
        let refused = self
            .too_large(at, call, charge)
            .or_else(|| self.no_slot(charge))
            .or_else(|| self.no_room(at, call, charge));
        match refused {
            Some(mut rejected) => {
                if self.settings.rejected_count == RejectedCount::Taken {
                    self.take_for_rejected(at, call);
                }
                rejected.headers.extend(self.state(at, call));
                Verdict::Rejected(rejected)
            }
            None => {
                self.take(at, call, charge);
                self.in_flight.insert(self.calls);
                Verdict::Accepted(Accepted {
                    ticket: Ticket(self.calls),
                    charge,
                    headers: self.state(at, call),
                })
            }
        }
    }

    /// An accepted call ended.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a call ends once, so its ticket is used up"
    )]
    pub fn finish(&mut self, ticket: Ticket, outcome: Outcome) {
        let Ticket(call) = ticket;
        self.in_flight.remove(&call);
        if outcome == Outcome::Failed && self.settings.failed_count == FailedCount::Returned {
            for count in self.counts.values_mut() {
                count.give_back(call);
            }
        }
    }

    /// Accepted calls that did not end yet.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    fn too_large(&self, at: u64, call: &Call<'_>, charge: Charge) -> Option<Rejected> {
        let (index, rule) = self
            .rules
            .iter()
            .enumerate()
            .find(|(_, rule)| rule.part == Part::Whole && amount(rule, charge) > rule.amount)?;
        Some(self.rejected(at, call, charge, index, rule, None))
    }

    fn no_slot(&self, charge: Charge) -> Option<Rejected> {
        let limit = self.settings.concurrent?.get();
        if (self.in_flight.len() as u64) < limit {
            return None;
        }
        Some(Rejected {
            limit: "concurrent".to_owned(),
            wait: None,
            charge,
            headers: Vec::new(),
            body: wire::too_many_in_flight(self.settings.profile, limit),
        })
    }

    fn no_room(&self, at: u64, call: &Call<'_>, charge: Charge) -> Option<Rejected> {
        self.rules.iter().enumerate().find_map(|(index, rule)| {
            let wait = self
                .count(index, rule, call)?
                .wait(rule, at, amount(rule, charge));
            (wait > 0).then(|| self.rejected(at, call, charge, index, rule, Some(wait)))
        })
    }

    fn rejected(
        &self,
        at: u64,
        call: &Call<'_>,
        charge: Charge,
        index: usize,
        rule: &Rule,
        wait: Option<u64>,
    ) -> Rejected {
        let refusal = wire::Refusal {
            model: call.model,
            meter: rule.meter,
            per: rule.per,
            limit: rule.amount,
            used: self
                .count(index, rule, call)
                .map_or(0, |count| count.used(rule, at)),
            requested: amount(rule, charge),
            wait,
        };
        // Azure does not tell apart what never fits: it names the renewal period.
        let hint = match self.settings.profile {
            Profile::OpenAi => wait,
            Profile::Azure => wait.or(Some(rule.per.as_nanos())),
        };
        Rejected {
            limit: rule.name.clone(),
            wait,
            charge,
            headers: wire::hints(&self.settings, Some(rule.meter), hint),
            body: wire::refusal(self.settings.profile, &refusal),
        }
    }

    fn take(&mut self, at: u64, call: &Call<'_>, charge: Charge) {
        for index in 0..self.rules.len() {
            self.take_of(index, at, call, amount(&self.rules[index], charge));
        }
    }

    fn take_for_rejected(&mut self, at: u64, call: &Call<'_>) {
        for index in 0..self.rules.len() {
            let rule = &self.rules[index];
            let used = self
                .count(index, rule, call)
                .map_or(0, |count| count.used(rule, at));
            if rule.meter == Meter::Requests && used < rule.amount {
                self.take_of(index, at, call, 1);
            }
        }
    }

    fn take_of(&mut self, index: usize, at: u64, call: &Call<'_>, amount: u64) {
        let rule = &self.rules[index];
        let place = (index, scope(rule, call).to_owned());
        if self.counts.len() >= SCOPES_MAX && !self.counts.contains_key(&place) {
            self.forget_scopes(at);
        }
        let rule = &self.rules[index];
        self.counts
            .entry(place)
            .or_default()
            .take(rule, at, amount, self.calls);
    }

    /// Forgets the scopes of which nothing counts any more; where that is none, the first of a model or key.
    fn forget_scopes(&mut self, at: u64) {
        let rules = &self.rules;
        self.counts
            .retain(|(index, _), count| count.used(&rules[*index], at) > 0);
        if self.counts.len() >= SCOPES_MAX {
            let first = self
                .counts
                .keys()
                .find(|(_, scope)| !scope.is_empty())
                .cloned();
            first.map(|place| self.counts.remove(&place));
        }
    }

    fn count(&self, index: usize, rule: &Rule, call: &Call<'_>) -> Option<&Count> {
        self.counts.get(&(index, scope(rule, call).to_owned()))
    }

    /// The headers about limits. Of several limits on one meter the tightest is shown: the one that lets the least through
    /// in the long run, as a low tier shows its day instead of its minute.
    fn state(&self, at: u64, call: &Call<'_>) -> Vec<Header> {
        let shown: Vec<wire::Shown> = [Meter::Requests, Meter::Tokens]
            .into_iter()
            .filter_map(|meter| {
                let whole = |rule: &Rule| rule.meter == meter && rule.part == Part::Whole;
                let rules = self
                    .rules
                    .iter()
                    .enumerate()
                    .filter(|(_, rule)| whole(rule));
                let (index, rule) = rules.min_by(|(_, one), (_, other)| {
                    let one_rate = u128::from(one.amount) * u128::from(other.per.as_nanos());
                    one_rate.cmp(&(u128::from(other.amount) * u128::from(one.per.as_nanos())))
                })?;
                let count = self.count(index, rule, call);
                let used = count.map_or(0, |count| count.used(rule, at));
                Some(wire::Shown {
                    meter,
                    limit: rule.amount,
                    remaining: rule.amount.saturating_sub(used),
                    reset: count.map_or(0, |count| count.time_to_full(rule, at)),
                    per: rule.per,
                    quantum: rule.quantum,
                })
            })
            .collect();
        wire::state(&self.settings, call.model, &shown)
    }
}

fn amount(rule: &Rule, charge: Charge) -> u64 {
    match rule.meter {
        Meter::Requests => charge.requests,
        Meter::Tokens => charge.tokens,
    }
}

fn scope<'a>(rule: &Rule, call: &Call<'a>) -> &'a str {
    match rule.scope {
        Scope::All => "",
        Scope::Model => call.model,
        Scope::Key => call.key,
    }
}

#[cfg(test)]
mod tests;
