//! A stream from one dialect to another, watched on its way.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use sluicegate_catalog::Provider;

use crate::canonical::{Answer, CallsInOrder, Event, FinishReason, Stamp};
use crate::openai::UsageChunk;
use crate::operation::gemini_error;
use crate::output_tally::OutputTally;
use crate::shape::ShapedEvents;
use crate::sse::EventTooLarge;
use crate::{
    Dialect, ErrorOut, Misshapen, Progress, ProviderDialect, Shape, Usage, anthropic, bedrock,
    cohere, gemini, openai, responses,
};

/// One streamed answer, read in the provider's dialect and written in the client's.
///
/// Where chunks break makes no difference to what is written.
#[derive(Debug)]
pub struct StreamTranslation {
    reader: Reader,
    writer: Writer,
    events: Vec<Event>,
    /// What came, and of that what the writer may have now.
    order: CallsInOrder,
    ordered: Vec<Event>,
    /// Where the answer has to have a form, and what of it passes now.
    shaped: Option<ShapedEvents>,
    passing: Vec<Event>,
    progress: Progress,
    /// What the client is told where the provider told no usage: the input, and the texts of the output.
    input_tokens: u64,
    output: OutputTally,
    estimated: bool,
}

impl StreamTranslation {
    /// A stream that has not begun: from `provider`, which speaks `from`, to a client that speaks
    /// `to`. Whether the client sees the usage is up to it only where its dialect says so.
    pub fn new(
        (from, provider): (impl Into<ProviderDialect>, Arc<Provider>),
        to: Dialect,
        stamp: Stamp,
        usage_chunk: UsageChunk,
    ) -> Self {
        Self {
            reader: match from.into() {
                ProviderDialect::Shared(Dialect::OpenAiChat) => {
                    Reader::OpenAiChat(openai::StreamReader::new(provider))
                }
                ProviderDialect::Shared(Dialect::Anthropic) => {
                    Reader::Anthropic(anthropic::StreamReader::new(provider))
                }
                ProviderDialect::Shared(Dialect::OpenAiResponses) => {
                    Reader::OpenAiResponses(responses::StreamReader::new(provider))
                }
                ProviderDialect::Shared(Dialect::Gemini) => {
                    Reader::Gemini(gemini::StreamReader::new(provider))
                }
                ProviderDialect::Bedrock => Reader::Bedrock(bedrock::StreamReader::new(provider)),
                ProviderDialect::Cohere => Reader::Cohere(cohere::StreamReader::new(provider)),
            },
            input_tokens: stamp.input_tokens,
            output: OutputTally::default(),
            estimated: false,
            writer: Writer::new(to, stamp, usage_chunk),
            events: Vec::new(),
            order: CallsInOrder::default(),
            ordered: Vec::new(),
            shaped: None,
            passing: Vec::new(),
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

    /// The same where the answer has to be of that `shape`.
    #[must_use]
    pub fn shaped(mut self, shape: Arc<Shape>) -> Self {
        self.shaped = Some(ShapedEvents::new(shape));
        self
    }

    /// What was wrong with the form of the answer, once it has come whole. The client is told of an
    /// error then.
    pub const fn misshapen(&self) -> Option<&Misshapen> {
        match &self.shaped {
            Some(shaped) => shaped.misshapen(),
            None => None,
        }
    }

    /// Takes a chunk as it came from the wire and appends to `out` what the client gets of it.
    ///
    /// # Errors
    /// [`EventTooLarge`]: the stream cannot be followed any further and has to be ended.
    pub fn push(&mut self, chunk: Bytes, out: &mut BytesMut) -> Result<(), EventTooLarge> {
        let pushed = match &mut self.reader {
            Reader::OpenAiChat(reader) => reader.push(chunk, &mut self.events),
            Reader::Anthropic(reader) => reader.push(chunk, &mut self.events),
            Reader::OpenAiResponses(reader) => reader.push(chunk, &mut self.events),
            Reader::Bedrock(reader) => reader.push(chunk, &mut self.events),
            Reader::Cohere(reader) => reader.push(chunk, &mut self.events),
            Reader::Gemini(reader) => reader.push(chunk, &mut self.events),
        };
        self.write(out);
        pushed
    }

    /// The upstream has closed. A stream that is not complete now was cut: [`break_off`](Self::break_off)
    /// tells the client, unless an error has.
    pub fn finish(&mut self, out: &mut BytesMut) {
        match &mut self.reader {
            Reader::OpenAiChat(reader) => reader.finish(&mut self.events),
            Reader::Anthropic(reader) => reader.finish(&mut self.events),
            Reader::OpenAiResponses(reader) => reader.finish(&mut self.events),
            Reader::Bedrock(reader) => reader.finish(&mut self.events),
            Reader::Cohere(reader) => reader.finish(&mut self.events),
            Reader::Gemini(reader) => reader.finish(&mut self.events),
        }
        self.write(out);
    }

    /// Ends the stream with an error of ours.
    pub fn break_off(&mut self, error: &ErrorOut<'_>, out: &mut BytesMut) {
        self.writer.break_off(error, out);
    }

    /// What has come so far.
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }

    fn write(&mut self, out: &mut BytesMut) {
        for mut event in self.events.drain(..) {
            self.progress.note(&event);
            self.output.add(&event);
            if let Event::End { usage, .. } = &mut event
                && self.progress.usage.is_none()
            {
                *usage = Some(Usage {
                    input_tokens: self.input_tokens,
                    output_tokens: self.output.tokens(),
                    ..Usage::default()
                });
                self.estimated = true;
            }
            self.order.take(event, &mut self.ordered);
            for event in self.ordered.drain(..) {
                match &mut self.shaped {
                    Some(shaped) => shaped.take(event, &mut self.passing),
                    None => self.passing.push(event),
                }
            }
            for event in self.passing.drain(..) {
                self.progress.note_passed(&event);
                if self.estimated && matches!(event, Event::End { .. }) {
                    self.writer.mark_estimate(out);
                }
                self.writer.write(&event, out);
            }
        }
    }
}

#[derive(Debug)]
enum Reader {
    OpenAiChat(openai::StreamReader),
    Anthropic(anthropic::StreamReader),
    OpenAiResponses(responses::StreamReader),
    Bedrock(bedrock::StreamReader),
    Cohere(cohere::StreamReader),
    Gemini(gemini::StreamReader),
}

#[derive(Debug)]
enum Writer {
    OpenAiChat(openai::StreamWriter),
    Anthropic(anthropic::StreamWriter),
    OpenAiResponses(responses::StreamWriter),
    Gemini(gemini::StreamWriter),
}

impl Writer {
    fn new(to: Dialect, stamp: Stamp, usage_chunk: UsageChunk) -> Self {
        match to {
            Dialect::OpenAiChat => Self::OpenAiChat(openai::StreamWriter::new(stamp, usage_chunk)),
            Dialect::Anthropic => Self::Anthropic(anthropic::StreamWriter::new(stamp)),
            Dialect::OpenAiResponses => Self::OpenAiResponses(responses::StreamWriter::new(stamp)),
            Dialect::Gemini => {
                Self::Gemini(gemini::StreamWriter::new(stamp, gemini::Framing::Events))
            }
        }
    }

