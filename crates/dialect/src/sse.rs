//! Event streams (`text/event-stream`), taken apart without changing a byte.
//!
//! A stream is passed on while it is read, so every event comes out as the exact bytes that came
//! in, and the concatenation of all of them is the stream. Where chunks break does not matter, in
//! the middle of a character or of a CRLF neither. Comments and blank lines between events come out
//! at once, since they keep connections alive.

use std::fmt;
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

/// The longest event that is accepted where no other length is named, in bytes.
pub const EVENT_BYTES_MAX: usize = 1 << 20;

/// The longest event of a dialect that tells media or a whole answer in one, in bytes: an image has a few million.
pub(crate) const LONG_EVENT_BYTES_MAX: usize = 16 << 20;

/// Takes a stream apart into events.
///
/// A carriage return at the end of a chunk waits for the next one, as it may be half of a line end.
#[derive(Debug)]
pub struct Decoder {
    /// The chunk at hand: its events are slices of it.
    chunk: Bytes,
    /// The beginning of an event that the last chunk did not end. While it holds anything, `chunk`
    /// is empty.
    partial: BytesMut,
    scan: Scan,
    begun: bool,
    event_bytes_max: usize,
}

/// One event, comment or blank line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its bytes, the line end that ends it included.
    pub raw: Bytes,
    data: Option<Data>,
    name: Option<Range<usize>>,
}

/// An event longer than is accepted: the stream cannot be followed any further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventTooLarge;

impl Default for Decoder {
    fn default() -> Self {
        Self::for_events_up_to(EVENT_BYTES_MAX)
    }
}

impl Decoder {
    /// A decoder that accepts events of so many bytes.
    pub fn for_events_up_to(event_bytes_max: usize) -> Self {
        Self {
            chunk: Bytes::new(),
            partial: BytesMut::new(),
            scan: Scan::default(),
            begun: false,
            event_bytes_max,
        }
    }

    /// Takes the next chunk. Ask [`next_event`](Self::next_event) for all that it ended before
    /// pushing another.
    pub fn push(&mut self, chunk: Bytes) {
        if self.partial.is_empty() && self.chunk.is_empty() {
            self.chunk = chunk;
        } else {
            self.keep_partial();
            self.partial.extend_from_slice(&chunk);
        }
    }

    /// The next event that is complete.
    ///
    /// # Errors
    /// [`EventTooLarge`], now and for ever.
    pub fn next_event(&mut self) -> Result<Option<Event>, EventTooLarge> {
        let whole = self.partial.is_empty();
        let bytes: &[u8] = if whole { &self.chunk } else { &self.partial };
        let Some(end) = self.scan.find_end(bytes) else {
            let length = bytes.len();
            self.keep_partial();
            return if length > self.event_bytes_max {
                Err(EventTooLarge)
            } else {
                Ok(None)
            };
        };
        if end > self.event_bytes_max {
            return Err(EventTooLarge);
        }
        self.scan = Scan::default();
        let raw = if whole {
            self.chunk.split_to(end)
        } else {
            self.partial.split_to(end).freeze()
        };
        Ok(Some(self.event(raw)))
    }

    /// What is left when the stream has ended: a last event whose blank line is missing.
    pub fn finish(&mut self) -> Option<Event> {
        self.keep_partial();
        self.scan = Scan::default();
        let raw = self.partial.split().freeze();
        (!raw.is_empty()).then(|| self.event(raw))
    }

    fn event(&mut self, raw: Bytes) -> Event {
        let begins_stream = !std::mem::replace(&mut self.begun, true);
        let mark = begins_stream && raw.starts_with(BYTE_ORDER_MARK);
        Event::parse(raw, if mark { BYTE_ORDER_MARK.len() } else { 0 })
    }

    fn keep_partial(&mut self) {
        if !self.chunk.is_empty() {
            self.partial
                .extend_from_slice(&std::mem::take(&mut self.chunk));
        }
    }
}

impl Event {
    /// Its data: the values of its `data` fields, joined by line feeds. `None` for a comment or a
    /// blank line.
    pub fn data(&self) -> Option<&[u8]> {
        match self.data.as_ref()? {
            Data::Line(range) => Some(&self.raw[range.clone()]),
            Data::Joined(data) => Some(data),
        }
    }

    /// The value of its last `event` field.
    pub fn name(&self) -> Option<&[u8]> {
        self.name.clone().map(|range| &self.raw[range])
    }

