//! What cannot be said is told by a place that is in the request of the client, in the client's spelling.

use serde_json::{Value, json};
use sluicegate_dialect::{Dialect, ProviderDialect, translate_request};

use crate::fixtures::{DIALECTS, fixtures, targets};
use crate::provider_only::{PROVIDER_ONLY, targets_of};

/// What is told of a request to every other dialect and every kind of model, each once.
fn told(from: Dialect, wire: &[u8]) -> Vec<String> {
    let shared = DIALECTS.iter().filter(|(to, _, _)| *to != from);
    let shared = shared
        .flat_map(|(to, _, _)| targets().map(|(_, target)| (ProviderDialect::from(*to), target)));
    let only = PROVIDER_ONLY.iter().flat_map(|(to, folder, _)| {
        let targets = targets_of(folder).into_iter();
        targets.map(|(_, target)| (*to, target))
    });
    let mut told = Vec::new();
    for (to, target) in shared.chain(only) {
        let Ok(translated) = translate_request(from, to, wire, &target) else {
            continue;
        };
        told.extend(translated.inexpressible.into_iter().map(|lost| lost.field));
    }
    told.sort();
    told.dedup();
    told
}

/// Whether the value has something at that path.
fn has(value: &Value, path: &str) -> bool {
    let Some(end) = path.find(['.', '[']).filter(|end| *end > 0) else {
        return match path.strip_prefix('[') {
            None => path.is_empty() || value.get(path).is_some(),
            Some(path) => {
                let (index, rest) = path.split_once(']').expect("a bracket ends");
                let index: usize = index.parse().expect("an index");
                let rest = rest.strip_prefix('.').unwrap_or(rest);
                value.get(index).is_some_and(|value| has(value, rest))
            }
        };
    };
    let rest = path[end..].strip_prefix('.').unwrap_or(&path[end..]);
    value
        .get(&path[..end])
        .is_some_and(|value| has(value, rest))
}

#[test]
fn every_place_that_is_told_of_a_fixture_is_there() {
    let mut places = 0;
    for (from, folder, _) in DIALECTS {
        for (path, wire) in fixtures(folder, ".request.json") {
            let whole: Value = serde_json::from_slice(&wire).expect("a fixture is JSON");
            for place in told(from, &wire) {
                places += 1;
                assert!(has(&whole, &place), "{}: {place}", path.display());
            }
        }
    }
    assert!(places > 60, "{places} places");
}

/// Arguments that are none, a text that ends an answer and is empty, a medium for instructions, a result without a call, an unknown
/// role, an empty message, and a last one that the model has begun.
const REFUSED: [(Dialect, &str, &[&str]); 4] = [
    (
        Dialect::OpenAiChat,
        r#"{"model":"m","stop":["a",""],"messages":[
            {"role":"system","content":[{"type":"text","text":"be kind"},{"type":"image_url","image_url":{"url":"https://a.example/a.png"}}]},
            {"role":"user","content":"hi"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
                {"id":"b","type":"function","function":{"name":"f","arguments":"{\"q\":"}}]},
            {"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"},
            {"role":"tool","tool_call_id":"z","content":"3"},{"role":"critic","content":"bad"},{"role":"user","content":[]},
            {"role":"user","content":"go on"},{"role":"assistant","content":"It"}]}"#,
        &[
            "messages[0].content[1].image_url",
            "messages[2].tool_calls[1].function.arguments",
            "messages[5]",
            "messages[6]",
            "messages[7]",
            "messages[9]",
            "stop",
            "stop[1]",
        ],
    ),
    (
        Dialect::Anthropic,
        r#"{"model":"m","max_tokens":9,"stop_sequences":[" "],"messages":[
            {"role":"user","content":[{"type":"text","text":"hi"},{"type":"image","source":{"type":"file","file_id":"f"}}]},
            {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":[1]}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"},
                {"type":"image","source":{"type":"file","file_id":"g"}}]},{"type":"tool_result","tool_use_id":"z","content":"3"}]},
            {"role":"critic","content":"bad"},{"role":"user","content":[]},
            {"role":"user","content":"go on"},{"role":"assistant","content":"It"}]}"#,
        &[
            "messages[0].content[1].source.file_id",
            "messages[1].content[0].input",
            "messages[2].content[0].content[1].source.file_id",
            "messages[2].content[1]",
            "messages[3]",
            "messages[4]",
            "messages[6]",
            "stop_sequences",
            "stop_sequences[0]",
        ],
    ),
    (
        Dialect::OpenAiResponses,
        r#"{"model":"m","store":false,"input":[{"role":"user","content":[{"type":"input_text","text":"hi"},
                {"type":"input_file","file_id":"f"}]},
            {"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
            {"type":"function_call","call_id":"b","name":"f","arguments":"q"},
            {"type":"function_call_output","call_id":"a","output":"1"},{"type":"function_call_output","call_id":"b","output":"2"},
            {"type":"function_call_output","call_id":"z","output":"3"},{"role":"critic","content":"bad"},
            {"role":"user","content":[]},{"role":"user","content":"go on"},
            {"role":"assistant","content":"It"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}"#,
        &[
            "input[0].content[1].file_id",
            "input[10]",
            "input[2].arguments",
            "input[5]",
            "input[6]",
            "input[7]",
            "input[9]",
        ],
    ),
    (
        Dialect::Gemini,
        r#"{"contents":[{"parts":[{"text":"hi"},{"file_data":{"file_uri":"files/f"}}]},
            {"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"function_call":{"name":"f","args":7}}]},
            {"parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}},
                {"function_response":{"name":"f","response":{"output":"2"},"parts":[{"inline_data":{"mime_type":"audio/wav","data":"AAAA"}}]}},
                {"functionResponse":{"name":"g","response":{"output":"3"}}}]},
            {"role":"critic","parts":[{"text":"bad"}]},{"role":"user","parts":[]},
            {"parts":{"text":"go on"}},{"role":"model","parts":[{"text":"It"}]}],
            "generation_config":{"top_k":4,"stop_sequences":["a","b","c","d","e",""]}}"#,
        &[
            "contents[0].parts[1].file_data",
            "contents[1].parts[1].function_call.args",
            "contents[2].parts[1].function_response.parts[0].inline_data",
            "contents[2].parts[2]",
            "contents[3]",
            "contents[4]",
            "contents[6]",
            "generation_config.stop_sequences",
            "generation_config.stop_sequences[4]",
            "generation_config.stop_sequences[5]",
            "generation_config.top_k",
        ],
    ),
];

