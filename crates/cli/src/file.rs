//! The configuration file, from the disk to a policy.

use std::path::Path;

use sluicegate_config::Policy;

use crate::WrongUsage;

/// The policy that `path` describes, with variables from the environment.
///
/// # Errors
///
/// [`WrongUsage`] with everything that is wrong with the file.
#[expect(
    clippy::disallowed_methods,
    reason = "read by the main thread or the reloading one, never by a worker"
)]
pub(crate) fn read(path: &Path) -> Result<Policy, WrongUsage> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| WrongUsage(format!("{name}: cannot be read: {error}")))?;
    sluicegate_config::parse(&name, &text, &variable)
        .map_err(|errors| WrongUsage(errors.to_string()))
}

/// A variable of the environment.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
