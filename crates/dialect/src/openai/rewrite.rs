//! Changing a request on its way: spliced in by place, every other byte as it was.
//!
//! Rebuilding the body from a tree would reorder members, reformat numbers and fold escapes, and
//! what the client wrote would not be what the provider reads.

use bytes::Bytes;

use super::Envelope;
use crate::changes::{Changes, IncludeUsage, Seals};
use crate::json;
use crate::splice::{Edit, splice};

impl Envelope {
    /// The body with `changes`; the very same bytes where there is nothing to change. A maximum that has
    /// to be added is `max_completion_tokens`, which every model takes (the reasoning ones refuse
    /// `max_tokens`). Where only own seals may go ([`Seals::Own`]), what other providers sealed is left
    /// out.
    ///
    /// ```
    /// use sluicegate_dialect::{Changes, openai::Envelope};
    /// let body = r#"{ "model": "fast", "messages": [{}], "temperature": 0.70 }"#.into();
    /// let envelope = Envelope::decode(&body)?;
    /// let changes = Changes { model: Some("gpt-5-mini"), ..Changes::default() };
    /// assert_eq!(
    ///     envelope.rewrite(&changes),
    ///     r#"{ "model": "gpt-5-mini", "messages": [{}], "temperature": 0.70 }"#
    /// );
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        let mut edits = Vec::new();
        if let Some(model) = changes.model.filter(|model| *model != self.facts.model) {
            edits.push(Edit::string(&self.places.model, model));
        }
        if self.facts.stream && changes.include_usage == IncludeUsage::Ask && !self.usage_wanted {
            let options = &self.places.stream_options;
            edits.push(options.ask(&self.body, self.places.body_start));
        }
        if let Some(cap) = changes.output_cap {
            self.lower_output(cap, &mut edits);
        }
        if let Some(priority) = changes.priority {
            let start = self.places.body_start;
            edits.extend(Edit::priority(&self.body, start, priority));
        }
        if changes.seals == Seals::Own {
            edits.extend(self.places.carried.iter().map(Edit::cut));
        }
        splice(&self.body, edits)
    }

    fn lower_output(&self, cap: u64, edits: &mut Vec<Edit>) {
        if self.facts.output_cap.is_some_and(|written| written <= cap) {
            return;
        }
        let places = &self.places;
        for place in [&places.max_tokens, &places.max_completion_tokens]
            .into_iter()
            .flatten()
        {
            if json::unsigned(&self.body, place).is_some_and(|written| written > cap) {
                edits.push(Edit::number(place, cap));
            }
        }
        if self.facts.output_cap.is_none() {
            edits.push(match &places.max_completion_tokens {
                Some(null) => Edit::number(null, cap),
                None => {
                    let member = format!(r#""max_completion_tokens":{cap}"#);
                    Edit::new_member(places.body_start, member)
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::Priority;
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    const ASK: Changes<'static> = Changes {
        model: None,
        include_usage: IncludeUsage::Ask,
        output_cap: None,
        priority: None,
        seals: Seals::All,
    };

    fn rewritten(body: &str, changes: &Changes<'_>) -> String {
        let body = Bytes::copy_from_slice(body.as_bytes());
        let out = Envelope::decode(&body).expect("a request").rewrite(changes);
        String::from_utf8(out.to_vec()).expect("text")
    }

    #[test]
    fn nothing_to_change_is_the_same_bytes() {
        let body = Bytes::from_static(br#"{"model":"m","messages":[{}],"max_tokens":5}"#);
        let envelope = Envelope::decode(&body).expect("a request");
        let changes = Changes {
            model: Some("m"),
            output_cap: Some(5),
            ..ASK
        };
        assert_eq!(envelope.rewrite(&changes).as_ptr(), body.as_ptr());
    }

    #[test]
    fn what_other_providers_sealed_is_left_out() {
        let own = r#""extra_content":{"google":{"thought_signature":"c2VhbA=="}}"#;
        let call = |members: &str| {
            format!(r#"{{"role":"assistant","tool_calls":[{{"id":"1"{members}}}]}}"#)
        };
        let carried = r#","extra_content":{"google":{"thought_signature":"gemini#c2VhbA=="}}"#;
        let cases = [
            (call(carried), call("")),
            (call(&format!(",{own}")), call(&format!(",{own}"))),
            (
                r#"{"extra_content": {"sluicegate":{"thoughts":[{}]}} , "role":"assistant"}"#
                    .to_owned(),
                r#"{"role":"assistant"}"#.to_owned(),
            ),
        ];
        for (message, expected) in cases {
            let body = |message: &str| format!(r#"{{"model":"m","messages":[{{}},{message}]}}"#);
            let changes = |seals| Changes {
                seals,
                ..Changes::default()
            };
            let all = rewritten(&body(&message), &changes(Seals::All));
            assert_eq!(all, body(&message));
            let out = rewritten(&body(&message), &changes(Seals::Own));
            assert_eq!(out, body(&expected));
        }
    }

    #[test]
    fn usage_is_asked_for_wherever_it_has_to_be_written() {
        let cases = [
            (
                r#"{"model":"m","messages":[{}],"stream":true}"#,
                r#"{"stream_options":{"include_usage":true},"model":"m","messages":[{}],"stream":true}"#,
            ),
            (
                r#"{"stream":true,"stream_options":null,"model":"m","messages":[{}]}"#,
                r#"{"stream":true,"stream_options":{"include_usage":true},"model":"m","messages":[{}]}"#,
            ),
            (
                r#"{"stream":true,"stream_options":{ },"model":"m","messages":[{}]}"#,
                r#"{"stream":true,"stream_options":{"include_usage":true },"model":"m","messages":[{}]}"#,
            ),
            (
                r#"{"stream":true,"stream_options":{"x":1},"model":"m","messages":[{}]}"#,
                r#"{"stream":true,"stream_options":{"include_usage":true,"x":1},"model":"m","messages":[{}]}"#,
            ),
            (
                r#"{"stream":true,"stream_options":{"include_usage": false },"model":"m","messages":[{}]}"#,
                r#"{"stream":true,"stream_options":{"include_usage": true },"model":"m","messages":[{}]}"#,
            ),
            (
                r#"{"stream":true,"stream_options":{"include_usage":null},"model":"m","messages":[{}]}"#,
                r#"{"stream":true,"stream_options":{"include_usage":true},"model":"m","messages":[{}]}"#,
            ),
            (
                r#"{"stream":false,"model":"m","messages":[{}]}"#,
                r#"{"stream":false,"model":"m","messages":[{}]}"#,
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(rewritten(body, &ASK), expected);
        }
    }

    #[test]
    fn output_is_only_ever_lowered() {
        let cap = Changes {
            output_cap: Some(100),
            ..Changes::default()
        };
        let cases = [
            (
                r#"{"model":"m","messages":[{}]}"#,
                r#"{"max_completion_tokens":100,"model":"m","messages":[{}]}"#,
            ),
            (
                r#"{"model":"m","messages":[{}],"max_tokens":300}"#,
                r#"{"model":"m","messages":[{}],"max_tokens":100}"#,
            ),
            (
                r#"{"model":"m","messages":[{}],"max_tokens":50}"#,
                r#"{"model":"m","messages":[{}],"max_tokens":50}"#,
            ),
            (
                r#"{"model":"m","messages":[{}],"max_tokens":50,"max_completion_tokens":300}"#,
                r#"{"model":"m","messages":[{}],"max_tokens":50,"max_completion_tokens":100}"#,
            ),
            (
                r#"{"model":"m","messages":[{}],"max_completion_tokens":null}"#,
                r#"{"model":"m","messages":[{}],"max_completion_tokens":100}"#,
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(rewritten(body, &cap), expected);
        }
    }

    #[test]
    fn a_priority_is_written_where_the_client_wrote_none() {
        let changes = Changes {
            priority: Some(Priority {
                field: "priority",
                value: 2,
            }),
            ..Changes::default()
        };
        let cases = [
            (
                r#"{ "model":"m","messages":[{}], "x": {"priority": 1} }"#,
                r#"{"priority":2, "model":"m","messages":[{}], "x": {"priority": 1} }"#,
            ),
            (
                r#"{"model":"m","priority": null,"messages":[{}]}"#,
                r#"{"model":"m","priority": 2,"messages":[{}]}"#,
            ),
            (
                r#"{"model":"m","messages":[{}],"priority":-7}"#,
                r#"{"model":"m","messages":[{}],"priority":-7}"#,
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(rewritten(body, &changes), expected);
        }
    }

    #[test]
    fn a_model_name_is_escaped() {
        let changes = Changes {
            model: Some("a\"b\\"),
            ..Changes::default()
        };
        assert_eq!(
            rewritten(r#"{"model":"m","messages":[{}]}"#, &changes),
            r#"{"model":"a\"b\\","messages":[{}]}"#
        );
    }

    fn junk() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z\"\\\\{}\\[\\],:한é\n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"한]{1,5}", inner, 0..4)
                    .prop_map(|members| Value::from(Map::from_iter(members))),
            ]
        })
    }

    fn request() -> impl Strategy<Value = Value> {
        let options = prop_oneof![
            Just(None),
            Just(Some(Value::Null)),
            Just(Some(json!({}))),
            Just(Some(json!({ "include_usage": false, "x": [1] }))),
            Just(Some(json!({ "include_usage": true }))),
        ];
        let cap = || {
            prop::option::of(prop_oneof![
                Just(Value::Null),
                (0_u32..500).prop_map(Value::from)
            ])
        };
        let rest = prop::collection::btree_map("[f-l]{3}", junk(), 0..4);
        ("[a-z\"한]{1,6}", any::<bool>(), options, cap(), cap(), rest).prop_map(
            |(model, stream, options, old, new, rest)| {
                let mut body = Map::from_iter(rest);
                body.insert("model".to_owned(), model.into());
                body.insert(
                    "messages".to_owned(),
                    json!([{ "role": "user", "content": "hi" }]),
                );
                body.insert("stream".to_owned(), stream.into());
                for (name, value) in [
                    ("stream_options", options),
                    ("max_tokens", old),
                    ("max_completion_tokens", new),
                ] {
                    if let Some(value) = value {
                        body.insert(name.to_owned(), value);
                    }
                }
                Value::from(body)
            },
        )
    }

    /// The change, made the slow way on a tree.
    fn expected(mut body: Value, model: &str, cap: u64) -> Value {
        body["model"] = model.into();
        if body["stream"] == json!(true) {
            if body["stream_options"].is_null() {
                body["stream_options"] = json!({});
            }
            body["stream_options"]["include_usage"] = json!(true);
        }
        let written = ["max_tokens", "max_completion_tokens"].map(|name| body[name].as_u64());
        for (name, written) in ["max_tokens", "max_completion_tokens"]
            .into_iter()
            .zip(written)
        {
            if written.is_some_and(|written| written > cap) {
                body[name] = cap.into();
            }
        }
        if written == [None, None] {
            body["max_completion_tokens"] = cap.into();
        }
        body
    }

    proptest! {
        #[test]
        fn only_what_should_change_changes(body in request(), spaced in any::<bool>(), cap in 0_u64..500) {
            let text = if spaced {
                serde_json::to_string_pretty(&body).expect("a tree")
            } else {
                body.to_string()
            };
            let changes = Changes { model: Some("z\"9"), include_usage: IncludeUsage::Ask, output_cap: Some(cap), ..Changes::default() };
            let out = rewritten(&text, &changes);
            let parsed: Value = serde_json::from_str(&out).expect("JSON");
            let was: Value = serde_json::from_str(&text).expect("JSON");
            // Indexing a tree for a missing member adds a null, so nulls are left out of the
            // comparison.
            let members = |value: Value| -> Map<String, Value> {
                let Value::Object(members) = value else { return Map::new() };
                members.into_iter().filter(|(_, value)| !value.is_null()).collect()
            };
            prop_assert_eq!(members(parsed), members(expected(was, "z\"9", cap)));
        }

        #[test]
        fn bytes_outside_of_a_change_stay(body in request(), spaced in any::<bool>()) {
            let text = if spaced {
                serde_json::to_string_pretty(&body).expect("a tree")
            } else {
                body.to_string()
            };
            let envelope = Envelope::decode(&Bytes::copy_from_slice(text.as_bytes())).expect("a request");
            let place = envelope.places.model;
            let out = rewritten(&text, &Changes { model: Some("Z"), ..Changes::default() });
            prop_assert_eq!(out, format!("{}\"Z\"{}", &text[..place.start], &text[place.end..]));
        }
    }
}
