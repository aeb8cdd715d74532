//! What the body of a failure says, before anybody judges it.
//!
//! Bodies of failures are the least dependable thing that a provider sends: JSON of several shapes,
//! a proxy's HTML, nothing at all. So reading one cannot fail: what is not found is empty. One walk
//! finds what all readers want, because each of them alone would walk over the same bytes again.

use std::fmt::Write as _;

use crate::json::{self, Cursor, Span};

/// The longest code, type or name that is kept, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// The longest message that is kept, in bytes.
const MESSAGE_BYTES_MAX: usize = 1_024;
/// As many details are read.
const NAMES_MAX: usize = 8;

/// A failure's body, read as far as it could be. Strings are bounded and hold no control
/// characters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ErrorText {
    /// The error's `code`, or an inner one of the details where there is none.
    pub(crate) code: String,
    /// The error's `type`; where there is none its `status`, if that is a word, or what the details
    /// say of the kind.
    pub(crate) kind: String,
    /// What the provider says.
    pub(crate) message: String,
    /// What a provider behind this one said, as it was passed on.
    pub(crate) raw: String,
    /// Names from the details that say more than code and type: a quota's id, an inner code.
    pub(crate) names: Vec<String>,
    /// The `retryDelay` of the details, as it is written.
    pub(crate) retry_delay: String,
    /// The first quota that the details say was exceeded.
    pub(crate) quota: Quota,
}

/// A quota that was exceeded. What is not named is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Quota {
    pub(crate) metric: String,
    pub(crate) id: String,
    pub(crate) value: String,
}

/// What stands in for code and type where the error has none.
#[derive(Default)]
struct Inner {
    status: String,
    code: String,
    kind: String,
}

