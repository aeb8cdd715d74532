//! What one model's tokens are worth, learned from what its provider counted.
//!
//! A factor for each part of a request (words, digits, marks, each script, definitions, images), not one for all: vocabularies
//! agree on English and differ threefold on Korean, and one model gets both. The factors follow the error of each request in
//! proportion to what each part had in it (normalised least mean squares: no matrix, nothing to go singular, and a part that did
//! not occur is not moved); some of the last requests are learned from again each time, which brings parts apart that always come
//! together. An error counts up to a quarter of the estimate, so that an answer counted strangely moves little. All in integers.

use crate::Ratios;
use crate::estimate::{PARTS, Parts, TOKEN};

/// A factor of one.
const ONE: i128 = 1 << 20;
/// Factors stay within these.
const FACTOR_MIN: i128 = ONE / 8;
const FACTOR_MAX: i128 = ONE * 8;
/// The share of an error that one request mends, as a divisor.
const STEP: i128 = 10;
/// The share of the estimate that an error counts for at most, as a divisor.
const ERROR_MAX: i128 = 4;
/// So many requests are kept to learn from again.
const KEPT: usize = 64;
/// So many of them with each new one.
const AGAIN: usize = 4;
/// A larger part than this, of a billion tokens, counts as so large.
const PART_MAX: u64 = 1 << 40;
/// Fewer requests tell no margin.
const SEEN_MIN: u32 = 32;
/// So many of a hundred requests are not above the upper estimate.
const UPPER: u64 = 99;

/// What a request is expected to use, in tokens of input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expected {
    /// As likely too high as too low: for context lengths and spend.
    pub central: u64,
    /// What 99 of 100 requests do not exceed: for what is reserved. The same as `central` until enough was learned.
    pub upper: u64,
}

/// What was learned of one model. Memory is bounded: some 8 KB.
///
/// ```
/// use sluicegate_dialect::{Calibration, Parts, TextTally};
/// let mut text = TextTally::default();
/// text.add("안녕하세요".as_bytes());
/// let parts = Parts::of_text(&text);
/// let mut calibration = Calibration::default();
/// assert_eq!(calibration.expected(&parts).central, 4);
/// for _ in 0..200 {
///     calibration.learn(&parts, 8);
/// }
/// assert_eq!(calibration.expected(&parts).central, 8);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Calibration {
    factors: [i128; PARTS],
    kept: Vec<Sample>,
    /// Requests learned from so far, which also says whose place the next one takes.
    learned: usize,
    /// The kept request that is next to be learned from again.
    again: usize,
    errors: Ratios,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sample {
    parts: [i128; PARTS],
    /// In 1,024ths of a token.
    actual: i128,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            factors: [ONE; PARTS],
            kept: Vec::new(),
            learned: 0,
            again: 0,
            errors: Ratios::default(),
        }
    }
}

impl Calibration {
    /// What a request of these `parts` is expected to use.
    pub fn expected(&self, parts: &Parts) -> Expected {
        let central = self.central(&bounded(parts));
        let upper = if self.errors.seen() < SEEN_MIN {
            central
        } else {
            self.errors.raise(central, UPPER).max(central)
        };
        Expected { central, upper }
    }

    /// A request of these `parts` used `actual` tokens of input, whether its provider says so or its vocabulary. Zero is no count.
    pub fn learn(&mut self, parts: &Parts, actual: u64) {
        let parts = bounded(parts);
        let central = self.central(&parts);
        if actual == 0 || central == 0 {
            return;
        }
        self.errors.record(actual, central);
        let sample = Sample {
            parts,
            actual: i128::from(actual.min(PART_MAX)) * i128::from(TOKEN),
        };
        self.mend(&sample);
        for _ in 0..AGAIN.min(self.kept.len()) {
            self.again = (self.again + 1) % self.kept.len();
            let sample = self.kept[self.again];
            self.mend(&sample);
        }
        if self.kept.len() < KEPT {
            self.kept.push(sample);
        } else {
            self.kept[self.learned % KEPT] = sample;
        }
        self.learned = self.learned.wrapping_add(1);
        if self.learned == KEPT {
            self.forget_beginning();
        }
    }

