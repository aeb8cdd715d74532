//! What a developer runs: `cargo xtask test`, `tidy`, `generate`, `deny`, `bench`, `soak`.
//!
//! Repository rules and their set-up are a Rust program and not shell scripts, so that they run wherever cargo runs and
//! are themselves compiled, linted and tested. It knows the product through its binary, its manifests and its files, and through
//! the rows of the catalog and the fake's settings, which it writes into those.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing to the developer's terminal is what this program does"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "no runtime thread to block; clock reads stay in clock.rs, which tidy checks"
)]

mod bench;
mod clock;
mod deny;
mod generate;
mod machine;
mod process;
mod setup;
mod soak;
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
    /// Measure what the gateway costs, next to a plain nginx pass-through
    Bench(bench::Args),
    /// Offer load to one address and print what was seen, as JSON (used by `bench`)
    #[command(hide = true)]
    Load(bench::load::Args),
    /// Run the randomised tests for long, and write down what came of it
    Soak(soak::Args),
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Test(args) => test::run(&args),
        Command::Tidy => tidy::run(),
        Command::Generate => generate::run(),
        Command::Deny => deny::run(),
        Command::Bench(args) => bench::run(&args),
        Command::Load(args) => bench::load::run(&args),
        Command::Soak(args) => soak::run(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
