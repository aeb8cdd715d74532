//! Rules about source files: what the core may name, where clocks are read, sizes, names, and what tests may not do.

use super::tree::{File, has_word};
use super::{Findings, Repository, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "the core names no std, runtime or clock",
        reason: "Time and randomness are arguments; the simulator runs the same code in virtual time.",
        check: core_words,
    },
    Rule {
        name: "a clock is read in one file per crate that has one",
        reason: "One door for time, so that everything behind it can be driven by a test.",
        check: clock_reads,
    },
    Rule {
        name: "files stay small",
        reason: "One mechanism per file; a file near 400 lines is asking to be two.",
        check: file_sizes,
    },
    Rule {
        name: "modules begin with their documentation",
        reason: "What a module owns, and what it must not know, is what a reader needs first.",
        check: module_docs,
    },
    Rule {
        name: "module names say what is inside",
        reason: "A drawer for everything has no owner and no invariant.",
        check: module_names,
    },
    Rule {
        name: "no test is ignored",
        reason: "A test that does not run proves nothing and rots.",
        check: ignored_tests,
    },
    Rule {
        name: "no test sleeps",
        reason: "A sleep is too short on a slow machine and too long on a fast one: wait on a signal. Where real time \
                 itself is the subject, the line ends in `// real time: reason`.",
        check: sleeping_tests,
    },
    Rule {
        name: "no open ends in the code",
        reason: "Unfinished work is kept where work is tracked; code says what is.",
        check: open_ends,
    },
];

/// The files through which time enters.
const CLOCKS: &[&str] = &[
    "crates/fake/src/server/clock.rs",
    "crates/gateway/src/clock.rs",
    "xtask/src/clock.rs",
];
const CLOCK_READS: &[&str] = &["Instant::now", "SystemTime::now"];

const SOURCE_LINES_MAX: usize = 600;
const SOURCE_LINES_NOTED: usize = 400;
const TEST_LINES_MAX: usize = 900;

fn core_words(repository: &Repository, findings: &mut Findings) {
    let core = repository
        .tree
        .rust_files()
        .filter(|file| file.path.starts_with("crates/core/src/"));
    for file in core {
        for (number, line) in file.product_lines() {
            for word in ["std", "tokio", "Instant", "SystemTime"] {
                let is_attribute = line.trim_start().starts_with("#!");
                if has_word(line, word) && !is_attribute {
                    findings.violation(at(file, number), format_args!("names {word}"));
                }
            }
        }
    }
}

fn clock_reads(repository: &Repository, findings: &mut Findings) {
    let sources = repository
        .tree
        .rust_files()
        .filter(|file| file.path.contains("/src/"));
    for file in sources.filter(|file| !CLOCKS.contains(&file.path)) {
        for (number, line) in file.product_lines() {
            for read in CLOCK_READS {
                // A quoted name is a rule or a message about it.
                if has_word(line, read) && !line.contains('"') {
                    findings.violation(at(file, number), format_args!("calls {read}"));
                }
            }
        }
    }
}

fn file_sizes(repository: &Repository, findings: &mut Findings) {
    for file in repository.tree.rust_files() {
        let lines = file.text.lines().count();
        let lines_max = if file.is_source() {
            SOURCE_LINES_MAX
        } else {
            TEST_LINES_MAX
        };
        if lines > lines_max {
            findings.violation(
                file.path,
                format_args!("{lines} lines; at most {lines_max}"),
            );
        } else if file.is_source() && lines > SOURCE_LINES_NOTED {
            findings.note(file.path, format_args!("{lines} lines"));
        }
    }
}

fn module_docs(repository: &Repository, findings: &mut Findings) {
    for file in repository.tree.rust_files().filter(|file| file.is_source()) {
        let first = file.text.lines().find(|line| !line.trim().is_empty());
        if !first.is_some_and(|line| line.starts_with("//!")) {
            findings.violation(file.path, "does not begin with `//!`");
        }
    }
}

fn module_names(repository: &Repository, findings: &mut Findings) {
    const DRAWERS: &[&str] = &[
        "common", "helper", "helpers", "misc", "types", "util", "utils",
    ];
    for file in repository.tree.rust_files() {
        let path = file.path.trim_end_matches(".rs");
        for part in path.split('/').filter(|part| DRAWERS.contains(part)) {
            findings.violation(file.path, format_args!("`{part}` says nothing"));
        }
    }
}

fn ignored_tests(repository: &Repository, findings: &mut Findings) {
    for file in repository.tree.rust_files() {
        for (number, line) in file.lines() {
            if line.trim_start().starts_with("#[ignore") {
                findings.violation(at(file, number), "is ignored");
            }
        }
    }
}

fn sleeping_tests(repository: &Repository, findings: &mut Findings) {
    const SLEEPS: &[&str] = &["sleep", "sleep_until", "sleep_ms"];
    for file in repository.tree.rust_files() {
        for (number, line) in file.test_lines() {
            let calls = SLEEPS
                .iter()
                .any(|name| has_word(line, name) && line.contains(&format!("{name}(")));
            let reason = line
                .split_once("// real time:")
                .map_or("", |(_, reason)| reason.trim());
            if calls && reason.is_empty() && !line.contains('"') {
                findings.violation(at(file, number), "sleeps");
            }
        }
    }
}

