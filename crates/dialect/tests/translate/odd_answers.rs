//! What servers write that no provider documents: answers and streams of which everything that can be understood reaches the client.

use bytes::Bytes;
use sluicegate_dialect::Dialect::{self, Anthropic, Gemini, OpenAiChat, OpenAiResponses};
use sluicegate_dialect::canonical::{Feature, Part};
use sluicegate_dialect::gemini::{Call, Framing};
use sluicegate_dialect::{Crossing, Operation, ProviderDialect, Usage, Whole};

use crate::fixtures::{play, stamp};
use crate::frames::framed;
use crate::provider_only;

/// Of an answer that came whole.
fn parts(from: impl Into<ProviderDialect>, body: &str) -> Vec<Part> {
    let answer = from.into().read_answer(body.as_bytes());
    answer.expect(body).parts
}

fn text(said: &str) -> Vec<Part> {
    vec![Part::Text(said.to_owned())]
}

/// What an Anthropic client gets of a stream of `events`, each the data of one.
fn streamed(from: usize, events: &[&str]) -> String {
    let wire: String = events
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect();
    let to = usize::from(from != 1);
    let (said, progress) = play(from, to, [wire.as_bytes()]);
    assert_eq!(progress.error, None, "{wire}");
    assert!(progress.is_complete(), "{wire}");
    said
}

const ANTHROPIC_END: [&str; 2] = [
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
    r#"{"type":"message_stop"}"#,
];