impl ErrorText {
    /// Understands `{"error":{…}}`, `{"error":"…"}`, a bare `{"message":…}` and a list of one of
    /// these.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        let mut cursor = Cursor::new(body);
        if cursor.enter(b'[') && !cursor.next_element() || cursor.peek() != b'{' {
            return Self::default();
        }
        let inner = json::member(body, cursor.position(), "error");
        let mut text = Self::of_error(cursor);
        let Some(inner) = inner else { return text };
        let inner = Self::of_error(Cursor::at(body, inner.start));
        let prefer = |outer: &mut String, inner: String| {
            if !inner.is_empty() {
                *outer = inner;
            }
        };
        prefer(&mut text.code, inner.code);
        prefer(&mut text.kind, inner.kind);
        prefer(&mut text.message, inner.message);
        Self {
            code: text.code,
            kind: text.kind,
            message: text.message,
            ..inner
        }
    }

    /// Of the object at hand, or of a string that is the message.
    pub(crate) fn of_error(mut cursor: Cursor<'_>) -> Self {
        let mut found = Self::default();
        let mut inner = Inner::default();
        let text = cursor.text();
        if cursor.peek() == b'"' {
            found.message = bounded(text, cursor.skip(), MESSAGE_BYTES_MAX);
        } else if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                let name = |cursor: &mut Cursor<'_>| bounded(text, cursor.skip(), NAME_BYTES_MAX);
                match &*key.name(text) {
                    b"code" => found.code = name(&mut cursor),
                    b"type" | b"error_type" => found.kind = name(&mut cursor),
                    b"status" => inner.status = name(&mut cursor),
                    // Amazon's gateways write it large.
                    b"message" | b"Message" => {
                        found.message = bounded(text, cursor.skip(), MESSAGE_BYTES_MAX);
                    }
                    b"details" if cursor.enter(b'[') => {
                        while cursor.next_element() {
                            found.read_detail(&mut cursor, &mut inner);
                        }
                    }
                    b"details" | b"metadata" => found.read_detail(&mut cursor, &mut inner),
                    _ => {}
                }
            }
        }
        if found.code.is_empty() {
            found.code = inner.code;
        }
        if found.kind.is_empty() {
            let is_word = inner.status.bytes().any(|byte| byte.is_ascii_alphabetic());
            found.kind = if is_word { inner.status } else { inner.kind };
        }
        found
    }

    /// The message and the names in lower case, where a row's parts of a message are sought.
    pub(crate) fn haystack(&self) -> String {
        let mut haystack = self.message.to_lowercase();
        for name in &self.names {
            haystack.push('\n');
            haystack.push_str(&name.to_lowercase());
        }
        haystack
    }

    /// Of the object at hand, if it is one.
    fn read_detail(&mut self, cursor: &mut Cursor<'_>, inner: &mut Inner) {
        let text = cursor.text();
        if !cursor.enter(b'{') {
            return;
        }
        while let Some(key) = cursor.next_key() {
            match &*key.name(text) {
                b"retryDelay" => self.retry_delay = bounded(text, cursor.skip(), NAME_BYTES_MAX),
                b"error_code" => {
                    inner.code = bounded(text, cursor.skip(), NAME_BYTES_MAX);
                    self.name(inner.code.clone());
                }
                b"error_type" | b"limit_source" => {
                    inner.kind = bounded(text, cursor.skip(), NAME_BYTES_MAX);
                    self.name(inner.kind.clone());
                }
                b"reason" => self.name(bounded(text, cursor.skip(), NAME_BYTES_MAX)),
                b"raw" => self.raw = bounded(text, cursor.skip(), MESSAGE_BYTES_MAX),
                b"violations" if cursor.enter(b'[') => {
                    while cursor.next_element() {
                        self.read_violation(cursor);
                    }
                }
                _ => {}
            }
        }
    }

    fn read_violation(&mut self, cursor: &mut Cursor<'_>) {
        let text = cursor.text();
        if !cursor.enter(b'{') {
            return;
        }
        let mut quota = Quota::default();
        while let Some(key) = cursor.next_key() {
            let part = match &*key.name(text) {
                b"quotaMetric" => &mut quota.metric,
                b"quotaId" => &mut quota.id,
                b"quotaValue" => &mut quota.value,
                _ => continue,
            };
            *part = bounded(text, cursor.skip(), NAME_BYTES_MAX);
        }
        self.name(quota.id.clone());
        if self.quota == Quota::default() {
            self.quota = quota;
        }
    }

    fn name(&mut self, name: String) {
        if !name.is_empty() && self.names.len() < NAMES_MAX {
            self.names.push(name);
        }
    }
}

/// A string or a number, cut to `bytes_max` at a character, control characters made visible.
fn bounded(text: &[u8], value: Option<Span>, bytes_max: usize) -> String {
    let Some(value) = value else {
        return String::new();
    };
    let shown = match text.get(value.start) {
        Some(b'"') => json::string(text, &value).unwrap_or_default(),
        Some(b'0'..=b'9' | b'-') => String::from_utf8_lossy(&text[value]),
        _ => return String::new(),
    };
    cut_to(bytes_max, &shown)
}

/// A message in somebody else's words, as short as all that are kept.
pub(crate) fn message(said: &str) -> String {
    cut_to(MESSAGE_BYTES_MAX, said)
}