fn open_ends(repository: &Repository, findings: &mut Findings) {
    // In pieces, so that this file does not break its own rule.
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("X", "XX"),
        concat!("to", "do!"),
    ];
    let is_code = |file: &File<'_>| {
        ["rs", "py", "js", "mjs", "sh", "toml", "yaml", "yml"]
            .iter()
            .any(|e| file.has_extension(e))
    };
    for file in repository.tree.files().filter(is_code) {
        for (number, line) in file.lines() {
            for word in words {
                if has_word(line, word) {
                    findings.violation(at(file, number), format_args!("says {word}"));
                }
            }
        }
    }
}

fn at(file: File<'_>, number: usize) -> String {
    format!("{}:{number}", file.path)
}

#[cfg(test)]
mod tests {
    use super::super::violations_in as check;

    #[test]
    fn the_core_may_name_std_only_in_its_tests_and_comments() {
        let text = "#![no_std]\n// std::time is not for us\nuse std::fmt;\nlet a: Instant;\n\
                    #[cfg(test)]\nmod tests {\n    extern crate std;\n}\n";
        assert_eq!(
            check(
                "the core names no std, runtime or clock",
                &[
                    ("crates/core/src/a.rs", text),
                    ("crates/core/tests/b.rs", text),
                    ("crates/sim/src/c.rs", text)
                ]
            ),
            [
                "crates/core/src/a.rs:3: names std",
                "crates/core/src/a.rs:4: names Instant"
            ]
        );
    }

    #[test]
    fn only_a_clock_reads_the_clock() {
        let text = "let now = Instant::now();\n";
        assert_eq!(
            check(
                "a clock is read in one file per crate that has one",
                &[
                    ("crates/gateway/src/clock.rs", text),
                    ("crates/gateway/src/driver.rs", text)
                ]
            ),
            ["crates/gateway/src/driver.rs:1: calls Instant::now"]
        );
    }

    #[test]
    fn sizes_are_judged_by_kind_of_file() {
        let (source, test) = ("\n".repeat(601), "\n".repeat(900));
        assert_eq!(
            check(
                "files stay small",
                &[
                    ("crates/a/src/a.rs", &source),
                    ("crates/a/tests/a.rs", &test),
                    ("crates/a/src/tests.rs", &test)
                ]
            ),
            ["crates/a/src/a.rs: 601 lines; at most 600"]
        );
    }

    #[test]
    fn every_module_begins_with_words_about_itself() {
        assert_eq!(
            check(
                "modules begin with their documentation",
                &[
                    ("crates/a/src/a.rs", "\n//! A.\n"),
                    ("crates/a/src/b.rs", "use a;\n//! B.\n"),
                    ("crates/a/src/c.rs", ""),
                    ("crates/a/tests/d.rs", ""),
                ]
            ),
            [
                "crates/a/src/b.rs: does not begin with `//!`",
                "crates/a/src/c.rs: does not begin with `//!`"
            ]
        );
    }

    #[test]
    fn drawers_are_found_as_files_and_as_folders() {
        assert_eq!(
            check(
                "module names say what is inside",
                &[
                    ("crates/a/src/utils.rs", ""),
                    ("crates/a/tests/common/mod.rs", ""),
                    ("crates/a/src/commons.rs", ""),
                ]
            ),
            [
                "crates/a/src/utils.rs: `utils` says nothing",
                "crates/a/tests/common/mod.rs: `common` says nothing"
            ]
        );
    }

    #[test]
    fn ignored_and_sleeping_tests_are_found() {
        let text = "#[test]\n#[ignore = \"slow\"]\nfn t() {\n    thread::sleep(d);\n    \
                    sleep_until(t); // real time: a day limit resets at a wall time\n    sleep(d); // real time:\n}\n";
        let files = [("crates/a/tests/t.rs", text)];
        assert_eq!(
            check("no test is ignored", &files),
            ["crates/a/tests/t.rs:2: is ignored"]
        );
        assert_eq!(
            check("no test sleeps", &files),
            [
                "crates/a/tests/t.rs:4: sleeps",
                "crates/a/tests/t.rs:6: sleeps"
            ]
        );
        // The product may wait; clippy judges how.
        assert!(check("no test sleeps", &[("crates/a/src/t.rs", text)]).is_empty());
    }

    #[test]
    fn open_ends_are_whole_words_in_code() {
        let word = concat!("FIX", "ME");
        assert_eq!(
            check(
                "no open ends in the code",
                &[
                    ("a.py", &format!("# {word} later\n")),
                    ("b.rs", &format!("{word}S\n")),
                    ("c.md", word)
                ]
            ),
            [format!("a.py:1: says {word}")]
        );
    }
}
