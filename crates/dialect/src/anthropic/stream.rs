//! A message that is streamed: passed on as the bytes that came, and watched on its way.
//!
//! Nothing is added to a request that would have to be hidden again, so every byte passes; events
//! that nobody here knows too.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use sluicegate_catalog::Provider;

use super::endings::says_cut;
use super::error_event;
use super::translate::error_out;
use super::usage::Told;
use crate::json::{self, Cursor, Span};
use crate::progress::Progress;
use crate::sse::{Decoder, Event, EventTooLarge};
use crate::{UpstreamError, upstream_error};

/// One streamed message.
#[derive(Debug)]
pub struct MessageStream {
    provider: Arc<Provider>,
    decoder: Decoder,
    told: Told,
    progress: Progress,
}

impl MessageStream {
    /// A stream that has not begun, from `provider`, whose table judges errors inside it.
    pub fn new(provider: Arc<Provider>) -> Self {
        Self {
            provider,
            decoder: Decoder::default(),
            told: Told::default(),
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

    /// The upstream has closed: appends to `out` a last event that lacked its blank line.
    pub fn finish(&mut self, out: &mut BytesMut) {
        if let Some(event) = self.decoder.finish() {
            self.pass(&event, out);
        }
    }

    /// What has come so far.
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Nothing passes behind an error: SDKs take what ends a stream for its success.
    fn pass(&mut self, event: &Event, out: &mut BytesMut) {
        if self.progress.error.is_some() {
            return;
        }
        if let Some(data) = event.data() {
            self.watch(data, event.name());
        }
        if self.progress.done && !self.progress.finished {
            let error = UpstreamError::unfinished();
            out.extend_from_slice(&error_event(&error_out(&error)));
            self.progress.error = Some(error);
            return;
        }
        out.extend_from_slice(&event.raw);
    }

    fn watch(&mut self, data: &[u8], name: Option<&[u8]>) {
        let members = Members::find(data);
        let kind = members
            .kind
            .as_ref()
            .and_then(|kind| json::string(data, kind));
        match kind.as_deref().map(str::as_bytes).or(name) {
            Some(b"message_start") => {
                let usage = members
                    .message
                    .and_then(|at| json::member(data, at.start, "usage"));
                self.note_usage(data, usage.as_ref());
            }
            Some(b"content_block_start") => self.watch_output(data, members.content_block.as_ref()),
            Some(b"content_block_delta") => self.watch_output(data, members.delta.as_ref()),
            Some(b"message_delta") => {
                self.note_usage(data, members.usage.as_ref());
                let reason = members
                    .delta
                    .and_then(|at| json::member(data, at.start, "stop_reason"));
                let reason = reason.and_then(|reason| json::string(data, &reason));
                if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
                    self.progress.finished = true;
                    self.progress.cut |= says_cut(&reason);
                }
            }
            Some(b"message_stop") => self.progress.done = true,
            Some(b"error") => {
                let at = members.error.map_or(0, |error| error.start);
                let provider = &self.provider;
                self.progress
                    .error
                    .get_or_insert_with(|| upstream_error::in_stream(provider, data, at));
            }
            _ => {}
        }
    }

    fn note_usage(&mut self, data: &[u8], usage: Option<&Span>) {
        if let Some(usage) = usage {
            self.progress.usage = self.told.update(data, usage.start).or(self.progress.usage);
        }
    }

    /// Counts what a block begins with, or what is added to one. A block that is no text and no
    /// thought is output even while it is still empty.
    fn watch_output(&mut self, data: &[u8], place: Option<&Span>) {
        let Some(place) = place else { return };
        let before = self.progress.output_chars;
        let mut acts = false;
        let mut cursor = Cursor::at(data, place.start);
        if !cursor.enter(b'{') {
            return;
        }
        while let Some(key) = cursor.next_key() {
            match &*key.name(data) {
                b"text" | b"thinking" | b"partial_json" => self.progress.count_text(&mut cursor),
                b"name" => {
                    acts = true;
                    self.progress.count_text(&mut cursor);
                }
                b"type" => {
                    let kind = cursor.skip().unwrap_or_default();
                    acts |= matches!(
                        &data[kind],
                        b"\"redacted_thinking\"" | b"\"tool_use\"" | b"\"server_tool_use\""
                    );
                }
                _ => {}
            }
        }
        if acts || self.progress.output_chars > before {
            self.progress.content_events += 1;
        }
    }
}

/// The members of an event that are read, in whatever order they stand.
#[derive(Default)]
struct Members {
    kind: Option<Span>,
    message: Option<Span>,
    content_block: Option<Span>,
    delta: Option<Span>,
    usage: Option<Span>,
    error: Option<Span>,
}

impl Members {
    fn find(data: &[u8]) -> Self {
        let mut found = Self::default();
        let mut cursor = Cursor::new(data);
        if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                let place = match &*key.name(data) {
                    b"type" => &mut found.kind,
                    b"message" => &mut found.message,
                    b"content_block" => &mut found.content_block,
                    b"delta" => &mut found.delta,
                    b"usage" => &mut found.usage,
                    b"error" => &mut found.error,
                    _ => continue,
                };
                *place = cursor.skip();
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::{ErrorClass, provider};

    fn watched(stream: &str) -> Progress {
        let provider = provider("anthropic").expect("a row");
        let mut watched = MessageStream::new(Arc::clone(provider));
        let mut out = BytesMut::new();
        for chunk in stream.as_bytes().chunks(3) {
            watched
                .push(Bytes::copy_from_slice(chunk), &mut out)
                .expect("no event is too large");
        }
        watched.finish(&mut out);
        assert_eq!(out, stream.as_bytes(), "every byte passes");
        watched.progress().clone()
    }

    fn event(data: &str) -> String {
        format!("data: {data}\n\n")
    }

    #[test]
    fn output_begins_with_the_first_content() {
        let counts = |data: &str| {
            let progress = watched(&event(data));
            (progress.content_events, progress.output_chars)
        };
        let cases = [
            (
                r#"{"type":"message_start","message":{"content":[]}}"#,
                (0, 0),
            ),
            (r#"{"type":"ping"}"#, (0, 0)),
            (
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                (0, 0),
            ),
            (
                r#"{"delta":{"text":"한\n","type":"text_delta"},"type":"content_block_delta"}"#,
                (1, 2),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
                (1, 2),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"Zm9v"}}"#,
                (0, 0),
            ),
            (
                r#"{"type":"content_block_start","content_block":{"type":"tool_use","id":"t","name":"look","input":{}}}"#,
                (1, 4),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"a"}}"#,
                (1, 3),
            ),
            (
                r#"{"type":"content_block_start","content_block":{"type":"redacted_thinking","data":"x"}}"#,
                (1, 0),
            ),
            (r#"{"type":"something_new","delta":{"text":"x"}}"#, (0, 0)),
        ];
        for (data, expected) in cases {
            assert_eq!(counts(data), expected, "{data}");
        }
    }

