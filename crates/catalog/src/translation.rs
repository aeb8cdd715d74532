//! What a request heeds that is translated into a provider's dialect: facts that no wire format tells.

use serde::Deserialize;

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
    /// Names of models: exact, or with a `*` at the end.
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
            thinking: Vec::new(),
        }
    }
}

impl Translation {
    /// How `model` is told to think; `None` where it is not.
    pub fn thinking_of(&self, model: &str) -> Option<ThinkingBy> {
        let names = |pattern: &String| match pattern.strip_suffix('*') {
            Some(stem) => model.starts_with(stem),
            None => model == pattern,
        };
        let mut entries = self.thinking.iter();
        let entry = entries.find(|entry| entry.models.iter().any(names));
        entry.map(|entry| entry.by)
    }
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
}
