//! Limits that nobody configured: what a provider's answers say of them.
//!
//! Where no configured limit of a deployment counts a meter, the provider's word on it is taken: the row says how it is counted,
//! the word how much. They are part of the snapshot and pass every reload until a configured limit of the meter takes their
//! place. Headers speak of the model that was asked, so each model of an account has limits of its own. A number above the one that
//! was learned replaces it; one below is what the core takes any lower ceiling for, a cut that it follows down and up again.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use sluicegate_config::Account;
use sluicegate_core::{Limit, Signal, Timestamp};

/// So many models have learned limits.
const MODELS_MAX: usize = 256;
/// Limits of one model that are learned: a provider that names ever other periods names none.
const LIMITS_MAX: usize = 8;
/// A model's limits follow upwards no more often: each change makes the whole policy anew.
const RAISED_AFTER: Duration = Duration::from_secs(1);

/// What was learned, by account and the provider's name of the model.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct LearnedLimits(BTreeMap<Scope, Learned>);

/// Whose limits they are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Scope {
    pub(crate) account: Arc<str>,
    /// By the provider's name.
    pub(crate) model: String,
}

/// What is new.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct News {
    /// All limits.
    pub(crate) limits: LearnedLimits,
    /// Of these, the ones that are new or raised.
    pub(crate) changed: Vec<Limit>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Learned {
    /// One for each meter and period.
    limits: Vec<Limit>,
    changed: Timestamp,
}

impl LearnedLimits {
    /// The limits of a model.
    pub(crate) fn of(&self, scope: &Scope) -> &[Limit] {
        self.0.get(scope).map_or(&[], |learned| &learned.limits)
    }

    /// Whether it is one of them.
    pub(crate) fn has(&self, limit: &Limit) -> bool {
        let mut all = self.0.values().flat_map(|learned| &learned.limits);
        all.any(|learned| learned.name == limit.name)
    }

    /// Every model that has some.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.0.keys()
    }

    /// The limit that `signal`, with an answer of `scope` on `account`, tells of. It is named and counted from nothing known.
    pub(crate) fn told(account: &Account, scope: &Scope, signal: &Signal) -> Option<Limit> {
        let amount = NonZeroU64::new(signal.limit?)?;
        let told = account
            .provider
            .told_limit(signal.meter, signal.per, amount)?;
        let mut limit = told.named(Arc::from(""));
        let per = limit.window.per()?;
        limit.name = format!(
            "account {} model {} learned {}/{}s",
            scope.account,
            scope.model,
            limit.meter,
            per.as_secs()
        )
        .into();
        limit.headroom = account.headroom;
        Some(limit)
    }

    /// The same with what was `told` of `scope` at `now`, where any of it is news.
    pub(crate) fn with(
        &self,
        scope: &Scope,
        told: impl Iterator<Item = Limit>,
        now: Timestamp,
    ) -> Option<News> {
        let changed: Vec<_> = told
            .filter(|limit| self.is_news(scope, limit, now))
            .collect();
        if changed.is_empty() {
            return None;
        }
        let mut limits = self.clone();
        let learned = limits.0.entry(scope.clone()).or_default();
        for limit in &changed {
            learned.limits.retain(|other| other.name != limit.name);
            learned.limits.push(limit.clone());
        }
        learned.changed = now;
        Some(News { limits, changed })
    }

    fn is_news(&self, scope: &Scope, limit: &Limit, now: Timestamp) -> bool {
        let Some(learned) = self.0.get(scope) else {
            return self.0.len() < MODELS_MAX;
        };
        let mut known = learned.limits.iter();
        let is_late = now.saturating_since(learned.changed) >= RAISED_AFTER;
        match known.find(|other| other.name == limit.name) {
            Some(known) => limit.amount > known.amount && is_late,
            None => learned.limits.len() < LIMITS_MAX,
        }
    }

    /// Only the limits of accounts of these names.
    pub(crate) fn retain_accounts(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.0.retain(|scope, _| is_kept(&scope.account));
    }

    /// Only the limits that are used.
    pub(crate) fn retain(&mut self, is_used: impl Fn(&Limit) -> bool) {
        for learned in self.0.values_mut() {
            learned.limits.retain(&is_used);
        }
        self.0.retain(|_, learned| !learned.limits.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_core::Meter;

    fn account(text: &str) -> Account {
        let text =
            format!("accounts: {{ up: {{ {text} }} }}\ndeployments: {{ m: {{ account: up }} }}\n");
        let mut policy = sluicegate_config::parse("a.yaml", &text, &|_| None).expect("it is valid");
        policy.accounts.remove(0)
    }

    fn scope(model: &str) -> Scope {
        Scope {
            account: "up".into(),
            model: model.to_owned(),
        }
    }

    fn requests(amount: u64) -> Signal {
        Signal {
            limit: Some(amount),
            per: Some(Duration::from_secs(60)),
            ..Signal::on(Meter::Requests)
        }
    }

    /// The book after a number was told.
    fn after(book: &LearnedLimits, amount: u64, model: &str, millis: u64) -> Option<LearnedLimits> {
        let up = account("provider: openai, api_key: k");
        let told = LearnedLimits::told(&up, &scope(model), &requests(amount));
        let news = book.with(&scope(model), told.into_iter(), at(millis))?;
        Some(news.limits)
    }

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO.saturating_add(Duration::from_millis(millis))
    }

    #[test]
    fn the_row_the_word_and_the_headroom_make_a_limit() {
        let up = account("provider: openai, api_key: k, headroom: 0.5");
        let told = LearnedLimits::told(&up, &scope("gpt-5"), &requests(60)).expect("a limit");
        assert_eq!(&*told.name, "account up model gpt-5 learned requests/60s");
        assert_eq!(told.amount.get(), 60);
        assert_eq!(told.headroom, up.headroom);
        assert_eq!(
            LearnedLimits::told(&up, &scope("gpt-5"), &requests(0)),
            None
        );
    }

    #[test]
    fn a_higher_number_replaces_and_not_too_often() {
        let first = after(&LearnedLimits::default(), 60, "m", 0).expect("news");
        assert_eq!(after(&first, 60, "m", 5_000), None);
        assert_eq!(after(&first, 30, "m", 5_000), None);
        assert_eq!(after(&first, 90, "m", 999), None);
        let higher = after(&first, 90, "m", 1_000).expect("news");
        let [learned] = higher.of(&scope("m")) else {
            panic!("one of a meter and period: {higher:?}");
        };
        assert_eq!(learned.amount.get(), 90);
        assert_eq!(higher.of(&scope("other")), []);
    }

    #[test]
    fn there_is_a_bound() {
        let mut book = LearnedLimits::default();
        for index in 0..=MODELS_MAX {
            let model = index.to_string();
            let news = after(&book, 60, &model, 0);
            assert_eq!(news.is_some(), index < MODELS_MAX);
            book = news.unwrap_or(book);
        }
        book.retain(|limit| limit.name.contains(" 7 "));
        assert_eq!(book.scopes().collect::<Vec<_>>(), [&scope("7")]);
    }
}
