//! What decisions need to know of a chat completion request; the rest stays bytes.
//!
//! The body is checked once for being JSON and then walked: the members that matter are read with
//! the place where they stand, texts are tallied where they lie. No member is refused for being
//! unknown, and none is dropped, since the body itself is what is sent on. Members that decide what
//! is charged are strict, because a request that means one thing here and another upstream would be
//! charged wrongly: written twice, they are refused.

use bytes::Bytes;

use super::members::Members;
use super::messages::Messages;
use super::stream_options::StreamOptions;
use crate::RequestFacts;
use crate::json::Span;
use crate::request_error::RequestError;
use crate::request_member::{OUTPUT_CAP_MAX, checked_object, count, flag, length, model};

/// The most choices that one request may ask for.
const CHOICES_MAX: u64 = 128;

/// A chat completion request, read as far as deciding needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// What it asks for. Its output maximum is the larger of `max_tokens` and `max_completion_tokens`.
    pub facts: RequestFacts,
    /// Whether the client asked for the usage of a stream.
    pub usage_wanted: bool,
    pub(super) body: Bytes,
    pub(super) places: Places,
}

/// Where the members stand that a rewrite may change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Places {
    /// Behind the brace that opens the body.
    pub(super) body_start: usize,
    pub(super) model: Span,
    pub(super) stream_options: StreamOptions,
    pub(super) max_tokens: Option<Span>,
    pub(super) max_completion_tokens: Option<Span>,
    /// Members with what other providers sealed.
    pub(super) carried: Vec<Span>,
}

impl Envelope {
    /// Reads a request's body, which the envelope keeps (a cheap clone).
    ///
    /// `null` is the same as leaving a member out. Sizes are bytes after JSON escapes are undone.
    ///
    /// # Errors
    /// [`RequestError`] where the body is no JSON object in UTF-8, `model` or `messages` are
    /// missing, or a member that is read here has an impossible value or stands twice.
    ///
    /// ```
    /// use sluicegate_dialect::openai::Envelope;
    /// let body = r#"{"model":"gpt-5.5","messages":[{"role":"user","content":"hi"}],"max_tokens":64}"#.into();
    /// let envelope = Envelope::decode(&body)?;
    /// assert_eq!(envelope.facts.model, "gpt-5.5");
    /// assert_eq!(envelope.facts.output_cap, Some(64));
    /// assert_eq!(envelope.facts.text.bytes, 6); // "user" and "hi"
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn decode(body: &Bytes) -> Result<Self, RequestError> {
        let root = checked_object(body)?;
        let members = Members::find(root.clone())?;
        let model = model(body, members.model.as_ref())?;
        let messages = members.messages.ok_or_else(Messages::missing)?;
        let mut envelope = Self {
            facts: RequestFacts {
                model,
                stream: flag(body, "stream", members.stream.as_ref())?,
                output_cap: None,
                choices: count(body, "n", members.n.as_ref(), 1..=CHOICES_MAX)?.unwrap_or(1),
                best_of: count(body, "best_of", members.best_of.as_ref(), 1..=CHOICES_MAX)?
                    .unwrap_or(1),
                messages: messages.count,
                text: messages.text,
                ready_tokens: 0,
                images: messages.images,
                image_tokens: messages.image_tokens,
                audios: messages.audios,
                documents: messages.files,
                tools_bytes: length(members.tools.as_ref()) + length(members.functions.as_ref()),
                form_bytes: length(members.response_format.as_ref()),
            },
            usage_wanted: false,
            body: body.clone(),
            places: Places {
                body_start: root.position() + 1,
                model: members.model.unwrap_or_default(),
                carried: messages.carried,
                ..Places::default()
            },
        };
        envelope.read_output_caps(members.max_tokens, members.max_completion_tokens)?;
        let stream_options = StreamOptions::read(body, members.stream_options)?;
        envelope.usage_wanted = stream_options.usage_wanted;
        envelope.places.stream_options = stream_options;
        Ok(envelope)
    }

