//! Canonical events as a streamed chat completion.

use bytes::BytesMut;
use serde::Serialize;

use super::carried::{Carrier, ExtraContent};
use super::error_out;
use super::logprobs::ChoiceLogprobs;
use super::wire;
use super::write_answer::{WireUsage, finish_reason};
use crate::canonical::{Event, Stamp};
use crate::openai::{UsageChunk, error_event};
use crate::wire_form::to_json;

/// The longest id or model's name that is passed on.
const NAME_BYTES_MAX: usize = 256;

/// Writes one streamed answer.
#[derive(Debug)]
pub struct StreamWriter {
    stamp: Stamp,
    usage_chunk: UsageChunk,
    calls: bool,
    carrier: Carrier,
}

impl StreamWriter {
    /// A stream that has not begun. The stamp's id and model hold until the provider tells its own.
    pub fn new(stamp: Stamp, usage_chunk: UsageChunk) -> Self {
        Self {
            stamp,
            usage_chunk,
            calls: false,
            carrier: Carrier::default(),
        }
    }

    /// Whether the client sees the usage.
    pub(crate) fn tells_usage(&self) -> bool {
        self.usage_chunk == UsageChunk::Pass
    }

    /// Appends what the client gets of `event`, the next in the order that `CallsInOrder` makes.
    ///
    /// Sealed thoughts come once, all together, before the end: some SDKs put pieces of a member that
    /// they do not know together, and others keep the last one. A sign of life becomes a comment without
    /// a blank line, which no SDK takes for an event.
    pub fn write(&mut self, event: &Event, out: &mut BytesMut) {
        self.carrier.note(event);
        let mut delta = Delta::default();
        match event {
            Event::Start { id, model, .. } => {
                self.begin(id, model);
                delta.role = Some("assistant");
                delta.content = Some("");
            }
            Event::Text(text) => delta.content = Some(text),
            Event::Logprobs(logprobs) => {
                let choice = Choice {
                    logprobs: ChoiceLogprobs::of(logprobs),
                    ..choice(delta, None)
                };
                return self.chunk(&[choice], None, out);
            }
            Event::Thinking(text) => delta.reasoning_content = Some(text),
            Event::Refusal(text) => delta.refusal = Some(text),
            Event::ToolCall {
                index,
                id,
                name,
                signature,
            } => {
                self.calls = true;
                let extra_content = signature.as_deref().map(wire::ExtraContent::sealed);
                delta.tool_calls = Some([wire::Call {
                    extra_content,
                    ..call(*index, Some(id), Some(name), "")
                }]);
            }
            Event::Arguments { index, text } => {
                delta.tool_calls = Some([call(*index, None, None, text)]);
            }
            Event::Ping => return out.extend_from_slice(b": ping\n"),
            Event::Signature(_)
            | Event::ThoughtEnds
            | Event::SealedThinking(_)
            | Event::CallEnd { .. } => return,
            Event::End { finish, usage } => {
                self.carry(out);
                let finish = finish.clone().with_calls(self.calls);
                self.chunk(&[choice(delta, Some(finish_reason(&finish)))], None, out);
                if let (Some(usage), UsageChunk::Pass) = (usage, self.usage_chunk) {
                    self.chunk(&[], Some((*usage).into()), out);
                }
                return out.extend_from_slice(b"data: [DONE]\n\n");
            }
            Event::Error(error) => {
                return out.extend_from_slice(&error_event(&error_out(error)));
            }
        }
        self.chunk(&[choice(delta, None)], None, out);
    }

    fn carry(&mut self, out: &mut BytesMut) {
        let extra_content = std::mem::take(&mut self.carrier).finish();
        if extra_content.is_some() {
            let delta = Delta {
                extra_content,
                ..Delta::default()
            };
            self.chunk(&[choice(delta, None)], None, out);
        }
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

    fn chunk(&self, choices: &[Choice<'_>], usage: Option<WireUsage>, out: &mut BytesMut) {
        let chunk = Chunk {
            id: &self.stamp.id,
            object: "chat.completion.chunk",
            created: self.stamp.created_s,
            model: &self.stamp.model,
            choices,
            usage,
        };
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(&to_json(&chunk));
        out.extend_from_slice(b"\n\n");
    }
}

const fn choice<'a>(delta: Delta<'a>, finish_reason: Option<&'static str>) -> Choice<'a> {
    Choice {
        index: 0,
        delta,
        logprobs: None,
        finish_reason,
    }
}

fn call(index: u32, id: Option<&str>, name: Option<&str>, arguments: &str) -> wire::Call {
    wire::Call {
        index: Some(index),
        id: id.map(str::to_owned),
        kind: id.map(|_| "function".to_owned()),
        function: Some(wire::CalledFunction {
            name: name.map(str::to_owned),
            arguments: Some(arguments.to_owned()),
        }),
        extra_content: None,
    }
}

#[derive(Serialize)]
struct Chunk<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [Choice<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<WireUsage>,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    delta: Delta<'a>,
    logprobs: Option<ChoiceLogprobs>,
    finish_reason: Option<&'static str>,
}

#[derive(Default, Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[wire::Call; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<ExtraContent>,
}
