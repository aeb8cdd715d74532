//! The load: calls at an even pace, whatever becomes of those before, since three times too much is only that if nobody slows
//! down.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tokio::task::JoinSet;

use super::case::Case;
use super::wire::Wire;
use crate::clock;

/// The longest that a call waits for its start: 10 s at the provider's own speed.
const PATIENCE: &str = "1s";

/// What calls look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Load {
    /// Small ones: a limit on requests binds.
    Small,
    /// Large ones, up to a hundredth of a limit on tokens, which binds.
    Large,
}

/// The sizes of a load's calls.
pub(super) struct Sizes {
    /// The shortest and the longest prompt.
    pub(super) prompt_tokens: (u64, u64),
    pub(super) output_max: u64,
    pub(super) answer_tokens: u64,
}

/// What came of the calls, as their sender saw it.
#[derive(Default)]
pub(super) struct Seen {
    /// Of calls that were sent in the measured time.
    pub(super) offered: u64,
    /// The time in line, of those that were served.
    pub(super) waits_ms: Vec<u64>,
    /// By status; 0 where the connection broke.
    pub(super) answers: BTreeMap<u16, u64>,
}

impl Load {
    pub(super) const ALL: [Self; 2] = [Self::Small, Self::Large];
    /// About what providers take for a token that count bytes.
    pub(super) const BYTES_PER_TOKEN: u64 = 4;

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }

    pub(super) const fn sizes(self) -> Sizes {
        match self {
            Self::Small => Sizes {
                prompt_tokens: (100, 300),
                output_max: 150,
                answer_tokens: 80,
            },
            Self::Large => Sizes {
                prompt_tokens: (600, 2_200),
                output_max: 600,
                answer_tokens: 400,
            },
        }
    }

    /// Offers the case's rate for all the time; what is sent after the warm-up counts.
    ///
    /// # Errors
    ///
    /// When a task of its own fails; what becomes of a call is no error.
    pub(super) async fn offer(
        self,
        case: &Case,
        gateway: Arc<Wire>,
        warm_up: Duration,
        measured: Duration,
        seed: u64,
    ) -> anyhow::Result<Seen> {
        let gap = Duration::from_secs_f64(1.0 / case.rate());
        let mut random = Random::new(seed);
        let mut calls = JoinSet::new();
        let mut seen = Seen::default();
        let began = clock::now();
        let mut due = Duration::ZERO;
        while due < warm_up + measured {
            let wait = due.saturating_sub(began.elapsed());
            tokio::time::sleep(wait).await;
            let body = self.body(case.model(), &mut random);
            let gateway = Arc::clone(&gateway);
            let counts = due >= warm_up;
            calls.spawn(async move {
                let headers = [("x-sluicegate-max-wait", PATIENCE)];
                let answer = gateway.post("/v1/chat/completions", &headers, body).await;
                (counts, answer)
            });
            while let Some(ended) = calls.try_join_next() {
                seen.note(ended?);
            }
            due += gap;
        }
        while let Some(ended) = calls.join_next().await {
            seen.note(ended?);
        }
        seen.waits_ms.sort_unstable();
        Ok(seen)
    }

    fn body(self, model: &str, random: &mut Random) -> Bytes {
        let sizes = self.sizes();
        let (shortest, longest) = sizes.prompt_tokens;
        let tokens = shortest + random.below(longest - shortest + 1);
        let bytes = usize::try_from(tokens * Self::BYTES_PER_TOKEN).unwrap_or(usize::MAX);
        let body = json!({
            "model": model,
            "messages": [{ "role": "user", "content": prose(bytes, random) }],
            "max_tokens": sizes.output_max,
            "fake": { "output_tokens": sizes.answer_tokens },
        });
        Bytes::from(body.to_string())
    }
}

impl Seen {
    fn note(&mut self, (counts, answer): (bool, anyhow::Result<super::wire::Answer>)) {
        if !counts {
            return;
        }
        self.offered += 1;
        let status = match answer {
            Ok(answer) => {
                if answer.status == 200 {
                    self.waits_ms.push(answer.queue_ms.unwrap_or(0));
                }
                answer.status
            }
            Err(_) => 0,
        };
        *self.answers.entry(status).or_default() += 1;
    }

    /// Of the waits; zero where there are none.
    pub(super) fn wait_ms(&self, percent: usize) -> u64 {
        let last = self.waits_ms.len().saturating_sub(1);
        self.waits_ms
            .get(last * percent / 100)
            .copied()
            .unwrap_or(0)
    }
}

/// About so many bytes of English words, since estimates of tokens are made for such.
fn prose(bytes: usize, random: &mut Random) -> String {
    const WORDS: [&str; 24] = [
        "the", "water", "of", "a", "river", "rises", "when", "rain", "falls", "on", "hills", "and",
        "every", "gate", "that", "holds", "it", "back", "must", "open", "before", "morning",
        "comes", "again",
    ];
    let mut text = String::with_capacity(bytes + 8);
    while text.len() < bytes {
        let index = usize::try_from(random.below(WORDS.len() as u64)).unwrap_or(0);
        text.push_str(WORDS[index]);
        text.push(' ');
    }
    text
}

/// A small generator with a name, splitmix64, so that a seed gives the same calls anywhere.
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Below `bound`, nearly even.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_calls() {
        let body = |seed| Load::Large.body("m", &mut Random::new(seed));
        assert_eq!(body(1), body(1));
        assert_ne!(body(1), body(2));
        let told: serde_json::Value = serde_json::from_slice(&body(3)).expect("JSON");
        let prompt = told["messages"][0]["content"].as_str().expect("text");
        assert!((2_400..8_900).contains(&prompt.len()), "{}", prompt.len());
    }

    #[test]
    fn waits_are_values_that_occurred() {
        let seen = Seen {
            waits_ms: vec![1, 2, 3, 4, 5],
            ..Seen::default()
        };
        assert_eq!((seen.wait_ms(50), seen.wait_ms(99)), (3, 4));
        assert_eq!(Seen::default().wait_ms(99), 0);
    }
}
