//! The binary `sluicegate`: reads the command line, wires the crates together, prints.
//!
//! Exit codes: 0 done, 1 the work failed, 2 wrong usage or configuration. What a program may read goes to stdout, everything else to
//! stderr.

mod builtin_fake;
mod check;
mod example_file;
mod fake;
mod file;
mod log;
mod print;
mod reload;
mod serve;
mod signals;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::log::LogFormat;

/// A gate in front of LLM providers that counts with their own ruler before it sends.
#[derive(Debug, Parser)]
#[command(name = "sluicegate", version, arg_required_else_help = true)]
struct Arguments {
    /// How log lines on stderr look.
    #[arg(long, global = true, value_enum, default_value_t)]
    log_format: LogFormat,
    /// What is logged, like `debug` or `sluicegate_gateway=debug`.
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        default_value = "info",
        env = "SLUICEGATE_LOG"
    )]
    log: String,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the gateway.
    Serve(serve::Serve),
    /// Run the provider-faithful fake upstream as a server.
    Fake(fake::Fake),
    /// Validate a configuration file, or print its schema.
    Check(check::Check),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Err(error) = log::start(&arguments.log, arguments.log_format) {
        return fail(&error.context("--log"), WRONG_USAGE);
    }
    let ended = match arguments.command {
        Command::Serve(serve) => serve.run(),
        Command::Fake(fake) => fake.run(),
        Command::Check(check) => return check.run(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let code = if error.is::<WrongUsage>() {
                WRONG_USAGE
            } else {
                FAILED
            };
            fail(&error, code)
        }
    }
}

const FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;

/// Marks an error as the caller's: a configuration or arguments that cannot be.
#[derive(Debug)]
struct WrongUsage(String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

#[expect(clippy::print_stderr, reason = "the last word of a program that fails")]
fn fail(error: &anyhow::Error, code: u8) -> ExitCode {
    eprintln!("sluicegate: {error:#}");
    ExitCode::from(code)
}
