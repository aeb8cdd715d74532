//! How long each deployment's answers are, learned from what they were.
//!
//! One sketch for each deployment and model that was asked for, since a wildcard stands for models that differ. It outlives the
//! configuration: what a model writes does not change because a limit was edited. A name comes into the book only with an answer of
//! that model, so no client can fill it with names that it made up; the bound is for providers that serve very many.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many models are remembered.
const MODELS_MAX: usize = 1_024;
/// So many routes of the configuration.
const ROUTES_MAX: usize = 1_024;

/// What is known of the length of answers.
#[derive(Debug, Default)]
pub(crate) struct AnswerLengths(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    models: BTreeMap<Asked, Learned>,
    /// By the name of the route in the configuration, whatever model answered.
    routes: BTreeMap<Arc<str>, sluicegate_core::AnswerLengths>,
    /// Answers so far.
    recorded: u64,
}

/// What was asked, by the configuration's name and the client's.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Asked {
    pub(crate) deployment: String,
    pub(crate) model: String,
}

#[derive(Debug, Default)]
struct Learned {
    lengths: sluicegate_core::AnswerLengths,
    /// What follows from them, kept because it is asked for with every request.
    expected: Option<u64>,
    /// When the last answer came, counted in answers.
    last: u64,
}

/// How an answer ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// By itself, each of its sequences.
    Own,
    /// At its maximum, one of its sequences at least.
    Cut,
}

impl AnswerLengths {
    /// How long one answer is expected to be, in tokens; `None` where too little was seen.
    pub(crate) fn expected(&self, asked: &Asked) -> Option<u64> {
        self.book().models.get(asked)?.expected
    }

    /// An answer of `tokens` has come.
    pub(crate) fn record(&self, asked: &Asked, tokens: u64, ending: Ending) {
        let book = &mut *self.book();
        book.recorded += 1;
        if !book.models.contains_key(asked) {
            if book.models.len() >= MODELS_MAX {
                book.forget_one();
            }
            book.models.insert(asked.clone(), Learned::default());
        }
        let learned = book
            .models
            .get_mut(asked)
            .expect("it was there or has just been put there");
        learned.last = book.recorded;
        add(&mut learned.lengths, tokens, ending);
        learned.expected = learned.lengths.expected();
    }

    /// An answer of `tokens` has come on `route`, whatever model answered. Routes beyond the bound, after many reloads that renamed
    /// them, are not recorded.
    pub(crate) fn record_of_route(&self, route: &Arc<str>, tokens: u64, ending: Ending) {
        let routes = &mut self.book().routes;
        if let Some(lengths) = routes.get_mut(route) {
            add(lengths, tokens, ending);
        } else if routes.len() < ROUTES_MAX {
            let lengths = routes.entry(Arc::clone(route)).or_default();
            add(lengths, tokens, ending);
        }
    }

    /// The maximum of output to recommend for each route that has shown enough of its answers.
    pub(crate) fn recommended_caps(&self) -> Vec<(Arc<str>, u64)> {
        let book = self.book();
        let caps = book.routes.iter();
        let caps = caps
            .filter_map(|(route, lengths)| Some((Arc::clone(route), lengths.recommended_cap()?)));
        caps.collect()
    }

    /// What is expected of each deployment that has learned something: the longest of its models, by the deployment's name.
    pub(crate) fn by_deployment(&self) -> BTreeMap<String, u64> {
        let mut longest = BTreeMap::new();
        for (asked, learned) in &self.book().models {
            if let Some(expected) = learned.expected {
                let entry = longest.entry(asked.deployment.clone()).or_insert(0);
                *entry = expected.max(*entry);
            }
        }
        longest
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Whatever panicked there, an estimate that is a little off is better than no answers.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(lengths: &mut sluicegate_core::AnswerLengths, tokens: u64, ending: Ending) {
    match ending {
        Ending::Own => lengths.record(tokens),
        Ending::Cut => lengths.record_cut(tokens),
    }
}

impl Book {
    /// Makes room by what has had no answer for the longest time.
    fn forget_one(&mut self) {
        let oldest = self.models.iter().min_by_key(|(_, learned)| learned.last);
        if let Some(asked) = oldest.map(|(asked, _)| asked.clone()) {
            self.models.remove(&asked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(deployment: &str, model: &str) -> Asked {
        Asked {
            deployment: deployment.to_owned(),
            model: model.to_owned(),
        }
    }

    #[test]
    fn each_model_of_a_wildcard_has_its_own_length() {
        let book = AnswerLengths::default();
        let (short, long) = (asked("*", "short"), asked("*", "long"));
        for _ in 0..32 {
            book.record(&short, 3, Ending::Own);
            book.record(&long, 31, Ending::Own);
        }
        assert_eq!(book.expected(&short), Some(3));
        assert_eq!(book.expected(&long), Some(31));
        assert_eq!(book.expected(&asked("*", "other")), None);
        assert_eq!(book.by_deployment(), [("*".to_owned(), 31)].into());
    }

    #[test]
    fn a_route_has_a_cap_to_recommend_when_enough_was_seen() {
        let book = AnswerLengths::default();
        let route: Arc<str> = "summary".into();
        for _ in 0..31 {
            book.record_of_route(&route, 500, Ending::Own);
        }
        assert_eq!(book.recommended_caps(), []);
        book.record_of_route(&route, 500, Ending::Own);
        assert_eq!(book.recommended_caps(), [(route, 614)]);
    }

    #[test]
    fn answers_that_were_all_cut_tell_nothing() {
        let book = AnswerLengths::default();
        let model = asked("m", "m");
        for _ in 0..100 {
            book.record(&model, 16, Ending::Cut);
        }
        assert_eq!(book.expected(&model), None);
    }

    #[test]
    fn the_longest_unused_makes_room() {
        let book = AnswerLengths::default();
        let model = |index: usize| asked("*", &index.to_string());
        for index in 0..MODELS_MAX {
            for _ in 0..32 {
                book.record(&model(index), 5, Ending::Own);
            }
        }
        book.record(&model(0), 5, Ending::Own);
        book.record(&model(MODELS_MAX), 5, Ending::Own);
        assert_eq!(book.expected(&model(0)), Some(5));
        assert_eq!(book.expected(&model(1)), None);
        assert_eq!(book.expected(&model(2)), Some(5));
    }
}
