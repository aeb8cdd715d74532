//! What the gateway expects a call to be charged, and what it takes it to have used.

use sluicegate_catalog::{ChargeRule, RequestSize, UsageTokens};
use sluicegate_core::Amounts;

use crate::workload::Turn;

/// The charge of a catalog rule, as the gateway takes it.
pub fn by_rule(rule: &ChargeRule) -> impl Fn(&Turn) -> Amounts + use<'_> {
    // No rule that a scenario plays says anything of one model alone.
    of_model(rule, "")
}

/// The charge of a catalog rule for a call to `model`, of whose answers nothing is known.
pub fn of_model<'a>(rule: &'a ChargeRule, model: &'a str) -> impl Fn(&Turn) -> Amounts + use<'a> {
    let charge = learned(rule, model);
    move |turn| charge(turn, None)
}

/// The charge of a catalog rule for a call to `model` whose answer is expected to have so many tokens.
pub fn learned<'a>(
    rule: &'a ChargeRule,
    model: &'a str,
) -> impl Fn(&Turn, Option<u64>) -> Amounts + use<'a> {
    move |turn, output_expected| {
        let size = RequestSize {
            output_cap: Some(turn.output_max),
            output_expected,
            ..RequestSize::of_text(turn.prompt_tokens.saturating_mul(4), turn.prompt_tokens)
        };
        rule.hold(&size, model)
    }
}

/// What a catalog rule makes of the usage of a call to `model`.
pub fn settled_for<'a>(
    rule: &'a ChargeRule,
    model: &'a str,
) -> impl Fn(&Turn) -> Amounts + use<'a> {
    move |turn| {
        let usage = UsageTokens {
            input: turn.prompt_tokens,
            output: turn.answer_tokens,
            ..UsageTokens::default()
        };
        rule.settle(&usage, model)
    }
}
