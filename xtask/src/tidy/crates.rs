//! Rules about the crate graph: which may depend on which, and what the core may link.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use serde_json::Value;

use super::{Findings, Repository, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "crates depend only along the arrows",
        reason: "A layer that cannot see the one above cannot grow into it; a new arrow is a decision about the design.",
        check: arrows,
    },
    Rule {
        name: "the core links no std",
        reason: "What links no std reads no clock, file or socket, and starts no thread: the core stays a value.",
        check: core_tree,
    },
];

/// Where arrows from one of our crates may go.
pub(super) struct Arrows {
    pub(super) from: &'static str,
    /// As normal and build dependencies.
    pub(super) to: &'static [&'static str],
    /// As dev-dependencies, besides `to`.
    pub(super) in_tests: &'static [&'static str],
}

pub(super) const ARROWS: &[Arrows] = &[
    Arrows {
        from: "sluicegate-core",
        to: &[],
        in_tests: &[],
    },
    Arrows {
        from: "sluicegate-catalog",
        to: &["sluicegate-core"],
        in_tests: &[],
    },
    Arrows {
        from: "sluicegate-dialect",
        to: &["sluicegate-core", "sluicegate-catalog"],
        in_tests: &[],
    },
    Arrows {
        from: "sluicegate-config",
        to: &["sluicegate-core", "sluicegate-catalog"],
        in_tests: &[],
    },
    Arrows {
        from: "sluicegate-store",
        to: &["sluicegate-core"],
        in_tests: &[],
    },
    Arrows {
        from: "sluicegate-fake",
        to: &[],
        in_tests: &[],
    },
    Arrows {
        from: "sluicegate-sim",
        to: &[
            "sluicegate-core",
            "sluicegate-catalog",
            "sluicegate-config",
            "sluicegate-fake",
        ],
        // Reads what the fake's model says of its limits.
        in_tests: &["sluicegate-dialect"],
    },
    Arrows {
        from: "sluicegate-gateway",
        to: &[
            "sluicegate-core",
            "sluicegate-catalog",
            "sluicegate-dialect",
            "sluicegate-config",
            "sluicegate-store",
        ],
        in_tests: &["sluicegate-fake"],
    },
    Arrows {
        from: "sluicegate",
        to: &[
            "sluicegate-core",
            "sluicegate-catalog",
            "sluicegate-dialect",
            "sluicegate-config",
            "sluicegate-store",
            "sluicegate-fake",
            "sluicegate-sim",
            "sluicegate-gateway",
        ],
        in_tests: &[],
    },
    Arrows {
        from: "xtask",
        to: &[
            "sluicegate-catalog",
            "sluicegate-config",
            "sluicegate-core",
            "sluicegate-dialect",
            "sluicegate-fake",
        ],
        in_tests: &[],
    },
];

const CORE: &str = "sluicegate-core";
/// Crates that the core may link, directly or not: each is `no_std` and does no I/O.
const CORE_MAY_LINK: &[&str] = &[];

/// The crates of this workspace, what each depends on, and everything below the core.
#[derive(Default)]
pub(super) struct Graph {
    /// By name of a workspace member.
    members: BTreeMap<String, Dependencies>,
    /// Every package that the core links, by name.
    below_core: BTreeSet<String>,
}

#[derive(Default)]
struct Dependencies {
    normal: BTreeSet<String>,
    dev: BTreeSet<String>,
}

impl Graph {
    /// # Errors
    ///
    /// When the metadata does not have the documented form.
    pub(super) fn from_metadata(metadata: &Value) -> anyhow::Result<Self> {
        let packages = list(metadata, "packages")?;
        let members: BTreeSet<&str> = list(metadata, "workspace_members")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let mut graph = Self::default();
        let mut names = BTreeMap::new();
        for package in packages {
            let (id, name) = (text(package, "id")?, text(package, "name")?);
            names.insert(id, name);
            if members.contains(id) {
                let dependencies = Dependencies::from_package(package)?;
                graph.members.insert(name.to_owned(), dependencies);
            }
        }
        graph.below_core = below(CORE, &metadata["resolve"], &names)?;
        Ok(graph)
    }
}

impl Dependencies {
    fn from_package(package: &Value) -> anyhow::Result<Self> {
        let mut dependencies = Self::default();
        for dependency in list(package, "dependencies")? {
            let name = text(dependency, "name")?.to_owned();
            if dependency["kind"].as_str() == Some("dev") {
                dependencies.dev.insert(name);
            } else {
                dependencies.normal.insert(name);
            }
        }
        Ok(dependencies)
    }
}

