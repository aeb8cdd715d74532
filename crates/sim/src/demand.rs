//! What the gateway expects a call to be charged.

use sluicegate_catalog::{ChargeRule, RequestSize};
use sluicegate_core::Amounts;

use crate::workload::Turn;

/// The charge of a catalog rule, as the gateway takes it.
pub fn by_rule(rule: &ChargeRule) -> impl Fn(&Turn) -> Amounts + use<'_> {
    |turn| {
        let size = RequestSize {
            output_cap: Some(turn.output_max),
            ..RequestSize::of_text(turn.prompt_tokens.saturating_mul(4), turn.prompt_tokens)
        };
        // No rule that a scenario plays says anything of one model alone.
        rule.charge(&size, "")
    }
}
