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
    /// Which of its models follow a JSON Schema by themselves.
    pub schema: Models,
    /// How models are told to think; the first entry that names a model counts, and one that none names is not told.
    pub thinking: Vec<Thinking>,
    /// Models that cannot be told not to think.
    pub always_thinks: Models,
    /// Models that choose their tokens by themselves and refuse a temperature or another word on it.
    pub fixed_sampling: Models,
    /// Models that take a temperature, `top_p` and probabilities of tokens only where they do not think.
    pub unthinking_sampling: Models,
    /// Models that think where nothing is said of it.
    pub thinks_unasked: Models,
    /// Models that take a temperature or `top_p`, and refuse both at once.
    pub one_sampler: Models,
    /// Models that take tools over OpenAI's chat completions only where they are told not to think.
    pub unthinking_tools: Models,
    /// The longest name of a tool, in bytes, where longer ones and those of other characters than its dialect has are known to be refused.
    pub tool_name_max: Option<u64>,
}

/// Some of a provider's models.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Models {
    /// All, or none.
    All(bool),
    /// Those that one of these names: exact, or with a `*` at the end, at the beginning, or at both for a name that holds
    /// the rest.
    Named(Vec<String>),
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
    /// Names of models, as in [`Models`].
    pub models: Vec<String>,
    /// How.
    pub by: ThinkingBy,
    /// The efforts that they know; none where nothing is known of it, and then those that are usual in the dialect hold.
    #[serde(default)]
    pub efforts: Vec<Effort>,
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

/// A word for how much to think, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Effort {
    Minimal,
    Low,
    Medium,
    High,
    /// `xhigh`.
    XHigh,
    Max,
}

impl Default for Translation {
    fn default() -> Self {
        Self {
            output_default: 4_096,
            cap: CapName::default(),
            schema: Models::default(),
            thinking: Vec::new(),
            always_thinks: Models::default(),
            fixed_sampling: Models::default(),
            unthinking_sampling: Models::default(),
            thinks_unasked: Models::default(),
            one_sampler: Models::default(),
            unthinking_tools: Models::default(),
            tool_name_max: None,
        }
    }
}

impl Translation {
    /// How `model` is told to think; `None` where it is not.
    pub fn thinking_of(&self, model: &str) -> Option<ThinkingBy> {
        self.entry_of(model).map(|entry| entry.by)
    }

    /// The efforts that `model` knows; none where nothing is said of it.
    pub fn efforts_of(&self, model: &str) -> &[Effort] {
        self.entry_of(model).map_or(&[], |entry| &entry.efforts)
    }

    fn entry_of(&self, model: &str) -> Option<&Thinking> {
        let mut entries = self.thinking.iter();
        entries.find(|entry| entry.models.iter().any(|name| names(name, model)))
    }
}

impl Translation {
    /// What is wrong with it, each with the keys that lead there.
    pub(crate) fn problems(&self) -> Vec<(String, &'static str)> {
        let mut lists: Vec<(String, &[String])> = Vec::new();
        for (key, models) in [
            ("schema", &self.schema),
            ("always_thinks", &self.always_thinks),
            ("fixed_sampling", &self.fixed_sampling),
            ("unthinking_sampling", &self.unthinking_sampling),
            ("thinks_unasked", &self.thinks_unasked),
            ("one_sampler", &self.one_sampler),
            ("unthinking_tools", &self.unthinking_tools),
        ] {
            if let Models::Named(names) = models {
                lists.push((key.to_owned(), names));
            }
        }
        for (index, entry) in self.thinking.iter().enumerate() {
            lists.push((format!("thinking[{index}].models"), &entry.models));
        }
        let mut problems = Vec::new();
        if self.output_default == 0 {
            problems.push(("output_default".to_owned(), "leaves no room for an answer"));
        }
        if self.tool_name_max == Some(0) {
            problems.push(("tool_name_max".to_owned(), "leaves no name for a tool"));
        }
        for (index, entry) in self.thinking.iter().enumerate() {
            if entry.by == ThinkingBy::Budget && !entry.efforts.is_empty() {
                let key = format!("thinking[{index}].efforts");
                problems.push((key, "names efforts of models that are told a number"));
            }
        }
        for (key, names) in lists {
            for (index, name) in names.iter().enumerate() {
                let what = pattern_problem(name);
                problems.extend(what.map(|what| (format!("{key}[{index}]"), what)));
            }
        }
        problems
    }
}

