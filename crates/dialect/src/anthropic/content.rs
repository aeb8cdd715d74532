//! What the messages and the instructions of a request hold, without building them.
//!
//! Blocks may hold blocks: the result of a tool holds images, a document holds texts. The walk goes
//! down as far as that makes sense, and no deeper, whatever is sent.

use super::translate::is_own_seal;
use crate::json::{Cursor, Piece, Span};
use crate::request_error::{RequestError, wrong, wrong_at};
use crate::splice::with_comma;
use crate::text::Gatherer;
use crate::{Detail, ImageSize, ImageTokens, TextTally};

/// How deep blocks are looked into: a result inside a message, a document's texts inside a result.
const DEPTH_MAX: u32 = 4;

/// What the messages and the instructions hold.
pub(super) struct Content {
    pub(super) messages: u64,
    pub(super) images: u64,
    pub(super) image_tokens: ImageTokens,
    pub(super) documents: u64,
    /// Thoughts that no Claude sealed, and messages of nothing else, each with a comma beside it.
    pub(super) foreign_thoughts: Vec<Span>,
    /// What the last message of the model holds.
    pub(super) last: Said,
    /// Whether thoughts that no Claude sealed came since a user said something last, and results of calls stand at the end.
    pub(super) misses_thoughts: bool,
    /// Whether they came.
    foreign_since_asked: bool,
    /// What the message at hand holds.
    said: Said,
    gatherer: Gatherer,
}

/// What a message of the model holds, as far as thoughts before calls matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Said {
    pub(super) calls: bool,
    /// Results of calls.
    results: bool,
    /// Thoughts that Claude sealed.
    pub(super) own_thoughts: bool,
    /// Thoughts that no Claude sealed.
    pub(super) foreign_thoughts: bool,
}

impl Default for Content {
    fn default() -> Self {
        Self {
            messages: 0,
            images: 0,
            image_tokens: ImageTokens::default(),
            documents: 0,
            foreign_thoughts: Vec::new(),
            last: Said::default(),
            misses_thoughts: false,
            foreign_since_asked: false,
            said: Said::default(),
            gatherer: Gatherer::new(),
        }
    }
}

impl Content {
    /// All text so far.
    pub(super) fn text(self) -> TextTally {
        self.gatherer.finish()
    }

    /// Reads the messages at hand.
    pub(super) fn read_messages(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        if !cursor.enter(b'[') {
            return Err(wrong("messages", "an array of messages", cursor));
        }
        let mut is_first = true;
        while cursor.next_element() {
            let mut message = cursor.clone();
            let known = self.foreign_thoughts.len();
            if self.read_message(cursor)? == Holds::ForeignThoughts {
                let message = message.skip().unwrap_or_default();
                self.foreign_thoughts.truncate(known);
                self.foreign_thoughts
                    .push(with_comma(cursor.text(), message, is_first));
            } else {
                is_first = false;
            }
            self.messages += 1;
        }
        if self.messages == 0 {
            let message = "`messages` is empty: name at least one message";
            return Err(RequestError::of("messages", message));
        }
        Ok(())
    }

    /// Reads the instructions at hand: a text, or blocks of text.
    pub(super) fn read_system(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        match cursor.peek() {
            b'"' => self.tally(cursor),
            b'[' => self.read_blocks(cursor, 0),
            _ => return Err(wrong("system", "a string or an array of blocks", cursor)),
        }
        Ok(())
    }

    pub(super) fn missing() -> RequestError {
        RequestError::of(
            "messages",
            "`messages` is missing: name at least one message, like {\"role\": \"user\", \"content\": \"…\"}",
        )
    }

