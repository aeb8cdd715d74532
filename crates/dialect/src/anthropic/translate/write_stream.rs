//! Canonical events as a streamed message.
//!
//! Blocks come one after the other here, and so do the events of calls by the time they come here.

use bytes::BytesMut;
use serde_json::value::RawValue;

use super::call;
use super::stream_event::{
    BlockDelta, BlockStart, BlockStop, Delta, Ending, MessageDelta, Start, Typed, send,
};
use super::wire::Block;
use super::write_answer::{Message, WireUsage, error_out, sealed_before_call, stop_reason};
use crate::Usage;
use crate::anthropic::error_event;
use crate::canonical::{Event, FinishReason, Stamp};

/// Writes one streamed answer.
#[derive(Debug)]
pub struct StreamWriter {
    stamp: Stamp,
    /// The number of the block that is open, or of the next one.
    index: u64,
    open: Option<Open>,
    started: bool,
    calls: bool,
    /// Whether a call was cut.
    cuts: bool,
    refuses: bool,
    ended: bool,
}

#[derive(Debug)]
enum Open {
    Text,
    Thinking,
    /// A block that is whole as it begins.
    Whole,
    Call,
}

impl StreamWriter {
    /// A stream that has not begun. The stamp's id and model hold until the provider tells its own.
    pub const fn new(stamp: Stamp) -> Self {
        Self {
            stamp,
            index: 0,
            open: None,
            started: false,
            calls: false,
            cuts: false,
            refuses: false,
            ended: false,
        }
    }

    /// Appends what the client gets of `event`, the next in the order that `CallsInOrder` makes. Nothing
    /// comes after an end or an error.
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
            Event::ThoughtEnds if matches!(self.open, Some(Open::Thinking)) => self.close(out),
            Event::ThoughtEnds => {}
            Event::SealedThinking(data) => {
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
                id,
                name,
                signature,
                ..
            } => self.call(id, name, signature.as_deref(), out),
            Event::Arguments { text, .. } => {
                self.delta(&Delta::InputJson { partial_json: text }, out);
            }
            Event::CallEnd { .. } => self.end_call(out),
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

    fn call(&mut self, id: &str, name: &str, signature: Option<&str>, out: &mut BytesMut) {
        self.calls = true;
        if let Some(signature) = signature {
            self.begin(sealed_before_call(signature), out);
        }
        let input = RawValue::from_string("{}".to_owned());
        let block = Block {
            kind: "tool_use".to_owned(),
            id: Some(call::legal_id(id).into_owned()),
            name: Some(name.to_owned()),
            input: Some(input.expect("an empty object is valid JSON")),
            ..Block::default()
        };
        self.begin(block, out);
        self.open = Some(Open::Call);
    }

    fn end(&mut self, finish: &FinishReason, usage: Option<Usage>, out: &mut BytesMut) {
        self.close(out);
        self.ended = true;
        let finish = match finish.clone().with_calls(self.calls) {
            FinishReason::Stop if self.refuses => FinishReason::Refusal,
            finish if self.cuts => finish.with_cut_call(),
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

    fn end_call(&mut self, out: &mut BytesMut) {
        self.open = Some(Open::Whole);
        self.close(out);
    }

    /// Ends the block that is open. A call of which nobody told that it is over was cut, which is what its
    /// client reads of its input too.
    fn close(&mut self, out: &mut BytesMut) {
        if let Some(open) = self.open.take() {
            self.cuts |= matches!(open, Open::Call);
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
