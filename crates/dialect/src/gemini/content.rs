//! What the contents and the instructions of a request hold, without building them.
//!
//! Google takes a single object where a list is meant, for contents and for parts, and its own
//! examples write instructions so.

use super::translate::{is_carried, is_stand_in};
use crate::json::{self, Cursor, Piece, Span};
use crate::request_error::{RequestError, wrong, wrong_at};
use crate::splice::with_comma;
use crate::text::Gatherer;
use crate::{Detail, ImageSize, ImageTokens, TextTally};

/// What the contents and the instructions hold.
pub(super) struct Content {
    pub(super) messages: u64,
    pub(super) images: u64,
    pub(super) image_tokens: ImageTokens,
    pub(super) audios: u64,
    pub(super) documents: u64,
    /// Thoughts that another provider sealed, and contents of nothing else, each with a comma beside it.
    pub(super) foreign_thoughts: Vec<Span>,
    /// Seals that stand for another model's, as they are answered.
    pub(super) stand_ins: Vec<Span>,
    /// So many results of calls.
    results: u64,
    /// Whether any of both came since the user said something last.
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
            stand_ins: Vec::new(),
            results: 0,
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

    /// Reads the contents at hand.
    pub(super) fn read_contents(&mut self, cursor: &mut Cursor<'_>) -> Result<(), RequestError> {
        match cursor.peek() {
            b'{' => self
                .read_content(cursor, "contents", "contents")
                .map(|_| ()),
            b'[' => {
                cursor.enter(b'[');
                let mut at = 0_u64;
                let mut is_first = true;
                while cursor.next_element() {
                    let content = cursor.clone();
                    let known = self.foreign_thoughts.len();
                    let place = format!("contents[{at}]");
                    let holds = self.read_content(cursor, "contents", &place)?;
                    if holds == Holds::ForeignThoughts {
                        self.foreign_thoughts.truncate(known);
                        self.note_foreign(content, is_first);
                    } else {
                        is_first = false;
                    }
                    at += 1;
                }
                Ok(())
            }
            _ => Err(wrong("contents", "an array of contents", cursor)),
        }
    }

    /// Reads the content at hand, that of `param`, at `place`. Instructions are no message.
    pub(super) fn read_content(
        &mut self,
        cursor: &mut Cursor<'_>,
        param: &'static str,
        place: &str,
    ) -> Result<Holds, RequestError> {
        let mut holds = Holds::Something;
        let (mut is_users, answered) = (true, self.results);
        if !cursor.enter(b'{') {
            return Err(wrong_at(param, place, "an object", cursor));
        }
        while let Some(key) = cursor.next_key() {
            match (&*key.name(cursor.text()), cursor.peek()) {
                (b"role", b'"') => {
                    let text = cursor.text();
                    is_users = !text[cursor.position()..].starts_with(b"\"model\"");
                    self.tally(cursor);
                }
                (b"role" | b"parts", b'n') => {}
                (b"role", _) => {
                    let place = format!("{place}.role");
                    return Err(wrong_at(param, &place, "a string", cursor));
                }
                (b"parts", b'{') => holds = self.read_part(cursor),
                (b"parts", b'[') => holds = self.read_parts(cursor),
                (b"parts", _) => {
                    let place = format!("{place}.parts");
                    return Err(wrong_at(param, &place, "an array of parts", cursor));
                }
                _ => {}
            }
        }
        if param != "systemInstruction" {
            self.messages += 1;
        }
        // Who only brings results has not said anything.
        self.misses_thoughts &= !is_users || self.results > answered;
        Ok(holds)
    }

    pub(super) fn missing(param: &'static str) -> RequestError {
        let message = match param {
            "contents" => {
                "`contents` is missing: name at least one content, like {\"role\": \"user\", \"parts\": [{\"text\": \"…\"}]}"
            }
            "requests" => "`requests` is missing: name at least one content to embed",
            _ => "`content` is missing: name what to embed, like {\"parts\": [{\"text\": \"…\"}]}",
        };
        RequestError::of(param, message)
    }

