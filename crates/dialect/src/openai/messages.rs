//! The messages of a request: what is in them, without building them.
//!
//! Texts are tallied where they lie. What a part is follows from the member that it holds, not from
//! its `type`, which may come after it.

use super::translate::is_carried;
use crate::json::{Cursor, Key, Piece, Span};
use crate::request_error::{RequestError, wrong, wrong_at};
use crate::text::Gatherer;
use crate::{Detail, ImageSize, ImageTokens, TextTally};

/// What the messages hold.
pub(super) struct Messages {
    pub(super) count: u64,
    pub(super) text: TextTally,
    pub(super) images: u64,
    pub(super) image_tokens: ImageTokens,
    pub(super) audios: u64,
    pub(super) files: u64,
    /// Members with what other providers sealed.
    pub(super) carried: Vec<Span>,
}

impl Messages {
    /// Reads the messages at hand.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, RequestError> {
        let mut reader = Reader::new();
        if !cursor.enter(b'[') {
            return Err(wrong("messages", "an array of messages", cursor));
        }
        while cursor.next_element() {
            reader.message(cursor)?;
        }
        if reader.messages == 0 {
            let message = "`messages` is empty: name at least one message";
            return Err(RequestError::of("messages", message));
        }
        Ok(Self {
            count: reader.messages,
            text: reader.text.finish(),
            images: reader.images,
            image_tokens: reader.image_tokens,
            audios: reader.audios,
            files: reader.files,
            carried: reader.carried,
        })
    }

    pub(super) fn missing() -> RequestError {
        RequestError::of(
            "messages",
            "`messages` is missing: name at least one message, like {\"role\": \"user\", \"content\": \"…\"}",
        )
    }
}

struct Reader {
    messages: u64,
    text: Gatherer,
    images: u64,
    image_tokens: ImageTokens,
    audios: u64,
    files: u64,
    carried: Vec<Span>,
}

impl Reader {
    fn new() -> Self {
        Self {
            messages: 0,
            text: Gatherer::new(),
            images: 0,
            image_tokens: ImageTokens::default(),
            audios: 0,
            files: 0,
            carried: Vec::new(),
        }
    }

    fn message(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        if !cursor.enter(b'{') {
            return Err(self.wrong("", "an object", cursor));
        }
        while let Some(key) = cursor.next_key() {
            match &*key.name(cursor.text()) {
                b"content" => self.content(cursor)?,
                b"role" => self.string(cursor, ".role")?,
                b"name" => self.string(cursor, ".name")?,
                b"refusal" => self.string(cursor, ".refusal")?,
                b"tool_calls" if cursor.enter(b'[') => {
                    while cursor.next_element() {
                        self.tool_call(cursor);
                    }
                }
                b"function_call" => self.call(cursor),
                b"extra_content" => self.extra_content(&key, cursor),
                _ => {}
            }
        }
        self.messages += 1;
        Ok(())
    }

    fn content(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        match cursor.peek() {
            b'"' => self.tally(cursor),
            b'n' => {}
            b'[' => self.parts(cursor)?,
            _ => return Err(self.wrong(".content", "a string or an array of parts", cursor)),
        }
        Ok(())
    }

    fn parts(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        let mut index = 0;
        cursor.enter(b'[');
        while cursor.next_element() {
            match cursor.peek() {
                b'"' => self.tally(cursor),
                b'{' => self.part(cursor)?,
                _ => return Err(self.wrong(&format!(".content[{index}]"), "an object", cursor)),
            }
            index += 1;
        }
        Ok(())
    }

    fn part(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            match &*key.name(cursor.text()) {
                b"text" => self.string(cursor, ".content[].text")?,
                b"refusal" => self.string(cursor, ".content[].refusal")?,
                b"image_url" => self.image(cursor),
                b"input_audio" => self.audios += 1,
                b"file" => self.files += 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// The size of an image stands in its first bytes, where those are here.
    fn image(&mut self, cursor: &mut Cursor<'_>) {
        let (mut size, mut detail) = (None, Detail::High);
        if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                let name = key.name(cursor.text());
                let is_known = matches!(&*name, b"url" | b"detail");
                let Some(value) = is_known.then(|| cursor.skip()).flatten() else {
                    continue;
                };
                let value = &cursor.text()[value];
                match &*name {
                    b"url" => size = ImageSize::of_url(value),
                    _ if value == b"\"low\"" => detail = Detail::Low,
                    _ => {}
                }
            }
        }
        self.images += 1;
        self.image_tokens.add(ImageTokens::of(size, detail));
    }

