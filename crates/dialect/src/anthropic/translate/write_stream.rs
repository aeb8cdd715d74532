//! Canonical events as a streamed message.
//!
//! Blocks come one after the other here, while other dialects may tell of several calls in turns.
//! A call whose arguments are an object to its last brace is over, and the next one flows; until then
//! the pieces of others are held.

use std::collections::VecDeque;

use bytes::BytesMut;
use serde_json::value::RawValue;

use super::call;
use super::stream_event::{
    BlockDelta, BlockStart, BlockStop, Delta, Ending, MessageDelta, Start, Typed, send,
};
use super::wire::Block;
use super::write_answer::{Message, WireUsage, error_out, sealed_before_call, stop_reason};
use crate::Usage;
use crate::anthropic::{ErrorOut, error_event};
use crate::canonical::json_end::JsonEnd;
use crate::canonical::{Event, FinishReason, Stamp};

/// So many bytes of calls are held while another call is written.
const HELD_BYTES_MAX: usize = 4 << 20;

/// Writes one streamed answer.
#[derive(Debug)]
pub struct StreamWriter {
    stamp: Stamp,
    /// The number of the block that is open, or of the next one.
    index: u64,
    open: Option<Open>,
    held: VecDeque<Held>,
    held_bytes: usize,
    started: bool,
    calls: bool,
    refuses: bool,
    ended: bool,
}

#[derive(Debug)]
enum Open {
    Text,
    Thinking,
    /// A block that is whole as it begins.
    Whole,
    Call {
        call: u32,
        end: JsonEnd,
    },
}

/// A call that waits until the one before it is over.
#[derive(Debug)]
struct Held {
    call: u32,
    id: String,
    name: String,
    signature: Option<String>,
    arguments: String,
}

impl Held {
    fn bytes(&self) -> usize {
        let signature = self.signature.as_ref().map_or(0, String::len);
        self.id.len() + self.name.len() + signature + self.arguments.len()
    }
}

impl StreamWriter {
    /// A stream that has not begun. The stamp's id and model hold until the provider tells its own.
    pub const fn new(stamp: Stamp) -> Self {
        Self {
            stamp,
            index: 0,
            open: None,
            held: VecDeque::new(),
            held_bytes: 0,
            started: false,
            calls: false,
            refuses: false,
            ended: false,
        }
    }

    /// Appends what the client gets of `event`. Nothing comes after an end or an error.
    pub fn write(&mut self, event: &Event, out: &mut BytesMut) {
        if self.ended {
            return;
        }
        match event {
            Event::Start { id, model, usage } => self.start(id, model, *usage, out),
            // An event of that kind is expected behind the first only.
            Event::Ping if !self.started => out.extend_from_slice(b": ping\n"),
            Event::Ping => send("ping", &Typed { kind: "ping" }, out),
            Event::Text(text) => self.text(text, out),
            // No request of this dialect asks for them.
            Event::Logprobs(_) => {}
            Event::Refusal(text) => {
                self.refuses = true;
                self.text(text, out);
            }
            Event::Thinking(text) => {
                self.open_thinking(out);
                self.delta(&Delta::Thinking { thinking: text }, out);
            }
            Event::Signature(signature) => {
                self.open_thinking(out);
                self.delta(&Delta::Signature { signature }, out);
                self.close(out);
            }
            Event::SealedThinking(data) => {
                self.finish_calls(out);
                let kind = "redacted_thinking".to_owned();
                let data = Some(data.clone());
                self.begin(
                    Block {
                        kind,
                        data,
                        ..Block::default()
                    },
                    out,
                );
                self.close(out);
            }
            Event::ToolCall {
                index,
                id,
                name,
                signature,
            } => self.call(
                Held {
                    call: *index,
                    id: id.clone(),
                    name: name.clone(),
                    signature: signature.clone(),
                    arguments: String::new(),
                },
                out,
            ),
            Event::Arguments { index, text } => self.arguments(*index, text, out),
            Event::End { finish, usage } => self.end(finish, *usage, out),
            Event::Error(error) => {
                self.ended = true;
                out.extend_from_slice(&error_event(&error_out(error)));
            }
        }
    }

    fn start(&mut self, id: &str, model: &str, usage: Option<Usage>, out: &mut BytesMut) {
        let or = |told: &str, stamp: &str| if told.is_empty() { stamp } else { told }.to_owned();
        let message = Message {
            id: or(id, &self.stamp.id),
            kind: "message",
            role: "assistant",
            model: or(model, &self.stamp.model),
            content: Vec::new(),
            stop_reason: None,
            stop_sequence: None,
            usage: WireUsage::from(usage.unwrap_or_default()),
        };
        self.started = true;
        let kind = "message_start";
        send(kind, &Start { kind, message }, out);
    }

    fn text(&mut self, text: &str, out: &mut BytesMut) {
        if !matches!(self.open, Some(Open::Text)) {
            self.finish_calls(out);
            let kind = "text".to_owned();
            let text = Some(String::new());
            self.begin(
                Block {
                    kind,
                    text,
                    ..Block::default()
                },
                out,
            );
            self.open = Some(Open::Text);
        }
        self.delta(&Delta::Text { text }, out);
    }

