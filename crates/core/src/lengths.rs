//! How long answers are: a sketch of lengths from which quantiles are read.
//!
//! Where a provider counts output as it is produced, a request should be admitted for what its answer will be and not for what it
//! may be. The sketch counts lengths in buckets whose width is a sixteenth of an octave, so that it has one size whatever it
//! sees, and what it says is at most 1/16 too high and never too low. Old answers fade by halving, not by time: it needs no
//! clock, and a model that is seldom asked does not forget what little it showed.
//!
//! An answer that its request's maximum cut says only that it would have been at least so long. Counted as if it had ended
//! there, a sketch fed by small maxima would promise short answers to requests that allow long ones; left out, it would forget
//! the long ones. So quantiles are those of the product-limit estimator (Kaplan and Meier, 1958), which weighs both kinds of answer as
//! what they are, in integers.

use alloc::boxed::Box;

use crate::BasisPoints;

/// Buckets of one octave.
const PARTS: u64 = 1 << PARTS_LOG2;
const PARTS_LOG2: u32 = 4;
/// Longer answers count as so long: no model writes more than a million tokens.
const LENGTH_MAX: u64 = (1 << LENGTH_BITS) - 1;
const LENGTH_BITS: usize = 20;
/// Each length below [`PARTS`] alone, then every octave up to the largest in parts.
const BUCKETS: usize = (LENGTH_BITS - PARTS_LOG2 as usize + 1) << PARTS_LOG2;
/// What one answer weighs when it comes. A bucket of answers is empty after as many halvings as their weight has bits.
const WEIGHT: u32 = 1 << 10;
/// After so many answers, everything that was seen weighs half.
const HALVED_AFTER: u32 = 256;
/// Fewer answers tell nothing.
const SEEN_MIN: u32 = 32;
/// The whole, of shares that are multiplied.
const WHOLE: u64 = 1 << 32;

/// The lengths of answers that were seen, recent ones most.
///
/// ```
/// use sluicegate_core::{AnswerLengths, BasisPoints};
/// let mut lengths = AnswerLengths::default();
/// let nine_of_ten = BasisPoints::new(9_000).expect("a share");
/// for length in 1..=31 {
///     lengths.record(length);
/// }
/// assert_eq!(lengths.quantile(nine_of_ten), None, "too few were seen");
/// lengths.record(32);
/// assert_eq!(lengths.quantile(nine_of_ten), Some(29));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnswerLengths {
    /// Answers that ended by themselves, by bucket.
    ended: Box<[u32; BUCKETS]>,
    /// Answers that were cut there, by bucket.
    cut: Box<[u32; BUCKETS]>,
    /// Answers until the next halving.
    until_halving: u32,
    /// Answers seen so far, as far as it matters.
    seen: u32,
}

impl Default for AnswerLengths {
    fn default() -> Self {
        Self {
            ended: Box::new([0; BUCKETS]),
            cut: Box::new([0; BUCKETS]),
            until_halving: HALVED_AFTER,
            seen: 0,
        }
    }
}

impl AnswerLengths {
    /// An answer ended by itself after `tokens`.
    pub fn record(&mut self, tokens: u64) {
        self.fade();
        let weight = &mut self.ended[bucket(tokens)];
        *weight = weight.saturating_add(WEIGHT);
    }

    /// An answer was cut after `tokens`, by the maximum of its request for instance: it would have been at least so long.
    pub fn record_cut(&mut self, tokens: u64) {
        self.fade();
        let weight = &mut self.cut[bucket(tokens)];
        *weight = weight.saturating_add(WEIGHT);
    }

    /// The length to admit a request for: that of nine of ten answers, or the mean where a few very long ones make it more.
    ///
    /// What a window sees is the sum of many answers, so the mean would be right on average, and settling corrects every
    /// request to what it was. But until then nothing corrects it: what is too little is a refusal by the provider, what is
    /// too much is given back within one answer's time. So it is a high quantile, and not a higher one, which would follow the
    /// maxima that clients name. `None` where [`quantile`](Self::quantile) is.
    pub fn expected(&self) -> Option<u64> {
        let nine_of_ten = BasisPoints::new(9_000)?;
        Some(self.quantile(nine_of_ten)?.max(self.mean()?))
    }

