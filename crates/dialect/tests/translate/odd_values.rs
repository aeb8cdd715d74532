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
        "file_data",
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
                OpenAiChat | Anthropic => format!("messages[0].content[0].{member}"),
                OpenAiResponses => format!("input[0].content[0].{member}"),
                Gemini => format!("contents[0].parts[0].{member}"),
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
}

/// A request that says the value at that place.
fn said(dialect: Dialect, place: &str, value: &str) -> String {
    let part = place.replace('@', &serde_json::Value::from(value).to_string());
    match dialect {
        OpenAiChat | Anthropic => {
            format!(r#"{{"model":"m","messages":[{{"role":"user","content":[{part}]}}]}}"#)
        }
        OpenAiResponses => {
            format!(r#"{{"model":"m","input":[{{"role":"user","content":[{part}]}}]}}"#)
        }
        Gemini => format!(r#"{{"contents":[{{"role":"user","parts":[{part}]}}]}}"#),
    }
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
