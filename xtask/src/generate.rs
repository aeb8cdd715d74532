//! Files that a program writes and git keeps, so that a reader finds them and a review shows what changed.
//!
//! One table: path and the function that gives the text. `cargo xtask generate` writes them, `cargo xtask tidy` compares.

use std::fs;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::tidy;
use crate::workspace::Workspace;

pub(crate) struct Generated {
    /// Relative to the root.
    pub(crate) path: &'static str,
    pub(crate) text: fn() -> String,
}

pub(crate) const GENERATED: &[Generated] = &[
    Generated {
        path: "docs/configuration.md",
        text: sluicegate_config::reference,
    },
    Generated {
        path: "docs/providers.md",
        text: sluicegate_catalog::reference,
    },
    Generated {
        path: "docs/translation.md",
        text: sluicegate_dialect::reference,
    },
    Generated {
        path: "docs/rules.md",
        text: tidy::rules_page,
    },
];

/// Writes what is not up to date.
///
/// # Errors
///
/// When a file cannot be written.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load()?;
    for generated in GENERATED {
        let path = workspace.root.join(generated.path);
        let text = (generated.text)();
        if fs::read_to_string(&path).is_ok_and(|present| present == text) {
            continue;
        }
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", generated.path);
    }
    Ok(ExitCode::SUCCESS)
}
