//! A streamed response into canonical events.

use std::sync::Arc;

use bytes::Bytes;
use sluicegate_catalog::Provider;

use super::read_answer::finish;
use super::read_input::thought;
use super::wire;
use crate::canonical::{Event, Part};
use crate::json::{self, Cursor};
use crate::openai::{call_id, logprobs};
use crate::sse::{self, Decoder, EventTooLarge, LONG_EVENT_BYTES_MAX};
use crate::wire_form::TextOr;
use crate::{UpstreamError, Usage, lenient, upstream_error};

/// As many calls of tools are followed; more are left out, which no model reaches.
const CALLS_MAX: usize = 1_024;

/// Reads one streamed response. Only the deltas of texts are read, not their repetition at the end.
#[derive(Debug)]
pub struct StreamReader {
    provider: Arc<Provider>,
    decoder: Decoder,
    id: String,
    started: bool,
    ended: bool,
    /// The calls so far: which item of the output each is, and whether any of its arguments came.
    calls: Vec<(u64, bool)>,
    /// Whether anything of the thought at hand was shown.
    thinks: bool,
    /// Whether it goes on in another paragraph.
    parts_thought: bool,
}

impl StreamReader {
    /// A stream that has not begun, from `provider`, whose table judges errors inside it.
    pub fn new(provider: Arc<Provider>) -> Self {
        Self {
            provider,
            decoder: Decoder::for_events_up_to(LONG_EVENT_BYTES_MAX),
            id: String::new(),
            started: false,
            ended: false,
            calls: Vec::new(),
            thinks: false,
            parts_thought: false,
        }
    }

