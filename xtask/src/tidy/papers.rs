//! Rules about everything around the code: what a text may not name, what the papers must say, what is generated.

use super::{Findings, Repository, Rule};
use crate::generate::GENERATED;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "no text names a machine's own paths",
        reason: "What is in the repository must mean the same on every machine.",
        check: machine_paths,
    },
    Rule {
        name: "no text names a package registry's host",
        reason: "Tools find their registry by their own configuration, mirrors included.",
        check: registry_hosts,
    },
    Rule {
        name: "the papers are there",
        reason: "A reader can rely on them: licences, how to contribute, what changed, how it is built, the lock file.",
        check: papers,
    },
    Rule {
        name: "ARCHITECTURE.md is read in one sitting",
        reason: "At most 200 lines, or nobody reads it.",
        check: architecture_size,
    },
    Rule {
        name: "ARCHITECTURE.md knows every crate and dependency",
        reason: "A new crate or dependency is a decision; it is explained where the design is.",
        check: architecture_knows,
    },
    Rule {
        name: "generated files are up to date",
        reason: "A generated file that differs from its source misleads; `cargo xtask generate` writes it.",
        check: generated,
    },
];

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const ARCHITECTURE_LINES_MAX: usize = 200;

fn machine_paths(repository: &Repository, findings: &mut Findings) {
    // In pieces, so that this file does not break its own rule.
    let paths = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/t", "mp/"),
        concat!("/ho", "me/"),
        concat!("/Us", "ers/"),
    ];
    for file in repository.tree.files() {
        for (number, line) in file.lines() {
            for path in paths.iter().filter(|path| names_absolute(line, path)) {
                findings.violation(
                    format_args!("{}:{number}", file.path),
                    format_args!("names {path}"),
                );
            }
        }
    }
}

/// Whether the path begins there: `/x/` in `a/x/` is the inside of another one.
fn names_absolute(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-}/~".contains(c))
    })
}

fn registry_hosts(repository: &Repository, findings: &mut Findings) {
    let hosts = [
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("python", "hosted.org"),
        concat!("npm", "js.org"),
        concat!("npm", "js.com"),
        concat!("deb.", "debian.org"),
    ];
    // Cargo writes the lock file.
    for file in repository
        .tree
        .files()
        .filter(|file| file.path != "Cargo.lock")
    {
        for (number, line) in file.lines() {
            for host in hosts.iter().filter(|host| line.contains(**host)) {
                findings.violation(
                    format_args!("{}:{number}", file.path),
                    format_args!("names {host}"),
                );
            }
        }
    }
}

fn papers(repository: &Repository, findings: &mut Findings) {
    const PAPERS: &[&str] = &[
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Cargo.lock",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
    ];
    for path in PAPERS {
        if repository.tree.text(path).is_none() {
            findings.violation(path, "is missing");
        }
    }
    if let Some(changes) = repository.tree.text("CHANGELOG.md")
        && !changes.lines().any(|line| line == "## [Unreleased]")
    {
        findings.violation("CHANGELOG.md", "lacks `## [Unreleased]`");
    }
}

fn architecture_size(repository: &Repository, findings: &mut Findings) {
    let lines = repository
        .tree
        .text(ARCHITECTURE)
        .map_or(0, |text| text.lines().count());
    if lines > ARCHITECTURE_LINES_MAX {
        findings.violation(
            ARCHITECTURE,
            format_args!("{lines} lines; at most {ARCHITECTURE_LINES_MAX}"),
        );
    }
}

