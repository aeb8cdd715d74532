//! What some models refuse that others of their provider take: each request is written by the row of the catalog, from a
//! client of another dialect, with what it goes without.

use serde_json::{Value, json};
use sluicegate_dialect::canonical::{Inexpressible, Target};
use sluicegate_dialect::{Dialect, ProviderDialect, translate_request};

use crate::fixtures::row;

/// What `model` of `provider` is sent of a request with these `members`, what is refused of it and what it goes without.
fn sent(
    client: Dialect,
    (provider, model): (&str, &str),
    members: &Value,
) -> (Value, Vec<String>, Vec<String>) {
    let row = row(provider);
    let said = [json!({"role": "user", "content": "hi"})];
    let mut request = match client {
        Dialect::OpenAiResponses => json!({"model": "m", "input": "hi"}),
        Dialect::Anthropic => json!({"model": "m", "max_tokens": 9_000, "messages": said}),
        _ => json!({"model": "m", "messages": said}),
    };
    let all = request.as_object_mut().expect("an object");
    all.extend(members.as_object().expect("an object").clone());
    let target = Target::of(&row, model);
    let to = ProviderDialect::of(&row);
    let sent = translate_request(client, to, request.to_string().as_bytes(), &target);
    let sent = sent.expect("a request");
    let body = serde_json::from_slice(&sent.body).expect("JSON");
    let fields =
        |lost: Vec<Inexpressible>| lost.into_iter().map(|lost| lost.field).collect::<Vec<_>>();
    (body, fields(sent.inexpressible), fields(sent.foregone))
}

#[test]
fn a_model_that_takes_tools_without_thoughts_only_is_told_not_to_think() {
    let tool = json!([{"name": "t", "input_schema": {"type": "object"}}]);
    let thinks = json!({"type": "enabled", "budget_tokens": 4_096});
    for (provider, model, members, effort, gone) in [
        (
            "openai",
            "gpt-5.5",
            json!({"tools": tool, "thinking": thinks}),
            json!("none"),
            true,
        ),
        (
            "openai",
            "gpt-5.6-terra",
            json!({"tools": tool}),
            json!("none"),
            false,
        ),
        (
            "azure",
            "gpt-5.4-mini",
            json!({"tools": tool, "thinking": thinks}),
            json!("none"),
            true,
        ),
        (
            "openai",
            "gpt-5.5",
            json!({"thinking": thinks}),
            json!("medium"),
            false,
        ),
        (
            "openai",
            "gpt-5.2",
            json!({"tools": tool, "thinking": thinks}),
            json!("medium"),
            false,
        ),
        (
            "openai",
            "gpt-4.1",
            json!({"tools": tool}),
            Value::Null,
            false,
        ),
    ] {
        let (body, refused, foregone) = sent(Dialect::Anthropic, (provider, model), &members);
        assert_eq!(body["reasoning_effort"], effort, "{model} {members}");
        assert_eq!(refused, [""; 0], "{model}");
        let expected: &[&str] = if gone { &["thinking"] } else { &[] };
        assert_eq!(foregone, expected, "{model} {members}");
    }
}

#[test]
fn a_model_that_takes_one_sampler_gets_the_temperature() {
    let both = json!({"temperature": 0.2, "top_p": 0.9});
    let haiku = ("bedrock", "eu.anthropic.claude-haiku-4-5-20251001-v1:0");
    let (body, refused, foregone) = sent(Dialect::OpenAiChat, haiku, &both);
    assert_eq!(body["inferenceConfig"], json!({"temperature": 0.2}));
    assert_eq!((refused.len(), foregone), (0, vec!["top_p".to_owned()]));
    for (model, members, temperature, top_p, gone) in [
        (
            "claude-sonnet-4-6",
            both.clone(),
            json!(0.2),
            Value::Null,
            true,
        ),
        (
            "claude-opus-4-1-20250805",
            both.clone(),
            json!(0.2),
            Value::Null,
            true,
        ),
        (
            "claude-3-5-haiku-20241022",
            both,
            json!(0.2),
            json!(0.9),
            false,
        ),
        // What holds without it is no loss.
        (
            "claude-sonnet-4-5",
            json!({"temperature": 1, "top_p": 0.9}),
            Value::Null,
            json!(0.9),
            false,
        ),
        (
            "claude-sonnet-4-5",
            json!({"temperature": 0.5, "top_p": 1}),
            json!(0.5),
            Value::Null,
            false,
        ),
        (
            "claude-sonnet-4-5",
            json!({"top_p": 0.9}),
            Value::Null,
            json!(0.9),
            false,
        ),
    ] {
        let claude = ("anthropic", model);
        let (body, refused, foregone) = sent(Dialect::OpenAiChat, claude, &members);
        assert_eq!(
            (&body["temperature"], &body["top_p"]),
            (&temperature, &top_p),
            "{model} {members}"
        );
        let expected: &[&str] = if gone { &["top_p"] } else { &[] };
        assert_eq!(
            (refused.len(), &*foregone),
            (
                0,
                &*expected
                    .iter()
                    .map(|it| (*it).to_owned())
                    .collect::<Vec<_>>()
            ),
            "{model}"
        );
    }
}

