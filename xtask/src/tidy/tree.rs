//! The texts that git would keep: tracked files and new ones that are not ignored, by path from the root.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

/// Paths use `/`. Files that are not UTF-8 text are left out: no rule speaks of them.
#[derive(Default)]
pub(super) struct Tree {
    texts: BTreeMap<String, String>,
}

impl Tree {
    /// # Errors
    ///
    /// When git cannot list the files, or one of them cannot be read.
    pub(super) fn load(root: &Path) -> anyhow::Result<Self> {
        let output = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root)
            .output()
            .context("git did not start")?;
        if !output.status.success() {
            bail!(
                "git ls-files failed: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let listing = String::from_utf8(output.stdout).context("a path is not UTF-8")?;
        let mut texts = BTreeMap::new();
        for path in listing.split_terminator('\0') {
            let file = root.join(path);
            // Deleted but not yet committed, or a link.
            if !file.is_file() {
                continue;
            }
            let bytes = std::fs::read(&file).with_context(|| format!("cannot read {path}"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                texts.insert(path.to_owned(), text);
            }
        }
        Ok(Self { texts })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let texts = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        Self { texts }
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    pub(super) fn files(&self) -> impl Iterator<Item = File<'_>> {
        self.texts.iter().map(|(path, text)| File { path, text })
    }

    pub(super) fn rust_files(&self) -> impl Iterator<Item = File<'_>> {
        self.files().filter(|file| file.has_extension("rs"))
    }
}

#[derive(Clone, Copy)]
pub(super) struct File<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

impl<'a> File<'a> {
    pub(super) fn has_extension(self, extension: &str) -> bool {
        Path::new(self.path)
            .extension()
            .is_some_and(|found| found == extension)
    }

    /// Line numbers from 1.
    pub(super) fn lines(self) -> impl Iterator<Item = (usize, &'a str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    /// Compiled into a test target of its own, or a module of tests in a file of its own.
    pub(super) fn is_test_file(self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// A crate's own source, as opposed to its tests, benches and examples.
    pub(super) fn is_source(self) -> bool {
        self.has_extension("rs") && self.path.contains("/src/") && !self.is_test_file()
    }

    /// The line after which a source file holds only its tests; they stand last.
    fn first_test_line(self) -> usize {
        if self.is_test_file() {
            return 1;
        }
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        let found = lines.windows(2).position(|pair| {
            pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
        });
        found.map_or(usize::MAX, |index| index + 1)
    }

    /// Lines that are compiled into the product, without comments. A line right below `#[cfg(test)]` is none.
    pub(super) fn product_lines(self) -> impl Iterator<Item = (usize, &'a str)> {
        let end = self.first_test_line();
        let mut only_in_tests = false;
        self.lines()
            .take_while(move |(number, _)| *number < end)
            .filter(move |(_, line)| {
                let above = only_in_tests;
                only_in_tests = line.trim() == "#[cfg(test)]";
                !above
            })
            .map(|(number, line)| (number, without_comment(line)))
    }

    /// Lines of tests, whole.
    pub(super) fn test_lines(self) -> impl Iterator<Item = (usize, &'a str)> {
        let start = self.first_test_line();
        self.lines().skip_while(move |(number, _)| *number < start)
    }
}

/// Cuts a line at `//`, unless that stands in an address such as `http://`.
fn without_comment(line: &str) -> &str {
    let mut from = 0;
    while let Some(found) = line[from..].find("//") {
        let at = from + found;
        if !line[..at].ends_with(':') {
            return &line[..at];
        }
        from = at + 2;
    }
    line
}

/// Whether `word` stands in the line with no letter, digit or underscore beside it.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        !is_part(line[..at].chars().next_back()) && !is_part(line[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_file_is_product_up_to_its_tests() {
        let text = "//! Doc.\nfn f() {} // why\n#[cfg(test)]\nextern crate std;\nfn g() {}\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        let file = File {
            path: "crates/a/src/lib.rs",
            text,
        };
        let product: Vec<_> = file.product_lines().collect();
        assert_eq!(
            product,
            [
                (1, ""),
                (2, "fn f() {} "),
                (3, "#[cfg(test)]"),
                (5, "fn g() {}")
            ]
        );
        assert_eq!(
            file.test_lines()
                .map(|(number, _)| number)
                .collect::<Vec<_>>(),
            [6, 7, 8, 9]
        );
    }

    #[test]
    fn a_test_file_is_tests_from_its_first_line() {
        let file = File {
            path: "crates/a/tests/all.rs",
            text: "fn t() {}\n",
        };
        assert_eq!(file.product_lines().count(), 0);
        assert_eq!(file.test_lines().count(), 1);
    }

    #[test]
    fn an_address_is_no_comment() {
        assert_eq!(
            without_comment("let a = \"http://b\"; // c"),
            "let a = \"http://b\"; "
        );
        assert_eq!(without_comment("/// doc"), "");
    }

    #[test]
    fn words_have_edges() {
        assert!(has_word("use std::time;", "std"));
        assert!(!has_word("no_std", "std"));
        assert!(!has_word("stdx", "std"));
    }
}