    fn read_parts(&mut self, cursor: &mut Cursor<'_>) -> Holds {
        let known = self.foreign_thoughts.len();
        let mut is_first = true;
        cursor.enter(b'[');
        while cursor.next_element() {
            let part = cursor.clone();
            if self.read_part(cursor) == Holds::ForeignThoughts {
                self.note_foreign(part, is_first);
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

    /// Notes the element at hand, of which all before it are foreign too if it `is_first`.
    fn note_foreign(&mut self, mut element: Cursor<'_>, is_first: bool) {
        let span = element.skip().unwrap_or_default();
        let removal = with_comma(element.text(), span, is_first);
        self.foreign_thoughts.push(removal);
    }

    fn read_part(&mut self, cursor: &mut Cursor<'_>) -> Holds {
        let mut holds = Holds::Something;
        if !cursor.enter(b'{') {
            return holds;
        }
        while let Some(key) = cursor.next_key() {
            match (&*key.name(cursor.text()), cursor.peek()) {
                (b"text", b'"') => self.tally(cursor),
                (b"functionCall" | b"function_call", b'{') => self.read_function(cursor),
                (b"functionResponse" | b"function_response", b'{') => {
                    self.results += 1;
                    self.read_function(cursor);
                }
                (b"inlineData" | b"inline_data" | b"fileData" | b"file_data", b'{') => {
                    self.note_medium(cursor);
                }
                (
                    b"executableCode"
                    | b"executable_code"
                    | b"codeExecutionResult"
                    | b"code_execution_result",
                    b'{',
                ) => self.read_code(cursor),
                (b"thoughtSignature" | b"thought_signature", b'"') => {
                    let seal = cursor.skip().unwrap_or_default();
                    let raw = &cursor.text()[seal.clone()];
                    if is_carried(raw) {
                        holds = Holds::ForeignThoughts;
                        self.misses_thoughts = true;
                    } else if is_stand_in(raw) {
                        self.stand_ins.push(seal);
                        self.misses_thoughts = true;
                    }
                }
                _ => {}
            }
        }
        holds
    }

    /// A call or what it brought. The model reads arguments and results as the text that they are.
    fn read_function(&mut self, cursor: &mut Cursor<'_>) {
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            match (&*key.name(cursor.text()), cursor.peek()) {
                (b"name", b'"') => self.tally(cursor),
                (b"args" | b"response", b'{') => {
                    if let Some(span) = cursor.skip() {
                        self.gatherer.piece(&cursor.text()[span]);
                        self.gatherer.end_text();
                    }
                }
                // A result may hold media, each in a part that holds nothing else.
                (b"parts", b'[') => {
                    cursor.enter(b'[');
                    while cursor.next_element() {
                        let place = ["inlineData", "inline_data", "fileData", "file_data"]
                            .into_iter()
                            .find_map(|name| json::member(cursor.text(), cursor.position(), name));
                        if let Some(place) = place {
                            self.note_medium(&mut Cursor::at(cursor.text(), place.start));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn read_code(&mut self, cursor: &mut Cursor<'_>) {
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            if matches!(&*key.name(cursor.text()), b"code" | b"output") {
                self.tally(cursor);
            }
        }
    }

    /// What it is follows from its media type.
    fn note_medium(&mut self, cursor: &mut Cursor<'_>) {
        let text = cursor.text();
        let (mut kind, mut size) = (None, None);
        if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                match (&*key.name(text), cursor.peek()) {
                    (b"mimeType" | b"mime_type", _) => {
                        kind = cursor.skip().and_then(|value| json::string(text, &value));
                    }
                    (b"data", b'"') => {
                        let data = cursor.skip().unwrap_or_default();
                        size = text[data].get(1..).and_then(ImageSize::of_base64);
                    }
                    _ => {}
                }
            }
        }
        let kind = kind.unwrap_or_default();
        if kind.starts_with("image/") {
            self.images += 1;
            self.image_tokens.add(ImageTokens::of(size, Detail::High));
        } else if kind.starts_with("audio/") {
            self.audios += 1;
        } else {
            self.documents += 1;
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

/// What a content or a part holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// What passes as it is, if it is only nothing.
    Something,
    /// Nothing but thoughts that Google refuses.
    ForeignThoughts,
}

#[cfg(test)]
mod tests {
    use crate::gemini::{Call, Envelope};
    use bytes::Bytes;

    fn decode(body: &str) -> Result<Envelope, crate::RequestError> {
        let body = Bytes::copy_from_slice(body.as_bytes());
        Envelope::decode(&body, "m", Call::GenerateContent)
    }

    #[test]
    fn all_kinds_of_parts_are_sized_in_both_spellings() {
        let camel = r#"{"systemInstruction":{"parts":{"text":"한국"}},"contents":[
            {"role":"user","parts":[{"text":"a\nb"},
                {"inlineData":{"data":"AAAA","mimeType":"image/png"}},
                {"fileData":{"mimeType":"audio/mp3","fileUri":"u"}},
                {"fileData":{"fileUri":"u"}}]},
            {"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2VhbA=="},
                {"functionCall":{"id":"c","name":"look","args":{"q":1}}},
                {"executableCode":{"language":"PYTHON","code":"1+1"}},
                {"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"look","response":{"r":42},
                "parts":[{"inlineData":{"mimeType":"image/jpeg","data":"AA"}}]}}]}]}"#;
        let snake = camel
            .replace("systemInstruction", "system_instruction")
            .replace("inlineData", "inline_data")
            .replace("fileData", "file_data")
            .replace("mimeType", "mime_type")
            .replace("functionCall", "function_call")
            .replace("functionResponse", "function_response")
            .replace("executableCode", "executable_code")
            .replace("codeExecutionResult", "code_execution_result");
        for body in [camel, &snake] {
            let facts = decode(body).expect("a request").facts;
            // Instructions 6; roles 4 + 5 + 4; text 3; thought 2, call 4 + 7, code 3 + 1; result 4 + 8.
            assert_eq!(facts.text.bytes, 6 + 13 + 3 + 2 + 11 + 4 + 12);
            assert_eq!(facts.text.hangul, 2);
            assert_eq!(
                (facts.messages, facts.images, facts.audios, facts.documents),
                (3, 2, 1, 1)
            );
        }
    }

    #[test]
    fn a_single_content_needs_no_list() {
        let facts = decode(r#"{"contents":{"parts":{"text":"hi"}}}"#).expect("a request");
        assert_eq!((facts.facts.messages, facts.facts.text.bytes), (1, 2));
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            (
                "{}",
                "`contents` is missing: name at least one content, like {\"role\": \"user\", \"parts\": [{\"text\": \"…\"}]}",
            ),
            (
                r#"{"contents":"hi"}"#,
                "`contents` must be an array of contents, not a string",
            ),
            (
                r#"{"contents":[{},7]}"#,
                "`contents[1]` must be an object, not 7",
            ),
            (
                r#"{"contents":[{"role":true}]}"#,
                "`contents[0].role` must be a string, not a boolean",
            ),
            (
                r#"{"contents":[{"parts":"hi"}]}"#,
                "`contents[0].parts` must be an array of parts, not a string",
            ),
            (
                r#"{"contents":[{}],"systemInstruction":"be kind"}"#,
                "`systemInstruction` must be an object, not a string",
            ),
        ];
        for (body, message) in cases {
            assert_eq!(decode(body).expect_err(body).message, message, "{body}");
        }
    }
}
