//! Every rule of every row at both ends, in numbers worked out by hand. Where recorded answers or documents name a
//! number, it is theirs.

use std::collections::BTreeSet;

use sluicegate_catalog::{ChargeRule, RequestSize, UsageTokens, provider, providers};
use sluicegate_core::{Amounts, Meter};

/// Bytes 400, tokens 90, a maximum of 50, and an answer expected to be 20 long.
const USUAL: RequestSize = RequestSize {
    output_cap: Some(50),
    output_expected: Some(20),
    ..RequestSize::of_text(400, 90)
};

/// The same without a maximum.
const UNCAPPED: RequestSize = RequestSize {
    output_cap: None,
    ..USUAL
};

/// The same without anything learned.
const UNLEARNED: RequestSize = RequestSize {
    output_cap: None,
    output_expected: None,
    ..USUAL
};

/// 1,000 in, of which 400 were read from a cache and 100 written to one, 30 out.
const USAGE: UsageTokens = UsageTokens {
    input: 1_000,
    cached_input: 400,
    cache_write: 100,
    output: 30,
    reasoning: 10,
};

/// What a request is charged on the meters `tokens`, `input_tokens`, `output_tokens` and `concurrent`.
type Admitted = (u64, u64, u64, u64);
/// What is counted in the end on the meters `tokens`, `input_tokens` and `output_tokens`.
type Settled = (u64, u64, u64);

