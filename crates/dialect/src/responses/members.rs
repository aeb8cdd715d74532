//! The members of a request that are read, found in one walk over the body.

use super::content::Content;
use crate::json::{Cursor, Span};
use crate::request_error::{RequestError, twice};

/// The members of a request that are read, where they stand and are not null.
#[derive(Default)]
pub(super) struct Members {
    pub(super) model: Option<Span>,
    pub(super) stream: Option<Span>,
    /// Null perhaps: a rewrite must know its place.
    pub(super) max_output_tokens: Option<Span>,
    pub(super) tools: Option<Span>,
    pub(super) text: Option<Span>,
    pub(super) content: Content,
    /// Whether there is an input, or something that the provider keeps and that stands for one.
    pub(super) has_input: bool,
}

impl Members {
    pub(super) fn find(mut cursor: Cursor<'_>) -> Result<Self, RequestError> {
        let mut found = Self::default();
        let mut seen = [false; 7];
        let body = cursor.text();
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            let mut walked = None;
            let (index, name, place) = match &*key.name(body) {
                b"input" => (0, "input", &mut walked),
                b"instructions" => (1, "instructions", &mut walked),
                b"model" => (2, "model", &mut found.model),
                b"stream" => (3, "stream", &mut found.stream),
                b"max_output_tokens" => (4, "max_output_tokens", &mut found.max_output_tokens),
                b"tools" => (5, "tools", &mut found.tools),
                b"text" => (6, "text", &mut found.text),
                b"background" if cursor.peek() == b't' => return Err(in_background()),
                b"prompt" | b"previous_response_id" | b"conversation" => {
                    found.has_input |= cursor.peek() != b'n';
                    continue;
                }
                _ => continue,
            };
            if std::mem::replace(&mut seen[index], true) {
                return Err(twice(name));
            }
            if cursor.peek() == b'n' && name != "max_output_tokens" {
                continue;
            }
            match name {
                "input" => {
                    found.content.read_input(&mut cursor)?;
                    found.has_input = true;
                }
                "instructions" => found.content.read_instructions(&mut cursor)?,
                _ => *place = cursor.skip(),
            }
        }
        Ok(found)
    }
}

/// Nobody could fetch such an answer: it is kept under an account of ours.
fn in_background() -> RequestError {
    RequestError::of(
        "background",
        "`background` has no place here, as a response cannot be fetched later: leave it out, and wait or stream",
    )
}
