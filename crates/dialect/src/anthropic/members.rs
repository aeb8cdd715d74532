//! The members of a request that are read, found in one walk over the body.

use super::content::Content;
use crate::json::{Cursor, Span};
use crate::request_error::{RequestError, twice};

/// The members of a request that are read, where they stand and are not null.
#[derive(Default)]
pub(super) struct Members {
    pub(super) model: Option<Span>,
    pub(super) stream: Option<Span>,
    pub(super) max_tokens: Option<Span>,
    pub(super) tools: Option<Span>,
    pub(super) output_config: Option<Span>,
    pub(super) thinking: Option<Span>,
    pub(super) content: Content,
}

impl Members {
    pub(super) fn find(mut cursor: Cursor<'_>) -> Result<Self, RequestError> {
        let mut found = Self::default();
        let mut seen = [false; 8];
        let body = cursor.text();
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            let mut walked = None;
            let (index, name, place) = match &*key.name(body) {
                b"messages" => (0, "messages", &mut walked),
                b"system" => (1, "system", &mut walked),
                b"model" => (2, "model", &mut found.model),
                b"stream" => (3, "stream", &mut found.stream),
                b"max_tokens" => (4, "max_tokens", &mut found.max_tokens),
                b"tools" => (5, "tools", &mut found.tools),
                b"output_config" => (6, "output_config", &mut found.output_config),
                b"thinking" => (7, "thinking", &mut found.thinking),
                _ => continue,
            };
            if std::mem::replace(&mut seen[index], true) {
                return Err(twice(name));
            }
            if cursor.peek() == b'n' {
                continue;
            }
            match name {
                "messages" => found.content.read_messages(&mut cursor)?,
                "system" => found.content.read_system(&mut cursor)?,
                _ => *place = cursor.skip(),
            }
        }
        Ok(found)
    }
}
