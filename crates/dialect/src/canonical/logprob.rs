//! How likely the tokens of an answer's text were.

/// One token.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Logprob {
    /// The token, as far as it is text.
    pub token: String,
    /// Its bytes where they are told, as a character may be in several tokens.
    pub bytes: Option<Vec<u8>>,
    /// The natural logarithm of its probability.
    pub logprob: f64,
    /// The likeliest tokens at its place, as many as were asked for; these have none of their own.
    pub top: Vec<Self>,
}
