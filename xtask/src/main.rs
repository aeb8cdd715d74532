//! What a developer runs: `cargo xtask test`, `tidy`, `generate`, `deny`.
//!
//! Repository rules and their set-up are a Rust program and not shell scripts, so that they run wherever cargo runs and
//! are themselves compiled, linted and tested. It knows the product only through its binary, its manifests and its files.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing to the developer's terminal is what this program does"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "no runtime thread to block; clock reads stay in clock.rs, which tidy checks"
)]

mod clock;
mod deny;
mod generate;
mod process;
mod setup;
mod tally;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

/// The repository's own tools.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Set up what is missing, then check and test everything
    Test(test::Args),
    /// Check the repository's own rules
    Tidy,
    /// Write the generated files
    Generate,
    /// Check licences, advisories and bans of all dependencies
    Deny,
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Test(args) => test::run(&args),
        Command::Tidy => tidy::run(),
        Command::Generate => generate::run(),
        Command::Deny => deny::run(),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
