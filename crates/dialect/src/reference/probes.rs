//! For each feature a request that holds it, in the words of each dialect that clients speak.

use crate::Operation;
use crate::gemini::{Call, Framing};

/// A feature, and the members that say it, in the order of [`CLIENTS`]; empty where a dialect has no word for it. They stand beside a
/// user's `hi`, or in place of it.
pub(super) struct Probe {
    pub(super) feature: &'static str,
    pub(super) members: [&'static str; 4],
}

/// What a client asks for, what its dialect is called, and the request that says nothing but `hi`.
pub(super) const CLIENTS: [(Operation, &str, &str); 4] = [
    (
        Operation::ChatCompletions,
        "OpenAI chat completions",
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#,
    ),
    (
        Operation::Responses,
        "OpenAI responses",
        r#"{"model":"m","store":false,"input":[{"role":"user","content":"hi"}]}"#,
    ),
    (
        Operation::Messages,
        "Anthropic messages",
        r#"{"model":"m","max_tokens":4000,"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    (
        Operation::Content(Call::GenerateContent, Framing::Events),
        "Gemini generateContent",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
    ),
];

const fn probe(feature: &'static str, members: [&'static str; 4]) -> Probe {
    Probe { feature, members }
}

pub(super) const PROBES: &[Probe] = &[
    probe(
        "instructions",
        [
            r#"{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hi"}]}"#,
            r#"{"instructions":"be kind"}"#,
            r#"{"system":"be kind"}"#,
            r#"{"systemInstruction":{"parts":[{"text":"be kind"}]}}"#,
        ],
    ),
    probe(
        "images in base64",
        [
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}"#,
            r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}]}"#,
        ],
    ),
    probe(
        "images by address",
        [
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}]}"#,
            r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"https://example.com/a.png"}]}]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"},{"fileData":{"mimeType":"image/png","fileUri":"https://example.com/a.png"}}]}]}"#,
        ],
    ),
    probe(
        "documents in base64",
        [
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}]}]}"#,
            r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]}]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}]}]}"#,
        ],
    ),
    probe(
        "documents by address",
        [
            "",
            r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_file","file_url":"https://example.com/a.pdf"}]}]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}]}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"},{"fileData":{"mimeType":"application/pdf","fileUri":"https://example.com/a.pdf"}}]}]}"#,
        ],
    ),
    probe(
        "files of an account",
        [
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"file","file":{"file_id":"file-1"}}]}]}"#,
            r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_file","file_id":"file-1"}]}]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"document","source":{"type":"file","file_id":"file_1"}}]}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"},{"fileData":{"mimeType":"application/pdf","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/1"}}]}]}"#,
        ],
    ),
    probe(
        "sound",
        [
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}]}"#,
            r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}]}"#,
            "",
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"audio/wav","data":"AAAA"}}]}]}"#,
        ],
    ),
    probe(
        "tools",
        [
            r#"{"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{}}}}]}"#,
            r#"{"tools":[{"type":"function","name":"look","strict":false,"parameters":{"type":"object","properties":{}}}]}"#,
            r#"{"tools":[{"name":"look","input_schema":{"type":"object","properties":{}}}]}"#,
            r#"{"tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":{"type":"object","properties":{}}}]}]}"#,
        ],
    ),
    probe(
        "calls at once and their results",
        [
            r#"{"tools":[{"type":"function","function":{"name":"look"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"call_2","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"a"},{"role":"tool","tool_call_id":"call_2","content":"b"}]}"#,
            r#"{"tools":[{"type":"function","name":"look","strict":false,"parameters":{"type":"object","properties":{}}}],"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"call_1","name":"look","arguments":"{}"},{"type":"function_call","call_id":"call_2","name":"look","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"a"},{"type":"function_call_output","call_id":"call_2","output":"b"}]}"#,
            r#"{"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{}},{"type":"tool_use","id":"toolu_2","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"},{"type":"tool_result","tool_use_id":"toolu_2","content":"b"}]}]}"#,
            r#"{"tools":[{"functionDeclarations":[{"name":"look"}]}],"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"look","args":{}}},{"functionCall":{"name":"look","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"a"}}},{"functionResponse":{"name":"look","response":{"output":"b"}}}]}]}"#,
        ],
    ),
    probe(
        "images in results of tools",
        [
            "",
            r#"{"tools":[{"type":"function","name":"look","strict":false,"parameters":{"type":"object","properties":{}}}],"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"call_1","name":"look","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}]}"#,
            r#"{"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}]}"#,
            "",
        ],
    ),
    probe(
        "a tool that must be called",
        [
            r#"{"tools":[{"type":"function","function":{"name":"look"}}],"tool_choice":{"type":"function","function":{"name":"look"}}}"#,
            r#"{"tools":[{"type":"function","name":"look","strict":false,"parameters":{"type":"object","properties":{}}}],"tool_choice":{"type":"function","name":"look"}}"#,
            r#"{"tools":[{"name":"look","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"look"}}"#,
            r#"{"tools":[{"functionDeclarations":[{"name":"look"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["look"]}}}"#,
        ],
    ),
    probe(
        "no tool may be called",
        [
            r#"{"tools":[{"type":"function","function":{"name":"look"}}],"tool_choice":"none"}"#,
            r#"{"tools":[{"type":"function","name":"look","strict":false,"parameters":{"type":"object","properties":{}}}],"tool_choice":"none"}"#,
            r#"{"tools":[{"name":"look","input_schema":{"type":"object"}}],"tool_choice":{"type":"none"}}"#,
            r#"{"tools":[{"functionDeclarations":[{"name":"look"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}"#,
        ],
    ),
    probe(
        "one call at a time",
        [
            r#"{"tools":[{"type":"function","function":{"name":"look"}}],"parallel_tool_calls":false}"#,
            r#"{"tools":[{"type":"function","name":"look","strict":false,"parameters":{"type":"object","properties":{}}}],"parallel_tool_calls":false}"#,
            r#"{"tools":[{"name":"look","input_schema":{"type":"object"}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}"#,
            "",
        ],
    ),
    probe(
        "arguments to the letter",
        [
            r#"{"tools":[{"type":"function","function":{"name":"look","strict":true,"parameters":{"type":"object","properties":{},"additionalProperties":false,"required":[]}}}]}"#,
            r#"{"tools":[{"type":"function","name":"look","strict":true,"parameters":{"type":"object","properties":{},"additionalProperties":false,"required":[]}}]}"#,
            r#"{"tools":[{"name":"look","strict":true,"input_schema":{"type":"object","properties":{},"additionalProperties":false,"required":[]}}]}"#,
            r#"{"tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":{"type":"object","properties":{}}}]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}}}"#,
        ],
    ),
    probe(
        "tools that the provider runs",
        [
            r#"{"web_search_options":{}}"#,
            r#"{"tools":[{"type":"web_search"}]}"#,
            r#"{"tools":[{"type":"web_search_20250305","name":"web_search"}]}"#,
            r#"{"tools":[{"googleSearch":{}}]}"#,
        ],
    ),
    probe(
        "JSON",
        [
            r#"{"response_format":{"type":"json_object"}}"#,
            r#"{"text":{"format":{"type":"json_object"}}}"#,
            "",
            r#"{"generationConfig":{"responseMimeType":"application/json"}}"#,
        ],
    ),
    probe(
        "JSON of a schema",
        [
            r#"{"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false}}}}"#,
            r#"{"text":{"format":{"type":"json_schema","name":"a","strict":true,"schema":{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false}}}}"#,
            r#"{"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false}}}}"#,
            r#"{"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false}}}"#,
        ],
    ),
    probe(
        "output maximum",
        [
            r#"{"max_completion_tokens":500}"#,
            r#"{"max_output_tokens":500}"#,
            r#"{"max_tokens":500}"#,
            r#"{"generationConfig":{"maxOutputTokens":500}}"#,
        ],
    ),
    probe(
        "texts that end it",
        [
            r#"{"stop":["END"]}"#,
            "",
            r#"{"stop_sequences":["END"]}"#,
            r#"{"generationConfig":{"stopSequences":["END"]}}"#,
        ],
    ),
    probe(
        "temperature up to 1",
        [
            r#"{"temperature":0.5}"#,
            r#"{"temperature":0.5}"#,
            r#"{"temperature":0.5}"#,
            r#"{"generationConfig":{"temperature":0.5}}"#,
        ],
    ),
    probe(
        "temperature above 1",
        [
            r#"{"temperature":1.5}"#,
            r#"{"temperature":1.5}"#,
            "",
            r#"{"generationConfig":{"temperature":1.5}}"#,
        ],
    ),
    probe(
        "top p",
        [
            r#"{"top_p":0.5}"#,
            r#"{"top_p":0.5}"#,
            r#"{"top_p":0.5}"#,
            r#"{"generationConfig":{"topP":0.5}}"#,
        ],
    ),
    probe(
        "top k",
        [
            "",
            "",
            r#"{"top_k":20}"#,
            r#"{"generationConfig":{"topK":20}}"#,
        ],
    ),
    probe(
        "frequency penalty",
        [
            r#"{"frequency_penalty":0.5}"#,
            "",
            "",
            r#"{"generationConfig":{"frequencyPenalty":0.5}}"#,
        ],
    ),
    probe(
        "presence penalty",
        [
            r#"{"presence_penalty":0.5}"#,
            "",
            "",
            r#"{"generationConfig":{"presencePenalty":0.5}}"#,
        ],
    ),
    probe(
        "seed",
        [
            r#"{"seed":7}"#,
            "",
            "",
            r#"{"generationConfig":{"seed":7}}"#,
        ],
    ),
    probe(
        "probabilities of tokens",
        [
            r#"{"logprobs":true,"top_logprobs":2}"#,
            r#"{"include":["message.output_text.logprobs"],"top_logprobs":2}"#,
            "",
            r#"{"generationConfig":{"responseLogprobs":true,"logprobs":2}}"#,
        ],
    ),
    probe(
        "tokens made likelier",
        [r#"{"logit_bias":{"17":5}}"#, "", "", ""],
    ),
    probe(
        "several answers",
        [
            r#"{"n":2}"#,
            "",
            "",
            r#"{"generationConfig":{"candidateCount":2}}"#,
        ],
    ),
    probe(
        "thinking by effort",
        [
            r#"{"reasoning_effort":"high"}"#,
            r#"{"reasoning":{"effort":"high"}}"#,
            r#"{"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}"#,
            r#"{"generationConfig":{"thinkingConfig":{"thinkingLevel":"high"}}}"#,
        ],
    ),
    probe(
        "thinking by tokens",
        [
            "",
            "",
            r#"{"thinking":{"type":"enabled","budget_tokens":2000}}"#,
            r#"{"generationConfig":{"thinkingConfig":{"thinkingBudget":2000}}}"#,
        ],
    ),
    probe(
        "an answer already begun",
        [
            r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"He"}]}"#,
            r#"{"input":[{"role":"user","content":"hi"},{"role":"assistant","content":"He"}]}"#,
            r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"He"}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"He"}]}]}"#,
        ],
    ),
    probe(
        "marks of what to cache",
        [
            "",
            "",
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}"#,
            r#"{"cachedContent":"cachedContents/1"}"#,
        ],
    ),
    probe(
        "for whom it is",
        [
            r#"{"user":"u7"}"#,
            r#"{"user":"u7"}"#,
            r#"{"metadata":{"user_id":"u7"}}"#,
            "",
        ],
    ),
    probe(
        "state that the provider keeps",
        [
            r#"{"store":true}"#,
            r#"{"previous_response_id":"resp_1"}"#,
            "",
            "",
        ],
    ),
    probe(
        "a field that nobody knows",
        [
            r#"{"hologram":true}"#,
            r#"{"hologram":true}"#,
            r#"{"hologram":true}"#,
            r#"{"hologram":true}"#,
        ],
    ),
];
