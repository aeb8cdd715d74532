//! The one source of random numbers: of the standard library, which draws the keys of its hash maps from the system's.
//!
//! Good enough to spread retries, and nothing else is to be made of it; the core gets its numbers from here as arguments.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Any number, another one each time.
pub(crate) fn number() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn numbers_differ_in_all_their_bits() {
        let numbers: BTreeSet<u64> = (0..64).map(|_| number()).collect();
        assert_eq!(numbers.len(), 64);
        let ones = numbers.iter().fold(0, |all, number| all | number);
        let zeros = numbers.iter().fold(u64::MAX, |all, number| all & number);
        assert_eq!((ones, zeros), (u64::MAX, 0));
    }
}
