//! What decisions need to know of a request for a response; the rest stays bytes.
//!
//! Read as strictly and as cheaply as a chat completion: checked once for being JSON, then walked.
//! What a provider keeps of earlier responses is not seen here, so that estimates leave it out.

use bytes::Bytes;

use super::content::Content;
use super::members::Members;
use crate::RequestFacts;
use crate::canonical::Feature;
use crate::json::{self, Span};
use crate::request_error::RequestError;
use crate::request_member::{OUTPUT_CAP_MAX, checked_object_with, count, flag, length, model};

/// A request for a response, read as far as deciding needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// What it asks for. Every item of the input counts as a message.
    pub facts: RequestFacts,
    pub(super) body: Bytes,
    pub(super) places: Places,
}

/// Where the members stand that a rewrite may change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Places {
    /// Behind the brace that opens the body.
    pub(super) body_start: usize,
    pub(super) model: Span,
    pub(super) max_output_tokens: Option<Span>,
    /// Thoughts that another provider sealed.
    pub(super) foreign_thoughts: Vec<Span>,
    pub(super) misses_thoughts: bool,
}

impl Envelope {
    /// Reads a request's body, which the envelope keeps (a cheap clone).
    ///
    /// `null` is the same as leaving a member out. Sizes are bytes after JSON escapes are undone.
    ///
    /// # Errors
    /// [`RequestError`] where the body is no JSON object in UTF-8, `model` is missing, `input` is and
    /// nothing stands for it (`prompt`, `previous_response_id`, `conversation`), the answer is to be
    /// fetched later (`background`), or a member that is read here has an impossible value or stands
    /// twice.
    ///
    /// ```
    /// use sluicegate_dialect::responses::Envelope;
    /// let body = r#"{"model":"gpt-5.5","input":"hi","max_output_tokens":64}"#.into();
    /// let envelope = Envelope::decode(&body)?;
    /// assert_eq!(envelope.facts.model, "gpt-5.5");
    /// assert_eq!(envelope.facts.output_cap, Some(64));
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn decode(body: &Bytes) -> Result<Self, RequestError> {
        let root = checked_object_with(body, "`model` and `input`")?;
        let body_start = root.position() + 1;
        let mut members = Members::find(root)?;
        let model = model(body, members.model.as_ref())?;
        if !members.has_input {
            return Err(Content::missing());
        }
        let range = 0..=OUTPUT_CAP_MAX;
        let cap = members.max_output_tokens.as_ref();
        let foreign_thoughts = std::mem::take(&mut members.content.foreign_thoughts);
        let misses_thoughts = members.content.misses_thoughts;
        let format = members
            .text
            .and_then(|text| json::member(body, text.start, "format"));
        Ok(Self {
            facts: RequestFacts {
                model,
                stream: flag(body, "stream", members.stream.as_ref())?,
                output_cap: count(body, "max_output_tokens", cap, range)?,
                choices: 1,
                best_of: 1,
                messages: members.content.messages,
                images: members.content.images,
                image_tokens: members.content.image_tokens,
                audios: members.content.audios,
                documents: members.content.documents,
                tools_bytes: length(members.tools.as_ref()),
                form_bytes: length(format.as_ref()),
                text: members.content.text(),
                ..RequestFacts::default()
            },
            body: body.clone(),
            places: Places {
                body_start,
                model: members.model.unwrap_or_default(),
                max_output_tokens: members.max_output_tokens,
                foreign_thoughts,
                misses_thoughts,
            },
        })
    }

    /// What a request goes without that is sent to OpenAI with its own thoughts only.
    pub(crate) fn foregone(&self) -> Option<Feature> {
        let misses = self.places.misses_thoughts;
        misses.then_some(Feature::Thoughts)
    }

    /// The body that was read.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(body: &str) -> Result<Envelope, RequestError> {
        Envelope::decode(&Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn what_the_provider_keeps_stands_for_an_input() {
        for member in [
            r#""previous_response_id":"resp_1""#,
            r#""prompt":{"id":"pmpt_1"}"#,
            r#""conversation":"conv_1","input":null"#,
        ] {
            let body = format!(r#"{{"model":"m",{member}}}"#);
            assert_eq!(decode(&body).expect(member).facts.messages, 0);
        }
        let error = decode(r#"{"model":"m","previous_response_id":null}"#);
        assert_eq!(error.expect_err("no input").param, Some("input"));
    }

    #[test]
    fn nothing_is_answered_in_the_background() {
        let body = |value: &str| format!(r#"{{"model":"m","input":"a","background":{value}}}"#);
        for value in ["false", "null"] {
            decode(&body(value)).expect(value);
        }
        let error = decode(&body("true")).expect_err("it could not be fetched");
        assert_eq!(error.param, Some("background"));
    }

    #[test]
    fn members_that_decide_are_strict() {
        let cases = [
            (
                r#""max_output_tokens":-1"#,
                "`max_output_tokens` must be a whole number from 0 to 2147483648, not -1",
            ),
            (
                r#""max_output_tokens":5,"max_output_tokens":null"#,
                "`max_output_tokens` is written twice: which one counts is not defined, so leave one out",
            ),
            (r#""stream":1"#, "`stream` must be true or false, not 1"),
            (
                r#""input":"b""#,
                "`input` is written twice: which one counts is not defined, so leave one out",
            ),
        ];
        for (members, message) in cases {
            let body = format!(r#"{{"model":"m","input":"a",{members}}}"#);
            assert_eq!(decode(&body).expect_err(members).message, message);
        }
        let error = decode("7").expect_err("no object");
        assert_eq!(
            error.message,
            "the body must be a JSON object with `model` and `input`"
        );
    }

    #[test]
    fn definitions_are_measured() {
        let body = r#"{"model":"m","stream":true,"tools":[{"name":"a"}],"max_output_tokens":null,
            "text":{"verbosity":"low","format":{"type":"json_object"}},"input":"hi"}"#;
        let facts = decode(body).expect("a request").facts;
        assert_eq!((facts.tools_bytes, facts.form_bytes), (14, 22));
        assert!(facts.stream);
        assert_eq!(facts.output_cap, None);
    }
}
