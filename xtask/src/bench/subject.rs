//! A server under measurement: pinned to a core where that matters, its CPU time and memory read from `/proc`, stopped when dropped.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::clock;

const START_TIME_MAX: Duration = Duration::from_secs(10);
const STOP_TIME_MAX: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

pub(super) struct Subject {
    name: &'static str,
    address: SocketAddr,
    child: Child,
}

/// In KiB, all processes of a subject together.
pub(super) struct Memory {
    pub(super) resident: u64,
    pub(super) peak: u64,
}

impl Subject {
    /// Starts the command, on that core where one is named, and waits until it accepts connections.
    pub(super) fn start(
        name: &'static str,
        command: &Command,
        core: Option<&str>,
        address: SocketAddr,
        directory: &Path,
    ) -> anyhow::Result<Self> {
        let log_path = directory.join(format!("{name}.log"));
        let log = File::create(&log_path)
            .with_context(|| format!("cannot write {}", log_path.display()))?;
        let mut placed = match core {
            // taskset becomes the program: the child's id is the server's.
            Some(core) => {
                let mut placed = Command::new("taskset");
                placed.args(["--cpu-list", core]).arg(command.get_program());
                placed
            }
            None => Command::new(command.get_program()),
        };
        let child = placed
            .args(command.get_args())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("{name} did not start"))?;
        let mut subject = Self {
            name,
            address,
            child,
        };
        subject.await_ready(&log_path)?;
        Ok(subject)
    }

    fn await_ready(&mut self, log_path: &Path) -> anyhow::Result<()> {
        let started = clock::now();
        while TcpStream::connect_timeout(&self.address, START_TIME_MAX).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!(
                    "{} ended at once ({status}); see {}",
                    self.name,
                    log_path.display()
                );
            }
            if started.elapsed() > START_TIME_MAX {
                bail!(
                    "{} does not listen on {}; see {}",
                    self.name,
                    self.address,
                    log_path.display()
                );
            }
            thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// CPU time of all its processes since they started, in the kernel's ticks (100 a second on Linux).
    pub(super) fn cpu_ticks(&self) -> anyhow::Result<u64> {
        let mut ticks = 0;
        for process in self.processes() {
            let stat = read(&process.join("stat"))?;
            ticks += ticks_of(&stat).with_context(|| format!("unknown form: {stat}"))?;
        }
        Ok(ticks)
    }

    pub(super) fn memory_kib(&self) -> anyhow::Result<Memory> {
        let mut memory = Memory {
            resident: 0,
            peak: 0,
        };
        for process in self.processes() {
            let status = read(&process.join("status"))?;
            memory.resident += kib_of(&status, "VmRSS:").context("no VmRSS")?;
            memory.peak += kib_of(&status, "VmHWM:").context("no VmHWM")?;
        }
        Ok(memory)
    }

    /// The server and its workers, as directories of `/proc`.
    fn processes(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.child.id()];
        while let Some(id) = open.pop() {
            let process = PathBuf::from(format!("/proc/{id}"));
            let children = fs::read_to_string(process.join(format!("task/{id}/children")));
            open.extend(
                children
                    .unwrap_or_default()
                    .split_whitespace()
                    .filter_map(|id| id.parse::<u32>().ok()),
            );
            found.push(process);
        }
        found
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // A server that is killed outright would leave its workers behind.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let asked = clock::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if asked.elapsed() > STOP_TIME_MAX {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// User and system time. The process's name, in brackets, may hold spaces and brackets itself.
fn ticks_of(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

fn kib_of(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_behind_a_name_with_brackets() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 25 17 3 4 20 0 1 0 99 1 1 0";
        assert_eq!(ticks_of(stat), Some(42));
        assert_eq!(ticks_of("7 (a) S 1"), None);
    }

    #[test]
    fn memory_is_read_by_name() {
        let status = "Name:\ta\nVmHWM:\t   22528 kB\nVmRSS:\t   12288 kB\n";
        assert_eq!(kib_of(status, "VmRSS:"), Some(12_288));
        assert_eq!(kib_of(status, "VmHWM:"), Some(22_528));
        assert_eq!(kib_of(status, "VmSwap:"), None);
    }
}