    fn read_message(&mut self, cursor: &mut Cursor<'_>) -> Result<Holds, RequestError> {
        let mut holds = Holds::Something;
        self.said = Said::default();
        let mut is_models = false;
        let at = self.messages;
        let wrong = |place: &str, expected, cursor: &Cursor<'_>| {
            let place = format!("messages[{at}]{place}");
            Err(wrong_at("messages", &place, expected, cursor))
        };
        if !cursor.enter(b'{') {
            return wrong("", "an object", cursor);
        }
        while let Some(key) = cursor.next_key() {
            match (&*key.name(cursor.text()), cursor.peek()) {
                (b"role", b'"') => {
                    let text = cursor.text();
                    is_models = text[cursor.position()..].starts_with(b"\"assistant\"");
                    self.tally(cursor);
                }
                (b"content", b'"') => self.tally(cursor),
                (b"role", _) => return wrong(".role", "a string", cursor),
                (b"content", b'[') => holds = self.read_content(cursor),
                (b"content", _) => {
                    return wrong(".content", "a string or an array of blocks", cursor);
                }
                _ => {}
            }
        }
        if is_models {
            self.last = self.said;
            self.foreign_since_asked |= self.said.foreign_thoughts;
        } else {
            self.foreign_since_asked &= self.said.results;
        }
        self.misses_thoughts = self.foreign_since_asked && self.said.results;
        Ok(holds)
    }

    /// Reads the blocks of a message.
    fn read_content(&mut self, cursor: &mut Cursor<'_>) -> Holds {
        let known = self.foreign_thoughts.len();
        let mut is_first = true;
        cursor.enter(b'[');
        while cursor.next_element() {
            let mut block = cursor.clone();
            if self.read_block(cursor, 0) == Holds::ForeignThoughts {
                let block = block.skip().unwrap_or_default();
                self.foreign_thoughts
                    .push(with_comma(cursor.text(), block, is_first));
            } else {
                is_first = false;
            }
        }
        if is_first && self.foreign_thoughts.len() > known {
            Holds::ForeignThoughts
        } else {
            Holds::Something
        }
    }

    fn read_blocks(&mut self, cursor: &mut Cursor<'_>, depth: u32) {
        if cursor.enter(b'[') {
            while cursor.next_element() {
                self.read_block(cursor, depth);
            }
        }
    }

    /// What a block is follows from its type, which may stand behind what it holds.
    fn read_block(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> Holds {
        let mut is_thought = false;
        let mut is_sealed = false;
        if depth >= DEPTH_MAX || !cursor.enter(b'{') {
            return Holds::Something;
        }
        let (mut is_image, mut size) = (false, None);
        while let Some(key) = cursor.next_key() {
            match (&*key.name(cursor.text()), cursor.peek()) {
                (b"type", _) => {
                    let kind = cursor.skip().unwrap_or_default();
                    match &cursor.text()[kind] {
                        b"\"image\"" => is_image = true,
                        b"\"document\"" => self.documents += 1,
                        b"\"thinking\"" | b"\"redacted_thinking\"" => is_thought = true,
                        b"\"tool_use\"" => self.said.calls = true,
                        b"\"tool_result\"" => self.said.results = true,
                        _ => {}
                    }
                }
                // Of a call the name and the arguments; of a document its title and context.
                (b"text" | b"thinking" | b"name" | b"title" | b"context" | b"content", b'"') => {
                    self.tally(cursor);
                }
                (b"input", b'{') => self.tally_json(cursor),
                (b"signature" | b"data", b'"') => {
                    let seal = cursor.skip().unwrap_or_default();
                    is_sealed |= is_own_seal(&cursor.text()[seal]);
                }
                (b"content", b'[') => self.read_blocks(cursor, depth + 1),
                (b"source", b'{') => size = self.read_source(cursor, depth),
                _ => {}
            }
        }
        if is_image {
            self.images += 1;
            self.image_tokens.add(ImageTokens::of(size, Detail::High));
        }
        self.said.own_thoughts |= is_thought && is_sealed;
        self.said.foreign_thoughts |= is_thought && !is_sealed;
        if is_thought && !is_sealed {
            Holds::ForeignThoughts
        } else {
            Holds::Something
        }
    }

    /// Of where something is only what is text itself, and how large it is if it is an image.
    fn read_source(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> Option<ImageSize> {
        let mut size = None;
        let text = cursor.text();
        let kind = crate::json::member(text, cursor.position(), "type");
        let is_text = kind.is_some_and(|kind| text[kind] == *b"\"text\"");
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            match (&*key.name(text), cursor.peek()) {
                (b"data", b'"') if is_text => self.tally(cursor),
                (b"data", b'"') => {
                    let data = cursor.skip().unwrap_or_default();
                    size = text[data].get(1..).and_then(ImageSize::of_base64);
                }
                (b"content", b'"') => self.tally(cursor),
                (b"content", b'[') => self.read_blocks(cursor, depth + 1),
                _ => {}
            }
        }
        size
    }

    /// The model reads arguments as the text that they are.
    fn tally_json(&mut self, cursor: &mut Cursor<'_>) {
        if let Some(span) = cursor.skip() {
            self.gatherer.piece(&cursor.text()[span]);
            self.gatherer.end_text();
        }
    }

    fn tally(&mut self, cursor: &mut Cursor<'_>) {
        cursor.pieces(|piece| match piece {
            Piece::Plain(text) => self.gatherer.piece(text),
            Piece::Escaped(character) => {
                let mut buffer = [0; 4];
                self.gatherer
                    .piece(character.encode_utf8(&mut buffer).as_bytes());
            }
        });
        self.gatherer.end_text();
    }
}

