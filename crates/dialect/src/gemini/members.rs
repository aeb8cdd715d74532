//! The members of a request that are read, found in one walk over the body.
//!
//! Calls differ in what they hold: a conversation, one content to embed, a list of such requests, or
//! a whole request for an answer whose tokens are to be counted. One walk reads them all.

use super::content::Content;
use crate::json::{Cursor, Span};
use crate::request_error::{RequestError, twice, wrong, wrong_at};
use crate::request_member::length;

/// The members of a request that are read, where they stand and are not null.
#[derive(Default)]
pub(super) struct Members {
    /// Where the body names a model, though the path does.
    pub(super) models: Vec<Span>,
    /// The whole object, or the null that stands for it.
    pub(super) generation_config: Option<Span>,
    pub(super) max_output_tokens: Option<Span>,
    pub(super) candidate_count: Option<Span>,
    pub(super) tools_bytes: u64,
    pub(super) form_bytes: u64,
    pub(super) content: Content,
}

/// Both spellings of a member.
type Name = (&'static str, &'static str);

const NAMES: [Name; 8] = [
    ("contents", "contents"),
    ("content", "content"),
    ("systemInstruction", "system_instruction"),
    ("tools", "tools"),
    ("generationConfig", "generation_config"),
    ("model", "model"),
    ("requests", "requests"),
    ("generateContentRequest", "generate_content_request"),
];

const CONFIG_NAMES: [Name; 4] = [
    ("maxOutputTokens", "max_output_tokens"),
    ("candidateCount", "candidate_count"),
    ("responseSchema", "response_schema"),
    ("responseJsonSchema", "response_json_schema"),
];

impl Members {
    pub(super) fn find(mut root: Cursor<'_>) -> Result<Self, RequestError> {
        let mut found = Self::default();
        found.read_request(&mut root, Depth::Outer)?;
        Ok(found)
    }

    fn read_request(&mut self, cursor: &mut Cursor<'_>, depth: Depth) -> Result<(), RequestError> {
        let body = cursor.text();
        let mut seen = [false; NAMES.len()];
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            let Some(index) = known(&NAMES, &key.name(body)) else {
                continue;
            };
            let name = NAMES[index].0;
            if std::mem::replace(&mut seen[index], true) {
                return Err(twice(name));
            }
            if cursor.peek() == b'n' {
                if name == "generationConfig" && depth == Depth::Outer {
                    self.generation_config = cursor.skip();
                }
                continue;
            }
            match name {
                "contents" => self.content.read_contents(cursor)?,
                "content" | "systemInstruction" => {
                    self.content.read_content(cursor, name, name)?;
                }
                "tools" => self.tools_bytes += length(cursor.skip().as_ref()),
                "generationConfig" => self.read_config(cursor, depth)?,
                "model" => self.read_model(cursor)?,
                "requests" if depth == Depth::Outer => self.read_requests(cursor)?,
                "generateContentRequest" if depth == Depth::Outer => {
                    if cursor.peek() != b'{' {
                        return Err(wrong(name, "an object", cursor));
                    }
                    self.read_request(cursor, Depth::Inner)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_requests(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        if !cursor.enter(b'[') {
            return Err(wrong("requests", "an array of requests", cursor));
        }
        let mut at = 0_u64;
        while cursor.next_element() {
            if cursor.peek() != b'{' {
                let place = format!("requests[{at}]");
                return Err(wrong_at("requests", &place, "an object", cursor));
            }
            self.read_request(cursor, Depth::Inner)?;
            at += 1;
        }
        Ok(())
    }

    fn read_model(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        if cursor.peek() != b'"' {
            return Err(wrong("model", "a string", cursor));
        }
        self.models.extend(cursor.skip());
        Ok(())
    }

    fn read_config(&mut self, cursor: &mut Cursor<'_>, depth: Depth) -> Result<(), RequestError> {
        let body = cursor.text();
        let start = cursor.position();
        if !cursor.enter(b'{') {
            return Err(wrong("generationConfig", "an object", cursor));
        }
        let mut seen = [false; CONFIG_NAMES.len()];
        while let Some(key) = cursor.next_key() {
            let Some(index) = known(&CONFIG_NAMES, &key.name(body)) else {
                continue;
            };
            let name = CONFIG_NAMES[index].0;
            if std::mem::replace(&mut seen[index], true) {
                return Err(twice(name));
            }
            let is_null = cursor.peek() == b'n';
            let value = cursor.skip();
            match name {
                // A null is replaced where a maximum is to be written.
                "maxOutputTokens" if depth == Depth::Outer => self.max_output_tokens = value,
                "candidateCount" if depth == Depth::Outer => self.candidate_count = value,
                "responseSchema" | "responseJsonSchema" if !is_null => {
                    self.form_bytes += length(value.as_ref());
                }
                _ => {}
            }
        }
        if depth == Depth::Outer {
            self.generation_config = Some(start..cursor.position());
        }
        Ok(())
    }
}

/// Whether a request is the body or stands inside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outer,
    Inner,
}

fn known(names: &[Name], key: &[u8]) -> Option<usize> {
    let is = |(camel, snake): &Name| *key == *camel.as_bytes() || *key == *snake.as_bytes();
    names.iter().position(is)
}
