//! When a call may start at the earliest, found by trying instants one after the other.
//!
//! Everything that ever started is kept and added up anew for every instant that is tried. Slow and
//! without a thought in it, so that it can be read once and believed; no code and no idea is shared
//! with what it judges. It knows calls that arrive the moment they start.

/// A rule to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// No window that begins at a multiple of `per` nanoseconds holds more than `amount`.
    Aligned {
        /// The window's length in nanoseconds.
        per: u64,
        /// What it holds.
        amount: u64,
    },
    /// A bucket of `amount` that is full at first and refills evenly, an empty one in `per`
    /// nanoseconds.
    Bucket {
        /// The time in which it fills, in nanoseconds.
        per: u64,
        /// What it holds.
        amount: u64,
    },
    /// No interval of `per` nanoseconds, its end not included, holds more than `amount`, wherever
    /// it begins.
    Anywhere {
        /// The interval's length in nanoseconds.
        per: u64,
        /// What it holds.
        amount: u64,
    },
}

/// Everything that started, and the rules: each with the sizes that it counts, in one order.
#[derive(Clone, Debug)]
pub struct Books<const RULES: usize> {
    rules: [Rule; RULES],
    starts: Vec<(u64, [u64; RULES])>,
}

impl<const RULES: usize> Books<RULES> {
    /// Nothing started yet.
    pub fn new(rules: [Rule; RULES]) -> Self {
        Self {
            rules,
            starts: Vec::new(),
        }
    }

    /// A call of these `sizes` started at `at`.
    pub fn started(&mut self, at: u64, sizes: [u64; RULES]) {
        self.starts.push((at, sizes));
    }

    /// The first instant, not before `from`, at which a call of these `sizes` breaks no rule.
    /// `None` where it never will.
    ///
    /// The only instants worth trying are `from` itself, those at which a window begins, and those
    /// at which something that started is a whole length old: between two of them nothing changes.
    pub fn earliest(&self, from: u64, sizes: [u64; RULES]) -> Option<u64> {
        let mut instants = vec![from];
        for (index, rule) in self.rules.into_iter().enumerate() {
            match rule {
                // What was started by now counts in no window but those up to its own.
                Rule::Aligned { per, .. } => {
                    let last = self
                        .starts
                        .iter()
                        .map(|start| start.0)
                        .max()
                        .unwrap_or(from);
                    let edges = (from / per + 1)..=(last.max(from) / per + 1);
                    instants.extend(edges.map(|edge| edge * per));
                }
                Rule::Anywhere { per, .. } => {
                    instants.extend(self.starts.iter().map(|start| start.0 + per));
                }
                Rule::Bucket { per, .. } => {
                    let last = self.starts.iter().map(|start| start.0).max();
                    let first = last.unwrap_or(from).max(from);
                    instants.push(first_at_which(first..first + per, |at| {
                        self.rule_holds(index, at, sizes)
                    }));
                }
            }
        }
        instants.sort_unstable();
        instants
            .into_iter()
            .filter(|at| *at >= from)
            .find(|at| self.holds(*at, sizes))
    }

    fn holds(&self, at: u64, sizes: [u64; RULES]) -> bool {
        (0..RULES).all(|rule| self.rule_holds(rule, at, sizes))
    }

    fn rule_holds(&self, rule: usize, at: u64, sizes: [u64; RULES]) -> bool {
        let starts = || {
            self.starts
                .iter()
                .map(|(start, sizes)| (*start, sizes[rule]))
        };
        let size = sizes[rule];
        match self.rules[rule] {
            Rule::Aligned { per, amount } => {
                let inside = starts().filter(|(start, _)| start / per == at / per);
                inside.map(|(_, size)| size).sum::<u64>() + size <= amount
            }
            Rule::Anywhere { per, amount } => {
                let inside = starts().filter(|(start, _)| *start <= at && at - start < per);
                inside.map(|(_, size)| size).sum::<u64>() + size <= amount
            }
            Rule::Bucket { per, amount } => {
                // In tokens times `per`, of which `amount` drain away in a nanosecond.
                let (per, amount) = (u128::from(per), u128::from(amount));
                let (mut used, mut seen) = (0_u128, 0);
                for (start, size) in starts().chain([(at, size)]) {
                    let drained = u128::from(start.saturating_sub(seen)) * amount;
                    used = used.saturating_sub(drained) + u128::from(size) * per;
                    seen = start;
                }
                used <= amount * per
            }
        }
    }
}

/// The first of `instants` at which `holds`, which stays true from then on; their end, where it is
/// true at none.
fn first_at_which(instants: std::ops::Range<u64>, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (instants.start, instants.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn the_later_of_two_rules_decides() {
        let minute = Rule::Aligned {
            per: 60 * S,
            amount: 100,
        };
        let second = Rule::Anywhere { per: S, amount: 2 };
        let mut books = Books::new([minute, second]);
        books.started(50 * S, [60, 1]);
        books.started(50 * S + 7, [10, 1]);
        assert_eq!(books.earliest(50 * S + 8, [30, 1]), Some(51 * S));
        assert_eq!(books.earliest(50 * S + 8, [31, 1]), Some(60 * S));
        assert_eq!(books.earliest(52 * S, [30, 2]), Some(52 * S));
        assert_eq!(books.earliest(50 * S + 8, [1, 2]), Some(51 * S + 7));
        assert_eq!(books.earliest(52 * S, [101, 1]), None);
    }

    #[test]
    fn a_bucket_holds_enough_after_what_is_missing_has_dripped_in() {
        let rule = Rule::Bucket {
            per: 60 * S,
            amount: 60,
        };
        let mut books = Books::new([rule]);
        books.started(10 * S, [60]);
        assert_eq!(books.earliest(10 * S, [7]), Some(17 * S));
        books.started(17 * S, [7]);
        assert_eq!(books.earliest(40 * S, [1]), Some(40 * S));
        // However long it drips, it never holds more than sixty.
        assert_eq!(books.earliest(500 * S, [60]), Some(500 * S));
        assert_eq!(books.earliest(500 * S, [61]), None);
    }
}
