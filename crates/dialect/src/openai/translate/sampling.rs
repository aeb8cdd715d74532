//! What OpenAI's models take of how their tokens are chosen, while they think and while they do not.

use crate::canonical::{Feature, Sampling, Target};

/// What of `sampling` goes with `effort`, the word that the model is told on thinking. A model that takes a temperature or
/// thinks, and not both, thinks as it is told to, or does unasked; what goes unheard for it is told to `foregone`, unless it
/// says what holds without it.
pub(crate) fn beside(
    effort: Option<&str>,
    sampling: Sampling,
    target: &Target,
    foregone: &mut Vec<Feature>,
) -> Sampling {
    let thinks = effort.map_or(target.thinks_unasked, |effort| effort != "none");
    if !thinks || !target.unthinking_sampling {
        return sampling;
    }
    let differs = |value: Option<f64>| value.is_some_and(|value| value != 1.0);
    let lost = [
        (differs(sampling.temperature), Feature::Temperature),
        (differs(sampling.top_p), Feature::TopP),
        (sampling.logprobs.is_some(), Feature::Logprobs),
    ];
    let lost = lost.into_iter().filter(|(is_lost, _)| *is_lost);
    foregone.extend(lost.map(|(_, feature)| feature));
    Sampling {
        temperature: None,
        top_p: None,
        logprobs: None,
        ..sampling
    }
}