    #[test]
    fn the_usage_is_the_last_that_was_told() {
        let stream = [
            event(r#"{"type":"message_start","message":{"usage":{"input_tokens":4,"cache_read_input_tokens":6,"output_tokens":1}}}"#),
            event(r#"{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":3}}"#),
            event(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":8}}"#),
        ]
        .concat();
        let progress = watched(&stream);
        let usage = progress.usage.expect("it was told");
        assert_eq!((usage.input_tokens, usage.output_tokens), (10, 8));
        assert!(progress.finished && !progress.cut && !progress.done && progress.is_complete());
    }

    #[test]
    fn an_end_is_told_from_a_cut() {
        let ended = |reason: &str| {
            watched(&event(&format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":1}}}}"#
            )))
        };
        assert!(ended("max_tokens").cut);
        assert!(ended("model_context_window_exceeded").cut);
        assert!(!ended("tool_use").cut);
        assert!(!ended("").finished);
        assert!(!watched(&event(r#"{"type":"content_block_stop","index":0}"#)).is_complete());
    }

    #[test]
    fn a_message_that_stops_without_a_reason_ends_with_an_error() {
        let text =
            event(r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#);
        let stop = event(r#"{"type":"message_stop"}"#);
        let row = provider("anthropic").expect("a row");
        for begun in ["", &text] {
            let mut watched = MessageStream::new(Arc::clone(row));
            let mut out = BytesMut::new();
            let wire = [begun, &stop, &text].concat();
            watched.push(Bytes::from(wire), &mut out).expect("small");
            let error = watched.progress().error.as_ref().expect("an error");
            assert_eq!(error.class, ErrorClass::Server);
            let out = String::from_utf8(out.to_vec()).expect("text");
            let told = out.strip_prefix(begun).expect("what came before passes");
            assert!(told.starts_with("event: error\n"), "{told}");
            assert_eq!(told.matches("data: ").count(), 1, "{told}");
        }
        let reason = event(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#);
        assert!(watched(&[text, reason, stop].concat()).done);
    }

    #[test]
    fn errors_inside_a_stream_are_judged() {
        let cases = [
            (
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}\n\n",
                ErrorClass::Overload,
            ),
            (
                "data: {\"error\":{\"type\":\"invalid_request_error\"},\"type\":\"error\"}\n\n",
                ErrorClass::Invalid,
            ),
            ("event: error\ndata: oops\n\n", ErrorClass::Server),
        ];
        for (stream, class) in cases {
            let progress = watched(stream);
            assert_eq!(
                progress.error.as_ref().map(|error| error.class),
                Some(class),
                "{stream}"
            );
            assert!(!progress.is_complete());
        }
    }

    #[test]
    fn junk_passes_untouched() {
        for stream in [
            "data: {\"type\"\n\n",
            "data: oops\n\n",
            ": ka\n\n\n",
            "event: x\ndata: [1]\n\n",
        ] {
            assert_eq!(watched(stream), Progress::default(), "{stream}");
        }
    }
}
