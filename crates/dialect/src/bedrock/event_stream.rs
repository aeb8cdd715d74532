//! Streams of binary frames (`application/vnd.amazon.eventstream`), taken apart.
//!
//! A frame is its length, the length of its headers, a checksum of these two, headers, payload and a
//! checksum of all before. (<https://smithy.io/2.0/aws/amazon-eventstream.html>) Where chunks break
//! does not matter. A frame that is too long is known by its length, before anything is kept for it.
//! The provider's own decoder brings half of its SDK with it and has no bound; this is what is left
//! of it when only strings among the headers are read.

use bytes::{Bytes, BytesMut};

use crate::sse::EVENT_BYTES_MAX;

/// The length, that of the headers and their checksum.
const PRELUDE_BYTES: usize = 12;
/// The checksum at the end.
const CHECKSUM_BYTES: usize = 4;

/// Takes a stream apart into frames.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    held: BytesMut,
    /// No frame can be found any more.
    broken: bool,
}

/// One frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Frame {
    headers: Vec<(String, String)>,
    pub(super) payload: Bytes,
}

/// Why no more frames come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Broken {
    /// A frame is longer than [`EVENT_BYTES_MAX`].
    TooLarge,
    /// A checksum is wrong, or lengths contradict each other.
    Damaged,
}

impl Frame {
    /// The header of that name, if it is a string.
    pub(super) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(it, _)| it == name);
        found.map_or("", |(_, value)| value)
    }
}

impl Decoder {
    pub(super) fn push(&mut self, chunk: &[u8]) {
        if !self.broken {
            self.held.extend_from_slice(chunk);
        }
    }

    /// The next frame that is complete.
    ///
    /// # Errors
    /// [`Broken`], once; nothing comes after it.
    pub(super) fn next_frame(&mut self) -> Result<Option<Frame>, Broken> {
        let next = self.take();
        if next.is_err() {
            self.broken = true;
            self.held = BytesMut::new();
        }
        next
    }

    fn take(&mut self) -> Result<Option<Frame>, Broken> {
        if self.held.len() < PRELUDE_BYTES {
            return Ok(None);
        }
        let total = size_at(&self.held, 0);
        let headers = size_at(&self.held, 4);
        if word_at(&self.held, 8) != crc32fast::hash(&self.held[..8]) {
            return Err(Broken::Damaged);
        }
        if total > EVENT_BYTES_MAX {
            return Err(Broken::TooLarge);
        }
        // Both are below 2^32, so that the sum cannot overflow where a usize has 64 bits; where it has
        // 32, the bound on the total comes first.
        if headers > total || headers + PRELUDE_BYTES + CHECKSUM_BYTES > total {
            return Err(Broken::Damaged);
        }
        if self.held.len() < total {
            return Ok(None);
        }
        let mut frame = self.held.split_to(total).freeze();
        let told = word_at(&frame, total - CHECKSUM_BYTES);
        if told != crc32fast::hash(&frame[..total - CHECKSUM_BYTES]) {
            return Err(Broken::Damaged);
        }
        frame.truncate(total - CHECKSUM_BYTES);
        let payload = frame.split_off(PRELUDE_BYTES + headers);
        let headers = strings(&frame[PRELUDE_BYTES..]).ok_or(Broken::Damaged)?;
        Ok(Some(Frame { headers, payload }))
    }
}

/// The headers that are strings; `None` where the bytes are no headers.
fn strings(mut bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    while let Some((&length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(length))?;
        let (&kind, rest) = rest.split_first()?;
        let (length, rest) = match kind {
            0 | 1 => (0, rest),
            2 => (1, rest),
            3 => (2, rest),
            4 => (4, rest),
            5 | 8 => (8, rest),
            9 => (16, rest),
            6 | 7 => {
                let (length, rest) = rest.split_first_chunk()?;
                (usize::from(u16::from_be_bytes(*length)), rest)
            }
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        if kind == STRING {
            let text = |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned);
            found.push((text(name)?, text(value)?));
        }
        bytes = rest;
    }
    Some(found)
}

/// The type of a header that is a string.
const STRING: u8 = 7;

fn word_at(bytes: &[u8], at: usize) -> u32 {
    let word = bytes[at..].first_chunk();
    u32::from_be_bytes(*word.expect("callers name a place with four bytes"))
}

