//! The answer to a request that only wants to know how many tokens its input has.

use bytes::Bytes;

/// The body of such an answer, which we give where the provider has no such call.
///
/// ```
/// use sluicegate_dialect::gemini::token_count_body;
/// assert_eq!(token_count_body(14), r#"{"totalTokens":14}"#);
/// ```
pub fn token_count_body(input_tokens: u64) -> Bytes {
    Bytes::from(format!(r#"{{"totalTokens":{input_tokens}}}"#))
}