    /// Takes a chunk as it came from the wire and appends what it tells to `events`. Nothing comes
    /// after an end or an error. Kinds of events and items that are not known are left out.
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
        // Some servers end every stream so.
        if data == b"[DONE]" {
            return;
        }
        let root = Cursor::new(data).position();
        let error = json::member(data, root, "error");
        let error = error.filter(|at| matches!(data[at.start], b'{' | b'"'));
        if error.is_some() || event.name() == Some(b"error") {
            return self.fail(data, error.map_or(root, |at| at.start), events);
        }
        match lenient::from_slice::<wire::StreamEvent>(data) {
            Ok(told) if told.kind == "error" => self.fail(data, root, events),
            Ok(told) if told.kind == "response.failed" => {
                let response = json::member(data, root, "response");
                let error = response.and_then(|at| json::member(data, at.start, "error"));
                self.fail(data, error.map_or(root, |at| at.start), events);
            }
            Ok(told) => self.read_event(told, data, events),
            Err(_) => {
                self.ended = true;
                events.push(Event::Error(UpstreamError::not_readable()));
            }
        }
    }

    fn read_event(&mut self, told: wire::StreamEvent, data: &[u8], events: &mut Vec<Event>) {
        let at = told.output_index.unwrap_or(0);
        let delta = match told.delta {
            Some(TextOr::Text(text)) => text,
            _ => String::new(),
        };
        match told.kind.as_str() {
            "response.created" => self.start(told.response.unwrap_or_default(), events),
            "keepalive" => events.push(Event::Ping),
            "response.output_item.added" => {
                let item = told.item.unwrap_or_default();
                if item.kind.as_deref() == Some("function_call") {
                    self.call(at, item, events);
                }
            }
            "response.output_item.done" => self.item(at, told.item.unwrap_or_default(), events),
            "response.output_text.delta" => {
                self.say(Event::Text(delta), events);
                let told = logprobs::read(told.logprobs.as_deref());
                if !told.is_empty() {
                    events.push(Event::Logprobs(told));
                }
            }
            "response.refusal.delta" => self.say(Event::Refusal(delta), events),
            "response.reasoning_summary_part.added" => self.parts_thought = self.thinks,
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                if std::mem::take(&mut self.parts_thought) {
                    self.say(Event::Thinking("\n\n".to_owned()), events);
                }
                self.thinks |= !delta.is_empty();
                self.say(Event::Thinking(delta), events);
            }
            "response.function_call_arguments.delta" => self.arguments(at, delta, events),
            "response.function_call_arguments.done" => {
                self.all_arguments(at, told.arguments.unwrap_or_default(), events);
            }
            "response.completed" | "response.incomplete" => {
                self.end(told.response.unwrap_or_default(), data, events);
            }
            _ => {}
        }
    }

    fn start(&mut self, response: wire::Response, events: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.started, true) {
            self.id = response.id.unwrap_or_default();
            events.push(Event::Start {
                id: self.id.clone(),
                model: response.model.unwrap_or_default(),
                usage: None,
            });
        }
    }

    fn say(&mut self, event: Event, events: &mut Vec<Event>) {
        if event.is_content() {
            self.start(wire::Response::default(), events);
            events.push(event);
        }
    }

    fn call(&mut self, at: u64, item: wire::Item, events: &mut Vec<Event>) {
        let index = self.calls.len();
        if index >= CALLS_MAX || self.calls.iter().any(|(call, _)| *call == at) {
            return;
        }
        self.calls.push((at, false));
        let call = Event::ToolCall {
            index: number(index),
            id: call_id(item.call_id, &self.id, index),
            name: item.name.unwrap_or_default(),
            signature: None,
        };
        self.say(call, events);
        self.arguments(at, item.arguments.unwrap_or_default(), events);
    }

    fn arguments(&mut self, at: u64, text: String, events: &mut Vec<Event>) {
        let index = self.calls.iter().position(|(call, _)| *call == at);
        if let Some(index) = index.filter(|_| !text.is_empty()) {
            self.calls[index].1 = true;
            let index = number(index);
            events.push(Event::Arguments { index, text });
        }
    }

    /// All arguments of a call at once, which matter where none came before.
    fn all_arguments(&mut self, at: u64, text: String, events: &mut Vec<Event>) {
        let is_bare = |(call, came): &(u64, bool)| *call == at && !came;
        if self.calls.iter().any(is_bare) {
            self.arguments(at, text, events);
        }
    }

    /// An item that is whole: thoughts get their seal, and a call that nothing was told of is told.
    fn item(&mut self, at: u64, mut item: wire::Item, events: &mut Vec<Event>) {
        match item.kind.as_deref() {
            Some("function_call") => {
                let arguments = item.arguments.take().unwrap_or_default();
                self.call(at, item, events);
                self.all_arguments(at, arguments, events);
                let index = self.calls.iter().position(|(call, _)| *call == at);
                events.extend(index.map(number).map(|index| Event::CallEnd { index }));
            }
            Some("reasoning") => {
                let thinks = std::mem::take(&mut self.thinks);
                self.parts_thought = false;
                match thought(item) {
                    Some(Part::SealedThinking(data)) => {
                        self.say(Event::SealedThinking(data), events);
                    }
                    Some(Part::Thinking { text, signature }) => {
                        if !thinks {
                            self.say(Event::Thinking(text), events);
                        }
                        if let Some(signature) = signature {
                            self.start(wire::Response::default(), events);
                            events.push(Event::Signature(signature));
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, response: wire::Response, data: &[u8], events: &mut Vec<Event>) {
        self.ended = true;
        let at = json::member(data, Cursor::new(data).position(), "response");
        let usage = at.and_then(|at| Usage::of_response(data, at.start));
        let finish = finish(response.incomplete_details).with_calls(!self.calls.is_empty());
        self.start(wire::Response::default(), events);
        events.push(Event::End { finish, usage });
    }

    fn fail(&mut self, data: &[u8], at: usize, events: &mut Vec<Event>) {
        self.ended = true;
        let error = upstream_error::in_stream(&self.provider, data, at);
        events.push(Event::Error(error));
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("there are at most 1,024 calls")
}
