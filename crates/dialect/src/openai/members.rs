//! The members of a request that are read, found in one walk over the body.

use super::messages::Messages;
use crate::json::{Cursor, Span};
use crate::request_error::{RequestError, twice};

/// The members of a request that are read, where they stand and are not null.
#[derive(Default)]
pub(super) struct Members {
    pub(super) model: Option<Span>,
    pub(super) messages: Option<Messages>,
    pub(super) stream: Option<Span>,
    pub(super) stream_options: Option<Span>,
    pub(super) max_tokens: Option<Span>,
    pub(super) max_completion_tokens: Option<Span>,
    pub(super) n: Option<Span>,
    pub(super) best_of: Option<Span>,
    pub(super) tools: Option<Span>,
    pub(super) functions: Option<Span>,
    pub(super) response_format: Option<Span>,
}

impl Members {
    /// A null is dropped here, except where a rewrite must know its place.
    pub(super) fn find(mut cursor: Cursor<'_>) -> Result<Self, RequestError> {
        let mut found = Self::default();
        let mut seen = [false; 11];
        let body = cursor.text();
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            let mut messages = None;
            let (index, name, place) = match &*key.name(body) {
                b"messages" => (0, "messages", &mut messages),
                b"model" => (1, "model", &mut found.model),
                b"stream" => (2, "stream", &mut found.stream),
                b"stream_options" => (3, "stream_options", &mut found.stream_options),
                b"max_tokens" => (4, "max_tokens", &mut found.max_tokens),
                b"max_completion_tokens" => {
                    (5, "max_completion_tokens", &mut found.max_completion_tokens)
                }
                b"n" => (6, "n", &mut found.n),
                b"best_of" => (7, "best_of", &mut found.best_of),
                b"tools" => (8, "tools", &mut found.tools),
                b"functions" => (9, "functions", &mut found.functions),
                b"response_format" => (10, "response_format", &mut found.response_format),
                _ => continue,
            };
            if std::mem::replace(&mut seen[index], true) {
                return Err(twice(name));
            }
            let is_null = cursor.peek() == b'n';
            let replaceable = matches!(
                name,
                "stream_options" | "max_tokens" | "max_completion_tokens"
            );
            if is_null && !replaceable {
                continue;
            }
            if name == "messages" {
                found.messages = Some(Messages::read(&mut cursor)?);
            } else {
                *place = cursor.skip();
            }
        }
        Ok(found)
    }
}
