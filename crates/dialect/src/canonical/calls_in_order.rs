//! One call after the other, and what is said between them in its place.
//!
//! Providers may tell of several calls in turns, and say something before the arguments of a call are
//! complete. Clients read a stream from its front: most dialects end one thing before they begin the
//! next, and SDKs take a call for over when something else begins. So it is put in order here, once
//! for the writers of all dialects. What comes while a call is open is held, in its order, within a bound.

use std::collections::VecDeque;

use sluicegate_catalog::ErrorClass;

use super::arguments::{NO_ARGUMENTS, are_none, could_be_none, cuts};
use super::json_end::JsonEnd;
use super::{Event, FinishReason};
use crate::UpstreamError;

/// So many bytes are held while a call is open.
const HELD_BYTES_MAX: usize = 4 << 20;

/// Events of a reader, in the order in which writers take them.
///
/// Nothing comes between a call's beginning, its arguments and its end. A call without arguments gets
/// those of an empty object. A call that is not told to be over before something else comes was cut,
/// and its arguments are not whole.
#[derive(Debug, Default)]
pub struct CallsInOrder {
    open: Option<Open>,
    held: VecDeque<Held>,
    held_bytes: usize,
    ended: bool,
}

/// The call that is written now.
#[derive(Debug)]
struct Open {
    index: u32,
    /// What has come instead of arguments, as long as that may mean that there are none.
    none: Option<String>,
    end: JsonEnd,
    /// The reader has told that no more comes, which may be because it was cut.
    is_over: bool,
}

/// A call, or what was said, that waits until the call before it is over.
#[derive(Debug)]
struct Held {
    event: Event,
    /// Of a call.
    arguments: String,
    /// Whether no more arguments come.
    is_over: bool,
}

impl CallsInOrder {
    /// Takes the next event and appends to `out` what passes now. Nothing passes after an end or an error.
    pub fn take(&mut self, event: Event, out: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        match event {
            Event::Start { .. } | Event::Ping => out.push(event),
            Event::Error(_) => self.fail(event, out),
            Event::End { ref finish, .. } => {
                self.end(finish, out);
                out.push(event);
            }
            Event::Arguments { index, text } => self.arguments(index, text, out),
            Event::CallEnd { index } => self.call_end(index, out),
            Event::ToolCall { .. }
            | Event::Text(_)
            | Event::Logprobs(_)
            | Event::Thinking(_)
            | Event::Signature(_)
            | Event::ThoughtEnds
            | Event::SealedThinking(_)
            | Event::Refusal(_) => {
                if self.open.as_ref().is_none_or(|open| open.is_over) {
                    self.pass(event, out);
                } else {
                    self.hold(event, out);
                }
            }
        }
    }

    /// Writes what nothing stands before any more.
    fn pass(&mut self, event: Event, out: &mut Vec<Event>) {
        self.close(out);
        if let Event::ToolCall { index, .. } = event {
            self.open = Some(Open {
                index,
                none: Some(String::new()),
                end: JsonEnd::default(),
                is_over: false,
            });
        }
        out.push(event);
    }

    fn arguments(&mut self, index: u32, text: String, out: &mut Vec<Event>) {
        if self.is_open(index) {
            self.write_arguments(text, out);
            self.release(out);
        } else if self.held.iter().any(|held| held.is_call(index)) {
            self.count(text.len(), out);
            if let Some(held) = self.held.iter_mut().find(|held| held.is_call(index)) {
                held.arguments.push_str(&text);
            }
        }
        // What comes for a call that is over could only spoil it.
    }

    fn write_arguments(&mut self, mut text: String, out: &mut Vec<Event>) {
        let Some(open) = &mut self.open else {
            return;
        };
        if let Some(mut none) = open.none.take() {
            none.push_str(&text);
            if could_be_none(&none) {
                open.none = Some(none);
                return;
            }
            text = none;
        }
        let index = open.index;
        open.end.push(&text);
        let is_whole = open.end.is_whole();
        out.push(Event::Arguments { index, text });
        if is_whole {
            self.close(out);
        }
    }

