//! Changing a request on its way: spliced in by place, every other byte as it was.

use bytes::Bytes;

use super::Envelope;
use crate::changes::{Changes, Seals};
use crate::splice::{Edit, splice};

/// The least output maximum that is taken.
/// (<https://platform.openai.com/docs/api-reference/responses/create>; less is `integer_below_min_value`.)
pub(super) const OUTPUT_CAP_MIN: u64 = 16;

impl Envelope {
    /// The body with `changes`; the very same bytes where there is nothing to change. No maximum is
    /// lowered below 16, which is the least that a provider takes. A stream tells its usage unasked.
    /// Where only own seals may go ([`Seals::Own`]), thoughts that another provider sealed, when it had
    /// to stand in, are left out: the request would be refused for them.
    ///
    /// ```
    /// use sluicegate_dialect::{Changes, responses::Envelope};
    /// let body = r#"{ "model": "fast", "input": "hi", "top_p": 0.70 }"#.into();
    /// let envelope = Envelope::decode(&body)?;
    /// let changes = Changes { model: Some("gpt-5-mini"), output_cap: Some(512), ..Changes::default() };
    /// assert_eq!(
    ///     envelope.rewrite(&changes),
    ///     r#"{"max_output_tokens":512, "model": "gpt-5-mini", "input": "hi", "top_p": 0.70 }"#
    /// );
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        let mut edits = Vec::new();
        if let Some(model) = changes.model.filter(|model| *model != self.facts.model) {
            edits.push(Edit::string(&self.places.model, model));
        }
        let cap = changes.output_cap.map(|cap| cap.max(OUTPUT_CAP_MIN));
        let is_lower = |cap: &u64| self.facts.output_cap.is_none_or(|written| written > *cap);
        if let Some(cap) = cap.filter(is_lower) {
            edits.push(match &self.places.max_output_tokens {
                Some(place) => Edit::number(place, cap),
                None => {
                    let member = format!(r#""max_output_tokens":{cap}"#);
                    Edit::new_member(self.places.body_start, member)
                }
            });
        }
        if changes.seals == Seals::Own {
            edits.extend(self.places.foreign_thoughts.iter().map(Edit::cut));
        }
        if let Some(priority) = changes.priority {
            let start = self.places.body_start;
            edits.extend(Edit::priority(&self.body, start, priority));
        }
        splice(&self.body, edits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;

    fn rewritten(body: &str, changes: &Changes<'_>) -> String {
        let body = Bytes::copy_from_slice(body.as_bytes());
        let out = Envelope::decode(&body).expect("a request").rewrite(changes);
        String::from_utf8(out.to_vec()).expect("text")
    }

    #[test]
    fn nothing_to_change_is_the_same_bytes() {
        let body = Bytes::from_static(
            br#"{"max_output_tokens":50,"model":"m","input":[{"type":"reasoning","encrypted_content":"Aa+/="}]}"#,
        );
        let envelope = Envelope::decode(&body).expect("a request");
        let changes = Changes {
            model: Some("m"),
            output_cap: Some(50),
            ..Changes::default()
        };
        assert_eq!(envelope.rewrite(&changes).as_ptr(), body.as_ptr());
    }

    #[test]
    fn a_maximum_is_lowered_as_far_as_one_is_taken() {
        let lower = |cap| Changes {
            output_cap: Some(cap),
            ..Changes::default()
        };
        let cases = [
            (
                r#""max_output_tokens": 90"#,
                50,
                r#""max_output_tokens": 50"#,
            ),
            (
                r#""max_output_tokens": 90"#,
                5,
                r#""max_output_tokens": 16"#,
            ),
            (
                r#""max_output_tokens": null"#,
                50,
                r#""max_output_tokens": 50"#,
            ),
            (r#""max_output_tokens": 3"#, 2, r#""max_output_tokens": 3"#),
        ];
        for (member, cap, expected) in cases {
            let body = |member| format!(r#"{{"model":"m","input":"a",{member}}}"#);
            assert_eq!(rewritten(&body(member), &lower(cap)), body(expected));
        }
    }

    #[test]
    fn what_another_provider_sealed_is_left_out() {
        let own = r#"{"type":"reasoning","summary":[],"encrypted_content":"gA=="}"#;
        let other = r#"{"type":"reasoning","summary":[],"encrypted_content":"thought#Eq=="}"#;
        let sealed = r#"{"encrypted_content":"sealed#Eq==","type":"reasoning"}"#;
        let cases = [
            (format!("[ {other} , {sealed},{own}]"), format!("[  {own}]")),
            (format!("[{own}, {other} ,{sealed} ]"), format!("[{own}  ]")),
            (
                format!("[{own},{other},\n{own}]"),
                format!("[{own},\n{own}]"),
            ),
            (format!("[{other}]"), "[]".to_owned()),
        ];
        for (input, expected) in cases {
            let body = |input: &str| format!(r#"{{"model":"m","input":{input}}}"#);
            let own = Changes {
                seals: Seals::Own,
                ..Changes::default()
            };
            assert_eq!(rewritten(&body(&input), &own), body(&expected));
            let all = rewritten(&body(&input), &Changes::default());
            assert_eq!(all, body(&input));
        }
    }

    #[test]
    fn a_priority_is_the_clients_first() {
        let changes = Changes {
            priority: Some(Priority {
                field: "priority",
                value: 2,
            }),
            ..Changes::default()
        };
        assert_eq!(
            rewritten(r#"{"model":"m","input":"a"}"#, &changes),
            r#"{"priority":2,"model":"m","input":"a"}"#
        );
        let own = r#"{"priority":0,"model":"m","input":"a"}"#;
        assert_eq!(rewritten(own, &changes), own);
    }
}