fn architecture_knows(repository: &Repository, findings: &mut Findings) {
    let architecture = repository.tree.text(ARCHITECTURE).unwrap_or_default();
    for file in repository.tree.files() {
        let name = file
            .path
            .strip_prefix("crates/")
            .and_then(|rest| rest.strip_suffix("/Cargo.toml"));
        if let Some(name) = name
            && !architecture.contains(&format!("`{name}`"))
        {
            findings.violation(
                ARCHITECTURE,
                format_args!("does not mention the crate `{name}`"),
            );
        }
    }
    let manifest = repository.tree.text("Cargo.toml").unwrap_or_default();
    let manifest: toml::Table = match manifest.parse() {
        Ok(manifest) => manifest,
        Err(error) => return findings.violation("Cargo.toml", error),
    };
    let dependencies = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(toml::Value::as_table);
    for (name, value) in dependencies.into_iter().flatten() {
        let is_ours = value.get("path").is_some();
        if !is_ours && !architecture.contains(&format!("`{name}`")) {
            findings.violation(
                ARCHITECTURE,
                format_args!("does not explain the dependency `{name}`"),
            );
        }
    }
}

fn generated(repository: &Repository, findings: &mut Findings) {
    for generated in GENERATED {
        match repository.tree.text(generated.path) {
            None => findings.violation(generated.path, "is missing"),
            Some(text) if text != (generated.text)() => {
                findings.violation(generated.path, "is stale");
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::violations_in as check;
    use super::*;

    #[test]
    fn absolute_paths_are_found_and_inner_ones_left_alone() {
        let temporary = concat!("/t", "mp/");
        let text =
            format!("a {temporary}x\nb target{temporary}x\nc ../{temporary}\n\"{temporary}y\"\n");
        assert_eq!(
            check("no text names a machine's own paths", &[("a.md", &text)]),
            [
                format!("a.md:1: names {temporary}"),
                format!("a.md:4: names {temporary}")
            ]
        );
    }

    #[test]
    fn hosts_of_registries_are_found_but_in_the_lock_file() {
        let host = concat!("crates", ".io");
        assert_eq!(
            check(
                "no text names a package registry's host",
                &[("Cargo.lock", host), ("deny.toml", host)]
            ),
            [format!("deny.toml:1: names {host}")]
        );
    }

    #[test]
    fn missing_papers_and_a_changelog_without_room_for_news_are_found() {
        let files = [
            ("ARCHITECTURE.md", ""),
            ("CHANGELOG.md", "# Changelog\n"),
            ("CONTRIBUTING.md", ""),
            ("Cargo.lock", ""),
            ("LICENSE-APACHE", ""),
            ("README.md", ""),
        ];
        assert_eq!(
            check("the papers are there", &files),
            [
                "LICENSE-MIT: is missing",
                "CHANGELOG.md: lacks `## [Unreleased]`"
            ]
        );
    }

    #[test]
    fn a_long_architecture_is_refused_at_its_first_line_too_many() {
        let rule = "ARCHITECTURE.md is read in one sitting";
        assert!(check(rule, &[(ARCHITECTURE, &"\n".repeat(200))]).is_empty());
        assert_eq!(
            check(rule, &[(ARCHITECTURE, &"\n".repeat(201))]),
            ["ARCHITECTURE.md: 201 lines; at most 200"]
        );
    }

    #[test]
    fn every_crate_and_dependency_is_explained() {
        let manifest =
            "[workspace.dependencies]\na = { path = \"crates/a\" }\nbytes = \"1\"\nhttp = \"1\"\n";
        let files = [
            ("ARCHITECTURE.md", "`core` and `http`"),
            ("Cargo.toml", manifest),
            ("crates/core/Cargo.toml", ""),
            ("crates/fake/Cargo.toml", ""),
        ];
        assert_eq!(
            check("ARCHITECTURE.md knows every crate and dependency", &files),
            [
                "ARCHITECTURE.md: does not mention the crate `fake`",
                "ARCHITECTURE.md: does not explain the dependency `bytes`",
            ]
        );
    }

    #[test]
    fn a_stale_generated_file_is_found() {
        let rule = "generated files are up to date";
        let up_to_date: Vec<(&str, String)> = GENERATED
            .iter()
            .map(|generated| (generated.path, (generated.text)()))
            .collect();
        let mut files: Vec<(&str, &str)> = up_to_date
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        assert!(check(rule, &files).is_empty());
        files[0].1 = "";
        assert_eq!(check(rule, &files), [format!("{}: is stale", files[0].0)]);
    }
}
