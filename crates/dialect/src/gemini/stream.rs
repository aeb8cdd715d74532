//! An answer that is streamed: passed on as the bytes that came, and watched on its way.
//!
//! A provider is always asked for events. Where the client wants an array instead, the data of each
//! event becomes an element; else every byte passes. No event says that the stream is over: it is
//! whole where a candidate has said why it ended, or the prompt why it was refused.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use sluicegate_catalog::Provider;

use super::endings::{says_cut, says_ended};
use super::framing::{Frames, Framing};
use super::usage::usage_at;
use super::{ErrorOut, error_body};
use crate::json::{self, Cursor};
use crate::progress::Progress;
use crate::sse::{Decoder, Event, EventTooLarge, LONG_EVENT_BYTES_MAX};
use crate::upstream_error;

/// One streamed answer.
#[derive(Debug)]
pub struct ContentStream {
    provider: Arc<Provider>,
    decoder: Decoder,
    frames: Frames,
    progress: Progress,
}

impl ContentStream {
    /// A stream that has not begun, from `provider`, whose table judges errors inside it, to a client
    /// that wants it in `framing`.
    pub fn new(provider: Arc<Provider>, framing: Framing) -> Self {
        Self {
            provider,
            decoder: Decoder::for_events_up_to(LONG_EVENT_BYTES_MAX),
            frames: Frames::new(framing),
            progress: Progress::default(),
        }
    }

    /// Takes a chunk as it came from the wire and appends to `out` all events that it ended.
    ///
    /// # Errors
    /// [`EventTooLarge`]: the stream cannot be followed any further and has to be ended.
    pub fn push(&mut self, chunk: Bytes, out: &mut BytesMut) -> Result<(), EventTooLarge> {
        self.decoder.push(chunk);
        while let Some(event) = self.decoder.next_event()? {
            self.pass(&event, out);
        }
        Ok(())
    }

    /// The upstream has closed: appends to `out` a last event that lacked its blank line and, where
    /// the stream is whole or has told its error, what ends an array. One that was cut is ended by
    /// [`fail`](Self::fail).
    pub fn finish(&mut self, out: &mut BytesMut) {
        if let Some(event) = self.decoder.finish() {
            self.pass(&event, out);
        }
        if self.progress.is_complete() || self.progress.error.is_some() {
            self.frames.close(out);
        }
    }

    /// Ends the stream with an error of ours, in the client's framing.
    pub fn fail(&mut self, error: &ErrorOut<'_>, out: &mut BytesMut) {
        self.frames.chunk(&error_body(error), out);
        self.frames.close(out);
    }

