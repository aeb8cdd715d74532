//! What each model's tokens are worth, learned from what its provider counted, and how far estimates were off.
//!
//! One calibration for each deployment and model that was asked for, since a wildcard stands for models that differ. It outlives the
//! configuration: a vocabulary does not change because a limit was edited. As with the lengths of answers, a name comes into the
//! book only with an answer of that model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sluicegate_dialect::{Calibration, Expected, Parts};

use crate::answer_lengths::Asked;
use crate::metrics::{Estimate, Metrics};

/// So many models are remembered, of some 8 KB each.
const MODELS_MAX: usize = 1_024;

/// What is known of the tokens of models.
#[derive(Debug)]
pub(crate) struct Calibrations {
    book: Mutex<Book>,
    metrics: Arc<Metrics>,
}

#[derive(Debug, Default)]
struct Book {
    models: BTreeMap<Asked, Learned>,
    /// Counts that were learned from so far.
    learned: u64,
}

#[derive(Debug, Default)]
struct Learned {
    calibration: Calibration,
    /// When the last count came, in counts.
    last: u64,
}

impl Calibrations {
    pub(crate) fn new(metrics: &Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self {
            book: Mutex::default(),
            metrics: Arc::clone(metrics),
        })
    }

    /// What a request of these `parts` is expected to use of input there.
    pub(crate) fn expected(&self, asked: &Asked, parts: &Parts) -> Expected {
        let book = self.book();
        match book.models.get(asked) {
            Some(learned) => learned.calibration.expected(parts),
            None => {
                let tokens = parts.tokens();
                Expected {
                    central: tokens,
                    upper: tokens,
                }
            }
        }
    }

    /// The `provider` counted `tokens` of input for a request of these `parts`, of which `expected` were expected.
    pub(crate) fn settled(
        &self,
        provider: &str,
        asked: &Asked,
        parts: &Parts,
        expected: u64,
        tokens: u64,
    ) {
        self.metrics.estimated(
            &Estimate {
                provider: provider.to_owned(),
                model: asked.deployment.clone(),
                estimate: "tokens",
            },
            expected,
            tokens,
        );
        self.learn(asked, parts, tokens);
    }

    /// A request of these `parts`, or a text, makes `tokens` there.
    pub(crate) fn learn(&self, asked: &Asked, parts: &Parts, tokens: u64) {
        if tokens == 0 {
            return;
        }
        let book = &mut *self.book();
        book.learned += 1;
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
        learned.last = book.learned;
        learned.calibration.learn(parts, tokens);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Whatever panicked there, an estimate that is a little off is better than no answers.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Makes room by what has had no count for the longest time.
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
    use sluicegate_dialect::TextTally;

    fn asked(model: &str) -> Asked {
        Asked {
            deployment: "*".to_owned(),
            model: model.to_owned(),
        }
    }

    fn words() -> Parts {
        let mut text = TextTally::default();
        text.add("a few words ".repeat(100).as_bytes());
        Parts::of_text(&text)
    }

    #[test]
    fn each_model_of_a_wildcard_has_its_own_tokens() {
        let (book, parts) = (Calibrations::new(&Metrics::new()), words());
        let usual = parts.tokens();
        for _ in 0..100 {
            let expected = book.expected(&asked("dear"), &parts).central;
            book.settled("p", &asked("dear"), &parts, expected, 2 * usual);
        }
        let dear = book.expected(&asked("dear"), &parts).central;
        assert!(dear.abs_diff(2 * usual) * 50 <= usual, "{dear} of {usual}");
        assert_eq!(book.expected(&asked("other"), &parts).central, usual);
        book.settled("p", &asked("silent"), &parts, usual, 0);
        assert_eq!(book.book().models.len(), 1);
    }

    #[test]
    fn the_longest_unused_makes_room() {
        let (book, parts) = (Calibrations::new(&Metrics::new()), words());
        for model in 0..=MODELS_MAX {
            book.learn(&asked(&model.to_string()), &parts, 1);
        }
        let models = &book.book().models;
        assert_eq!(models.len(), MODELS_MAX);
        assert!(!models.contains_key(&asked("0")));
    }
}