fn cut_to(bytes_max: usize, said: &str) -> String {
    let mut out = String::new();
    for character in said.chars() {
        if out.len() + character.len_utf8() > bytes_max {
            break;
        }
        if character.is_control() {
            let _ = write!(out, "{}", character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(body: &str) -> ErrorText {
        ErrorText::of_body(body.as_bytes())
    }

    #[test]
    fn all_shapes_are_read() {
        let read = |body: &str| {
            let text = read(body);
            (text.code, text.kind, text.message)
        };
        let parts =
            |code: &str, kind: &str, message: &str| (code.into(), kind.into(), message.into());
        assert_eq!(
            read(r#"{"error":{"code":429,"message":"m"}}"#),
            parts("429", "", "m")
        );
        assert_eq!(
            read(r#"{"code":"c","error":"text"}"#),
            parts("c", "", "text")
        );
        assert_eq!(
            read(r#"{"error":"busy","error_type":"overloaded"}"#),
            parts("", "overloaded", "busy")
        );
        assert_eq!(
            read(r#"{"object":"error","message":"m","type":"t","code":"3505"}"#),
            parts("3505", "t", "m")
        );
        assert_eq!(
            read(r#"[{"error":{"code":400,"message":"m"}}]"#),
            parts("400", "", "m")
        );
        assert_eq!(
            read(r#"{"error":{"code":null,"message":"a\nb"}}"#),
            parts("", "", "a\\nb")
        );
        assert_eq!(
            read(r#"{"type":"error","error":{"type":"rate_limit_error","message":"m"}}"#),
            parts("", "rate_limit_error", "m")
        );
        // A status that is a word is a type; one that is a number is none.
        assert_eq!(
            read(r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m"}}"#),
            parts("429", "RESOURCE_EXHAUSTED", "m")
        );
        assert_eq!(read(r#"{"status":429,"message":"m"}"#), parts("", "", "m"));
    }

    #[test]
    fn details_are_read_in_both_shapes() {
        let google = read(
            r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[
                {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[
                    {"quotaMetric":"requests","quotaId":"RequestsPerDayPerProject","quotaDimensions":{"model":"x"},"quotaValue":"20"},
                    {"quotaId":"RequestsPerMinutePerProject"}]},
                {"@type":"type.googleapis.com/google.rpc.Help","links":[{"url":"u"}]},
                {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}"#,
        );
        assert_eq!(google.retry_delay, "37s");
        assert_eq!(
            google.names,
            ["RequestsPerDayPerProject", "RequestsPerMinutePerProject"]
        );
        let quota = |metric: &str, id: &str, value: &str| Quota {
            metric: metric.into(),
            id: id.into(),
            value: value.into(),
        };
        assert_eq!(
            google.quota,
            quota("requests", "RequestsPerDayPerProject", "20")
        );
        let inner = read(
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"m","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
        );
        assert_eq!(inner.names, ["enforced_spend_limit_reached"]);
        assert_eq!(inner.haystack(), "m\nenforced_spend_limit_reached");
        assert_eq!(
            (inner.code.as_str(), inner.kind.as_str()),
            ("enforced_spend_limit_reached", "rate_limit_error")
        );
        let wrapped = read(
            r#"{"error":{"code":429,"message":"m","metadata":{"provider_name":"p","raw":"try again in 2s","limit_source":"s"}}}"#,
        );
        assert_eq!(
            (wrapped.raw.as_str(), &*wrapped.names),
            ("try again in 2s", &["s".to_owned()][..])
        );
        assert_eq!((wrapped.code.as_str(), wrapped.kind.as_str()), ("429", "s"));
    }

    #[test]
    fn everything_is_bounded() {
        let long = "한".repeat(5_000);
        let details = vec![format!(r#"{{"reason":"{long}","raw":"{long}"}}"#); 50].join(",");
        let body =
            format!(r#"{{"error":{{"message":"{long}","code":"{long}","details":[{details}]}}}}"#);
        let text = read(&body);
        assert_eq!(text.message, "한".repeat(341));
        assert_eq!(text.raw, "한".repeat(341));
        assert_eq!(text.code, "한".repeat(42));
        assert_eq!(text.names, vec!["한".repeat(42); 8]);
    }

    proptest! {
        #[test]
        fn nothing_panics(
            body in "\\PC{0,64}|[\\[\\]{}:,\"a-e]{0,48}",
            cut in 0_usize..200,
        ) {
            let _ = read(&body);
            let whole = r#"{"error":{"details":[{"violations":[{"quotaId":"x"}]},{"retryDelay":"1s"}],"metadata":{"raw":"r"}}}"#;
            let mut broken = whole[..cut.min(whole.len())].to_owned();
            broken.push_str(&body);
            let _ = read(&broken);
        }
    }
}
