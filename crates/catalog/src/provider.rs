//! A provider's row: who it is, how it is reached, and the facts about it.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use sluicegate_core::Meter;

use crate::vocabulary;
use crate::{
    BodyHint, Charge, ErrorMatch, Images, LanePriority, LimitRow, ModelVocabulary, Paths,
    SignalRow, Translation, Vocabulary, WorkMs,
};

/// The rows' texts, sorted by id.
const ROWS: &[&str] = &[
    include_str!("../rows/anthropic.toml"),
    include_str!("../rows/azure.toml"),
    include_str!("../rows/azure_ptu.toml"),
    include_str!("../rows/bedrock.toml"),
    include_str!("../rows/bedrock_mantle.toml"),
    include_str!("../rows/cerebras.toml"),
    include_str!("../rows/cohere.toml"),
    include_str!("../rows/deepseek.toml"),
    include_str!("../rows/fireworks.toml"),
    include_str!("../rows/gemini.toml"),
    include_str!("../rows/groq.toml"),
    include_str!("../rows/mistral.toml"),
    include_str!("../rows/naver.toml"),
    include_str!("../rows/openai.toml"),
    include_str!("../rows/openrouter.toml"),
    include_str!("../rows/raon.toml"),
    include_str!("../rows/tgi.toml"),
    include_str!("../rows/together.toml"),
    include_str!("../rows/upstage.toml"),
    include_str!("../rows/vertex.toml"),
    include_str!("../rows/vllm.toml"),
    include_str!("../rows/xai.toml"),
];

static PROVIDERS: LazyLock<Vec<Arc<Provider>>> = LazyLock::new(|| {
    let row =
        |text: &&str| toml::from_str(text).expect("a test parses every row that is compiled in");
    ROWS.iter().map(|text| Arc::new(row(text))).collect()
});

/// Every provider that is compiled in, sorted by id. Shared, so that whoever holds one need not care whether it is
/// compiled in or was written by a user.
pub fn providers() -> &'static [Arc<Provider>] {
    &PROVIDERS
}

/// The provider of that id or alias.
pub fn provider(id: &str) -> Option<&'static Arc<Provider>> {
    providers()
        .iter()
        .find(|row| row.id == id || row.aliases.iter().any(|alias| alias == id))
}

/// The text of the row of that id or alias.
pub(crate) fn text_of(id: &str) -> Option<&'static str> {
    let row = provider(id)?;
    let place = providers().iter().position(|other| other.id == row.id)?;
    ROWS.get(place).copied()
}

/// What one provider does.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Its name in configuration and metrics.
    pub id: String,
    /// Other names under which configuration may ask for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Its name for people.
    pub name: String,
    /// The wire format that it speaks.
    pub dialect: Dialect,
    /// Where it is reached; `None` where every customer has an address of their own.
    pub base_url: Option<String>,
    /// Where it is reached in a region, whose name takes the place of `{region}`; `None` where no account names a region.
    pub region_url: Option<String>,
    /// Under what name requests are signed for it (AWS Signature Version 4), where that may stand in for a key.
    pub aws_service: Option<String>,
    /// Environment variables that hold a key by convention, best known first.
    pub env_keys: Vec<String>,
    /// How it wants the key.
    pub auth: Auth,
    /// Where its operations live.
    pub paths: Paths,
    /// Headers that it wants, by name in lower case, with what they say where the client says nothing.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// What a request that is translated into its dialect has to heed.
    #[serde(default)]
    pub translation: Translation,
    /// Headers that carry its name for a request, best one first.
    pub request_id: Vec<String>,
    /// Well-known model names, sorted.
    pub models: Vec<String>,
    /// Model names that it serves: exact, or with a `*` at the end.
    pub model_patterns: Vec<String>,
    /// Its limits.
    pub limits: Vec<LimitRow>,
    /// What its limits take for a request.
    pub charge: Charge,
    /// Headers that tell the state of its limits.
    pub signals: Vec<SignalRow>,
    /// Where answers tell how long it worked at them; `None` where nothing does.
    pub work_ms: Option<WorkMs>,
    /// How a request tells it our lane; `None` where it has no order of its own or lets nobody name it.
    pub lane_priority: Option<LanePriority>,
    /// What it makes of an image's size; `None` where that is not known.
    #[serde(default)]
    pub images: Option<Images>,
    /// From which published vocabularies the tokens of its models are; models that fit none are not known.
    #[serde(default)]
    pub vocabularies: Vec<ModelVocabulary>,
    /// Where the body of a refusal says how long to wait, the best place first.
    #[serde(default)]
    pub retry_in_body: Vec<BodyHint>,
    /// What its errors mean; the first entry that fits decides.
    pub errors: Vec<ErrorMatch>,
}

