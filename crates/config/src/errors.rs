//! What is wrong with a file: every problem at once, each with its place and its mend.
//!
//! It owns how a problem reads. It must not know the language, and no value of the file reaches it except through
//! [`shown`], which hides what may be a secret. All at once, because an operator who mends one line per attempt restarts the
//! gateway as often as there are mistakes.

use std::fmt;

/// The most problems that are printed; the others are counted.
const PRINTED_MAX: usize = 100;

/// A place in the file, both counted from 1; columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mark {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The keys that lead to a node, like `accounts.openai-main.limits[1].rpm`; empty for the root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Path(String);

impl Path {
    /// The path of the value of `key` in the mapping at this path.
    pub(crate) fn key(&self, key: &str) -> Self {
        let key = plain(key);
        if self.0.is_empty() {
            Self(key)
        } else {
            Self(format!("{}.{key}", self.0))
        }
    }

    /// The path of the item at `index`, from 0, of the list at this path.
    pub(crate) fn item(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The keys that lead there, like `accounts.openai-main.limits.rpm`; empty for the file as a whole.
    pub path: String,
    /// What is wrong.
    pub what: String,
    /// What would be right, where a sentence can say it.
    pub expected: Option<String>,
    /// What to do, where one thing is likely.
    pub mend: Option<String>,
}

impl Problem {
    /// Says what would be right.
    pub(crate) fn expected(&mut self, expected: impl Into<String>) -> &mut Self {
        self.expected = Some(expected.into());
        self
    }

    /// Says what to do.
    pub(crate) fn mend(&mut self, mend: impl Into<String>) -> &mut Self {
        self.mend = Some(mend.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.what)?;
        if let Some(expected) = &self.expected {
            write!(f, ": expected {expected}")?;
        }
        if let Some(mend) = &self.mend {
            write!(f, "; {mend}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong with one file, in the order of its lines; never empty.
///
/// Displayed it is one line per problem, each beginning with `FILE:LINE:COLUMN:`, and a count at the end. Neither `Display`
/// nor `Debug` ever contains the value of a secret or of an environment variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Errors {
    file_name: String,
    problems: Vec<Problem>,
}

impl Errors {
    /// The problems in the order of their lines.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in self.problems.iter().take(PRINTED_MAX) {
            writeln!(f, "{}:{problem}", self.file_name)?;
        }
        match self.problems.len() {
            1 => f.write_str("1 error"),
            many if many > PRINTED_MAX => write!(f, "{many} errors, {PRINTED_MAX} shown"),
            many => write!(f, "{many} errors"),
        }
    }
}

impl std::error::Error for Errors {}

/// Problems while they are collected.
#[derive(Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    /// Notes that `what` is wrong at `mark`, under the keys `path`.
    pub(crate) fn add(&mut self, mark: Mark, path: &Path, what: impl Into<String>) -> &mut Problem {
        self.0.push(Problem {
            line: mark.line,
            column: mark.column,
            path: path.0.clone(),
            what: what.into(),
            expected: None,
            mend: None,
        });
        self.0.last_mut().expect("one was just pushed")
    }

    /// `value` where nothing was wrong, else what was.
    pub(crate) fn or_else<T>(self, file_name: &str, value: Option<T>) -> Result<T, Errors> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self.into_errors(file_name)),
        }
    }

    fn into_errors(self, file_name: &str) -> Errors {
        let mut problems = self.0;
        problems.sort_by(|a, b| (a.line, a.column, &a.path).cmp(&(b.line, b.column, &b.path)));
        // An aliased node is checked wherever it is used, so it may be wrong twice in the same way.
        problems.dedup();
        Errors {
            file_name: file_name.to_owned(),
            problems,
        }
    }
}

/// `text` from the file, as a message may show it: quoted, short, on one line, and `***` where it looks like a key.
pub(crate) fn shown(text: &str) -> String {
    format!("\"{}\"", plain(text))
}

/// Like [`shown`], without the quotes.
pub(crate) fn plain(text: &str) -> String {
    const CHARS_MAX: usize = 48;
    if looks_like_key(text) {
        return "***".to_owned();
    }
    let mut short: String = text
        .chars()
        .take(CHARS_MAX)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}

/// Whether `text` holds what providers give out as keys, or a password in a URL. It errs on the side of hiding.
fn looks_like_key(text: &str) -> bool {
    const BEGINNINGS: [&str; 8] = [
        "sk-", "sk_", "gsk_", "xai-", "pplx-", "AIza", "Bearer ", "key-",
    ];
    let begins_at = |beginning: &str| {
        text.match_indices(beginning)
            .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric()))
    };
    BEGINNINGS.iter().any(|beginning| begins_at(beginning))
        || (text.contains("://") && text.contains('@'))
        || is_random(text)
}

/// Whether `text` has a run of 24 or more letters and digits, both present, without a separator: names have separators,
/// generated keys have not.
fn is_random(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        run.len() >= 24
            && run.bytes().any(|b| b.is_ascii_digit())
            && run.bytes().any(|b| b.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_place_path_what_expected_mend() {
        let mut problems = Problems::default();
        problems
            .add(
                Mark {
                    line: 12,
                    column: 7,
                },
                &Path::default().key("server").key("drain"),
                "\"5\" has no unit",
            )
            .expected("a duration")
            .mend("write 5s");
        problems.add(Mark { line: 3, column: 1 }, &Path::default(), "a tab");
        let errors = problems
            .or_else::<()>("a.yaml", None)
            .expect_err("two problems");
        assert_eq!(
            errors.to_string(),
            "a.yaml:3:1: a tab\n\
             a.yaml:12:7: server.drain: \"5\" has no unit: expected a duration; write 5s\n\
             2 errors"
        );
    }

    #[test]
    fn what_looks_like_a_key_is_hidden() {
        for key in [
            "sk-proj-abc",
            "https://user:pass@host/v1",
            "0123456789abcdef0123456789abcdef",
            "Bearer x",
        ] {
            assert_eq!(shown(key), "\"***\"");
        }
        assert_eq!(
            shown("claude-sonnet-4-5-20250929"),
            "\"claude-sonnet-4-5-20250929\""
        );
        assert_eq!(shown("task-1"), "\"task-1\"");
        assert_eq!(shown("a\nb"), "\"a b\"");
        assert_eq!(shown(&"가".repeat(49)), format!("\"{}…\"", "가".repeat(48)));
    }
}
