//! What decisions need to know of a messages request; the rest stays bytes.
//!
//! Read as strictly and as cheaply as a chat completion: checked once for being JSON, then walked.

use bytes::Bytes;

use super::content::Content;
use super::members::Members;
use crate::RequestFacts;
use crate::canonical::Feature;
use crate::json::{self, Span};
use crate::request_error::RequestError;
use crate::request_member::{OUTPUT_CAP_MAX, checked_object, count, flag, length, model};

/// A messages request, read as far as deciding needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// What it asks for. There is always an output maximum for [`Call::Messages`].
    pub facts: RequestFacts,
    pub(super) body: Bytes,
    pub(super) places: Places,
}

/// What is asked for with such a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// An answer: `max_tokens` has to be there.
    Messages,
    /// Only how many tokens the input has: no output, so no maximum of it.
    CountTokens,
}

/// Where the members stand that a rewrite may change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Places {
    pub(super) model: Span,
    pub(super) max_tokens: Option<Span>,
    /// Thoughts that no Claude sealed, and messages of nothing else.
    pub(super) foreign_thoughts: Vec<Span>,
    /// How to think, where the model is in the middle of calls for which it does not get all that was thought,
    /// as no Claude thought it.
    pub(super) thinking: Option<Span>,
    /// Whether it gets nothing that was thought before the last of them.
    pub(super) is_amid_foreign_calls: bool,
}

impl Envelope {
    /// Reads a request's body, which the envelope keeps (a cheap clone).
    ///
    /// `null` is the same as leaving a member out. Sizes are bytes after JSON escapes are undone.
    ///
    /// # Errors
    /// [`RequestError`] where the body is no JSON object in UTF-8, `model`, `messages` or a
    /// `max_tokens` that the call needs are missing, or a member that is read here has an impossible
    /// value or stands twice.
    ///
    /// ```
    /// use sluicegate_dialect::anthropic::{Call, Envelope};
    /// let body = r#"{"model":"claude-sonnet-5","max_tokens":64,"messages":[{"role":"user","content":"hi"}]}"#.into();
    /// let envelope = Envelope::decode(&body, Call::Messages)?;
    /// assert_eq!(envelope.facts.model, "claude-sonnet-5");
    /// assert_eq!(envelope.facts.output_cap, Some(64));
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn decode(body: &Bytes, call: Call) -> Result<Self, RequestError> {
        let root = checked_object(body)?;
        let mut members = Members::find(root)?;
        let model = model(body, members.model.as_ref())?;
        if members.content.messages == 0 {
            return Err(Content::missing());
        }
        let range = 0..=OUTPUT_CAP_MAX;
        let output_cap = count(body, "max_tokens", members.max_tokens.as_ref(), range)?;
        if call == Call::Messages && output_cap.is_none() {
            return Err(RequestError::of(
                "max_tokens",
                "`max_tokens` is missing: name the largest output allowed, in tokens",
            ));
        }
        let foreign_thoughts = std::mem::take(&mut members.content.foreign_thoughts);
        let last = members.content.last;
        let is_amid_foreign_calls = last.calls && last.foreign_thoughts && !last.own_thoughts;
        let misses_thoughts = is_amid_foreign_calls || members.content.misses_thoughts;
        Ok(Self {
            facts: RequestFacts {
                model,
                stream: flag(body, "stream", members.stream.as_ref())?,
                output_cap,
                choices: 1,
                best_of: 1,
                messages: members.content.messages,
                images: members.content.images,
                image_tokens: members.content.image_tokens,
                audios: 0,
                documents: members.content.documents,
                tools_bytes: length(members.tools.as_ref()),
                form_bytes: length(members.output_config.as_ref()),
                text: members.content.text(),
                ready_tokens: 0,
            },
            body: body.clone(),
            places: Places {
                model: members.model.unwrap_or_default(),
                max_tokens: members.max_tokens,
                foreign_thoughts,
                thinking: members.thinking.filter(|_| misses_thoughts),
                is_amid_foreign_calls,
            },
        })
    }

    /// What a request goes without that is sent to Claude with its own thoughts only.
    pub(crate) fn foregone(&self) -> Option<Feature> {
        let thinking = self.places.thinking.as_ref()?;
        let kind = json::member(&self.body, thinking.start, "type")?;
        match &self.body[kind] {
            b"\"enabled\"" if self.places.is_amid_foreign_calls => Some(Feature::Thinking),
            b"\"disabled\"" => None,
            _ => Some(Feature::Thoughts),
        }
    }

    /// The body that was read.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(body: &str, call: Call) -> Result<Envelope, RequestError> {
        Envelope::decode(&Bytes::copy_from_slice(body.as_bytes()), call)
    }

    #[test]
    fn a_maximum_is_needed_for_an_answer_only() {
        let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":null}"#;
        let error = decode(body, Call::Messages).expect_err("no maximum");
        assert_eq!(error.param, Some("max_tokens"));
        let counted = decode(body, Call::CountTokens).expect("a request");
        assert_eq!(
            (counted.facts.output_cap, counted.facts.stream),
            (None, false)
        );
    }

    #[test]
    fn members_that_decide_are_strict() {
        let cases = [
            (
                r#""max_tokens":-1"#,
                "`max_tokens` must be a whole number from 0 to 2147483648, not -1",
            ),
            (
                r#""max_tokens":5,"max_tokens":5"#,
                "`max_tokens` is written twice: which one counts is not defined, so leave one out",
            ),
            (
                r#""max_tokens":5,"stream":1"#,
                "`stream` must be true or false, not 1",
            ),
            (
                r#""max_tokens":5,"system":"a","system":"b""#,
                "`system` is written twice: which one counts is not defined, so leave one out",
            ),
        ];
        for (members, message) in cases {
            let body = format!(r#"{{"model":"m","messages":[{{}}],{members}}}"#);
            let error = decode(&body, Call::Messages).expect_err(members);
            assert_eq!(error.message, message);
        }
    }

    #[test]
    fn definitions_are_measured() {
        let body = r#"{"model":"m","max_tokens":1,"stream":true,"tools":[{"name":"a"}],
            "output_config":{"effort":"low"},"messages":[{"role":"user","content":"hi"}]}"#;
        let envelope = decode(body, Call::Messages).expect("a request");
        assert_eq!(
            (envelope.facts.tools_bytes, envelope.facts.form_bytes),
            (14, 16)
        );
        assert!(envelope.facts.stream);
    }
}
