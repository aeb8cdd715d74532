//! Changing a request on its way: spliced in by place, every other byte as it was.

use bytes::Bytes;

use super::Envelope;
use crate::canonical::Feature;
use crate::changes::{Changes, Seals};
use crate::splice::{Edit, splice};

/// The member that says how to think, of a request that must not.
const NOT_TO_THINK: &str = r#"{"type":"disabled"}"#;

impl Envelope {
    /// The body with `changes`; the very same bytes where there is nothing to change. No maximum is
    /// added, since every request for an answer has one, and a stream tells its usage unasked.
    /// Where only own seals may go ([`Seals::Own`]), thoughts without a seal of Claude's, of a provider
    /// that had to stand in, are left out, and so is a message of nothing else: the request would be
    /// refused for them. Where it would be refused without them too, as they come before a call, this
    /// request is told not to think.
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
        if changes.seals == Seals::Own {
            edits.extend(self.places.foreign_thoughts.iter().map(Edit::cut));
            // A model that thinks as it sees fit is not refused without its thoughts.
            let refuses = self.foregone() == Some(Feature::Thinking);
            edits.extend(
                self.places
                    .thinking
                    .iter()
                    .filter(|_| refuses)
                    .map(|at| Edit {
                        at: at.clone(),
                        text: NOT_TO_THINK.into(),
                    }),
            );
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

    #[test]
    fn who_does_not_get_its_thoughts_back_is_not_told_to_go_on_with_them() {
        let call = r#"{"type":"tool_use","id":"1","name":"look","input":{}}"#;
        let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}"#;
        let own = r#"{"type":"thinking","thinking":"t","signature":"Eq=="}"#;
        let other = r#"{"type":"redacted_thinking","data":"gemini-call#gA=="}"#;
        let enabled = r#"{"type":"enabled","budget_tokens":2000}"#;
        let adaptive = r#"{"type":"adaptive"}"#;
        let body = |blocks: &str, thinking: &str| {
            format!(
                r#"{{"model":"m","max_tokens":5,"thinking":{thinking},"messages":[{{"role":"assistant","content":[{blocks}]}},{result}]}}"#
            )
        };
        let foreign = format!("{other},{call}");
        let cases = [
            (
                &foreign,
                enabled,
                call,
                NOT_TO_THINK,
                Some(Feature::Thinking),
            ),
            (&foreign, adaptive, call, adaptive, Some(Feature::Thoughts)),
            (&foreign, NOT_TO_THINK, call, NOT_TO_THINK, None),
        ];
        for (blocks, thinking, sent, told, foregone) in cases {
            let before = body(blocks, thinking);
            assert_eq!(rewritten(&before), body(sent, told));
            assert_eq!(decoded(&before).foregone(), foregone, "{thinking}");
        }
        // What the client left out itself is between it and the provider.
        for blocks in [format!("{own},{call}"), call.to_owned()] {
            let before = body(&blocks, enabled);
            assert_eq!(rewritten(&before), before);
            assert_eq!(decoded(&before).foregone(), None);
        }
        // Beside its own it may go on thinking.
        let before = body(&format!("{other},{own},{call}"), enabled);
        let after = body(&format!("{own},{call}"), enabled);
        assert_eq!(rewritten(&before), after);
        assert_eq!(decoded(&before).foregone(), Some(Feature::Thoughts));
    }

    #[test]
    fn thoughts_of_all_calls_since_the_question_are_missed() {
        let foreign = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"openai#gA=="},{"type":"tool_use","id":"1","name":"look","input":{}}]}"#;
        let own = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"Eq=="},{"type":"tool_use","id":"2","name":"look","input":{}}]}"#;
        let result = |id: u8, more: &str| {
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}"}}{more}]}}"#
            )
        };
        let (one, two) = (result(1, ""), result(2, ""));
        let reminded = result(1, r#",{"type":"text","text":"be brief"}"#);
        let asked = r#"{"role":"user","content":"q"}"#;
        let asked_in_blocks = r#"{"role":"user","content":[{"type":"text","text":"q"}]}"#;
        let missed = Some(Feature::Thoughts);
        for (messages, foregone) in [
            (vec![asked, foreign, &one, own, &two], missed),
            (vec![asked, foreign, &reminded, own, &two], missed),
            (vec![asked, foreign, &one, asked, own, &two], None),
            (vec![asked, foreign, &one, asked_in_blocks, own, &two], None),
            (vec![asked, foreign, &one, own, &two, asked], None),
        ] {
            let messages = messages.join(",");
            let body = format!(
                r#"{{"model":"m","max_tokens":5,"thinking":{{"type":"enabled","budget_tokens":2000}},"messages":[{messages}]}}"#
            );
            assert_eq!(decoded(&body).foregone(), foregone, "{messages}");
            let sent = rewritten(&body);
            assert!(
                sent.contains("enabled") && !sent.contains("openai#"),
                "{sent}"
            );
        }
    }

    fn decoded(body: &str) -> Envelope {
        let body = Bytes::copy_from_slice(body.as_bytes());
        Envelope::decode(&body, Call::Messages).expect("a request")
    }

    fn rewritten(body: &str) -> String {
        let rewritten = decoded(body).rewrite(&Changes {
            seals: Seals::Own,
            ..Changes::default()
        });
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
