//! Thoughts in Anthropic's messages: whether they are asked for, and whether those of earlier turns come back as they were.

use serde_json::{Map, Value};

use super::required;
use crate::ask::Complaint;
use crate::ask::field::{complain, given};
use crate::seal::Sealer;

/// The smallest budget, in tokens.
const THINKING_MIN: u64 = 1_024;

/// Whether the model is to think, of an answer of at most `output_max` tokens.
pub(super) fn thinks(
    body: &Map<String, Value>,
    output_max: Option<u64>,
) -> Result<bool, Complaint> {
    let Some(thinking) = given(body, "thinking") else {
        return Ok(false);
    };
    match thinking["type"].as_str() {
        Some("disabled") => Ok(false),
        Some("adaptive") => Ok(true),
        Some("enabled") => match thinking["budget_tokens"].as_u64() {
            None => Err(required("thinking.enabled.budget_tokens")),
            Some(budget) if budget < THINKING_MIN => Err(complain(format!(
                "thinking.enabled.budget_tokens: Input should be greater than or equal to {THINKING_MIN}"
            ))),
            Some(budget) if output_max.is_some_and(|most| budget >= most) => Err(complain(
                "`max_tokens` must be greater than `thinking.budget_tokens`.",
            )),
            Some(_) => Ok(true),
        },
        _ => Err(complain(
            "thinking: Input tag does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'",
        )),
    }
}

/// Thoughts are the provider's own, and who is to think by a budget and has called tools has its thoughts of that.
/// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>)
pub(super) fn check_thoughts(messages: &[Value], thinking: &Value) -> Result<(), Complaint> {
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    for (index, message) in messages.iter().enumerate() {
        for (at, block) in blocks(message).iter().enumerate() {
            let seal = match block["type"].as_str() {
                Some("thinking") => "signature",
                Some("redacted_thinking") => "data",
                _ => continue,
            };
            if !block[seal]
                .as_str()
                .is_some_and(|seal| Sealer::Anthropic.made(seal))
            {
                return Err(complain(format!(
                    "messages.{index}.content.{at}: Invalid `{seal}` in `thinking` block"
                )));
            }
        }
    }
    let last = messages
        .iter()
        .rposition(|message| message["role"] == "assistant");
    let (Some(index), "enabled") = (last, thinking["type"].as_str().unwrap_or_default()) else {
        return Ok(());
    };
    let said = blocks(&messages[index]);
    let thinks = said
        .first()
        .is_some_and(|block| block["type"] == "thinking" || block["type"] == "redacted_thinking");
    if !thinks && said.iter().any(|block| block["type"] == "tool_use") {
        return Err(complain(format!(
            "messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a \
             final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` \
             blocks). To avoid this requirement, disable `thinking`.",
            said[0]["type"].as_str().unwrap_or_default()
        )));
    }
    Ok(())
}
