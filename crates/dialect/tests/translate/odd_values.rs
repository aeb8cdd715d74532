//! Values that are none, at every place where a client may write one: what becomes of them is refused by its place, or is read
//! again in the dialect that it was written in.

use sluicegate_dialect::Dialect::{self, Anthropic, Gemini, OpenAiChat, OpenAiResponses};
use sluicegate_dialect::translate_request;

use crate::fixtures::{DIALECTS, targets};

/// Places of media, as the content of one message, with `@` for the value; and the name of what is refused.
const MEDIA: [(Dialect, &str, &str); 17] = [
    (
        Anthropic,
        r#"{"type":"image","source":{"type":"base64","media_type":@,"data":"QQ=="}}"#,
        "source",
    ),
    (
        Anthropic,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":@}}"#,
        "source",
    ),
    (
        Anthropic,
        r#"{"type":"image","source":{"type":"url","url":@}}"#,
        "source",
    ),
    (
        Anthropic,
        r#"{"type":"document","source":{"type":"base64","media_type":@,"data":"QQ=="}}"#,
        "source",
    ),
    (
        Anthropic,
        r#"{"type":"document","source":{"type":"url","url":@}}"#,
        "source",
    ),
    (
        OpenAiChat,
        r#"{"type":"image_url","image_url":{"url":@}}"#,
        "image_url",
    ),
    (
        OpenAiChat,
        r#"{"type":"input_audio","input_audio":{"data":@,"format":"wav"}}"#,
        "input_audio",
    ),
    (
        OpenAiChat,
        r#"{"type":"input_audio","input_audio":{"data":"QQ==","format":@}}"#,
        "input_audio",
    ),
    (
        OpenAiChat,
        r#"{"type":"file","file":{"file_data":@}}"#,
        "file",
    ),
    (
        OpenAiResponses,
        r#"{"type":"input_image","image_url":@}"#,
        "image_url",
    ),
    (
        OpenAiResponses,
        r#"{"type":"input_file","file_data":@}"#,
        "file_data",
    ),
    (
        OpenAiResponses,
        r#"{"type":"input_file","file_url":@}"#,
        "file_url",
    ),
    (
        OpenAiResponses,
        r#"{"type":"input_audio","input_audio":{"data":@,"format":"wav"}}"#,
        "input_audio",
    ),
    (
        OpenAiResponses,
        r#"{"type":"input_audio","input_audio":{"data":"QQ==","format":@}}"#,
        "input_audio",
    ),
    (
        Gemini,
        r#"{"inlineData":{"mimeType":@,"data":"QQ=="}}"#,
        "inlineData",
    ),
    (
        Gemini,
        r#"{"inlineData":{"mimeType":"image/png","data":@}}"#,
        "inlineData",
    ),
    (
        Gemini,
        r#"{"fileData":{"mimeType":@,"fileUri":"https://a.example/b"}}"#,
        "fileData",
    ),
];

