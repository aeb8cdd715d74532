//! How a provider counts and whom it turns away: a pure model, driven by the time that it is handed.
//!
//! It owns the windows, the rules of charging and settling, and what answers say about limits. It knows no clock, socket or
//! runtime, so that a simulator and a server can drive the same code, and it shares nothing with the gateway that it is
//! meant to test: it keeps every arrival and adds them up again for each call.

mod calendar;
mod charge;
mod others;
mod peaks;
mod refusal;
mod rule;
mod settings;
mod settlement;
mod standing;
mod window;
mod wire;

use std::collections::BTreeMap;

use serde_json::Value;

pub use calendar::{UtcOffset, UtcOffsetError};
pub use charge::{Call, Charge, Delivery, Usage};
pub use peaks::{peak_aligned, peak_in_any};
pub use settings::{
    ChargeRule, Cut, EstimateError, Factor, FailedCount, Hints, Limit, Limits, Meter, OtherTraffic,
    Profile, Quantum, RejectedCount, ResetUnit, Scope, Settings, SettleRule, Share, ShortLimits,
    Window,
};
pub use settlement::Outcome;
pub use standing::{Flow, Standing, Tally};
pub(crate) use wire::{ErrorWords, bedrock_exception, error_body};
pub use wire::{Header, go_duration};

use charge::Sizes;
use others::Others;
use rule::{Part, Rule};
use window::Count;

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
    /// By rule.
    tallies: Vec<Tally>,
    others: Others,
    in_flight: BTreeMap<u64, InFlight>,
    calls: u64,
    /// When the first call came.
    origin: Option<u64>,
    latest: u64,
}

/// An accepted call that did not end yet.
#[derive(Clone, Debug)]
struct InFlight {
    model: String,
    key: String,
    sizes: Sizes,
    charge: Charge,
    slots: u64,
    /// What it took of each rule until now.
    taken: Vec<u64>,
}

/// What becomes of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It is served.
    Accepted(Accepted),
    /// It is refused, mostly with 429.
    Rejected(Rejected),
}

/// A call that is served.
#[derive(Clone, PartialEq, Debug)]
pub struct Accepted {
    /// Ends it, through [`Model::finish`].
    pub ticket: Ticket,
    /// What it was charged.
    pub charge: Charge,
    /// Rate-limit headers for its answer, if that begins now.
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
    /// 429; where the provider has them, 400 or 413 for what never fits and 503 for what it cannot carry.
    pub status: u16,
    /// Headers of the refusal.
    pub headers: Vec<Header>,
    /// Body of the refusal.
    pub body: Value,
}

/// An accepted call, until it ends.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Debug)]
pub struct Ticket(u64);

