//! What a request heeds that is translated into a provider's dialect: facts that no wire format tells.

use serde::Deserialize;

use crate::model::fits;

/// What a translated request heeds. Without it: an old name for the maximum, no schemas, no thinking.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Translation {
    /// The output maximum where a request names none and the dialect wants one, in tokens.
    pub output_default: u64,
    /// Under which name OpenAI's dialect takes the output maximum here.
    pub cap: CapName,
    /// Whether its models follow a JSON Schema by themselves.
    pub schema: bool,
    /// Those that do, where not all of them do.
    pub schema_models: Vec<String>,
    /// How models are told to think; the first entry that names a model counts, and one that none names is not told.
    pub thinking: Vec<Thinking>,
}

/// The names of the output maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapName {
    /// `max_tokens`, which all servers know but OpenAI's newer models.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// How some models are told to think.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thinking {
    /// Names of models: with `*` for any part of a name.
    pub models: Vec<String>,
    /// How.
    pub by: ThinkingBy,
}

/// What a model is told of thinking.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingBy {
    /// An effort.
    Effort,
    /// A number of tokens.
    Budget,
}

impl Default for Translation {
    fn default() -> Self {
        Self {
            output_default: 4_096,
            cap: CapName::default(),
            schema: false,
            schema_models: Vec::new(),
            thinking: Vec::new(),
        }
    }
}

impl Translation {
    /// How `model` is told to think; `None` where it is not.
    pub fn thinking_of(&self, model: &str) -> Option<ThinkingBy> {
        let mut entries = self.thinking.iter();
        let entry = entries.find(|entry| is_among(&entry.models, model));
        entry.map(|entry| entry.by)
    }

    /// Whether `model` follows a JSON Schema by itself.
    pub fn follows_schema(&self, model: &str) -> bool {
        self.schema || is_among(&self.schema_models, model)
    }
}

fn is_among(patterns: &[String], model: &str) -> bool {
    patterns.iter().any(|pattern| fits(pattern, model))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_that_names_a_model_counts() {
        let row: Translation = toml::from_str(
            r#"thinking = [{ models = ["a-1", "b-*"], by = "budget" }, { models = ["a-*"], by = "effort" }]"#,
        )
        .expect("a table");
        assert_eq!(row.thinking_of("a-1"), Some(ThinkingBy::Budget));
        assert_eq!(row.thinking_of("a-2"), Some(ThinkingBy::Effort));
        assert_eq!(row.thinking_of("c"), None);
        assert_eq!(row.output_default, 4_096);
    }

    #[test]
    fn schemas_are_followed_by_all_or_by_those_that_are_named() {
        let all: Translation = toml::from_str("schema = true").expect("a table");
        let some: Translation = toml::from_str(r#"schema_models = ["*a-*"]"#).expect("a table");
        assert!(all.follows_schema("b") && some.follows_schema("eu.a-1"));
        assert!(!some.follows_schema("b") && !Translation::default().follows_schema("a-1"));
    }
}
