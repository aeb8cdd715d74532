//! A completion of the older kind: a prompt that is gone on with. It passes, and is not translated.
//!
//! Its answers and streams are watched as chat completions are: they differ in what a choice holds
//! only.

use bytes::Bytes;

use super::inputs::Inputs;
use super::stream_options::StreamOptions;
use crate::RequestFacts;
use crate::changes::{Changes, IncludeUsage};
use crate::json::{self, Cursor, Span};
use crate::request_error::{RequestError, twice};
use crate::request_member::{OUTPUT_CAP_MAX, checked_object_with, count, flag, model};
use crate::splice::{Edit, splice};

/// The most choices that one prompt may ask for.
const CHOICES_MAX: u64 = 128;
/// The output maximum of a request that names none.
/// (<https://platform.openai.com/docs/api-reference/completions/create>)
const OUTPUT_CAP_DEFAULT: u64 = 16;

/// A completion request, read as far as deciding needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompletionEnvelope {
    /// What it asks for: no messages, and `n` choices for each of its prompts. Where it names no output
    /// maximum, that is 16.
    pub facts: RequestFacts,
    /// Whether the client asked for the usage of a stream.
    pub usage_wanted: bool,
    body: Bytes,
    /// Behind the brace that opens the body.
    body_start: usize,
    model: Span,
    max_tokens: Option<Span>,
    stream_options: StreamOptions,
}

impl CompletionEnvelope {
    /// Reads a request's body, which the envelope keeps (a cheap clone).
    ///
    /// `null` is the same as leaving a member out; without a prompt the model begins by itself.
    ///
    /// # Errors
    /// [`RequestError`] where the body is no JSON object in UTF-8, `model` is missing, or a member
    /// that is read here has an impossible value or stands twice.
    ///
    /// ```
    /// use sluicegate_dialect::openai::CompletionEnvelope;
    /// let body = r#"{"model":"gpt-3.5-turbo-instruct","prompt":["one","two"],"n":3}"#.into();
    /// let envelope = CompletionEnvelope::decode(&body)?;
    /// assert_eq!((envelope.facts.choices, envelope.facts.output_cap), (6, Some(16)));
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn decode(body: &Bytes) -> Result<Self, RequestError> {
        let root = checked_object_with(body, "`model` and `prompt`")?;
        let body_start = root.position() + 1;
        let members = Members::find(root)?;
        let model = model(body, members.model.as_ref())?;
        let inputs = members.prompt.unwrap_or(Inputs {
            count: 1,
            ..Inputs::default()
        });
        let cap = members.max_tokens.as_ref();
        let cap = count(body, "max_tokens", cap, 0..=OUTPUT_CAP_MAX)?;
        let choices = 1..=CHOICES_MAX;
        let n = count(body, "n", members.n.as_ref(), choices.clone())?.unwrap_or(1);
        let best_of = count(body, "best_of", members.best_of.as_ref(), choices)?;
        let stream_options = StreamOptions::read(body, members.stream_options)?;
        let mut text = inputs.text;
        if let Some(suffix) = members.suffix {
            let suffix = json::string(body, &suffix).unwrap_or_default();
            text.add(suffix.as_bytes());
        }
        Ok(Self {
            facts: RequestFacts {
                model,
                stream: flag(body, "stream", members.stream.as_ref())?,
                output_cap: Some(cap.unwrap_or(OUTPUT_CAP_DEFAULT)),
                choices: n.saturating_mul(inputs.count),
                best_of: best_of.unwrap_or(1),
                text,
                ready_tokens: inputs.tokens,
                ..RequestFacts::default()
            },
            usage_wanted: stream_options.usage_wanted,
            body: body.clone(),
            body_start,
            model: members.model.unwrap_or_default(),
            max_tokens: members.max_tokens,
            stream_options,
        })
    }

