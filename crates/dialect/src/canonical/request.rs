//! A request for an answer: turns of a conversation and how to go on.

use super::{Address, Base64, JsonText, MediaType, OutputForm, SoundFormat, Tool, ToolChoice};

/// A request, whatever dialect it came in. Absent is absent: no member is filled in.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Request {
    /// The model or route that was asked for.
    pub model: String,
    /// The conversation in its order, instructions included where they stood.
    pub turns: Vec<Turn>,
    /// Tools that the model may call.
    pub tools: Vec<Tool>,
    /// Whether and which tool is to be called.
    pub tool_choice: ToolChoice,
    /// Whether several tools may be called at once; `None` leaves it to the provider.
    pub parallel_tool_calls: Option<bool>,
    /// What the text of the answer has to be.
    pub output: OutputForm,
    /// The largest output allowed, in tokens, thinking included.
    pub output_cap: Option<u64>,
    /// Texts before which the answer ends.
    pub stop: Vec<String>,
    /// How the next token is chosen.
    pub sampling: Sampling,
    /// Whether and how much to think first.
    pub thinking: Thinking,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// Whether the client of a stream wants to see its usage, where its dialect lets it choose.
    pub usage_wanted: bool,
    /// Whom the request is made for, an opaque id.
    pub user: Option<String>,
}

/// How the next token is chosen. Numbers as they were written; no range is checked.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sampling {
    /// 0 for the likeliest; above 1 not every dialect can say.
    pub temperature: Option<f64>,
    /// The share of probability to choose from.
    pub top_p: Option<f64>,
    /// How many of the likeliest tokens to choose from.
    pub top_k: Option<u64>,
    /// Against repeating what was said often.
    pub frequency_penalty: Option<f64>,
    /// Against repeating what was said.
    pub presence_penalty: Option<f64>,
    /// Makes an answer repeatable, as far as that goes.
    pub seed: Option<i64>,
    /// How many alternatives of each token are to be told with their probabilities.
    pub logprobs: Option<u64>,
    /// Which tokens are made likelier: an object of token ids.
    pub logit_bias: Option<JsonText>,
}

/// Whether and how much to think before answering.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Thinking {
    /// As the model does by itself.
    #[default]
    Unsaid,
    /// Not at all.
    Off,
    /// As the model sees fit, and with that effort where one is given.
    Adaptive(Option<ThinkingEffort>),
    /// At most that many tokens.
    Budget(u64),
}

/// How much effort goes into an answer, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ThinkingEffort {
    Minimal,
    Low,
    Medium,
    High,
    ExtraHigh,
    Max,
}

/// What one side said at once.
#[derive(Clone, PartialEq, Debug)]
pub struct Turn {
    /// Who.
    pub role: Role,
    /// What, in its order. Results of tools are said by the user.
    pub parts: Vec<Part>,
}

/// Who speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Who runs the program, in the words of older models.
    System,
    /// The same in the words of newer ones.
    Developer,
    /// Who uses the program.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Whether it instructs instead of conversing.
    pub const fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// A piece of a turn or of an answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// Text.
    Text(String),
    /// An image.
    Image(Source),
    /// A document to read.
    Document {
        /// Where it is.
        source: Source,
        /// Its name.
        title: Option<String>,
    },
    /// A sound clip.
    Audio {
        /// The clip.
        data: Base64,
        /// Its format, like `wav`.
        format: SoundFormat,
    },
    /// The model calls a tool.
    ToolCall {
        /// Names the call, for its result.
        id: String,
        /// Of the tool.
        name: String,
        /// The arguments as the model wrote them: JSON of an object if all went well, empty for none.
        arguments: String,
        /// The seal that its provider put on the call, without which it may not take it back.
        signature: Option<String>,
    },
    /// What a call brought.
    ToolResult {
        /// Of the call.
        id: String,
        /// The result: texts, images, documents.
        parts: Vec<Self>,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// What the model thought.
    Thinking {
        /// The thoughts, or a summary of them.
        text: String,
        /// The provider's seal, without which it does not take them back.
        signature: Option<String>,
    },
    /// Thoughts that are not shown, in a form that only their provider reads.
    SealedThinking(String),
    /// Why the model will not answer.
    Refusal(String),
}

/// Where an image or a document is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// Here, in base64.
    Base64 {
        /// Like `image/png`.
        media_type: MediaType,
        /// The bytes.
        data: Base64,
    },
    /// Here, as text.
    Text(String),
    /// At an address, from which the provider loads it.
    Url(Address),
    /// In the files of an account: means nothing to another provider.
    File(String),
}
