//! Where things are: the repository's root, its target directory, and cargo itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use serde_json::Value;

/// The repository that this program was built from.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    /// What `cargo metadata` says, dependencies resolved.
    pub(crate) metadata: Value,
}

impl Workspace {
    /// Asks cargo. The lock file must be in step with the manifests.
    ///
    /// # Errors
    ///
    /// When cargo cannot read the workspace; its own message is passed on.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest_dir
            .parent()
            .context("xtask stands one level below the repository's root")?;
        let output = cargo(root)
            .args(["metadata", "--format-version", "1", "--locked"])
            .output()
            .context("cargo metadata did not start")?;
        if !output.status.success() {
            bail!(
                "cargo metadata failed:\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)
            .context("cargo metadata printed something else than JSON")?;
        let target = metadata["target_directory"]
            .as_str()
            .context("cargo metadata names no target directory")?;
        Ok(Self {
            root: root.to_owned(),
            target: PathBuf::from(target),
            metadata,
        })
    }

    /// A cargo command in the root.
    pub(crate) fn cargo(&self) -> Command {
        cargo(&self.root)
    }
}

/// A cargo command without the variables that the outer `cargo run` set for this program.
///
/// Build scripts that watch those would otherwise be rebuilt at every change between `cargo test` and `cargo xtask test`.
fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let of_this_package = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if of_this_package {
            command.env_remove(name);
        }
    }
    command.current_dir(root);
    command
}

/// The program of that name on `PATH`, if there is one.
pub(crate) fn find_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}
