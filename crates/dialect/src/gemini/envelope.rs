//! What decisions need to know of a request; the rest stays bytes.
//!
//! Read as strictly and as cheaply as a chat completion: checked once for being JSON, then walked.

use bytes::Bytes;

use super::content::Content;
use super::members::Members;
use crate::RequestFacts;
use crate::canonical::Feature;
use crate::json::{self, Span};
use crate::request_error::RequestError;
use crate::request_member::{MODEL_BYTES_MAX, OUTPUT_CAP_MAX, checked_members, count};

/// The most candidates for one answer; more than any model gives.
const CANDIDATES_MAX: u64 = 128;

/// A request, read as far as deciding needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// What it asks for.
    pub facts: RequestFacts,
    pub(super) body: Bytes,
    pub(super) call: Call,
    pub(super) places: Places,
}

/// What is asked for with such a body: the method behind the colon of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// An answer.
    GenerateContent,
    /// An answer as a stream.
    StreamGenerateContent,
    /// Only how many tokens the input has.
    CountTokens,
    /// The vector of one content.
    EmbedContent,
    /// The vectors of several.
    BatchEmbedContents,
}

impl Call {
    /// The call of that name; `None` for one that is not read here.
    ///
    /// ```
    /// use sluicegate_dialect::gemini::Call;
    /// assert_eq!(Call::named("countTokens"), Some(Call::CountTokens));
    /// assert_eq!(Call::named("predict"), None);
    /// ```
    pub fn named(method: &str) -> Option<Self> {
        Some(match method {
            "generateContent" => Self::GenerateContent,
            "streamGenerateContent" => Self::StreamGenerateContent,
            "countTokens" => Self::CountTokens,
            "embedContent" => Self::EmbedContent,
            "batchEmbedContents" => Self::BatchEmbedContents,
            _ => return None,
        })
    }

    /// Whether it asks for an answer, which has a maximum.
    pub const fn generates(self) -> bool {
        matches!(self, Self::GenerateContent | Self::StreamGenerateContent)
    }
}

/// Where the members stand that a rewrite may change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Places {
    /// Where the `{` of the body stands.
    pub(super) root: usize,
    pub(super) models: Vec<Span>,
    pub(super) generation_config: Option<Span>,
    pub(super) max_output_tokens: Option<Span>,
    /// Thoughts that another provider sealed, and contents of nothing else.
    pub(super) foreign_thoughts: Vec<Span>,
    /// Seals that stand for another model's, in the form in which they are answered.
    pub(super) stand_ins: Vec<Span>,
    pub(super) misses_thoughts: bool,
}

impl Envelope {
    /// Reads a request's body, which the envelope keeps (a cheap clone), for `model`, which stands in
    /// the path of the request as `call` does.
    ///
    /// `null` is the same as leaving a member out, and a number may stand in quotes. Sizes are bytes
    /// after JSON escapes are undone.
    ///
    /// # Errors
    /// [`RequestError`] where the model's name is empty or too long, the body is no JSON object in
    /// UTF-8, what the call is about is missing, or a member that is read here has an impossible value
    /// or stands twice.
    ///
    /// ```
    /// use sluicegate_dialect::gemini::{Call, Envelope};
    /// let body = r#"{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":64}}"#.into();
    /// let envelope = Envelope::decode(&body, "gemini-2.5-flash", Call::StreamGenerateContent)?;
    /// assert!(envelope.facts.stream);
    /// assert_eq!(envelope.facts.output_cap, Some(64));
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn decode(body: &Bytes, model: &str, call: Call) -> Result<Self, RequestError> {
        let model = checked_model(model)?;
        let root = checked_members(body, "the body must be a JSON object")?;
        let root_at = root.position();
        let mut members = Members::find(root)?;
        if members.content.messages == 0 {
            return Err(Content::missing(match call {
                Call::EmbedContent => "content",
                Call::BatchEmbedContents => "requests",
                _ => "contents",
            }));
        }
        let number = |name, place: Option<&Span>, range| {
            let place = place.map(|place| unquoted(body, place));
            count(body, name, place.as_ref(), range)
        };
        let written = members
            .max_output_tokens
            .as_ref()
            .filter(|_| call.generates());
        let output_cap = number("maxOutputTokens", written, 0..=OUTPUT_CAP_MAX)?;
        let choices = number(
            "candidateCount",
            members.candidate_count.as_ref(),
            1..=CANDIDATES_MAX,
        )?;
        let foreign_thoughts = std::mem::take(&mut members.content.foreign_thoughts);
        let misses_thoughts = members.content.misses_thoughts;
        let stand_ins = std::mem::take(&mut members.content.stand_ins);
        Ok(Self {
            facts: RequestFacts {
                ready_tokens: 0,
                model,
                stream: call == Call::StreamGenerateContent,
                output_cap,
                choices: choices.unwrap_or(1),
                best_of: 1,
                messages: members.content.messages,
                images: members.content.images,
                image_tokens: members.content.image_tokens,
                audios: members.content.audios,
                documents: members.content.documents,
                tools_bytes: members.tools_bytes,
                form_bytes: members.form_bytes,
                text: members.content.text(),
            },
            body: body.clone(),
            call,
            places: Places {
                root: root_at,
                models: members.models,
                generation_config: members.generation_config,
                max_output_tokens: members.max_output_tokens,
                foreign_thoughts,
                stand_ins,
                misses_thoughts,
            },
        })
    }

