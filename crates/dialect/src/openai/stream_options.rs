//! `stream_options`: whether a stream tells its usage, as the client wrote it and as we ask.

use crate::json::{self, Cursor, Span};
use crate::request_error::{RequestError, twice, wrong};
use crate::request_member::flag;
use crate::splice::Edit;

/// The member of a request, where it stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct StreamOptions {
    place: Option<Span>,
    /// Inside of it.
    include_usage: Option<Span>,
    /// Whether the client asks for the usage.
    pub(super) usage_wanted: bool,
}

impl StreamOptions {
    /// Reads the member that stands at `place`, null perhaps.
    ///
    /// # Errors
    /// [`RequestError`] where it is no object, or `include_usage` in it no boolean or written twice.
    pub(super) fn read(body: &[u8], place: Option<Span>) -> Result<Self, RequestError> {
        let mut options = Self::default();
        let Some(place) = place else {
            return Ok(options);
        };
        let mut cursor = Cursor::at(body, place.start);
        if !cursor.enter(b'{') && cursor.peek() != b'n' {
            return Err(wrong("stream_options", "an object", &cursor));
        }
        while let Some(key) = cursor.next_key() {
            if *key.name(body) != *b"include_usage" {
                continue;
            }
            if options.include_usage.is_some() {
                return Err(twice("stream_options"));
            }
            options.include_usage = cursor.skip();
            let value = options.include_usage.as_ref();
            let value = value.filter(|value| !json::is_null(body, value));
            options.usage_wanted = flag(body, "stream_options.include_usage", value)?;
        }
        options.place = Some(place);
        Ok(options)
    }

    /// What has to be written for the usage to be told.
    pub(super) fn ask(&self, body: &[u8], body_start: usize) -> Edit {
        match (&self.include_usage, &self.place) {
            (Some(value), _) => Edit {
                at: value.clone(),
                text: "true".into(),
            },
            (None, None) => {
                let member = r#""stream_options":{"include_usage":true}"#;
                Edit::new_member(body_start, member.to_owned())
            }
            (None, Some(options)) if json::is_null(body, options) => Edit {
                at: options.clone(),
                text: r#"{"include_usage":true}"#.into(),
            },
            (None, Some(options)) => {
                let inside = options.start + 1;
                let mut cursor = Cursor::at(body, options.start);
                let alone = cursor.enter(b'{') && cursor.next_key().is_none();
                let text = if alone {
                    r#""include_usage":true"#
                } else {
                    r#""include_usage":true,"#
                };
                Edit {
                    at: inside..inside,
                    text: text.into(),
                }
            }
        }
    }
}