    fn call_end(&mut self, index: u32, out: &mut Vec<Event>) {
        match &mut self.open {
            Some(open) if open.index == index => {
                open.is_over = true;
                self.release(out);
            }
            _ => {
                if let Some(held) = self.held.iter_mut().find(|held| held.is_call(index)) {
                    held.is_over = true;
                }
            }
        }
    }

    fn is_open(&self, index: u32) -> bool {
        self.open.as_ref().is_some_and(|open| open.index == index)
    }

    /// Ends the call that is open, where there is one, for what comes behind it. If it was cut, its
    /// end is not told.
    fn close(&mut self, out: &mut Vec<Event>) {
        let Some(open) = self.open.take() else {
            return;
        };
        let index = open.index;
        if let Some(none) = open.none {
            let text = if are_none(&none) {
                NO_ARGUMENTS.to_owned()
            } else {
                none
            };
            out.push(Event::Arguments { index, text });
        }
        if !open.end.is_open() {
            out.push(Event::CallEnd { index });
        }
    }

    fn hold(&mut self, event: Event, out: &mut Vec<Event>) {
        match (self.held.back_mut().map(|held| &mut held.event), &event) {
            (Some(Event::Text(said)), Event::Text(more))
            | (Some(Event::Thinking(said)), Event::Thinking(more))
            | (Some(Event::Refusal(said)), Event::Refusal(more)) => {
                said.push_str(more);
                self.count(more.len(), out);
            }
            _ => {
                let held = Held {
                    event,
                    arguments: String::new(),
                    is_over: false,
                };
                let bytes = held.bytes();
                self.held.push_back(held);
                self.count(bytes, out);
            }
        }
    }

    /// Counts what is held more, and ends the stream where that is too much.
    fn count(&mut self, bytes: usize, out: &mut Vec<Event>) {
        self.held_bytes += bytes;
        if self.held_bytes > HELD_BYTES_MAX {
            let error = UpstreamError {
                class: ErrorClass::Server,
                status: None,
                code: String::new(),
                kind: String::new(),
                message: "the provider says too much before the arguments of a call are complete to be put in order".to_owned(),
            };
            self.fail(Event::Error(error), out);
        }
    }

    /// Writes what is held, as far as the calls before it are over.
    fn release(&mut self, out: &mut Vec<Event>) {
        while self.open.as_ref().is_none_or(|open| open.is_over) {
            let Some(held) = self.held.pop_front() else {
                return;
            };
            self.write_held(held, out);
        }
    }

    fn write_held(&mut self, held: Held, out: &mut Vec<Event>) {
        self.held_bytes = self.held_bytes.saturating_sub(held.bytes());
        let is_call = matches!(held.event, Event::ToolCall { .. });
        self.pass(held.event, out);
        if is_call {
            self.write_arguments(held.arguments, out);
        }
        if let Some(open) = &mut self.open {
            open.is_over = held.is_over;
        }
    }

    /// Writes all that is held: nothing more comes for any call. Where the end cuts, the last call
    /// has no arguments because it did not come to them.
    fn end(&mut self, finish: &FinishReason, out: &mut Vec<Event>) {
        while let Some(held) = self.held.pop_front() {
            self.write_held(held, out);
        }
        let came_to_none = |open: &Open| matches!(&open.none, Some(none) if none.trim().is_empty());
        if cuts(finish) {
            self.open.take_if(|open| came_to_none(open));
        }
        self.close(out);
        self.ended = true;
    }

    fn fail(&mut self, error: Event, out: &mut Vec<Event>) {
        self.ended = true;
        self.held = VecDeque::new();
        out.push(error);
    }
}

impl Held {
    fn is_call(&self, call: u32) -> bool {
        matches!(self.event, Event::ToolCall { index, .. } if index == call)
    }

    /// What it takes to hold it, nearly.
    fn bytes(&self) -> usize {
        let said = match &self.event {
            Event::ToolCall {
                id,
                name,
                signature,
                ..
            } => id.len() + name.len() + signature.as_ref().map_or(0, String::len),
            Event::Signature(text) | Event::SealedThinking(text) => text.len(),
            Event::Logprobs(told) => size_of_val(told.as_slice()),
            event => event.output().map_or(0, str::len),
        };
        size_of::<Self>() + said + self.arguments.len()
    }
}
