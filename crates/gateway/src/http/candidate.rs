//! The destinations that one request may go to, each with what it is charged there and what is known of it now.
//!
//! To the core a destination is its place in this list, and not its target in the ledger: two models of one wildcard share a target
//! and are still two places to go. What the core decides, it decides here by facts that are looked up when it asks.

mod cost;

use std::sync::{Arc, OnceLock};

use sluicegate_catalog::LanePriority;
use sluicegate_config::Destination;
use sluicegate_core::{
    Amounts, Asking, Attempts, Condition, Elsewhere, Facts, Prospect, TargetId, Timestamp,
};
use sluicegate_dialect::canonical::Inexpressible;
use sluicegate_dialect::{
    Changes, Crossing, Envelope, IncludeUsage, Outbound, Owed, Priority, RequestError,
    RequestFacts, Seals,
};

use crate::driver::Place;
use crate::gateway::Gateway;
use crate::health::Whose;
use crate::settlement;
use crate::snapshot::{Route, Snapshot};
use cost::{demand, expected, length};

/// A destination, and what the request is charged there.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) route: Route<'a>,
    pub(super) demand: Amounts,
    /// Micro-dollars.
    price: u64,
    fits_context: bool,
    /// How the request gets there; `None` where the provider has nothing of the kind.
    pub(super) crossing: Option<Crossing>,
    /// The request as it is sent there, once it was asked for.
    outbound: OnceLock<Outbound>,
    to: &'a Destination,
}

/// Why a candidate cannot be asked, whatever its limits.
#[derive(Debug)]
pub(crate) enum Unsayable {
    /// It has no such operation.
    Operation,
    /// Its dialect does not know these members of the request.
    Members(Vec<Inexpressible>),
    /// The body cannot be translated.
    Body(RequestError),
}

impl Unsayable {
    /// In words, of one that was not asked.
    pub(super) fn why(&self) -> String {
        match self {
            Self::Operation => "it has nothing of the kind".to_owned(),
            Self::Members(members) => {
                let members = members.iter().map(|member| format!("`{}`", member.field));
                let members: Vec<String> = members.collect();
                format!("it cannot be told {}", members.join(", "))
            }
            Self::Body(error) => error.message.clone(),
        }
    }
}

/// All of one request's, in the order of its route.
#[derive(Debug)]
pub(super) struct CandidateList<'a> {
    pub(super) gateway: &'a Arc<Gateway>,
    pub(super) snapshot: &'a Arc<Snapshot>,
    route: &'a sluicegate_config::Route,
    list: Vec<Candidate<'a>>,
    asking: Asking,
    envelope: &'a Envelope,
}

impl<'a> CandidateList<'a> {
    /// Where a request that named `requested` may go by `route`.
    pub(super) fn new(
        gateway: &'a Arc<Gateway>,
        snapshot: &'a Arc<Snapshot>,
        route: &'a sluicegate_config::Route,
        requested: &'a str,
        envelope: &'a Envelope,
        asking: Asking,
    ) -> Self {
        let mut list: Vec<Candidate<'a>> = Vec::new();
        let facts = envelope.facts();
        for to in route.destinations() {
            if list.iter().any(|known| known.to.is_same(to)) {
                continue;
            }
            let way = snapshot.route(to, requested);
            let crossing = Crossing::to(envelope.operation(), &way.account.provider);
            let input = settlement::input(way, facts, gateway.calibrations()).central;
            list.push(Candidate {
                route: way,
                demand: demand(way, crossing, facts, gateway),
                crossing,
                outbound: OnceLock::new(),
                price: way
                    .deployment
                    .price
                    .map_or(0, |price| expected(price, input, facts)),
                fits_context: way
                    .deployment
                    .context
                    .is_none_or(|context| length(input, facts) <= context),
                to,
            });
        }
        if list.iter().all(|candidate| !candidate.fits_context) {
            // An estimate is no reason to refuse: where no other would do better, the provider has the word.
            for candidate in &mut list {
                candidate.fits_context = true;
            }
        }
        Self {
            gateway,
            snapshot,
            route,
            list,
            asking,
            envelope,
        }
    }

