//! A streamed answer on its way to the client, whatever the dialects.

use bytes::{Bytes, BytesMut};

use crate::anthropic::MessageStream;
use crate::gemini::ContentStream;
use crate::openai::ChatStream;
use crate::operation::gemini_error;
use crate::responses::ResponseStream;
use crate::sse::EventTooLarge;
use crate::{Dialect, ErrorOut, Misshapen, Progress, StreamTranslation};

/// One streamed answer: passed on as it came and watched, or translated.
#[derive(Debug)]
pub enum AnswerStream {
    /// A chat completion.
    Chat(ChatStream),
    /// A message.
    Message(MessageStream),
    /// A response.
    Response(ResponseStream),
    /// A generation of Google's.
    Content(ContentStream),
    /// From one dialect to another.
    Translated(Box<StreamTranslation>),
}

impl AnswerStream {
    /// Takes a chunk as it came from the wire and appends to `out` what the client gets of it.
    ///
    /// # Errors
    /// [`EventTooLarge`]: the stream cannot be followed any further and has to be ended.
    pub fn push(&mut self, chunk: Bytes, out: &mut BytesMut) -> Result<(), EventTooLarge> {
        match self {
            Self::Chat(stream) => stream.push(chunk, out),
            Self::Message(stream) => stream.push(chunk, out),
            Self::Response(stream) => stream.push(chunk, out),
            Self::Content(stream) => stream.push(chunk, out),
            Self::Translated(stream) => stream.push(chunk, out),
        }
    }

    /// The upstream has closed: appends to `out` what it had not ended.
    pub fn finish(&mut self, out: &mut BytesMut) {
        match self {
            Self::Chat(stream) => stream.finish(out),
            Self::Message(stream) => stream.finish(out),
            Self::Response(stream) => stream.finish(out),
            Self::Content(stream) => stream.finish(out),
            Self::Translated(stream) => stream.finish(out),
        }
    }

    /// Ends the stream with an error of ours: the last that its client reads.
    pub fn break_off(&mut self, error: &ErrorOut<'_>, out: &mut BytesMut) {
        if !out.is_empty() && !ends_an_event(out) {
            // The upstream's last event came without its end; ours must not become a part of it.
            out.extend_from_slice(b"\n\n");
        }
        let event = match self {
            Self::Chat(_) => Dialect::OpenAiChat.error_event(error, 0),
            Self::Message(_) => Dialect::Anthropic.error_event(error, 0),
            Self::Response(stream) => {
                Dialect::OpenAiResponses.error_event(error, stream.sequence_number())
            }
            Self::Content(stream) => return stream.fail(&gemini_error(error), out),
            Self::Translated(stream) => return stream.break_off(error, out),
        };
        out.extend_from_slice(&event);
    }

    /// What was wrong with the form of the answer where it has to have one, once it has come whole.
    pub const fn misshapen(&self) -> Option<&Misshapen> {
        match self {
            Self::Chat(_) | Self::Message(_) | Self::Response(_) | Self::Content(_) => None,
            Self::Translated(stream) => stream.misshapen(),
        }
    }

    /// What has come so far.
    pub const fn progress(&self) -> &Progress {
        match self {
            Self::Chat(stream) => stream.progress(),
            Self::Message(stream) => stream.progress(),
            Self::Response(stream) => stream.progress(),
            Self::Content(stream) => stream.progress(),
            Self::Translated(stream) => stream.progress(),
        }
    }
}

/// Whether `bytes` end with the blank line that ends an event.
fn ends_an_event(bytes: &[u8]) -> bool {
    bytes.ends_with(b"\n\n") || bytes.ends_with(b"\r\n\r\n") || bytes.ends_with(b"\r\r")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_ends_with_a_blank_line_in_any_notation() {
        for bytes in ["data: 1\n\n", "data: 1\r\n\r\n", "data: 1\r\r"] {
            assert!(ends_an_event(bytes.as_bytes()), "{bytes:?}");
        }
        for bytes in ["data: 1", "data: 1\n", "data: 1\r\n", ""] {
            assert!(!ends_an_event(bytes.as_bytes()), "{bytes:?}");
        }
    }
}
