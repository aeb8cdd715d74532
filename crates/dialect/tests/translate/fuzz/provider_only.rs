//! Dialects that only providers speak: requests to them, and what comes back to every client. Frames are spoilt twice: by their text, so that
//! checksums are right and what is inside is wrong, and by their bytes.

use std::collections::BTreeMap;

use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;
use sluicegate_dialect::{ProviderDialect, Usage, bedrock, classify, cohere, translate_request};

use super::{Seed, assert_bounded, fuzz_files, spoilt};
use crate::fixtures::{DIALECTS, row, stamp};
use crate::frames::framed;
use crate::provider_only::{PROVIDER_ONLY, play, targets_of};

#[test]
fn requests() {
    let clients = DIALECTS.map(|(_, folder, _)| (folder, ".request.json"));
    fuzz_files(clients, |text, _| {
        for (from, _, _) in DIALECTS {
            for (to, folder, _) in PROVIDER_ONLY {
                for (_, target) in targets_of(folder) {
                    let Ok(translated) = translate_request(from, to, text, &target) else {
                        continue;
                    };
                    // A schema passes as it was written, half a surrogate pair in it too: JSON, and no text.
                    let body: BTreeMap<String, &RawValue> =
                        serde_json::from_slice(&translated.body).expect("it is JSON");
                    assert!(body["messages"].get().starts_with('['));
                    assert_bounded(text, translated.body.len());
                }
            }
        }
    });
}

#[test]
fn answers_and_errors() {
    let files = PROVIDER_ONLY.map(|(_, folder, _)| (folder, ".json"));
    fuzz_files(files, |text, draws| {
        let _ = (Usage::from_converse(text), Usage::from_cohere(text));
        let _ = (bedrock::is_cut(text), cohere::is_cut(text));
        let status = 400 + u16::try_from(draws.below(200)).expect("a status");
        let status = StatusCode::from_u16(status).expect("a status");
        for (from, row_id, _) in PROVIDER_ONLY {
            let error = classify(&row(row_id), status, &HeaderMap::new(), text);
            for (to, _, _) in DIALECTS {
                assert!(to.write_error(&error).len() <= 16 << 10);
                let Ok(answer) = from.read_answer(text) else {
                    continue;
                };
                let written = to.write_answer(&answer, &stamp());
                to.read_answer(&written)
                    .expect("what is written can be read");
                assert_bounded(text, written.len());
            }
        }
    });
}

#[test]
fn streams_of_cohere() {
    fuzz_files([("cohere", ".stream.sse")], |text, draws| {
        check(ProviderDialect::Cohere, "cohere", text, draws);
    });
}

#[test]
fn frames_of_bedrock() {
    fuzz_files([("bedrock", ".stream.frames")], |text, draws| {
        let frames = framed(text);
        check(ProviderDialect::Bedrock, "bedrock", &frames, draws);
        let damaged = spoilt(&[frames], draws);
        check(ProviderDialect::Bedrock, "bedrock", &damaged, draws);
    });
}

/// Wherever it is cut it is the same, and a stream that is an end has no error.
fn check(from: ProviderDialect, row_id: &str, wire: &[u8], draws: &mut Seed) {
    let cuts = draws.cuts(wire.len());
    for (to, _, _) in DIALECTS {
        let whole = play((from, row_id), to, [wire]);
        assert_bounded(wire, whole.0.len());
        assert!(!whole.1.done || whole.1.error.is_none());
        let chunks = cuts.windows(2).map(|ends| &wire[ends[0]..ends[1]]);
        assert_eq!(play((from, row_id), to, chunks), whole, "cut at {cuts:?}");
    }
}
