//! The binary as a child process: what it prints line by line, signals, and its end.

use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::wait::within;

/// The binary with `arguments`, in an environment that holds nothing: no keys, no proxies.
pub(crate) fn sluicegate(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// A running child, killed when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: Child,
    out: Lines,
    err: Lines,
}

/// The lines that have come so far. The sender is gone when there will be no more.
type Lines = watch::Receiver<Vec<String>>;

/// What a program that ended by itself left.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Output {
    /// Runs `command` to its end.
    pub(crate) async fn of(command: &mut Command) -> Self {
        let output = command.kill_on_drop(true).output();
        let output = within("the program's end", output).await.unwrap();
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Process {
    pub(crate) fn start(name: &'static str, command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let out = lines(child.stdout.take().unwrap());
        let err = lines(child.stderr.take().unwrap());
        Self {
            name,
            child,
            out,
            err,
        }
    }

    /// The first line of stdout with `part` in it.
    pub(crate) async fn says(&self, part: &str) -> String {
        self.line(self.out.clone(), part).await
    }

    /// The first line of stderr with `part` in it.
    pub(crate) async fn complains(&self, part: &str) -> String {
        self.line(self.err.clone(), part).await
    }

    /// All of stdout so far.
    pub(crate) fn said(&self) -> String {
        self.out.borrow().join("\n")
    }

    /// All of stderr so far.
    pub(crate) fn complaints(&self) -> String {
        self.err.borrow().join("\n")
    }

    pub(crate) fn terminate(&self) {
        let id = self
            .child
            .id()
            .expect("it runs until somebody waits for it");
        let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        kill_process(id, Signal::TERM).unwrap();
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        within("the end of the process", self.child.wait())
            .await
            .unwrap()
    }

    async fn line(&self, mut lines: Lines, part: &str) -> String {
        let has = |line: &&String| line.contains(part);
        let coming = lines.wait_for(|lines| lines.iter().any(|line| has(&line)));
        match within(part, coming).await {
            Ok(lines) => lines.iter().find(has).cloned().unwrap(),
            Err(_) => panic!("{} ended without saying {part:?}", self.name),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "--- {} said\n{}\n--- and on stderr\n{}",
                self.name,
                self.said(),
                self.complaints()
            );
        }
    }
}

fn lines(stream: impl AsyncRead + Unpin + Send + 'static) -> Lines {
    /// Of one process; what is beyond is read and forgotten.
    const LINES_MAX: usize = 10_000;
    let (sender, receiver) = watch::channel(Vec::new());
    tokio::spawn(async move {
        let mut reader = BufReader::new(stream).lines();
        while let Ok(Some(line)) = reader.next_line().await {
            sender.send_modify(|lines| {
                if lines.len() < LINES_MAX {
                    lines.push(line);
                }
            });
        }
        // Whoever writes to a closed pipe dies of it: what is no text is read too.
        let _ = tokio::io::copy(&mut reader.into_inner(), &mut tokio::io::sink()).await;
    });
    receiver
}
