//! A streamed answer on its way to the client, whatever the dialects.

use bytes::{Bytes, BytesMut};

use crate::anthropic::MessageStream;
use crate::openai::ChatStream;
use crate::sse::EventTooLarge;
use crate::{Misshapen, Progress, StreamTranslation};

/// One streamed answer: passed on as it came and watched, or translated.
#[derive(Debug)]
pub enum AnswerStream {
    /// A chat completion.
    Chat(ChatStream),
    /// A message.
    Message(MessageStream),
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
            Self::Translated(stream) => stream.push(chunk, out),
        }
    }

    /// The upstream has closed: appends to `out` what it had not ended.
    pub fn finish(&mut self, out: &mut BytesMut) {
        match self {
            Self::Chat(stream) => stream.finish(out),
            Self::Message(stream) => stream.finish(out),
            Self::Translated(stream) => stream.finish(out),
        }
    }

    /// What was wrong with the form of the answer where it has to have one, once it has come whole.
    pub const fn misshapen(&self) -> Option<&Misshapen> {
        match self {
            Self::Chat(_) | Self::Message(_) => None,
            Self::Translated(stream) => stream.misshapen(),
        }
    }

    /// What has come so far.
    pub const fn progress(&self) -> &Progress {
        match self {
            Self::Chat(stream) => stream.progress(),
            Self::Message(stream) => stream.progress(),
            Self::Translated(stream) => stream.progress(),
        }
    }
}
