//! What each row reaches under any seed, and why where that is not everything.

use super::{Load, Outcome, Trouble};

/// The bounds of an outcome.
pub(super) struct Bounds {
    /// At most so many 429s, of ten thousand calls.
    rejections_max: u64,
    /// At least that share of what was possible, in hundredths of a percent. What is in flight at both ends of the measured
    /// time makes it a little uncertain, also upwards.
    share_min: u64,
    /// Why it is not everything; empty where it nearly is.
    pub(super) cause: &'static str,
}

/// The most 429s in a minute of a cut, those of calls apart that were on their way at the first.
const A_MINUTE_MAX: u64 = 40;

impl Bounds {
    pub(super) fn hold(&self, outcome: &Outcome) -> bool {
        let calls = outcome.calls + outcome.rejections;
        let rejections = outcome.rejections * 10_000 <= self.rejections_max * calls;
        let is_cut = outcome.trouble == Trouble::Cut;
        let a_minute = !is_cut || outcome.rejections_a_minute <= A_MINUTE_MAX;
        rejections && a_minute && outcome.share >= self.share_min
    }
}

const ADAPTS: &str = "little more than a second's worth may come at once";

/// The bounds of a provider under a load and a trouble.
pub(super) fn bounds(outcome: &Outcome) -> Bounds {
    let (share, cause) = share(outcome);
    let (rejections_max, why_refused) = rejections(outcome);
    let share_min = match outcome.trouble {
        Trouble::Dear | Trouble::Cheap => share,
        // Of what others leave, and after a cut, the more uncertain as it is little.
        Trouble::Others | Trouble::Cut => share * 85 / 100,
    };
    Bounds {
        rejections_max,
        share_min,
        cause: if cause.is_empty() { why_refused } else { cause },
    }
}

/// Whether a provider's limits move with what it is sent, so that not all refusals can be foreseen.
pub(super) fn adapts(provider: &str) -> bool {
    matches!(provider, "together" | "vertex")
}

/// The share where nothing but estimates differ.
fn share(outcome: &Outcome) -> (u64, &'static str) {
    match (outcome.provider, outcome.load) {
        ("mistral" | "upstage" | "xai" | "vertex", Load::Small) => (
            8_200,
            "any second holds its share, and arrival is uncertain by 150 ms of it",
        ),
        ("deepseek" | "tgi" | "vllm", Load::Small) => {
            (9_400, "a slot is held while the call is on its way")
        }
        ("gemini" | "naver", Load::Large) => (8_700, "no answer tells what was charged"),
        ("vertex", Load::Large) => (9_400, ADAPTS),
        _ => (9_600, ""),
    }
}

fn rejections(outcome: &Outcome) -> (u64, &'static str) {
    let adapts = adapts(outcome.provider);
    match outcome.trouble {
        Trouble::Dear | Trouble::Cheap if adapts => (100, ADAPTS),
        Trouble::Dear | Trouble::Cheap if outcome.load == Load::Large => (20, ""),
        Trouble::Dear | Trouble::Cheap => (0, ""),
        Trouble::Others | Trouble::Cut if adapts => (300, ADAPTS),
        Trouble::Others => (300, ""),
        Trouble::Cut => (500, ""),
    }
}
