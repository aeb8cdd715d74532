//! How the events of a stream are told apart on the wire, whatever they say.

use crate::answer::Frame;
use crate::dialect::Framing;
use crate::fault::Fault;

use super::{eventstream, sse};

/// Where in its stream an event stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    First,
    Within,
    /// The last one, whose end may be missing.
    Last,
    /// The first and the last one.
    Only,
}

impl Place {
    /// The place after `sent` events of one that is, or is not, the last.
    pub(super) fn after(sent: usize, last: bool) -> Self {
        match (sent, last) {
            (0, true) => Self::Only,
            (_, true) => Self::Last,
            (0, false) => Self::First,
            (_, false) => Self::Within,
        }
    }

    /// Whether others follow.
    pub(super) fn is_last(self) -> bool {
        matches!(self, Self::Last | Self::Only)
    }
}

/// The type of the body.
pub(super) fn content_type(framing: Framing) -> &'static str {
    match framing {
        Framing::Events => "text/event-stream; charset=utf-8",
        Framing::Array => "application/json; charset=UTF-8",
        Framing::Binary => "application/vnd.amazon.eventstream",
    }
}

/// One event.
pub(super) fn event(framing: Framing, fault: &Fault, frame: &Frame, place: Place) -> Vec<u8> {
    match framing {
        Framing::Events => sse::event(fault, frame.name, &frame.data, place).into_bytes(),
        Framing::Binary => eventstream::event(frame.name.unwrap_or_default(), &frame.data),
        Framing::Array => {
            let before = match place {
                Place::First | Place::Only => "[",
                Place::Within | Place::Last => ",\r\n",
            };
            let after = if place.is_last() { "]\n" } else { "" };
            format!("{before}{}{after}", frame.data).into_bytes()
        }
    }
}

/// An error after `sent` events, with which the stream ends.
pub(super) fn error(framing: Framing, fault: &Fault, frame: &Frame, sent: usize) -> Vec<u8> {
    match framing {
        Framing::Events | Framing::Array => event(framing, fault, frame, Place::after(sent, true)),
        Framing::Binary => eventstream::exception(frame.name.unwrap_or_default(), &frame.data),
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
        // White space between two items, or before the first.
        Framing::Array => b"\n".to_vec(),
        Framing::Binary => Vec::new(),
    }
}
