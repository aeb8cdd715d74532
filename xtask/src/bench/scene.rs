//! What stands where while it is measured: an upstream on one core, and before it, on another, nginx and the gateway.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::subject::Subject;
use super::{free_address, write};

pub(super) const UPSTREAM_CORE: &str = "1";
const SUBJECT_CORE: &str = "0";

/// What the scenes are made of.
pub(super) struct Programs<'a> {
    pub(super) nginx: &'a Path,
    pub(super) gateway: &'a Path,
    pub(super) directory: &'a Path,
}

/// Which upstream the subjects have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    /// The fake, with no limits and no delays of its own. It counts every prompt.
    Fake,
    /// An nginx with one fixed answer, whatever it is sent.
    Swift,
}

/// An upstream and who stands before it; all end with this.
pub(super) struct Scene {
    subjects: [Subject; 2],
    _upstream: Subject,
}

impl Scene {
    pub(super) fn subjects(&self) -> &[Subject] {
        &self.subjects
    }
}

impl Programs<'_> {
    pub(super) fn start(&self, upstream: Upstream) -> anyhow::Result<Scene> {
        let upstream = match upstream {
            Upstream::Swift => {
                let text = include_str!("upstream.conf");
                self.nginx("upstream", UPSTREAM_CORE, text)?
            }
            Upstream::Fake => {
                let settings = write(self.directory, "fake.yaml", "{}\n")?;
                self.sluicegate("upstream", UPSTREAM_CORE, "fake", &settings)?
            }
        };
        let address = upstream.address().to_string();
        let text = include_str!("nginx.conf").replace("{upstream}", &address);
        let nginx = self.nginx("nginx", SUBJECT_CORE, &text)?;
        let text = include_str!("gateway.yaml").replace("{upstream}", &address);
        let configuration = write(self.directory, "gateway.yaml", &text)?;
        let gateway = self.sluicegate("sluicegate", SUBJECT_CORE, "serve", &configuration)?;
        Ok(Scene {
            subjects: [nginx, gateway],
            _upstream: upstream,
        })
    }

    /// An nginx whose files are in a directory of its own.
    fn nginx(&self, name: &'static str, core: &str, text: &str) -> anyhow::Result<Subject> {
        let address = free_address()?;
        let directory = self.directory.join(name);
        fs::create_dir_all(&directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        let text = text
            .replace("{directory}", &directory.display().to_string())
            .replace("{listen}", &address.to_string());
        let configuration = write(&directory, "nginx.conf", &text)?;
        let mut command = Command::new(self.nginx);
        command.arg("-e").arg(directory.join("error.log"));
        command.arg("-p").arg(&directory);
        command.arg("-c").arg(configuration);
        self.placed(name, &command, core, address)
    }

    fn sluicegate(
        &self,
        name: &'static str,
        core: &str,
        subcommand: &str,
        configuration: &Path,
    ) -> anyhow::Result<Subject> {
        let address = free_address()?;
        let mut command = Command::new(self.gateway);
        command.arg(subcommand).arg("--config").arg(configuration);
        command.arg("--listen").arg(address.to_string());
        self.placed(name, &command, core, address)
    }

    fn placed(
        &self,
        name: &'static str,
        command: &Command,
        core: &str,
        address: SocketAddr,
    ) -> anyhow::Result<Subject> {
        Subject::start(name, command, Some(core), address, self.directory)
    }
}
