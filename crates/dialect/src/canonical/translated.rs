//! A request half way: read from one dialect, written in another.

use bytes::Bytes;

use super::{Feature, Inexpressible, Losses, Lost, Places, Request};

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
    /// What is not in it as it is in the request, each once; at most 32.
    pub unsaid: Vec<Lost>,
    /// The parts of turns of which nothing is in it: turn and part, each once, in their order, and as many as there are.
    pub unwritten: Vec<(usize, usize)>,
    /// What is not in it either, each once, though nobody has to be refused for it: the conversation
    /// so far does not allow it, or a wish goes unheard. The client is told.
    pub foregone: Vec<Feature>,
    /// Whether the form of the answer, which the request asks for, is not in the body or not
    /// enforced by it: the caller must instruct the model, and check what it says.
    pub must_instruct: bool,
}

impl WrittenRequest {
    pub(crate) fn new(body: Vec<u8>, unsaid: Losses, must_instruct: bool) -> Self {
        let (unsaid, unwritten) = unsaid.into_lost();
        Self {
            body: Bytes::from(body),
            unsaid,
            unwritten,
            foregone: Vec::new(),
            must_instruct,
        }
    }

    /// The same, which goes without these.
    pub(crate) fn without(mut self, mut foregone: Vec<Feature>) -> Self {
        foregone.sort_unstable();
        foregone.dedup();
        self.foregone = foregone;
        self
    }
}