/// Names of everything that the package links, found along normal dependencies.
fn below(
    package: &str,
    resolve: &Value,
    names: &BTreeMap<&str, &str>,
) -> anyhow::Result<BTreeSet<String>> {
    let mut arrows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in list(resolve, "nodes")? {
        let mut linked = Vec::new();
        for dependency in list(node, "deps")? {
            let is_normal = list(dependency, "dep_kinds")?
                .iter()
                .any(|kind| kind["kind"].is_null());
            if is_normal {
                linked.push(text(dependency, "pkg")?);
            }
        }
        arrows.insert(text(node, "id")?, linked);
    }
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = names
        .iter()
        .filter(|(_, name)| **name == package)
        .map(|(id, _)| *id)
        .collect();
    while let Some(id) = open.pop() {
        for next in arrows.get(id).into_iter().flatten() {
            if names
                .get(next)
                .is_some_and(|name| found.insert((*name).to_owned()))
            {
                open.push(next);
            }
        }
    }
    Ok(found)
}

fn arrows(repository: &Repository, findings: &mut Findings) {
    let members = &repository.graph.members;
    for (name, dependencies) in members {
        let Some(allowed) = ARROWS.iter().find(|arrows| arrows.from == name) else {
            findings.violation(name, "a crate without arrows; name what it may depend on");
            continue;
        };
        let ours = |name: &&String| members.contains_key(*name);
        for to in dependencies.normal.iter().filter(ours) {
            if !allowed.to.contains(&to.as_str()) {
                findings.violation(name, format_args!("may not depend on {to}"));
            }
        }
        for to in dependencies.dev.iter().filter(ours) {
            if !allowed.to.contains(&to.as_str()) && !allowed.in_tests.contains(&to.as_str()) {
                findings.violation(name, format_args!("may not depend on {to} in its tests"));
            }
        }
    }
}

fn core_tree(repository: &Repository, findings: &mut Findings) {
    for linked in &repository.graph.below_core {
        if !CORE_MAY_LINK.contains(&linked.as_str()) {
            findings.violation(
                CORE,
                format_args!("links {linked}, which is not on its list"),
            );
        }
    }
    let path = "crates/core/src/lib.rs";
    if let Some(root) = repository.tree.text(path)
        && !root.lines().any(|line| line == "#![no_std]")
    {
        findings.violation(path, "lacks #![no_std]");
    }
}

fn list<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a Vec<Value>> {
    value[key]
        .as_array()
        .with_context(|| format!("cargo metadata: `{key}` is no list"))
}

fn text<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    value[key]
        .as_str()
        .with_context(|| format!("cargo metadata: `{key}` is no text"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tree::Tree;
    use super::super::violations_of;
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> = dependencies
            .iter()
            .map(|(name, kind)| json!({ "name": name, "kind": kind }))
            .collect();
        json!({ "id": format!("{name}#1"), "name": name, "dependencies": dependencies })
    }

    fn repository(packages: &[Value], members: &[&str], nodes: &Value) -> Repository {
        let members: Vec<String> = members.iter().map(|name| format!("{name}#1")).collect();
        let metadata = json!({
            "packages": packages,
            "workspace_members": members,
            "resolve": { "nodes": nodes },
        });
        Repository {
            tree: Tree::default(),
            graph: Graph::from_metadata(&metadata).expect("well-formed metadata"),
        }
    }

    #[test]
    fn an_arrow_upwards_or_an_unknown_crate_is_a_violation() {
        let packages = [
            package(
                "sluicegate-core",
                &[("sluicegate-fake", None), ("proptest", Some("dev"))],
            ),
            package("sluicegate-fake", &[]),
            package(
                "sluicegate-gateway",
                &[("sluicegate-core", None), ("sluicegate-fake", Some("dev"))],
            ),
            package("sluicegate-config", &[("sluicegate-gateway", Some("dev"))]),
            package("sluicegate-novel", &[]),
        ];
        let members = [
            "sluicegate-core",
            "sluicegate-fake",
            "sluicegate-gateway",
            "sluicegate-config",
            "sluicegate-novel",
        ];
        let repository = repository(&packages, &members, &json!([]));
        assert_eq!(
            violations_of("crates depend only along the arrows", &repository),
            [
                "sluicegate-config: may not depend on sluicegate-gateway in its tests",
                "sluicegate-core: may not depend on sluicegate-fake",
                "sluicegate-novel: a crate without arrows; name what it may depend on",
            ]
        );
    }

    #[test]
    fn the_core_may_not_link_even_through_another_crate() {
        let packages = [
            package("sluicegate-core", &[]),
            package("a", &[]),
            package("b", &[]),
        ];
        let nodes = json!([
            { "id": "sluicegate-core#1", "deps": [{ "pkg": "a#1", "dep_kinds": [{ "kind": null }] }] },
            { "id": "a#1", "deps": [{ "pkg": "b#1", "dep_kinds": [{ "kind": "build" }, { "kind": null }] }] },
            { "id": "b#1", "deps": [{ "pkg": "c#1", "dep_kinds": [{ "kind": "dev" }] }] },
        ]);
        let mut repository = repository(&packages, &["sluicegate-core"], &nodes);
        repository.tree = Tree::of(&[("crates/core/src/lib.rs", "//! Core.\n")]);
        assert_eq!(
            violations_of("the core links no std", &repository),
            [
                "sluicegate-core: links a, which is not on its list",
                "sluicegate-core: links b, which is not on its list",
                "crates/core/src/lib.rs: lacks #![no_std]",
            ]
        );
    }
}
