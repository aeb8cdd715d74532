//! What of a request is read before it is passed on: what is rewritten can be read again, and says what was to change.

use bytes::Bytes;
use sluicegate_dialect::{Changes, IncludeUsage, Seals, anthropic, gemini, openai, responses};

use super::{fuzz, fuzz_texts};

#[test]
fn envelopes() {
    fuzz(".request.json", |text, _| {
        let body = Bytes::copy_from_slice(text);
        if let Ok(envelope) = openai::Envelope::decode(&body) {
            let changes = Changes {
                model: Some("other \" model"),
                include_usage: IncludeUsage::Ask,
                output_cap: Some(7),
                priority: None,
                seals: Seals::Own,
            };
            let again = openai::Envelope::decode(&envelope.rewrite(&changes));
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
            assert!(again.facts.output_cap.is_some_and(|cap| cap <= 7));
        }
        for call in [anthropic::Call::Messages, anthropic::Call::CountTokens] {
            let Ok(envelope) = anthropic::Envelope::decode(&body, call) else {
                continue;
            };
            let changes = Changes {
                model: Some("other \" model"),
                output_cap: Some(7),
                seals: Seals::Own,
                ..Changes::default()
            };
            let again = anthropic::Envelope::decode(&envelope.rewrite(&changes), call);
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
            assert!(again.facts.output_cap.is_none_or(|cap| cap <= 7));
        }
        if let Ok(envelope) = responses::Envelope::decode(&body) {
            let changes = Changes {
                model: Some("other \" model"),
                output_cap: Some(20),
                seals: Seals::Own,
                ..Changes::default()
            };
            let again = responses::Envelope::decode(&envelope.rewrite(&changes));
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
            assert!(again.facts.output_cap.is_some_and(|cap| cap <= 20));
        }
        for method in [
            "generateContent",
            "countTokens",
            "embedContent",
            "batchEmbedContents",
        ] {
            let call = gemini::Call::named(method).expect("a call");
            let Ok(envelope) = gemini::Envelope::decode(&body, "fast", call) else {
                continue;
            };
            let changes = Changes {
                model: Some("other \" model"),
                output_cap: Some(7),
                seals: Seals::Own,
                ..Changes::default()
            };
            let again = gemini::Envelope::decode(&envelope.rewrite(&changes), "fast", call);
            let again = again.expect("what was rewritten can be read");
            assert_eq!(
                again.facts.output_cap.is_some_and(|cap| cap <= 7),
                call.generates()
            );
        }
    });
}

/// Those that are not translated have no fixtures: a few texts are spoilt instead.
#[test]
fn envelopes_of_what_only_passes() {
    let corpus: [&[u8]; 4] = [
        br#"{"model":"m","prompt":["a","b"],"suffix":"c","n":2,"stream":true,"stream_options":{"x":1}}"#,
        br#"{"model":"m","prompt":[[1,2],[3]],"max_tokens":null,"best_of":3}"#,
        br#"{"model":"m","input":"text","dimensions":64}"#,
        br#"{"input":[5,17,9],"model":"m"}"#,
    ];
    fuzz_texts(&corpus.map(<[u8]>::to_vec), |text, _| {
        let body = Bytes::copy_from_slice(text);
        let changes = Changes {
            model: Some("other \" model"),
            include_usage: IncludeUsage::Ask,
            output_cap: Some(7),
            priority: None,
            seals: Seals::Own,
        };
        if let Ok(envelope) = openai::CompletionEnvelope::decode(&body) {
            let again = openai::CompletionEnvelope::decode(&envelope.rewrite(&changes));
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
            assert!(again.facts.output_cap.is_some_and(|cap| cap <= 7));
            assert!(again.usage_wanted || !again.facts.stream);
        }
        if let Ok(envelope) = openai::EmbeddingEnvelope::decode(&body) {
            let again = openai::EmbeddingEnvelope::decode(&envelope.rewrite(&changes));
            let again = again.expect("what was rewritten can be read");
            assert_eq!(again.facts.model, "other \" model");
        }
    });
}
