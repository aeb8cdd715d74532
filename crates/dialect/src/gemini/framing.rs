//! The two forms in which a client may get a stream: events, or the elements of one JSON array.
//!
//! A client that asks with `alt=sse` gets events; one that does not gets an array, which is whole
//! JSON once it is over. Providers are always asked for events.

use bytes::BytesMut;

/// How the chunks of a stream are parted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Framing {
    /// Each is an event.
    #[default]
    Events,
    /// Each is an element of an array.
    Array,
}

impl Framing {
    /// What keeps a connection alive and means nothing: a blank line. No comment, since Google's own
    /// SDK takes every line that is not data for JSON and fails at it.
    /// (<https://github.com/googleapis/python-genai>, `_RawJsonLineBuffer`)
    pub const KEEP_ALIVE: &'static [u8] = b"\n";

    /// The content type of such a stream.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream; charset=utf-8",
            Self::Array => "application/json; charset=UTF-8",
        }
    }
}

/// Puts chunks into their form.
#[derive(Debug)]
pub(super) struct Frames {
    framing: Framing,
    begun: bool,
    closed: bool,
}

impl Frames {
    pub(super) const fn new(framing: Framing) -> Self {
        Self {
            framing,
            begun: false,
            closed: false,
        }
    }

    pub(super) const fn framing(&self) -> Framing {
        self.framing
    }

    /// Appends the chunk `json`, an object. Nothing comes after the end.
    ///
    /// An event ends at an empty line and a line is all of its data that SDKs read, so that it has to be one line: what a model wrote
    /// as arguments may hold more.
    pub(super) fn chunk(&mut self, json: &[u8], out: &mut BytesMut) {
        if self.closed {
            return;
        }
        match self.framing {
            Framing::Events => {
                out.extend_from_slice(b"data: ");
                // No string of JSON holds a bare line end: between its tokens one means nothing.
                for line in json.split(|byte| matches!(byte, b'\n' | b'\r')) {
                    out.extend_from_slice(line);
                }
                out.extend_from_slice(b"\n\n");
            }
            Framing::Array => {
                let begun = std::mem::replace(&mut self.begun, true);
                out.extend_from_slice(if begun { b",\n" } else { b"[" });
                out.extend_from_slice(json);
            }
        }
    }

    /// Appends what ends the stream, once.
    pub(super) fn close(&mut self, out: &mut BytesMut) {
        let closed = std::mem::replace(&mut self.closed, true);
        if !closed && self.framing == Framing::Array {
            out.extend_from_slice(if self.begun { b"]\n" } else { b"[]\n" });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(framing: Framing, chunks: &[&str]) -> String {
        let mut frames = Frames::new(framing);
        let mut out = BytesMut::new();
        for chunk in chunks {
            out.extend_from_slice(Framing::KEEP_ALIVE);
            frames.chunk(chunk.as_bytes(), &mut out);
        }
        frames.close(&mut out);
        frames.chunk(b"{}", &mut out);
        frames.close(&mut out);
        String::from_utf8(out.to_vec()).expect("text")
    }

    #[test]
    fn an_array_is_whole_json() {
        for chunks in [&[][..], &["{}"], &["{\"a\":1}", "{}", "{}"]] {
            let said = framed(Framing::Array, chunks);
            let read: Vec<serde_json::Value> = serde_json::from_str(&said).expect("JSON");
            assert_eq!(read.len(), chunks.len(), "{said}");
        }
    }

    #[test]
    fn an_event_is_one_line() {
        let chunk = "{\"args\":{\r\n  \"a\":\r1,\n\n\"b\": \"\\n\"}}";
        let expected = "\ndata: {\"args\":{  \"a\":1,\"b\": \"\\n\"}}\n\n";
        assert_eq!(framed(Framing::Events, &[chunk]), expected);
    }

    #[test]
    fn events_stand_for_themselves() {
        let expected = "\ndata: {\"a\":1}\n\n\ndata: {}\n\n";
        assert_eq!(framed(Framing::Events, &["{\"a\":1}", "{}"]), expected);
    }
}