    /// A maximum of output to recommend for requests like these: that of 99 of 100 answers and a fifth more, so that a cut stays
    /// rare when answers grow a little. `None` where [`quantile`](Self::quantile) is: where more than that were cut, nobody knows
    /// how long they would have been.
    ///
    /// ```
    /// use sluicegate_core::AnswerLengths;
    /// let mut lengths = AnswerLengths::default();
    /// (0..1_000).for_each(|_| lengths.record(500));
    /// assert_eq!(lengths.recommended_cap(), Some(614), "511, as exact as the sketch is, and a fifth");
    /// ```
    pub fn recommended_cap(&self) -> Option<u64> {
        let nearly_all = BasisPoints::new(9_900)?;
        // An answer of nothing still needs a maximum.
        let length = self.quantile(nearly_all)?.max(1);
        Some(length + length.div_ceil(5))
    }

    /// The length that `share` of the answers do not exceed, at most 1/16 too high. `None` while too few were seen, and where so
    /// many were cut that nobody can tell.
    pub fn quantile(&self, share: BasisPoints) -> Option<u64> {
        if self.seen < SEEN_MIN {
            return None;
        }
        let longer = WHOLE - share.of(WHOLE);
        self.steps()
            .find(|step| step.longer <= longer)
            .map(|step| step.length)
    }

    /// The mean length, at most 1/16 too high. What was cut beyond all that ended counts as having ended with the longest of them,
    /// so it means little where [`quantile`](Self::quantile) of a high share is not known. `None` while too few were seen.
    pub fn mean(&self) -> Option<u64> {
        if self.seen < SEEN_MIN {
            return None;
        }
        let (mut sum, mut longer, mut longest) = (0_u128, WHOLE, 0);
        for step in self.steps() {
            sum += u128::from(step.length) * u128::from(longer - step.longer);
            (longer, longest) = (step.longer, step.length);
        }
        sum += u128::from(longest) * u128::from(longer);
        u64::try_from(sum.div_ceil(u128::from(WHOLE))).ok()
    }

    /// The share of answers that are longer, after each length at which some ended.
    fn steps(&self) -> impl Iterator<Item = Step> {
        let sum = |weights: &[u32]| weights.iter().map(|weight| u64::from(*weight)).sum::<u64>();
        let mut at_risk = sum(&self.ended[..]) + sum(&self.cut[..]);
        let mut longer = WHOLE;
        let buckets = self.ended.iter().zip(&self.cut[..]).enumerate();
        buckets.filter_map(move |(bucket, (ended, cut))| {
            let stay = at_risk - u64::from(*ended);
            let step = (*ended > 0).then(|| {
                // Rounded up: a share that is too large makes a length too high, which is the safe side.
                longer = (longer * stay).div_ceil(at_risk);
                Step {
                    length: longest_of(bucket),
                    longer,
                }
            });
            at_risk = stay - u64::from(*cut);
            step
        })
    }

    fn fade(&mut self) {
        self.seen = self.seen.saturating_add(1);
        self.until_halving -= 1;
        if self.until_halving == 0 {
            self.until_halving = HALVED_AFTER;
            for weight in self.ended.iter_mut().chain(self.cut.iter_mut()) {
                *weight /= 2;
            }
        }
    }
}

struct Step {
    length: u64,
    /// Of all answers, so many are longer.
    longer: u64,
}

fn bucket(tokens: u64) -> usize {
    let tokens = tokens.min(LENGTH_MAX);
    if tokens < PARTS {
        return index(tokens);
    }
    let octave = tokens.ilog2() - PARTS_LOG2;
    index(u64::from(octave) * PARTS + (tokens >> octave))
}

/// The largest length of a bucket.
fn longest_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < PARTS {
        return bucket;
    }
    let octave = bucket / PARTS - 1;
    let part = bucket % PARTS + PARTS;
    ((part + 1) << octave) - 1
}

