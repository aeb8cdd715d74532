//! What one request takes of one destination: what it is charged there, how long it is and what it costs.

use sluicegate_config::Price;
use sluicegate_core::Amounts;
use sluicegate_dialect::{Crossing, RequestFacts};

use crate::gateway::Gateway;
use crate::settlement;
use crate::snapshot::Route;

/// Prices are for that many tokens.
const PRICED_TOKENS: u64 = 1_000_000;

/// What the request is charged there. A dialect that wants a maximum gets one where the request has none, and is charged for that; what no
/// model answers is charged nowhere.
pub(super) fn demand(
    route: Route<'_>,
    crossing: Option<Crossing>,
    facts: &RequestFacts,
    gateway: &Gateway,
) -> Amounts {
    let demand = |facts: &RequestFacts| {
        let lengths = gateway.answer_lengths();
        settlement::demand(route, facts, lengths, gateway.calibrations())
    };
    match crossing {
        Some(Crossing::Same(operation)) if !operation.is_charged() => Amounts::default(),
        Some(Crossing::Translated { provider, .. })
            if facts.output_cap.is_none() && provider.wants_output_cap() =>
        {
            demand(&RequestFacts {
                output_cap: Some(route.account.provider.translation.output_default),
                ..facts.clone()
            })
        }
        _ => demand(facts),
    }
}

/// `input` and the most output, in tokens. Without a maximum the provider stops at the context by itself.
pub(super) fn length(input: u64, facts: &RequestFacts) -> u64 {
    input.saturating_add(facts.output_cap.unwrap_or(0))
}

/// What the request costs in micro-dollars if its input is `input` tokens and it is answered with as much as it allows.
pub(super) fn expected(price: Price, input: u64, facts: &RequestFacts) -> u64 {
    let input = u128::from(input) * u128::from(price.input_micros);
    let output = u128::from(facts.output_cap.unwrap_or(0)) * u128::from(price.output_micros);
    let micros = input.saturating_add(output) / u128::from(PRICED_TOKENS);
    u64::try_from(micros).unwrap_or(u64::MAX)
}
