//! Canonical events as a streamed answer of this dialect.
//!
//! A call comes whole here. So its arguments are held until they are an object to its last brace, and
//! calls are written in the order in which they began.

use std::collections::VecDeque;

use bytes::BytesMut;

use super::foreign_seal::{self, seal};
use super::write_answer::{call_part, candidate, error_out, finish_reason, text_part};
use super::{carried, logprobs, wire};
use crate::canonical::json_end::JsonEnd;
use crate::canonical::{Event, FinishReason, Stamp};
use crate::gemini::framing::{Frames, Framing};
use crate::gemini::{ErrorOut, error_body};
use crate::wire_form::to_json;

/// So many bytes of calls are held.
const HELD_BYTES_MAX: usize = 4 << 20;
/// The longest id or model's name that is passed on.
const NAME_BYTES_MAX: usize = 256;

/// Writes one streamed answer.
#[derive(Debug)]
pub struct StreamWriter {
    stamp: Stamp,
    frames: Frames,
    held: VecDeque<Held>,
    held_bytes: usize,
    calls: bool,
    refuses: bool,
    ended: bool,
}

/// A call that is not whole yet.
#[derive(Debug)]
struct Held {
    call: u32,
    id: String,
    name: String,
    signature: Option<String>,
    arguments: String,
    end: JsonEnd,
}

impl Held {
    fn bytes(&self) -> usize {
        let signature = self.signature.as_ref().map_or(0, String::len);
        self.id.len() + self.name.len() + signature + self.arguments.len()
    }
}

impl StreamWriter {
    /// A stream that has not begun. The stamp's id and model hold until the provider tells its own.
    pub const fn new(stamp: Stamp, framing: Framing) -> Self {
        Self {
            stamp,
            frames: Frames::new(framing),
            held: VecDeque::new(),
            held_bytes: 0,
            calls: false,
            refuses: false,
            ended: false,
        }
    }

    /// Writes in that framing from the beginning.
    pub(crate) const fn frame(&mut self, framing: Framing) {
        self.frames = Frames::new(framing);
    }

    /// Appends what the client gets of `event`. Nothing comes after an end or an error.
    pub fn write(&mut self, event: &Event, out: &mut BytesMut) {
        if self.ended {
            return;
        }
        match event {
            Event::Start { id, model, .. } => self.begin(id, model),
            Event::Ping => out.extend_from_slice(Framing::KEEP_ALIVE),
            Event::Text(text) => self.part(text_part(text.clone(), false), out),
            Event::Logprobs(told) => {
                let mut chunk = self.chunk(Vec::new(), None);
                chunk.candidates[0].logprobs_result = logprobs::write(told);
                self.frames.chunk(&to_json(&chunk), out);
            }
            Event::Refusal(text) => {
                self.refuses = true;
                self.part(text_part(text.clone(), false), out);
            }
            Event::Thinking(text) => self.part(text_part(text.clone(), true), out),
            // It is of the thoughts that came before it.
            Event::Signature(seal) => self.part(carried::thought("", seal), out),
            Event::SealedThinking(data) => self.part(carried::sealed(data), out),
            Event::ToolCall {
                index,
                id,
                name,
                signature,
            } => {
                let held = Held {
                    call: *index,
                    id: id.clone(),
                    name: name.clone(),
                    signature: signature.clone(),
                    arguments: String::new(),
                    end: JsonEnd::default(),
                };
                self.hold(held.bytes(), out);
                self.held.push_back(held);
            }
            Event::Arguments { index, text } => self.arguments(*index, text, out),
            Event::End { finish, usage } => {
                while let Some(call) = self.held.pop_front() {
                    self.call(&call, out);
                }
                let finish = match finish {
                    FinishReason::Stop if self.refuses => FinishReason::Refusal,
                    finish => finish.clone(),
                };
                let mut chunk = self.chunk(Vec::new(), Some(finish_reason(&finish)));
                chunk.usage_metadata = usage.map(wire::UsageMetadata::from);
                self.frames.chunk(&to_json(&chunk), out);
                self.end(out);
            }
            Event::Error(error) => {
                self.frames.chunk(&error_body(&error_out(error)), out);
                self.end(out);
            }
        }
    }

    /// Ends the stream with an error of ours.
    pub(crate) fn fail(&mut self, error: &ErrorOut<'_>, out: &mut BytesMut) {
        self.frames.chunk(&error_body(error), out);
        self.end(out);
    }

    fn begin(&mut self, id: &str, model: &str) {
        let tell = |place: &mut String, told: &str| {
            // It stands in every chunk.
            if (1..=NAME_BYTES_MAX).contains(&told.len()) {
                told.clone_into(place);
            }
        };
        tell(&mut self.stamp.id, id);
        tell(&mut self.stamp.model, model);
    }

    fn arguments(&mut self, index: u32, text: &str, out: &mut BytesMut) {
        let mut held = self.held.iter_mut();
        // What comes for a call that is over could only spoil it.
        let Some(held) = held.find(|held| held.call == index) else {
            return;
        };
        held.arguments.push_str(text);
        held.end.push(text);
        self.hold(text.len(), out);
        while self.held.front().is_some_and(|call| call.end.is_whole()) {
            if let Some(call) = self.held.pop_front() {
                self.call(&call, out);
            }
        }
    }

    /// Counts what is to be held, and ends the stream where that is more than is held.
    fn hold(&mut self, bytes: usize, out: &mut BytesMut) {
        self.held_bytes += bytes;
        if self.held_bytes > HELD_BYTES_MAX && !self.ended {
            self.held.clear();
            let error = ErrorOut {
                code: 500,
                message: "the provider's calls of tools are too long to be put together",
                status: "INTERNAL",
                retry_after_ms: None,
            };
            self.frames.chunk(&error_body(&error), out);
            self.end(out);
        }
    }

    fn call(&mut self, call: &Held, out: &mut BytesMut) {
        self.held_bytes = self.held_bytes.saturating_sub(call.bytes());
        let signature = call.signature.as_deref();
        let mut part = call_part(&call.id, &call.name, &call.arguments, signature);
        if !std::mem::replace(&mut self.calls, true) {
            seal(std::slice::from_mut(&mut part), foreign_seal::ANSWERED);
        }
        self.part(part, out);
    }

    fn part(&mut self, part: wire::Part, out: &mut BytesMut) {
        let chunk = self.chunk(vec![part], None);
        self.frames.chunk(&to_json(&chunk), out);
    }

    fn chunk(&self, parts: Vec<wire::Part>, finish_reason: Option<&'static str>) -> wire::Answer {
        wire::Answer {
            candidates: vec![candidate(parts, finish_reason)],
            model_version: Some(self.stamp.model.clone()),
            response_id: Some(self.stamp.id.clone()),
            ..wire::Answer::default()
        }
    }

    fn end(&mut self, out: &mut BytesMut) {
        self.ended = true;
        self.frames.close(out);
    }
}
