//! What the pages for operators show can be served as it stands.

#[test]
fn the_routes_of_the_page_can_be_served() {
    let page = include_str!("../../../docs/routing.md");
    let blocks: Vec<&str> = page
        .split("```yaml\n")
        .skip(1)
        .filter_map(|block| block.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 1);
    let key = |name: &str| name.ends_with("_API_KEY").then(|| "k".to_owned());
    let policy = sluicegate_config::parse("routing.md", blocks[0], &key);
    let policy = policy.unwrap_or_else(|errors| panic!("{errors}"));
    for (name, primaries, fallbacks) in [("summary", 1, 2), ("chat", 2, 0)] {
        let (_, route) = policy.task(name).expect("a route of the page");
        let sizes = (route.primary.len(), route.fallbacks.len());
        assert_eq!(sizes, (primaries, fallbacks), "{name}");
    }
    assert!(policy.operator.webhook.is_some());
    sluicegate_gateway::check(policy).expect("it can be served");
}