    fn open_thinking(&mut self, out: &mut BytesMut) {
        if !matches!(self.open, Some(Open::Thinking)) {
            self.finish_calls(out);
            let block = Block {
                kind: "thinking".to_owned(),
                thinking: Some(String::new()),
                signature: Some(String::new()),
                ..Block::default()
            };
            self.begin(block, out);
            self.open = Some(Open::Thinking);
        }
    }

    fn call(&mut self, call: Held, out: &mut BytesMut) {
        self.calls = true;
        match &self.open {
            Some(Open::Call { end, .. }) if !end.is_whole() => {
                self.hold(call.bytes(), out);
                self.held.push_back(call);
            }
            _ => self.begin_call(&call, out),
        }
    }

    fn begin_call(&mut self, call: &Held, out: &mut BytesMut) {
        if let Some(signature) = &call.signature {
            self.begin(sealed_before_call(signature), out);
        }
        let input = RawValue::from_string("{}".to_owned());
        let block = Block {
            kind: "tool_use".to_owned(),
            id: Some(call::legal_id(&call.id).into_owned()),
            name: Some(call.name.clone()),
            input: Some(input.expect("an empty object is valid JSON")),
            ..Block::default()
        };
        self.begin(block, out);
        let end = JsonEnd::default();
        let call = call.call;
        self.open = Some(Open::Call { call, end });
    }

    fn arguments(&mut self, call: u32, text: &str, out: &mut BytesMut) {
        if let Some(Open::Call { call: open, end }) = &mut self.open
            && *open == call
        {
            end.push(text);
            self.delta(&Delta::InputJson { partial_json: text }, out);
            self.release_held(out);
        } else if self.held.iter().any(|held| held.call == call) {
            self.hold(text.len(), out);
            let mut held = self.held.iter_mut();
            if let Some(held) = held.find(|held| held.call == call) {
                held.arguments.push_str(text);
            }
        }
        // What comes for a call that is over could only spoil it.
    }

    /// Counts what is to be held, and ends the stream where that is more than is held.
    fn hold(&mut self, bytes: usize, out: &mut BytesMut) {
        self.held_bytes += bytes;
        if self.held_bytes > HELD_BYTES_MAX && !std::mem::replace(&mut self.ended, true) {
            self.held.clear();
            out.extend_from_slice(&error_event(&ErrorOut {
                kind: "api_error",
                message: "the provider's calls of tools come in turns and are too long to be put in order",
            }));
        }
    }

    /// Writes calls that are held, as far as those before them are over.
    fn release_held(&mut self, out: &mut BytesMut) {
        while matches!(&self.open, Some(Open::Call { end, .. }) if end.is_whole()) {
            let Some(held) = self.held.pop_front() else {
                return;
            };
            self.write_held(&held, out);
        }
    }

    /// Writes all calls that are held: nothing more comes for any.
    fn finish_calls(&mut self, out: &mut BytesMut) {
        while let Some(held) = self.held.pop_front() {
            self.write_held(&held, out);
        }
    }

    fn write_held(&mut self, held: &Held, out: &mut BytesMut) {
        self.held_bytes = self.held_bytes.saturating_sub(held.bytes());
        self.begin_call(held, out);
        if let Some(Open::Call { end, .. }) = &mut self.open
            && !held.arguments.is_empty()
        {
            end.push(&held.arguments);
            let partial_json = &held.arguments;
            self.delta(&Delta::InputJson { partial_json }, out);
        }
    }

    fn end(&mut self, finish: &FinishReason, usage: Option<Usage>, out: &mut BytesMut) {
        self.finish_calls(out);
        self.close(out);
        self.ended = true;
        let finish = match finish.clone().with_calls(self.calls) {
            FinishReason::Stop if self.refuses => FinishReason::Refusal,
            finish => finish,
        };
        let (stop_reason, stop_sequence) = stop_reason(&finish);
        let kind = "message_delta";
        let delta = Ending {
            stop_reason,
            stop_sequence,
        };
        let usage = WireUsage::from(usage.unwrap_or_default());
        send(kind, &MessageDelta { kind, delta, usage }, out);
        send(
            "message_stop",
            &Typed {
                kind: "message_stop",
            },
            out,
        );
    }

    /// Begins a block, after the one that is open.
    fn begin(&mut self, content_block: Block, out: &mut BytesMut) {
        self.close(out);
        let kind = "content_block_start";
        let index = self.index;
        let start = BlockStart {
            kind,
            index,
            content_block,
        };
        send(kind, &start, out);
        self.open = Some(Open::Whole);
    }

    fn close(&mut self, out: &mut BytesMut) {
        if self.open.take().is_some() {
            let kind = "content_block_stop";
            let index = self.index;
            send(kind, &BlockStop { kind, index }, out);
            self.index += 1;
        }
    }

    fn delta(&self, delta: &Delta<'_>, out: &mut BytesMut) {
        let kind = "content_block_delta";
        let index = self.index;
        send(kind, &BlockDelta { kind, index, delta }, out);
    }
}
