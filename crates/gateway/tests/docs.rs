//! What the pages for operators show can be served as it stands.

use sluicegate_config::Policy;

/// The policies of a page, one of each block of YAML.
#[expect(
    clippy::panic,
    reason = "a test's way to print all that is wrong with a block"
)]
fn policies(name: &str, page: &str) -> Vec<Policy> {
    let blocks = page
        .split("```yaml\n")
        .skip(1)
        .filter_map(|block| block.split("```").next());
    let key = |name: &str| {
        let is_key = ["_KEY", "_KEY_ID", "_BEDROCK"];
        is_key
            .iter()
            .any(|end| name.ends_with(end))
            .then(|| "k".to_owned())
    };
    let policies = blocks.map(|block| sluicegate_config::parse(name, block, &key));
    policies
        .map(|policy| policy.unwrap_or_else(|errors| panic!("{errors}")))
        .collect()
}

#[test]
fn the_routes_of_the_page_can_be_served() {
    let page = include_str!("../../../docs/routing.md");
    let mut policies = policies("routing.md", page);
    assert_eq!(policies.len(), 1);
    let policy = policies.remove(0);
    for (name, primaries, fallbacks) in [("summary", 1, 2), ("chat", 2, 0)] {
        let (_, route) = policy.task(name).expect("a route of the page");
        let sizes = (route.primary.len(), route.fallbacks.len());
        assert_eq!(sizes, (primaries, fallbacks), "{name}");
    }
    assert!(policy.operator.webhook.is_some());
    sluicegate_gateway::check(policy).expect("it can be served");
}

#[test]
fn the_accounts_of_every_dialect_can_be_served() {
    let page = include_str!("../../../docs/dialects.md");
    let policies = policies("dialects.md", page);
    assert_eq!(policies.len(), 6);
    let (_, route) = policies[0].task("draft").expect("a route of the page");
    assert!(route.lossy && route.fallbacks.len() == 2);
    let rows = policies.iter().flat_map(|policy| &policy.accounts);
    let mut rows = rows.map(|account| &account.provider);
    let claude = rows
        .find(|row| row.id == "vertex_claude")
        .expect("Claude on Vertex");
    let told = &claude.translation;
    assert!(told.one_sampler.hold("claude-sonnet-4-5@20250929"));
    assert!(told.fixed_sampling.hold("claude-sonnet-5"));
    for policy in policies {
        sluicegate_gateway::check(policy).expect("it can be served");
    }
}