    /// The request as it is sent to `place`.
    ///
    /// # Errors
    ///
    /// What of it cannot be said there, unless the route allows that it is dropped.
    pub(super) fn outbound(&self, place: usize) -> Result<&Outbound, Unsayable> {
        let candidate = &self.list[place];
        let crossing = candidate.crossing.ok_or(Unsayable::Operation)?;
        if let Some(outbound) = candidate.outbound.get() {
            return Ok(outbound);
        }
        let (provider, model) = (&candidate.route.account.provider, candidate.route.model);
        let changes = Changes {
            model: Some(model),
            include_usage: IncludeUsage::Ask,
            output_cap: None,
            seals: Seals::default(),
            priority: provider.lane_priority.as_ref().map(|priority| Priority {
                field: &priority.field,
                value: LanePriority::of(self.asking.lane),
            }),
        };
        let owed = if self.is_primary(place) {
            Owed::AsTheProvider
        } else {
            Owed::TheForm
        };
        let outbound = crossing
            .outbound(self.envelope, &changes, owed, provider)
            .map_err(Unsayable::Body)?;
        let is_in_the_way = |it: &&Inexpressible| !self.route.lossy || it.instead.is_some();
        let unsaid = outbound.inexpressible.iter().filter(is_in_the_way);
        let unsaid: Vec<_> = unsaid.cloned().collect();
        if !unsaid.is_empty() {
            return Err(Unsayable::Members(unsaid));
        }
        Ok(candidate.outbound.get_or_init(|| outbound))
    }

    /// What `facts` of another request are charged at `place`.
    pub(super) fn demand_of(&self, place: usize, facts: &RequestFacts) -> Amounts {
        let candidate = &self.list[place];
        demand(candidate.route, candidate.crossing, facts, self.gateway)
    }

    /// The route, with places in this list for targets.
    pub(super) fn in_core(&self) -> sluicegate_core::Route {
        let place = |to: &Destination| {
            let mut list = self.list.iter();
            let place = list.position(|candidate| candidate.to.is_same(to));
            TargetId::new(place.expect("every destination of the route is in the list"))
        };
        self.route.in_core(place)
    }

    /// The name of the route.
    pub(super) fn name(&self) -> &str {
        &self.route.name
    }

    pub(super) fn at(&self, place: usize) -> &Candidate<'a> {
        &self.list[place]
    }

    /// The places.
    pub(super) fn places(&self) -> std::ops::Range<usize> {
        0..self.list.len()
    }

    /// What is known of a place `now`, for a request that has made these `attempts`. Whatever is not in the way any more is so since
    /// ever: so the core may be asked at the request's deadline where that is over.
    pub(super) fn facts(&self, place: usize, attempts: &Attempts, now: Timestamp) -> Facts {
        Facts {
            passes: over(self.passes(place, attempts, now), now),
            start: over(self.start(place), now),
            speaks: self.list[place].crossing.is_some(),
            fits_context: self.list[place].fits_context,
            price: self.list[place].price,
            latency: self.gateway.health().latency(self.whose(place)),
        }
    }

    /// Whether some place other than `place`, where this request was not yet, would take it at once.
    pub(super) fn elsewhere(&self, place: usize, attempts: &Attempts, now: Timestamp) -> Elsewhere {
        let mut others = self.places().filter(|other| *other != place);
        let takes = |other: usize| {
            let passes = self
                .gateway
                .health()
                .passes(self.whose(other), Elsewhere::Possible, now);
            !attempts.has_tried(TargetId::new(other))
                && self.opens_to_unavailable(other)
                && self.list[other].fits_context
                && passes <= Prospect::At(now)
                && self.start(other).makes(self.asking.deadline.max(now))
                && self.outbound(other).is_ok()
        };
        if others.any(takes) {
            Elsewhere::Possible
        } else {
            Elsewhere::Impossible
        }
    }

    /// When the breaker lets a request pass that has made these `attempts`. Where it could go is looked up only where that matters.
    pub(super) fn passes(&self, place: usize, attempts: &Attempts, now: Timestamp) -> Prospect {
        let health = self.gateway.health();
        let passes = health.passes(self.whose(place), Elsewhere::Possible, now);
        let is_elsewhere = || self.elsewhere(place, attempts, now) == Elsewhere::Possible;
        if passes <= Prospect::At(now) || is_elsewhere() {
            return passes;
        }
        health.passes(self.whose(place), Elsewhere::Impossible, now)
    }

    /// When the limits let it start. Where there is nothing to compare it with, the line itself will tell.
    fn start(&self, place: usize) -> Prospect {
        if self.list.len() == 1 {
            return Prospect::At(Timestamp::ZERO);
        }
        let candidate = &self.list[place];
        let place = Place {
            snapshot: Arc::clone(self.snapshot),
            target: candidate.route.target,
        };
        let driver = self.gateway.driver();
        driver.prospect(&place, candidate.demand, &self.asking)
    }

    /// Whether the route leads there when another is left alone.
    fn opens_to_unavailable(&self, place: usize) -> bool {
        let to = self.list[place].to;
        let others = self.route.fallbacks.iter().chain(&self.route.degrade_to);
        let mut others = others.filter(|other| other.to.is_same(to));
        self.is_primary(place)
            || others.any(|other| other.when.contains(&Condition::PrimaryUnavailable))
    }

    /// Whether the request goes there by the route's first choice.
    fn is_primary(&self, place: usize) -> bool {
        let to = self.list[place].to;
        self.route.primary.iter().any(|primary| primary.is_same(to))
    }

    fn whose(&self, place: usize) -> Whose<'_> {
        self.list[place].route.whose()
    }
}

