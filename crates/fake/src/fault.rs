//! What can be made to go wrong with an answer, and which call it happens to.
//!
//! A fault is data: it comes from a call's own `fake.fault`, from the queue, or from the settings, in this order. How it is
//! played is the business of the answer's script.

mod queue;
mod written;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use queue::{QUEUED_MAX, Queue};
pub use written::{HeaderName, Statuses, Text};

use crate::Millis;

/// One thing that goes wrong, or several at once. Counts are of stream events; the default is a faultless answer.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fault {
    /// Queued faults only: for calls of this model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many calls it happens to. A queued one by default one, or one for each status. One in a call's own body: every
    /// attempt with the same body, or the first ones, one for each status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<usize>,
    /// The status, or one for each call in turn; 200 answers as usual.
    #[serde(skip_serializing_if = "Statuses::is_empty")]
    pub status: Statuses,
    /// The body of an error status or of an error event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
    /// `retry-after`, sent as it stands; `date:+3` becomes the HTTP date in three seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Text>,
    /// `retry-after-ms`, sent as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<Text>,
    /// Other headers, in place of those of the same name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<HeaderName, Text>,
    /// The content type, in place of the right one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// A longer wait for the head, added to the usual.
    pub head_ms: Millis,
    /// The head of an HTTP/1.1 answer comes one byte at a time, with this between.
    pub head_byte_ms: Millis,
    /// Instead of a head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_head: Option<BeforeHead>,
    /// The connection breaks after so many events, or bytes of an answer that is not streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_after: Option<usize>,
    /// How it breaks.
    pub cut: Cut,
    /// After so many events nothing more comes until the client leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hang_after: Option<usize>,
    /// After so many events nothing comes for `pause_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_after: Option<usize>,
    /// How long.
    pub pause_ms: Millis,
    /// After so many events comes an error event, of `kind`, and the stream ends properly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_after: Option<usize>,
    /// What happens to the usage.
    pub usage: UsageFault,
    /// `false`: no `[DONE]`.
    pub done: Sent,
    /// A comment line before each event.
    pub comments: bool,
    /// While nothing comes (a hang, a pause): a comment line each time so much has passed.
    pub comment_ms: Millis,
    /// How lines end.
    pub eol: Eol,
    /// `data:` without the space after it.
    pub no_space: bool,
    /// The JSON of an event in two `data:` lines.
    pub two_lines: bool,
    /// `false`: the last event lacks the blank line that ends it.
    pub last_blank: Sent,
    /// Bodies are written in pieces of so many bytes, also inside a character; 0: as they are.
    pub split: usize,
    /// Events that need not wait for each other are written together.
    pub coalesce: bool,
    /// So many bytes are missing at the end of an answer that is not streamed; its HTTP framing is sound.
    pub truncate: usize,
    /// Answers as if no stream had been asked for.
    pub plain: bool,
    /// The body of an answer that is not streamed, in place of the right one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// What comes instead of a head.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BeforeHead {
    /// The connection is reset (RST).
    Reset,
    /// The connection is closed (FIN).
    Close,
    /// Nothing, until the client leaves.
    Hang,
}

/// How a connection breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cut {
    /// Closed (FIN) in the middle of a body.
    #[default]
    Close,
    /// Reset (RST).
    Reset,
}

/// What happens to the usage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageFault {
    /// It is reported as asked.
    #[default]
    Normal,
    /// It is left out.
    Missing,
    /// Every chunk carries it, cumulative.
    Every,
}

/// Whether a part of a stream that belongs there is sent; written as a boolean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(from = "bool", into = "bool")]
pub enum Sent {
    /// It is.
    #[default]
    Yes,
    /// It is left out.
    No,
}

impl From<bool> for Sent {
    fn from(sent: bool) -> Self {
        if sent { Self::Yes } else { Self::No }
    }
}

impl From<Sent> for bool {
    fn from(sent: Sent) -> Self {
        sent == Sent::Yes
    }
}

/// How lines of a stream end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Eol {
    /// `\n`
    #[default]
    Lf,
    /// `\r\n`
    Crlf,
    /// `\r`
    Cr,
}

/// What an error says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The provider failed: the default for 5xx.
    Server,
    /// The provider has no capacity: the default for 503 and 529.
    Overloaded,
    /// A rate limit: the default for 429.
    Rate,
    /// Traffic grew too fast.
    SlowDown,
    /// The account is out of money or quota.
    Quota,
    /// The key is wrong: the default for 401.
    Auth,
    /// The key may not: the default for 403.
    Permission,
    /// The prompt is longer than the model's context.
    Context,
    /// A content filter refused.
    Filter,
    /// The request is wrong: the default for other 4xx.
    Invalid,
    /// There is no such model: the default for 404.
    NotFound,
    /// A page of HTML, as proxies send it.
    Html,
    /// Plain text.
    Text,
    /// No body.
    Empty,
    /// A body that claims to be JSON and is not.
    Junk,
}

impl Fault {
    /// What happens to the call that `earlier` others came before: the fault and its status, or nothing any more.
    pub(crate) fn for_call(&self, earlier: usize) -> Option<(&Self, Option<u16>)> {
        if self.times.is_some_and(|times| earlier >= times) {
            return None;
        }
        match self.status.0.as_slice() {
            [] => Some((self, None)),
            [status] => Some((self, error_status(*status))),
            statuses => statuses
                .get(earlier)
                .map(|status| (self, error_status(*status))),
        }
    }

    /// How many calls a queued one is for.
    fn queued_times(&self) -> usize {
        self.times.unwrap_or(self.status.0.len().max(1))
    }

    /// Whether it depends on how often the call was made before.
    pub(crate) fn counts_calls(&self) -> bool {
        self.times.is_some() || self.status.0.len() > 1
    }
}

fn error_status(status: u16) -> Option<u16> {
    (status != 200).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: serde_json::Value) -> Fault {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_sequence_gives_each_call_its_status_and_then_nothing() {
        let fault = fault(serde_json::json!({"status": [500, 429, 200]}));
        let statuses: Vec<_> = (0..4)
            .map(|nth| fault.for_call(nth).map(|(_, status)| status))
            .collect();
        assert_eq!(
            statuses,
            [Some(Some(500)), Some(Some(429)), Some(None), None]
        );
    }

    #[test]
    fn done_and_blank_lines_are_there_unless_taken_away() {
        let fault = fault(serde_json::json!({}));
        assert_eq!((fault.done, fault.last_blank), (Sent::Yes, Sent::Yes));
        assert!(serde_json::from_str::<Fault>(r#"{"status": 99}"#).is_err());
        assert!(serde_json::from_str::<Fault>(r#"{"stats": 500}"#).is_err());
    }
}
