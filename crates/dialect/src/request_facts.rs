//! What decisions need to know of a request, whatever the dialect that it is written in.

use crate::{ImageTokens, TextTally};

/// What a request asks for and how large it is. Sizes are bytes after JSON escapes are undone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RequestFacts {
    /// The model that was asked for.
    pub model: String,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// The largest output allowed, in tokens; `None` where the request names none.
    pub output_cap: Option<u64>,
    /// Answers asked for, 1 where it does not say.
    pub choices: u64,
    /// Candidates for each answer, 1 where it does not say.
    pub best_of: u64,
    /// Number of messages.
    pub messages: u64,
    /// Text of the instructions and the messages: roles and names, texts, thoughts, refusals, calls of
    /// tools and their results.
    pub text: TextTally,
    /// Input that came as tokens instead of text, in tokens.
    pub ready_tokens: u64,
    /// Images among the content, those in results of tools included.
    pub images: u64,
    /// What they make, by each formula that is published.
    pub image_tokens: ImageTokens,
    /// Sound clips among the content.
    pub audios: u64,
    /// Documents and other files among the content.
    pub documents: u64,
    /// Bytes of JSON that define tools.
    pub tools_bytes: u64,
    /// Bytes of JSON that tell the form of the answer, where a schema of it stands.
    pub form_bytes: u64,
}