    /// How wrong the factors were before they were learned says nothing of how wrong they are.
    fn forget_beginning(&mut self) {
        self.errors = Ratios::default();
        for sample in &self.kept {
            let (actual, central) = (
                sample.actual / i128::from(TOKEN),
                self.central(&sample.parts),
            );
            let actual = u64::try_from(actual).expect("it was made from a number of tokens");
            self.errors.record(actual, central);
        }
    }

    fn mend(&mut self, sample: &Sample) {
        let estimate = self.weigh(&sample.parts);
        let squares: i128 = sample.parts.iter().map(|part| part * part).sum();
        if squares == 0 {
            return;
        }
        let most = estimate / ERROR_MAX;
        let error = (sample.actual - estimate).clamp(-most, most);
        for (factor, part) in self.factors.iter_mut().zip(sample.parts) {
            let change = error * part * ONE / (squares * STEP);
            *factor = (*factor + change).clamp(FACTOR_MIN, FACTOR_MAX);
        }
    }

    /// In tokens, rounded up.
    fn central(&self, parts: &[i128; PARTS]) -> u64 {
        let tokens = u64::try_from(self.weigh(parts)).map(|weight| weight.div_ceil(TOKEN));
        tokens.expect(
            "twelve parts of at most 2^40, times eight, are below 2^47 and none is negative",
        )
    }

    /// In 1,024ths of a token.
    fn weigh(&self, parts: &[i128; PARTS]) -> i128 {
        let weighed = self.factors.iter().zip(parts);
        weighed.map(|(factor, part)| factor * part).sum::<i128>() / ONE
    }
}

fn bounded(parts: &Parts) -> [i128; PARTS] {
    parts.0.map(|part| i128::from(part.min(PART_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TextTally;
    use proptest::prelude::*;

    fn of(text: &str) -> Parts {
        let mut tally = TextTally::default();
        tally.add(text.as_bytes());
        Parts::of_text(&tally)
    }

    #[test]
    fn what_is_learned_of_one_script_leaves_another_alone() {
        let (korean, english) = (of(&"한국".repeat(100)), of(&"some words ".repeat(100)));
        let mut calibration = Calibration::default();
        let before = calibration.expected(&english);
        let thrice = 3 * calibration.expected(&korean).central;
        for _ in 0..300 {
            calibration.learn(&korean, thrice);
        }
        let after = calibration.expected(&korean).central;
        assert!(
            after.abs_diff(thrice) * 100 <= thrice,
            "{after} of {thrice}"
        );
        assert_eq!(calibration.expected(&english).central, before.central);
    }

    #[test]
    fn an_answer_counted_strangely_moves_little() {
        let parts = of(&"some words ".repeat(100));
        let mut calibration = Calibration::default();
        let usual = calibration.expected(&parts).central;
        for round in 0..400 {
            calibration.learn(
                &parts,
                if round % 20 == 0 {
                    1_000 * usual
                } else {
                    usual
                },
            );
        }
        let after = calibration.expected(&parts).central;
        assert!(after.abs_diff(usual) * 25 <= usual, "{after} of {usual}");
    }

    #[test]
    fn the_margin_waits_until_enough_was_seen() {
        let parts = of(&"some words ".repeat(100));
        let mut calibration = Calibration::default();
        let usual = calibration.expected(&parts).central;
        for seen in 0..100 {
            let expected = calibration.expected(&parts);
            assert_eq!(
                expected.upper > expected.central,
                seen >= SEEN_MIN,
                "{seen}"
            );
            calibration.learn(
                &parts,
                if seen % 2 == 0 {
                    usual * 9 / 10
                } else {
                    usual * 11 / 10
                },
            );
        }
    }

    proptest! {
        #[test]
        fn nothing_overflows(parts in prop::array::uniform13(any::<u64>()), counts in prop::collection::vec(any::<u64>(), 1..80)) {
            let parts = Parts(parts);
            let mut calibration = Calibration::default();
            for count in counts {
                calibration.learn(&parts, count);
                let expected = calibration.expected(&parts);
                prop_assert!(expected.upper >= expected.central);
            }
        }
    }
}
