//! Putting changes into a body by their place, every other byte as it was.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};

use crate::json::Span;

/// A stretch of a body that is to be something else.
pub(crate) struct Edit {
    pub(crate) at: Span,
    pub(crate) text: Cow<'static, str>,
}

/// The body with all edits, which do not overlap; the very same bytes where there are none.
pub(crate) fn splice(body: &Bytes, mut edits: Vec<Edit>) -> Bytes {
    if edits.is_empty() {
        return body.clone();
    }
    edits.sort_by_key(|edit| edit.at.start);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut out = BytesMut::with_capacity(body.len() + added);
    let mut copied = 0;
    for edit in edits {
        out.extend_from_slice(&body[copied..edit.at.start]);
        out.extend_from_slice(edit.text.as_bytes());
        copied = edit.at.end;
    }
    out.extend_from_slice(&body[copied..]);
    out.freeze()
}
