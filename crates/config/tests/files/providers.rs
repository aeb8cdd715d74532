//! Rows of the file's own, and addresses by region.

use sluicegate_catalog::RequestSize;
use sluicegate_core::{Failures, Meter};

use crate::{SECRET, good, limits};

#[test]
fn a_row_of_the_file_works_like_one_of_the_catalog() {
    let policy = good("providers.yaml");
    let rows: Vec<_> = policy.providers.iter().map(|row| &*row.id).collect();
    assert_eq!(rows, ["lab", "own", "openai"]);
    assert_eq!(
        limits(&policy),
        [
            "account lab requests/10s: 10 Fixed { per: 10s } Full Keep",
            "account lab tokens/60s: 1000 Bucket { per: 60s } Empty Usage",
            "account own input_tokens/2s: 900 Sliding { per: 2s } quantum 1s Empty Keep",
            "account own tokens/month +09:00: 5000000 Calendar(\"month +09:00\") Full Usage",
            "account main requests/60s: 500 Floating { per: 60s } Empty Keep",
            "account main tokens/60s: 300000 Bucket { per: 60s } Empty Keep",
        ]
    );
    let [lab, own, main] = &*policy.accounts else {
        panic!("three accounts");
    };
    assert_eq!(lab.base_url, "https://llm.lab.example/v1");
    assert_eq!(lab.provider.name, "lab");
    assert_eq!(lab.provider.auth.value("k"), "k");
    assert!(lab.provider.signals.is_empty());
    let work = lab.provider.work_ms.as_ref().expect("headers are named");
    assert_eq!(work.headers, ["x-lab-took", "x-took"]);
    assert_eq!(work.evidence.confidence.name(), "operator");
    let priority = lab.provider.lane_priority.as_ref().expect("it is named");
    assert_eq!(priority.field, "rank");
    let groq = sluicegate_catalog::provider("groq").expect("a row");
    assert_eq!(lab.provider.errors, groq.errors);
    assert_eq!(lab.charge.cached_weight.to_string(), "0.25");
    assert_eq!(lab.charge.input, groq.charge.default_rule().input);
    assert_eq!(lab.limits[1].failures, Failures::Return);

    assert_eq!(own.provider.name, "Our own server");
    assert_eq!(
        own.provider
            .url(&own.base_url, sluicegate_catalog::Endpoint::Chat, "m")
            .as_deref(),
        Some("http://127.0.0.1:9000/chat")
    );
    assert_eq!(own.provider.models, ["base", "large"]);
    let size = RequestSize::of_text(10, 99);
    // 10 / 3 rounded up, and the largest output of each model.
    assert_eq!(own.charge.charge(&size, "large-2").of(Meter::Tokens), 4_004);
    assert_eq!(own.charge.charge(&size, "base").of(Meter::Tokens), 104);

    assert_eq!(main.provider.name, "OpenAI");
    assert_eq!(main.provider.work_ms, None);
    assert_eq!(main.provider.lane_priority, None);
    assert_eq!(main.base_url, "https://api.openai.com");
}

#[test]
fn a_region_gives_the_address_and_what_is_signed_for() {
    let policy = good("aws.yaml");
    let urls = policy.accounts.iter().map(|account| &*account.base_url);
    assert_eq!(
        urls.collect::<Vec<_>>(),
        [
            "https://bedrock-runtime.us-east-1.amazonaws.com",
            "https://vpce.example.net",
            "https://bedrock-runtime.us-west-2.amazonaws.com",
            "https://bedrock-mantle.ap-northeast-2.api.aws",
        ]
    );
    let signed: Vec<_> = policy
        .accounts
        .iter()
        .map(|account| account.aws.as_ref())
        .collect();
    let lasting = signed[0].expect("it is signed");
    assert_eq!(lasting.access_key_id.expose(), "hunter2-OPENAI_API_KEY");
    assert_eq!(lasting.secret_access_key.expose(), "hunter2-OTHER_KEY");
    assert_eq!(
        (lasting.session_token.as_ref(), &*lasting.region),
        (None, "us-east-1")
    );
    let passing = signed[1].expect("it is signed");
    assert_eq!(
        passing
            .session_token
            .as_ref()
            .map(|it| it.expose().as_str()),
        Some("c")
    );
    assert_eq!(passing.region, "eu-central-1");
    assert_eq!(signed[2..], [None, None]);
    assert!(policy.accounts[0].api_keys.is_empty());
    assert_eq!(policy.accounts[2].api_keys.len(), 1);
    assert!(!format!("{policy:?}").contains(SECRET));
}