fn pattern_problem(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix('*').unwrap_or(name);
    let rest = rest.strip_suffix('*').unwrap_or(rest);
    if name.is_empty() {
        Some("is empty")
    } else if rest.contains('*') {
        Some("has a * that is neither at its beginning nor at its end")
    } else {
        None
    }
}

impl Default for Models {
    /// None.
    fn default() -> Self {
        Self::All(false)
    }
}

impl Models {
    /// Whether `model` is one of them.
    pub fn hold(&self, model: &str) -> bool {
        match self {
            Self::All(all) => *all,
            Self::Named(patterns) => patterns.iter().any(|pattern| names(pattern, model)),
        }
    }
}

fn names(pattern: &str, model: &str) -> bool {
    let (begins, rest) = match pattern.strip_prefix('*') {
        Some(rest) => (false, rest),
        None => (true, pattern),
    };
    match (begins, rest.strip_suffix('*')) {
        (true, None) => model == rest,
        (true, Some(stem)) => model.starts_with(stem),
        (false, None) => model.ends_with(rest),
        (false, Some(stem)) => model.contains(stem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_that_names_a_model_counts() {
        let row: Translation = toml::from_str(
            r#"thinking = [
                { models = ["a-1", "b-*"], by = "budget" },
                { models = ["a-*"], by = "effort", efforts = ["low", "xhigh"] },
            ]"#,
        )
        .expect("a table");
        assert_eq!(row.thinking_of("a-1"), Some(ThinkingBy::Budget));
        assert_eq!(row.thinking_of("a-2"), Some(ThinkingBy::Effort));
        assert_eq!(row.thinking_of("c"), None);
        assert_eq!(row.efforts_of("a-2"), [Effort::Low, Effort::XHigh]);
        assert_eq!(
            (row.efforts_of("a-1"), row.efforts_of("c")),
            (&[][..], &[][..])
        );
        assert_eq!(row.output_default, 4_096);
    }

    #[test]
    fn what_names_no_model_is_said_with_its_place() {
        let row: Translation = toml::from_str(
            r#"output_default = 0
            tool_name_max = 0
            schema = ["*a*", "b*c"]
            thinking = [{ models = ["a"], by = "budget", efforts = ["low"] }, { models = ["**", ""], by = "effort" }]"#,
        )
        .expect("the form is right");
        let keys: Vec<String> = row.problems().into_iter().map(|(key, _)| key).collect();
        assert_eq!(
            keys,
            [
                "output_default",
                "tool_name_max",
                "thinking[0].efforts",
                "schema[1]",
                "thinking[1].models[1]"
            ]
        );
    }

    #[test]
    fn models_are_all_or_named() {
        let row: Translation = toml::from_str(
            r#"schema = true
            always_thinks = ["a-pro"]
            fixed_sampling = ["o1*", "*claude-x*", "*-fixed"]"#,
        )
        .expect("a table");
        assert!(row.schema.hold("any") && !Models::default().hold("any"));
        assert!(row.always_thinks.hold("a-pro") && !row.always_thinks.hold("a-pro-2"));
        for (model, is_fixed) in [
            ("o1-mini", true),
            ("so1", false),
            ("us.claude-x-v1:0", true),
            ("b-fixed", true),
            ("b-fixed-2", false),
        ] {
            assert_eq!(row.fixed_sampling.hold(model), is_fixed, "{model}");
        }
    }
}
