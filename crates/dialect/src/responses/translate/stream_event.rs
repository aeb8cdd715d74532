//! The events of a streamed response, as they are written.

use bytes::BytesMut;
use serde::Serialize;

use super::output::{Content, Item, Response, Summary};
use crate::openai::logprobs::WireLogprob;
use crate::wire_form::to_json;

/// Appends the event `wire`, numbered.
pub(super) fn send(mut wire: Wire<'_>, sequence_number: &mut u64, out: &mut BytesMut) {
    wire.sequence_number = *sequence_number;
    *sequence_number += 1;
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(wire.kind.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    out.extend_from_slice(&to_json(&wire));
    out.extend_from_slice(b"\n\n");
}

/// Appends what tells that `item`, the one at that place, is whole.
pub(super) fn send_end(item: &Item, at: usize, number: &mut u64, out: &mut BytesMut) {
    let wire = |kind| Wire {
        item_id: Some(item.id()),
        output_index: Some(at),
        ..Wire::of(kind)
    };
    match item {
        Item::FunctionCall {
            arguments, name, ..
        } => {
            let done = Wire {
                name: Some(name),
                arguments: Some(arguments),
                ..wire("response.function_call_arguments.done")
            };
            send(done, number, out);
        }
        Item::Reasoning { summary, .. } => {
            if let Some(part) = summary.last() {
                let done = Wire {
                    summary_index: Some(0),
                    text: Some(part.said()),
                    ..wire("response.reasoning_summary_text.done")
                };
                send(done, number, out);
                let done = Wire {
                    summary_index: Some(0),
                    part: Some(Part::Summary(part)),
                    ..wire("response.reasoning_summary_part.done")
                };
                send(done, number, out);
            }
        }
        Item::Message { .. } => {}
    }
    let done = Wire {
        output_index: Some(at),
        item: Some(item),
        ..Wire::of("response.output_item.done")
    };
    send(done, number, out);
}

/// An event, whatever its kind.
#[derive(Default, Serialize)]
pub(super) struct Wire<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) sequence_number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<&'a Response<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) item_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<&'a Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<Part<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logprobs: Option<&'a [WireLogprob]>,
}

impl Wire<'_> {
    pub(super) fn of(kind: &'static str) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Part<'a> {
    Content(&'a Content),
    Summary(&'a Summary),
}
