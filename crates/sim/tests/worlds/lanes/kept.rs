//! The paper that is kept, section by section: each theme writes and compares its own.

use std::fs::File;
use std::path::{Path, PathBuf};

const HEAD: &str = "# Lanes, tenants, slots and small ones that pass, in virtual time

<!-- Generated: UPDATE_EXPECTED=1 cargo test -p sluicegate-sim lanes -->

The core against the fake's counting of one limit of 100,000 tokens a minute, or of slots. Nothing is answered 429 in any of these
runs, and every number is the provider's own or a difference of two instants.
";

/// Compares `text` with the kept section of that title, or rewrites it where `UPDATE_EXPECTED` is set.
pub(crate) fn check(title: &str, text: &str) {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/lanes-virtual.md");
    let section = format!("\n## {title}\n\n{text}");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        let file = File::options().create(true).append(true).open(&path);
        let file = file.expect("the paper can be opened");
        file.lock().expect("themes write one after the other");
        let old = read(&path);
        let mut sections: Vec<&str> = sections(&old)
            .filter(|old| head(old) != head(&section))
            .collect();
        sections.push(&section);
        sections.sort_unstable();
        let new = format!("{HEAD}{}", sections.concat());
        std::fs::write(&path, new).expect("the paper can be written");
    }
    let kept = read(&path);
    let kept = sections(&kept).find(|kept| head(kept) == head(&section));
    assert!(
        kept == Some(&section),
        "{}: \"{title}\" differs; UPDATE_EXPECTED=1 rewrites it. It is now:\n{section}",
        path.display()
    );
}

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8(bytes).expect("the paper is text")
}

/// Each from the empty line before its title to the end of its last line.
fn sections(text: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = text.match_indices("\n## ").map(|(at, _)| at).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([text.len()]).collect();
    starts
        .into_iter()
        .zip(ends)
        .map(|(start, end)| &text[start..end])
}

fn head(section: &str) -> Option<&str> {
    section.trim_start().lines().next()
}