    /// Writes the event with `remove`, a part of its data, left out.
    pub(crate) fn write_without(&self, remove: &Range<usize>, out: &mut BytesMut) {
        match &self.data {
            Some(Data::Line(range)) => {
                out.extend_from_slice(&self.raw[..range.start + remove.start]);
                out.extend_from_slice(&self.raw[range.start + remove.end..]);
            }
            Some(Data::Joined(data)) => {
                for (line, end) in Lines::new(&self.raw, 0) {
                    if !line.is_empty() && field(&self.raw, &line).0 != b"data" {
                        out.extend_from_slice(&self.raw[line.start..end]);
                    }
                }
                let edited = [&data[..remove.start], &data[remove.end..]].concat();
                for line in edited.split(|byte| *byte == b'\n') {
                    out.extend_from_slice(b"data: ");
                    out.extend_from_slice(line);
                    out.extend_from_slice(b"\n");
                }
                out.extend_from_slice(b"\n");
            }
            None => out.extend_from_slice(&self.raw),
        }
    }

    fn parse(raw: Bytes, start: usize) -> Self {
        let mut data: Option<Data> = None;
        let mut name = None;
        for (line, _) in Lines::new(&raw, start) {
            let (key, value) = field(&raw, &line);
            match key {
                b"data" => {
                    data = Some(match data {
                        None => Data::Line(value),
                        Some(before) => before.joined(&raw, value),
                    });
                }
                b"event" => name = Some(value),
                _ => {}
            }
        }
        Self { raw, data, name }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Data {
    Line(Range<usize>),
    Joined(Vec<u8>),
}

impl Data {
    fn joined(self, raw: &[u8], line: Range<usize>) -> Self {
        let mut data = match self {
            Self::Line(first) => raw[first].to_vec(),
            Self::Joined(data) => data,
        };
        data.push(b'\n');
        data.extend_from_slice(&raw[line]);
        Self::Joined(data)
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How far the search for an event's end has come, so that no byte is looked at twice.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    at: usize,
    line_start: usize,
    has_fields: bool,
}

impl Scan {
    /// Behind the first event, comment or blank line of `bytes`, which begin where an event may.
    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        loop {
            let Some((line_end, next)) = line_end(bytes, self.at) else {
                let held = bytes.last() == Some(&b'\r');
                self.at = bytes.len() - usize::from(held && !bytes.is_empty());
                return None;
            };
            let line = &bytes[self.line_start..line_end];
            let comment_alone = !self.has_fields && line.first() == Some(&b':');
            if line.is_empty() || comment_alone {
                return Some(next);
            }
            *self = Self {
                at: next,
                line_start: next,
                has_fields: true,
            };
        }
    }
}

/// Where the line at `from` ends and where the next one begins. `None` where that cannot be told
/// yet.
fn line_end(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let end = from + memchr2(b'\n', b'\r', bytes.get(from..)?)?;
    match (bytes[end], bytes.get(end + 1)) {
        (b'\r', None) => None,
        (b'\r', Some(b'\n')) => Some((end, end + 2)),
        _ => Some((end, end + 1)),
    }
}

/// The lines of a whole event, each with the place behind its end.
struct Lines<'r> {
    raw: &'r [u8],
    at: usize,
}

impl<'r> Lines<'r> {
    const fn new(raw: &'r [u8], at: usize) -> Self {
        Self { raw, at }
    }
}

impl Iterator for Lines<'_> {
    type Item = (Range<usize>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.raw.len() {
            return None;
        }
        let start = self.at;
        let (end, next) = line_end(self.raw, start).unwrap_or_else(|| {
            let length = self.raw.len();
            (length - usize::from(self.raw.ends_with(b"\r")), length)
        });
        self.at = next;
        Some((start..end, next))
    }
}

/// The field's name and where its value stands. A comment's name is empty.
fn field<'r>(raw: &'r [u8], line: &Range<usize>) -> (&'r [u8], Range<usize>) {
    let text = &raw[line.clone()];
    let Some(colon) = memchr::memchr(b':', text) else {
        return (text, line.end..line.end);
    };
    let space = usize::from(text.get(colon + 1) == Some(&b' '));
    (&text[..colon], line.start + colon + 1 + space..line.end)
}

impl fmt::Display for EventTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an event of the stream is longer than any that is accepted"
        )
    }
}

