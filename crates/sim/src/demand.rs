//! What the gateway expects a call to be charged.

use sluicegate_catalog::{ChargeRule, RequestSize};
use sluicegate_core::Amounts;

use crate::workload::Turn;

/// The charge of a catalog rule, as the gateway takes it.
pub fn by_rule(rule: &ChargeRule) -> impl Fn(&Turn) -> Amounts + use<'_> {
    |turn| {
        rule.charge(&RequestSize {
            text_bytes: turn.prompt_tokens.saturating_mul(4),
            images: 0,
            choices: 1,
            best_of: 1,
            output_cap: Some(turn.output_max),
        })
    }
}