#[test]
fn what_is_refused_is_told_with_its_indexes() {
    for (from, wire, expected) in REFUSED {
        let whole: Value = serde_json::from_str(wire).expect("JSON");
        let told = told(from, wire.as_bytes());
        for place in &told {
            assert!(has(&whole, place), "{place}");
        }
        for place in expected {
            assert!(
                told.iter().any(|told| told == place),
                "{place} is not in {told:?}"
            );
        }
        let is_parted = |place: &&String| !place.contains("[]");
        assert_eq!(told.iter().filter(is_parted).count(), told.len());
    }
}

/// What a client is told was left out is what is not there, to the last message.
#[test]
fn what_is_told_as_left_out_is_not_sent() {
    for (from, wire, _) in REFUSED {
        for (to, _, _) in DIALECTS.iter().filter(|(to, _, _)| *to != from) {
            let [(_, target), _] = targets();
            let sent = translate_request(from, *to, wire.as_bytes(), &target).expect("a request");
            let body = String::from_utf8(sent.body.to_vec()).expect("UTF-8");
            for gone in ["\"bad\"", "\"It\"", "\"3\"", "\"z\""] {
                assert!(!body.contains(gone), "{gone} to {to:?}: {body}");
            }
            let kept = ["\"hi\"", "\"go on\"", "\"1\"", "\"2\""];
            for kept in kept.into_iter().filter(|kept| wire.contains(kept)) {
                assert!(body.contains(kept), "{kept} to {to:?}: {body}");
            }
        }
    }
}

/// Without them the conversation would not hold together: what is told of them is that they are not sent as they were written.
#[test]
fn what_a_conversation_cannot_do_without_is_sent_by_the_nearest() {
    let wire = r#"{"messages":[{"role":"assistant","content":null,"tool_calls":[
            {"id":"c","type":"function","function":{"name":"f","arguments":"{\"q\":"}}]},
        {"role":"tool","tool_call_id":"c","content":"1"}]}"#;
    let [(_, target), _] = targets();
    let arguments = json!({ "arguments": "{\"q\":" });
    let filler = json!(".");
    for (to, opening, sent_arguments) in [
        (
            Dialect::Anthropic.into(),
            "/messages/0/content",
            "/messages/1/content/0/input",
        ),
        (
            Dialect::Gemini.into(),
            "/contents/0/parts/0/text",
            "/contents/1/parts/0/functionCall/args",
        ),
        (
            ProviderDialect::Bedrock,
            "/messages/0/content/0/text",
            "/messages/1/content/0/toolUse/input",
        ),
    ] {
        let sent = translate_request(Dialect::OpenAiChat, to, wire.as_bytes(), &target);
        let sent = sent.expect("a request");
        let told: Vec<_> = sent.inexpressible.iter().map(|it| &*it.field).collect();
        let places = [
            "messages[0].tool_calls[0].function.arguments",
            "messages[0].role",
        ];
        assert_eq!(told, places, "{to:?}");
        let body: Value = serde_json::from_slice(&sent.body).expect("JSON");
        assert_eq!(body.pointer(opening), Some(&filler), "{body}");
        assert_eq!(body.pointer(sent_arguments), Some(&arguments), "{body}");
    }
}

