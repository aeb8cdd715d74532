//! How the events of a stream are told apart on the wire, whatever they say.

use crate::answer::Frame;
use crate::dialect::Framing;
use crate::fault::Fault;

use super::sse;

/// Where in its stream an event stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    First,
    Within,
    /// The last one, whose end may be missing.
    Last,
}

/// The type of the body.
pub(super) fn content_type(framing: Framing) -> &'static str {
    match framing {
        Framing::Events => "text/event-stream; charset=utf-8",
    }
}

/// One event.
pub(super) fn event(framing: Framing, fault: &Fault, frame: &Frame, place: Place) -> Vec<u8> {
    match framing {
        Framing::Events => sse::event(fault, frame.name, &frame.data, place).into_bytes(),
    }
}

/// An error after `sent` events, with which the stream ends.
pub(super) fn error(framing: Framing, fault: &Fault, frame: &Frame, _sent: usize) -> Vec<u8> {
    match framing {
        Framing::Events => event(framing, fault, frame, Place::Last),
    }
}

/// OpenAI's mark of a proper end.
pub(super) fn done(fault: &Fault) -> Vec<u8> {
    sse::event(fault, None, "[DONE]", Place::Last).into_bytes()
}

/// What is sent while there is nothing to say; not every framing has a word for it.
pub(super) fn keep_alive(framing: Framing, fault: &Fault) -> Vec<u8> {
    match framing {
        Framing::Events => sse::comment(fault).into_bytes(),
    }
}
