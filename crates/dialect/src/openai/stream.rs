//! A chat completion that is streamed: passed on as the bytes that came, and watched on its way.
//!
//! We ask every stream for its usage, whether the client did or not, so a client that did not must
//! not see what only our asking brought: the extra chunk is dropped and `"usage"` members are cut
//! out of the others. All other bytes stay. Watching walks over a chunk's members without building
//! it; it costs well below a microsecond for a chunk of the usual size.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use sluicegate_catalog::Provider;

use super::endings::{choice_failure, says_cut, says_failed};
use super::error_event;
use super::translate::error_out;
use crate::json::{Cursor, Span};
use crate::progress::Progress;
use crate::sse::{Decoder, Event, EventTooLarge};
use crate::{UpstreamError, Usage, upstream_error};

/// One streamed answer.
#[derive(Debug)]
pub struct ChatStream {
    provider: Arc<Provider>,
    decoder: Decoder,
    usage_chunk: UsageChunk,
    progress: Progress,
}

/// Whether the client sees the usage of its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UsageChunk {
    /// It did not ask: the stream becomes what it would have been without our asking.
    Hide,
    /// It asked: everything passes.
    Pass,
}

impl ChatStream {
    /// A stream that has not begun, from `provider`, whose table judges errors inside it.
    pub fn new(provider: Arc<Provider>, usage_chunk: UsageChunk) -> Self {
        Self {
            provider,
            decoder: Decoder::default(),
            usage_chunk,
            progress: Progress::default(),
        }
    }

    /// Takes a chunk as it came from the wire and appends to `out` what the client gets of all
    /// events that it ended.
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
        let seen = self.progress.watch(&self.provider, event);
        match (self.usage_chunk, seen) {
            (_, Seen::Failure) => {
                if let Some(error) = &self.progress.error {
                    out.extend_from_slice(&error_event(&error_out(error)));
                }
            }
            (UsageChunk::Pass, _) | (_, Seen::Plain) => out.extend_from_slice(&event.raw),
            (UsageChunk::Hide, Seen::UsageOnly) => {}
            (UsageChunk::Hide, Seen::Usage(member)) => event.write_without(&member, out),
        }
    }
}

/// What a chunk says of usage, or that the answer failed.
enum Seen {
    /// That it failed, in a way that no SDK takes for an error. It is in [`Progress::error`].
    Failure,
    /// Nothing.
    Plain,
    /// Nothing but usage.
    UsageOnly,
    /// Something, null perhaps, in a member that can be cut out: where it stands in the data.
    Usage(Span),
}