/// Where nothing is left the provider's own refusal would be about a conversation that no client has written.
#[test]
fn a_conversation_of_which_nothing_is_left_is_refused() {
    for (from, wire, place) in [
        (
            Dialect::OpenAiChat,
            r#"{"messages":[{"role":"user","content":""}]}"#,
            "messages[0]",
        ),
        (
            Dialect::OpenAiChat,
            r#"{"messages":[{"role":"assistant","content":"It"}]}"#,
            "messages[0]",
        ),
        (Dialect::OpenAiResponses, r#"{"input":""}"#, "input"),
        (
            Dialect::OpenAiResponses,
            r#"{"input":[{"role":"user","content":[]}]}"#,
            "input[0]",
        ),
        (
            Dialect::Gemini,
            r#"{"contents":[{"parts":[]}]}"#,
            "contents[0]",
        ),
    ] {
        let [(_, target), _] = targets();
        let error = translate_request(from, Dialect::Anthropic, wire.as_bytes(), &target);
        let error = error.expect_err(wire);
        assert!(error.message.contains(&format!("`{place}`")), "{error}");
        assert!(error.param.is_some());
    }
}

#[test]
fn a_call_that_is_required_of_no_tool_is_told() {
    let chat = |choice: &str| {
        format!(
            r#"{{"model":"m","tool_choice":{choice},"messages":[{{"role":"user","content":"hi"}}]}}"#
        )
    };
    let named = r#"{"type":"function","function":{"name":"f"}}"#;
    let choices = [
        (r#""required""#, true),
        (named, true),
        (r#""auto""#, false),
        (r#""none""#, false),
    ];
    for (choice, is_told) in choices {
        let told = told(Dialect::OpenAiChat, chat(choice).as_bytes());
        let expected: &[&str] = if is_told { &["tool_choice"] } else { &[] };
        assert_eq!(told, expected, "{choice}");
    }
    let gemini = r#"{"contents":[{"parts":[{"text":"hi"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}"#;
    let told = told(Dialect::Gemini, gemini.as_bytes());
    assert_eq!(told, ["toolConfig.functionCallingConfig.mode"]);
}

/// A name is told by the tool, or by the call of one that is no longer offered, and before all that can be dropped.
#[test]
fn a_name_of_a_tool_that_is_not_taken_is_told_with_what_is() {
    let gemini = r#"{"generationConfig":{"topK":4},"tools":[{"functionDeclarations":[{"name":"f"},{"name":"a.b"}]}],"contents":[
        {"parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"a.b"}},{"functionCall":{"name":"c.d"}}]},
        {"parts":[{"functionResponse":{"name":"a.b","response":{}}},{"functionResponse":{"name":"c.d","response":{}}}]}]}"#;
    let long = "f".repeat(65);
    let anthropic = format!(
        r#"{{"max_tokens":9,"tools":[{{"name":"{long}","input_schema":{{"type":"object"}}}}],"messages":[{{"role":"user","content":"hi"}}]}}"#
    );
    let chat = r#"{"tools":[{"type":"function","function":{"name":"1f"}}],"messages":[{"role":"user","content":"hi"}]}"#;
    let of_gemini = [
        "tools[0].functionDeclarations[1].name",
        "contents[1].parts[1].functionCall.name",
    ];
    let long = ["tools[0].name"];
    let cases: [(Dialect, &str, &str, &[&str]); 6] = [
        (Dialect::Gemini, gemini, "openai", &of_gemini),
        (Dialect::Gemini, gemini, "anthropic", &of_gemini),
        (Dialect::Gemini, gemini, "vllm", &[]),
        (Dialect::Anthropic, &anthropic, "bedrock", &long),
        (Dialect::Anthropic, &anthropic, "gemini", &[]),
        (
            Dialect::OpenAiChat,
            chat,
            "gemini",
            &["tools[0].function.name"],
        ),
    ];
    for (from, wire, row, expected) in cases {
        let row = crate::fixtures::row(row);
        let target = sluicegate_dialect::canonical::Target::of(&row, "m");
        let sent = translate_request(from, ProviderDialect::of(&row), wire.as_bytes(), &target);
        let told = sent.expect("a request").inexpressible;
        let needed = told.iter().take_while(|it| it.instead.is_some());
        let needed: Vec<_> = needed.map(|it| &*it.field).collect();
        assert_eq!(needed, expected, "{}", row.id);
        let rest = &told[needed.len()..];
        assert!(rest.iter().all(|it| it.instead.is_none()), "{rest:?}");
    }
}
