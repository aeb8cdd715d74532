//! A response that is streamed: passed on as the bytes that came, and watched on its way.
//!
//! A stream tells its usage unasked, so every byte passes; events that nobody here knows too. The
//! last event repeats the whole response, so that events may be longer here than elsewhere.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use sluicegate_catalog::Provider;

use super::endings::says_cut;
use crate::json::{self, Cursor, Span};
use crate::progress::Progress;
use crate::sse::{Decoder, Event, EventTooLarge, LONG_EVENT_BYTES_MAX};
use crate::{Usage, upstream_error};

/// One streamed response.
#[derive(Debug)]
pub struct ResponseStream {
    provider: Arc<Provider>,
    decoder: Decoder,
    events: u64,
    progress: Progress,
}

impl ResponseStream {
    /// A stream that has not begun, from `provider`, whose table judges errors inside it.
    pub fn new(provider: Arc<Provider>) -> Self {
        Self {
            provider,
            decoder: Decoder::for_events_up_to(LONG_EVENT_BYTES_MAX),
            events: 0,
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

    /// How many events have come, which is the number of the next one.
    pub const fn sequence_number(&self) -> u64 {
        self.events
    }

    fn pass(&mut self, event: &Event, out: &mut BytesMut) {
        if let Some(data) = event.data() {
            self.events += 1;
            self.watch(data, event.name());
        }
        out.extend_from_slice(&event.raw);
    }

    fn watch(&mut self, data: &[u8], name: Option<&[u8]>) {
        let members = Members::find(data);
        let kind = members.kind.as_ref();
        let kind = kind.and_then(|kind| json::string(data, kind));
        let response = members.response.as_ref().map(|at| at.start);
        match kind.as_deref().map(str::as_bytes).or(name) {
            Some(b"response.output_item.added") => self.watch_item(data, members.item.as_ref()),
            Some(b"response.completed" | b"response.incomplete") => {
                self.progress.finished = true;
                self.progress.done = true;
                if let Some(at) = response {
                    self.progress.cut |= says_cut(data, at);
                    self.progress.usage = Usage::of_response(data, at);
                }
            }
            Some(b"response.failed") => {
                let usage = response.and_then(|at| Usage::of_response(data, at));
                self.progress.usage = usage.or(self.progress.usage);
                let error = response.and_then(|at| json::member(data, at, "error"));
                self.note_error(data, error.map_or(0, |error| error.start));
            }
            Some(b"error") => self.note_error(data, members.error.map_or(0, |error| error.start)),
            Some(kind) if kind.ends_with(b".delta") => {
                self.watch_delta(data, members.delta.as_ref());
            }
            // So servers fail that stream chat completions otherwise.
            _ if members.error.is_some() => {
                self.note_error(data, members.error.map_or(0, |error| error.start));
            }
            _ => {}
        }
    }

    fn note_error(&mut self, data: &[u8], at: usize) {
        let provider = &self.provider;
        self.progress
            .error
            .get_or_insert_with(|| upstream_error::in_stream(provider, data, at));
    }

    fn watch_delta(&mut self, data: &[u8], place: Option<&Span>) {
        let Some(place) = place else { return };
        let before = self.progress.output_chars;
        self.progress.count_text(&mut Cursor::at(data, place.start));
        if self.progress.output_chars > before {
            self.progress.content_events += 1;
        }
    }

    /// An item that is neither said nor thought acts: it is output even while it is still empty.
    fn watch_item(&mut self, data: &[u8], place: Option<&Span>) {
        let Some(place) = place else { return };
        let kind = json::member(data, place.start, "type");
        let kind = kind.and_then(|kind| json::string(data, &kind));
        if matches!(kind.as_deref(), Some("message" | "reasoning") | None) {
            return;
        }
        self.progress.content_events += 1;
        if let Some(name) = json::member(data, place.start, "name") {
            self.progress.count_text(&mut Cursor::at(data, name.start));
        }
    }
}

/// The members of an event that are read, in whatever order they stand.
#[derive(Default)]
struct Members {
    kind: Option<Span>,
    response: Option<Span>,
    item: Option<Span>,
    delta: Option<Span>,
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
                    b"response" => &mut found.response,
                    b"item" => &mut found.item,
                    b"delta" => &mut found.delta,
                    b"error" if matches!(cursor.peek(), b'{' | b'"') => &mut found.error,
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
        let provider = provider("openai").expect("a row");
        let mut watched = ResponseStream::new(Arc::clone(provider));
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
        let cases = [
            (
                r#"{"type":"response.created","response":{"output":[]}}"#,
                (0, 0),
            ),
            (
                r#"{"type":"response.output_item.added","item":{"type":"message","content":[]}}"#,
                (0, 0),
            ),
            (
                r#"{"type":"response.content_part.added","part":{"type":"output_text","text":""}}"#,
                (0, 0),
            ),
            (
                r#"{"delta":"한\n","type":"response.output_text.delta"}"#,
                (1, 2),
            ),
            (
                r#"{"type":"response.output_text.delta","delta":""}"#,
                (0, 0),
            ),
            (
                r#"{"type":"response.reasoning_summary_text.delta","delta":"hm"}"#,
                (1, 2),
            ),
            (r#"{"type":"response.refusal.delta","delta":"no"}"#, (1, 2)),
            (
                r#"{"item":{"type":"function_call","name":"look","arguments":""},"type":"response.output_item.added"}"#,
                (1, 4),
            ),
            (
                r#"{"type":"response.function_call_arguments.delta","delta":"{\"a"}"#,
                (1, 3),
            ),
            (
                r#"{"type":"response.output_item.added","item":{"type":"web_search_call"}}"#,
                (1, 0),
            ),
            (r#"{"type":"response.output_text.done","text":"x"}"#, (0, 0)),
        ];
        for (data, expected) in cases {
            let progress = watched(&event(data));
            let counts = (progress.content_events, progress.output_chars);
            assert_eq!(counts, expected, "{data}");
        }
    }

    #[test]
    fn an_end_is_told_from_a_cut_and_brings_the_usage() {
        let usage = r#""usage":{"input_tokens":9,"output_tokens":4}"#;
        let completed = format!(
            r#"{{"type":"response.completed","response":{{"status":"completed","incomplete_details":null,{usage}}}}}"#
        );
        let progress = watched(&event(&completed));
        assert!(progress.is_complete() && progress.done && !progress.cut);
        let told = progress.usage.expect("it is told");
        assert_eq!((told.input_tokens, told.output_tokens), (9, 4));
        let incomplete = |reason: &str| {
            watched(&event(&format!(
                r#"{{"type":"response.incomplete","response":{{"incomplete_details":{{"reason":"{reason}"}},{usage}}}}}"#
            )))
        };
        assert!(incomplete("max_output_tokens").cut);
        let filtered = incomplete("content_filter");
        assert!(!filtered.cut && filtered.is_complete());
        assert!(!watched(&event(r#"{"type":"response.in_progress"}"#)).is_complete());
    }

    #[test]
    fn errors_inside_a_stream_are_judged() {
        let cases = [
            (
                "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"m\",\"param\":null}\n\n",
                ErrorClass::Rate,
            ),
            (
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\"}}\n\n",
                ErrorClass::Context,
            ),
            (
                "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"m\"}}}\n\n",
                ErrorClass::Server,
            ),
            ("data: {\"error\":{\"code\":503}}\n\n", ErrorClass::Overload),
            ("event: error\ndata: oops\n\n", ErrorClass::Server),
        ];
        for (stream, class) in cases {
            let progress = watched(stream);
            let error = progress.error.as_ref().map(|error| error.class);
            assert_eq!(error, Some(class), "{stream}");
            assert!(!progress.is_complete());
        }
    }

    #[test]
    fn an_event_may_be_longer_than_elsewhere() {
        let image = "A".repeat(3 << 20);
        let stream = event(&format!(
            r#"{{"type":"response.completed","response":{{"output":[{{"result":"{image}"}}]}}}}"#
        ));
        let mut watched = ResponseStream::new(Arc::clone(provider("openai").expect("a row")));
        let mut out = BytesMut::new();
        watched
            .push(Bytes::from(stream.clone()), &mut out)
            .expect("it is not too large");
        assert_eq!(out, stream.as_bytes());
        assert!(watched.progress().done);
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
