//! Child processes that cannot hang, outlive this program or wait for a keyboard.
//!
//! Every child leads its own process group, has no standard input and a time limit. When the limit passes, or the
//! developer presses Ctrl-C, the whole group gets SIGTERM and, five seconds later, SIGKILL. Output passes through line
//! by line, so that a step can count tests in it. One loop receives everything from one channel: lines, the exit, signals.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::clock;

/// From asking a group to end until it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// A longer line is printed in pieces.
const LINE_BYTES_MAX: u64 = 64 * 1024;
const EVENTS_MAX: usize = 1024;

/// How a child came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut(Duration),
    /// The developer, or a supervisor, asked this program to stop.
    Interrupted,
}

impl End {
    pub(crate) fn is_success(self) -> bool {
        matches!(self, Self::Exited(status) if status.success())
    }
}

/// Runs children one after another.
pub(crate) struct Runner {
    events: Receiver<Event>,
    sender: SyncSender<Event>,
    runs: u64,
}

struct Event {
    /// Zero for a signal to this program; otherwise the run that it belongs to.
    run: u64,
    what: What,
}

enum What {
    Line(Output, Vec<u8>),
    OutputEnded,
    Exited(io::Result<ExitStatus>),
    Signal,
}

#[derive(Clone, Copy)]
enum Output {
    Stdout,
    Stderr,
}

impl Runner {
    /// # Errors
    ///
    /// When the signal handlers cannot be installed.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let (sender, events) = sync_channel(EVENTS_MAX);
        let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot handle signals")?;
        let to_loop = sender.clone();
        thread::spawn(move || {
            for _ in signals.forever() {
                let event = Event {
                    run: 0,
                    what: What::Signal,
                };
                if to_loop.send(event).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            events,
            sender,
            runs: 0,
        })
    }

    /// Runs the command to its end, or ends it after `time_max`. `on_line` sees each line of output, which is printed too.
    ///
    /// # Errors
    ///
    /// When the command cannot be started at all.
    pub(crate) fn run(
        &mut self,
        command: &mut Command,
        time_max: Duration,
        on_line: &mut dyn FnMut(&str),
    ) -> anyhow::Result<End> {
        self.runs += 1;
        let group = self.spawn(command)?;
        let end = self.follow(group, clock::now() + time_max, time_max, on_line);
        // Whatever the child left running in its group ends with it.
        signal_group(group, Signal::KILL);
        Ok(end)
    }

