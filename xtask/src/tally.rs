//! Counts tests in what test runners print: cargo's own harness and nextest.
//!
//! It reads the summary lines only. A runner that dies before its summary is counted by its exit code instead.

use std::ops::AddAssign;

/// Tests that ran.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl Tally {
    /// What one line of output says; nothing for a line that is no summary.
    pub(crate) fn of_line(line: &str) -> Self {
        let line = without_colours(line);
        let counts = if let Some((_, counts)) = line.split_once("test result:") {
            counts
                .split_once('.')
                .map_or("", |(_verdict, counts)| counts)
        } else if line.trim_start().starts_with("Summary [") {
            line.split_once(" run:").map_or("", |(_, counts)| counts)
        } else {
            ""
        };
        let mut tally = Self::default();
        for count in counts.split([';', ',']) {
            let mut words = count.split_whitespace();
            let number = words.next().and_then(|word| word.parse::<u64>().ok());
            match (number, words.next()) {
                (Some(number), Some("passed")) => tally.passed += number,
                // nextest's "timed out", "exec failed" are failures with a name
                (Some(number), Some("failed" | "timed" | "exec")) => tally.failed += number,
                _ => {}
            }
        }
        tally
    }
}

/// The line without terminal escapes (`ESC [ … letter`).
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, escape)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = match escape.find(|c: char| c.is_ascii_alphabetic()) {
            Some(end) => &escape[end + 1..],
            None => "",
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_both_runners_are_counted_and_nothing_else() {
        for (line, passed, failed) in [
            (
                "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.10s",
                12,
                0,
            ),
            (
                "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
                3,
                2,
            ),
            (
                "     Summary [   0.213s] 57 tests run: 57 passed, 0 skipped",
                57,
                0,
            ),
            (
                "     Summary [  61.0s] 9/12 tests run: 5 passed (1 slow), 2 failed, 1 timed out, 1 exec failed, 4 skipped",
                5,
                4,
            ),
            (
                "     Summary [   0.003s] 1 test run: 1 passed, 0 skipped",
                1,
                0,
            ),
            (
                "\u{1b}[32;1m     Summary\u{1b}[0m [   0.2s] \u{1b}[1m7\u{1b}[0m tests run: \u{1b}[1m7\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m skipped",
                7,
                0,
            ),
            ("test result_of_a_name ... ok", 0, 0),
            ("3 passed, 1 failed", 0, 0),
            ("", 0, 0),
        ] {
            assert_eq!(Tally::of_line(line), Tally { passed, failed }, "{line}");
        }
    }
}