fn size_at(bytes: &[u8], at: usize) -> usize {
    usize::try_from(word_at(bytes, at)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As botocore reads it.
    const START: &[u8] = b"\x00\x00\x00v\x00\x00\x00R\x96\xd5\xfa\xde\x0b:event-type\x07\x00\x0cmessageStart\x0d:content-type\x07\x00\x10application/json\x0d:message-type\x07\x00\x05event{\"role\":\"assistant\"}o\xa8\xc5\x99";

    fn decoded<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> (usize, Option<Broken>) {
        let mut decoder = Decoder::default();
        let mut frames = 0;
        for chunk in chunks {
            decoder.push(chunk);
            loop {
                match decoder.next_frame() {
                    Ok(Some(frame)) => {
                        assert_eq!(frame.header(":event-type"), "messageStart");
                        assert_eq!(frame.header(":message-type"), "event");
                        assert_eq!(frame.header(":nothing"), "");
                        assert_eq!(frame.payload, &br#"{"role":"assistant"}"#[..]);
                        frames += 1;
                    }
                    Ok(None) => break,
                    Err(broken) => return (frames, Some(broken)),
                }
            }
        }
        (frames, None)
    }

    fn framed(headers: &[u8], payload: &[u8]) -> Vec<u8> {
        let word = |number: usize| u32::try_from(number).expect("it is small").to_be_bytes();
        let total = PRELUDE_BYTES + headers.len() + payload.len() + CHECKSUM_BYTES;
        let mut frame = [word(total), word(headers.len())].concat();
        frame.extend(crc32fast::hash(&frame).to_be_bytes());
        frame.extend([headers, payload].concat());
        frame.extend(crc32fast::hash(&frame).to_be_bytes());
        frame
    }

    #[test]
    fn chunks_may_break_anywhere() {
        let two = [START, START].concat();
        assert_eq!(decoded([&two[..]]), (2, None));
        assert_eq!(decoded(two.chunks(1)), (2, None));
        for at in 0..two.len() {
            assert_eq!(decoded([&two[..at], &two[at..]]), (2, None), "cut at {at}");
        }
    }

    #[test]
    fn one_wrong_byte_is_found_wherever_it_is() {
        for at in 0..START.len() {
            let mut damaged = START.to_vec();
            damaged[at] ^= 0x40;
            let (frames, broken) = decoded([&damaged[..]]);
            assert_eq!((frames, broken), (0, Some(Broken::Damaged)), "byte {at}");
        }
    }

    #[test]
    fn a_long_frame_is_refused_by_its_length() {
        let mut prelude = [0x00, 0x10, 0x00, 0x01, 0, 0, 0, 0].to_vec();
        prelude.extend(crc32fast::hash(&prelude).to_be_bytes());
        assert_eq!(decoded([&prelude[..]]), (0, Some(Broken::TooLarge)));
        let mut decoder = Decoder::default();
        decoder.push(&prelude);
        assert_eq!(decoder.next_frame(), Err(Broken::TooLarge));
        decoder.push(START);
        assert_eq!(decoder.next_frame(), Ok(None), "nothing is kept");
        assert!(decoder.held.is_empty());
    }

    #[test]
    fn lengths_that_contradict_each_other_are_damage() {
        for (total, headers) in [(15_u32, 0_u32), (16, 1), (20, u32::MAX), (0, 0)] {
            let mut prelude = [total.to_be_bytes(), headers.to_be_bytes()].concat();
            prelude.extend(crc32fast::hash(&prelude).to_be_bytes());
            prelude.extend([0; 32]);
            let (_, broken) = decoded([&prelude[..]]);
            assert_eq!(broken, Some(Broken::Damaged), "{total} {headers}");
        }
    }

    #[test]
    fn headers_of_other_types_are_passed_over() {
        let headers = [
            &b"\x01a\x00\x01b\x02\x07\x01c\x03\x00\x07\x01d\x04\0\0\0\x07"[..],
            b"\x01e\x05\0\0\0\0\0\0\0\x07\x01f\x06\0\x02xy\x01g\x08\0\0\0\0\0\0\0\x07",
            b"\x01h\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07",
            b"\x01i\x07\0\x02it",
        ]
        .concat();
        let mut decoder = Decoder::default();
        decoder.push(&framed(&headers, b""));
        let frame = decoder
            .next_frame()
            .expect("it is whole")
            .expect("it is there");
        assert_eq!(frame.headers, [("i".to_owned(), "it".to_owned())]);
        for junk in [
            &b"\x05ab"[..],
            b"\x01a",
            b"\x01a\x0a",
            b"\x01a\x07\0\x09x",
            b"\x01\xff\x07\0\0",
        ] {
            decoder.push(&framed(junk, b""));
            assert_eq!(decoder.next_frame(), Err(Broken::Damaged), "{junk:?}");
            decoder = Decoder::default();
        }
    }
}