#[rustfmt::skip]
const ON_ARRIVAL: &[(&str, &str, &str, RequestSize, Admitted)] = &[
    // 6,451 bytes and one choice: 1,612.75 rounded up, and 1.
    ("openai", "documented", "gpt-4o-mini", RequestSize::of_text(6_451, 0), (1_614, 1_613, 0, 1)),
    ("openai", "documented", "gpt-4o-mini", capped(6_451, 4_096), (4_096, 1_613, 4_096, 1)),
    // 103 bytes were charged 27 with max_tokens 100, where the documents say 100.
    ("openai", "observed", "gpt-4o-mini", capped(103, 100), (27, 26, 100, 1)),
    ("openai", "documented", "gpt-4o-mini", capped(103, 100), (100, 26, 100, 1)),
    ("azure", "documented", "d", USUAL, (150, 100, 50, 1)),
    ("azure", "documented", "d", RequestSize { best_of: 3, ..USUAL }, (450, 100, 150, 1)),
    // 23 bytes were charged 6 without a maximum.
    ("azure", "observed", "d", RequestSize::of_text(23, 0), (6, 6, 0, 1)),
    // 90 and 50 times the weight.
    ("azure_ptu", "documented", "my-gpt-5-mini", USUAL, (90 + 400, 90, 50, 1)),
    ("azure_ptu", "documented", "gpt-4.1", USUAL, (90 + 200, 90, 50, 1)),
    ("azure_ptu", "documented", "chat", USUAL, (90 + 400, 90, 50, 1)),
    // A maximum of 1,024 took nothing of the output limit since 2025-07-29, and all of it before.
    ("anthropic", "documented", "claude-sonnet-5", expected(90, 1_024, 20), (110, 90, 20, 1)),
    ("anthropic", "documented", "claude-sonnet-5", expected(90, 10, 20), (100, 90, 10, 1)),
    ("anthropic", "documented", "claude-sonnet-5", UNLEARNED, (90 + 4_096, 90, 4_096, 1)),
    ("anthropic", "documented", "claude-sonnet-5", RequestSize { images: 2, ..USUAL }, (3_310, 3_290, 20, 1)),
    ("anthropic", "reserved", "claude-sonnet-5", expected(90, 1_024, 20), (1_114, 90, 1_024, 1)),
    ("gemini", "documented", "gemini-2.5-pro", RequestSize { images: 1, ..USUAL }, (1_142, 1_122, 20, 1)),
    ("vertex", "paygo", "gemini-2.5-pro", USUAL, (110, 90, 50, 1)),
    ("vertex", "provisioned", "gemini-2.5-pro", USUAL, (110, 90, 50, 1)),
    // The maximum is not multiplied when it is reserved; the model's own where none is named.
    ("bedrock", "documented", "us.anthropic.claude-opus-4-8", USUAL, (140, 90, 50, 1)),
    ("bedrock", "documented", "anthropic.claude-sonnet-4-5-20250929-v1:0", UNCAPPED, (64_090, 90, 64_000, 1)),
    ("bedrock", "documented", "anthropic.claude-opus-4-20250514-v1:0", UNCAPPED, (32_090, 90, 32_000, 1)),
    ("bedrock", "documented", "anthropic.claude-3-5-haiku-20241022-v1:0", UNCAPPED, (8_282, 90, 8_192, 1)),
    ("bedrock", "documented", "amazon.nova-pro-v1:0", UNCAPPED, (128_090, 90, 128_000, 1)),
    // The maximum has to fit the input limit; output counts as it comes.
    ("bedrock_mantle", "documented", "openai.gpt-oss-120b", USUAL, (140, 140, 20, 1)),
    ("mistral", "settled", "mistral-small-latest", USUAL, (110, 90, 50, 1)),
    // Ten tokens of prompt in a stream without a maximum were charged 32,010.
    ("mistral", "ceiling", "mistral-small-latest", RequestSize::of_text(40, 10), (32_010, 10, 32_000, 1)),
    // One message of 34 bytes was charged 13: 8.5 rounded up, and 4.
    ("groq", "documented", "llama-3.1-8b-instant", RequestSize::of_text(34, 0), (13, 13, 0, 1)),
    ("groq", "documented", "llama-3.1-8b-instant", RequestSize { messages: 3, ..USUAL }, (162, 112, 50, 1)),
    ("cerebras", "uncached", "gpt-oss-120b", USUAL, (140, 90, 50, 1)),
    ("cerebras", "total", "gpt-oss-120b", UNCAPPED, (8_282, 90, 8_192, 1)),
    ("xai", "documented", "grok-4.6", USUAL, (140, 90, 50, 1)),
    ("xai", "expected", "grok-4.6", USUAL, (110, 90, 50, 1)),
    ("deepseek", "documented", "deepseek-chat", USUAL, (110, 90, 50, 1)),
    ("together", "reserved", "openai/gpt-oss-120b", USUAL, (140, 90, 50, 1)),
    ("together", "expected", "openai/gpt-oss-120b", USUAL, (110, 90, 50, 1)),
    ("fireworks", "uncached", "accounts/fireworks/models/x", USUAL, (110, 90, 20, 1)),
    ("fireworks", "total", "accounts/fireworks/models/x", USUAL, (110, 90, 20, 1)),
    ("cohere", "documented", "command-a-03-2025", USUAL, (110, 90, 50, 1)),
    ("openrouter", "documented", "x/y:free", USUAL, (140, 90, 50, 1)),
    ("upstage", "safe", "solar-pro2", USUAL, (140, 90, 50, 1)),
    ("upstage", "expected", "solar-pro2", USUAL, (110, 90, 50, 1)),
    ("naver", "reserved", "HCX-007", USUAL, (140, 90, 50, 1)),
    ("raon", "documented", "m", USUAL, (150, 100, 50, 1)),
    ("raon", "documented", "m", UNCAPPED, (4_196, 100, 4_096, 1)),
    // Three choices are three sequences, each as long as an answer is expected to be.
    ("vllm", "documented", "m", RequestSize { choices: 3, ..USUAL }, (150, 90, 150, 3)),
    ("tgi", "documented", "m", RequestSize { best_of: 2, ..USUAL }, (130, 90, 100, 2)),
];