    /// The body that was read.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    fn read_output_caps(
        &mut self,
        max_tokens: Option<Span>,
        max_completion_tokens: Option<Span>,
    ) -> Result<(), RequestError> {
        let range = 0..=OUTPUT_CAP_MAX;
        let old = count(&self.body, "max_tokens", max_tokens.as_ref(), range.clone())?;
        let new = count(
            &self.body,
            "max_completion_tokens",
            max_completion_tokens.as_ref(),
            range,
        )?;
        self.facts.output_cap = old.max(new);
        self.places.max_tokens = max_tokens;
        self.places.max_completion_tokens = max_completion_tokens;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(body: &str) -> Result<Envelope, RequestError> {
        Envelope::decode(&Bytes::copy_from_slice(body.as_bytes()))
    }

    fn with(members: &str) -> Result<Envelope, RequestError> {
        decode(&format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}],{members}}}"#
        ))
    }

    #[test]
    fn the_larger_cap_counts_and_null_is_absent() {
        let envelope = with(r#""max_tokens":10,"max_completion_tokens":20"#).expect("a request");
        assert_eq!(envelope.facts.output_cap, Some(20));
        let envelope = with(
            r#""max_tokens":null,"n":null,"stream":null,"stream_options":null,"tools":null,"best_of":null"#,
        )
        .expect("a request");
        assert_eq!(envelope.facts.output_cap, None);
        assert_eq!(
            (
                envelope.facts.choices,
                envelope.facts.best_of,
                envelope.facts.stream
            ),
            (1, 1, false)
        );
        assert_eq!(envelope.facts.tools_bytes, 0);
        assert_eq!(
            with(r#""max_tokens":0"#)
                .expect("a request")
                .facts
                .output_cap,
            Some(0)
        );
    }

    #[test]
    fn usage_is_wanted_only_when_asked_for() {
        let wanted = |members| with(members).expect("a request").usage_wanted;
        assert!(wanted(
            r#""stream":true,"stream_options":{"include_usage":true}"#
        ));
        assert!(!wanted(
            r#""stream":true,"stream_options":{"include_usage":null}"#
        ));
        assert!(!wanted(r#""stream":true,"stream_options":{}"#));
        assert!(!wanted(r#""stream":true"#));
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            (
                "",
                None,
                "the body is not valid JSON: EOF while parsing a value at line 1 column 0",
            ),
            (
                "{\"model\":\n x}",
                None,
                "the body is not valid JSON: expected value at line 2 column 2",
            ),
            (
                "[]",
                None,
                "the body must be a JSON object with `model` and `messages`",
            ),
            (
                "{} {}",
                None,
                "the body is not valid JSON: trailing characters at line 1 column 4",
            ),
            (
                "{}",
                Some("model"),
                "`model` is missing: name the model or route to use",
            ),
            (
                r#"{"model":7}"#,
                Some("model"),
                "`model` must be a string, not 7",
            ),
            (
                r#"{"model":""}"#,
                Some("model"),
                "`model` is empty: name the model or route to use",
            ),
            (
                r#"{"model":"a","model":"b"}"#,
                Some("model"),
                "`model` is written twice: which one counts is not defined, so leave one out",
            ),
            (
                r#"{"model":"a","mod\u0065l":"b"}"#,
                Some("model"),
                "`model` is written twice: which one counts is not defined, so leave one out",
            ),
        ];
        for (body, param, message) in cases {
            let error = decode(body).expect_err(body);
            assert_eq!(
                (error.param, error.message.as_str()),
                (param, message),
                "{body}"
            );
        }
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let cap = "a whole number from 0 to 2147483648";
        let cases = [
            (
                r#""max_tokens":-1"#,
                "max_tokens",
                format!("`max_tokens` must be {cap}, not -1"),
            ),
            (
                r#""max_tokens":1.5"#,
                "max_tokens",
                format!("`max_tokens` must be {cap}, not 1.5"),
            ),
            (
                r#""max_tokens":"9""#,
                "max_tokens",
                format!("`max_tokens` must be {cap}, not a string"),
            ),
            (
                r#""max_completion_tokens":2147483649"#,
                "max_completion_tokens",
                format!("`max_completion_tokens` must be {cap}, not 2147483649"),
            ),
            (
                r#""max_tokens":99999999999999999999999999999999"#,
                "max_tokens",
                format!("`max_tokens` must be {cap}, not 999999999999999999999999"),
            ),
            (
                r#""n":0"#,
                "n",
                "`n` must be a whole number from 1 to 128, not 0".to_owned(),
            ),
            (
                r#""n":129"#,
                "n",
                "`n` must be a whole number from 1 to 128, not 129".to_owned(),
            ),
            (
                r#""stream":"yes""#,
                "stream",
                "`stream` must be true or false, not a string".to_owned(),
            ),
            (
                r#""stream_options":[]"#,
                "stream_options",
                "`stream_options` must be an object, not an array".to_owned(),
            ),
        ];
        for (members, param, message) in cases {
            let error = with(members).expect_err(members);
            assert_eq!(
                (error.param, error.message),
                (Some(param), message),
                "{members}"
            );
        }
    }

    #[test]
    fn invalid_utf8_is_an_error_wherever_it_stands() {
        let mut body = br#"{"model":"m","messages":[{"content":"hi"}],"x":"??"}"#.to_vec();
        let at = body
            .iter()
            .position(|byte| *byte == b'?')
            .expect("it is there");
        body[at] = 0xff;
        let error = Envelope::decode(&Bytes::from(body)).expect_err("not UTF-8");
        assert_eq!(
            error.message,
            "the body is not UTF-8: invalid byte at offset 48"
        );
    }

    #[test]
    fn depth_costs_no_stack() {
        for brackets in [("[", "]"), ("{\"a\":", "}")] {
            let depth = 500_000;
            let inner = if brackets.0 == "[" { "" } else { "1" };
            let bomb = format!(
                "{}{inner}{}",
                brackets.0.repeat(depth),
                brackets.1.repeat(depth)
            );
            with(&format!(r#""x":{bomb}"#)).expect("unknown members are the upstream's to judge");
            decode(&format!(
                r#"{{"model":"m","messages":[{{"content":{bomb}}}]}}"#
            ))
            .expect_err("no content is made so");
        }
    }
}
