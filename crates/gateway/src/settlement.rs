//! From what an upstream said to what the core settles.

use std::sync::Arc;

use bytes::Bytes;
use sluicegate_catalog::{ChargeRule, ImageFormula, UsageTokens};
use sluicegate_core::{Amounts, Outcome};
use sluicegate_dialect::{Expected, Parts, Progress, RequestFacts, Usage};

use crate::answer_lengths::{AnswerLengths, Asked, Ending};
use crate::calibrations::Calibrations;
use crate::sampled_counts::SampledCounts;
use crate::snapshot::Route;

/// Bytes of output in one token, for streams that were cut before they told: low, so that a cut is never settled for less than it
/// cost by much.
const OUTPUT_BYTES_PER_TOKEN: u64 = 3;

/// Input and output together.
pub(crate) fn total(usage: Usage) -> u64 {
    usage.input_tokens.saturating_add(usage.output_tokens)
}

/// By what a call is settled: the rule that it was charged by, and what was charged.
#[derive(Clone, Debug)]
pub(crate) struct Settlement {
    rule: Arc<ChargeRule>,
    /// As the provider calls it.
    model: String,
    /// The input that the call was expected to be counted for.
    input_tokens: u64,
    lengths: Arc<AnswerLengths>,
    calibrations: Arc<Calibrations>,
    /// Of what the input consists; nothing where it has what nobody can measure, from which nothing is learned.
    parts: Option<Parts>,
    provider: String,
    asked: Asked,
    /// The route in the configuration whose answers it is one of.
    route_name: Option<Arc<str>>,
    /// The most that one sequence could be.
    output_cap: Option<u64>,
    /// Sequences that were generated.
    sequences: u64,
}

impl Settlement {
    pub(crate) fn new(
        route: Route<'_>,
        facts: &RequestFacts,
        lengths: &Arc<AnswerLengths>,
        calibrations: &Arc<Calibrations>,
    ) -> Self {
        let is_measured = facts.audios == 0 && facts.documents == 0;
        Self {
            rule: Arc::clone(route.charge),
            model: route.model.to_owned(),
            input_tokens: input(route, facts, calibrations).central,
            lengths: Arc::clone(lengths),
            calibrations: Arc::clone(calibrations),
            parts: is_measured.then(|| parts(route, facts)),
            provider: route.account.provider.id.clone(),
            asked: asked(route),
            route_name: None,
            output_cap: facts.output_cap,
            sequences: facts.choices.max(facts.best_of).max(1),
        }
    }

    /// The same where the answer is one of the route of that name in the configuration.
    pub(crate) fn of_route(self, route_name: Option<Arc<str>>) -> Self {
        Self { route_name, ..self }
    }

    /// It was answered to its end, which was `ending` as far as it says, and the usage was told.
    pub(crate) fn answered(&self, usage: Usage, ending: Ending) -> Outcome {
        // Of several sequences only the sum is known: one may be as long as it might while the others were short.
        let length = usage.output_tokens.div_ceil(self.sequences);
        let ending = match self.output_cap {
            Some(cap) if length >= cap => Ending::Cut,
            _ => ending,
        };
        self.lengths.record(&self.asked, length, ending);
        if let Some(route) = &self.route_name {
            self.lengths.record_of_route(route, length, ending);
        }
        self.used(usage)
    }

    fn used(&self, usage: Usage) -> Outcome {
        if let Some(parts) = &self.parts {
            let (expected, counted) = (self.input_tokens, usage.input_tokens);
            self.calibrations
                .settled(&self.provider, &self.asked, parts, expected, counted);
        }
        Outcome::Used(self.rule.settle(&tokens(usage), &self.model))
    }

    /// How a stream that brought `progress` is settled.
    ///
    /// What told its usage is settled by it. What was whole and told nothing keeps what it reserved. What was cut is settled for
    /// its input and for the output that came, unless the provider releases that.
    pub(crate) fn of_stream(&self, progress: &Progress) -> Outcome {
        match (progress.usage, progress.is_complete()) {
            (Some(usage), true) => return self.answered(usage, ending_of_stream(progress)),
            (Some(usage), false) => return self.used(usage),
            (None, true) => return Outcome::Unmeasured,
            (None, false) => {}
        }
        let seen = UsageTokens {
            input: self.input_tokens,
            output: progress.output_bytes.div_ceil(OUTPUT_BYTES_PER_TOKEN),
            ..UsageTokens::default()
        };
        Outcome::Used(self.rule.settle_cut(&seen, &self.model))
    }
}

/// How an answer ended that was cut at its maximum or not.
pub(crate) const fn ending(cut: bool) -> Ending {
    if cut { Ending::Cut } else { Ending::Own }
}

fn ending_of_stream(progress: &Progress) -> Ending {
    ending(progress.cut)
}

