//! Providers that seal what they think: one answer each, whole and as a stream, and where its seal
//! belongs in the next request.

use bytes::{Bytes, BytesMut};
use serde_json::json;
use sluicegate_dialect::canonical::Target;
use sluicegate_dialect::openai::UsageChunk;
use sluicegate_dialect::{Dialect, ProviderDialect, StreamTranslation};

use crate::fixtures::{row, stamp, targets};
use crate::frames::framed;

pub(super) struct Provider {
    pub(super) name: &'static str,
    pub(super) dialect: ProviderDialect,
    row: &'static str,
    pub(super) target: fn() -> Target,
    /// In both alphabets' strange letters, as far as the provider has them.
    pub(super) seal: &'static str,
    /// Where it belongs.
    pub(super) place: &'static str,
    /// Where the thought belongs, and what it says.
    pub(super) text: Option<(&'static str, &'static str)>,
    answer: fn() -> String,
    stream: fn() -> Vec<u8>,
}

impl Provider {
    /// The answer as a client of `dialect` gets it.
    pub(super) fn answered(&self, dialect: Dialect) -> Vec<u8> {
        let answer = (self.answer)();
        if self.dialect == ProviderDialect::Shared(dialect) {
            return answer.into_bytes();
        }
        let answer = self.dialect.read_answer(answer.as_bytes());
        let answer = answer.expect("it is an answer");
        dialect.write_answer(&answer, &stamp()).to_vec()
    }

    /// The stream as a client of `dialect` gets it.
    pub(super) fn streamed(&self, dialect: Dialect) -> String {
        let stream = (self.stream)();
        let mut out = BytesMut::new();
        if self.dialect == ProviderDialect::Shared(dialect) {
            out.extend_from_slice(&stream);
        } else {
            let from = (self.dialect, row(self.row));
            let mut way = StreamTranslation::new(from, dialect, stamp(), UsageChunk::Pass);
            way.push(Bytes::from(stream), &mut out)
                .expect("no event is too large");
            way.finish(&mut out);
        }
        String::from_utf8(out.to_vec()).expect("it is UTF-8")
    }
}

fn today() -> Target {
    let [(_, today), _] = targets();
    today
}

fn claude_on_bedrock() -> Target {
    Target {
        model: "anthropic.claude-x".to_owned(),
        ..today()
    }
}

pub(super) const PROVIDERS: [Provider; 4] = [
    Provider {
        name: "gemini",
        dialect: ProviderDialect::Shared(Dialect::Gemini),
        row: "gemini",
        target: today,
        seal: "CiEBjz1rX0il+m/PJ7Vv9r==",
        place: "/contents/1/parts/0/thoughtSignature",
        text: None,
        answer: gemini_answer,
        stream: gemini_stream,
    },
    Provider {
        name: "anthropic",
        dialect: ProviderDialect::Shared(Dialect::Anthropic),
        row: "anthropic",
        target: today,
        seal: "EqQBCkYI+x/aDEf=",
        place: "/messages/1/content/0/signature",
        text: Some(("/messages/1/content/0/thinking", "Both gauges.")),
        answer: || {
            json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "c", "content": [
                {"type": "thinking", "thinking": "Both gauges.", "signature": "EqQBCkYI+x/aDEf="},
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}],
                "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 2}})
            .to_string()
        },
        stream: || {
            events(&[
                json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "c",
                    "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "thinking_delta", "thinking": "Both "}}),
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "thinking_delta", "thinking": "gauges."}}),
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "signature_delta", "signature": "EqQBCkYI+x/aDEf="}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "content_block_start", "index": 1,
                    "content_block": {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}}),
                json!({"type": "content_block_delta", "index": 1,
                    "delta": {"type": "input_json_delta", "partial_json": "{}"}}),
                json!({"type": "content_block_stop", "index": 1}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}}),
                json!({"type": "message_stop"}),
            ])
        },
    },
    Provider {
        name: "responses",
        dialect: ProviderDialect::Shared(Dialect::OpenAiResponses),
        row: "openai",
        target: today,
        seal: "gAAAAABo-x_aDEf=",
        place: "/input/1/encrypted_content",
        text: Some(("/input/1/summary/0/text", "Both gauges.")),
        answer: || response().to_string(),
        stream: || {
            let response = response();
            events(&[
                json!({"type": "response.created", "response": {"id": "resp_1", "model": "g", "output": []}}),
                json!({"type": "response.output_item.added", "output_index": 0,
                    "item": {"id": "rs_1", "type": "reasoning", "summary": []}}),
                json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Both "}),
                json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "gauges."}),
                json!({"type": "response.output_item.done", "output_index": 0, "item": response["output"][0]}),
                json!({"type": "response.output_item.added", "output_index": 1, "item": response["output"][1]}),
                json!({"type": "response.output_item.done", "output_index": 1, "item": response["output"][1]}),
                json!({"type": "response.completed", "response": response}),
            ])
        },
    },
    Provider {
        name: "bedrock",
        dialect: ProviderDialect::Bedrock,
        row: "bedrock",
        target: claude_on_bedrock,
        seal: "EqQBCkYI+x/bEDR=",
        place: "/messages/1/content/0/reasoningContent/reasoningText/signature",
        text: Some((
            "/messages/1/content/0/reasoningContent/reasoningText/text",
            "Both gauges.",
        )),
        answer: || {
            json!({"output": {"message": {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Both gauges.", "signature": "EqQBCkYI+x/bEDR="}}},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "look", "input": {}}}]}},
                "stopReason": "tool_use", "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}})
            .to_string()
        },
        stream: || {
            let lines = [
                r#"event messageStart {"role":"assistant"}"#,
                r#"event contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Both "}}}"#,
                r#"event contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"gauges."}}}"#,
                r#"event contentBlockDelta {"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"EqQBCkYI+x/bEDR="}}}"#,
                r#"event contentBlockStop {"contentBlockIndex":0}"#,
                r#"event contentBlockStart {"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"tooluse_1","name":"look"}}}"#,
                r#"event contentBlockDelta {"contentBlockIndex":1,"delta":{"toolUse":{"input":"{}"}}}"#,
                r#"event contentBlockStop {"contentBlockIndex":1}"#,
                r#"event messageStop {"stopReason":"tool_use"}"#,
                r#"event metadata {"usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}"#,
            ];
            framed(lines.join("\n").as_bytes())
        },
    },
];

fn gemini_answer() -> String {
    json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
        {"functionCall": {"id": "g1", "name": "look", "args": {}}, "thoughtSignature": "CiEBjz1rX0il+m/PJ7Vv9r=="}]}}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
        "modelVersion": "g", "responseId": "r1"})
    .to_string()
}

fn gemini_stream() -> Vec<u8> {
    format!("data: {}\r\n\r\n", gemini_answer()).into_bytes()
}

fn response() -> serde_json::Value {
    json!({"id": "resp_1", "object": "response", "status": "completed", "model": "g", "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Both gauges."}],
         "encrypted_content": "gAAAAABo-x_aDEf="},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{}", "status": "completed"}],
        "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}})
}

fn events(list: &[serde_json::Value]) -> Vec<u8> {
    let text = |event: &serde_json::Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    list.iter().map(text).collect::<String>().into_bytes()
}