#[test]
fn an_effort_that_claude_does_not_know_becomes_a_lower_one() {
    let at_maker = "/output_config/effort";
    let at_amazon = "/outputConfig/effort";
    for (provider, model, place, wished, effort) in [
        ("anthropic", "claude-opus-4-6", at_maker, "xhigh", "high"),
        ("anthropic", "claude-sonnet-4-6", at_maker, "xhigh", "high"),
        ("anthropic", "claude-sonnet-4-6", at_maker, "max", "max"),
        ("anthropic", "claude-opus-4-7", at_maker, "xhigh", "xhigh"),
        ("anthropic", "claude-sonnet-5", at_maker, "max", "max"),
        ("anthropic", "claude-haiku-5-5", at_maker, "minimal", "low"),
        (
            "bedrock",
            "us.anthropic.claude-sonnet-4-6",
            at_amazon,
            "xhigh",
            "high",
        ),
        (
            "bedrock",
            "global.anthropic.claude-opus-4-8",
            at_amazon,
            "xhigh",
            "xhigh",
        ),
    ] {
        let members = json!({"reasoning_effort": wished, "max_completion_tokens": 9_000});
        let (body, refused, foregone) = sent(Dialect::OpenAiChat, (provider, model), &members);
        assert_eq!(
            body.pointer(place),
            Some(&json!(effort)),
            "{model}: {wished}"
        );
        assert_eq!((refused, foregone), (vec![], vec![]), "{model}");
    }
}

#[test]
fn a_model_that_thinks_is_told_no_temperature() {
    let cool = json!({"temperature": 0.2, "top_p": 0.9});
    let thinks = json!({"type": "enabled", "budget_tokens": 4_096});
    let asks = |thinking: &Value| json!({"temperature": 0.2, "top_p": 0.9, "thinking": thinking});
    let off = json!({"type": "disabled"});
    let tool = json!([{"name": "t", "input_schema": {"type": "object"}}]);
    for (provider, model, members, is_told) in [
        ("openai", "gpt-5.1", cool.clone(), true),
        ("openai", "gpt-5.1", asks(&thinks), false),
        ("azure", "gpt-5.2", asks(&thinks), false),
        ("openai", "gpt-5.2", asks(&off), true),
        ("openai", "gpt-5.5", cool.clone(), false),
        ("openai", "gpt-5.5", asks(&off), true),
        ("azure", "gpt-5.6-luna", cool.clone(), false),
        // Who gets tools is told not to think.
        (
            "openai",
            "gpt-5.5",
            json!({"temperature": 0.2, "top_p": 0.9, "tools": tool}),
            true,
        ),
        ("openai", "gpt-4.1", cool, true),
    ] {
        let (body, refused, foregone) = sent(Dialect::Anthropic, (provider, model), &members);
        let told = [&body["temperature"], &body["top_p"]];
        let (expected, gone): ([Value; 2], &[&str]) = if is_told {
            ([json!(0.2), json!(0.9)], &[])
        } else {
            ([Value::Null, Value::Null], &["temperature", "top_p"])
        };
        assert_eq!(told, [&expected[0], &expected[1]], "{model} {members}");
        assert_eq!(
            (refused.len(), &*foregone),
            (0, gone_of(gone).as_slice()),
            "{model} {members}"
        );
    }
}

#[test]
fn what_holds_without_it_is_no_loss_while_a_model_thinks() {
    let members = json!({"temperature": 1, "top_p": 1.0});
    let (body, refused, foregone) = sent(Dialect::Anthropic, ("openai", "gpt-5.5"), &members);
    assert_eq!(body.get("temperature").or(body.get("top_p")), None);
    assert_eq!((refused, foregone), (vec![], vec![]));
}

#[test]
fn probabilities_of_tokens_go_with_no_thoughts_in_both_dialects_of_openai() {
    let members = json!({"top_logprobs": 2, "include": ["message.output_text.logprobs"], "reasoning": {"effort": "low"}});
    let (body, _, foregone) = sent(Dialect::OpenAiResponses, ("openai", "gpt-5.2"), &members);
    assert_eq!(body["reasoning_effort"], "low");
    assert_eq!(body.get("logprobs").or(body.get("top_logprobs")), None);
    assert!(!foregone.is_empty(), "{body}");
    let target = Target::of(&row("openai"), "gpt-5.2");
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}],
        "logprobs": true, "temperature": 0.2, "reasoning_effort": "low"});
    let to = Dialect::OpenAiResponses;
    let sent = translate_request(
        Dialect::OpenAiChat,
        to,
        request.to_string().as_bytes(),
        &target,
    );
    let sent = sent.expect("a request");
    let body: Value = serde_json::from_slice(&sent.body).expect("JSON");
    assert_eq!(body["reasoning"]["effort"], "low");
    assert_eq!(body.get("temperature"), None);
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    let foregone: Vec<_> = sent.foregone.into_iter().map(|lost| lost.field).collect();
    assert_eq!(foregone, ["temperature", "logprobs"]);
}

fn gone_of(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