    fn tool_call(&mut self, cursor: &mut Cursor<'_>) {
        if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                match &*key.name(cursor.text()) {
                    b"function" => self.call(cursor),
                    b"extra_content" => self.extra_content(&key, cursor),
                    _ => {}
                }
            }
        }
    }

    /// What a server adds that OpenAI has no place for.
    fn extra_content(&mut self, key: &Key, cursor: &mut Cursor<'_>) {
        let value = cursor.skip().unwrap_or_default();
        if is_carried(&cursor.text()[value.clone()]) {
            self.carried.push(key.removal(cursor.text(), &value));
        }
    }

    /// A function that was called: its name and arguments are text.
    fn call(&mut self, cursor: &mut Cursor<'_>) {
        if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                if matches!(&*key.name(cursor.text()), b"name" | b"arguments") {
                    self.tally(cursor);
                }
            }
        }
    }

    fn string(&mut self, cursor: &mut Cursor<'_>, place: &str) -> Result<(), RequestError> {
        match cursor.peek() {
            b'"' => self.tally(cursor),
            b'n' => {}
            _ => return Err(self.wrong(place, "a string", cursor)),
        }
        Ok(())
    }

    fn tally(&mut self, cursor: &mut Cursor<'_>) {
        cursor.pieces(|piece| match piece {
            Piece::Plain(text) => self.text.piece(text),
            Piece::Escaped(character) => {
                self.text
                    .piece(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        });
        self.text.end_text();
    }

    fn wrong(&self, place: &str, expected: &str, cursor: &Cursor<'_>) -> RequestError {
        let place = format!("messages[{}]{place}", self.messages);
        wrong_at("messages", &place, expected, cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai::Envelope;
    use bytes::Bytes;

    fn decode(body: &str) -> Result<Envelope, RequestError> {
        Envelope::decode(&Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn all_kinds_of_content_are_sized() {
        let envelope = decode(
            r#"{"messages":[
                {"role":"system","content":"한국"},
                {"role":"user","name":"kim","content":[
                    {"type":"text","text":"a\nb\u00e9"},
                    {"image_url":{"url":"data:image/png;base64,AAAA"},"type":"image_url"},
                    {"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},
                    {"type":"file","file":{"file_id":"f"}}]},
                {"role":"assistant","content":null,"refusal":null,"tool_calls":[
                    {"id":"c1","type":"function","function":{"name":"look","arguments":"{\"q\":1}"}}]},
                {"role":"tool","tool_call_id":"c1","content":"42"}],
               "tools":[{"type":"function"}],"response_format":{"type":"text"},"model":"gpt-5.5"}"#,
        )
        .expect("a request");
        // Roles 6 + 4 + 9 + 4, name 3, content 6 + 5 + 2, call 4 + 7.
        assert_eq!(envelope.facts.text.bytes, 23 + 3 + 13 + 11);
        assert_eq!(envelope.facts.text.hangul, 2);
        assert_eq!(
            (
                envelope.facts.images,
                envelope.facts.audios,
                envelope.facts.documents
            ),
            (1, 1, 1)
        );
        assert_eq!(envelope.facts.messages, 4);
        assert_eq!(envelope.facts.tools_bytes, 21);
        assert_eq!(envelope.facts.form_bytes, 15);
        assert_eq!(envelope.facts.model, "gpt-5.5");
    }

    #[test]
    fn half_a_surrogate_pair_is_the_upstreams_to_judge() {
        let envelope =
            decode(r#"{"model":"m","messages":[{"content":"a\ud83d"}]}"#).expect("a request");
        assert_eq!(envelope.facts.text.bytes, 1 + 3);
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            (
                r#"{"model":"a"}"#,
                "`messages` is missing: name at least one message, like {\"role\": \"user\", \"content\": \"…\"}",
            ),
            (
                r#"{"model":"a","messages":"hi"}"#,
                "`messages` must be an array of messages, not a string",
            ),
            (
                r#"{"model":"a","messages":[]}"#,
                "`messages` is empty: name at least one message",
            ),
            (
                r#"{"model":"a","messages":[{},7]}"#,
                "`messages[1]` must be an object, not 7",
            ),
            (
                r#"{"model":"a","messages":[{"content":{}}]}"#,
                "`messages[0].content` must be a string or an array of parts, not an object",
            ),
            (
                r#"{"model":"a","messages":[{"content":["x",[]]}]}"#,
                "`messages[0].content[1]` must be an object, not an array",
            ),
            (
                r#"{"model":"a","messages":[{"role":true}]}"#,
                "`messages[0].role` must be a string, not a boolean",
            ),
        ];
        for (body, message) in cases {
            let error = decode(body).expect_err(body);
            assert_eq!(
                (error.param, error.message.as_str()),
                (Some("messages"), message),
                "{body}"
            );
        }
    }
}
