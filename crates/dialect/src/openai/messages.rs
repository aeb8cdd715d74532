//! The messages of a request: what is in them, without building them.
//!
//! Texts are tallied where they lie. What a part is follows from the member that it holds, not from its `type`, which may
//! come after it.

use super::Envelope;
use super::request_error::{RequestError, wrong, wrong_at};
use crate::json::{self, Piece, Span};

impl Envelope {
    pub(super) fn read_messages(&mut self, messages: Option<&Span>) -> Result<(), RequestError> {
        let body = self.body.clone();
        let Some(messages) = messages else {
            return Err(RequestError::of(
                "messages",
                "`messages` is missing: name at least one message, like {\"role\": \"user\", \"content\": \"…\"}",
            ));
        };
        if body[messages.start] != b'[' {
            return Err(wrong("messages", "an array of messages", &body, messages));
        }
        for message in json::elements(&body, messages) {
            if body[message.start] != b'{' {
                let place = format!("messages[{}]", self.messages);
                return Err(wrong_at("messages", &place, "an object", &body, &message));
            }
            self.read_message(&body, &message)?;
            self.messages += 1;
        }
        if self.messages == 0 {
            return Err(RequestError::of(
                "messages",
                "`messages` is empty: name at least one message",
            ));
        }
        Ok(())
    }

    fn read_message(&mut self, body: &[u8], message: &Span) -> Result<(), RequestError> {
        for member in json::members(body, message) {
            match &*member.name(body) {
                b"content" => self.read_content(body, &member.value)?,
                b"role" => self.read_text(body, &member.value, "role")?,
                b"name" => self.read_text(body, &member.value, "name")?,
                b"refusal" => self.read_text(body, &member.value, "refusal")?,
                b"tool_calls" => {
                    for call in json::elements(body, &member.value) {
                        if let Some(function) = json::member(body, &call, "function") {
                            self.tally_call(body, &function);
                        }
                    }
                }
                b"function_call" => self.tally_call(body, &member.value),
                _ => {}
            }
        }
        Ok(())
    }

    fn read_content(&mut self, body: &[u8], content: &Span) -> Result<(), RequestError> {
        match body[content.start] {
            b'"' => self.tally(body, content),
            b'n' => {}
            b'[' => {
                for (index, part) in json::elements(body, content).enumerate() {
                    match body[part.start] {
                        b'"' => self.tally(body, &part),
                        b'{' => self.read_part(body, &part)?,
                        _ => {
                            let place = format!("messages[{}].content[{index}]", self.messages);
                            return Err(wrong_at("messages", &place, "an object", body, &part));
                        }
                    }
                }
            }
            _ => {
                let place = format!("messages[{}].content", self.messages);
                return Err(wrong_at(
                    "messages",
                    &place,
                    "a string or an array of parts",
                    body,
                    content,
                ));
            }
        }
        Ok(())
    }

    fn read_part(&mut self, body: &[u8], part: &Span) -> Result<(), RequestError> {
        for member in json::members(body, part) {
            match &*member.name(body) {
                b"text" => self.read_text(body, &member.value, "content[].text")?,
                b"refusal" => self.read_text(body, &member.value, "content[].refusal")?,
                b"image_url" => self.images += 1,
                b"input_audio" => self.audios += 1,
                b"file" => self.files += 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn read_text(&mut self, body: &[u8], value: &Span, member: &str) -> Result<(), RequestError> {
        match body[value.start] {
            b'"' => self.tally(body, value),
            b'n' => {}
            _ => {
                let place = format!("messages[{}].{member}", self.messages);
                return Err(wrong_at("messages", &place, "a string", body, value));
            }
        }
        Ok(())
    }

    fn tally_call(&mut self, body: &[u8], function: &Span) {
        for member in json::members(body, function) {
            if matches!(&*member.name(body), b"name" | b"arguments") {
                self.tally(body, &member.value);
            }
        }
    }

    fn tally(&mut self, body: &[u8], literal: &Span) {
        let mut before = b' ';
        let mut buffer = [0; 4];
        for piece in json::pieces(body, literal) {
            let text = match piece {
                Piece::Plain(text) => text,
                Piece::Escaped(character) => character.encode_utf8(&mut buffer).as_bytes(),
            };
            self.text.continue_after(before, text);
            before = text.last().copied().unwrap_or(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(envelope.text.bytes, 23 + 3 + 13 + 11);
        assert_eq!(envelope.text.hangul, 2);
        assert_eq!(
            (envelope.images, envelope.audios, envelope.files),
            (1, 1, 1)
        );
        assert_eq!(envelope.messages, 4);
        assert_eq!(envelope.tools_bytes, 21);
        assert_eq!(envelope.response_format_bytes, 15);
        assert_eq!(envelope.model, "gpt-5.5");
    }

    #[test]
    fn half_a_surrogate_pair_is_the_upstreams_to_judge() {
        let envelope =
            decode(r#"{"model":"m","messages":[{"content":"a\ud83d"}]}"#).expect("a request");
        assert_eq!(envelope.text.bytes, 1 + 3);
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
