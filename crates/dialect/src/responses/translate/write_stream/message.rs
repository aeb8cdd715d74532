//! The message that grows in a streamed response: its texts and refusals, part by part.

use bytes::BytesMut;

use super::StreamWriter;
use crate::openai::logprobs::WireLogprob;
use crate::responses::translate::output::{Content, Item};
use crate::responses::translate::stream_event::{Part, Wire, send};

impl StreamWriter {
    /// Goes on with the text, or the refusal, that `part` makes; in a new part where another grows.
    pub(super) fn say(&mut self, text: &str, part: fn(String) -> Content, out: &mut BytesMut) {
        self.keep(text.len(), out);
        if text.is_empty() || self.ended {
            return;
        }
        if !self.grows || !matches!(self.items.last(), Some(Item::Message { .. })) {
            self.close(out);
            self.begin(Item::message(&self.stamp.id, self.items.len()), out);
        }
        let output_index = self.items.len() - 1;
        let begun = part(String::new());
        let is_other =
            |last: &Content| std::mem::discriminant(last) != std::mem::discriminant(&begun);
        let last = self.last_content();
        let is_new = last.is_none_or(is_other);
        if is_new {
            self.close_content(out);
        }
        let Some(Item::Message { id, content, .. }) = self.items.last_mut() else {
            return;
        };
        let kind = match begun {
            Content::OutputText { .. } => "response.output_text.delta",
            Content::Refusal { .. } => "response.refusal.delta",
        };
        let number = &mut self.sequence_number;
        if is_new {
            content.push(begun);
        }
        let content_index = content.len() - 1;
        let wire = |kind| Wire {
            item_id: Some(id),
            output_index: Some(output_index),
            content_index: Some(content_index),
            ..Wire::of(kind)
        };
        if is_new {
            let added = Wire {
                part: content.last().map(Part::Content),
                ..wire("response.content_part.added")
            };
            send(added, number, out);
        }
        match content.last_mut() {
            Some(Content::OutputText { text: kept, .. } | Content::Refusal { refusal: kept }) => {
                kept.push_str(text);
            }
            None => {}
        }
        let said = Wire {
            delta: Some(text),
            logprobs: (kind == "response.output_text.delta").then_some(&[][..]),
            ..wire(kind)
        };
        send(said, number, out);
    }

    /// Tells how likely the tokens of the text that grows were; of none nothing is told.
    pub(super) fn tell(&mut self, told: Vec<WireLogprob>, out: &mut BytesMut) {
        self.keep(size_of_val(told.as_slice()), out);
        let output_index = self.items.len().saturating_sub(1);
        let Some(Item::Message { id, content, .. }) = self.items.last_mut() else {
            return;
        };
        let content_index = content.len().saturating_sub(1);
        let Some(text) = content.last_mut().filter(|_| self.grows && !self.ended) else {
            return;
        };
        let more = Wire {
            item_id: Some(id),
            output_index: Some(output_index),
            content_index: Some(content_index),
            delta: Some(""),
            logprobs: Some(&told),
            ..Wire::of("response.output_text.delta")
        };
        send(more, &mut self.sequence_number, out);
        text.tell(told);
    }

    fn last_content(&self) -> Option<&Content> {
        match self.items.last() {
            Some(Item::Message { content, .. }) => content.last(),
            _ => None,
        }
    }

    /// Ends the part of the message that grows, where there is one.
    pub(super) fn close_content(&mut self, out: &mut BytesMut) {
        let output_index = self.items.len().saturating_sub(1);
        let Some(Item::Message { id, content, .. }) = self.items.last() else {
            return;
        };
        let Some(part) = content.last() else { return };
        let wire = |kind| Wire {
            item_id: Some(id),
            output_index: Some(output_index),
            content_index: Some(content.len() - 1),
            ..Wire::of(kind)
        };
        let said = match part {
            Content::OutputText { text, logprobs, .. } => Wire {
                text: Some(text),
                logprobs: Some(logprobs),
                ..wire("response.output_text.done")
            },
            Content::Refusal { refusal } => Wire {
                refusal: Some(refusal),
                ..wire("response.refusal.done")
            },
        };
        send(said, &mut self.sequence_number, out);
        let done = Wire {
            part: Some(Part::Content(part)),
            ..wire("response.content_part.done")
        };
        send(done, &mut self.sequence_number, out);
    }
}