/// What a message or a block holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// What passes as it is, if it is only nothing.
    Something,
    /// Nothing but thoughts that Anthropic refuses.
    ForeignThoughts,
}

#[cfg(test)]
mod tests {
    use crate::anthropic::{Call, Envelope};
    use bytes::Bytes;

    fn decode(body: &str) -> Result<Envelope, crate::RequestError> {
        Envelope::decode(&Bytes::copy_from_slice(body.as_bytes()), Call::CountTokens)
    }

    #[test]
    fn all_kinds_of_blocks_are_sized() {
        let envelope = decode(
            r#"{"model":"m","system":[{"type":"text","text":"한국","cache_control":{"type":"ephemeral"}}],"messages":[
                {"role":"user","content":[
                    {"type":"text","text":"a\nb"},
                    {"source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAACCAYAAACZgbYn"},"type":"image"},
                    {"type":"document","title":"t","source":{"data":"plain","media_type":"text/plain","type":"text"}},
                    {"type":"document","source":{"type":"url","url":"https://a.example/b.pdf"}}]},
                {"role":"assistant","content":[
                    {"type":"thinking","thinking":"hm","signature":"c2VhbA=="},
                    {"type":"tool_use","id":"t1","name":"look","input":{"q":1}}]},
                {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[
                    {"type":"text","text":"42"},{"type":"image","source":{"type":"url","url":"u"}}]}]}]}"#,
        )
        .expect("a request");
        // System 6; roles 4 + 9 + 4; text 3, title 1, document 5; thought 2, call 4 + 7; result 2.
        assert_eq!(envelope.facts.text.bytes, 6 + 17 + 9 + 13 + 2);
        assert_eq!(envelope.facts.text.hangul, 2);
        assert_eq!(
            (
                envelope.facts.messages,
                envelope.facts.images,
                envelope.facts.documents
            ),
            (3, 2, 2)
        );
        // Of one pixel by two, and of unknown size.
        assert_eq!(envelope.facts.image_tokens.area, 1 + 1_600);
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            (
                r#"{"model":"a","messages":[]}"#,
                "`messages` is empty: name at least one message",
            ),
            (
                r#"{"model":"a","messages":{}}"#,
                "`messages` must be an array of messages, not an object",
            ),
            (
                r#"{"model":"a","messages":[{},7]}"#,
                "`messages[1]` must be an object, not 7",
            ),
            (
                r#"{"model":"a","messages":[{"role":true}]}"#,
                "`messages[0].role` must be a string, not a boolean",
            ),
            (
                r#"{"model":"a","messages":[{"content":{}}]}"#,
                "`messages[0].content` must be a string or an array of blocks, not an object",
            ),
            (
                r#"{"model":"a","system":5,"messages":[{}]}"#,
                "`system` must be a string or an array of blocks, not 5",
            ),
            (
                r#"{"model":"a"}"#,
                "`messages` is missing: name at least one message, like {\"role\": \"user\", \"content\": \"…\"}",
            ),
        ];
        for (body, message) in cases {
            assert_eq!(decode(body).expect_err(body).message, message, "{body}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let block = r#"{"type":"tool_result","content":["#;
        let depth = 100_000;
        let bomb = format!("{}{}", block.repeat(depth), "]}".repeat(depth));
        let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":[{bomb}]}}]}}"#);
        decode(&body).expect("what it means is the upstream's to judge");
    }
}
