//! Changing a request on its way: spliced in by place, every other byte as it was.

use bytes::Bytes;

use super::Envelope;
use super::translate::STAND_IN;
use crate::changes::{Changes, Seals};
use crate::json;
use crate::splice::{Edit, splice};

/// What stands before a model's name where it is that of a resource.
const RESOURCE: &str = "models/";

impl Envelope {
    /// The body with `changes`; the very same bytes where there is nothing to change.
    ///
    /// The model stands in the path, which is the caller's. Some bodies name it a second time, as
    /// each request of a batch does, and Google refuses another name there: that one is changed too.
    /// Where only own seals may go ([`Seals::Own`]), thoughts that another provider sealed are left out.
    ///
    /// ```
    /// use sluicegate_dialect::{Changes, gemini::{Call, Envelope}};
    /// let body = r#"{ "contents": [{}], "generationConfig": { "topP": 0.70 } }"#.into();
    /// let envelope = Envelope::decode(&body, "fast", Call::GenerateContent)?;
    /// let changes = Changes { model: Some("gemini-2.5-flash"), output_cap: Some(512), ..Changes::default() };
    /// assert_eq!(
    ///     envelope.rewrite(&changes),
    ///     r#"{ "contents": [{}], "generationConfig": {"maxOutputTokens":512, "topP": 0.70 } }"#
    /// );
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        let mut edits = Vec::new();
        if let Some(model) = changes.model.filter(|model| *model != self.facts.model) {
            for place in &self.places.models {
                let written = json::string(&self.body, place).unwrap_or_default();
                let is_resource = written.starts_with(RESOURCE) && !model.contains('/');
                let name = format!("{}{model}", if is_resource { RESOURCE } else { "" });
                if name != written {
                    edits.push(Edit {
                        at: place.clone(),
                        text: serde_json::Value::from(name).to_string().into(),
                    });
                }
            }
        }
        if let Some(cap) = changes.output_cap.filter(|_| self.call.generates())
            && self.facts.output_cap.is_none_or(|written| written > cap)
        {
            edits.push(self.capped(cap));
        }
        if changes.seals == Seals::Own {
            let stand_ins = self.places.stand_ins.iter();
            edits.extend(stand_ins.map(|place| Edit::string(place, STAND_IN)));
            edits.extend(self.places.foreign_thoughts.iter().map(Edit::cut));
        }
        splice(&self.body, edits)
    }

    /// The edit that writes this maximum, wherever its place is.
    fn capped(&self, cap: u64) -> Edit {
        let places = &self.places;
        if let Some(place) = &places.max_output_tokens {
            return Edit {
                at: place.clone(),
                text: cap.to_string().into(),
            };
        }
        let member = format!(r#""maxOutputTokens":{cap}"#);
        match &places.generation_config {
            Some(config) if self.body[config.start] == b'{' => Edit {
                at: config.start + 1..config.start + 1,
                text: (member + self.comma(config.start)).into(),
            },
            Some(null) => Edit {
                at: null.clone(),
                text: format!("{{{member}}}").into(),
            },
            None => Edit {
                at: places.root + 1..places.root + 1,
                text: format!(r#""generationConfig":{{{member}}},"#).into(),
            },
        }
    }

    /// What follows a member that is written first into the object that begins at `at`.
    fn comma(&self, at: usize) -> &'static str {
        let is_space = |byte: &&u8| byte.is_ascii_whitespace();
        let mut rest = self.body[at + 1..].iter().skip_while(is_space);
        if rest.next() == Some(&b'}') { "" } else { "," }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemini::Call;

    fn rewritten(body: &str, call: Call) -> String {
        let body = Bytes::copy_from_slice(body.as_bytes());
        let envelope = Envelope::decode(&body, "fast", call).expect("a request");
        let changes = Changes {
            model: Some("n\"x"),
            output_cap: Some(5),
            ..Changes::default()
        };
        let text = envelope.rewrite(&changes).to_vec();
        String::from_utf8(text).expect("UTF-8")
    }

    #[test]
    fn a_maximum_finds_its_place() {
        let cases = [
            (
                r#" {"contents":[{}]}"#,
                r#" {"generationConfig":{"maxOutputTokens":5},"contents":[{}]}"#,
            ),
            (
                r#"{"contents":[{}],"generation_config":{ }}"#,
                r#"{"contents":[{}],"generation_config":{"maxOutputTokens":5 }}"#,
            ),
            (
                r#"{"contents":[{}],"generationConfig":null}"#,
                r#"{"contents":[{}],"generationConfig":{"maxOutputTokens":5}}"#,
            ),
            (
                r#"{"contents":[{}],"generationConfig":{"maxOutputTokens":null,"topK":1}}"#,
                r#"{"contents":[{}],"generationConfig":{"maxOutputTokens":5,"topK":1}}"#,
            ),
            (
                r#"{"contents":[{}],"generationConfig":{"max_output_tokens":"6"}}"#,
                r#"{"contents":[{}],"generationConfig":{"max_output_tokens":5}}"#,
            ),
            (
                r#"{"contents":[{}],"generationConfig":{"maxOutputTokens":4}}"#,
                r#"{"contents":[{}],"generationConfig":{"maxOutputTokens":4}}"#,
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(rewritten(body, Call::GenerateContent), expected);
        }
    }

    #[test]
    fn a_model_that_the_body_repeats_follows_the_path() {
        let body =
            r#"{"requests":[{"model":"models/fast","content":{}},{"content":{},"model":"fast"}]}"#;
        assert_eq!(
            rewritten(body, Call::BatchEmbedContents),
            r#"{"requests":[{"model":"models/n\"x","content":{}},{"content":{},"model":"n\"x"}]}"#
        );
        let body = r#"{"generateContentRequest":{"model":"models/fast","contents":[{}],"generationConfig":{}}}"#;
        assert_eq!(
            rewritten(body, Call::CountTokens),
            r#"{"generateContentRequest":{"model":"models/n\"x","contents":[{}],"generationConfig":{}}}"#
        );
    }

    #[test]
    fn what_another_provider_sealed_is_left_out() {
        let other = r#"{"text":"hm","thought":true,"thoughtSignature":"c2x1aWNlZ2F0ZS10RXE9PQ=="}"#;
        let hidden = r#"{"thought_signature":"c2x1aWNlZ2F0ZS1zRXE9PQ==","thought":true}"#;
        let own = r#"{"text":"t","thoughtSignature":"Aa+/="}"#;
        let call = |seal: &str| {
            format!(r#"{{"functionCall":{{"name":"f"}},"thoughtSignature":"{seal}"}}"#)
        };
        let answered = call("c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=");
        let asked = call("skip_thought_signature_validator");
        let said = |parts: &str| format!(r#"{{"role":"model","parts":[{parts}]}}"#);
        let user = r#"{"role":"user","parts":[{"text":"q"}]}"#;
        let cases = [
            (
                said(&format!("{other} , {own},{hidden}")),
                said(&format!(" {own}")),
            ),
            (said(&format!("{hidden},{answered}")), said(&asked)),
        ];
        let rewritten = |body: &str, seals| {
            let body = Bytes::copy_from_slice(body.as_bytes());
            let envelope = Envelope::decode(&body, "m", Call::GenerateContent).expect("a request");
            envelope.rewrite(&Changes {
                seals,
                ..Changes::default()
            })
        };
        for (turn, expected) in cases {
            let body = |turn: &str| format!(r#"{{"contents":[{user},{turn},{user}]}}"#);
            assert_eq!(rewritten(&body(&turn), Seals::Own), body(&expected));
            assert_eq!(rewritten(&body(&turn), Seals::All), body(&turn));
        }
        // A content has to hold something.
        let nothing = said(&format!("{other}, {hidden}"));
        let before = format!(r#"{{"contents":[{user}, {nothing},{user}]}}"#);
        let after = format!(r#"{{"contents":[{user},{user}]}}"#);
        assert_eq!(rewritten(&before, Seals::Own), after);
    }

    #[test]
    fn nothing_to_change_is_the_same_bytes() {
        let body = Bytes::from_static(
            br#"{"contents":[{"parts":[{"text":"t","thoughtSignature":"Aa+/="}]}],"generationConfig":{"maxOutputTokens":5},"model":"models/a"}"#,
        );
        let envelope = Envelope::decode(&body, "a", Call::GenerateContent).expect("a request");
        let changes = Changes {
            model: Some("a"),
            output_cap: Some(5),
            ..Changes::default()
        };
        assert_eq!(envelope.rewrite(&changes).as_ptr(), body.as_ptr());
    }
}
