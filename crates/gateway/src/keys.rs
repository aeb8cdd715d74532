//! The keys of one account: whose turn it is, and which of them rest.
//!
//! A key that the provider refuses is benched: the others take its turns for a while, longer with every refusal. A bench only
//! orders, it never empties the row: where all keys rest they are used all the same, since the operator may have mended
//! one meanwhile. It must not know what a refusal looks like, nor who asks.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use sluicegate_config::Secret;
use sluicegate_core::Timestamp;

/// How long a key rests after its first refusal; every further one doubles it.
const REST_FIRST: Duration = Duration::from_secs(5 * 60);
/// The longest rest.
const REST_MAX: Duration = Duration::from_secs(3_600);
/// So much of a key's end tells it from others, and no more is shown.
const SHOWN: usize = 4;
/// A key that is not longer is not shown at all: its end would be too much of it.
const UNSHOWN_MAX: usize = 16;

/// The keys of one account.
#[derive(Debug)]
pub(crate) struct Keys {
    keys: Vec<Key>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct Key {
    value: HeaderValue,
    /// For the log.
    shown: String,
}

#[derive(Debug)]
struct State {
    turn: usize,
    /// By key.
    benches: Vec<Bench>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Bench {
    /// Refusals since it was last accepted.
    refusals: u32,
    since: Timestamp,
    until: Timestamp,
}

/// A key, as of the moment at which it was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chosen {
    key: usize,
    at: Timestamp,
}

impl Keys {
    /// `keys` as the provider wants them in a header.
    ///
    /// # Errors
    ///
    /// The place, from one, of a key that no header can hold.
    pub(crate) fn new(
        keys: &[Secret<String>],
        written: impl Fn(&str) -> String,
    ) -> Result<Self, usize> {
        let key = |(index, key): (usize, &Secret<String>)| -> Result<Key, usize> {
            let key = key.expose();
            let mut value = HeaderValue::try_from(written(key)).map_err(|_| index + 1)?;
            value.set_sensitive(true);
            let shown = shown(index + 1, key);
            Ok(Key { value, shown })
        };
        Ok(Self {
            state: Mutex::new(State {
                turn: 0,
                benches: vec![Bench::default(); keys.len()],
            }),
            keys: keys.iter().enumerate().map(key).collect::<Result<_, _>>()?,
        })
    }

    /// The next key in turn of those that were not `tried` for this call yet; one that rests only where all others were tried or rest
    /// too. `None` where every key was tried.
    pub(crate) fn choose(&self, tried: &[Chosen], now: Timestamp) -> Option<Chosen> {
        let mut state = self.state();
        let untried = |key: &usize| tried.iter().all(|tried| tried.key != *key);
        let keys = || (0..self.keys.len()).filter(untried);
        let awake = |key: &usize| state.benches[*key].until <= now;
        let key = match keys().filter(awake).count() {
            0 => keys().nth(state.turn % keys().count().max(1))?,
            count => keys().filter(awake).nth(state.turn % count)?,
        };
        state.turn = state.turn.wrapping_add(1);
        Some(Chosen { key, at: now })
    }

    /// How the provider gets it.
    pub(crate) fn value(&self, chosen: Chosen) -> &HeaderValue {
        &self.keys[chosen.key].value
    }

    /// How the log names it: by its place and at most its last four characters.
    pub(crate) fn shown(&self, chosen: Chosen) -> &str {
        &self.keys[chosen.key].shown
    }

    /// The provider refused it. How long it rests, where that is news: of many calls that were under way with it, one benches it.
    pub(crate) fn refused(&self, chosen: Chosen, now: Timestamp) -> Option<Duration> {
        let bench = &mut self.state().benches[chosen.key];
        if now < bench.until {
            return None;
        }
        let doubled = 1_u32.checked_shl(bench.refusals).unwrap_or(u32::MAX);
        let rest = REST_FIRST.saturating_mul(doubled).min(REST_MAX);
        *bench = Bench {
            refusals: bench.refusals.saturating_add(1),
            since: now,
            until: now.saturating_add(rest),
        };
        Some(rest)
    }

    /// The provider took it: it rests no longer, unless it was benched after it was chosen.
    pub(crate) fn accepted(&self, chosen: Chosen) {
        let bench = &mut self.state().benches[chosen.key];
        if chosen.at >= bench.since {
            *bench = Bench::default();
        }
    }

    /// Whether there are some and all of them rest.
    pub(crate) fn all_rest(&self, now: Timestamp) -> bool {
        !self.keys.is_empty() && self.benched(now) == self.keys.len()
    }