    /// What has come so far.
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }

    fn pass(&mut self, event: &Event, out: &mut BytesMut) {
        let data = object_of(event);
        if let Some(data) = data {
            self.watch(data);
        }
        match (self.frames.framing(), data) {
            (Framing::Events, _) => out.extend_from_slice(&event.raw),
            (Framing::Array, Some(data)) => self.frames.chunk(data, out),
            // A comment keeps the connection alive.
            (Framing::Array, None) => out.extend_from_slice(Framing::KEEP_ALIVE),
        }
    }

    fn watch(&mut self, data: &[u8]) {
        let mut cursor = Cursor::new(data);
        cursor.enter(b'{');
        let before = self.progress.output_chars;
        let mut acts = false;
        while let Some(key) = cursor.next_key() {
            match (&*key.name(data), cursor.peek()) {
                (b"candidates", b'[') => {
                    cursor.enter(b'[');
                    while cursor.next_element() {
                        acts |= self.watch_candidate(&mut cursor);
                    }
                }
                (b"promptFeedback", b'{') => {
                    let reason = json::member(data, cursor.position(), "blockReason");
                    self.progress.finished |=
                        reason.is_some_and(|reason| data[reason.start] == b'"');
                }
                (b"usageMetadata", b'{') => {
                    let usage = usage_at(data, cursor.position());
                    self.progress.usage = usage.or(self.progress.usage);
                }
                (b"error", b'{' | b'"') => {
                    let at = cursor.position();
                    let provider = &self.provider;
                    self.progress
                        .error
                        .get_or_insert_with(|| upstream_error::in_stream(provider, data, at));
                }
                _ => {}
            }
        }
        if acts || self.progress.output_chars > before {
            self.progress.content_events += 1;
        }
    }

    /// Whether it holds output that is no text.
    fn watch_candidate(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let text = cursor.text();
        let mut acts = false;
        if !cursor.enter(b'{') {
            return false;
        }
        while let Some(key) = cursor.next_key() {
            match (&*key.name(text), cursor.peek()) {
                (b"content", b'{') => {
                    let parts = json::member(text, cursor.position(), "parts");
                    if let Some(parts) = parts {
                        acts |= self.watch_parts(&mut Cursor::at(text, parts.start));
                    }
                }
                (b"finishReason", b'"') => {
                    let reason = cursor.skip().unwrap_or_default();
                    let reason = json::string(text, &reason).unwrap_or_default();
                    self.progress.finished |= says_ended(&reason);
                    self.progress.cut |= says_cut(&reason);
                }
                _ => {}
            }
        }
        acts
    }

    fn watch_parts(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let text = cursor.text();
        let mut acts = false;
        if !cursor.enter(b'[') {
            return false;
        }
        while cursor.next_element() {
            if !cursor.enter(b'{') {
                continue;
            }
            while let Some(key) = cursor.next_key() {
                match (&*key.name(text), cursor.peek()) {
                    (b"text", b'"') => self.progress.count_text(cursor),
                    (b"functionCall", b'{') => {
                        acts = true;
                        self.watch_call(cursor);
                    }
                    (b"inlineData" | b"executableCode" | b"codeExecutionResult", b'{') => {
                        acts = true;
                    }
                    _ => {}
                }
            }
        }
        acts
    }

    /// Its name and its arguments are output, as the text that they are.
    fn watch_call(&mut self, cursor: &mut Cursor<'_>) {
        let text = cursor.text();
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            match (&*key.name(text), cursor.peek()) {
                (b"name", b'"') => self.progress.count_text(cursor),
                (b"args", b'{') => {
                    let args = &text[cursor.skip().unwrap_or_default()];
                    self.progress.output_bytes += args.len() as u64;
                    let begins = args.iter().filter(|byte| **byte & 0xc0 != 0x80);
                    self.progress.output_chars += begins.count() as u64;
                }
                _ => {}
            }
        }
    }
}

