//! The events of a streamed message, as they are written.

use bytes::BytesMut;
use serde::Serialize;

use super::wire::Block;
use super::write_answer::{Message, WireUsage};
use crate::wire_form::to_json;

/// Appends the event `name`.
pub(super) fn send(name: &str, event: &impl Serialize, out: &mut BytesMut) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    out.extend_from_slice(&to_json(event));
    out.extend_from_slice(b"\n\n");
}

#[derive(Serialize)]
pub(super) struct Typed {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
}

#[derive(Serialize)]
pub(super) struct Start<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) message: Message<'a>,
}

#[derive(Serialize)]
pub(super) struct BlockStart {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) index: u64,
    pub(super) content_block: Block,
}

#[derive(Serialize)]
pub(super) struct BlockStop {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) index: u64,
}

#[derive(Serialize)]
pub(super) struct BlockDelta<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) index: u64,
    pub(super) delta: &'a Delta<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type")]
pub(super) enum Delta<'a> {
    #[serde(rename = "text_delta")]
    Text { text: &'a str },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'a str },
    #[serde(rename = "signature_delta")]
    Signature { signature: &'a str },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: &'a str },
}

#[derive(Serialize)]
pub(super) struct MessageDelta<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) delta: Ending<'a>,
    pub(super) usage: WireUsage,
}

#[derive(Serialize)]
pub(super) struct Ending<'a> {
    pub(super) stop_reason: &'static str,
    pub(super) stop_sequence: Option<&'a str>,
}
