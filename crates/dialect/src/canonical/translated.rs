//! A request half way: read from one dialect, written in another.

use bytes::Bytes;

use super::{Inexpressible, Losses, Lost, Places, Request};

/// A request that was read, and what of it could not be put into the canonical form.
#[derive(Clone, PartialEq, Debug)]
pub struct ReadRequest {
    /// The request.
    pub request: Request,
    /// Members that are not in it, in the words of its dialect; at most 32.
    pub inexpressible: Vec<Inexpressible>,
    /// Where the client wrote what is in it.
    pub places: Places,
}

/// A request in another dialect, and what of it that dialect cannot say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenRequest {
    /// The body.
    pub body: Bytes,
    /// What is not in it, each once; at most 32.
    pub unsaid: Vec<Lost>,
    /// Whether the form of the answer, which the request asks for, is not in the body or not
    /// enforced by it: the caller must instruct the model, and check what it says.
    pub must_instruct: bool,
}

impl WrittenRequest {
    pub(crate) fn new(body: Vec<u8>, unsaid: Losses, must_instruct: bool) -> Self {
        Self {
            body: Bytes::from(body),
            unsaid: unsaid.into_lost(),
            must_instruct,
        }
    }
}