    fn spawn(&self, command: &mut Command) -> anyhow::Result<Pid> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| {
                format!("cannot start `{}`", command.get_program().to_string_lossy())
            })?;
        let group = Pid::from_child(&child);
        if let Some(stdout) = child.stdout.take() {
            self.read(stdout, Output::Stdout);
        }
        if let Some(stderr) = child.stderr.take() {
            self.read(stderr, Output::Stderr);
        }
        let (run, sender) = (self.runs, self.sender.clone());
        thread::spawn(move || {
            let what = What::Exited(child.wait());
            // The loop may have stopped listening, which is fine.
            let _ = sender.send(Event { run, what });
        });
        Ok(group)
    }

    fn read(&self, from: impl Read + Send + 'static, output: Output) {
        let (run, sender) = (self.runs, self.sender.clone());
        thread::spawn(move || {
            let mut reader = BufReader::new(from);
            loop {
                let mut line = Vec::new();
                let what = match (&mut reader)
                    .take(LINE_BYTES_MAX)
                    .read_until(b'\n', &mut line)
                {
                    Ok(0) | Err(_) => What::OutputEnded,
                    Ok(_) => What::Line(output, line),
                };
                let is_last = matches!(what, What::OutputEnded);
                if sender.send(Event { run, what }).is_err() || is_last {
                    return;
                }
            }
        });
    }

    fn follow(
        &self,
        group: Pid,
        mut wake_at: Instant,
        time_max: Duration,
        on_line: &mut dyn FnMut(&str),
    ) -> End {
        let mut outputs_open = 2;
        let mut exited = None;
        let mut cut = None;
        loop {
            if outputs_open == 0
                && let Some(status) = exited
            {
                return cut.unwrap_or(End::Exited(status));
            }
            match self
                .events
                .recv_timeout(wake_at.saturating_duration_since(clock::now()))
            {
                Ok(Event { run: 0, .. }) => {
                    cut = Some(End::Interrupted);
                    signal_group(group, Signal::TERM);
                    wake_at = clock::now() + GRACE;
                }
                Ok(Event { run, .. }) if run != self.runs => {}
                Ok(Event { what, .. }) => match what {
                    What::Line(output, line) => pass_through(output, &line, on_line),
                    What::OutputEnded => outputs_open -= 1,
                    What::Exited(Ok(status)) => {
                        exited = Some(status);
                        // Something that it started may hold its output open.
                        wake_at = wake_at.min(clock::now() + GRACE);
                    }
                    What::Exited(Err(_)) | What::Signal => return End::Interrupted,
                },
                Err(RecvTimeoutError::Timeout) => match (exited, cut) {
                    (Some(status), _) => return cut.unwrap_or(End::Exited(status)),
                    (None, None) => {
                        cut = Some(End::TimedOut(time_max));
                        signal_group(group, Signal::TERM);
                        wake_at = clock::now() + GRACE;
                    }
                    (None, Some(_)) => {
                        signal_group(group, Signal::KILL);
                        wake_at = clock::now() + GRACE;
                    }
                },
                // This runner holds a sender itself.
                Err(RecvTimeoutError::Disconnected) => return End::Interrupted,
            }
        }
    }
}

/// A group that is already gone is what was wanted.
fn signal_group(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}

/// A closed terminal is no reason to stop a run whose exit code still counts.
fn pass_through(output: Output, line: &[u8], on_line: &mut dyn FnMut(&str)) {
    let _ = match output {
        Output::Stdout => io::stdout().write_all(line),
        Output::Stderr => io::stderr().write_all(line),
    };
    on_line(String::from_utf8_lossy(line).trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn run(script: &str, time_max: Duration) -> (End, Vec<String>) {
        let mut lines = Vec::new();
        let end = Runner::new()
            .and_then(|mut runner| {
                runner.run(&mut shell(script), time_max, &mut |line| {
                    lines.push(line.to_owned());
                })
            })
            .expect("sh starts");
        (end, lines)
    }

    #[test]
    fn lines_of_both_outputs_and_the_exit_code_arrive() {
        let (end, mut lines) = run("echo one; echo two >&2; exit 3", Duration::from_secs(60));
        lines.sort();
        assert_eq!(lines, ["one", "two"]);
        assert!(matches!(end, End::Exited(status) if status.code() == Some(3)));
        assert!(!end.is_success());
    }

    #[test]
    fn standard_input_is_at_its_end() {
        let (end, lines) = run("cat; echo done", Duration::from_secs(60));
        assert!(end.is_success());
        assert_eq!(lines, ["done"]);
    }

    #[test]
    fn a_child_and_its_children_end_at_the_time_limit() {
        let time_max = Duration::from_millis(50);
        // The one in the background would hold the outputs open for long after the shell is gone.
        let (end, _) = run("tail -f /dev/null & tail -f /dev/null", time_max);
        assert_eq!(end, End::TimedOut(time_max));
    }

    #[test]
    fn two_runs_of_one_runner_do_not_see_each_others_output() {
        let mut runner = Runner::new().expect("signal handlers");
        for word in ["first", "second"] {
            let mut lines = Vec::new();
            let end = runner
                .run(
                    &mut shell(&format!("echo {word}")),
                    Duration::from_secs(60),
                    &mut |line| {
                        lines.push(line.to_owned());
                    },
                )
                .expect("sh starts");
            assert!(end.is_success());
            assert_eq!(lines, [word]);
        }
    }
}