/// Places where any text may stand.
const NAMES: [(Dialect, &str); 8] = [
    (
        Anthropic,
        r#"{"type":"document","title":@,"source":{"type":"url","url":"https://a.example/b"}}"#,
    ),
    (
        Anthropic,
        r#"{"type":"document","title":@,"source":{"type":"text","media_type":"text/plain","data":@}}"#,
    ),
    (
        Anthropic,
        r#"{"type":"tool_result","tool_use_id":@,"content":@}"#,
    ),
    (
        OpenAiChat,
        r#"{"type":"file","file":{"filename":@,"file_data":"QQ=="}}"#,
    ),
    (
        OpenAiResponses,
        r#"{"type":"input_file","filename":@,"file_data":"QQ=="}"#,
    ),
    (Gemini, r#"{"fileData":{"fileUri":@}}"#),
    (Gemini, r#"{"functionCall":{"name":@,"id":@,"args":{}}}"#),
    (
        Gemini,
        r#"{"functionResponse":{"name":@,"response":{"output":@}}}"#,
    ),
];

/// Requests of little but names.
const REQUESTS: [(Dialect, &str); 4] = [
    (
        Anthropic,
        r#"{"model":@,"max_tokens":1,"system":@,"stop_sequences":[@],"metadata":{"user_id":@},
        "tools":[{"name":@,"description":@,"input_schema":{}}],"tool_choice":{"type":"tool","name":@},
        "messages":[{"role":"user","content":@},
        {"role":"assistant","content":[{"type":"thinking","thinking":@,"signature":@},{"type":"redacted_thinking","data":@},
        {"type":"text","text":@},{"type":"tool_use","id":@,"name":@,"input":{@:@}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":@,"content":[{"type":"text","text":@}],"is_error":true}]}]}"#,
    ),
    (
        OpenAiChat,
        r#"{"model":@,"stop":@,"user":@,"tools":[{"type":"function","function":{"name":@,"description":@,"parameters":{}}}],
        "tool_choice":{"type":"function","function":{"name":@}},
        "response_format":{"type":"json_schema","json_schema":{"name":@,"description":@,"schema":{}}},
        "messages":[{"role":"system","content":@},{"role":"user","content":@},
        {"role":"assistant","reasoning_content":@,"content":@,"refusal":@,
        "tool_calls":[{"id":@,"type":"function","function":{"name":@,"arguments":@}}]},
        {"role":"tool","tool_call_id":@,"content":@}]}"#,
    ),
    (
        OpenAiResponses,
        r#"{"model":@,"instructions":@,"user":@,"tools":[{"type":"function","name":@,"description":@,"parameters":{}}],
        "tool_choice":{"type":"function","name":@},"text":{"format":{"type":"json_schema","name":@,"description":@,"schema":{}}},
        "input":[{"role":"user","content":@},{"type":"reasoning","summary":[{"type":"summary_text","text":@}],"encrypted_content":@},
        {"role":"assistant","content":[{"type":"output_text","text":@},{"type":"refusal","refusal":@}]},
        {"type":"function_call","call_id":@,"name":@,"arguments":@},{"type":"function_call_output","call_id":@,"output":@}]}"#,
    ),
    (
        Gemini,
        r#"{"systemInstruction":{"parts":[{"text":@}]},"generationConfig":{"stopSequences":[@]},
        "tools":[{"functionDeclarations":[{"name":@,"description":@,"parametersJsonSchema":{}}]}],
        "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":[@]}},
        "contents":[{"role":"user","parts":[{"text":@}]},{"role":"model","parts":[{"text":@,"thought":true},{"text":@},
        {"functionCall":{"id":@,"name":@,"args":{@:@}},"thoughtSignature":@}]},
        {"role":"user","parts":[{"functionResponse":{"id":@,"name":@,"response":{"error":@}}}]}]}"#,
    ),
];

/// No media type, no base64, no address, no sound's format.
const NONE: [&str; 15] = [
    "",
    " ",
    "/",
    "image/ ",
    " /png",
    "=",
    "\u{0}",
    "수문",
    "au,io/x-wav",
    "data:",
    "data: ",
    "data: https://papers.example/a.pdf",
    "data:text/plain,A",
    "data:;base64,QQ==",
    "data:au,io/x-wav;base64,QQ==",
];

/// What is one of these, though an odd one, or cannot be told on every side.
const ODD: [&str; 14] = [
    "IMAGE/PNG",
    "AUDIO/WAV",
    "audio/x;y,z",
    "video/mp4",
    "application/x-unheard-of",
    "DATA:Image/PNG;name=a;base64,QQ",
    "data:audio/mpeg;base64,-_-_",
    "https://youtu.be/x",
    "https://www.youtube.com/watch?v=x",
    "https://generativelanguage.googleapis.com/v1beta/files/x",
    "S3://bucket/수문.png",
    "files/x",
    "QU\r\nI",
    "\"",
];

#[test]
fn what_is_none_is_refused_by_its_place() {
    for (from, place, member) in MEDIA {
        for value in NONE {
            let named = told(from, &said(from, place, value));
            let expected = match from {
                OpenAiChat | Anthropic => format!("messages[0].content[1].{member}"),
                OpenAiResponses => format!("input[0].content[1].{member}"),
                Gemini => format!("contents[0].parts[1].{member}"),
            };
            for named in named {
                assert!(named.contains(&expected), "{place} of {value:?}: {named:?}");
            }
        }
    }
}

#[test]
fn what_is_odd_is_read_where_it_is_written() {
    let media = MEDIA.map(|(from, place, _)| (from, place));
    for (from, place) in media.into_iter().chain(NAMES) {
        for value in ODD.into_iter().chain(NONE) {
            told(from, &said(from, place, value));
        }
    }
    for (from, request) in REQUESTS {
        for value in ODD.into_iter().chain(NONE) {
            told(from, &filled(request, value));
        }
    }
}

/// A request that says the value at that place, after a word that is left where the value is refused.
fn said(dialect: Dialect, place: &str, value: &str) -> String {
    let part = filled(place, value);
    match dialect {
        OpenAiChat | Anthropic => {
            format!(
                r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"text","text":"look"}},{part}]}}]}}"#
            )
        }
        OpenAiResponses => {
            format!(
                r#"{{"model":"m","input":[{{"role":"user","content":[{{"type":"text","text":"look"}},{part}]}}]}}"#
            )
        }
        Gemini => {
            format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"look"}},{part}]}}]}}"#)
        }
    }
}

fn filled(text: &str, value: &str) -> String {
    text.replace('@', &serde_json::Value::from(value).to_string())
}

/// What each dialect cannot be told, after what it is told was read again.
fn told(from: Dialect, body: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (to, _, _) in DIALECTS {
        for (_, target) in targets() {
            let translated = translate_request(from, to, body.as_bytes(), &target);
            let translated = translated.expect("it is a request");
            let again = to.read_request(&translated.body);
            let again = again.expect("what is written can be read");
            assert_eq!(again.inexpressible, [], "{body} as {:?}", translated.body);
            let named = translated.inexpressible.into_iter();
            all.push(named.map(|inexpressible| inexpressible.field).collect());
        }
    }
    all
}
