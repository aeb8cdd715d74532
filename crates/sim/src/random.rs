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

    #[test]
    fn purposes_draw_apart() {
        let first = |purpose| Random::new(1, purpose).between(0, u64::MAX);
        assert_ne!(first(Purpose::Workload), first(Purpose::Transit));
        assert_eq!(first(Purpose::Clock), first(Purpose::Clock));
    }
}
