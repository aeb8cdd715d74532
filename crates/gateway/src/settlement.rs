//! From what an upstream said to what the core settles.

use sluicegate_core::{Amounts, Meter, Outcome};
use sluicegate_dialect::openai::{Envelope, Progress, Usage};

use crate::snapshot::Route;

/// Bytes of output in one token, for streams that were cut before they told: low, so that a cut is never settled for less than it
/// cost by much.
const OUTPUT_BYTES_PER_TOKEN: u64 = 3;

/// Input and output together.
pub(crate) fn total(usage: Usage) -> u64 {
    usage.input_tokens.saturating_add(usage.output_tokens)
}

/// The usage was told.
pub(crate) fn used(usage: Usage) -> Outcome {
    let amounts = Amounts::one_request()
        .with(Meter::Tokens, total(usage))
        .with(Meter::InputTokens, usage.input_tokens)
        .with(Meter::OutputTokens, usage.output_tokens);
    Outcome::Used(amounts)
}

/// How a stream that brought `progress` is settled, its input estimated at `input` tokens.
///
/// What told its usage is settled by it. What was whole and told nothing keeps what it reserved. What was cut is settled for its
/// input and for the output that came.
pub(crate) fn of_stream(progress: &Progress, input: u64) -> Outcome {
    if let Some(usage) = progress.usage {
        return used(usage);
    }
    if progress.is_complete() {
        return Outcome::Unmeasured;
    }
    let output = progress.output_bytes.div_ceil(OUTPUT_BYTES_PER_TOKEN);
    used(Usage {
        input_tokens: input,
        output_tokens: output,
        ..Usage::default()
    })
}

/// The input tokens that `envelope` is expected to be counted for.
pub(crate) fn expected_input(envelope: &Envelope) -> u64 {
    sluicegate_dialect::tokens(envelope)
}

/// What a request to `route` is charged there, before it is sent.
pub(crate) fn demand(route: Route<'_>, envelope: &Envelope) -> Amounts {
    sluicegate_dialect::charge(route.charge, envelope)
}
