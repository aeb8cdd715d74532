//! A streamed chat answer into canonical events.

use std::sync::Arc;

use bytes::Bytes;
use sluicegate_catalog::{ErrorClass, Provider};

use super::read_answer::finish;
use super::wire;
use crate::canonical::Event;
use crate::cohere::endings::failure_class;
use crate::json::{self, Cursor};
use crate::sse::{self, Decoder, EventTooLarge};
use crate::{UpstreamError, Usage, lenient, upstream_error};

/// As many calls of tools are followed; the pieces of more are left out, which no model reaches.
const CALLS_MAX: u32 = 1_024;

/// Reads one streamed answer.
#[derive(Debug)]
pub struct StreamReader {
    provider: Arc<Provider>,
    decoder: Decoder,
    started: bool,
    ended: bool,
    /// The calls that are still open, each with its number.
    open_calls: Vec<(u64, u32)>,
    calls: u32,
    /// Of which thought the last piece was, where nothing else came since.
    thought: Option<Thought>,
}

/// The thoughts of an answer: each a block of its content, or its plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Thought {
    Block(u64),
    Plan,
}

impl StreamReader {
    /// A stream that has not begun, from `provider`, whose table judges errors inside it.
    pub fn new(provider: Arc<Provider>) -> Self {
        Self {
            provider,
            decoder: Decoder::default(),
            started: false,
            ended: false,
            open_calls: Vec::new(),
            calls: 0,
            thought: None,
        }
    }

    /// Takes a chunk as it came from the wire and appends what it tells to `events`. Nothing comes
    /// after an end or an error. Kinds of events that are not known are left out.
    ///
    /// # Errors
    /// [`EventTooLarge`]: the stream cannot be followed any further and has to be ended.
    pub fn push(&mut self, chunk: Bytes, events: &mut Vec<Event>) -> Result<(), EventTooLarge> {
        self.decoder.push(chunk);
        while let Some(event) = self.decoder.next_event()? {
            self.read(&event, events);
        }
        Ok(())
    }

