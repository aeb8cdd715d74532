//! Thoughts and their seals, twice around: a provider thinks and calls a tool, the client sends that
//! back with the tool's result, and the provider gets its seal to the byte in its place.

mod clients;
mod providers;

use bytes::Bytes;
use serde_json::{Value, json};
use sluicegate_dialect::{Changes, Crossing, Dialect, Envelope, Owed, ProviderDialect, Seals};

use crate::fixtures::DIALECTS;
use clients::{CLIENTS, Client};
use providers::{PROVIDERS, Provider};

/// What goes to `provider` in the second turn, and what it goes without.
fn second(client: &Client, said: Vec<Value>, provider: &Provider) -> (Value, Vec<String>) {
    let body = Bytes::from((client.second_turn)(said).to_string());
    let envelope = Envelope::decode(client.operation, "m", &body).expect("a request");
    let own = provider.dialect == ProviderDialect::Shared(client.operation.dialect());
    let (body, foregone) = if own {
        let changes = Changes {
            seals: Seals::Own,
            ..Changes::default()
        };
        let foregone = envelope.foregone().into_iter().collect();
        (envelope.rewrite(&changes), foregone)
    } else {
        let sent = envelope.translated(provider.dialect, &(provider.target)());
        let sent = sent.expect("it can be translated");
        assert_eq!(sent.inexpressible, [], "{} {}", client.name, provider.name);
        (sent.body, sent.foregone)
    };
    let foregone: Vec<_> = foregone.into_iter().map(|lost| lost.field).collect();
    (serde_json::from_slice(&body).expect("JSON"), foregone)
}

/// What the client keeps of the provider's answer, plain and streamed.
fn kept(client: &Client, provider: &Provider) -> [Vec<Value>; 2] {
    [
        (client.plain)(&provider.answered(client.operation.dialect())),
        (client.streamed)(&provider.streamed(client.operation.dialect())),
    ]
}

#[test]
fn every_provider_gets_its_seal_back_through_every_client() {
    for client in &CLIENTS {
        for provider in &PROVIDERS {
            for (way, said) in ["plain", "streamed"].iter().zip(kept(client, provider)) {
                let (sent, foregone) = second(client, said, provider);
                let place = format!("{way} from {} through {}", provider.name, client.name);
                let found = sent.pointer(provider.place);
                assert_eq!(found, Some(&json!(provider.seal)), "{place}: {sent:#}");
                if let Some((at, text)) = provider.text {
                    assert_eq!(sent.pointer(at), Some(&json!(text)), "{place}: {sent:#}");
                }
                assert_eq!(foregone, [""; 0], "{place}");
            }
        }
    }
}

/// An older Claude is asked to think amid its calls, as it has its thoughts of them.
#[test]
fn a_claude_that_thinks_by_a_budget_goes_on_thinking() {
    let [_, old] = crate::fixtures::targets().map(|(_, target)| target);
    let claude = PROVIDERS
        .iter()
        .find(|provider| provider.name == "anthropic");
    let claude = claude.expect("one of them");
    for client in CLIENTS.iter().filter(|client| client.name != "messages") {
        for said in kept(client, claude) {
            let mut body = (client.second_turn)(said);
            let (name, wish) = match client.name {
                "chat" => ("reasoning_effort", json!("high")),
                "responses" => ("reasoning", json!({"effort": "high"})),
                _ => (
                    "generationConfig",
                    json!({"thinkingConfig": {"thinkingBudget": 2000}}),
                ),
            };
            body[name] = wish;
            let body = Bytes::from(body.to_string());
            let envelope = Envelope::decode(client.operation, "m", &body).expect("a request");
            let sent = envelope
                .translated(claude.dialect, &old)
                .expect("a request");
            assert_eq!(sent.foregone, [], "{}", client.name);
            let sent: Value = serde_json::from_slice(&sent.body).expect("JSON");
            assert_eq!(sent["thinking"]["type"], "enabled", "{}", client.name);
        }
    }
}

#[test]
fn no_provider_gets_anothers_seal() {
    for client in &CLIENTS {
        for thought in &PROVIDERS {
            for (asked, said) in PROVIDERS
                .iter()
                .flat_map(|asked| kept(client, thought).map(|said| (asked, said)))
            {
                // Claude is the same on every platform.
                let is_one = |name: &str| name == "anthropic" || name == "bedrock";
                if thought.name == asked.name || is_one(thought.name) && is_one(asked.name) {
                    continue;
                }
                let (sent, foregone) = second(client, said, asked);
                let place = format!("{} to {} by {}", thought.name, asked.name, client.name);
                let sent = sent.to_string();
                assert!(!sent.contains(thought.seal), "{place}: {sent}");
                for mark in ["sluicegate", "c2x1aWNlZ2F0ZS1", "gemini#", "gemini-call#"] {
                    assert!(!sent.contains(mark), "{place}: {sent}");
                }
                assert_eq!(foregone.len(), 1, "{place}: {foregone:?} {sent}");
            }
        }
    }
}