impl Model {
    /// A provider at which nothing was used yet.
    pub fn new(settings: Settings) -> Self {
        let rules: Vec<Rule> = settings
            .limits()
            .iter()
            .flat_map(|limit| Rule::of(limit, &settings))
            .collect();
        Self {
            others: Others::new(&settings, rules.len()),
            tallies: vec![Tally::default(); rules.len()],
            rules,
            settings,
            counts: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            calls: 0,
            origin: None,
            latest: 0,
        }
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Puts other settings in force and starts every window anew. Calls in flight keep their slots, and settle nothing.
    pub fn replace_settings(&mut self, settings: Settings) {
        let (mut in_flight, calls) = (std::mem::take(&mut self.in_flight), self.calls);
        for call in in_flight.values_mut() {
            call.taken.clear();
        }
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
        let at = self.advance(at);
        self.calls += 1;
        let sizes = self.sizes(call);
        let charge = self.charge(&sizes);
        if let Some(refused) = self.refused(at, call, &sizes) {
            if self.settings.rejected_count == RejectedCount::Taken {
                self.take_for_rejected(at, call);
            }
            return Verdict::Rejected(self.rejected(at, call, charge, &refused));
        }
        let taken: Vec<u64> = self
            .rules
            .iter()
            .map(|rule| match rule.meter {
                Meter::Requests => 1,
                _ => sizes.charge(rule.charge),
            })
            .collect();
        for (index, amount) in taken.iter().enumerate() {
            self.take(index, at, call, *amount);
        }
        let in_flight = InFlight {
            model: call.model.to_owned(),
            key: call.key.to_owned(),
            sizes,
            charge,
            slots: self.slots(call),
            taken,
        };
        self.in_flight.insert(self.calls, in_flight);
        Verdict::Accepted(Accepted {
            ticket: Ticket(self.calls),
            charge,
            headers: self.headers(at, call, charge, None),
        })
    }

    /// Accepted calls that did not end yet.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Time passes: what others did meanwhile is counted. Gives the time that holds.
    fn advance(&mut self, at: u64) -> u64 {
        let at = at.max(self.latest);
        self.latest = at;
        if self.origin.is_none() {
            self.origin = Some(at);
            for rule in &mut self.rules {
                rule.begin(&self.settings, at);
            }
            self.others.begin(&self.rules, at);
        }
        while let Some(take) = self.others.next(&self.rules, at) {
            self.take_for_others(&take);
        }
        at
    }

    fn sizes(&self, call: &Call<'_>) -> Sizes {
        let settings = &self.settings;
        Sizes {
            input: call.estimate(settings.profile.ruler(), &settings.estimate),
            cached: call.cached_tokens,
            output: call.output_max.unwrap_or(settings.default_output()),
            choices: call.choices,
            best_of: call.best_of,
            weight: settings.output_weight(call.model),
            delivery: call.delivery,
        }
    }

    fn charge(&self, sizes: &Sizes) -> Charge {
        let of = |meter| {
            let rule = self
                .rules
                .iter()
                .find(|rule| rule.meter == meter && rule.part == Part::Whole);
            let rule = rule.map_or(self.settings.charge_rule(meter), |rule| rule.charge);
            sizes.charge(rule)
        };
        Charge {
            requests: 1,
            tokens: of(Meter::Tokens),
            input_tokens: of(Meter::InputTokens),
            output_tokens: of(Meter::OutputTokens),
        }
    }

    /// Slots that a call holds: one, or for a server that counts sequences one for each.
    fn slots(&self, call: &Call<'_>) -> u64 {
        match self.settings.profile {
            Profile::Vllm => call.choices,
            Profile::Tgi => call.best_of,
            _ => 1,
        }
    }

    fn take(&mut self, index: usize, at: u64, call: &Call<'_>, amount: u64) {
        let rule = &self.rules[index];
        let place = (index, scope(rule, call.model, call.key).to_owned());
        if self.counts.len() >= SCOPES_MAX && !self.counts.contains_key(&place) {
            self.forget_scopes(at);
        }
        let rule = &self.rules[index];
        let count = self.counts.entry(place).or_default();
        count.take(rule, at, amount, self.calls);
        self.tallies[index].calls += amount;
    }

    fn take_for_rejected(&mut self, at: u64, call: &Call<'_>) {
        for index in 0..self.rules.len() {
            let rule = &self.rules[index];
            let used = self
                .count(index, call)
                .map_or(0, |count| count.used(rule, at));
            if rule.meter == Meter::Requests && used < rule.amount_at(at) {
                self.take(index, at, call, 1);
            }
        }
    }

    /// Takes for the other client, of a limit and its quantum, if there is room in both.
    fn take_for_others(&mut self, take: &others::Take) {
        let parts: Vec<usize> = take.parts().collect();
        let place = |index| (index, String::new());
        let fits = parts.iter().all(|&index| {
            let count = self.counts.entry(place(index)).or_default();
            count.wait(&self.rules[index], take.at, take.amount) == 0
        });
        if !fits {
            return;
        }
        for index in parts {
            let count = self.counts.entry(place(index)).or_default();
            count.take(&self.rules[index], take.at, take.amount, others::CALL);
            self.tallies[index].others += take.amount;
        }
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

    fn count(&self, index: usize, call: &Call<'_>) -> Option<&Count> {
        let scope = scope(&self.rules[index], call.model, call.key);
        self.counts.get(&(index, scope.to_owned()))
    }
}

fn scope<'a>(rule: &Rule, model: &'a str, key: &'a str) -> &'a str {
    match rule.scope {
        Scope::All => "",
        Scope::Model => model,
        Scope::Key => key,
    }
}

#[cfg(test)]
mod tests;