    /// The upstream has closed. Where no [`Event::End`] and no [`Event::Error`] has come by now, the
    /// stream was cut.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        if let Some(event) = self.decoder.finish() {
            self.read(&event, events);
        }
    }

    fn read(&mut self, event: &sse::Event, events: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        let Some(data) = event.data() else {
            if event.raw.starts_with(b":") {
                events.push(Event::Ping);
            }
            return;
        };
        // Some servers of this dialect end a stream as OpenAI does; the end has been told by then.
        if data == b"[DONE]" {
            return;
        }
        let root = Cursor::new(data).position();
        match lenient::from_slice::<wire::StreamEvent>(data) {
            _ if event.name() == Some(b"error") => self.fail_with(data, root, events),
            Ok(wire::StreamEvent {
                kind: Some(kind), ..
            }) if kind == "error" => self.fail_with(data, root, events),
            Ok(told) if told.kind.is_some() => self.read_event(told, data, events),
            // A failure as an answer that is no success tells it.
            Ok(_) => self.fail_with(data, root, events),
            Err(_) => self.fail(UpstreamError::not_readable(), events),
        }
    }

    fn read_event(&mut self, told: wire::StreamEvent, data: &[u8], events: &mut Vec<Event>) {
        let delta = told.delta.unwrap_or_default();
        let message = delta.message.unwrap_or_default();
        let is_some = |text: &String| !text.is_empty();
        match told.kind.as_deref().unwrap_or_default() {
            "message-start" => self.start(told.id, events),
            "content-start" | "content-delta" => {
                self.start(None, events);
                let content = message.content.unwrap_or_default();
                self.think(Thought::Block(told.index), content.thinking, events);
                if let Some(text) = content.text.filter(is_some) {
                    self.thought = None;
                    events.push(Event::Text(text));
                }
            }
            "tool-plan-delta" => {
                self.start(None, events);
                self.think(Thought::Plan, message.tool_plan, events);
            }
            "tool-call-start" => {
                self.start(None, events);
                self.begin_call(told.index, message.tool_calls.unwrap_or_default(), events);
            }
            "tool-call-delta" => {
                self.start(None, events);
                let call = message.tool_calls.unwrap_or_default();
                self.add_to_call(told.index, call.function.arguments, events);
            }
            "tool-call-end" => self.end_call(told.index, events),
            "message-end" => self.end(delta.finish_reason.as_deref(), data, events),
            _ => {}
        }
    }

    /// More of a thought: another one than before is told apart from it.
    fn think(&mut self, thought: Thought, text: Option<String>, events: &mut Vec<Event>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        let before = self.thought.replace(thought);
        if before.is_some_and(|before| before != thought) {
            events.push(Event::ThoughtEnds);
        }
        events.push(Event::Thinking(text));
    }

    fn begin_call(&mut self, index: u64, call: wire::CallDelta, events: &mut Vec<Event>) {
        if self.calls >= CALLS_MAX {
            return;
        }
        self.thought = None;
        let number = self.calls;
        self.calls += 1;
        self.open_calls.push((index, number));
        events.push(Event::ToolCall {
            index: number,
            id: call.id.unwrap_or_default(),
            name: call.function.name.unwrap_or_default(),
            signature: None,
        });
        self.add_to_call(index, call.function.arguments, events);
    }

    fn add_to_call(&self, index: u64, arguments: Option<String>, events: &mut Vec<Event>) {
        let call = self.open_calls.iter().rfind(|(open, _)| *open == index);
        if let (Some((_, call)), Some(text)) = (call, arguments.filter(|text| !text.is_empty())) {
            events.push(Event::Arguments { index: *call, text });
        }
    }

    fn end_call(&mut self, index: u64, events: &mut Vec<Event>) {
        let ended = self.open_calls.extract_if(.., |(open, _)| *open == index);
        events.extend(ended.map(|(_, index)| Event::CallEnd { index }));
    }

    fn start(&mut self, id: Option<String>, events: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.started, true) {
            events.push(Event::Start {
                id: id.unwrap_or_default(),
                model: String::new(),
                usage: None,
            });
        }
    }

    fn end(&mut self, reason: Option<&str>, data: &[u8], events: &mut Vec<Event>) {
        let Some(reason) = reason.filter(|reason| !reason.is_empty()) else {
            return self.fail(UpstreamError::unfinished(), events);
        };
        let root = Cursor::new(data).position();
        let delta = json::member(data, root, "delta").map_or(root, |delta| delta.start);
        let Some(finish) = finish(Some(reason)) else {
            let at = json::member(data, delta, "error").map_or(data.len(), |error| error.start);
            let mut error = upstream_error::in_stream(&self.provider, data, at);
            if failure_class(reason) == Some(ErrorClass::Timeout) {
                error.class = ErrorClass::Timeout;
            }
            return self.fail(error, events);
        };
        self.start(None, events);
        self.ended = true;
        events.push(Event::End {
            finish: finish.with_calls(self.calls > 0),
            usage: Usage::told_in(data, delta),
        });
    }

    fn fail_with(&mut self, data: &[u8], root: usize, events: &mut Vec<Event>) {
        let at = json::member(data, root, "error").map_or(root, |error| error.start);
        let error = upstream_error::in_stream(&self.provider, data, at);
        self.fail(error, events);
    }

    fn fail(&mut self, error: UpstreamError, events: &mut Vec<Event>) {
        self.ended = true;
        events.push(Event::Error(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<Event> {
        let row = sluicegate_catalog::provider("cohere").expect("a row");
        let mut reader = StreamReader::new(Arc::clone(row));
        let mut events = Vec::new();
        for line in lines {
            let event = format!("data: {line}\n\n");
            reader
                .push(event.into(), &mut events)
                .expect("a short event");
        }
        events.retain(|event| !matches!(event, Event::Start { .. }));
        events
    }

    #[test]
    fn a_plan_is_another_thought_than_those_before_it() {
        let block = |index: u32, thought: &str| {
            format!(
                r#"{{"type":"content-delta","index":{index},"delta":{{"message":{{"content":{{"thinking":"{thought}"}}}}}}}}"#
            )
        };
        let plan = |text: &str| {
            format!(
                r#"{{"type":"tool-plan-delta","delta":{{"message":{{"tool_plan":"{text}"}}}}}}"#
            )
        };
        let said =
            r#"{"type":"content-delta","index":2,"delta":{"message":{"content":{"text":"t"}}}}"#;
        let thought = |text: &str| Event::Thinking(text.to_owned());
        let lines = [
            block(0, "a"),
            block(0, "b"),
            block(1, "c"),
            plan("d"),
            plan("e"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let expected = [
            thought("a"),
            thought("b"),
            Event::ThoughtEnds,
            thought("c"),
            Event::ThoughtEnds,
            thought("d"),
            thought("e"),
        ];
        assert_eq!(read(&lines), expected);
        // What stands between them tells them apart already.
        let (first, last) = (block(0, "a"), plan("d"));
        let expected = [thought("a"), Event::Text("t".to_owned()), thought("d")];
        assert_eq!(read(&[&first, said, &last]), expected);
    }

    #[test]
    fn an_end_that_is_an_error_is_one_and_one_that_is_called_so_is_not() {
        use crate::canonical::FinishReason;
        let end = |reason: &str| {
            let line =
                format!(r#"{{"type":"message-end","delta":{{"finish_reason":"{reason}"}}}}"#);
            read(&[&line]).pop().expect("it ends")
        };
        for (reason, class) in [
            ("ERROR", ErrorClass::Server),
            ("USER_CANCEL", ErrorClass::Server),
            ("TIMEOUT", ErrorClass::Timeout),
        ] {
            let is_it = matches!(end(reason), Event::Error(error) if error.class == class);
            assert!(is_it, "{reason}");
        }
        for (reason, expected) in [
            ("ERROR_TOXIC", FinishReason::Refusal),
            ("ERROR_LIMIT", FinishReason::ContextFull),
            ("COMPLETE", FinishReason::Stop),
        ] {
            let is_it = matches!(end(reason), Event::End { finish, .. } if finish == expected);
            assert!(is_it, "{reason}");
        }
    }
}
