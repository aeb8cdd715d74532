//! Wire text that is spoilt in every way: no reader panics, no writer writes what cannot be read, and
//! what comes out is not much more than what went in.
//!
//! Each test below this module is a target: what it is given is a fixture, changed by seed. The ordinary run makes some rounds
//! of each. `SLUICEGATE_FUZZ_SECONDS` asks for as many as there is time for, `SLUICEGATE_FUZZ_SEED` for other ones; a failure
//! prints how to repeat its round alone.

mod envelopes;
mod provider_only;
mod refusals;
mod shapes;
mod spoilt;
mod translations;
mod watchers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::fixtures::{DIALECTS, fixtures};
use spoilt::{Seed, spoilt};

/// Rounds of each target where no time is given.
const ROUNDS: u64 = 1_500;
/// What a process may have taken of memory in the end, whatever was read. Of a target alone it is a fraction of that, and of all
/// of them at once in one process not twice as much.
const PEAK_KIB_MAX: u64 = 512 << 10;

/// Runs `target` on spoilt texts of the fixtures with that ending.
fn fuzz(ending: &str, target: impl Fn(&[u8], &mut Seed)) {
    fuzz_files(DIALECTS.map(|(_, folder, _)| (folder, ending)), target);
}

/// The same with the files of these folders and endings.
fn fuzz_files<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
    target: impl Fn(&[u8], &mut Seed),
) {
    let corpus: Vec<Vec<u8>> = files
        .into_iter()
        .flat_map(|(folder, ending)| fixtures(folder, ending))
        .map(|(_, text)| text)
        .collect();
    fuzz_texts(&corpus, target);
}

/// The same on spoilt texts of `corpus`. Prints what `cargo xtask soak` writes down: rounds, and the most memory in KiB.
#[expect(clippy::print_stdout, reason = "it is the output of a test")]
fn fuzz_texts(corpus: &[Vec<u8>], target: impl Fn(&[u8], &mut Seed)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let base = number("SLUICEGATE_FUZZ_SEED").unwrap_or(0_u64);
    let first = number("SLUICEGATE_FUZZ_FROM").unwrap_or(0);
    let end = Bound::of(number("SLUICEGATE_FUZZ_SECONDS"));
    let mut rounds = 0;
    while end.allows(rounds) {
        let round = first + rounds;
        let mut draws = Seed::of(base.wrapping_mul(1 << 32).wrapping_add(round));
        let text = spoilt(corpus, &mut draws);
        let run = catch_unwind(AssertUnwindSafe(|| target(&text, &mut draws)));
        assert!(
            run.is_ok(),
            "repeat with SLUICEGATE_FUZZ_SEED={base} SLUICEGATE_FUZZ_FROM={round}; the text is {:?}",
            String::from_utf8_lossy(&text)
        );
        rounds += 1;
    }
    let peak_kib = peak_kib();
    println!("fuzz | {rounds} | {peak_kib}");
    assert!(
        peak_kib <= PEAK_KIB_MAX,
        "{peak_kib} KiB of memory were taken; at most {PEAK_KIB_MAX} are needed"
    );
}

/// How long a target goes on.
enum Bound {
    Rounds(u64),
    Until(Instant),
}

impl Bound {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long it goes on is all that the time decides"
    )]
    fn of(seconds: Option<u64>) -> Self {
        seconds.map_or(Self::Rounds(ROUNDS), |seconds| {
            Self::Until(Instant::now() + Duration::from_secs(seconds))
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "how long it goes on is all that the time decides"
    )]
    fn allows(&self, rounds: u64) -> bool {
        match self {
            Self::Rounds(rounds_max) => rounds < *rounds_max,
            Self::Until(end) => Instant::now() < *end,
        }
    }
}

/// The most memory that this process has had at once; 0 where the system does not say.
fn peak_kib() -> u64 {
    let status = std::fs::read("/proc/self/status").unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// A byte may become an event of its own, or an escape.
fn assert_bounded(text: &[u8], written: usize) {
    assert!(
        written <= 64 * text.len() + 8_192,
        "{} bytes became {written}",
        text.len()
    );
}