#[test]
fn members_of_kinds_that_nobody_knows_cost_nothing() {
    let block = r#"{"id":7,"content":[{"type":"newblock","text":{"a":1},"data":{},"content":7},{"type":"text","text":"y"}],"stop_reason":"end_turn"}"#;
    assert_eq!(parts(Anthropic, block), text("y"));
    let said = streamed(
        1,
        &[
            r#"{"type":"weird","delta":"str","index":"x","message":[],"content_block":"b"}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"newblock","text":{"a":1},"data":{}}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"y"}}"#,
            ANTHROPIC_END[0],
            ANTHROPIC_END[1],
        ],
    );
    assert!(
        said.contains(r#""text":"y""#) || said.contains(r#""content":"y""#),
        "{said}"
    );
    let responses = r#"{"status":"completed","output":[{"type":"new","content":7,"arguments":{},"summary":null},{"type":"message","content":[{"type":"output_text","text":"y"}]}]}"#;
    assert_eq!(parts(OpenAiResponses, responses), text("y"));
}

#[test]
fn events_that_only_providers_tell_are_left_out_whatever_they_hold() {
    let bedrock = framed(
        b"event weird {\"contentBlockIndex\":\"x\",\"delta\":\"s\"}\n\
          event contentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"y\"}}\n\
          event messageStop {\"stopReason\":\"end_turn\"}\n",
    );
    let (said, progress) = provider_only::play(
        (ProviderDialect::Bedrock, "bedrock"),
        OpenAiChat,
        [&bedrock[..]],
    );
    assert!(
        progress.is_complete() && said.contains(r#""content":"y""#),
        "{said}"
    );
    let cohere = b"data: {\"type\":\"debug\",\"delta\":\"str\",\"index\":\"x\"}\n\n\
        data: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\"y\"}}}}\n\n\
        data: {\"type\":\"tool-call-start\",\"index\":1,\"delta\":{\"message\":{\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":null}}]}}}\n\n\
        data: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"TOOL_CALL\"}}\n\n";
    let (said, progress) = provider_only::play(
        (ProviderDialect::Cohere, "cohere"),
        OpenAiChat,
        [&cohere[..]],
    );
    assert!(
        progress.is_complete() && said.contains(r#""content":"y""#),
        "{said}"
    );
    assert!(
        said.contains(r#""id":"c""#) && said.contains(r#""name":"f""#),
        "{said}"
    );
}

#[test]
fn a_call_is_read_however_it_is_written() {
    let call = |arguments: &str, id: &str| {
        let arguments = arguments.to_owned();
        vec![Part::ToolCall {
            id: id.to_owned(),
            name: "f".to_owned(),
            arguments,
            signature: None,
        }]
    };
    let body = r#"{"id":"x","choices":[{"message":{"tool_calls":[{"id":7,"index":"0","function":{"name":"f","arguments":{"a": 1.0}}}]}}]}"#;
    assert_eq!(parts(OpenAiChat, body), call(r#"{"a":1.0}"#, "7"));
    let body =
        r#"{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":null}}]}}"#;
    assert_eq!(parts(ProviderDialect::Cohere, body), call("", "c"));
    for index in ["\"0\"", "0.0", "0"] {
        let said = streamed(
            0,
            &[
                &format!(
                    r#"{{"id":1,"choices":[{{"index":{index},"delta":{{"tool_calls":[{{"index":{index},"id":7,"function":{{"name":"f","arguments":{{"a":1}}}}}}]}}}}]}}"#
                ),
                r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
                "[DONE]",
            ],
        );
        assert!(said.contains(r#""id":"7""#), "{said}");
        assert!(said.contains(r#""partial_json":"{\"a\":1}""#), "{said}");
    }
}

#[test]
fn a_prompt_that_google_refuses_is_a_refusal_also_where_the_candidates_are_null() {
    let body = r#"{"candidates":null,"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"no"}}"#;
    assert_eq!(parts(Gemini, body), [Part::Refusal("no".to_owned())]);
}

/// A chunk that repeats the message beside what it adds to it.
#[test]
fn what_a_chunk_adds_goes_before_what_it_repeats() {
    let said = streamed(
        0,
        &[
            r#"{"choices":[{"delta":{"content":"a"},"message":{"content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"content":"b"},"message":{"content":"ab"},"finish_reason":"stop"}]}"#,
            "[DONE]",
        ],
    );
    assert!(
        said.contains(r#""text":"b""#) && !said.contains(r#""text":"ab""#),
        "{said}"
    );
}

#[test]
fn of_several_choices_that_with_the_index_0_is_read() {
    let body = r#"{"choices":[{"index":1,"message":{"content":"n"}},{"index":0,"message":{"content":"y"}}]}"#;
    assert_eq!(parts(OpenAiChat, body), text("y"));
    let body = r#"{"choices":[{"index":1,"message":{"content":"y"}}]}"#;
    assert_eq!(parts(OpenAiChat, body), text("y"));
    let body = r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"n"}]}},{"content":{"parts":[{"text":"y"}]}}]}"#;
    assert_eq!(parts(Gemini, body), text("y"));
}

#[test]
fn half_a_surrogate_pair_is_the_replacement_character() {
    let body = |said: &str| format!(r#"{{"choices":[{{"message":{{"content":"{said}"}}}}]}}"#);
    for (said, read) in [
        (r"a\ud83d", "a\u{fffd}"),
        (r"\ude00b", "\u{fffd}b"),
        (r"\ud83d\ude00", "\u{1f600}"),
    ] {
        assert_eq!(parts(OpenAiChat, &body(said)), text(read));
        let said = streamed(
            0,
            &[
                &format!(r#"{{"choices":[{{"delta":{{"content":"{said}"}}}}]}}"#),
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ],
        );
        assert!(said.contains(read), "{said}");
    }
}

#[test]
fn usage_in_floats_is_usage() {
    let told = Usage {
        input_tokens: 10,
        output_tokens: 3,
        ..Usage::default()
    };
    let bodies: [(Dialect, &str); 4] = [
        (
            OpenAiChat,
            r#"{"choices":[{}],"usage":{"prompt_tokens":10.0,"completion_tokens":3.0}}"#,
        ),
        (
            Anthropic,
            r#"{"content":[],"usage":{"input_tokens":10.0,"output_tokens":3.0}}"#,
        ),
        (
            OpenAiResponses,
            r#"{"output":[],"usage":{"input_tokens":10.0,"output_tokens":3.0}}"#,
        ),
        (
            Gemini,
            r#"{"candidates":[{}],"usageMetadata":{"promptTokenCount":10.0,"candidatesTokenCount":3.0}}"#,
        ),
    ];
    for (dialect, body) in bodies {
        let answer = dialect.read_answer(body.as_bytes()).expect(body);
        assert_eq!(answer.usage, Some(told), "{body}");
    }
}

/// Mistral's models say what they thought in a part of the content.
#[test]
fn thoughts_among_the_content_are_thoughts() {
    let content = r#"[{"type":"thinking","thinking":[{"type":"text","text":"mul"},{"type":"text","text":"ling"}]},{"type":"text","text":"y"}]"#;
    let thought = Part::Thinking {
        text: "mulling".to_owned(),
        signature: None,
    };
    let body = format!(r#"{{"choices":[{{"message":{{"content":{content}}}}}]}}"#);
    assert_eq!(
        parts(OpenAiChat, &body),
        [thought, Part::Text("y".to_owned())]
    );
    let said = streamed(
        0,
        &[
            &format!(r#"{{"choices":[{{"delta":{{"content":{content}}}}}]}}"#),
            r#"{"choices":[{"delta":{"content":"z"},"finish_reason":"stop"}]}"#,
            "[DONE]",
        ],
    );
    let thought = said.find(r#""thinking":"mulling""#).expect("a thought");
    assert!(
        said.find(r#""text":"y""#)
            .is_some_and(|text| text > thought),
        "{said}"
    );
}

const IMAGES: [(ProviderDialect, &str); 3] = [
    (
        ProviderDialect::Shared(Gemini),
        r#"{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}@]}}]}"#,
    ),
    (
        ProviderDialect::Bedrock,
        r#"{"output":{"message":{"content":[{"image":{"format":"png","source":{"bytes":"QUJD"}}}@]}}}"#,
    ),
    (
        ProviderDialect::Shared(OpenAiChat),
        r#"{"choices":[{"message":{"content":[@],"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}}]}"#,
    ),
];

/// The answer as a client of `operation` gets it.
fn whole(from: ProviderDialect, operation: Operation, body: &str) -> Whole {
    let crossing = Crossing::Translated {
        client: operation,
        provider: from,
    };
    let whole = crossing.whole(Bytes::copy_from_slice(body.as_bytes()), None, stamp);
    whole.expect(body)
}

#[test]
fn an_image_in_an_answer_is_carried_or_told() {
    let google = Operation::Content(Call::GenerateContent, Framing::Events);
    for (from, body) in IMAGES {
        let alone = body.replace('@', "");
        let text = match from {
            ProviderDialect::Bedrock => r#",{"text":"y"}"#,
            ProviderDialect::Shared(OpenAiChat) => r#"{"type":"text","text":"y"}"#,
            _ => r#",{"text":"y"}"#,
        };
        let with_text = body.replace('@', text);
        for operation in [Operation::Messages, Operation::Responses] {
            let told = whole(from, operation, &with_text);
            assert_eq!(told.lost, [Feature::Images], "{with_text}");
            assert!(!told.emptied, "{with_text}");
            assert!(whole(from, operation, &alone).emptied, "{alone}");
        }
        let carried = whole(from, google, &alone);
        assert!(carried.lost.is_empty() && !carried.emptied, "{alone}");
        let body = String::from_utf8_lossy(&carried.body).into_owned();
        assert!(body.contains(r#""data":"QUJD""#), "{body}");
    }
}

#[test]
fn what_is_said_aloud_is_told_by_its_words() {
    let body = r#"{"choices":[{"message":{"content":null,"audio":{"id":"a","data":"QUJD","transcript":"y"}}}]}"#;
    let told = whole(OpenAiChat.into(), Operation::Messages, body);
    assert_eq!((told.lost, told.emptied), (vec![Feature::Audio], false));
    let body = String::from_utf8_lossy(&told.body).into_owned();
    assert!(body.contains(r#""text":"y""#), "{body}");
}

#[test]
fn a_stream_of_images_alone_fails_in_words() {
    let google = r#"{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]},"finishReason":"STOP"}]}"#;
    let router = r#"{"choices":[{"delta":{"images":[{"image_url":{"url":"data:image/png;base64,QUJD"}}]},"finish_reason":"stop"}]}"#;
    let drafted = google.replacen("[{\"inline", r#"[{"thought":true,"text":"hm"},{"inline"#, 1);
    for (from, data) in [(3, google), (3, drafted.as_str()), (0, router)] {
        let (_, progress) = play(from, 1, [format!("data: {data}\n\n").as_bytes()]);
        let error = progress.error.expect("nothing could be told");
        assert!(error.message.contains("images or sound alone"), "{error:?}");
    }
}