    /// The body that was read.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body with `changes`; the very same bytes where there is nothing to change. A maximum is
    /// added only below the 16 that hold without one.
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        let mut edits = Vec::new();
        if let Some(model) = changes.model.filter(|model| *model != self.facts.model) {
            edits.push(Edit::string(&self.model, model));
        }
        if self.facts.stream && changes.include_usage == IncludeUsage::Ask && !self.usage_wanted {
            edits.push(self.stream_options.ask(&self.body, self.body_start));
        }
        let is_lower = |cap: &u64| self.facts.output_cap.is_some_and(|now| now > *cap);
        if let Some(cap) = changes.output_cap.filter(is_lower) {
            edits.push(match &self.max_tokens {
                Some(place) => Edit::number(place, cap),
                None => Edit::new_member(self.body_start, format!(r#""max_tokens":{cap}"#)),
            });
        }
        if let Some(priority) = changes.priority {
            edits.extend(Edit::priority(&self.body, self.body_start, priority));
        }
        splice(&self.body, edits)
    }
}

/// The members that are read, where they stand and are not null; a null too where a rewrite must know
/// its place.
#[derive(Default)]
struct Members {
    model: Option<Span>,
    prompt: Option<Inputs>,
    suffix: Option<Span>,
    stream: Option<Span>,
    stream_options: Option<Span>,
    max_tokens: Option<Span>,
    n: Option<Span>,
    best_of: Option<Span>,
}

impl Members {
    fn find(mut cursor: Cursor<'_>) -> Result<Self, RequestError> {
        let mut found = Self::default();
        let mut seen = [false; 8];
        let body = cursor.text();
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            let mut walked = None;
            let (index, name, place) = match &*key.name(body) {
                b"prompt" => (0, "prompt", &mut walked),
                b"model" => (1, "model", &mut found.model),
                b"suffix" => (2, "suffix", &mut found.suffix),
                b"stream" => (3, "stream", &mut found.stream),
                b"stream_options" => (4, "stream_options", &mut found.stream_options),
                b"max_tokens" => (5, "max_tokens", &mut found.max_tokens),
                b"n" => (6, "n", &mut found.n),
                b"best_of" => (7, "best_of", &mut found.best_of),
                _ => continue,
            };
            if std::mem::replace(&mut seen[index], true) {
                return Err(twice(name));
            }
            let replaceable = matches!(name, "stream_options" | "max_tokens");
            if cursor.peek() == b'n' && !replaceable {
                continue;
            }
            if name == "prompt" {
                found.prompt = Some(Inputs::read("prompt", &mut cursor)?);
            } else {
                *place = cursor.skip();
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{openai, tokens};

    fn decode(body: &str) -> CompletionEnvelope {
        CompletionEnvelope::decode(&Bytes::copy_from_slice(body.as_bytes())).expect("a request")
    }

    #[test]
    fn prompts_are_sized_as_text_and_as_tokens() {
        let facts = decode(r#"{"model":"m","prompt":"a b","suffix":"c"}"#).facts;
        assert_eq!((facts.text.bytes, facts.messages, facts.choices), (4, 0, 1));
        let facts = decode(r#"{"model":"m","prompt":[[1,2,3],[4]],"n":2,"best_of":3}"#).facts;
        assert_eq!(
            (facts.ready_tokens, facts.choices, facts.best_of),
            (4, 4, 3)
        );
        assert_eq!(tokens(&facts), 4);
        assert_eq!(tokens(&decode(r#"{"model":"m","prompt":null}"#).facts), 0);
    }

    #[test]
    fn a_maximum_is_never_raised_by_adding_one() {
        let rewritten = |members: &str, cap| {
            let changes = Changes {
                output_cap: Some(cap),
                ..Changes::default()
            };
            let body = format!(r#"{{"model":"m","prompt":"a"{members}}}"#);
            String::from_utf8(decode(&body).rewrite(&changes).to_vec()).expect("text")
        };
        let plain = r#"{"model":"m","prompt":"a"}"#;
        assert_eq!(rewritten("", 512), plain);
        assert_eq!(
            rewritten("", 8),
            r#"{"max_tokens":8,"model":"m","prompt":"a"}"#
        );
        assert_eq!(
            rewritten(r#","max_tokens":90"#, 20),
            r#"{"model":"m","prompt":"a","max_tokens":20}"#
        );
        assert_eq!(
            rewritten(r#","max_tokens":null"#, 8),
            r#"{"model":"m","prompt":"a","max_tokens":8}"#
        );
    }

    #[test]
    fn model_and_usage_are_spliced_in() {
        let changes = Changes {
            model: Some("n"),
            include_usage: IncludeUsage::Ask,
            ..Changes::default()
        };
        let envelope = decode(r#"{ "model": "m", "prompt": [1, 2], "stream": true }"#);
        assert_eq!(
            envelope.rewrite(&changes),
            r#"{"stream_options":{"include_usage":true}, "model": "n", "prompt": [1, 2], "stream": true }"#
        );
        let unchanged = Changes {
            model: Some("m"),
            ..Changes::default()
        };
        let same = envelope.rewrite(&unchanged);
        assert_eq!(same.as_ptr(), envelope.body().as_ptr());
    }

    #[test]
    fn members_that_decide_are_strict() {
        let refused = |members: &str| {
            let body = format!(r#"{{"model":"m","prompt":"a",{members}}}"#);
            let error = CompletionEnvelope::decode(&body.into()).expect_err(members);
            error.param
        };
        assert_eq!(refused(r#""n":0"#), Some("n"));
        assert_eq!(refused(r#""prompt":"b""#), Some("prompt"));
        assert_eq!(refused(r#""max_tokens":1.5"#), Some("max_tokens"));
        assert_eq!(refused(r#""stream":"yes""#), Some("stream"));
    }

    #[test]
    fn its_streams_and_answers_are_read_like_those_of_chats() {
        use crate::openai::{ChatStream, UsageChunk};
        use bytes::BytesMut;
        let text = "data: {\"object\":\"text_completion\",\"choices\":[{\"text\":\"수문\",\"index\":0,\"finish_reason\":null}],\"usage\":null}\n\n";
        let end = "data: {\"object\":\"text_completion\",\"choices\":[{\"text\":\"\",\"index\":0,\"finish_reason\":\"length\"}],\"usage\":null}\n\n";
        let usage = "data: {\"object\":\"text_completion\",\"choices\":[],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":1}}\n\n";
        let row = sluicegate_catalog::provider("openai").expect("a row");
        let mut stream = ChatStream::new(std::sync::Arc::clone(row), UsageChunk::Hide);
        let mut out = BytesMut::new();
        let wire = [text, end, usage, "data: [DONE]\n\n"].concat();
        stream
            .push(Bytes::from(wire), &mut out)
            .expect("small events");
        let progress = stream.progress();
        assert_eq!((progress.content_events, progress.output_chars), (1, 2));
        assert!(progress.is_complete() && progress.cut);
        assert_eq!(progress.usage.expect("it is told").output_tokens, 1);
        let hidden = [text, end].concat().replace(",\"usage\":null", "") + "data: [DONE]\n\n";
        assert_eq!(out, hidden.as_bytes());
        assert!(openai::is_cut(
            br#"{"choices":[{"text":"a","finish_reason":"length"}]}"#
        ));
    }
}
