//! What the model may call, and what form its answer has to have.

use super::JsonText;

/// A tool that the client runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, an object; `None` for a tool without any.
    pub parameters: Option<JsonText>,
    /// Whether arguments have to follow the schema to the letter.
    pub strict: Option<bool>,
}

/// Whether and which tool is to be called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ToolChoice {
    /// The default: the model chooses where there are tools.
    #[default]
    Unsaid,
    /// The model chooses.
    Auto,
    /// None.
    None,
    /// At least one.
    Any,
    /// The one of that name.
    Named(String),
}

impl ToolChoice {
    /// Whether the model has to call a tool.
    pub const fn forces(&self) -> bool {
        matches!(self, Self::Any | Self::Named(_))
    }
}

/// What the text of an answer has to be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum OutputForm {
    /// Anything.
    #[default]
    Text,
    /// A JSON object.
    Json,
    /// JSON that follows a schema.
    Schema {
        /// A name for it, which some dialects want.
        name: Option<String>,
        /// What it is.
        description: Option<String>,
        /// The JSON Schema.
        schema: JsonText,
        /// Whether it must follow to the letter, which the schema has to be fit for.
        strict: bool,
    },
}
