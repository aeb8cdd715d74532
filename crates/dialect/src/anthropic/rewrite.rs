//! Changing a request on its way: spliced in by place, every other byte as it was.

use bytes::Bytes;

use super::Envelope;
use crate::changes::Changes;
use crate::splice::{Edit, splice};

impl Envelope {
    /// The body with `changes`; the very same bytes where there is nothing to change. No maximum is
    /// added, since every request for an answer has one, and a stream tells its usage unasked.
    /// Thoughts without a seal of Claude's, of a provider that had to stand in, are left out, and so is
    /// a message of nothing else: the request would be refused for them.
    ///
    /// ```
    /// use sluicegate_dialect::{Changes, anthropic::{Call, Envelope}};
    /// let body = r#"{ "model": "fast", "max_tokens": 900, "messages": [{}], "top_p": 0.70 }"#.into();
    /// let envelope = Envelope::decode(&body, Call::Messages)?;
    /// let changes = Changes { model: Some("claude-haiku-4-5"), output_cap: Some(512), ..Changes::default() };
    /// assert_eq!(
    ///     envelope.rewrite(&changes),
    ///     r#"{ "model": "claude-haiku-4-5", "max_tokens": 512, "messages": [{}], "top_p": 0.70 }"#
    /// );
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        let mut edits = Vec::new();
        if let Some(model) = changes.model.filter(|model| *model != self.facts.model) {
            edits.push(Edit::string(&self.places.model, model));
        }
        let lowered = changes
            .output_cap
            .filter(|cap| self.facts.output_cap.is_some_and(|written| written > *cap));
        if let (Some(cap), Some(place)) = (lowered, &self.places.max_tokens) {
            edits.push(Edit::number(place, cap));
        }
        edits.extend(self.places.foreign_thoughts.iter().map(Edit::cut));
        splice(&self.body, edits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anthropic::Call;

    #[test]
    fn nothing_to_change_is_the_same_bytes() {
        let body = Bytes::from_static(
            br#"{"max_tokens":5,"model":"m","messages":[{"role":"user","content":[{"type":"thinking","thinking":"t","signature":"Aa+/="}]}]}"#,
        );
        let envelope = Envelope::decode(&body, Call::Messages).expect("a request");
        let changes = Changes {
            model: Some("m"),
            output_cap: Some(5),
            ..Changes::default()
        };
        assert_eq!(envelope.rewrite(&changes).as_ptr(), body.as_ptr());
    }

    #[test]
    fn thoughts_that_claude_did_not_seal_are_left_out() {
        let own = r#"{"type":"thinking","thinking":"t","signature":"Eq=="}"#;
        let hidden = r#"{"data":"Eq==","type":"redacted_thinking"}"#;
        let unsealed = r#"{"type":"thinking","thinking":"t","signature":""}"#;
        let bare = r#"{"thinking":"t","type":"thinking"}"#;
        let other = r#"{"signature":"openai#gA==","thinking":"t","type":"thinking"}"#;
        let sealed = r#"{"type":"redacted_thinking","data":"openai#gA=="}"#;
        let text = r#"{"type":"text","text":"a"}"#;
        let said = |blocks: &str| format!(r#"{{"role":"assistant","content":[{blocks}]}}"#);
        let asked = r#"{"role":"user","content":"q"}"#;
        let cases = [
            (
                said(&format!("{other} , {own},{text}")),
                said(&format!(" {own},{text}")),
            ),
            (
                said(&format!("{hidden},{unsealed},{sealed}, {text}")),
                said(&format!("{hidden}, {text}")),
            ),
            (said(&format!("{text},{bare}")), said(text)),
        ];
        for (turn, expected) in cases {
            let body = |turn: &str| {
                format!(r#"{{"model":"m","max_tokens":5,"messages":[{asked},{turn},{asked}]}}"#)
            };
            assert_eq!(rewritten(&body(&turn)), body(&expected));
        }
        // A message has to hold something.
        let nothing = said(&format!("{unsealed}, {sealed}"));
        let before =
            format!(r#"{{"messages":[{asked}, {nothing},{asked}],"model":"m","max_tokens":5}}"#);
        let after = format!(r#"{{"messages":[{asked},{asked}],"model":"m","max_tokens":5}}"#);
        assert_eq!(rewritten(&before), after);
    }

    fn rewritten(body: &str) -> String {
        let body = Bytes::copy_from_slice(body.as_bytes());
        let envelope = Envelope::decode(&body, Call::Messages).expect("a request");
        let rewritten = envelope.rewrite(&Changes::default());
        String::from_utf8(rewritten.into()).expect("it is JSON")
    }

    #[test]
    fn a_count_gets_no_maximum() {
        let body = Bytes::from_static(br#"{"model":"m","messages":[{}]}"#);
        let envelope = Envelope::decode(&body, Call::CountTokens).expect("a request");
        let changes = Changes {
            model: Some("n\"x"),
            output_cap: Some(5),
            ..Changes::default()
        };
        assert_eq!(
            envelope.rewrite(&changes),
            r#"{"model":"n\"x","messages":[{}]}"#
        );
    }
}
