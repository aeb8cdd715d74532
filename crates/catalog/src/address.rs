//! Where a provider's operations live.

use serde::Deserialize;

use crate::{Dialect, Provider};

/// Stands for the model's name in a path.
const MODEL: &str = "{model}";
/// Stands for a region's name in a base address.
pub(crate) const REGION: &str = "{region}";

/// Where a provider's operations live, below its base URL. `{model}` stands for the model's name.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paths {
    /// The answer of a model, in the provider's own dialect.
    pub chat: String,
    /// The same as a stream, where that is another path.
    pub stream: Option<String>,
    /// The answer of a model in OpenAI's newer form.
    pub responses: Option<String>,
    /// OpenAI's completions of a text.
    pub completions: Option<String>,
    /// Embeddings, in the provider's own dialect.
    pub embeddings: Option<String>,
    /// The same for several texts, where that is another path.
    pub embeddings_batch: Option<String>,
    /// How many tokens a request would have.
    pub count_tokens: Option<String>,
    /// The member of a body, and its text, that stands in the place of `model`, where the path names the model and the body must
    /// not; for Claude at Vertex `anthropic_version` and `vertex-2023-10-16`
    /// (<https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude>).
    pub instead_of_model: Option<[String; 2]>,
}

/// One of a provider's operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "as in `Paths`")]
pub enum Endpoint {
    Chat,
    Stream,
    Responses,
    Completions,
    Embeddings,
    EmbeddingsBatch,
    CountTokens,
}

impl Paths {
    /// The path of `endpoint`; `None` where the provider has no such operation.
    pub fn of(&self, endpoint: Endpoint) -> Option<&str> {
        let path = match endpoint {
            Endpoint::Chat => Some(&self.chat),
            Endpoint::Stream => self.stream.as_ref().or(Some(&self.chat)),
            Endpoint::Responses => self.responses.as_ref(),
            Endpoint::Completions => self.completions.as_ref(),
            Endpoint::Embeddings => self.embeddings.as_ref(),
            Endpoint::EmbeddingsBatch => self.embeddings_batch.as_ref(),
            Endpoint::CountTokens => self.count_tokens.as_ref(),
        };
        path.map(String::as_str)
    }

    /// Every path that there is, with its key.
    fn all(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("chat", Some(&self.chat)),
            ("stream", self.stream.as_ref()),
            ("responses", self.responses.as_ref()),
            ("completions", self.completions.as_ref()),
            ("embeddings", self.embeddings.as_ref()),
            ("embeddings_batch", self.embeddings_batch.as_ref()),
            ("count_tokens", self.count_tokens.as_ref()),
        ];
        all.into_iter()
            .filter_map(|(key, path)| Some((key, path?.as_str())))
    }
}

impl Provider {
    /// Where it is reached in `region`; `None` where it has no address by region.
    ///
    /// ```
    /// let bedrock = sluicegate_catalog::provider("bedrock").expect("a row of that name");
    /// assert_eq!(
    ///     bedrock.url_in("eu-central-1").as_deref(),
    ///     Some("https://bedrock-runtime.eu-central-1.amazonaws.com")
    /// );
    /// ```
    pub fn url_in(&self, region: &str) -> Option<String> {
        let template = self.region_url.as_ref()?;
        Some(template.replace(REGION, region))
    }

    /// The address of `endpoint` for `model` below `base`, which may or may not already name the beginning of the path or the
    /// version (`https://api.openai.com` and `https://api.openai.com/v1` are both customary). `None` where the provider has no
    /// such operation.
    ///
    /// ```
    /// use sluicegate_catalog::Endpoint;
    /// let openai = sluicegate_catalog::provider("openai").expect("a row of that name");
    /// assert_eq!(
    ///     openai.url("http://127.0.0.1:9000/v1/", Endpoint::Chat, "gpt-5.5").as_deref(),
    ///     Some("http://127.0.0.1:9000/v1/chat/completions")
    /// );
    /// ```
    pub fn url(&self, base: &str, endpoint: Endpoint, model: &str) -> Option<String> {
        let path = self.paths.of(endpoint)?;
        let base = base.trim_end_matches('/');
        let names_version = base.rsplit('/').next().is_some_and(is_version);
        let path = if names_version {
            after_version(path)
        } else {
            after_shared(base, path)
        };
        if path.contains(MODEL) {
            return Some(format!("{base}{}", path.replace(MODEL, &segment(model))));
        }
        Some(format!("{base}{path}"))
    }
}

impl Provider {
    /// What is wrong with its paths, each with its key.
    pub(crate) fn path_problems(&self) -> Vec<(&'static str, &'static str)> {
        let mut problems = Vec::new();
        for (key, path) in self.paths.all() {
            let rest = path.replace(MODEL, "");
            if !path.starts_with('/') {
                problems.push((key, "does not begin with a slash"));
            }
            if rest.contains(['{', '}']) {
                problems.push((key, "has braces around something other than {model}"));
            }
            if rest.len() == path.len() && self.only_path_names_model(key) {
                problems.push((
                    key,
                    "has no place for {model}, and the body does not name it either",
                ));
            }
        }
        problems
    }

