//! What a stream has brought so far, whatever its dialect.

use crate::Usage;
use crate::json::{Cursor, Piece};
use crate::upstream_error::UpstreamError;

/// What a stream has brought so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Chunks with output in them: text, reasoning, a refusal, a tool call.
    pub content_events: u64,
    /// Bytes of that output in UTF-8, with JSON escapes undone.
    pub output_bytes: u64,
    /// Characters of that output.
    pub output_chars: u64,
    /// Whether a choice said why it ended.
    pub finished: bool,
    /// Whether a choice ended because it reached its maximum.
    pub cut: bool,
    /// Whether the event came that ends every whole stream: `[DONE]`, `message_stop`.
    pub done: bool,
    /// The last usage that was told. Where every chunk tells one it is cumulative: the last holds
    /// all. Anthropic tells the input first, so that until `finished` the output of it means little.
    pub usage: Option<Usage>,
    /// The first error that came inside the stream.
    pub error: Option<UpstreamError>,
}

impl Progress {
    /// Whether any output has come: what was sent until then can still be taken back.
    pub const fn has_content(&self) -> bool {
        self.content_events > 0
    }

    /// Whether a stream that ends now is whole.
    pub const fn is_complete(&self) -> bool {
        (self.finished || self.done) && self.error.is_none()
    }

    /// Counts the string at hand as output.
    pub(crate) fn count_text(&mut self, cursor: &mut Cursor<'_>) {
        cursor.pieces(|piece| match piece {
            Piece::Plain(text) => {
                let continuations = text.iter().filter(|byte| **byte & 0xc0 == 0x80).count();
                self.output_bytes += text.len() as u64;
                self.output_chars += (text.len() - continuations) as u64;
            }
            Piece::Escaped(character) => {
                self.output_bytes += character.len_utf8() as u64;
                self.output_chars += 1;
            }
        });
    }
}
