//! The repository's own rules, as far as a program can hold them. All violations are reported at once, each with its reason.
//!
//! A rule is a function over a [`Tree`] of texts and the crate graph: it reads no file, so every rule is tested on a small
//! tree in memory. What the compiler or clippy can hold is left to them.

mod crates;
mod manifests;
mod papers;
mod sources;
mod tree;

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::workspace::Workspace;

use self::crates::Graph;
use self::tree::Tree;

/// One rule. Its name and reason are what a reader of a violation, and of `docs/rules.md`, sees.
struct Rule {
    name: &'static str,
    reason: &'static str,
    check: fn(&Repository, &mut Findings),
}

/// What is judged.
#[derive(Default)]
struct Repository {
    tree: Tree,
    graph: Graph,
}

/// What one rule found.
#[derive(Default)]
struct Findings {
    violations: Vec<String>,
    /// Worth knowing, and no reason to fail.
    notes: Vec<String>,
}

impl Findings {
    fn violation(&mut self, place: impl std::fmt::Display, what: impl std::fmt::Display) {
        self.violations.push(format!("{place}: {what}"));
    }

    fn note(&mut self, place: impl std::fmt::Display, what: impl std::fmt::Display) {
        self.notes.push(format!("{place}: {what}"));
    }
}

fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        crates::RULES,
        manifests::RULES,
        sources::RULES,
        papers::RULES,
    ]
    .into_iter()
    .flatten()
}

/// # Errors
///
/// When the repository cannot be read.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load()?;
    Ok(if check(&workspace)? {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Prints all violations and whether there were none.
///
/// # Errors
///
/// When the repository cannot be read.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<bool> {
    let repository = Repository {
        tree: Tree::load(&workspace.root)?,
        graph: Graph::from_metadata(&workspace.metadata)?,
    };
    let mut broken = 0;
    for rule in rules() {
        let mut findings = Findings::default();
        (rule.check)(&repository, &mut findings);
        for note in &findings.notes {
            println!("note: {note}");
        }
        if findings.violations.is_empty() {
            continue;
        }
        broken += 1;
        eprintln!("tidy: {}. {}", rule.name, rule.reason);
        for violation in &findings.violations {
            eprintln!("    {violation}");
        }
    }
    println!(
        "tidy: {} files, {} rules, {broken} broken",
        repository.tree.len(),
        rules().count()
    );
    Ok(broken == 0)
}

/// The text of `docs/rules.md`.
pub(crate) fn rules_page() -> String {
    let mut page = String::from(
        "<!-- Written by `cargo xtask generate`; edit the rules instead. -->\n\n\
         # What `cargo xtask tidy` holds\n\n\
         | rule | why |\n|---|---|\n",
    );
    for rule in rules() {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {} | {} |", rule.name, rule.reason);
    }
    page.push_str("\n## Which crate may depend on which\n\n| crate | on | in its tests also |\n|---|---|---|\n");
    for arrows in crates::ARROWS {
        let _ = writeln!(
            page,
            "| {} | {} | {} |",
            arrows.from,
            or_none(arrows.to),
            or_none(arrows.in_tests)
        );
    }
    page
}

fn or_none(names: &[&str]) -> String {
    if names.is_empty() {
        "none of ours".to_owned()
    } else {
        names.join(", ")
    }
}

/// What one rule, named, says about a tree: its violations.
#[cfg(test)]
fn violations_of(name: &str, repository: &Repository) -> Vec<String> {
    let rule = rules()
        .find(|rule| rule.name == name)
        .expect("a rule of that name");
    let mut findings = Findings::default();
    (rule.check)(repository, &mut findings);
    findings.violations
}

/// What one rule, named, says about a tree of these files, in a repository without crates.
#[cfg(test)]
fn violations_in(name: &str, files: &[(&str, &str)]) -> Vec<String> {
    let repository = Repository {
        tree: tree::Tree::of(files),
        graph: crates::Graph::default(),
    };
    violations_of(name, &repository)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rules_have_distinct_names_and_a_reason_that_is_a_sentence() {
        let names: BTreeSet<_> = rules().map(|rule| rule.name).collect();
        assert_eq!(names.len(), rules().count());
        for rule in rules() {
            assert!(rule.reason.ends_with('.'), "{}", rule.name);
        }
    }
}
