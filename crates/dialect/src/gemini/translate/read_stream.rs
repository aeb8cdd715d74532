//! A streamed answer into canonical events.

use std::sync::Arc;

use bytes::Bytes;
use sluicegate_catalog::Provider;

use super::read_answer::{call_id, finish};
use super::{logprobs, wire};
use crate::canonical::arguments::NO_ARGUMENTS;
use crate::canonical::seal::of_google;
use crate::canonical::{Event, FinishReason};
use crate::gemini::endings::{says_ended, says_spoilt};
use crate::gemini::stream::object_of;
use crate::json::{self, Cursor};
use crate::sse::{self, Decoder, EventTooLarge, LONG_EVENT_BYTES_MAX};
use crate::{UpstreamError, Usage, lenient, upstream_error};

/// As many calls of tools are followed; more are left out, which no model reaches.
const CALLS_MAX: u32 = 1_024;

/// Reads one streamed answer.
///
/// No event says that the stream is over, and after the one that says why the answer ended another
/// may bring the usage. So the end is told when the upstream has closed.
#[derive(Debug)]
pub struct StreamReader {
    provider: Arc<Provider>,
    decoder: Decoder,
    id: String,
    started: bool,
    ended: bool,
    says: bool,
    /// Whether anything but thoughts was told, and whether an image or a sound came, for which there is no event.
    tells: bool,
    left_out: bool,
    calls: u32,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
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
            says: false,
            tells: false,
            left_out: false,
            calls: 0,
            finish: None,
            usage: None,
        }
    }

    /// Takes a chunk as it came from the wire and appends what it tells to `events`. Nothing comes
    /// after an end or an error. Kinds of parts that are not known are left out.
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
        if let Some(finish) = self.finish.take().filter(|_| !self.ended) {
            if self.left_out && !self.tells {
                return self.fail(UpstreamError::media_alone(), events);
            }
            self.ended = true;
            events.push(Event::End {
                finish: finish.with_calls(self.calls > 0),
                usage: self.usage,
            });
        }
    }

    fn read(&mut self, event: &sse::Event, events: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        let data = match (object_of(event), event.data()) {
            (Some(data), _) | (None, Some(data)) => data,
            (None, None) => {
                if event.raw.starts_with(b":") {
                    events.push(Event::Ping);
                }
                return;
            }
        };
        let root = Cursor::new(data).position();
        let error = json::member(data, root, "error");
        if let Some(at) = error.filter(|at| matches!(data[at.start], b'{' | b'"')) {
            let error = upstream_error::in_stream(&self.provider, data, at.start);
            return self.fail(error, events);
        }
        match lenient::from_slice::<wire::Answer>(data) {
            Ok(chunk) => self.read_chunk(chunk, data, events),
            Err(_) => self.fail(UpstreamError::not_readable(), events),
        }
    }

    fn read_chunk(&mut self, chunk: wire::Answer, data: &[u8], events: &mut Vec<Event>) {
        self.usage = Usage::from_generation(data).or(self.usage);
        let is_ours = |candidate: &wire::Candidate| candidate.index.unwrap_or(0) == 0;
        let candidate = chunk.candidates.into_iter().find(is_ours);
        let feedback = chunk.prompt_feedback.unwrap_or_default();
        let is_blocked = feedback.block_reason.is_some();
        if candidate.is_none() && !is_blocked {
            return;
        }
        if !std::mem::replace(&mut self.started, true) {
            self.id = chunk.response_id.unwrap_or_default();
            events.push(Event::Start {
                id: self.id.clone(),
                model: chunk.model_version.unwrap_or_default(),
                usage: self.usage,
            });
        }
        let Some(candidate) = candidate else {
            events.extend(feedback.block_reason_message.map(Event::Refusal));
            self.tells = true;
            self.finish = Some(FinishReason::Refusal);
            return;
        };
        let reason = candidate.finish_reason.as_deref();
        let reason = reason.filter(|reason| says_ended(reason));
        let message = candidate.finish_message;
        if let Some(reason) = reason.filter(|reason| says_spoilt(reason)) {
            let error = UpstreamError::no_answer(reason, message.as_deref());
            return self.fail(error, events);
        }
        for part in candidate.content.unwrap_or_default().parts.0 {
            self.read_part(part, events);
        }
        let told = logprobs::read(candidate.logprobs_result.as_deref());
        if !told.is_empty() {
            events.push(Event::Logprobs(told));
        }
        match reason {
            None => {}
            Some("OTHER") if !self.says => {
                let error = UpstreamError::no_answer("OTHER", message.as_deref());
                self.fail(error, events);
            }
            Some(reason) => {
                let finish = finish(Some(reason));
                if finish == FinishReason::Refusal {
                    self.tells = true;
                    events.extend(message.map(Event::Refusal));
                }
                self.finish = Some(finish);
            }
        }
    }

    fn read_part(&mut self, part: wire::Part, events: &mut Vec<Event>) {
        if let Some(call) = part.function_call.filter(|_| self.calls < CALLS_MAX) {
            let index = self.calls;
            self.calls += 1;
            self.says = true;
            self.tells = true;
            events.push(Event::ToolCall {
                index,
                id: call_id(call.id, &self.id, &call.name, index as usize),
                name: call.name,
                signature: part.thought_signature,
            });
            // It always comes whole.
            let args = call.args.as_deref();
            let text = args.map_or(NO_ARGUMENTS, |args| args.get()).to_owned();
            events.push(Event::Arguments { index, text });
            events.push(Event::CallEnd { index });
            return;
        }
        self.left_out |= part.inline_data.is_some();
        let seal = part.thought_signature.filter(|seal| !seal.is_empty());
        let seal = seal.as_deref().map(of_google);
        let text = part.text.filter(|text| !text.is_empty());
        self.says |= text.is_some();
        if part.thought == Some(true) {
            events.extend(text.map(Event::Thinking));
            events.extend(seal.map(Event::Signature));
        } else {
            self.tells |= text.is_some();
            events.extend(text.map(Event::Text));
            events.extend(seal.map(Event::SealedThinking));
        }
    }

    fn fail(&mut self, error: UpstreamError, events: &mut Vec<Event>) {
        self.ended = true;
        events.push(Event::Error(error));
    }
}