    fn write(&mut self, event: &Event, out: &mut BytesMut) {
        match self {
            Self::OpenAiChat(writer) => writer.write(event, out),
            Self::Anthropic(writer) => writer.write(event, out),
            Self::OpenAiResponses(writer) => writer.write(event, out),
            Self::Gemini(writer) => writer.write(event, out),
        }
    }

    /// Says of the usage that comes next, if it is told at all, that it is an estimate of ours: in the words of the header that an
    /// answer has which comes whole.
    fn mark_estimate(&mut self, out: &mut BytesMut) {
        match self {
            Self::OpenAiChat(writer) if !writer.tells_usage() => {}
            Self::OpenAiChat(_) | Self::Anthropic(_) | Self::OpenAiResponses(_) => {
                // A comment: no client takes it for an event.
                out.extend_from_slice(b": x-sluicegate-usage: estimate\n");
            }
            // Its SDK takes every line for JSON, and leaves out members that it does not know.
            Self::Gemini(writer) => writer.mark_estimate(),
        }
    }

    /// Ends the stream with an error of ours.
    fn break_off(&mut self, error: &ErrorOut<'_>, out: &mut BytesMut) {
        let event = match self {
            Self::OpenAiChat(_) => Dialect::OpenAiChat.error_event(error, 0),
            Self::Anthropic(_) => Dialect::Anthropic.error_event(error, 0),
            Self::OpenAiResponses(writer) => {
                Dialect::OpenAiResponses.error_event(error, writer.sequence_number())
            }
            Self::Gemini(writer) => return writer.fail(&gemini_error(error), out),
        };
        out.extend_from_slice(&event);
    }
}

/// An answer that came whole as a stream to a client that speaks `to`, in the `framing` that it wants where its dialect has two.
pub(crate) fn write_streamed(
    to: Dialect,
    framing: gemini::Framing,
    answer: Answer,
    stamp: Stamp,
    usage_chunk: UsageChunk,
) -> Bytes {
    let mut writer = Writer::new(to, stamp, usage_chunk);
    if let Writer::Gemini(writer) = &mut writer {
        writer.frame(framing);
    }
    let mut out = BytesMut::new();
    let mut order = CallsInOrder::default();
    let mut ordered = Vec::new();
    for event in answer.into_events() {
        order.take(event, &mut ordered);
    }
    for event in ordered {
        writer.write(&event, &mut out);
    }
    out.freeze()
}

impl Progress {
    /// Takes in what the client gets.
    fn note_passed(&mut self, event: &Event) {
        if event.is_content() {
            self.content_events += 1;
        }
        if let Event::Error(error) = event {
            self.error = Some(error.clone());
        }
    }

    /// Takes in what a reader told.
    fn note(&mut self, event: &Event) {
        if let Some(text) = event.output() {
            self.output_bytes += text.len() as u64;
            self.output_chars += text.chars().count() as u64;
        }
        match event {
            Event::Start { usage, .. } => self.usage = *usage,
            Event::End { finish, usage } => {
                self.finished = true;
                self.done = true;
                self.cut = matches!(finish, FinishReason::Length | FinishReason::ContextFull);
                self.usage = usage.or(self.usage);
            }
            _ => {}
        }
    }
}