impl std::error::Error for EventTooLarge {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(chunks: impl IntoIterator<Item = Bytes>) -> Vec<Event> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.push(chunk);
            while let Some(event) = decoder.next_event().expect("no event is too large") {
                events.push(event);
            }
        }
        events.extend(decoder.finish());
        events
    }

    fn datas(stream: &str) -> Vec<Option<String>> {
        let text = |data: &[u8]| String::from_utf8(data.to_vec()).expect("text");
        let events = decode([Bytes::copy_from_slice(stream.as_bytes())]);
        events.iter().map(|event| event.data().map(text)).collect()
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn an_event_is_its_data_lines_joined() {
        assert_eq!(
            datas("data: a\n\ndata:b\r\n\r\ndata\r\r"),
            [some("a"), some("b"), some("")]
        );
        assert_eq!(datas("data: {\"a\":\ndata: 1}\n\n"), [some("{\"a\":\n1}")]);
        assert_eq!(
            datas("id: 7\nevent: error\ndata:  two spaces\n: c\n\n"),
            [some(" two spaces")]
        );
        assert_eq!(datas("\u{feff}data: a\n\n"), [some("a")]);
    }

    #[test]
    fn the_last_event_needs_no_blank_line() {
        assert_eq!(datas("data: a\n\ndata: b"), [some("a"), some("b")]);
        assert_eq!(datas("data: b\r"), [some("b")]);
        assert_eq!(datas(""), []);
    }

    #[test]
    fn comments_and_blank_lines_do_not_wait() {
        let mut decoder = Decoder::default();
        decoder.push(Bytes::from_static(b": ping\n"));
        let event = decoder.next_event().expect("small").expect("complete");
        assert_eq!((&event.raw[..], event.data()), (&b": ping\n"[..], None));
        assert_eq!(datas("\n: x\n\ndata: a\n\n"), [None, None, None, some("a")]);
    }

    #[test]
    fn the_last_name_counts() {
        let events = decode([Bytes::from_static(b"event: a\nevent: error\ndata: x\n\n")]);
        assert_eq!(events[0].name(), Some(&b"error"[..]));
    }

    #[test]
    fn whole_events_of_a_chunk_are_not_copied() {
        let chunk = Bytes::from_static(b"data: a\n\ndata: b\n\n");
        let mut decoder = Decoder::default();
        decoder.push(chunk.clone());
        let event = decoder.next_event().expect("small").expect("complete");
        assert_eq!(event.raw.as_ptr(), chunk.as_ptr());
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut decoder = Decoder::default();
        let chunk = Bytes::from(vec![b'x'; 64 * 1024]);
        let mut pushed = 0;
        let refused = loop {
            decoder.push(chunk.clone());
            pushed += chunk.len();
            match decoder.next_event() {
                Ok(event) => assert_eq!(event, None),
                Err(error) => break error,
            }
        };
        assert_eq!(refused, EventTooLarge);
        assert_eq!(pushed, EVENT_BYTES_MAX + chunk.len());
    }

    #[test]
    fn data_over_several_lines_can_be_shortened() {
        let events = decode([Bytes::from_static(
            b"id: 1\r\ndata: {\"u\":1,\r\ndata: \"a\":2}\r\n\r\n",
        )]);
        let mut out = BytesMut::new();
        events[0].write_without(&(1..7), &mut out);
        assert_eq!(&out[..], b"id: 1\r\ndata: {\ndata: \"a\":2}\n\n");
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            lines in prop::collection::vec("(data: ?[a-z한😀{}]{0,9}|: ?ka|event: x|id|)(\r\n|\r|\n)", 0..20),
            cuts in prop::collection::vec(0_usize..400, 0..12),
        ) {
            let stream = Bytes::from(lines.concat());
            let whole = decode([stream.clone()]);
            let concatenated: Vec<u8> = whole.iter().flat_map(|event| event.raw.to_vec()).collect();
            prop_assert_eq!(&concatenated[..], &stream[..]);

            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.sort_unstable();
            let starts = [0].into_iter().chain(cuts.iter().copied());
            let ends = cuts.iter().copied().chain([stream.len()]);
            let pieces = starts.zip(ends).map(|(start, end)| stream.slice(start..end));
            prop_assert_eq!(&decode(pieces), &whole);

            let bytes = (0..stream.len()).map(|at| stream.slice(at..at + 1));
            prop_assert_eq!(&decode(bytes), &whole);
        }
    }
}
