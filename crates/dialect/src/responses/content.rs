//! What the input of a request holds, without building it.
//!
//! Every item is looked at in the same way, whatever its type: calls, results and thoughts name what
//! they hold alike. An item that nobody here knows is sized by what it has in common with the others.

use super::translate::is_foreign_seal;
use crate::json::{Cursor, Span};
use crate::request_error::{RequestError, wrong, wrong_at};
use crate::splice::with_comma;
use crate::text::Gatherer;
use crate::{Detail, ImageSize, ImageTokens, TextTally};

/// What the instructions and the input hold.
pub(super) struct Content {
    pub(super) messages: u64,
    pub(super) images: u64,
    pub(super) image_tokens: ImageTokens,
    pub(super) audios: u64,
    pub(super) documents: u64,
    /// Thoughts that another provider sealed, each with a comma beside it.
    pub(super) foreign_thoughts: Vec<Span>,
    /// Whether any of them came since the user said something last.
    pub(super) misses_thoughts: bool,
    gatherer: Gatherer,
}

impl Default for Content {
    fn default() -> Self {
        Self {
            messages: 0,
            images: 0,
            image_tokens: ImageTokens::default(),
            audios: 0,
            documents: 0,
            foreign_thoughts: Vec::new(),
            misses_thoughts: false,
            gatherer: Gatherer::new(),
        }
    }
}

impl Content {
    /// All text so far.
    pub(super) fn text(self) -> TextTally {
        self.gatherer.finish()
    }

    /// Reads the instructions at hand.
    pub(super) fn read_instructions(
        &mut self,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), RequestError> {
        if cursor.peek() != b'"' {
            return Err(wrong("instructions", "a string", cursor));
        }
        self.gatherer.json_string(cursor);
        Ok(())
    }

    /// Reads the input at hand: a text, which is one message, or items.
    pub(super) fn read_input(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        match cursor.peek() {
            b'"' => {
                self.gatherer.json_string(cursor);
                self.messages += 1;
            }
            b'[' => {
                let mut is_first = true;
                cursor.enter(b'[');
                while cursor.next_element() {
                    let mut item = cursor.clone();
                    if self.read_item(cursor)? {
                        let item = item.skip().unwrap_or_default();
                        let removal = with_comma(cursor.text(), item, is_first);
                        self.foreign_thoughts.push(removal);
                        self.misses_thoughts = true;
                    } else {
                        is_first = false;
                    }
                    self.messages += 1;
                }
            }
            _ => return Err(wrong("input", "a string or an array of items", cursor)),
        }
        Ok(())
    }

    pub(super) fn missing() -> RequestError {
        RequestError::of(
            "input",
            "`input` is missing: give a text, or items like {\"role\": \"user\", \"content\": \"…\"}",
        )
    }

    /// Whether the item at hand is a thought that another provider sealed.
    fn read_item(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, RequestError> {
        let mut is_foreign = false;
        let at = self.messages;
        let wrong = |place: &str, expected, cursor: &Cursor<'_>| {
            let place = format!("input[{at}]{place}");
            Err(wrong_at("input", &place, expected, cursor))
        };
        if !cursor.enter(b'{') {
            return wrong("", "an object", cursor);
        }
        while let Some(key) = cursor.next_key() {
            match (&*key.name(cursor.text()), cursor.peek()) {
                (b"role", b'"') => {
                    let role = &cursor.text()[cursor.position()..];
                    self.misses_thoughts &= !role.starts_with(b"\"user\"");
                    self.gatherer.json_string(cursor);
                }
                (b"name" | b"content" | b"arguments" | b"output" | b"input", b'"') => {
                    self.gatherer.json_string(cursor);
                }
                (b"role", _) => return wrong(".role", "a string", cursor),
                (b"content" | b"output" | b"summary", b'[') => self.read_parts(cursor),
                // What a computer shows is a part that stands alone.
                (b"output", b'{') => self.read_part(cursor),
                (b"encrypted_content", b'"') => {
                    let seal = cursor.skip().unwrap_or_default();
                    is_foreign |= is_foreign_seal(&cursor.text()[seal]);
                }
                (b"content", b'n') => {}
                (b"content", _) => {
                    return wrong(".content", "a string or an array of parts", cursor);
                }
                _ => {}
            }
        }
        Ok(is_foreign)
    }

    fn read_parts(&mut self, cursor: &mut Cursor<'_>) {
        cursor.enter(b'[');
        while cursor.next_element() {
            self.read_part(cursor);
        }
    }

