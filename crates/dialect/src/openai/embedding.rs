//! A request for embeddings: input, and no output. It passes, and is not translated.
//!
//! Its answer tells the usage where a chat completion does.

use bytes::Bytes;

use super::inputs::Inputs;
use crate::RequestFacts;
use crate::changes::Changes;
use crate::json::{Cursor, Span};
use crate::request_error::{RequestError, twice};
use crate::request_member::{checked_object_with, model};
use crate::splice::{Edit, splice};

/// A request for embeddings, read as far as deciding needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmbeddingEnvelope {
    /// What it asks for: no messages, and an output maximum of 0.
    pub facts: RequestFacts,
    body: Bytes,
    model: Span,
}

impl EmbeddingEnvelope {
    /// Reads a request's body, which the envelope keeps (a cheap clone).
    ///
    /// # Errors
    /// [`RequestError`] where the body is no JSON object in UTF-8, `model` or `input` are missing,
    /// impossible or written twice.
    ///
    /// ```
    /// use sluicegate_dialect::{openai::EmbeddingEnvelope, tokens};
    /// let body = r#"{"model":"text-embedding-3-small","input":[[5,17],[9]]}"#.into();
    /// let envelope = EmbeddingEnvelope::decode(&body)?;
    /// assert_eq!(tokens(&envelope.facts), 3);
    /// assert_eq!(envelope.facts.output_cap, Some(0));
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn decode(body: &Bytes) -> Result<Self, RequestError> {
        let root = checked_object_with(body, "`model` and `input`")?;
        let (place, inputs) = members(root)?;
        let model = model(body, place.as_ref())?;
        let Some(inputs) = inputs else {
            return Err(RequestError::of(
                "input",
                "`input` is missing: give a string, an array of strings or an array of tokens",
            ));
        };
        Ok(Self {
            facts: RequestFacts {
                model,
                output_cap: Some(0),
                choices: 1,
                best_of: 1,
                text: inputs.text,
                ready_tokens: inputs.tokens,
                ..RequestFacts::default()
            },
            body: body.clone(),
            model: place.unwrap_or_default(),
        })
    }

    /// The body that was read.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body with another model, which is all that can be changed; the very same bytes where it is
    /// the same.
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        let model = changes.model.filter(|model| *model != self.facts.model);
        let edits = model.map(|model| Edit::string(&self.model, model));
        splice(&self.body, edits.into_iter().collect())
    }
}

/// Where the model stands, and what the input holds.
fn members(mut cursor: Cursor<'_>) -> Result<(Option<Span>, Option<Inputs>), RequestError> {
    let (mut model, mut inputs) = (None, None);
    let mut seen = [false; 2];
    let body = cursor.text();
    cursor.enter(b'{');
    while let Some(key) = cursor.next_key() {
        let (index, name) = match &*key.name(body) {
            b"model" => (0, "model"),
            b"input" => (1, "input"),
            _ => continue,
        };
        if std::mem::replace(&mut seen[index], true) {
            return Err(twice(name));
        }
        if cursor.peek() == b'n' {
            continue;
        }
        if name == "input" {
            inputs = Some(Inputs::read("input", &mut cursor)?);
        } else {
            model = cursor.skip();
        }
    }
    Ok((model, inputs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(body: &str) -> Result<EmbeddingEnvelope, RequestError> {
        EmbeddingEnvelope::decode(&Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn only_the_model_changes() {
        let body = r#"{"input": ["a\u00e9", "b"], "model": "m", "dimensions": 64}"#;
        let envelope = decode(body).expect("a request");
        assert_eq!(envelope.facts.text.bytes, 4);
        let changes = Changes {
            model: Some("n"),
            output_cap: Some(9),
            ..Changes::default()
        };
        assert_eq!(envelope.rewrite(&changes), body.replace("\"m\"", "\"n\""));
        let same = envelope.rewrite(&Changes::default());
        assert_eq!(same.as_ptr(), envelope.body().as_ptr());
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            (
                r#"{"model":"m","input":null}"#,
                "`input` is missing: give a string, an array of strings or an array of tokens",
            ),
            (
                r#"{"model":"m","input":"a","input":"b"}"#,
                "`input` is written twice: which one counts is not defined, so leave one out",
            ),
            (
                "[]",
                "the body must be a JSON object with `model` and `input`",
            ),
        ];
        for (body, message) in cases {
            assert_eq!(decode(body).expect_err(body).message, message);
        }
    }
}
