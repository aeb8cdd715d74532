//! From each dialect of clients to each: what is written can be read, wherever a stream is cut.

use http::{HeaderMap, StatusCode};
use sluicegate_dialect::canonical::Inexpressible;
use sluicegate_dialect::{
    Usage, anthropic, classify, gemini, openai, responses, translate_request,
};

use super::{assert_bounded, fuzz};
use crate::fixtures::{DIALECTS, play, row, stamp, targets};

#[test]
fn requests() {
    fuzz(".request.json", |text, _| {
        for (from, _, _) in DIALECTS {
            for (to, _, _) in DIALECTS {
                for (_, target) in targets() {
                    let Ok(translated) = translate_request(from, to, text, &target) else {
                        continue;
                    };
                    let again = to
                        .read_request(&translated.body)
                        .expect("what is written can be read");
                    assert_eq!(again.inexpressible, [], "what is written is known");
                    assert_bounded(text, translated.body.len());
                    let names: usize = translated.inexpressible.iter().map(length).sum();
                    assert!(names <= 64 * 128);
                }
            }
        }
    });
}

#[test]
fn answers_and_errors() {
    fuzz(".json", |text, draws| {
        let _ = (Usage::from_completion(text), Usage::from_message(text));
        let _ = (Usage::from_generation(text), gemini::is_cut(text));
        let _ = (openai::is_cut(text), anthropic::is_cut(text));
        let _ = (Usage::from_response(text), responses::is_cut(text));
        let status = 400 + u16::try_from(draws.below(200)).expect("a status");
        let status = StatusCode::from_u16(status).expect("a status");
        for (dialect, _, id) in DIALECTS {
            let error = classify(&row(id), status, &HeaderMap::new(), text);
            for (to, _, _) in DIALECTS {
                assert!(to.write_error(&error).len() <= 16 << 10);
                let Ok(answer) = dialect.read_answer(text) else {
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
fn streams() {
    fuzz(".stream.sse", |text, draws| {
        let cuts = draws.cuts(text.len());
        let chunks = || cuts.windows(2).map(|ends| &text[ends[0]..ends[1]]);
        for from in 0..DIALECTS.len() {
            for to in 0..DIALECTS.len() {
                let whole = play(from, to, [text]);
                assert_bounded(text, whole.0.len());
                assert_eq!(play(from, to, chunks()), whole, "cut at {cuts:?}");
            }
        }
    });
}

fn length(inexpressible: &Inexpressible) -> usize {
    inexpressible.field.len()
}