impl Progress {
    fn watch(&mut self, provider: &Provider, event: &Event) -> Seen {
        let Some(data) = event.data() else {
            return Seen::Plain;
        };
        if data == b"[DONE]" {
            self.done = true;
            if !self.finished {
                self.error = Some(UpstreamError::unfinished());
                return Seen::Failure;
            }
            return Seen::Plain;
        }
        let mut cursor = Cursor::new(data);
        let root = cursor.position();
        let mut usage = None;
        let mut has_choices = false;
        let mut has_error = false;
        let mut failed = None;
        if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                match &*key.name(data) {
                    b"choices" if cursor.enter(b'[') => {
                        while cursor.next_element() {
                            has_choices = true;
                            failed = failed.or(self.watch_choice(&mut cursor));
                        }
                    }
                    b"usage" => usage = cursor.skip().map(|value| (key, value)),
                    b"error" if matches!(cursor.peek(), b'{' | b'"') => {
                        has_error = true;
                        self.note_error(provider, data, cursor.position());
                    }
                    _ => {}
                }
            }
        }
        // Some servers name the event `error` and let its data be the error.
        if !has_error && event.name() == Some(b"error") {
            self.note_error(provider, data, root);
        }
        let told = usage
            .as_ref()
            .and_then(|(_, value)| Usage::read(data, value.start));
        self.usage = told.or(self.usage);
        if let (Some(at), None) = (failed, &self.error) {
            self.error = Some(choice_failure(provider, data, at));
            return Seen::Failure;
        }
        let Some((key, value)) = usage else {
            return Seen::Plain;
        };
        if told.is_some() && !has_choices && !has_error {
            Seen::UsageOnly
        } else {
            Seen::Usage(key.removal(data, &value))
        }
    }

    fn note_error(&mut self, provider: &Provider, data: &[u8], at: usize) {
        self.error
            .get_or_insert_with(|| upstream_error::in_stream(provider, data, at));
    }

    /// Where the error of a choice begins that ended with one, the end of the text where it says no more of it; `None` of others.
    fn watch_choice(&mut self, cursor: &mut Cursor<'_>) -> Option<usize> {
        if !cursor.enter(b'{') {
            return None;
        }
        let mut failed = false;
        let mut error_at = cursor.text().len();
        let chars_before = self.output_chars;
        let mut calls = false;
        while let Some(key) = cursor.next_key() {
            match &*key.name(cursor.text()) {
                b"delta" => calls |= self.watch_delta(cursor),
                b"text" => self.count_text(cursor),
                b"finish_reason" if cursor.peek() == b'"' => {
                    // Some servers write an empty one until there is one.
                    if let Some(reason) = cursor.skip().filter(|reason| reason.len() > 2) {
                        self.finished = true;
                        self.cut |= says_cut(cursor.text(), &reason);
                        failed |= says_failed(cursor.text(), &reason);
                    }
                }
                b"error" => error_at = cursor.position(),
                _ => {}
            }
        }
        // What comes with a failure is not shown, and so can be taken back.
        if !failed && (calls || self.output_chars > chars_before) {
            self.content_events += 1;
        }
        failed.then_some(error_at)
    }

    /// Whether the delta calls a tool, which is output even while its arguments are still empty.
    fn watch_delta(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let mut calls = false;
        if !cursor.enter(b'{') {
            return calls;
        }
        while let Some(key) = cursor.next_key() {
            match &*key.name(cursor.text()) {
                b"content" | b"reasoning_content" | b"reasoning" | b"refusal" => {
                    self.count_text(cursor);
                }
                b"tool_calls" if cursor.enter(b'[') => {
                    while cursor.next_element() {
                        calls = true;
                        self.count_tool_call(cursor);
                    }
                }
                b"function_call" if cursor.peek() == b'{' => {
                    calls = true;
                    self.count_call(cursor);
                }
                _ => {}
            }
        }
        calls
    }

    fn count_tool_call(&mut self, cursor: &mut Cursor<'_>) {
        if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                if *key.name(cursor.text()) == *b"function" {
                    self.count_call(cursor);
                }
            }
        }
    }

    fn count_call(&mut self, cursor: &mut Cursor<'_>) {
        if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                if matches!(&*key.name(cursor.text()), b"name" | b"arguments") {
                    self.count_text(cursor);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::{ErrorClass, provider};

    fn run(stream: &str, usage_chunk: UsageChunk, step: usize) -> (String, Progress) {
        let mut chat = ChatStream::new(Arc::clone(provider("openai").expect("a row")), usage_chunk);
        let mut out = BytesMut::new();
        for chunk in stream.as_bytes().chunks(step) {
            chat.push(Bytes::copy_from_slice(chunk), &mut out)
                .expect("no event is too large");
        }
        chat.finish(&mut out);
        (
            String::from_utf8(out.to_vec()).expect("text"),
            chat.progress().clone(),
        )
    }

    fn watched(stream: &str) -> Progress {
        run(stream, UsageChunk::Pass, usize::MAX).1
    }

    #[test]
    fn what_our_asking_brought_is_hidden() {
        let cases = [
            (
                "{\"choices\":[{\"delta\":{}}],\"usage\":null}",
                "data: {\"choices\":[{\"delta\":{}}]}\n\n",
            ),
            (
                "{\"usage\":null,\"choices\":[]}",
                "data: {\"choices\":[]}\n\n",
            ),
            (
                "{\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}",
                "",
            ),
            (
                "{\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":null\"}}],\"usage\":{\"prompt_tokens\":1}}",
                "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":null\"}}]}\n\n",
            ),
            (
                "{\"choices\":[{\"usage\":null}]}",
                "data: {\"choices\":[{\"usage\":null}]}\n\n",
            ),
        ];
        for (data, expected) in cases {
            let stream = format!("data: {data}\n\n");
            assert_eq!(run(&stream, UsageChunk::Hide, 7).0, expected);
            assert_eq!(run(&stream, UsageChunk::Pass, 7).0, stream);
        }
    }

    #[test]
    fn the_last_usage_holds_all() {
        let stream = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\n\
            data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n\
            data: {\"choices\":[],\"usage\":null}\n\n";
        let usage = watched(stream).usage.expect("it was told");
        assert_eq!((usage.input_tokens, usage.output_tokens), (9, 4));
    }

    #[test]
    fn output_is_counted_with_its_escapes_undone() {
        let delta = |delta: &str| {
            watched(&format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\n"
            ))
        };
        let counts = |progress: Progress| {
            (
                progress.content_events,
                progress.output_bytes,
                progress.output_chars,
            )
        };
        assert_eq!(
            counts(delta(r#"{"role":"assistant","content":""}"#)),
            (0, 0, 0)
        );
        assert_eq!(counts(delta(r#"{"content":null}"#)), (0, 0, 0));
        assert_eq!(
            counts(delta(r#"{"content":"한\n\ud83d\ude00"}"#)),
            (1, 3 + 1 + 4, 3)
        );
        assert_eq!(counts(delta(r#"{"reasoning_content":"hm"}"#)), (1, 2, 2));
        let call =
            r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"look","arguments":""}}]}"#;
        assert_eq!(counts(delta(call)), (1, 4, 4));
        assert_eq!(
            counts(delta(
                r#"{"tool_calls":[{"function":{"arguments":"{\"a\":"}}]}"#
            )),
            (1, 5, 5)
        );
    }

    #[test]
    fn an_end_is_told_from_a_cut() {
        let reason = |reason: &str| {
            watched(&format!(
                "data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":{reason}}}]}}\n\n"
            ))
        };
        assert!(!reason("null").is_complete());
        assert!(reason("\"stop\"").is_complete());
        assert!(!reason("\"\"").is_complete());
    }

    #[test]
    fn a_stream_that_is_over_before_its_answer_ends_with_an_error() {
        let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n";
        let empty = text.replace("null", "\"\"");
        let usage =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n";
        for begun in ["", text, &empty, usage] {
            let stream = format!("{begun}data: [DONE]\n\n{text}");
            let (out, progress) = run(&stream, UsageChunk::Pass, 9);
            let error = progress.error.as_ref().expect(&stream);
            assert_eq!(error.class, ErrorClass::Server);
            let told = out.strip_prefix(begun).expect("what came before passes");
            assert!(told.starts_with("data: {\"error\":{\"message\":"), "{told}");
            assert_eq!(told.matches("data: ").count(), 1, "{told}");
        }
        let ended = text.replace("null", "\"stop\"");
        let second = text.replace("\"index\":0", "\"index\":1");
        let stream = [&ended, &second, usage, "data: [DONE]\n\n"].concat();
        let (out, progress) = run(&stream, UsageChunk::Pass, 9);
        assert_eq!(out, stream);
        assert!(progress.is_complete() && progress.done);
    }

    #[test]
    fn one_choice_that_reached_its_maximum_is_remembered() {
        let ended = |index: u64, reason: &str| {
            format!(
                "data: {{\"choices\":[{{\"index\":{index},\"finish_reason\":\"{reason}\"}}]}}\n\n"
            )
        };
        let cut = |first, second| watched(&(ended(0, first) + &ended(1, second))).cut;
        assert!(cut("length", "stop"));
        assert!(!cut("stop", "tool_calls"));
    }

    #[test]
    fn errors_inside_a_stream_are_found_and_passed() {
        let cases = [
            (
                "data: {\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"m\"}}\n\n",
                ErrorClass::Rate,
            ),
            (
                "event: error\ndata: {\"message\":\"m\",\"code\":503}\n\n",
                ErrorClass::Overload,
            ),
            (
                "event: error\ndata: {\"error\":{\"message\":\"m\"}}\n\n",
                ErrorClass::Server,
            ),
            ("event: error\ndata: \n\n", ErrorClass::Server),
            (
                "data: {\"choices\":[{\"finish_reason\":\"error\"}],\"error\":{\"code\":502}}\n\n",
                ErrorClass::Server,
            ),
        ];
        for (stream, class) in cases {
            let (out, progress) = run(stream, UsageChunk::Hide, 5);
            assert_eq!(out, stream);
            assert_eq!(
                progress.error.as_ref().map(|error| error.class),
                Some(class),
                "{stream}"
            );
            assert!(!progress.is_complete());
        }
        assert_eq!(
            watched("data: {\"choices\":[],\"error\":null}\n\n").error,
            None
        );
    }

    #[test]
    fn a_choice_that_ended_with_an_error_becomes_one_error_event() {
        let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";
        for (more, class, said) in [
            ("", ErrorClass::Server, "the answer ended with error"),
            (
                ",\"error\":null",
                ErrorClass::Server,
                "the answer ended with error",
            ),
            (
                ",\"error\":{\"code\":502,\"message\":\"Upstream died\"}",
                ErrorClass::Server,
                "Upstream died",
            ),
            (
                ",\"error\":{\"code\":429,\"message\":\"slow\"}",
                ErrorClass::Rate,
                "slow",
            ),
        ] {
            let failed = format!(
                "data: {{\"choices\":[{{\"delta\":{{\"content\":\"b\"}},\"finish_reason\":\"error\"{more}}}],\"usage\":{{\"prompt_tokens\":4}}}}\n\n"
            );
            for begun in ["", text] {
                let stream = [begun, &failed, "data: [DONE]\n\n"].concat();
                let (out, progress) = run(&stream, UsageChunk::Hide, 5);
                let error = progress.error.as_ref().expect(&stream);
                assert_eq!((error.class, error.message.as_str()), (class, said));
                assert_eq!(progress.has_content(), !begun.is_empty());
                assert_eq!(progress.usage.map(|usage| usage.input_tokens), Some(4));
                let told = out.strip_prefix(begun).expect("what came before passes");
                assert!(told.starts_with("data: {\"error\":{"), "{told}");
                assert_eq!(told.matches("data: ").count(), 1, "{told}");
            }
        }
    }

    #[test]
    fn junk_passes_untouched() {
        for stream in [
            "data: {\"usage\"\n\n",
            "data: oops\n\n",
            "data: {\n\n",
            ": ka\n\n\n\n",
            "data: null\n\n",
            "x",
        ] {
            assert_eq!(run(stream, UsageChunk::Hide, 1).0, stream);
        }
    }
}
