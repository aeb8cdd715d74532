//! A stream of ConverseStream into canonical events.

use std::sync::Arc;

use bytes::Bytes;
use sluicegate_catalog::Provider;

use super::read_answer::finish;
use super::wire;
use crate::bedrock::endings::says_spoilt;
use crate::bedrock::event_stream::{Broken, Decoder, Frame};
use crate::bedrock::exception::exception;
use crate::canonical::{Event, FinishReason};
use crate::sse::EventTooLarge;
use crate::{UpstreamError, Usage, lenient};

/// As many calls of tools are followed; the pieces of more are left out, which no model reaches.
const CALLS_MAX: u32 = 1_024;

/// Reads one streamed answer.
///
/// The end is told when the usage has come, which is behind the reason of the end, or when the
/// upstream closes.
#[derive(Debug)]
pub struct StreamReader {
    provider: Arc<Provider>,
    decoder: Decoder,
    started: bool,
    ended: bool,
    /// The blocks that are calls and still open, each with the number of its call.
    open_calls: Vec<(u64, u32)>,
    calls: u32,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
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
            finish: None,
            usage: None,
        }
    }

    /// Takes a chunk as it came from the wire and appends what it tells to `events`. Nothing comes
    /// after an end or an error. Kinds of events and blocks that are not known are left out.
    ///
    /// # Errors
    /// [`EventTooLarge`]: the stream cannot be followed any further and has to be ended.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "readers of all dialects take chunks alike"
    )]
    pub fn push(&mut self, chunk: Bytes, events: &mut Vec<Event>) -> Result<(), EventTooLarge> {
        self.decoder.push(&chunk);
        loop {
            match self.decoder.next_frame() {
                Ok(Some(frame)) => self.read(&frame, events),
                Ok(None) => return Ok(()),
                Err(Broken::TooLarge) => return Err(EventTooLarge),
                Err(Broken::Damaged) => self.fail(UpstreamError::not_readable(), events),
            }
        }
    }

    /// The upstream has closed. Where no [`Event::End`] and no [`Event::Error`] has come by now, the
    /// stream was cut.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        if self.finish.is_some() {
            self.end(events);
        }
    }

    fn read(&mut self, frame: &Frame, events: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        match frame.header(":message-type") {
            "event" => match lenient::from_slice(&frame.payload) {
                Ok(told) => self.read_event(frame.header(":event-type"), told, frame, events),
                Err(_) => self.fail(UpstreamError::not_readable(), events),
            },
            "exception" => {
                let kind = frame.header(":exception-type");
                let error = exception(&self.provider, kind, &frame.payload);
                self.fail(error, events);
            }
            // Told in headers, by whoever frames the stream: no model's error.
            "error" => {
                let kind = frame.header(":error-code");
                let said = serde_json::json!({"message": frame.header(":error-message")});
                let said = said.to_string();
                let error = exception(&self.provider, kind, said.as_bytes());
                self.fail(error, events);
            }
            _ => {}
        }
    }

    fn read_event(
        &mut self,
        kind: &str,
        told: wire::StreamEvent,
        frame: &Frame,
        events: &mut Vec<Event>,
    ) {
        let index = told.content_block_index;
        match kind {
            "messageStart" => self.start(events),
            "contentBlockStart" => {
                self.start(events);
                if let Some(call) = told.start.and_then(|start| start.tool_use) {
                    self.begin_call(index, call, events);
                }
            }
            "contentBlockDelta" => {
                self.start(events);
                self.add_to_block(index, told.delta.unwrap_or_default(), events);
            }
            "contentBlockStop" => self.end_block(index, events),
            "messageStop" => {
                self.start(events);
                let stop = told
                    .additional_model_response_fields
                    .and_then(|fields| fields.stop_sequence);
                let reason = told.stop_reason.filter(|reason| !reason.is_empty());
                if let Some(reason) = reason.as_deref().filter(|reason| says_spoilt(reason)) {
                    return self.fail(UpstreamError::no_answer(reason, None), events);
                }
                self.finish = reason.map(|reason| finish(Some(&reason), stop));
            }
            "metadata" => {
                self.usage = Usage::from_converse(&frame.payload).or(self.usage);
                if self.finish.is_some() {
                    self.end(events);
                }
            }
            _ => {}
        }
    }

    fn begin_call(&mut self, index: u64, call: wire::ToolUse, events: &mut Vec<Event>) {
        if call.kind.is_some() || self.calls >= CALLS_MAX {
            return;
        }
        let number = self.calls;
        self.calls += 1;
        self.open_calls.push((index, number));
        events.push(Event::ToolCall {
            index: number,
            id: call.tool_use_id,
            name: call.name,
            signature: None,
        });
    }

    fn add_to_block(&mut self, index: u64, delta: wire::Delta, events: &mut Vec<Event>) {
        let is_some = |text: &String| !text.is_empty();
        if let Some(thought) = delta.reasoning_content {
            events.extend(thought.text.filter(is_some).map(Event::Thinking));
            events.extend(thought.signature.filter(is_some).map(Event::Signature));
            let sealed = thought.redacted_content.filter(is_some);
            events.extend(sealed.map(Event::SealedThinking));
        }
        events.extend(delta.text.filter(is_some).map(Event::Text));
        let call = self.open_calls.iter().rfind(|(open, _)| *open == index);
        let input = delta.tool_use.and_then(|call| call.input);
        if let (Some((_, call)), Some(text)) = (call, input.filter(is_some)) {
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
        if let Some(finish) = self.finish.take() {
            events.push(Event::End {
                finish: finish.with_calls(self.calls > 0),
                usage: self.usage,
            });
        }
    }

    fn fail(&mut self, error: UpstreamError, events: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.ended, true) {
            events.push(Event::Error(error));
        }
    }
}
