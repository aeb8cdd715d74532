//! Changing a request on its way: spliced in by place, every other byte as it was.

use bytes::Bytes;

use super::Envelope;
use crate::changes::Changes;
use crate::splice::{Edit, splice};

impl Envelope {
    /// The body with `changes`; the very same bytes where there is nothing to change. No maximum is
    /// added, since every request for an answer has one, and a stream tells its usage unasked.
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
            edits.push(Edit {
                at: self.places.model.clone(),
                text: serde_json::Value::from(model).to_string().into(),
            });
        }
        let lowered = changes
            .output_cap
            .filter(|cap| self.facts.output_cap.is_some_and(|written| written > *cap));
        if let (Some(cap), Some(place)) = (lowered, &self.places.max_tokens) {
            edits.push(Edit {
                at: place.clone(),
                text: cap.to_string().into(),
            });
        }
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
