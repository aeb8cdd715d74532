//! The named generator behind everything that is drawn: SplitMix64 (Steele, Lea, Flood, 2014), in
//! integers only.
//!
//! Ten lines of our own rather than a crate of generators: what a seed means must never change with
//! a dependency, and nothing here needs more than the published algorithm. Each purpose draws from
//! a sequence of its own, so that one more draw for one purpose does not move what another one
//! gets.

/// A sequence of numbers that a seed and a purpose determine, the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// What a sequence is drawn for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// When calls come and how large they are.
    Workload,
    /// How long calls are on their way.
    Transit,
    /// How long answers take.
    Answer,
    /// When the wall clock jumps, and how far.
    Clock,
}

impl Random {
    /// The sequence of `seed` for `purpose`.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let mut seeds = Self(seed ^ ((purpose as u64) << 56));
        Self(seeds.draw())
    }

    /// A number from `low` to `high`, both included; `low` where `high` is below it. Uneven by less
    /// than one part in 2^64 over the width.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let width = u128::from(high.saturating_sub(low)) + 1;
        let scaled = (u128::from(self.draw()) * width) >> 64;
        low + u64::try_from(scaled)
            .expect("a product of 64 bits by a width is below the width once shifted")
    }

    /// A gap between happenings that know nothing of each other and are `mean` apart on average; at most sixty times that.
    ///
    /// By comparison alone, without a logarithm (von Neumann, 1951): the length of the first falling run of draws is odd as
    /// often as a gap of less than one mean is to come out.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        let mut whole = 0_u64;
        loop {
            let first = self.draw();
            let (mut last, mut run) = (first, 1_u64);
            loop {
                let next = self.draw();
                if next > last {
                    break;
                }
                last = next;
                run += 1;
            }
            if run % 2 == 1 || whole == 59 {
                let part = (u128::from(first) * u128::from(mean)) >> 64;
                let part = u64::try_from(part).expect("a part of 64 bits is below the whole");
                return mean.saturating_mul(whole).saturating_add(part);
            }
            whole += 1;
        }
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the published algorithm for seed 1234567.
    #[test]
    fn it_is_splitmix64() {
        let mut random = Random(1_234_567);
        assert_eq!(random.draw(), 6_457_827_717_110_365_317);
        assert_eq!(random.draw(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_draw_stays_in_its_bounds_and_reaches_both() {
        let mut random = Random::new(7, Purpose::Transit);
        let drawn: Vec<u64> = (0..200).map(|_| random.between(3, 5)).collect();
        assert_eq!(drawn.iter().min(), Some(&3));
        assert_eq!(drawn.iter().max(), Some(&5));
        assert_eq!(random.between(9, 2), 9);
        random.between(0, u64::MAX);
    }

    /// One in e is longer than the mean, one in e² longer than twice that; the variance is the mean's square.
    #[test]
    fn gaps_of_a_poisson_process_are_exponential() {
        let mut random = Random::new(3, Purpose::Workload);
        let gaps: Vec<u64> = (0..100_000).map(|_| random.exponential(1_000)).collect();
        let sum: u64 = gaps.iter().sum();
        assert!((99_000_000..101_000_000).contains(&sum), "{sum}");
        let squares: u64 = gaps.iter().map(|gap| gap.abs_diff(1_000).pow(2)).sum();
        assert!(
            (97_000_000_000..103_000_000_000).contains(&squares),
            "{squares}"
        );
        for (longer_than, expected) in [(500, 60_653), (1_000, 36_788), (2_000, 13_534)] {
            let longer = gaps.iter().filter(|gap| **gap > longer_than).count();
            assert!(longer.abs_diff(expected) < 600, "{longer_than}: {longer}");
        }
    }

    #[test]
    fn purposes_draw_apart() {
        let first = |purpose| Random::new(1, purpose).between(0, u64::MAX);
        assert_ne!(first(Purpose::Workload), first(Purpose::Transit));
        assert_eq!(first(Purpose::Clock), first(Purpose::Clock));
    }
}