    /// How many rest.
    pub(crate) fn benched(&self, now: Timestamp) -> usize {
        let state = self.state();
        let resting = state.benches.iter().filter(|bench| bench.until > now);
        resting.count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Turns and benches hold together one by one; whoever panicked broke none of them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shown(place: usize, key: &str) -> String {
    let length = key.chars().count();
    if length <= UNSHOWN_MAX {
        return format!("number {place}");
    }
    let end: String = key.chars().skip(length - SHOWN).collect();
    format!("number {place} (…{end})")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60;

    fn keys<const N: usize>(keys: [&str; N]) -> Keys {
        let keys = keys.map(|key| Secret::new(key.to_owned()));
        Keys::new(&keys, |key| format!("Bearer {key}")).expect("keys that a header holds")
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    /// The keys of the next `count` calls.
    fn turns(keys: &Keys, count: usize, now: Timestamp) -> Vec<usize> {
        let chosen = std::iter::repeat_with(|| keys.choose(&[], now));
        chosen
            .take(count)
            .flatten()
            .map(|chosen| chosen.key)
            .collect()
    }

    #[test]
    fn keys_take_turns_and_one_that_rests_is_passed_over() {
        let keys = keys(["a", "b", "c"]);
        assert_eq!(turns(&keys, 4, at(0)), [0, 1, 2, 0]);
        let b = Chosen { key: 1, at: at(0) };
        assert_eq!(
            keys.refused(b, at(1)),
            Some(Duration::from_secs(5 * MINUTE))
        );
        let mut passed = turns(&keys, 4, at(2));
        passed.sort_unstable();
        assert_eq!(passed, [0, 0, 2, 2], "the others share its turns");
        assert_eq!(keys.benched(at(2)), 1);
        assert!(!keys.all_rest(at(2)));
        assert_eq!(keys.benched(at(5 * MINUTE + 1)), 0);
        assert!(turns(&keys, 3, at(5 * MINUTE + 1)).contains(&1));
    }

    #[test]
    fn a_rest_doubles_up_to_an_hour_and_is_forgotten_once_accepted() {
        let keys = keys(["a"]);
        let mut now = at(0);
        for minutes in [5, 10, 20, 40, 60, 60] {
            let rest = Duration::from_secs(minutes * MINUTE);
            let chosen = keys.choose(&[], now).expect("it is used though it rests");
            assert_eq!(keys.refused(chosen, now), Some(rest));
            assert_eq!(keys.refused(chosen, now), None, "it rests already");
            assert!(keys.all_rest(now));
            now = now.saturating_add(rest);
        }
        let chosen = keys.choose(&[], now).expect("a key");
        keys.accepted(chosen);
        assert_eq!(keys.refused(chosen, now), Some(REST_FIRST));
    }

    #[test]
    fn an_answer_to_an_earlier_call_frees_no_key_that_was_refused_since() {
        let keys = keys(["a", "b"]);
        let earlier = keys.choose(&[], at(0)).expect("a key");
        let later = Chosen {
            at: at(1),
            ..earlier
        };
        keys.refused(later, at(2));
        keys.accepted(earlier);
        assert_eq!(keys.benched(at(3)), 1);
        keys.accepted(Chosen {
            at: at(3),
            ..earlier
        });
        assert_eq!(keys.benched(at(3)), 0);
    }

    #[test]
    fn a_call_tries_every_key_once_and_those_that_rest_last() {
        let keys = keys(["a", "b", "c"]);
        keys.refused(Chosen { key: 0, at: at(0) }, at(0));
        let mut tried = Vec::new();
        while let Some(chosen) = keys.choose(&tried, at(1)) {
            tried.push(chosen);
        }
        let order: Vec<usize> = tried.iter().map(|chosen| chosen.key).collect();
        assert_eq!(order.len(), 3, "{order:?}");
        assert_eq!(order[2], 0, "{order:?}");
        assert!(keys.choose(&tried, at(1)).is_none());
    }

    #[test]
    fn the_log_shows_four_characters_of_a_long_key_and_none_of_a_short_one() {
        let keys = keys(["sk-0123456789abcdef", "short-key"]);
        let key = |key| Chosen { key, at: at(0) };
        assert_eq!(keys.shown(key(0)), "number 1 (…cdef)");
        assert_eq!(keys.shown(key(1)), "number 2");
        assert_eq!(keys.value(key(1)), "Bearer short-key");
        let printed = format!("{keys:?}");
        assert!(!printed.contains("short-key"), "{printed}");
    }

    #[test]
    fn a_key_that_no_header_holds_is_named_by_its_place() {
        let written = |key: &str| key.to_owned();
        let keys = ["fine", "with\nline end"].map(|key| Secret::new(key.to_owned()));
        assert_eq!(Keys::new(&keys, written).err(), Some(2));
    }
}