fn over(prospect: Prospect, now: Timestamp) -> Prospect {
    if prospect <= Prospect::At(now) {
        Prospect::At(Timestamp::ZERO)
    } else {
        prospect
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sluicegate_core::{
        BackoffRule, ErrorClass, Failure, Lane, LoadEffects, LoadLevel, RetryRule,
    };

    use sluicegate_dialect::Operation;

    use super::*;
    use crate::clock::Clock;

    const POLICY: &str = r#"
accounts: { a: { provider: openai, base_url: http://127.0.0.1:9 } }
breaker: { consecutive: 1, open: 10s }
deployments:
  "gpt-*": { account: a }
  short: { account: a, context: 10, price: { input: 2, output: 8 } }
  other: { account: a }
routes:
  two-models: { primary: gpt-5.5, fallbacks: [{ to: gpt-5-mini }], degrade_to: { to: gpt-5-mini } }
  contexts: { primary: short, fallbacks: [{ to: other, when: [context_length_needed] }] }
  alone: { primary: short }
"#;

    /// What `look` sees of the candidates of `route`.
    fn look<R>(route: &str, look: impl FnOnce(&CandidateList<'_>) -> R) -> R {
        let policy = sluicegate_config::parse("a.yaml", POLICY, &|_| None).expect("a policy");
        let snapshot = Snapshot::new(policy, None).expect("a policy that can be served");
        let gateway = Gateway::new(snapshot, Clock::start());
        let snapshot = gateway.driver().snapshot();
        let (_, route) = snapshot.policy.route(route).expect("a route");
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"{}"}}],"max_tokens":1000}}"#,
            "word ".repeat(1_000)
        );
        let envelope = Envelope::decode(Operation::ChatCompletions, "", &body.into());
        let envelope = envelope.expect("a request");
        let asking = Asking {
            lane: Lane::Api,
            deadline: Timestamp::MAX,
            simple: false,
            load: LoadLevel::Normal,
            effects: LoadEffects::NONE,
        };
        let list = CandidateList::new(&gateway, &snapshot, route, "m", &envelope, asking);
        look(&list)
    }

    fn nothing_tried() -> Attempts {
        let rule = RetryRule {
            attempts_max: 3,
            total_max: Duration::from_secs(30),
        };
        Attempts::new(rule, BackoffRule::default())
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    #[test]
    fn two_models_of_one_wildcard_are_two_places_and_one_named_twice_is_one() {
        look("two-models", |list| {
            let targets = list.places().map(|place| list.at(place).route.target);
            let targets: Vec<TargetId> = targets.collect();
            assert_eq!(targets, [TargetId::new(0), TargetId::new(0)]);
            let route = list.in_core();
            assert_eq!(route.primary, [TargetId::new(0)]);
            assert_eq!(route.fallbacks[0].to, TargetId::new(1));
            let smaller = route.degrade_to.map(|smaller| smaller.to);
            assert_eq!(smaller, Some(TargetId::new(1)));
        });
    }

    #[test]
    fn an_estimate_keeps_a_request_from_a_context_only_where_another_is_longer() {
        let fits = |list: &CandidateList<'_>| {
            let facts = |place| list.facts(place, &nothing_tried(), at(0));
            let fits: Vec<bool> = list
                .places()
                .map(|place| facts(place).fits_context)
                .collect();
            fits
        };
        assert_eq!(look("contexts", fits), [false, true]);
        assert_eq!(look("alone", fits), [true]);
    }

    #[test]
    fn a_price_is_that_of_the_input_and_the_most_output() {
        let facts = look("alone", |list| list.facts(0, &nothing_tried(), at(0)));
        // A thousand tokens for 8 dollars a million, and about as many for 2.
        assert!((9_500..11_000).contains(&facts.price), "{}", facts.price);
    }

    #[test]
    fn an_open_breaker_is_in_the_way_where_the_route_leads_elsewhere() {
        for (route, expected) in [
            // Its fallback is not for that.
            ("contexts", Prospect::At(Timestamp::ZERO)),
            ("alone", Prospect::At(Timestamp::ZERO)),
            ("two-models", Prospect::At(at(11))),
        ] {
            let facts = look(route, |list| {
                let health = list.gateway.health();
                let pass = health.pass(list.whose(0), Elsewhere::Impossible, at(1));
                let failure = Failure::answered(ErrorClass::Server);
                pass.expect("it passes").failed(&failure, at(1));
                list.facts(0, &nothing_tried(), at(2))
            });
            assert_eq!(facts.passes, expected, "{route}");
        }
    }
}
