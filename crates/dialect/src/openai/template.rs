//! A whole answer that no model wrote, in the shape that SDKs expect of one.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Envelope;

/// An answer that is ready before it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Template<'a> {
    /// Names the answer.
    pub id: &'a str,
    /// When it was made, in Unix seconds.
    pub created: u64,
    /// What each choice says.
    pub text: &'a str,
}

impl Template<'_> {
    /// The body of the answer to `request`: an event stream where it asks for one, with the usage if it wants that too. Nothing was
    /// used.
    ///
    /// ```
    /// use sluicegate_dialect::openai::{Envelope, Template};
    /// let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#.into();
    /// let request = Envelope::decode(&body)?;
    /// let answer = Template { id: "one", created: 1, text: "Later, please." }.answer(&request);
    /// assert!(answer.windows(14).any(|part| part == b"Later, please."));
    /// # Ok::<(), sluicegate_dialect::RequestError>(())
    /// ```
    pub fn answer(&self, request: &Envelope) -> Bytes {
        if request.facts.stream {
            self.stream(request)
        } else {
            self.whole(request)
        }
    }

    fn whole(&self, request: &Envelope) -> Bytes {
        let choice = |index| {
            json!({
                "index": index,
                "message": { "role": "assistant", "content": self.text, "refusal": null },
                "logprobs": null,
                "finish_reason": "stop",
            })
        };
        let choices: Vec<Value> = (0..request.facts.choices).map(choice).collect();
        let mut answer = self.frame("chat.completion", request);
        answer["choices"] = choices.into();
        answer["usage"] = nothing_used();
        answer.to_string().into()
    }

    fn stream(&self, request: &Envelope) -> Bytes {
        let mut out = String::new();
        let mut event = |choices: Value, usage: Value| {
            let mut chunk = self.frame("chat.completion.chunk", request);
            chunk["choices"] = choices;
            if request.usage_wanted {
                chunk["usage"] = usage;
            }
            out.push_str(&format!("data: {chunk}\n\n"));
        };
        for index in 0..request.facts.choices {
            let says = json!({ "role": "assistant", "content": self.text });
            let begin =
                json!([{ "index": index, "delta": says, "logprobs": null, "finish_reason": null }]);
            event(begin, Value::Null);
            let end =
                json!([{ "index": index, "delta": {}, "logprobs": null, "finish_reason": "stop" }]);
            event(end, Value::Null);
        }
        if request.usage_wanted {
            event(json!([]), nothing_used());
        }
        out.push_str("data: [DONE]\n\n");
        out.into()
    }

    fn frame(&self, object: &str, request: &Envelope) -> Value {
        json!({
            "id": self.id,
            "object": object,
            "created": self.created,
            "model": request.facts.model,
        })
    }
}

fn nothing_used() -> Value {
    json!({ "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Usage;
    use crate::openai::{ChatStream, UsageChunk};
    use bytes::BytesMut;
    use std::sync::Arc;

    const TEMPLATE: Template<'static> = Template {
        id: "t",
        created: 7,
        text: "잠시 후에 \"다시\"\n",
    };

    fn request(members: &str) -> Envelope {
        let body = format!(r#"{{"model":"m","messages":[{{"role":"user"}}]{members}}}"#);
        Envelope::decode(&body.into()).expect("a request")
    }

    #[test]
    fn every_choice_says_it_and_nothing_was_used() {
        let answer = TEMPLATE.answer(&request(r#","n":2"#));
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        for index in 0..2 {
            let choice = &answer["choices"][index];
            assert_eq!(choice["index"], index);
            assert_eq!(choice["message"]["content"], TEMPLATE.text);
            assert_eq!(choice["finish_reason"], "stop");
        }
        assert_eq!(answer["object"], "chat.completion");
        assert_eq!(answer["usage"]["total_tokens"], 0);
    }

    #[test]
    fn a_stream_is_complete_by_our_own_reading() {
        for (wanted, usage) in [("false", None), ("true", Some(Usage::default()))] {
            let members =
                format!(r#","stream":true,"n":2,"stream_options":{{"include_usage":{wanted}}}"#);
            let answer = TEMPLATE.answer(&request(&members));
            let openai = Arc::clone(sluicegate_catalog::provider("openai").expect("a row"));
            let mut chat = ChatStream::new(openai, UsageChunk::Pass);
            let mut out = BytesMut::new();
            chat.push(answer.clone(), &mut out).expect("small events");
            chat.finish(&mut out);
            assert_eq!(out, answer);
            let progress = chat.progress();
            assert!(progress.is_complete() && progress.has_content(), "{wanted}");
            assert_eq!(progress.usage, usage, "{wanted}");
        }
    }
}