/// Chat completions give no seal and take none.
#[test]
fn a_chat_provider_gets_no_seal() {
    let row = crate::fixtures::row("openai");
    let client = &CLIENTS[0];
    for provider in &PROVIDERS {
        for said in kept(client, provider) {
            let body = Bytes::from((client.second_turn)(said).to_string());
            let envelope = Envelope::decode(client.operation, "m", &body).expect("a request");
            let crossing = Crossing::to(client.operation, &row).expect("it takes chat");
            let sent = crossing.outbound(&envelope, &Changes::default(), Owed::TheForm, &row);
            let sent = sent.expect("it passes").body;
            let sent = String::from_utf8_lossy(&sent);
            assert!(!sent.contains("extra_content"), "{}: {sent}", provider.name);
            assert!(!sent.contains(provider.seal), "{}: {sent}", provider.name);
        }
    }
}

/// A client that keeps only what it knows loses them: Claude is not asked to go on with what it does not
/// get, and the client is told.
#[test]
fn who_loses_its_thoughts_is_told() {
    let chat = &CLIENTS[0];
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]});
    let mut body = (chat.second_turn)(vec![message]);
    body["reasoning_effort"] = json!("high");
    let body = Bytes::from(body.to_string());
    let envelope = Envelope::decode(chat.operation, "m", &body).expect("a request");
    let [today, old] = crate::fixtures::targets().map(|(_, target)| target);
    let claude = ProviderDialect::Shared(Dialect::Anthropic);
    let google = ProviderDialect::Shared(Dialect::Gemini);
    for (provider, target, foregone) in [
        (claude, &old, &["reasoning_effort"][..]),
        // It thinks as it sees fit, and nobody can tell whether it has.
        (claude, &today, &[]),
        (google, &old, &[]),
        (google, &today, &["messages[].reasoning_content"]),
    ] {
        let sent = envelope.translated(provider, target).expect("a request");
        let told: Vec<_> = sent.foregone.iter().map(|lost| &*lost.field).collect();
        assert_eq!(told, foregone, "{provider:?}");
        let thinks = String::from_utf8_lossy(&sent.body).contains("budget_tokens");
        assert!(!thinks, "{provider:?}");
    }
}

/// A model that does not think is not told to.
#[test]
fn a_wish_to_think_is_named_where_nobody_thinks() {
    for (row, model) in [
        ("cohere", "command-a-03-2025"),
        ("openai", "gpt-4.1"),
        ("bedrock", "meta.llama3-3-70b-instruct-v1:0"),
        ("mistral", "mistral-small-latest"),
    ] {
        let row = crate::fixtures::row(row);
        let target = sluicegate_dialect::canonical::Target::of(&row, model);
        let to = ProviderDialect::of(&row);
        for ((operation, members), named) in [
            (&CLIENTS[0], json!({"reasoning_effort": "high"})),
            (
                &CLIENTS[1],
                json!({"thinking": {"type": "enabled", "budget_tokens": 2000}}),
            ),
            (&CLIENTS[2], json!({"reasoning": {"effort": "high"}})),
            (
                &CLIENTS[3],
                json!({"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}}),
            ),
        ]
        .map(|(client, members)| (client.operation, members))
        .into_iter()
        .zip([
            "reasoning_effort",
            "thinking",
            "reasoning",
            "generationConfig.thinkingConfig",
        ]) {
            if to == ProviderDialect::Shared(operation.dialect()) {
                continue;
            }
            let client = CLIENTS.iter().find(|client| client.operation == operation);
            let mut body = (client.expect("one of them").first_turn)();
            let all = body.as_object_mut().expect("an object");
            all.extend(members.as_object().expect("an object").clone());
            let body = Bytes::from(body.to_string());
            let envelope = Envelope::decode(operation, "m", &body).expect("a request");
            let sent = envelope.translated(to, &target).expect("a request");
            let told: Vec<_> = sent.inexpressible.iter().map(|lost| &*lost.field).collect();
            assert_eq!(told, [named], "{model} for {operation:?}");
        }
    }
}

#[test]
fn the_table_is_whole() {
    let clients = CLIENTS.iter().map(|client| client.operation.dialect());
    assert!(clients.eq(DIALECTS.iter().map(|(dialect, _, _)| *dialect)));
    assert_eq!(PROVIDERS.len(), 4);
}