    /// What a request goes without that is sent to Google with its own thoughts only.
    pub(crate) fn foregone(&self) -> Option<Feature> {
        let misses = self.places.misses_thoughts;
        misses.then_some(Feature::Thoughts)
    }

    /// The body that was read.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// What is asked for with it.
    pub const fn call(&self) -> Call {
        self.call
    }
}

fn checked_model(model: &str) -> Result<String, RequestError> {
    if model.is_empty() {
        let message = "the path names no model: name the model or route to use, like `models/gemini-2.5-flash:generateContent`";
        return Err(RequestError::of("model", message));
    }
    if model.len() > MODEL_BYTES_MAX {
        let message = format!("the model's name is longer than {MODEL_BYTES_MAX} bytes");
        return Err(RequestError::of("model", &message));
    }
    Ok(model.to_owned())
}

/// Without the quotes in which a number may stand.
fn unquoted(body: &[u8], value: &Span) -> Span {
    let inner = value.start + 1..value.end.saturating_sub(1);
    if body[value.start] == b'"' && json::unsigned(body, &inner).is_some() {
        inner
    } else {
        value.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(body: &str, call: Call) -> Result<Envelope, RequestError> {
        Envelope::decode(&Bytes::copy_from_slice(body.as_bytes()), "m", call)
    }

    #[test]
    fn members_are_read_in_both_spellings() {
        for body in [
            r#"{"contents":[{}],"tools":[{}],"generationConfig":{"maxOutputTokens":"64","candidateCount":2,"responseSchema":{"type":"OBJECT"}}}"#,
            r#"{"contents":[{}],"tools":[{}],"generation_config":{"max_output_tokens":64,"candidate_count":2,"response_json_schema":{"type":"object"}}}"#,
        ] {
            let facts = decode(body, Call::GenerateContent)
                .expect("a request")
                .facts;
            assert_eq!(
                (facts.output_cap, facts.choices, facts.stream),
                (Some(64), 2, false)
            );
            assert_eq!((facts.tools_bytes, facts.form_bytes), (4, 17));
        }
    }

    #[test]
    fn every_call_has_its_own_body() {
        let whole = r#"{"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"abc"}]}],
            "systemInstruction":{"parts":[{"text":"de"}]},"generationConfig":{"maxOutputTokens":-1}}}"#;
        let batch = r#"{"requests":[{"model":"models/m","content":{"parts":[{"text":"abc"}]}},{"content":{"parts":[{"text":"de"}]}}]}"#;
        let cases = [
            (Call::CountTokens, whole, 1),
            (
                Call::EmbedContent,
                r#"{"content":{"parts":[{"text":"abcde"}]}}"#,
                1,
            ),
            (Call::BatchEmbedContents, batch, 2),
        ];
        for (call, body, messages) in cases {
            let facts = decode(body, call).expect(body).facts;
            assert_eq!((facts.messages, facts.text.bytes), (messages, 5), "{body}");
            assert_eq!((facts.output_cap, facts.stream), (None, false));
            let error = decode("{}", call).expect_err("it says nothing");
            assert!(error.message.contains("is missing"), "{error}");
        }
    }

    #[test]
    fn members_that_decide_are_strict() {
        let cases = [
            (
                r#""generationConfig":{"maxOutputTokens":-1}"#,
                "`maxOutputTokens` must be a whole number from 0 to 2147483648, not -1",
            ),
            (
                r#""generationConfig":{"maxOutputTokens":"many"}"#,
                "`maxOutputTokens` must be a whole number from 0 to 2147483648, not a string",
            ),
            (
                r#""generation_config":{"candidate_count":0}"#,
                "`candidateCount` must be a whole number from 1 to 128, not 0",
            ),
            (
                r#""generationConfig":{},"generation_config":{}"#,
                "`generationConfig` is written twice: which one counts is not defined, so leave one out",
            ),
            (
                r#""generationConfig":{"maxOutputTokens":1,"max_output_tokens":2}"#,
                "`maxOutputTokens` is written twice: which one counts is not defined, so leave one out",
            ),
            (
                r#""generationConfig":[]"#,
                "`generationConfig` must be an object, not an array",
            ),
            (r#""model":7"#, "`model` must be a string, not 7"),
        ];
        for (member, message) in cases {
            let body = format!(r#"{{"contents":[{{}}],{member}}}"#);
            let error = decode(&body, Call::GenerateContent).expect_err(&body);
            assert_eq!(error.message, message, "{body}");
        }
        let error = decode("[]", Call::GenerateContent).expect_err("no object");
        assert_eq!(error.message, "the body must be a JSON object");
        let body = Bytes::from_static(b"{}");
        for model in ["", &"m".repeat(257)] {
            let error = Envelope::decode(&body, model, Call::GenerateContent);
            assert_eq!(error.expect_err("no model").param, Some("model"));
        }
    }
}
