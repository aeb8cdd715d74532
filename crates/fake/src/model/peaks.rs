//! The most that any interval of a log held: what an observer counts afterwards, without knowing how admission decided.

use std::collections::VecDeque;

use crate::Period;

/// The largest sum of amounts in any half-open interval of `per`, wherever it starts. `arrivals` are (time, amount) in
/// order of time.
pub fn peak_in_any(arrivals: impl IntoIterator<Item = (u64, u64)>, per: Period) -> u64 {
    let mut within = VecDeque::new();
    let (mut sum, mut peak) = (0_u64, 0);
    for (at, amount) in arrivals {
        while let Some(&(oldest, gone)) = within.front() {
            if at.saturating_sub(oldest) < per.as_nanos() {
                break;
            }
            sum -= gone;
            within.pop_front();
        }
        within.push_back((at, amount));
        sum += amount;
        peak = peak.max(sum);
    }
    peak
}

/// The largest sum of amounts in any interval that is aligned to multiples of `per`.
pub fn peak_aligned(arrivals: impl IntoIterator<Item = (u64, u64)>, per: Period) -> u64 {
    let (mut window, mut sum, mut peak) = (None, 0_u64, 0);
    for (at, amount) in arrivals {
        let index = at / per.as_nanos();
        if window != Some(index) {
            (window, sum) = (Some(index), 0);
        }
        sum += amount;
        peak = peak.max(sum);
    }
    peak
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn an_edge_hides_from_aligned_windows_but_not_from_any() {
        let arrivals = [(59 * S, 5), (60 * S, 4), (119 * S - 1, 1), (119 * S, 7)];
        assert_eq!(peak_in_any(arrivals, Period::MINUTE), 12);
        assert_eq!(peak_aligned(arrivals, Period::MINUTE), 12);
        let edge = [(59 * S, 5), (61 * S, 5)];
        assert_eq!(peak_in_any(edge, Period::MINUTE), 10);
        assert_eq!(peak_aligned(edge, Period::MINUTE), 5);
    }
}
