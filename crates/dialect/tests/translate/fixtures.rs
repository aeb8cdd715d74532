//! Every fixture, to every other dialect.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use sluicegate_catalog::{Provider, provider};
use sluicegate_dialect::canonical::{CapName, Stamp, Target, ThinkingEffort, ThinkingForm};
use sluicegate_dialect::openai::UsageChunk;
use sluicegate_dialect::{
    Dialect, Progress, RequestError, StreamTranslation, Translation, classify, translate_request,
};

use crate::indent::indented;

pub(crate) const DIALECTS: [(Dialect, &str, &str); 4] = [
    (Dialect::OpenAiChat, "openai-chat", "openai"),
    (Dialect::Anthropic, "anthropic", "anthropic"),
    (Dialect::OpenAiResponses, "openai-responses", "openai"),
    (Dialect::Gemini, "gemini", "gemini"),
];

pub(crate) fn row(id: &str) -> Arc<Provider> {
    Arc::clone(provider(id).expect("a row"))
}

pub(crate) fn stamp() -> Stamp {
    Stamp {
        id: "stamp-1".to_owned(),
        model: "stamped".to_owned(),
        input_tokens: 7,
        created_s: 1_764_547_200,
        request: Bytes::new(),
    }
}

/// Models of today, and of two years ago.
pub(crate) fn targets() -> [(&'static str, Target); 2] {
    let today = Target {
        model: "target".to_owned(),
        output_cap_default: 4_096,
        cap_name: CapName::MaxCompletionTokens,
        follows_schema: true,
        thinking: ThinkingForm::Effort,
        efforts: vec![
            ThinkingEffort::Low,
            ThinkingEffort::Medium,
            ThinkingEffort::High,
            ThinkingEffort::ExtraHigh,
            ThinkingEffort::Max,
        ],
        always_thinks: false,
        fixed_sampling: false,
        unthinking_sampling: false,
        thinks_unasked: false,
        one_sampler: false,
        unthinking_tools: false,
        tool_name_max: None,
    };
    let old = Target {
        cap_name: CapName::MaxTokens,
        follows_schema: false,
        thinking: ThinkingForm::Budget,
        ..today.clone()
    };
    [("today", today), ("old", old)]
}

/// The fixtures of a dialect whose names end so, with what they hold.
pub(crate) fn fixtures(folder: &str, ending: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(folder);
    let entries = fs::read_dir(&folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no {ending} in {}", folder.display());
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).expect("it can be read");
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

/// Runs `translate` on every fixture with that ending and for every other dialect, and compares what
/// comes out with what is kept.
fn check(ending: &str, translate: impl Fn(&Path, &[u8], usize, usize) -> String) {
    let mut wrong = String::new();
    for (from, (_, folder, _)) in DIALECTS.iter().enumerate() {
        for (path, wire) in fixtures(folder, ending) {
            for (to, (_, target, _)) in DIALECTS.iter().enumerate() {
                if to != from {
                    let said = translate(&path, &wire, from, to);
                    compare(
                        &path.with_added_extension(format!("{target}.txt")),
                        &said,
                        &mut wrong,
                    );
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

pub(crate) fn compare(expected: &Path, said: &str, wrong: &mut String) {
    let said = said.trim_end();
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(expected, format!("{said}\n")).expect("the expected text can be written");
        return;
    }
    let wanted = fs::read(expected).unwrap_or_default();
    let wanted = String::from_utf8_lossy(&wanted);
    if wanted.trim_end() != said {
        let name = expected.display();
        let _ = write!(wrong, "\n{name}\n--- expected\n{wanted}+++ said\n{said}\n");
    }
}

#[test]
fn requests() {
    check(".request.json", |_, wire, from, to| {
        let mut said = String::new();
        let mut before = String::new();
        for (name, target) in targets() {
            let translated = translate_request(DIALECTS[from].0, DIALECTS[to].0, wire, &target);
            let now = text_of(translated);
            if now != before {
                let _ = writeln!(said, "--- {name}\n{now}");
            }
            before = now;
        }
        said
    });
}

/// What becomes of a request: its body and what is told of it, or why it is refused.
pub(crate) fn text_of(translated: Result<Translation, RequestError>) -> String {
    let translated = match translated {
        Ok(translated) => translated,
        Err(error) => return format!("refused: {error}"),
    };
    let mut text = indented(&translated.body);
    for lost in &translated.inexpressible {
        let _ = write!(text, "\ninexpressible: {}", lost.field);
    }
    for lost in &translated.foregone {
        let _ = write!(text, "\nforegone: {}", lost.field);
    }
    if translated.must_instruct {
        text.push_str("\nmust instruct");
    }
    text
}

#[test]
fn answers() {
    check(".answer.json", |path, wire, from, to| {
        let answer = DIALECTS[from].0.read_answer(wire);
        let answer = answer.unwrap_or_else(|error| panic_at(path, &error));
        indented(&DIALECTS[to].0.write_answer(&answer, &stamp()))
    });
}

/// `NAME.STATUS.error.json`.
#[test]
fn errors() {
    check(".error.json", |path, wire, from, to| {
        let name = path.to_string_lossy();
        let status = name
            .rsplit('.')
            .nth(2)
            .and_then(|status| status.parse().ok());
        let status = StatusCode::from_u16(status.expect("a number")).expect("a status");
        let error = classify(&row(DIALECTS[from].2), status, &HeaderMap::new(), wire);
        let body = indented(&DIALECTS[to].0.write_error(&error));
        format!("{:?}\n{body}", error.class)
    });
}

#[test]
fn streams() {
    check(".stream.sse", |_, wire, from, to| {
        let (said, progress) = play(from, to, [wire]);
        let progress = format!("{progress:#?}");
        let lines = said.lines().map(|line| line.trim_end());
        format!(
            "{}\n--- progress\n{progress}",
            lines.collect::<Vec<_>>().join("\n").trim_end()
        )
    });
}

/// What a client gets of a stream that comes in these chunks.
pub(crate) fn play<'w>(
    from: usize,
    to: usize,
    chunks: impl IntoIterator<Item = &'w [u8]>,
) -> (String, Progress) {
    let ((from, _, id), (to, _, _)) = (DIALECTS[from], DIALECTS[to]);
    let mut stream = StreamTranslation::new((from, row(id)), to, stamp(), UsageChunk::Pass);
    let mut out = BytesMut::new();
    for chunk in chunks {
        let chunk = Bytes::copy_from_slice(chunk);
        stream.push(chunk, &mut out).expect("no event is too large");
    }
    stream.finish(&mut out);
    let text = String::from_utf8(out.to_vec()).expect("what is written is UTF-8");
    (text, stream.progress().clone())
}

#[expect(clippy::panic, reason = "a test's way to name the fixture that failed")]
fn panic_at<T>(path: &Path, error: &dyn std::fmt::Display) -> T {
    panic!("{}: {error}", path.display())
}
