//! A stream from one dialect to another, watched on its way.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use sluicegate_catalog::Provider;

use crate::canonical::{Event, FinishReason, Stamp};
use crate::openai::UsageChunk;
use crate::sse::EventTooLarge;
use crate::{Dialect, Progress, UpstreamError, anthropic, gemini, openai};

/// One streamed answer, read in the provider's dialect and written in the client's.
///
/// Where chunks break makes no difference to what is written.
#[derive(Debug)]
pub struct StreamTranslation {
    reader: Reader,
    writer: Writer,
    events: Vec<Event>,
    progress: Progress,
}

impl StreamTranslation {
    /// A stream that has not begun: from `provider`, which speaks `from`, to a client that speaks
    /// `to`. Whether the client sees the usage is up to it only where its dialect says so.
    pub fn new(
        (from, provider): (Dialect, Arc<Provider>),
        to: Dialect,
        stamp: Stamp,
        usage_chunk: UsageChunk,
    ) -> Self {
        Self {
            reader: match from {
                Dialect::OpenAiChat => Reader::OpenAiChat(openai::StreamReader::new(provider)),
                Dialect::Anthropic => Reader::Anthropic(anthropic::StreamReader::new(provider)),
                Dialect::Gemini => Reader::Gemini(gemini::StreamReader::new(provider)),
            },
            writer: match to {
                Dialect::OpenAiChat => {
                    Writer::OpenAiChat(openai::StreamWriter::new(stamp, usage_chunk))
                }
                Dialect::Anthropic => Writer::Anthropic(anthropic::StreamWriter::new(stamp)),
                Dialect::Gemini => {
                    Writer::Gemini(gemini::StreamWriter::new(stamp, gemini::Framing::Events))
                }
            },
            events: Vec::new(),
            progress: Progress::default(),
        }
    }

    /// The same stream, before it has begun, for a client of Gemini's that wants it in `framing`; no
    /// other dialect has more than one.
    #[must_use]
    pub fn framed(mut self, framing: gemini::Framing) -> Self {
        if let Writer::Gemini(writer) = &mut self.writer {
            writer.frame(framing);
        }
        self
    }

    /// Takes a chunk as it came from the wire and appends to `out` what the client gets of it.
    ///
    /// # Errors
    /// [`EventTooLarge`]: the stream cannot be followed any further and has to be ended.
    pub fn push(&mut self, chunk: Bytes, out: &mut BytesMut) -> Result<(), EventTooLarge> {
        let pushed = match &mut self.reader {
            Reader::OpenAiChat(reader) => reader.push(chunk, &mut self.events),
            Reader::Anthropic(reader) => reader.push(chunk, &mut self.events),
            Reader::Gemini(reader) => reader.push(chunk, &mut self.events),
        };
        self.write(out);
        pushed
    }

    /// The upstream has closed. A stream that is not complete now was cut: [`fail`](Self::fail) tells
    /// the client, unless an error has.
    pub fn finish(&mut self, out: &mut BytesMut) {
        match &mut self.reader {
            Reader::OpenAiChat(reader) => reader.finish(&mut self.events),
            Reader::Anthropic(reader) => reader.finish(&mut self.events),
            Reader::Gemini(reader) => reader.finish(&mut self.events),
        }
        self.write(out);
    }

    /// Ends the stream with an error of ours. Nothing happens to one that has ended.
    pub fn fail(&mut self, error: UpstreamError, out: &mut BytesMut) {
        if !self.progress.done && self.progress.error.is_none() {
            self.events.push(Event::Error(error));
            self.write(out);
        }
    }

    /// What has come so far.
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }

    fn write(&mut self, out: &mut BytesMut) {
        for event in self.events.drain(..) {
            self.progress.note(&event);
            match &mut self.writer {
                Writer::OpenAiChat(writer) => writer.write(&event, out),
                Writer::Anthropic(writer) => writer.write(&event, out),
                Writer::Gemini(writer) => writer.write(&event, out),
            }
        }
    }
}

#[derive(Debug)]
enum Reader {
    OpenAiChat(openai::StreamReader),
    Anthropic(anthropic::StreamReader),
    Gemini(gemini::StreamReader),
}

#[derive(Debug)]
enum Writer {
    OpenAiChat(openai::StreamWriter),
    Anthropic(anthropic::StreamWriter),
    Gemini(gemini::StreamWriter),
}

impl Progress {
    /// Takes in what a reader told.
    fn note(&mut self, event: &Event) {
        if event.is_content() {
            self.content_events += 1;
        }
        match event {
            Event::Text(text)
            | Event::Thinking(text)
            | Event::Refusal(text)
            | Event::Arguments { text, .. }
            | Event::ToolCall { name: text, .. } => {
                self.output_bytes += text.len() as u64;
                self.output_chars += text.chars().count() as u64;
            }
            Event::Start { usage, .. } => self.usage = *usage,
            Event::End { finish, usage } => {
                self.finished = true;
                self.done = true;
                self.cut = matches!(finish, FinishReason::Length | FinishReason::ContextFull);
                self.usage = usage.or(self.usage);
            }
            Event::Error(error) => self.error = Some(error.clone()),
            Event::Ping | Event::Signature(_) | Event::SealedThinking(_) => {}
        }
    }
}
