//! Rows that are not compiled in: a provider that the catalog does not know, or one that does otherwise than it says.
//!
//! Such a row is the same TOML and meets the same checks. It may begin with `like = "openai"` and then names only what
//! differs, since most of what speaks a known dialect differs in an address and a limit.

use toml::{Table, Value};

use crate::provider::{Provider, providers, text_of};

/// Why a written row cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RowError {
    /// It is no TOML, lacks something or has what no row has.
    #[error("{0}")]
    Form(String),
    /// It is like a row that there is not.
    #[error("`like` names no row: there are {known}")]
    UnknownLike {
        /// The rows that there are, as a list in words.
        known: String,
    },
    /// It contradicts itself.
    #[error("{}", .0.join("; "))]
    Contradiction(Vec<String>),
}

impl Provider {
    /// The row that `text` holds. With `like` it is another row with what `text` says instead: tables are merged key by
    /// key, everything else is replaced whole, and aliases are not taken over.
    ///
    /// # Errors
    /// [`RowError`]; a contradiction names all there are.
    ///
    /// ```
    /// use sluicegate_catalog::Provider;
    /// let row = Provider::from_toml(
    ///     r#"
    ///     like = "openai"
    ///     id = "lab"
    ///     name = "The lab's proxy"
    ///     base_url = "https://llm.example.net"
    ///     charge = { default = "observed" }
    ///     "#,
    /// )?;
    /// assert_eq!(row.chat_url("https://llm.example.net"), "https://llm.example.net/v1/chat/completions");
    /// assert_eq!(row.charge.default_name(), "observed");
    /// # Ok::<(), sluicegate_catalog::RowError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, RowError> {
        let form = |error: toml::de::Error| RowError::Form(error.to_string());
        let mut row: Table = toml::from_str(text).map_err(form)?;
        if let Some(like) = row.remove("like") {
            let text = like.as_str().and_then(text_of);
            let text = text.ok_or_else(|| RowError::UnknownLike {
                known: providers()
                    .iter()
                    .map(|row| row.id.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })?;
            let mut whole: Table = toml::from_str(text).map_err(form)?;
            whole.remove("aliases");
            merge(&mut whole, row);
            row = whole;
        }
        let row: Self = row.try_into().map_err(form)?;
        let problems = row.problems();
        if problems.is_empty() {
            Ok(row)
        } else {
            Err(RowError::Contradiction(problems))
        }
    }
}

fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[test]
    fn what_is_not_named_is_as_in_the_other_row() {
        let text = r#"
            like = "bedrock"
            id = "ours"
            [charge.rules.documented]
            output_default = 9
        "#;
        let ours = Provider::from_toml(text).expect("a row");
        let bedrock = provider("bedrock").expect("a row");
        assert_eq!(ours.id, "ours");
        assert_eq!(ours.aliases, Vec::<String>::new());
        assert_eq!(ours.limits, bedrock.limits);
        let (ours, theirs) = (ours.charge.default_rule(), bedrock.charge.default_rule());
        assert_eq!(ours.output_default, 9);
        assert_eq!(ours.models, theirs.models);
    }

    #[test]
    fn an_alias_is_as_good_as_a_name() {
        let row = Provider::from_toml("like = \"clova\"\nid = \"n\"").expect("a row");
        assert_eq!(row.name, "Naver CLOVA Studio");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = Provider::from_toml("like = \"opena\"").expect_err("no such row");
        assert!(error.to_string().contains("openai, openrouter"), "{error}");
        let error = Provider::from_toml("like = \"openai\"\nlimit = 3").expect_err("no such key");
        assert!(error.to_string().contains("limit"), "{error}");
        let error = Provider::from_toml("id = \"x\"").expect_err("half a row");
        assert!(matches!(error, RowError::Form(_)), "{error}");
        let error = Provider::from_toml(
            "like = \"openai\"\npaths = { chat = \"v1\" }\nbase_url = \"http://x/\"",
        );
        assert_eq!(
            error.expect_err("two mistakes").to_string(),
            "the path of chat does not begin with a slash; the base URL ends in a slash"
        );
        assert!(Provider::from_toml("like = ").is_err());
    }

    #[test]
    fn every_row_that_is_compiled_in_may_be_written_again() {
        for row in providers() {
            let text = text_of(&row.id).expect("it was compiled in");
            assert_eq!(Provider::from_toml(text).as_ref(), Ok(row));
        }
    }
}