/// A wire format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// OpenAI's chat completions and what follows them.
    #[serde(rename = "openai")]
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's generateContent.
    Gemini,
    /// Amazon's Converse.
    Bedrock,
    /// Cohere's chat, version 2.
    Cohere,
}

impl Dialect {
    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Gemini",
            Self::Bedrock => "Bedrock",
            Self::Cohere => "Cohere",
        }
    }
}

/// How a provider wants the key.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// The header's name, in lower case.
    pub header: String,
    /// The word before the key, with a space between them.
    pub scheme: Option<String>,
}

impl Auth {
    /// The header's value for `key`. It holds the secret: mark it as sensitive.
    pub fn value(&self, key: &str) -> String {
        match &self.scheme {
            Some(scheme) => format!("{scheme} {key}"),
            None => key.to_owned(),
        }
    }
}

impl Provider {
    /// The vocabulary of `model`, by the provider's name for it, where that is known.
    pub fn vocabulary(&self, model: &str) -> Option<Vocabulary> {
        vocabulary::find(&self.vocabularies, model)
    }

    /// Whether it serves a model of that name, as far as the row can tell.
    pub fn serves(&self, model: &str) -> bool {
        self.model_patterns
            .iter()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(stem) => model.starts_with(stem),
                None => model == pattern,
            })
    }
}

pub(crate) fn meter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Meter, D::Error> {
    let name = String::deserialize(deserializer)?;
    Meter::from_name(&name).ok_or_else(|| D::Error::custom(format!("no meter `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_holds_together() {
        let rows = providers();
        assert!(
            rows.is_sorted_by(|a, b| a.id < b.id),
            "rows are sorted and no id stands twice"
        );
        let mut names = BTreeSet::new();
        for row in rows {
            for name in row.aliases.iter().chain([&row.id]) {
                assert!(names.insert(name), "`{name}` names two rows");
            }
            assert!(!row.env_keys.is_empty(), "{}", row.id);
            assert_eq!(row.problems(), Vec::new(), "{}", row.id);
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        let row = include_str!("../rows/openai.toml").replace("request_id =", "request_ids =");
        let error = toml::from_str::<Provider>(&row).expect_err("a key that no row has");
        assert!(error.to_string().contains("request_ids"), "{error}");
    }

    #[test]
    fn an_alias_finds_the_row() {
        assert_eq!(
            provider("azure_openai").map(|row| row.id.as_str()),
            Some("azure")
        );
        assert_eq!(provider("nobody"), None);
    }

    #[test]
    fn keys_go_where_the_provider_wants_them() {
        assert_eq!(
            provider("openai").expect("a row").auth.value("k"),
            "Bearer k"
        );
        assert_eq!(provider("azure").expect("a row").auth.value("k"), "k");
    }

    #[test]
    fn patterns_end_in_a_star() {
        let openai = provider("openai").expect("a row");
        assert!(openai.serves("gpt-9-nano") && openai.serves("o3-pro"));
        assert!(!openai.serves("claude-opus") && !openai.serves("gpt"));
    }
}