    fn only_path_names_model(&self, key: &str) -> bool {
        match self.dialect {
            Dialect::Gemini | Dialect::Bedrock => true,
            Dialect::OpenAi | Dialect::Anthropic | Dialect::Cohere => {
                matches!(key, "chat" | "stream") && self.paths.instead_of_model.is_some()
            }
        }
    }
}

/// `model` as one segment of a path: names of models hold colons and slashes.
fn segment(model: &str) -> String {
    let mut segment = String::with_capacity(model.len());
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'@' => {
                segment.push(char::from(byte));
            }
            _ => {
                segment.push('%');
                for digit in [byte >> 4, byte & 15] {
                    segment.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
                }
            }
        }
    }
    segment
}

/// `v1`, `v4`, `v1beta`.
fn is_version(segment: &str) -> bool {
    segment
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The part of `path` behind its version segment; all of it where it has none.
fn after_version(path: &str) -> &str {
    let mut end = 0;
    for segment in path.split_inclusive('/') {
        end += segment.len();
        if is_version(segment.trim_end_matches('/')) {
            return &path[end - 1..];
        }
    }
    path
}

/// The part of `path` that `base` does not end in already, by whole segments.
fn after_shared<'p>(base: &str, path: &'p str) -> &'p str {
    let ends = path.match_indices('/').map(|(end, _)| end).rev();
    let mut ends = ends.filter(|&end| end > 0 && base.ends_with(&path[..end]));
    ends.next().map_or(path, |end| &path[end..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[test]
    fn a_base_that_names_the_version_is_not_given_it_twice() {
        let openai = provider("openai").expect("a row");
        let azure = provider("azure").expect("a row");
        let cases = [
            (
                openai,
                "https://api.openai.com",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                openai,
                "http://localhost:8000/v1",
                "http://localhost:8000/v1/chat/completions",
            ),
            (
                openai,
                "http://localhost/api/v4/",
                "http://localhost/api/v4/chat/completions",
            ),
            (
                azure,
                "https://x.example",
                "https://x.example/openai/v1/chat/completions",
            ),
            (
                azure,
                "https://x.example/openai/v1/",
                "https://x.example/openai/v1/chat/completions",
            ),
            (
                provider("groq").expect("a row"),
                "https://api.groq.com/openai",
                "https://api.groq.com/openai/v1/chat/completions",
            ),
            (
                provider("naver").expect("a row"),
                "https://clovastudio.stream.ntruss.com/v1/openai/",
                "https://clovastudio.stream.ntruss.com/v1/openai/chat/completions",
            ),
            (
                provider("deepseek").expect("a row"),
                "https://api.deepseek.com/v1",
                "https://api.deepseek.com/v1/chat/completions",
            ),
        ];
        for (row, base, url) in cases {
            assert_eq!(row.url(base, Endpoint::Chat, "m").as_deref(), Some(url));
        }
    }

    #[test]
    fn a_model_in_a_path_is_one_segment() {
        let url = |id: &str, base, endpoint, model| {
            let row = provider(id).expect("a row");
            row.url(base, endpoint, model).expect("an operation")
        };
        assert_eq!(
            url(
                "gemini",
                "https://x.example/v1beta",
                Endpoint::Stream,
                "gemini-2.5-pro"
            ),
            "https://x.example/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
        );
        assert_eq!(
            url(
                "bedrock",
                "https://x.example",
                Endpoint::Chat,
                "anthropic.claude-v2:1/a"
            ),
            "https://x.example/model/anthropic.claude-v2%3A1%2Fa/converse"
        );
        assert_eq!(
            url(
                "vertex",
                "https://x.example/v1/projects/p/locations/global",
                Endpoint::Chat,
                "gemini-2.5-pro"
            ),
            "https://x.example/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-pro:generateContent"
        );
    }

    #[test]
    fn a_model_that_no_body_names_stands_in_the_path() {
        let said = |like: &str, paths: &str| {
            let row = format!("like = \"{like}\"\nid = \"x\"\npaths = {{ {paths} }}");
            let row = Provider::from_toml(&row);
            row.err()
                .map_or_else(String::new, |error| error.to_string())
        };
        let nowhere = "has no place for {model}, and the body does not name it either";
        for (like, paths, wrong) in [
            ("openai", "chat = \"/chat\"", String::new()),
            ("anthropic", "chat = \"/m\"", String::new()),
            (
                "gemini",
                "chat = \"/chat\"",
                format!("paths.chat: {nowhere}"),
            ),
            (
                "anthropic",
                "chat = \"/{model}:raw\", stream = \"/raw\", instead_of_model = [\"v\", \"1\"]",
                format!("paths.stream: {nowhere}"),
            ),
            (
                "openai",
                "chat = \"/{deployment}/chat\"",
                "paths.chat: has braces around something other than {model}".to_owned(),
            ),
        ] {
            assert_eq!(said(like, paths), wrong, "{like} {paths}");
        }
    }

    #[test]
    fn what_a_provider_does_not_have_has_no_address() {
        let anthropic = provider("anthropic").expect("a row");
        assert_eq!(
            anthropic.url("https://x.example", Endpoint::Embeddings, "m"),
            None
        );
    }
}
