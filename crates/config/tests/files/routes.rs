//! Routes: where names lead, and what the core is told of them.

use std::fmt::Write as _;

use sluicegate_config::{Destination, Fallback, Policy};
use sluicegate_core::{Balance, Lane, TargetId};

use crate::good;

/// Everything about a route, with the names of its deployments.
fn described(policy: &Policy, name: &str) -> String {
    let (_, route) = policy.route(name).expect("a route of that name");
    let to = |to: &Destination| {
        let deployment = &policy.deployments[to.deployment].name;
        format!("{deployment}:{}", to.model("?"))
    };
    let pool: Vec<String> = route.primary.iter().map(to).collect();
    let mut said = format!("{}: {}", route.name, pool.join(" "));
    let fallback = |fallback: &Fallback| {
        let when: Vec<&str> = fallback.when.iter().map(|when| when.name()).collect();
        format!("{} when {}", to(&fallback.to), when.join(" "))
    };
    for other in &route.fallbacks {
        let _ = write!(said, "; {}", fallback(other));
    }
    if let Some(smaller) = &route.degrade_to {
        let _ = write!(said, "; degrades to {}", fallback(smaller));
    }
    said
}

#[test]
fn routes_lead_to_deployments() {
    let policy = good("routes.yaml");
    assert_eq!(
        described(&policy, "support_ticket_summary"),
        "support_ticket_summary: sonnet-eu:sonnet sonnet-us:sonnet; \
         gpt-*:gpt-5.5 when provider_5xx rate_limit_after_retry_budget; \
         gpt-*:gpt-5.5-mini when provider_5xx rate_limit_after_retry_budget capacity context_length_needed primary_unavailable timeout; \
         degrades to qwen:qwen when batch_low_priority"
    );
    let (_, summary) = policy.task("support_ticket_summary").expect("a task");
    assert_eq!(summary.balance, Balance::Price);
    assert_eq!(summary.lane, Some(Lane::Batch));
    assert_eq!((summary.simple, summary.output_floor), (true, 100));
    assert_eq!(summary.raise_cap, Some(8_000));
    assert_eq!(summary.template.as_deref(), Some("We will answer\nsoon.\n"));
    // The route's timeouts go before each deployment's own.
    let timeouts: Vec<_> = summary
        .destinations()
        .map(|to| (to.timeouts.head.as_secs(), to.timeouts.idle.as_secs()))
        .collect();
    assert_eq!(timeouts, [(120, 3), (7, 3), (120, 3), (120, 3), (120, 3)]);

    // A deployment may be the primary of a route of its own name, also one model of a wildcard.
    assert_eq!(
        described(&policy, "qwen"),
        "qwen: qwen:qwen; gpt-4*:gpt-4o when content_filter"
    );
    assert!(described(&policy, "gpt-5.5").starts_with("gpt-5.5: gpt-*:gpt-5.5; gpt-*:gpt-5 when"));
    assert_eq!(
        described(&policy, "gpt-5.4"),
        "gpt-5*: gpt-*:?; degrades to qwen:qwen when capacity"
    );
}

#[test]
fn a_deployment_is_a_route_to_itself_and_no_task() {
    let policy = good("routes.yaml");
    let names: Vec<&str> = policy.routes.iter().map(|route| &*route.name).collect();
    assert_eq!(
        names,
        [
            "support_ticket_summary",
            "qwen",
            "gpt-5*",
            "gpt-5.5",
            "sonnet-eu",
            "sonnet-us",
            "gpt-*",
            "gpt-4*",
        ]
    );
    assert_eq!(
        described(&policy, "sonnet-eu"),
        "sonnet-eu: sonnet-eu:sonnet"
    );
    assert_eq!(described(&policy, "gpt-3"), "gpt-*: gpt-*:?");
    assert_eq!(described(&policy, "gpt-4.1"), "gpt-4*: gpt-4*:gpt-4o");
    assert_eq!(policy.route("o3"), None);
    assert_eq!(policy.task("sonnet-eu"), None);
    assert_eq!(policy.task("gpt-4.1"), None);
    assert_eq!(policy.task("gpt-5.1").map(|(index, _)| index), Some(2));
}

#[test]
fn a_route_goes_to_the_core_with_its_targets() {
    let policy = good("routes.yaml");
    let (_, route) = policy.route("support_ticket_summary").expect("a route");
    let route = route.in_core(|to| TargetId::new(10 * to.deployment));
    let pool: Vec<usize> = route.primary.iter().map(|target| target.index()).collect();
    assert_eq!(pool, [0, 10]);
    assert_eq!(route.fallbacks[1].to.index(), 20);
    assert_eq!(route.balance, Balance::Price);
    assert_eq!(route.degrade_to.map(|to| to.to.index()), Some(40));
}