    /// What a part is follows from its type, which may stand behind what it holds.
    fn read_part(&mut self, cursor: &mut Cursor<'_>) {
        if !cursor.enter(b'{') {
            return;
        }
        let (mut is_image, mut size, mut detail) = (false, None, Detail::High);
        while let Some(key) = cursor.next_key() {
            match (&*key.name(cursor.text()), cursor.peek()) {
                (b"image_url", b'"') => {
                    let url = cursor.skip().unwrap_or_default();
                    size = ImageSize::of_url(&cursor.text()[url]);
                }
                (b"detail", b'"') => {
                    let asked = cursor.skip().unwrap_or_default();
                    if cursor.text()[asked] == *b"\"low\"" {
                        detail = Detail::Low;
                    }
                }
                (b"type", _) => {
                    let kind = cursor.skip().unwrap_or_default();
                    match &cursor.text()[kind] {
                        b"\"input_image\"" | b"\"computer_screenshot\"" => is_image = true,
                        b"\"input_file\"" => self.documents += 1,
                        b"\"input_audio\"" => self.audios += 1,
                        _ => {}
                    }
                }
                (b"text" | b"refusal", b'"') => self.gatherer.json_string(cursor),
                _ => {}
            }
        }
        if is_image {
            self.images += 1;
            self.image_tokens.add(ImageTokens::of(size, detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::RequestError;
    use crate::responses::Envelope;
    use bytes::Bytes;

    fn decode(body: &str) -> Result<Envelope, RequestError> {
        Envelope::decode(&Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn all_kinds_of_items_are_sized() {
        let envelope = decode(
            r#"{"model":"m","instructions":"한국","input":[
                {"role":"user","content":"a\nb"},
                {"type":"message","role":"user","content":[
                    {"type":"input_text","text":"look"},
                    {"image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAACCAYAAACZgbYn","type":"input_image"},
                    {"type":"input_file","filename":"t.pdf","file_data":"data:application/pdf;base64,AAAA"},
                    {"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]},
                {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"AAAA"},
                {"type":"function_call","id":"fc_1","call_id":"call_1","name":"see","arguments":"{\"q\":1}"},
                {"type":"function_call_output","call_id":"call_1","output":[
                    {"type":"input_text","text":"42"},{"type":"input_image","file_id":"file-1"}]},
                {"type":"function_call_output","call_id":"call_2","output":"43"},
                {"role":"assistant","content":[{"type":"output_text","text":"ok"},{"type":"refusal","refusal":"no"}]}]}"#,
        )
        .expect("a request");
        let facts = &envelope.facts;
        // Instructions 6; roles 4 + 4 + 9; texts 3, 4; thought 2; call 3 + 7; results 2 + 2; answer 2 + 2.
        assert_eq!(facts.text.bytes, 6 + 17 + 7 + 2 + 10 + 4 + 4);
        assert_eq!(facts.text.hangul, 2);
        // Of one pixel by two, and of unknown size.
        assert_eq!(facts.image_tokens.area, 1 + 1_600);
        let counts = (facts.messages, facts.images, facts.documents, facts.audios);
        assert_eq!(counts, (7, 2, 1, 1));
    }

    #[test]
    fn a_text_alone_is_one_message() {
        let facts = decode(r#"{"model":"m","input":"hi there"}"#)
            .expect("a request")
            .facts;
        assert_eq!((facts.messages, facts.text.bytes), (1, 8));
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            (
                r#"{"model":"a"}"#,
                "`input` is missing: give a text, or items like {\"role\": \"user\", \"content\": \"…\"}",
            ),
            (
                r#"{"model":"a","input":{}}"#,
                "`input` must be a string or an array of items, not an object",
            ),
            (
                r#"{"model":"a","input":[{},7]}"#,
                "`input[1]` must be an object, not 7",
            ),
            (
                r#"{"model":"a","input":[{"role":true}]}"#,
                "`input[0].role` must be a string, not a boolean",
            ),
            (
                r#"{"model":"a","input":[{"content":{}}]}"#,
                "`input[0].content` must be a string or an array of parts, not an object",
            ),
            (
                r#"{"model":"a","input":"a","instructions":7}"#,
                "`instructions` must be a string, not 7",
            ),
        ];
        for (body, message) in cases {
            assert_eq!(decode(body).expect_err(body).message, message);
        }
    }
}
