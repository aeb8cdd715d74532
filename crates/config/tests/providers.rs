//! Every row of the catalog behind a configuration works with all that it offers.

use sluicegate_catalog::{CapName, Endpoint, LimitRow, Provider, ThinkingBy, providers};
use sluicegate_config::{Account, parse};

#[test]
fn every_provider_works_with_all_its_limits_and_charges() {
    for row in providers() {
        // Where a row knows two names of one limit, either will do.
        let mut limits: Vec<&LimitRow> = Vec::new();
        for limit in &row.limits {
            let same =
                |known: &&LimitRow| known.meter == limit.meter && known.window == limit.window;
            if !limits.iter().any(same) {
                limits.push(limit);
            }
        }
        for charge in row.charge.names() {
            let amounts: Vec<String> = limits
                .iter()
                .map(|l| format!("{}: 900000", l.short))
                .collect();
            let text = format!(
                "accounts: {{ a: {{ provider: {}, api_key: k, base_url: https://x.example, charge: {charge}, limits: {{ {} }} }} }}\n\
                 deployments: {{ m: {{ account: a }} }}\n",
                row.id,
                amounts.join(", ")
            );
            let policy = parse("p.yaml", &text, &|_| None);
            let policy = policy.unwrap_or_else(|errors| panic!("{}: {errors}", row.id));
            let account = &policy.accounts[0];
            assert_eq!(account.limits.len(), limits.len(), "{}", row.id);
            assert_eq!(Some(&*account.charge), row.charge.rule(charge));
        }
    }
}

#[test]
fn a_row_of_the_file_says_of_translation_headers_and_addresses_what_one_of_the_catalog_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/good/translation.yaml");
    #[expect(clippy::disallowed_methods, reason = "a test has no runtime to block")]
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let env = |name: &str| (name == "RPM").then(|| "500".to_owned());
    let policy = parse("translation.yaml", &text, &env).expect("the file is right");
    let [claude, own, proxy, plain, dated] = &*policy.accounts else {
        panic!("five accounts");
    };

    let told = &claude.provider.translation;
    let url = |endpoint| {
        let model = "claude-sonnet-4-5@20250929";
        claude.provider.url("https://x.example/v1", endpoint, model)
    };
    assert_eq!(
        url(Endpoint::Stream).as_deref(),
        Some(
            "https://x.example/v1/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"
        )
    );
    assert_eq!(told.output_default, 8_000);
    for (model, follows, thinks) in [
        ("claude-sonnet-4-5@20250929", true, Some(ThinkingBy::Budget)),
        ("claude-opus-4-6", true, Some(ThinkingBy::Effort)),
        ("claude-haiku-3", false, None),
        // What the other row says is replaced, not added to.
        ("gemini-2.5-pro", false, None),
    ] {
        assert_eq!(told.schema.hold(model), follows, "{model}");
        assert_eq!(told.thinking_of(model), thinks, "{model}");
    }
    assert!(!told.always_thinks.hold("gemini-2.5-pro"));
    assert!(told.fixed_sampling.hold("claude-fable-5"));

    let told = &own.provider.translation;
    let effort = Some(ThinkingBy::Effort);
    assert_eq!(told.thinking_of("openai/gpt-oss-120b"), effort);
    assert!(told.schema.hold("any"), "the rest is as in the catalog");

    assert_eq!(proxy.base_url, "https://bedrock.eu-north-1.example.net");
    assert_eq!(proxy.provider.aws_service.as_deref(), Some("execute-api"));
    let headers = |account: &Account| {
        let headers = account.provider.headers.iter();
        let lines = headers.map(|(name, text)| format!("{name}: {text}"));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(headers(proxy), ["x-team: 500", "x-via: red, blue"]);
    assert!(proxy.provider.translation.thinking.is_empty());

    assert_eq!(headers(plain), Vec::<String>::new());
    let told = &plain.provider.translation;
    assert_eq!(told.cap, CapName::MaxCompletionTokens);
    assert!(!told.schema.hold("claude-opus-4-6"));
    assert_eq!(told.thinking_of("claude-opus-4-6"), effort);
    assert_eq!(
        headers(dated),
        ["anthropic-beta: some-beta", "anthropic-version: 2099-01-01"]
    );
}

/// What a row may say of translation, the file may say: a key that is added to one is added to the other.
#[test]
fn the_file_has_every_key_of_translation_that_a_row_has() {
    let row = "like = \"openai\"\nid = \"x\"\ntranslation = { no_such_key = 1 }";
    let said = Provider::from_toml(row).expect_err("an unknown key");
    let said = said.to_string();
    let (_, known) = said.split_once("expected one of ").expect("it lists them");
    let known = known.split(", ").map(|key| key.trim_matches('`'));
    let schema = sluicegate_config::schema();
    let of_file = &schema["$defs"]["translation"]["properties"];
    let mut keys = 0;
    for key in known {
        assert!(of_file.get(key).is_some(), "{key} is missing in {of_file}");
        keys += 1;
    }
    assert_eq!(of_file.as_object().map(serde_json::Map::len), Some(keys));
}
