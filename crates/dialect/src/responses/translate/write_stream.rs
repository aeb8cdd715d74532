//! Canonical events as a streamed response.
//!
//! Every item is told as it begins, grows and ends, and all of them again at the end, so that what
//! has been said is kept. One item ends before the next begins, as OpenAI does it: SDKs take what
//! grows for the last item.

mod message;

use bytes::{Bytes, BytesMut};

use super::asked::Asked;
use super::output::{COMPLETED, Content, Item, Response, Summary, status};
use super::seal;
use super::stream_event::{Part, Wire, send, send_end};
use super::write_answer::sealed;
use crate::Usage;
use crate::canonical::seal::before_call;
use crate::canonical::{Event, FinishReason, Stamp};
use crate::openai::logprobs;
use crate::openai::{ErrorOut, error_out};
use crate::responses::error_event;

/// So many bytes of an answer are kept to be told again.
const KEPT_BYTES_MAX: usize = 16 << 20;
/// The longest id or model's name that is passed on.
const NAME_BYTES_MAX: usize = 256;

/// Writes one streamed response.
#[derive(Debug)]
pub struct StreamWriter {
    stamp: Stamp,
    asked: Box<Asked>,
    sequence_number: u64,
    items: Vec<Item>,
    /// Whether the last item grows.
    grows: bool,
    kept_bytes: usize,
    started: bool,
    ended: bool,
}

impl StreamWriter {
    /// A stream that has not begun. The stamp's id and model hold until the provider tells its own.
    pub fn new(stamp: Stamp) -> Self {
        Self {
            asked: Box::new(Asked::of(&stamp.request)),
            stamp: Stamp {
                request: Bytes::new(),
                ..stamp
            },
            sequence_number: 0,
            items: Vec::new(),
            grows: false,
            kept_bytes: 0,
            started: false,
            ended: false,
        }
    }

    /// The number of the event that would come next.
    pub(crate) const fn sequence_number(&self) -> u64 {
        self.sequence_number
    }

    /// Appends what the client gets of `event`, the next in the order that `CallsInOrder` makes. Nothing
    /// comes after an end or an error.
    ///
    /// A sign of life becomes a comment without a blank line, which no SDK takes for an event.
    pub fn write(&mut self, event: &Event, out: &mut BytesMut) {
        if self.ended {
            return;
        }
        match event {
            Event::Ping => return out.extend_from_slice(b": ping\n"),
            Event::Error(error) => return self.fail(&error_out(error), out),
            Event::Start { id, model, .. } => return self.start(id, model, out),
            _ => self.start("", "", out),
        }
        match event {
            Event::Text(text) => self.say(text, Content::text, out),
            Event::Logprobs(told) => self.tell(logprobs::write(told), out),
            Event::Refusal(text) => self.say(text, |refusal| Content::Refusal { refusal }, out),
            Event::Thinking(text) => self.think(text, out),
            Event::Signature(signature) => self.sign(signature, out),
            Event::ThoughtEnds if matches!(self.items.last(), Some(Item::Reasoning { .. })) => {
                self.close(out);
            }
            Event::ThoughtEnds => {}
            Event::SealedThinking(data) => self.seal(data, out),
            Event::ToolCall {
                id,
                name,
                signature,
                ..
            } => {
                // No item of a call has a place for a seal: it stands before it.
                if let Some(signature) = signature {
                    self.seal(&before_call(signature), out);
                }
                self.call(id, name, out);
            }
            Event::Arguments { text, .. } => self.arguments(text, out),
            Event::CallEnd { .. } => self.close(out),
            Event::End { finish, usage } => self.end(finish, *usage, out),
            Event::Ping | Event::Error(_) | Event::Start { .. } => {}
        }
    }

