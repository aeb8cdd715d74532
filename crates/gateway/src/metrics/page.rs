//! The page that an operator's collector reads.
//!
//! Gauges are read from the core when somebody asks, so that they are what the core believes and not a second book.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use prometheus_client::encoding::text;
use sluicegate_core::{BreakerState, Lane, LoadLevel, Timestamp};

use super::{
    AccountMeter, AccountName, BreakerLabels, Deployment, LimitName, Metrics, OTHER_TASK,
    RouteName, Waits,
};
use crate::answer_lengths::AnswerLengths;
use crate::driver::View;

impl Metrics {
    /// Everything in the text format, with the core as `view` shows it `now`, what is known of the `lengths` of answers, and the state
    /// of each deployment's breaker.
    pub(crate) fn render(
        &self,
        view: &View,
        lengths: &AnswerLengths,
        breakers: Vec<(String, BreakerState)>,
        now: Timestamp,
    ) -> String {
        self.show_breakers(breakers);
        self.show_lengths(view, &lengths.by_deployment());
        self.show_caps(&lengths.recommended_caps());
        self.show_drift(view);
        self.keys_benched.clear();
        for (account, benched) in view.snapshot.keys_benched(now) {
            let account = account.to_owned();
            self.keys_benched
                .get_or_create(&AccountName { account })
                .set(i64::try_from(benched).unwrap_or(i64::MAX));
        }
        self.limit_usable.clear();
        self.limit_used.clear();
        self.limit_reserved.clear();
        self.arrival_spread.clear();
        for (limit, state) in view.snapshot.limits.limits().iter().zip(&view.limits) {
            let name = LimitName::of(limit);
            self.limit_usable
                .get_or_create(&name)
                .set(gauge(state.usable));
            self.limit_used.get_or_create(&name).set(gauge(state.used));
            self.limit_reserved
                .get_or_create(&name)
                .set(gauge(state.reserved));
            self.arrival_spread
                .get_or_create(&name)
                .set(state.arrival_spread.as_secs_f64());
        }
        self.show_waiting(view);
        let place = LoadLevel::ALL.iter().position(|level| *level == view.load);
        let place = place.and_then(|place| i64::try_from(place).ok());
        self.load_level.set(place.unwrap_or_default());
        let open = i64::try_from(view.reservations_open).unwrap_or(i64::MAX);
        self.reservations_open.set(open);
        let mut page = String::new();
        if text::encode(&mut page, &self.registry).is_err() {
            // Writing to a string does not fail; a page that says so beats a panic.
            page.clear();
            let _ = writeln!(page, "# the metrics could not be written");
        }
        page
    }

    fn show_waiting(&self, view: &View) {
        self.queue_depth.clear();
        let nobody = Lane::ALL.map(|lane| (lane, OTHER_TASK, 0));
        let waiting = view.waiting.iter();
        let waiting = waiting.map(|(lane, task, waiting)| (*lane, &**task, *waiting));
        for (lane, task, waiting) in nobody.into_iter().chain(waiting) {
            self.queue_depth
                .get_or_create(&Waits::new(lane, task))
                .set(i64::try_from(waiting).unwrap_or(i64::MAX));
        }
    }

    fn show_drift(&self, view: &View) {
        self.ledger_drift.clear();
        for (account, meter, share) in view.snapshot.charge_drift() {
            self.ledger_drift
                .get_or_create(&AccountMeter {
                    account: account.to_owned(),
                    meter: meter.name(),
                })
                .set(share);
        }
        self.limit_drift.clear();
        for (limit, state) in view.snapshot.limits.limits().iter().zip(&view.limits) {
            if let Some(drift) = state.drift {
                self.limit_drift
                    .get_or_create(&LimitName::of(limit))
                    .set(drift);
            }
        }
    }

    fn show_caps(&self, caps: &[(Arc<str>, u64)]) {
        self.output_cap_recommended.clear();
        for (route, cap) in caps {
            let route = route.to_string();
            self.output_cap_recommended
                .get_or_create(&RouteName { route })
                .set(gauge(*cap));
        }
    }

    fn show_breakers(&self, breakers: Vec<(String, BreakerState)>) {
        self.breaker_state.clear();
        for (deployment, is) in breakers {
            for state in BreakerState::ALL {
                let labels = BreakerLabels {
                    deployment: deployment.clone(),
                    state: state.name(),
                };
                self.breaker_state
                    .get_or_create(&labels)
                    .set(i64::from(state == is));
            }
        }
    }

    fn show_lengths(&self, view: &View, lengths: &BTreeMap<String, u64>) {
        self.answer_tokens_expected.clear();
        let policy = &view.snapshot.policy;
        for deployment in &policy.deployments {
            if let Some(expected) = lengths.get(&deployment.name) {
                let account = &policy.accounts[deployment.account];
                self.answer_tokens_expected
                    .get_or_create(&Deployment {
                        provider: account.provider.id.clone(),
                        model: deployment.name.clone(),
                    })
                    .set(gauge(*expected));
            }
        }
    }
}

fn gauge(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
