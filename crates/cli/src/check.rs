//! `sluicegate check`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::{FAILED, file};

/// Validate a configuration file, or print its schema.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The file to validate.
    #[arg(long, value_name = "FILE", required_unless_present = "schema")]
    config: Option<PathBuf>,
    /// Print the JSON Schema of the file instead.
    #[arg(long, conflicts_with = "config")]
    schema: bool,
    /// Print the verdict as JSON.
    #[arg(long)]
    json: bool,
}

impl Check {
    #[expect(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "what the command is for"
    )]
    pub(crate) fn run(self) -> ExitCode {
        let Some(path) = self.config else {
            println!("{:#}", sluicegate_config::schema());
            return ExitCode::SUCCESS;
        };
        match file::read(&path) {
            Ok(policy) => {
                let ledgers = policy.ledgers();
                let (accounts, deployments) = (policy.accounts.len(), policy.deployments.len());
                let limits = ledgers.limits.len();
                if self.json {
                    println!(
                        "{}",
                        json!({ "ok": true, "accounts": accounts, "deployments": deployments, "limits": limits })
                    );
                } else {
                    println!(
                        "{}: valid; accounts: {accounts}, deployments: {deployments}, limits: {limits}",
                        path.display()
                    );
                }
                ExitCode::SUCCESS
            }
            Err(errors) => {
                if self.json {
                    let errors: Vec<&str> = errors.0.lines().collect();
                    println!("{}", json!({ "ok": false, "errors": errors }));
                } else {
                    eprintln!("{errors}");
                }
                ExitCode::from(FAILED)
            }
        }
    }
}