/// What a request to `route` is charged there, before it is sent, if its answer is as long as answers are by `lengths`. Where the
/// provider counts tokens, it is held to what hardly any request exceeds by `calibrations`: what is too much comes back, what is
/// too little would overrun the limit.
pub(crate) fn demand(
    route: Route<'_>,
    facts: &RequestFacts,
    lengths: &AnswerLengths,
    calibrations: &Calibrations,
) -> Amounts {
    let asked = asked(route);
    let output = lengths.expected(&asked);
    let text = calibrations.expected(&asked, &parts(route, facts).without_images());
    sluicegate_dialect::charge(
        route.charge,
        route.model,
        facts,
        text.upper,
        images(route),
        output,
    )
}

fn parts(route: Route<'_>, facts: &RequestFacts) -> Parts {
    Parts::of(facts, images(route))
}

/// What its provider makes of the size of an image, where that is known.
fn images(route: Route<'_>) -> Option<ImageFormula> {
    let images = route.account.provider.images.as_ref();
    images.map(|images| images.formula)
}

/// A request with this body went to `route`: it may be one of those that are counted exactly.
pub(crate) fn sample(route: Route<'_>, body: &Bytes, counts: &SampledCounts) {
    if let Some(vocabulary) = route.account.provider.vocabulary(route.model) {
        counts.offer(body, vocabulary, &asked(route));
    }
}

/// The input that a request to `route` is expected to be counted for there.
pub(crate) fn input(
    route: Route<'_>,
    facts: &RequestFacts,
    calibrations: &Calibrations,
) -> Expected {
    calibrations.expected(&asked(route), &parts(route, facts))
}

fn asked(route: Route<'_>) -> Asked {
    Asked {
        deployment: route.deployment.name.clone(),
        model: route.model.to_owned(),
    }
}

const fn tokens(usage: Usage) -> UsageTokens {
    UsageTokens {
        input: usage.input_tokens,
        cached_input: usage.cached_input_tokens,
        cache_write: usage.cache_write_input_tokens,
        output: usage.output_tokens,
        reasoning: usage.reasoning_tokens,
    }
}

#[cfg(test)]
mod tests {
    use sluicegate_dialect::Operation;

    use super::*;

    /// A call for two sequences of at most a hundred tokens each.
    fn for_two(lengths: &Arc<AnswerLengths>) -> Settlement {
        let openai = sluicegate_catalog::provider("openai").expect("a row");
        Settlement {
            rule: Arc::new(openai.charge.default_rule().clone()),
            model: "m".to_owned(),
            input_tokens: 10,
            lengths: Arc::clone(lengths),
            calibrations: Calibrations::new(&crate::metrics::Metrics::new()),
            parts: None,
            provider: "openai".to_owned(),
            asked: whom(),
            route_name: None,
            output_cap: Some(100),
            sequences: 2,
        }
    }

    fn whom() -> Asked {
        Asked {
            deployment: "d".to_owned(),
            model: "m".to_owned(),
        }
    }

    #[test]
    fn one_of_several_sequences_that_was_cut_makes_the_answer_one_that_was() {
        for (second, expected) in [("stop", Some(31)), ("length", None)] {
            let lengths = Arc::default();
            let body = format!(
                r#"{{"choices":[{{"finish_reason":"stop"}},{{"finish_reason":"{second}"}}]}}"#
            );
            let usage = Usage {
                input_tokens: 10,
                output_tokens: 62,
                ..Usage::default()
            };
            let cut = Operation::ChatCompletions.is_cut(body.as_bytes());
            for _ in 0..100 {
                for_two(&lengths).answered(usage, ending(cut));
            }
            assert_eq!(lengths.expected(&whom()), expected, "{second}");
        }
    }

    #[test]
    fn what_a_provider_counted_is_expected_of_the_next_request() {
        let lengths = Arc::default();
        let mut text = sluicegate_dialect::TextTally::default();
        text.add("some words ".repeat(50).as_bytes());
        let parts = Parts::of_text(&text);
        let usual = parts.tokens();
        let settlement = Settlement {
            parts: Some(parts),
            ..for_two(&lengths)
        };
        let usage = Usage {
            input_tokens: 2 * usual,
            output_tokens: 62,
            ..Usage::default()
        };
        for _ in 0..100 {
            settlement.answered(usage, Ending::Own);
        }
        let expected = settlement.calibrations.expected(&whom(), &parts).central;
        assert!(expected.abs_diff(2 * usual) * 50 <= usual, "{expected}");
        // What nobody can measure teaches nothing.
        let lengths = Arc::default();
        let unmeasured = for_two(&lengths);
        unmeasured.answered(usage, Ending::Own);
        let expected = unmeasured.calibrations.expected(&whom(), &parts);
        assert_eq!(expected.central, usual);
    }
}