#[rustfmt::skip]
const IN_THE_END: &[(&str, &str, &str, Settled)] = &[
    ("openai", "documented", "gpt-4o-mini", (1_030, 1_000, 30)),
    ("openai", "observed", "gpt-4o-mini", (1_030, 1_000, 30)),
    ("azure", "documented", "d", (1_030, 1_000, 30)),
    ("azure", "observed", "d", (1_030, 1_000, 30)),
    // 600 and eight or four times 30.
    ("azure_ptu", "documented", "gpt-5", (840, 600, 30)),
    ("azure_ptu", "documented", "gpt-4.1-mini", (720, 600, 30)),
    ("azure_ptu", "documented", "chat", (840, 600, 30)),
    // What was read from a cache leaves the count, what was written stays; Haiku 3.5 counts both.
    ("anthropic", "documented", "claude-sonnet-5", (630, 600, 30)),
    ("anthropic", "documented", "claude-3-5-haiku-20241022", (1_030, 1_000, 30)),
    ("anthropic", "reserved", "claude-sonnet-5", (630, 600, 30)),
    ("gemini", "documented", "gemini-2.5-pro", (1_030, 1_000, 30)),
    ("vertex", "paygo", "gemini-2.5-pro", (1_030, 1_000, 30)),
    ("vertex", "provisioned", "gemini-2.5-pro", (1_030, 1_000, 30)),
    // 600 and 30 times 15, 10, 5 and 1.
    ("bedrock", "documented", "us.anthropic.claude-opus-4-8", (1_050, 600, 30)),
    ("bedrock", "documented", "global.anthropic.claude-sonnet-5-v1:0", (900, 600, 30)),
    ("bedrock", "documented", "anthropic.claude-fable-5-1", (900, 600, 30)),
    ("bedrock", "documented", "openai.gpt-5.6-mini", (900, 600, 30)),
    ("bedrock", "documented", "anthropic.claude-3-7-sonnet-20250219-v1:0", (750, 600, 30)),
    ("bedrock", "documented", "anthropic.claude-opus-4-7", (750, 600, 30)),
    ("bedrock", "documented", "anthropic.claude-3-5-sonnet-20241022-v2:0", (630, 600, 30)),
    ("bedrock", "documented", "amazon.nova-pro-v1:0", (630, 600, 30)),
    ("bedrock_mantle", "documented", "openai.gpt-oss-120b", (630, 600, 30)),
    ("mistral", "settled", "mistral-small-latest", (1_030, 1_000, 30)),
    ("mistral", "ceiling", "mistral-small-latest", (1_030, 1_000, 30)),
    ("groq", "documented", "llama-3.1-8b-instant", (630, 600, 30)),
    ("cerebras", "uncached", "gpt-oss-120b", (630, 600, 30)),
    ("cerebras", "total", "gpt-oss-120b", (1_030, 1_000, 30)),
    ("xai", "documented", "grok-4.6", (1_030, 1_000, 30)),
    ("xai", "expected", "grok-4.6", (1_030, 1_000, 30)),
    ("deepseek", "documented", "deepseek-chat", (1_030, 1_000, 30)),
    ("together", "reserved", "openai/gpt-oss-120b", (1_030, 1_000, 30)),
    ("together", "expected", "openai/gpt-oss-120b", (1_030, 1_000, 30)),
    ("fireworks", "uncached", "accounts/fireworks/models/x", (630, 600, 30)),
    ("fireworks", "total", "accounts/fireworks/models/x", (1_030, 1_000, 30)),
    ("cohere", "documented", "command-a-03-2025", (1_030, 1_000, 30)),
    ("openrouter", "documented", "x/y", (1_030, 1_000, 30)),
    ("upstage", "safe", "solar-pro2", (1_030, 1_000, 30)),
    ("upstage", "expected", "solar-pro2", (1_030, 1_000, 30)),
    ("naver", "reserved", "HCX-007", (1_030, 1_000, 30)),
    ("raon", "documented", "m", (630, 600, 30)),
    ("vllm", "documented", "m", (1_030, 1_000, 30)),
    ("tgi", "documented", "m", (1_030, 1_000, 30)),
];

#[test]
fn every_rule_charges_on_arrival_what_the_provider_takes() {
    for (id, name, model, size, expected) in ON_ARRIVAL {
        let charge = rule(id, name).charge(size, model);
        let concurrent = charge.of(Meter::Concurrent);
        let (tokens, input, output) = parts(charge);
        assert_eq!(
            (tokens, input, output, concurrent),
            *expected,
            "{id}, {name}, {model}"
        );
        assert_eq!(charge.of(Meter::Requests), 1, "{id}");
    }
    assert_eq!(
        ON_ARRIVAL
            .iter()
            .map(|(id, name, ..)| (*id, *name))
            .collect::<BTreeSet<_>>(),
        every_rule(),
        "each rule of each row has a case"
    );
}

