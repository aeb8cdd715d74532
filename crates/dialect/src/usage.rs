//! What an answer used, whatever the dialect in which it says so.

/// Tokens as the provider counted them. Input includes what was read from a cache, output includes
/// reasoning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Of these, read from a cache; zero where the answer does not say.
    pub cached_input_tokens: u64,
    /// Of the input, written to a cache, which some providers charge dearer; zero where the answer
    /// does not say.
    pub cache_write_input_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Of these, reasoning; zero where the answer does not say.
    pub reasoning_tokens: u64,
}
