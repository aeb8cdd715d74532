//! A streamed message into canonical events.

use std::sync::Arc;

use bytes::Bytes;
use sluicegate_catalog::Provider;

use super::read_answer::finish;
use super::wire;
use crate::anthropic::endings::refusal_explained;
use crate::anthropic::usage::Told;
use crate::canonical::{Event, FinishReason};
use crate::json::{self, Cursor, Span};
use crate::sse::{self, Decoder, EventTooLarge};
use crate::{UpstreamError, lenient, upstream_error};

/// As many calls of tools are followed; the pieces of more are left out, which no model reaches.
const CALLS_MAX: u32 = 1_024;

/// Reads one streamed message.
#[derive(Debug)]
pub struct StreamReader {
    provider: Arc<Provider>,
    decoder: Decoder,
    told: Told,
    started: bool,
    ended: bool,
    /// The blocks that are calls and still open, each with the number of its call.
    open_calls: Vec<(u64, u32)>,
    calls: u32,
    finish: Option<FinishReason>,
}

impl StreamReader {
    /// A stream that has not begun, from `provider`, whose table judges errors inside it.
    pub fn new(provider: Arc<Provider>) -> Self {
        Self {
            provider,
            decoder: Decoder::default(),
            told: Told::default(),
            started: false,
            ended: false,
            open_calls: Vec::new(),
            calls: 0,
            finish: None,
        }
    }

    /// Takes a chunk as it came from the wire and appends what it tells to `events`. Nothing comes
    /// after an end or an error. Kinds of events and blocks that are not known are left out.
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
        if self.finish.is_some() {
            self.end(events);
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
        let root = Cursor::new(data).position();
        if event.name() == Some(b"error") {
            let error = json::member(data, root, "error");
            return self.fail(data, error, root, events);
        }
        match lenient::from_slice::<wire::StreamEvent>(data) {
            Ok(told) if told.kind == "error" => {
                let error = json::member(data, root, "error");
                self.fail(data, error, root, events);
            }
            Ok(told) => self.read_event(told, data, events),
            Err(_) => {
                self.ended = true;
                events.push(Event::Error(UpstreamError::not_readable()));
            }
        }
    }

    fn read_event(&mut self, told: wire::StreamEvent, data: &[u8], events: &mut Vec<Event>) {
        let root = Cursor::new(data).position();
        let index = told.index.unwrap_or(0);
        match told.kind.as_str() {
            "message_start" => {
                let message = json::member(data, root, "message");
                let usage = message.and_then(|at| json::member(data, at.start, "usage"));
                let usage = usage.and_then(|at| self.told.update(data, at.start));
                let message = told.message.unwrap_or_default();
                self.started = true;
                events.push(Event::Start {
                    id: message.id.unwrap_or_default(),
                    model: message.model.unwrap_or_default(),
                    usage,
                });
            }
            "ping" => events.push(Event::Ping),
            "content_block_start" => {
                self.start(events);
                self.begin_block(index, told.content_block.unwrap_or_default(), events);
            }
            "content_block_delta" => {
                self.start(events);
                self.add_to_block(index, told.delta.unwrap_or_default(), events);
            }
            "content_block_stop" => self.end_block(index, events),
            "message_delta" => {
                if let Some(usage) = json::member(data, root, "usage") {
                    self.told.update(data, usage.start);
                }
                let delta = told.delta.unwrap_or_default();
                if let Some(reason) = delta.stop_reason.filter(|reason| !reason.is_empty()) {
                    self.start(events);
                    let finish = finish(Some(&reason), delta.stop_sequence);
                    if finish == FinishReason::Refusal {
                        let delta = json::member(data, root, "delta");
                        let explained = delta.and_then(|at| refusal_explained(data, at.start));
                        events.extend(explained.map(Event::Refusal));
                    }
                    self.finish = Some(finish);
                }
            }
            "message_stop" => self.end(events),
            _ => {}
        }
    }

    fn begin_block(&mut self, index: u64, block: wire::Block, events: &mut Vec<Event>) {
        let is_some = |text: &String| !text.is_empty();
        match block.kind.as_str() {
            "text" => events.extend(block.text.filter(is_some).map(Event::Text)),
            "thinking" => {
                events.extend(block.thinking.filter(is_some).map(Event::Thinking));
                events.extend(block.signature.filter(is_some).map(Event::Signature));
            }
            "redacted_thinking" => events.extend(block.data.map(Event::SealedThinking)),
            "tool_use" if self.calls < CALLS_MAX => {
                let call = self.calls;
                self.calls += 1;
                self.open_calls.push((index, call));
                events.push(Event::ToolCall {
                    index: call,
                    id: block.id.unwrap_or_default(),
                    name: block.name.unwrap_or_default(),
                    signature: None,
                });
                // Usually empty, to be filled by what follows.
                let input = block.input.map(|input| input.get().to_owned());
                let is_filled = |text: &String| text.contains('"');
                events.extend(
                    input
                        .filter(is_filled)
                        .map(|text| Event::Arguments { index: call, text }),
                );
            }
            _ => {}
        }
    }

    fn add_to_block(&mut self, index: u64, delta: wire::Delta, events: &mut Vec<Event>) {
        let is_some = |text: &String| !text.is_empty();
        events.extend(delta.text.filter(is_some).map(Event::Text));
        events.extend(delta.thinking.filter(is_some).map(Event::Thinking));
        events.extend(delta.signature.filter(is_some).map(Event::Signature));
        let call = self.open_calls.iter().rfind(|(open, _)| *open == index);
        if let (Some((_, call)), Some(text)) = (call, delta.partial_json.filter(is_some)) {
            events.push(Event::Arguments { index: *call, text });
        }
    }

    fn end_block(&mut self, index: u64, events: &mut Vec<Event>) {
        let ended = self.open_calls.extract_if(.., |(open, _)| *open == index);
        events.extend(ended.map(|(_, index)| Event::CallEnd { index }));
    }

    fn start(&mut self, events: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.started, true) {
            events.push(Event::Start {
                id: String::new(),
                model: String::new(),
                usage: None,
            });
        }
    }

    fn end(&mut self, events: &mut Vec<Event>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let Some(finish) = self.finish.take() else {
            return events.push(Event::Error(UpstreamError::unfinished()));
        };
        let usage = self.told.usage();
        events.push(Event::End { finish, usage });
    }

    fn fail(&mut self, data: &[u8], error: Option<Span>, root: usize, events: &mut Vec<Event>) {
        self.ended = true;
        let at = error.map_or(root, |error| error.start);
        let error = upstream_error::in_stream(&self.provider, data, at);
        events.push(Event::Error(error));
    }
}
