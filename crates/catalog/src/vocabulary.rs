//! Which published vocabulary a model's tokens are from, where that is known.

use serde::Deserialize;

use crate::Evidence;
use crate::model::fits;

/// A vocabulary that is published, so that tokens can be counted here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vocabulary {
    /// OpenAI's of 2024, with 200,000 tokens.
    O200k,
    /// OpenAI's of 2022, with 100,000 tokens.
    Cl100k,
}

/// The vocabulary of some models.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelVocabulary {
    /// Their names, where each `*` stands for any part.
    pub models: Vec<String>,
    /// What they read.
    pub vocabulary: Vocabulary,
    /// How the above is known.
    pub evidence: Evidence,
}

/// What the first of `rows` that fits says of `model`.
pub(crate) fn find(rows: &[ModelVocabulary], model: &str) -> Option<Vocabulary> {
    let covers = |row: &&ModelVocabulary| row.models.iter().any(|pattern| fits(pattern, model));
    rows.iter().find(covers).map(|row| row.vocabulary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[test]
    fn families_have_vocabularies_and_strangers_none() {
        let of = |id: &str, model: &str| provider(id).expect("a row").vocabulary(model);
        assert_eq!(of("openai", "gpt-5.5-mini"), Some(Vocabulary::O200k));
        assert_eq!(of("openai", "gpt-4o-2024-08-06"), Some(Vocabulary::O200k));
        assert_eq!(of("openai", "ft:gpt-4.1:a:b"), Some(Vocabulary::O200k));
        assert_eq!(of("openai", "gpt-4-turbo"), Some(Vocabulary::Cl100k));
        assert_eq!(of("azure", "gpt-4.1"), Some(Vocabulary::O200k));
        assert_eq!(of("openai", "gpt-oss"), None);
        assert_eq!(of("anthropic", "claude-sonnet-5"), None);
    }
}
