//! Rules about manifests: what each takes from the workspace.

use super::{Findings, Repository, Rule};

pub(super) const RULES: &[Rule] = &[Rule {
    name: "manifests inherit from the workspace",
    reason: "One version, edition, licence and set of lints for all crates.",
    check: manifests,
}];

fn manifests(repository: &Repository, findings: &mut Findings) {
    for file in repository.tree.files() {
        if !file.path.ends_with("/Cargo.toml") {
            continue;
        }
        let manifest: toml::Table = match file.text.parse() {
            Ok(manifest) => manifest,
            Err(error) => {
                findings.violation(file.path, error);
                continue;
            }
        };
        let inherits = |table: &str, key: &str| {
            let value = manifest.get(table).and_then(|table| table.get(key));
            let value = if key == "workspace" {
                value
            } else {
                value.and_then(|v| v.get("workspace"))
            };
            value.and_then(toml::Value::as_bool) == Some(true)
        };
        let package = manifest.get("package");
        let is_published = package
            .and_then(|p| p.get("publish"))
            .and_then(toml::Value::as_bool)
            != Some(false);
        let fields = [
            "version",
            "edition",
            "rust-version",
            "license",
            "repository",
        ];
        for field in fields {
            if !inherits("package", field) && (field != "repository" || is_published) {
                findings.violation(file.path, format_args!("lacks {field}.workspace = true"));
            }
        }
        if package.and_then(|p| p.get("description")).is_none() {
            findings.violation(file.path, "lacks a description");
        }
        if !inherits("lints", "workspace") {
            findings.violation(file.path, "lacks [lints] workspace = true");
        }
        for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let table = manifest.get(key).and_then(toml::Value::as_table);
            for name in table.into_iter().flat_map(toml::Table::keys) {
                if !table.is_some_and(|t| is_inherited(&t[name])) {
                    let what = format_args!("{name} does not take its version from the workspace")
                        .to_string();
                    findings.violation(file.path, what);
                }
            }
        }
    }
}

fn is_inherited(dependency: &toml::Value) -> bool {
    dependency.get("workspace").and_then(toml::Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::super::crates::Graph;
    use super::super::tree::Tree;
    use super::super::violations_of;
    use super::*;

    #[test]
    fn a_manifest_that_stands_alone_is_told_all_that_it_lacks() {
        let alone = "[package]\nname = \"a\"\nversion = \"1.0.0\"\nedition.workspace = true\n\
                     license.workspace = true\nrust-version.workspace = true\n\
                     [dependencies]\nbytes = \"1\"\nhttp = { workspace = true }\n";
        let whole = "[package]\ndescription = \"b\"\npublish = false\nversion.workspace = true\n\
                     edition.workspace = true\nlicense.workspace = true\nrust-version.workspace = true\n\
                     [lints]\nworkspace = true\n";
        let repository = Repository {
            tree: Tree::of(&[("crates/a/Cargo.toml", alone), ("xtask/Cargo.toml", whole)]),
            graph: Graph::default(),
        };
        assert_eq!(
            violations_of("manifests inherit from the workspace", &repository),
            [
                "crates/a/Cargo.toml: lacks version.workspace = true",
                "crates/a/Cargo.toml: lacks repository.workspace = true",
                "crates/a/Cargo.toml: lacks a description",
                "crates/a/Cargo.toml: lacks [lints] workspace = true",
                "crates/a/Cargo.toml: bytes does not take its version from the workspace",
            ]
        );
    }
}
