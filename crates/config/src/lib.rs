//! The configuration file: raw text to a resolved policy, all errors at once.
//!
//! Text goes in, a [`Policy`] or all its [`Errors`] come out. The crate reads no file, environment or clock: the caller
//! does, so a configuration can be tried, tested and fuzzed as a value.
//!
//! One table (`table.rs`) describes the language. From it come the check of a file, the [`schema()`] that editors complete
//! from, and the [`reference()`] in the documentation, so that they cannot disagree. A file passes three steps: `tree` (what
//! YAML says), `check` (is each value of its kind?), `resolve` (what do the values mean together?); each reports what it
//! finds and goes on.
//!
//! ```
//! let text = "
//! accounts:
//!   openai-main: { provider: openai, api_key: ${OPENAI_API_KEY}, limits: { rpm: 500, tpm: 300k } }
//! deployments:
//!   gpt-5.5: { account: openai-main, limits: { concurrent: 64 } }
//! ";
//! let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "key".to_owned());
//! let policy = sluicegate_config::parse("sluicegate.yaml", text, &env)?;
//! let ledgers = policy.ledgers();
//! let names: Vec<&str> = ledgers.limits.iter().map(|limit| &*limit.name).collect();
//! assert_eq!(
//!     names,
//!     ["account openai-main requests/60s", "account openai-main tokens/60s", "deployment gpt-5.5 concurrent"]
//! );
//! assert_eq!(ledgers.targets, [[0, 1, 2]]);
//!
//! let errors = sluicegate_config::parse("a.yaml", &text.replace("tpm", "tmp"), &env).unwrap_err();
//! assert_eq!(
//!     errors.to_string(),
//!     "a.yaml:3:84: accounts.openai-main.limits.tmp: unknown key; did you mean \"tpm\"?\n1 error"
//! );
//! # Ok::<(), sluicegate_config::Errors>(())
//! ```

mod aws;
mod check;
mod checked;
mod errors;
mod expand;
mod form;
mod ledgers;
mod policy;
mod reference;
mod resolve;
mod route;
mod scalar;
mod schema;
mod secret;
mod shape;
mod start;
mod table;
mod tree;

pub use aws::AwsCredentials;
pub use errors::{Errors, Problem};
pub use ledgers::Ledgers;
pub use policy::{
    Account, Deployment, Estimates, Family, Lane, Lanes, Operator, Pattern, Policy, Price, Queue,
    Retry, Server, Slots, Stream, Timeouts, UpstreamModel, Webhook,
};
pub use reference::reference;
pub use route::{Destination, Fallback, Origin, Route};
pub use schema::schema;
pub use secret::Secret;
pub use start::KeyLeftOut;

/// What the configuration in `text` means. `env` looks up the variables that it names; `file_name` appears in errors only.
///
/// # Errors
/// Everything that is wrong with the file, at once.
pub fn parse(
    file_name: &str,
    text: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Policy, Errors> {
    let mut problems = errors::Problems::default();
    let policy = tree::read(text, &mut problems).and_then(|root| {
        let root = check::check(&root, &table::ROOT, env, &mut problems);
        resolve::resolve(&root, &mut problems)
    });
    problems.or_else(file_name, policy)
}
