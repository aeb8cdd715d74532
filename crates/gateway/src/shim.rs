//! temporary
use std::time::Duration;
pub(crate) fn signals(
    _: &sluicegate_catalog::Provider,
    _: &http::HeaderMap,
    _: sluicegate_core::WallTime,
) -> Vec<sluicegate_core::Signal> {
    Vec::new()
}
pub(crate) fn retry_hint(
    _: &http::HeaderMap,
    _: http::StatusCode,
    _: sluicegate_core::WallTime,
) -> Option<Duration> {
    None
}
pub(crate) fn tokens(e: &sluicegate_dialect::openai::Envelope) -> u64 {
    e.text.bytes / 4
}
pub(crate) fn charge(
    rule: &sluicegate_catalog::ChargeRule,
    e: &sluicegate_dialect::openai::Envelope,
    d: Option<u64>,
) -> sluicegate_core::Amounts {
    rule.charge(&sluicegate_catalog::RequestSize {
        text_bytes: e.text.bytes,
        images: e.images,
        choices: e.choices,
        best_of: e.best_of,
        output_cap: e.output_cap.or(d),
    })
}