#[test]
fn every_rule_counts_in_the_end_what_the_provider_counts() {
    for (id, name, model, expected) in IN_THE_END {
        let counted = rule(id, name).settle(&USAGE, model);
        assert_eq!(parts(counted), *expected, "{id}, {name}, {model}");
        assert_eq!(counted.of(Meter::Requests), 1, "{id}");
    }
    assert_eq!(
        IN_THE_END
            .iter()
            .map(|(id, name, ..)| (*id, *name))
            .collect::<BTreeSet<_>>(),
        every_rule(),
        "each rule of each row has a case"
    );
}

#[test]
fn a_long_answer_of_a_burning_model_overruns_what_it_reserved() {
    let bedrock = rule("bedrock", "documented");
    let model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
    let reserved = bedrock.charge(&expected(10_000, 4_096, 0), model);
    let usage = UsageTokens {
        input: 10_000,
        output: 4_096,
        ..UsageTokens::default()
    };
    let counted = bedrock.settle(&usage, model);
    // 10,000 + 4,096 before, 10,000 + 5 * 4,096 after.
    assert_eq!(reserved.of(Meter::Tokens), 14_096);
    assert_eq!(counted.of(Meter::Tokens), 30_480);
}

#[test]
fn a_cut_stream_of_raon_keeps_its_input_only() {
    let seen = UsageTokens {
        input: 100,
        output: 20,
        ..UsageTokens::default()
    };
    let raon = rule("raon", "documented").settle_cut(&seen, "m");
    assert_eq!(parts(raon), (100, 100, 0));
    let anthropic = rule("anthropic", "documented").settle_cut(&seen, "claude-sonnet-5");
    assert_eq!(parts(anthropic), (120, 100, 20));
}

#[test]
fn a_deployment_that_knows_its_maximum_overrides_the_table_of_models() {
    let known = rule("bedrock", "documented")
        .clone()
        .with_output_default(1_000);
    let charge = known.charge(&UNCAPPED, "anthropic.claude-sonnet-4-5-20250929-v1:0");
    assert_eq!(parts(charge), (1_090, 90, 1_000));
    // What else the table says stays.
    let counted = known.settle(&USAGE, "anthropic.claude-sonnet-4-5-20250929-v1:0");
    assert_eq!(parts(counted), (750, 600, 30));
}

const fn capped(bytes: u64, cap: u64) -> RequestSize {
    RequestSize {
        output_cap: Some(cap),
        ..RequestSize::of_text(bytes, 0)
    }
}

const fn expected(tokens: u64, cap: u64, expected: u64) -> RequestSize {
    RequestSize {
        output_cap: Some(cap),
        output_expected: Some(expected),
        ..RequestSize::of_text(0, tokens)
    }
}

fn rule(id: &str, name: &str) -> &'static ChargeRule {
    let row = provider(id).expect("a row of that name");
    row.charge.rule(name).expect("a rule of that name")
}

fn every_rule() -> BTreeSet<(&'static str, &'static str)> {
    let rules = |row: &'static std::sync::Arc<sluicegate_catalog::Provider>| {
        row.charge.names().map(|name| (row.id.as_str(), name))
    };
    providers().iter().flat_map(rules).collect()
}

fn parts(amounts: Amounts) -> (u64, u64, u64) {
    (
        amounts.of(Meter::Tokens),
        amounts.of(Meter::InputTokens),
        amounts.of(Meter::OutputTokens),
    )
}

/// Of Bedrock's heavy models an answer is counted tenfold in the end: 90 + 10 x 40 tokens of 90 + 50 on arrival.
#[test]
fn what_weighs_more_in_the_end_is_held_from_the_start() {
    let bedrock = provider("bedrock").expect("a row");
    let rule = bedrock.charge.default_rule();
    let model = "anthropic.claude-sonnet-5";
    let size = RequestSize {
        output_cap: Some(50),
        ..RequestSize::of_text(360, 90)
    };
    assert_eq!(rule.hold(&size, model).of(Meter::Tokens), 140);
    let expecting = |output_expected| RequestSize {
        output_expected: Some(output_expected),
        ..size
    };
    assert_eq!(rule.hold(&expecting(40), model).of(Meter::Tokens), 490);
    // Never more than the request allows, nor less than the charge.
    assert_eq!(rule.hold(&expecting(90), model).of(Meter::Tokens), 590);
    assert_eq!(rule.hold(&expecting(1), model).of(Meter::Tokens), 140);
}