fn index(bucket: u64) -> usize {
    usize::try_from(bucket).expect("there are a few hundred buckets")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(points: u16) -> BasisPoints {
        BasisPoints::new(points).expect("a share")
    }

    fn fed(lengths: impl IntoIterator<Item = u64>) -> AnswerLengths {
        let mut sketch = AnswerLengths::default();
        lengths.into_iter().for_each(|length| sketch.record(length));
        sketch
    }

    #[test]
    fn every_length_is_in_the_bucket_that_ends_at_or_a_little_above_it() {
        for tokens in (0..5_000).chain([65_535, 65_536, 1_000_000, LENGTH_MAX]) {
            let longest = longest_of(bucket(tokens));
            assert!(longest >= tokens, "{tokens}: {longest}");
            assert!((longest - tokens) * PARTS <= tokens, "{tokens}: {longest}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(longest_of(BUCKETS - 1), LENGTH_MAX);
    }

    #[test]
    fn quantiles_and_the_mean_are_near_and_never_low() {
        let lengths = fed((1..=100).map(|hundreds| hundreds * 100));
        for (points, exact) in [(100, 100), (5_000, 5_000), (9_000, 9_000), (10_000, 10_000)] {
            let quantile = lengths.quantile(share(points)).expect("enough were seen");
            assert!(
                (exact..=exact + exact / 16).contains(&quantile),
                "{points}: {quantile}"
            );
        }
        let mean = lengths.mean().expect("enough were seen");
        assert!((5_050..=5_050 + 5_050 / 16).contains(&mean), "{mean}");
    }

    #[test]
    fn rare_long_answers_are_in_the_mean_before_they_are_in_the_quantile() {
        let lengths = fed((0..100).map(|at| if at % 20 == 0 { 4_000 } else { 10 }));
        assert_eq!(lengths.quantile(share(9_000)), Some(10));
        // 0.95 * 10 + 0.05 * 4,095, which ends the bucket of 4,000: 214.25.
        assert_eq!(lengths.mean(), Some(215));
        assert_eq!(lengths.expected(), Some(215));
        assert_eq!(fed(1..=32).expected(), Some(29));
    }

    #[test]
    fn a_cut_answer_is_at_least_as_long() {
        // Half of the requests allow 8 tokens only, and none of their answers ended there.
        let mut lengths = AnswerLengths::default();
        for _ in 0..20 {
            lengths.record(4);
            lengths.record(12);
            lengths.record_cut(8);
            lengths.record_cut(8);
        }
        // A quarter ended at 4. Of those that were seen beyond 8, all ended at 12.
        assert_eq!(lengths.quantile(share(2_500)), Some(4));
        assert_eq!(lengths.quantile(share(2_600)), Some(12));
        assert_eq!(lengths.mean(), Some(10));
    }

    #[test]
    fn what_was_never_seen_to_end_is_not_known() {
        let mut lengths = fed([10; 60]);
        for _ in 0..20 {
            lengths.record_cut(1_000);
        }
        assert_eq!(lengths.quantile(share(7_500)), Some(10));
        assert_eq!(lengths.quantile(share(9_000)), None);
    }

    #[test]
    fn old_answers_fade() {
        let mut lengths = fed([15; 1_000]);
        for _ in 0..255 {
            lengths.record(1);
        }
        assert_eq!(lengths.quantile(share(9_000)), Some(15));
        for _ in 0..1_000 {
            lengths.record(1);
        }
        assert_eq!(lengths.quantile(share(9_000)), Some(1));
        // They weighed at most 2 * 256 * 1,024, which has 20 bits.
        for _ in 0..20 * HALVED_AFTER {
            lengths.record(1);
        }
        assert_eq!(lengths.quantile(BasisPoints::WHOLE), Some(1));
    }

    #[test]
    fn a_cap_is_recommended_that_hardly_anything_exceeds() {
        let mut sketch = fed((0..2_000).map(|n| 100 + n % 900));
        let cap = sketch.recommended_cap().expect("enough was seen");
        assert!((1_190..=1_300).contains(&cap), "{cap} for up to 999");
        // One of 200 is far longer: that is what a cap is for.
        (0..2_000).for_each(|n| sketch.record(if n % 200 == 0 { 50_000 } else { 400 }));
        let cap = sketch.recommended_cap().expect("enough was seen");
        assert!(cap < 1_300, "{cap}");
    }

    #[test]
    fn no_cap_is_recommended_where_many_were_cut() {
        let mut sketch = fed((0..200).map(|_| 300));
        (0..20).for_each(|_| sketch.record_cut(512));
        assert_eq!(sketch.recommended_cap(), None);
        assert_eq!(fed([]).recommended_cap(), None);
        assert_eq!(fed((0..50).map(|_| 0)).recommended_cap(), Some(2));
    }
}
