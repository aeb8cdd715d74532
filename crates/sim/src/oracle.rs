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
        for rule in self.rules {
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
            }
        }
        instants.sort_unstable();
        instants
            .into_iter()
            .filter(|at| *at >= from)
            .find(|at| self.holds(*at, sizes))
    }

    fn holds(&self, at: u64, sizes: [u64; RULES]) -> bool {
        (0..RULES).all(|rule| {
            let (amount, counts): (u64, Box<dyn Fn(u64) -> bool>) = match self.rules[rule] {
                Rule::Aligned { per, amount } => {
                    (amount, Box::new(move |start| start / per == at / per))
                }
                Rule::Anywhere { per, amount } => (
                    amount,
                    Box::new(move |start| start <= at && at - start < per),
                ),
            };
            let counted = self.starts.iter().filter(|(start, _)| counts(*start));
            let before: u64 = counted.map(|(_, sizes)| sizes[rule]).sum();
            before + sizes[rule] <= amount
        })
    }
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
}