    fn start(&mut self, id: &str, model: &str, out: &mut BytesMut) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let tell = |place: &mut String, told: &str| {
            if (1..=NAME_BYTES_MAX).contains(&told.len()) {
                told.clone_into(place);
            }
        };
        tell(&mut self.stamp.id, id);
        tell(&mut self.stamp.model, model);
        for kind in ["response.created", "response.in_progress"] {
            let response = Response::new(&self.stamp, &self.asked, &[], None, None);
            let wire = Wire {
                response: Some(&response),
                ..Wire::of(kind)
            };
            send(wire, &mut self.sequence_number, out);
        }
    }

    /// The thought that grows, begun where none does.
    fn open_thought(&mut self, out: &mut BytesMut) {
        if !self.grows || !matches!(self.items.last(), Some(Item::Reasoning { .. })) {
            self.close(out);
            self.begin(Item::thought(&self.stamp.id, self.items.len()), out);
        }
    }

    fn think(&mut self, text: &str, out: &mut BytesMut) {
        self.keep(text.len(), out);
        if text.is_empty() || self.ended {
            return;
        }
        self.open_thought(out);
        let output_index = self.items.len() - 1;
        let Some(Item::Reasoning { id, summary, .. }) = self.items.last_mut() else {
            return;
        };
        let wire = |kind| Wire {
            item_id: Some(id),
            output_index: Some(output_index),
            summary_index: Some(0),
            ..Wire::of(kind)
        };
        if summary.is_empty() {
            let text = String::new();
            summary.push(Summary::SummaryText { text });
            let added = Wire {
                part: summary.last().map(Part::Summary),
                ..wire("response.reasoning_summary_part.added")
            };
            send(added, &mut self.sequence_number, out);
        }
        if let Some(Summary::SummaryText { text: kept }) = summary.last_mut() {
            kept.push_str(text);
        }
        let said = Wire {
            delta: Some(text),
            ..wire("response.reasoning_summary_text.delta")
        };
        send(said, &mut self.sequence_number, out);
    }

    /// Seals the thought that grows, which ends it.
    fn sign(&mut self, signature: &str, out: &mut BytesMut) {
        self.keep(signature.len(), out);
        if self.ended {
            return;
        }
        self.open_thought(out);
        if let Some(Item::Reasoning {
            encrypted_content, ..
        }) = self.items.last_mut()
        {
            *encrypted_content = Some(seal::of_thought(signature));
        }
        self.close(out);
    }

    /// An item of thoughts that are not shown.
    fn seal(&mut self, data: &str, out: &mut BytesMut) {
        self.close(out);
        self.keep(data.len(), out);
        let item = sealed(data, &self.stamp.id, self.items.len());
        self.begin(item, out);
        self.close(out);
    }

    fn call(&mut self, id: &str, name: &str, out: &mut BytesMut) {
        self.keep(id.len() + name.len(), out);
        if self.ended {
            return;
        }
        self.close(out);
        let at = self.items.len();
        self.begin(Item::call(&self.stamp.id, at, id, name), out);
    }

    fn arguments(&mut self, text: &str, out: &mut BytesMut) {
        self.keep(text.len(), out);
        if self.ended {
            return;
        }
        let at = self.items.len().saturating_sub(1);
        if let Some(Item::FunctionCall { id, arguments, .. }) = self.items.last_mut() {
            arguments.push_str(text);
            let more = Wire {
                item_id: Some(id),
                output_index: Some(at),
                delta: Some(text),
                ..Wire::of("response.function_call_arguments.delta")
            };
            send(more, &mut self.sequence_number, out);
        }
    }

    fn end(&mut self, finish: &FinishReason, usage: Option<Usage>, out: &mut BytesMut) {
        self.close_last(status(finish).0, out);
        self.ended = true;
        let response = Response::new(&self.stamp, &self.asked, &self.items, Some(finish), usage);
        let kind = if response.is_incomplete() {
            "response.incomplete"
        } else {
            "response.completed"
        };
        let wire = Wire {
            response: Some(&response),
            ..Wire::of(kind)
        };
        send(wire, &mut self.sequence_number, out);
    }

    /// Begins an item, after all others.
    fn begin(&mut self, item: Item, out: &mut BytesMut) {
        if self.ended {
            return;
        }
        self.grows = true;
        let added = Wire {
            output_index: Some(self.items.len()),
            item: Some(&item),
            ..Wire::of("response.output_item.added")
        };
        send(added, &mut self.sequence_number, out);
        self.items.push(item);
    }

    /// Ends the item that grows, where there is one.
    fn close(&mut self, out: &mut BytesMut) {
        self.close_last(COMPLETED, out);
    }

    /// Ends the item that grows with that status.
    fn close_last(&mut self, end: &'static str, out: &mut BytesMut) {
        if !std::mem::take(&mut self.grows) {
            return;
        }
        self.close_content(out);
        let at = self.items.len().saturating_sub(1);
        if let Some(item) = self.items.last_mut() {
            item.complete(end);
            send_end(item, at, &mut self.sequence_number, out);
        }
    }

    /// Counts what is kept, and ends the stream where that is more than is kept.
    fn keep(&mut self, bytes: usize, out: &mut BytesMut) {
        self.kept_bytes += bytes;
        if self.kept_bytes > KEPT_BYTES_MAX {
            self.items.clear();
            let error = ErrorOut {
                message: "the provider's answer is too long to be told again at its end",
                kind: "api_error",
                code: "upstream_error",
                param: None,
            };
            self.fail(&error, out);
        }
    }

    fn fail(&mut self, error: &ErrorOut<'_>, out: &mut BytesMut) {
        if !std::mem::replace(&mut self.ended, true) {
            out.extend_from_slice(&error_event(error, self.sequence_number));
        }
    }
}
