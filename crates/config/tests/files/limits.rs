//! Limits: every form, shared ledgers, and the names that they get.

use sluicegate_config::parse;
use sluicegate_core::Mode;

use crate::{env, folder, good, limits, read, targets};

#[test]
fn limits_in_every_form() {
    let policy = good("limits.yaml");
    assert_eq!(
        limits(&policy),
        [
            "account openai requests/60s: 600 Bucket { per: 60s } quantum 1s Empty Keep",
            "account openai requests/86400s: 10000 Bucket { per: 86400s } Full Keep",
            "account openai tokens/60s: 300000 Fixed { per: 60s } Full Usage",
            "account openai concurrent: 8 Concurrent Full Usage",
            "account openai tokens/2s sliding: 40000 Sliding { per: 2s } Empty Keep",
            "account openai tokens/2s bucket: 50000 Bucket { per: 2s } quantum 500ms Empty Keep",
            "account openai tokens/2s shadow: 20000 Floating { per: 2s } Empty Keep",
            "account openai requests/1500ms: 5 Fixed { per: 1.5s } Full Keep",
            "account openai concurrent shadow: 100 Concurrent Empty Keep",
            "account azure requests/60s: 600 Fixed { per: 60s } quantum 1s Empty Keep",
            "account azure tokens/60s: 100000 Floating { per: 60s } Empty Keep",
            "deployment gpt-* tokens/60s: 1000 Bucket { per: 60s } Empty Keep",
        ]
    );
    let modes = policy.ledgers().limits;
    let shadows = modes.iter().filter(|limit| limit.mode == Mode::Shadow);
    assert_eq!(shadows.count(), 2);
    // Wildcards do not share: each has the limits that stand at it.
    let targets = targets(&policy);
    assert_eq!(targets["gpt-*"], (0..9).chain([11]).collect::<Vec<_>>());
    assert_eq!(targets["gpt-5*"], (0..9).collect::<Vec<_>>());
    assert_eq!(targets["azure-gpt"], [9, 10]);
    assert_eq!(policy.find("gpt-5.5").map(|(index, _)| index), Some(1));
    assert_eq!(policy.find("gpt-4").map(|(index, _)| index), Some(0));
}

#[test]
fn days_months_and_leaky_buckets() {
    assert_eq!(
        limits(&good("windows.yaml")),
        [
            "account openai requests/day UTC: 10000 Calendar(\"day UTC\") Full Keep",
            "account openai requests/day America/Los_Angeles: 10000 Calendar(\"day America/Los_Angeles\") Full Keep",
            "account openai requests/day +09:00 07:30: 20000 Calendar(\"day +09:00 07:30\") Empty Keep",
            "account openai requests/month UTC: 200000 Calendar(\"month UTC\") Full Keep",
            "account openai requests/86400s: 90000 Sliding { per: 86400s } Full Keep",
            "account openai tokens/60s pacing 1s: 300000 Pacing { per: 60s, burst: 1s } Empty Keep",
            "account openai tokens/60s pacing 60s: 400000 Pacing { per: 60s, burst: 60s } Empty Keep",
            "account azure tokens/60s: 50000 Pacing { per: 60s, burst: 30s } Empty Usage",
            "account mistral tokens/month +09:00: 1000 Calendar(\"month +09:00\") Full Keep",
            "account openrouter requests/day UTC shadow: 50 Calendar(\"day UTC\") Full Keep",
        ]
    );
}

#[test]
fn deployments_of_one_model_share_one_ledger() {
    let policy = good("shared-ledgers.yaml");
    let names: Vec<String> = policy
        .ledgers()
        .limits
        .iter()
        .map(|l| l.name.to_string())
        .collect();
    assert_eq!(
        names,
        [
            "account a requests/60s",
            "account a family mini tokens/60s",
            "account a family old tokens/60s",
            "deployment fast tokens/60s",
            "deployment fast concurrent",
        ]
    );
    assert_eq!(
        targets(&policy),
        [
            ("fast", vec![0, 3, 4]),
            ("gpt-*", vec![0]),
            ("gpt-4*", vec![0, 2]),
            ("gpt-5-mini", vec![0, 1]),
            ("slow", vec![0, 3, 4]),
        ]
        .into()
    );
}

#[test]
fn the_order_of_the_file_changes_no_name() {
    let path = folder("good").join("shared-ledgers.yaml");
    let text = read(&path);
    let (head, deployments) = text.split_once("deployments:\n").expect("two sections");
    let mut lines: Vec<&str> = deployments.lines().collect();
    lines.reverse();
    let reversed = format!("{head}deployments:\n{}\n", lines.join("\n"));
    let names = |text: &str| {
        let policy = parse("a.yaml", text, &env).expect("a good file");
        let limits = policy.ledgers().limits;
        limits
            .into_iter()
            .map(|limit| limit.name)
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(names(&text), names(&reversed));
}
