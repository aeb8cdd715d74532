//! `sluicegate check`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use sluicegate_config::{Account, Policy, Slots};

use crate::{FAILED, WrongUsage, file, print};

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
    #[expect(clippy::print_stderr, reason = "what the command is for")]
    pub(crate) fn run(self) -> ExitCode {
        let Some(path) = self.config else {
            print::line(format_args!("{:#}", sluicegate_config::schema()));
            return ExitCode::SUCCESS;
        };
        let servable = file::read(&path).and_then(|policy| {
            let problem = |error| WrongUsage(format!("{}: {error}", path.display()));
            sluicegate_gateway::check(policy.clone()).map_err(problem)?;
            Ok(policy)
        });
        match servable {
            Ok(policy) => {
                let ledgers = policy.ledgers();
                let (accounts, deployments) = (policy.accounts.len(), policy.deployments.len());
                let limits = ledgers.limits.len();
                let unlimited = accounts_without_limits(&policy);
                let rows: Vec<&str> = policy.providers.iter().map(|row| &*row.id).collect();
                if self.json {
                    print::line(format_args!(
                        "{}",
                        json!({
                            "ok": true, "providers": rows, "accounts": accounts, "deployments": deployments,
                            "limits": limits, "accounts_without_limits": unlimited,
                        })
                    ));
                } else {
                    let rows = match rows.as_slice() {
                        [] => String::new(),
                        rows => format!(", providers of its own: {}", rows.join(" ")),
                    };
                    print::line(format_args!(
                        "{}: valid; accounts: {accounts}, deployments: {deployments}, limits: {limits}{rows}",
                        path.display()
                    ));
                    for account in unlimited {
                        print::line(format_args!(
                            "account {account} has no limits: they are learned from what answers tell of them; until the first \
                             answer, and where the provider tells nothing, nothing is held back"
                        ));
                    }
                }
                ExitCode::SUCCESS
            }
            Err(errors) => {
                if self.json {
                    let errors: Vec<&str> = errors.0.lines().collect();
                    print::line(format_args!("{}", json!({ "ok": false, "errors": errors })));
                } else {
                    eprintln!("{errors}");
                }
                ExitCode::from(FAILED)
            }
        }
    }
}

/// Accounts on which no limit stands: neither their own nor one of a family or a deployment, nor slots that are found out.
fn accounts_without_limits(policy: &Policy) -> Vec<&str> {
    let has_none = |(index, account): &(usize, &Account)| {
        let mut deployments = policy.deployments.iter();
        account.limits.is_empty()
            && account
                .families
                .iter()
                .all(|family| family.limits.is_empty())
            && account.slots == Slots::Limited
            && !deployments.any(|one| {
                one.account == *index && (!one.limits.is_empty() || one.slots == Slots::Adaptive)
            })
    };
    let accounts = policy.accounts.iter().enumerate().filter(has_none);
    accounts.map(|(_, account)| &*account.name).collect()
}
