//! What the values mean together: checked sections to a policy.
//!
//! It owns meaning: references between sections, defaults that depend on other values, contradictions. It reads only
//! sections whose form was checked, leaves out what is broken without a word (that was said), and goes on after a problem.

mod account;
mod deployment;
mod failures;
mod lanes;
mod limits;
mod load;
mod provider;
mod route;
mod server;
mod window;

pub(crate) use account::is_region;

use sluicegate_core::BreakerRule;

use crate::checked::Section;
use crate::errors::Problems;
use crate::{Pattern, Policy, Timeouts};

/// The policy that `root` describes; what is wrong with it is in `problems`, and then the policy is not to be used.
pub(crate) fn resolve(root: &Section, problems: &mut Problems) -> Option<Policy> {
    let (server, timeouts) = server::server(root.section("server"), problems);
    let rows = provider::rows(root.map("providers"), problems);
    let outer = Outer {
        timeouts,
        breaker: failures::breaker(root.section("breaker"), BreakerRule::default()),
    };
    let accounts = account::accounts(root.map("accounts"), &rows, outer, problems);
    let deployments = deployment::deployments(root.map("deployments"), &accounts, problems);
    let routes = route::routes(
        root.map("routes"),
        root.map("deployments"),
        deployments.as_deref(),
        problems,
    );
    let queue = lanes::queue(root.section("queue"));
    let lanes = lanes::lanes(root.section("lanes"), queue.as_ref(), problems);
    let retry = failures::retry(root.section("retry"), problems);
    let load = load::load(root.section("load"), problems);
    let operator = server::operator(root.section("operator"), problems);
    for key in ["providers", "accounts", "deployments", "routes"] {
        if let Some(value) = root.value(key)
            && !root.is_broken(key)
            && root.map(key).is_empty()
        {
            problems
                .add(value.at, &value.path, "is empty")
                .expected(format!("at least one of the {key}"));
        }
    }
    Some(Policy {
        server: server?,
        providers: rows
            .into_iter()
            .map(|slot| slot.provider)
            .collect::<Option<_>>()?,
        accounts: accounts
            .into_iter()
            .map(|slot| slot.account)
            .collect::<Option<_>>()?,
        deployments: deployments?,
        routes: routes?,
        lanes: lanes?,
        retry: retry?,
        load: load?,
        stream: server::stream(root.section("stream"))?,
        estimates: server::estimates(root.section("estimates"))?,
        queue: queue?,
        operator,
    })
}

/// What holds for calls to every upstream where no inner level says otherwise.
#[derive(Clone, Copy)]
struct Outer {
    timeouts: Timeouts,
    breaker: BreakerRule,
}

/// `name` as a pattern: one `*` at the end is a wildcard, any other is refused.
fn pattern(name: &str) -> Result<Pattern, &'static str> {
    let (stem, wild) = match name.strip_suffix('*') {
        Some(stem) => (stem, true),
        None => (name, false),
    };
    match (stem.contains('*'), wild) {
        (true, _) => Err("a * may stand at the end only"),
        (false, true) => Ok(Pattern::Prefix(stem.to_owned())),
        (false, false) => Ok(Pattern::Exact(stem.to_owned())),
    }
}
