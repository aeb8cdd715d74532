//! Putting changes into a body by their place, every other byte as it was.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};

use crate::changes::Priority;
use crate::json::{self, Cursor, Span};

/// A stretch of a body that is to be something else.
pub(crate) struct Edit {
    pub(crate) at: Span,
    pub(crate) text: Cow<'static, str>,
}

impl Edit {
    /// `value` instead of what stands at `at`.
    pub(crate) fn number(at: &Span, value: u64) -> Self {
        Self {
            at: at.clone(),
            text: value.to_string().into(),
        }
    }

    /// The text `value` instead of what stands at `at`.
    pub(crate) fn string(at: &Span, value: &str) -> Self {
        Self {
            at: at.clone(),
            text: serde_json::Value::from(value).to_string().into(),
        }
    }

    /// Nothing instead of what stands at `at`.
    pub(crate) fn cut(at: &Span) -> Self {
        Self {
            at: at.clone(),
            text: "".into(),
        }
    }

    /// A member more, in an object that has one at least: before the others, at `object_start`, which
    /// is behind its brace. So a comma always follows.
    pub(crate) fn new_member(object_start: usize, member: String) -> Self {
        Self {
            at: object_start..object_start,
            text: (member + ",").into(),
        }
    }

    /// How soon a request is to be served, unless it says so itself.
    pub(crate) fn priority(
        body: &[u8],
        object_start: usize,
        priority: Priority<'_>,
    ) -> Option<Self> {
        let Priority { field, value } = priority;
        let mut cursor = Cursor::at(body, object_start - 1);
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            if *key.name(body) == *field.as_bytes() {
                let written = cursor.skip()?;
                return json::is_null(body, &written)
                    .then(|| Self::number(&written, u64::from(value)));
            }
        }
        let name = serde_json::Value::from(field);
        Some(Self::new_member(object_start, format!("{name}:{value}")))
    }
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

/// An element of an array with what parts it from the others: the comma before it, or that behind it
/// where all before it go too.
pub(crate) fn with_comma(text: &[u8], element: Span, is_first: bool) -> Span {
    if is_first {
        let behind = &text[element.end..];
        let blank = behind.len() - behind.trim_ascii_start().len();
        let comma = usize::from(behind.get(blank) == Some(&b','));
        return element.start..element.end + comma * (blank + 1);
    }
    let before = text[..element.start].trim_ascii_end();
    before.len() - usize::from(before.ends_with(b","))..element.end
}
