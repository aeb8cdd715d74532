//! Canonical events as a streamed answer of this dialect.
//!
//! A call comes whole here. So its arguments are held until it is over, and one that was cut is left out:
//! the SDK would make it.

use bytes::BytesMut;

use super::foreign_seal::{self, seal};
use super::write_answer::{call_part, candidate, error_out, finish_reason, text_part};
use super::{carried, logprobs, wire};
use crate::canonical::{Event, FinishReason, Stamp};
use crate::gemini::framing::{Frames, Framing};
use crate::gemini::{ErrorOut, error_body};
use crate::wire_form::to_json;

/// So many bytes of a call are held.
const HELD_BYTES_MAX: usize = 4 << 20;
/// The longest id or model's name that is passed on.
const NAME_BYTES_MAX: usize = 256;

/// Writes one streamed answer.
#[derive(Debug)]
pub struct StreamWriter {
    stamp: Stamp,
    frames: Frames,
    held: Option<Held>,
    calls: bool,
    /// Whether a call was cut.
    cuts: bool,
    refuses: bool,
    estimated: bool,
    ended: bool,
}

/// A call that is not whole yet.
#[derive(Debug)]
struct Held {
    id: String,
    name: String,
    signature: Option<String>,
    arguments: String,
}

impl StreamWriter {
    /// A stream that has not begun. The stamp's id and model hold until the provider tells its own.
    pub const fn new(stamp: Stamp, framing: Framing) -> Self {
        Self {
            stamp,
            frames: Frames::new(framing),
            held: None,
            calls: false,
            cuts: false,
            refuses: false,
            estimated: false,
            ended: false,
        }
    }

    /// Writes in that framing from the beginning.
    pub(crate) const fn frame(&mut self, framing: Framing) {
        self.frames = Frames::new(framing);
    }

    /// The usage that is told at the end is an estimate of ours.
    pub(crate) const fn mark_estimate(&mut self) {
        self.estimated = true;
    }

    /// Appends what the client gets of `event`, the next in the order that `CallsInOrder` makes. Nothing
    /// comes after an end or an error.
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
            // A part of its own is a thought of its own already.
            Event::ThoughtEnds => {}
            Event::SealedThinking(data) => self.part(carried::sealed(data), out),
            Event::ToolCall {
                id,
                name,
                signature,
                ..
            } => {
                self.drop_cut_call();
                self.held = Some(Held {
                    id: id.clone(),
                    name: name.clone(),
                    signature: signature.clone(),
                    arguments: String::new(),
                });
            }
            Event::Arguments { text, .. } => self.arguments(text, out),
            Event::CallEnd { .. } => {
                if let Some(call) = self.held.take() {
                    self.call(&call, out);
                }
            }
            Event::End { finish, usage } => {
                self.drop_cut_call();
                let finish = match finish {
                    FinishReason::Stop if self.refuses => FinishReason::Refusal,
                    finish if self.cuts => finish.clone().with_cut_call(),
                    finish => finish.clone(),
                };
                let mut chunk = self.chunk(Vec::new(), Some(finish_reason(&finish)));
                chunk.usage_metadata = usage.map(wire::UsageMetadata::from);
                chunk.usage_note = self.estimated.then_some("estimate");
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

    /// Leaves out the call whose end nobody told, where there is one.
    fn drop_cut_call(&mut self) {
        self.cuts |= self.held.take().is_some();
    }

    /// Adds to the call, and ends the stream where that is more than is held.
    fn arguments(&mut self, text: &str, out: &mut BytesMut) {
        let Some(held) = &mut self.held else {
            return;
        };
        held.arguments.push_str(text);
        if held.arguments.len() > HELD_BYTES_MAX {
            let error = ErrorOut {
                code: 500,
                message: "the provider's call of a tool is too long to be put together",
                status: "INTERNAL",
                retry_after_ms: None,
            };
            self.fail(&error, out);
        }
    }

    fn call(&mut self, call: &Held, out: &mut BytesMut) {
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