/// The object that an event carries. Google sends some failures as bare lines of JSON amid the
/// events, so that the event has no data and all of it is the object.
pub(super) fn object_of(event: &Event) -> Option<&[u8]> {
    let text = event.data().unwrap_or(&event.raw).trim_ascii();
    text.starts_with(b"{").then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::{ErrorClass, provider};

    fn watched(stream: &str) -> Progress {
        let (said, progress) = passed(stream, Framing::Events, 3);
        assert_eq!(said, stream, "every byte passes");
        progress
    }

    fn passed(stream: &str, framing: Framing, step: usize) -> (String, Progress) {
        let provider = provider("gemini").expect("a row");
        let mut watched = ContentStream::new(Arc::clone(provider), framing);
        let mut out = BytesMut::new();
        for chunk in stream.as_bytes().chunks(step) {
            watched
                .push(Bytes::copy_from_slice(chunk), &mut out)
                .expect("no event is too large");
        }
        watched.finish(&mut out);
        let said = String::from_utf8(out.to_vec()).expect("UTF-8");
        (said, watched.progress().clone())
    }

    fn parts(parts: &str) -> String {
        format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{parts}]}}}}]}}\r\n\r\n")
    }

    fn ended(reason: &str) -> String {
        format!("data: {{\"candidates\":[{{\"finishReason\":\"{reason}\"}}]}}\n\n")
    }

    #[test]
    fn an_image_of_megabytes_passes() {
        let image = "A".repeat(3 << 20);
        let part = format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{image}"}}}}"#);
        let stream = parts(&part);
        let (said, progress) = passed(&stream, Framing::Events, 60_000);
        assert!(said == stream, "every byte passes");
        assert_eq!(progress.content_events, 1);
    }

    #[test]
    fn output_begins_with_the_first_content() {
        let cases = [
            (r#"{"text":""}"#, (0, 0)),
            (r#"{"text":"","thoughtSignature":"c2VhbA=="}"#, (0, 0)),
            (r#"{"text":"한\n"}"#, (1, 2)),
            (r#"{"thought":true,"text":"hm"}"#, (1, 2)),
            (
                r#"{"functionCall":{"name":"look","args":{"q":"한"}}}"#,
                (1, 4 + 9),
            ),
            (r#"{"functionCall":{}}"#, (1, 0)),
            (
                r#"{"inlineData":{"mimeType":"image/png","data":"AA"}}"#,
                (1, 0),
            ),
        ];
        for (part, expected) in cases {
            let progress = watched(&parts(part));
            assert_eq!(
                (progress.content_events, progress.output_chars),
                expected,
                "{part}"
            );
        }
    }

    #[test]
    fn an_end_is_told_from_a_cut() {
        assert!(watched(&ended("MAX_TOKENS")).cut);
        let stopped = watched(&ended("STOP"));
        assert!(stopped.is_complete() && !stopped.cut);
        assert!(!watched(&ended("")).is_complete());
        assert!(!watched(&parts(r#"{"text":"a"}"#)).is_complete());
        let blocked = "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n";
        assert!(watched(blocked).is_complete());
        assert!(!watched("data: {\"promptFeedback\":{\"safetyRatings\":[]}}\n\n").is_complete());
    }

    #[test]
    fn the_usage_is_the_last_that_was_told() {
        let stream = [
            "data: {\"usageMetadata\":{\"promptTokenCount\":4,\"candidatesTokenCount\":1}}\n\n",
            "data: {\"usageMetadata\":{\"promptTokenCount\":4,\"candidatesTokenCount\":8,\"thoughtsTokenCount\":2}}\n\n",
            &ended("STOP"),
        ]
        .concat();
        let usage = watched(&stream).usage.expect("it was told");
        assert_eq!((usage.input_tokens, usage.output_tokens), (4, 10));
    }

    #[test]
    fn errors_inside_a_stream_are_judged_with_or_without_a_frame() {
        let error = "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"busy\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}";
        let framed = format!("data: {}\n\n", error.replace('\n', ""));
        for stream in [framed.as_str(), error] {
            let stream = [&parts(r#"{"text":"a"}"#), stream].concat();
            let progress = watched(&stream);
            let class = progress.error.as_ref().map(|error| error.class);
            assert_eq!(class, Some(ErrorClass::Overload), "{stream}");
            assert!(!progress.is_complete());
            let (said, _) = passed(&stream, Framing::Array, 5);
            let said: Vec<serde_json::Value> = serde_json::from_str(&said).expect(&said);
            assert_eq!(said[1]["error"]["status"], "UNAVAILABLE");
        }
    }

    #[test]
    fn an_array_holds_what_the_events_held() {
        let stream = [
            ": ka\n\n",
            &parts(r#"{"text":"a"}"#),
            "data: {\"candidates\":\ndata: []}\n\n",
            "data: junk\n\n",
            &ended("STOP"),
        ]
        .concat();
        for step in [1, 7, 1_000] {
            let (said, progress) = passed(&stream, Framing::Array, step);
            let said: Vec<serde_json::Value> = serde_json::from_str(&said).expect(&said);
            assert_eq!(said.len(), 3);
            assert_eq!(said[2]["candidates"][0]["finishReason"], "STOP");
            assert!(progress.is_complete());
        }
    }

    #[test]
    fn an_array_that_was_cut_is_ended_by_an_error() {
        let provider = provider("gemini").expect("a row");
        for (framing, expected) in [
            (
                Framing::Array,
                "[{\"a\":1},\n{\"error\":{\"code\":502,\"message\":\"m\",\"status\":\"INTERNAL\"}}]\n",
            ),
            (
                Framing::Events,
                "data: {\"a\":1}\n\ndata: {\"error\":{\"code\":502,\"message\":\"m\",\"status\":\"INTERNAL\"}}\n\n",
            ),
        ] {
            let mut stream = ContentStream::new(Arc::clone(provider), framing);
            let mut out = BytesMut::new();
            let chunk = Bytes::from_static(b"data: {\"a\":1}\n\n");
            stream.push(chunk, &mut out).expect("small");
            stream.finish(&mut out);
            let error = ErrorOut {
                code: 502,
                message: "m",
                status: "INTERNAL",
                retry_after_ms: None,
            };
            stream.fail(&error, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn junk_passes_untouched() {
        for stream in [
            "data: {\"a\"\n\n",
            "data: oops\n\n",
            ": ka\n\n\n",
            "data: [1]\n\n",
        ] {
            assert_eq!(watched(stream), Progress::default(), "{stream}");
        }
    }
}
