//! Files on disk: those that are right and what they mean, those that are wrong and what is said about them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sluicegate_catalog::RequestSize;
use sluicegate_config::{
    Destination, Fallback, Pattern, Policy, Price, Retry, Slots, Timeouts, UpstreamModel, parse,
};
use sluicegate_core::{
    BackoffRule, Balance, BasisPoints, BreakerRule, Failures, Headroom, Lane, LaneRule, LaneRules,
    LoadLevel, LoadRules, Meter, Mode, RetryBudgetRule, TargetId,
};

/// What the environment of every file holds; the value of a secret must not appear anywhere.
fn env(name: &str) -> Option<String> {
    match name {
        "OPENAI_API_KEY" | "OTHER_KEY" | "WRONG_PLACE" => Some(format!("{SECRET}-{name}")),
        "BROKEN_KEY" => Some(format!("{SECRET}\n")),
        "EMPTY" => Some(String::new()),
        "NUMBER" => Some(format!("12{SECRET}")),
        "RPM" => Some("500".to_owned()),
        _ => None,
    }
}

const SECRET: &str = "hunter2";

/// One way to break a file each; `.txt` beside it holds the errors. `UPDATE_EXPECTED=1` rewrites them.
///
/// The folders are the steps at which a file fails: it is no single YAML document (`text`), has a form that the schema refuses
/// too (`form`), holds a value that only units or the environment tell (`value`), or makes no sense as a whole (`meaning`).
#[test]
fn every_broken_file_says_what_is_wrong() {
    let mut wrong = String::new();
    let mut files = 0;
    for folder in ["text", "form", "value", "meaning"] {
        for path in yaml_files(&format!("broken/{folder}")) {
            files += 1;
            let name = path.file_name().expect("a file").to_string_lossy();
            let said = match parse(&name, &read(&path), &env) {
                Ok(_) => "nothing is wrong".to_owned(),
                Err(errors) => {
                    assert!(!format!("{errors:?}").contains(SECRET), "{name}: in Debug");
                    errors.to_string()
                }
            };
            assert!(!said.contains(SECRET), "{name}: a secret is printed");
            check(&path.with_extension("txt"), &said, &mut wrong);
        }
    }
    assert!(files > 60, "only {files} files were found");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Compares with the file at `expected`, or rewrites it.
fn check(expected: &Path, said: &str, wrong: &mut String) {
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(expected, format!("{said}\n")).expect("the expected text can be written");
        return;
    }
    let wanted = if expected.exists() {
        read(expected)
    } else {
        String::new()
    };
    if wanted.trim_end() != said {
        let name = expected.display();
        let _ = write!(wrong, "\n{name}\n--- expected\n{wanted}+++ said\n{said}\n");
    }
}

fn good(name: &str) -> Policy {
    let path = folder("good").join(name);
    parse(name, &read(&path), &env).expect("the file is right")
}

/// Everything about limits that is worth asserting, one line each.
fn limits(policy: &Policy) -> Vec<String> {
    let ledgers = policy.ledgers();
    let lines = ledgers.limits.iter().map(|limit| {
        let mut line = format!("{}: {} {:?}", limit.name, limit.amount, limit.window);
        if let Some(quantum) = limit.quantum {
            let _ = write!(line, " quantum {quantum:?}");
        }
        let _ = write!(line, " {:?} {:?}", limit.start, limit.settlement);
        line
    });
    lines.collect()
}

fn targets(policy: &Policy) -> BTreeMap<&str, Vec<usize>> {
    let targets = policy.ledgers().targets;
    let names = policy
        .deployments
        .iter()
        .map(|deployment| deployment.name.as_str());
    names.zip(targets).collect()
}

#[test]
fn a_minimal_file_takes_every_default() {
    let policy = good("minimal.yaml");
    let server = &policy.server;
    assert_eq!(server.listen.to_string(), "127.0.0.1:8080");
    assert!(server.is_loopback() && server.admin_is_shared());
    assert_eq!(server.body_max, 33_554_432);
    assert_eq!(server.header_timeout, seconds(75));
    assert_eq!(server.drain, seconds(30));
    let account = &policy.accounts[0];
    assert_eq!(account.api_keys.len(), 1);
    assert_eq!(account.api_keys[0].expose(), "hunter2-OPENAI_API_KEY");
    assert_eq!(account.base_url, "https://api.openai.com");
    assert_eq!(account.headroom, Headroom::Auto);
    assert_eq!(*account.charge, *account.provider.charge.default_rule());
    let lanes = Lane::ALL.map(|lane| policy.lanes.of(lane));
    assert_eq!(
        lanes.map(|lane| lane.max_wait),
        [seconds(5), seconds(120), seconds(86_400)]
    );
    assert_eq!(
        lanes.map(|lane| (lane.retry.attempts_max, lane.retry.total_max)),
        [(3, seconds(8)), (3, seconds(30)), (8, seconds(300))]
    );
    assert_eq!(
        lanes.map(|lane| lane.rule.waiting_max),
        [10_000, 8_000, 5_000]
    );
    for lane in Lane::ALL {
        let unbounded = LaneRule {
            waiting_max: usize::MAX,
            ..policy.lanes.rules().of(lane)
        };
        assert_eq!(unbounded, LaneRules::default().of(lane), "{lane}");
    }
    assert_eq!(policy.retry.backoff, BackoffRule::default());
    assert_eq!(policy.retry.budget, RetryBudgetRule::default());
    assert_eq!(policy.load, LoadRules::default());
    assert_eq!(policy.deployments[0].breaker, BreakerRule::default());
    assert_eq!(policy.deployments[0].slots, Slots::Limited);
    assert_eq!(policy.operator.webhook, None);
    assert_eq!(policy.stream.head_hold, seconds(10));
    assert_eq!(policy.estimates.sampled.points(), 100);
    assert_eq!(policy.queue.max_tickets.get(), 10_000);
    assert_eq!(policy.queue.max_bytes, 256 << 20);
    let (index, deployment) = policy.find("whatever").expect("a wildcard for all");
    assert_eq!(index, 0);
    assert_eq!(deployment.model, UpstreamModel::Requested);
    assert_eq!(
        deployment.timeouts,
        Timeouts {
            connect: seconds(5),
            head: seconds(120),
            idle: seconds(60),
            total: None,
        }
    );
    assert!(!format!("{policy:?}").contains(SECRET), "a secret in Debug");
}

#[test]
fn every_key_arrives() {
    let policy = good("everything.yaml");
    let server = &policy.server;
    assert_eq!(server.listen.to_string(), "0.0.0.0:9000");
    assert_eq!(server.admin_listen.to_string(), "127.0.0.1:9001");
    assert!(!server.is_loopback() && !server.admin_is_shared());
    assert_eq!(server.body_max, 1_048_576);
    assert_eq!(server.header_timeout, seconds(5));
    assert_eq!(server.drain, seconds(90));

    let account = &policy.accounts[0];
    let keys: Vec<&str> = account
        .api_keys
        .iter()
        .map(|key| key.expose().as_str())
        .collect();
    assert_eq!(keys, ["hunter2-OPENAI_API_KEY", "hunter2-OTHER_KEY"]);
    assert_eq!(account.base_url, "https://proxy.example.net/v1");
    let share = Headroom::Share(BasisPoints::new(9_750).expect("below the whole"));
    assert_eq!(account.headroom, share);
    assert_eq!(
        account.ca_file.as_deref(),
        Some(Path::new("/etc/ssl/proxy.pem"))
    );
    assert_eq!(
        Some(&*account.charge),
        account.provider.charge.rule("observed")
    );
    assert_eq!(
        account.timeouts,
        Timeouts {
            connect: seconds(1),
            head: seconds(30),
            idle: seconds(20),
            total: None,
        }
    );
    assert_eq!(
        account.families[0].models,
        [
            Pattern::Exact("gpt-5-mini".to_owned()),
            Pattern::Prefix("gpt-5-nano".to_owned()),
        ]
    );

    let (_, deployment) = policy.find("gpt-5.5").expect("by name");
    assert_eq!(
        deployment.model,
        UpstreamModel::Named("gpt-5.5-2026-01-01".to_owned())
    );
    assert_eq!(deployment.context, Some(400_000));
    assert_eq!(deployment.output_default, Some(500));
    assert_eq!(
        deployment.price,
        Some(Price {
            input_micros: 1_250_000,
            cached_input_micros: 125_000,
            output_micros: 10_000_000,
        })
    );
    assert_eq!(
        deployment.timeouts,
        Timeouts {
            connect: seconds(1),
            head: seconds(30),
            idle: seconds(5),
            total: Some(seconds(60)),
        }
    );
    let (_, mini) = policy.find("gpt-5-mini").expect("by name");
    assert_eq!(
        mini.price.map(|price| price.cached_input_micros),
        Some(250_000)
    );
    assert_eq!(policy.find("gpt-5.5-mini"), None);

    assert_eq!(policy.stream.head_hold, seconds(2));

    let ledgers = policy.ledgers();
    assert!(ledgers.limits.iter().all(|limit| limit.headroom == share));
    assert_eq!(
        limits(&policy),
        [
            "account openai-main requests/60s: 500 Bucket { per: 60s } Empty Keep",
            "account openai-main tokens/60s: 300000 Bucket { per: 60s } Empty Keep",
            "account openai-main family mini tokens/60s: 2000000 Bucket { per: 60s } Empty Keep",
            "deployment gpt-5.5 tokens/60s: 200000 Bucket { per: 60s } Empty Keep",
            "deployment gpt-5.5 concurrent: 64 Concurrent Full Usage",
        ]
    );
    assert_eq!(
        targets(&policy),
        [("gpt-5-mini", vec![0, 1, 2]), ("gpt-5.5", vec![0, 1, 3, 4])].into()
    );
}

#[test]
fn who_goes_next_arrives() {
    let policy = good("everything.yaml");
    let lanes = Lane::ALL.map(|lane| policy.lanes.of(lane));
    assert_eq!(
        lanes.map(|lane| (lane.max_wait, lane.rule.waiting_max)),
        [(seconds(2), 40), (seconds(60), 30), (seconds(43_200), 20)]
    );
    assert_eq!(
        lanes.map(|lane| (lane.retry.attempts_max, lane.retry.total_max)),
        [(2, seconds(4)), (4, seconds(20)), (9, seconds(600))]
    );
    let rules = Lane::ALL.map(|lane| policy.lanes.rules().of(lane));
    assert_eq!(
        rules.map(|rule| (rule.min_share.points(), rule.leaves.points())),
        [(1_000, 100), (500, 3_000), (250, 6_000)]
    );
    assert_eq!(policy.queue.max_tickets.get(), 50);
    assert_eq!(policy.queue.max_bytes, 1_048_576);
    assert_eq!(
        policy.retry,
        Retry {
            backoff: BackoffRule {
                first: Duration::from_millis(100),
                max: seconds(2),
            },
            budget: RetryBudgetRule {
                share: BasisPoints::ZERO,
                floor_per_second: 0,
            },
        }
    );
    assert_eq!(
        policy.accounts[0].breaker,
        BreakerRule {
            failure_rate: BasisPoints::new(2_500).expect("below the whole"),
            calls_min: 8,
            over: seconds(20),
            consecutive: 0,
            open_for: seconds(3),
            half_open_successes: 2,
        }
    );
    let webhook = policy.operator.webhook.as_ref().expect("it is named");
    let url = "https://hooks.example.net/T1?sig=hunter2-OTHER_KEY";
    assert_eq!(webhook.url.expose(), url);
    let key = webhook.key.as_ref().map(|key| key.expose().as_str());
    assert_eq!(key, Some("hunter2-OPENAI_API_KEY"));
    assert!(!format!("{policy:?}").contains(SECRET), "a secret in Debug");
}

#[test]
fn each_level_of_load_arrives() {
    let load = good("everything.yaml").load;
    let lines = LoadLevel::ALL.map(|level| {
        let effects = load.effects(level);
        let output = effects.output_share.points();
        let effects = [
            effects.degrades_simple,
            effects.holds_batch,
            effects.answers_from_template,
        ];
        let rule = load.rule(level).map(|rule| {
            let budget = rule.budget_below.points();
            (budget, rule.wait_above, rule.breaker_open)
        });
        (rule, output, effects)
    });
    let none = [false; 3];
    assert_eq!(
        lines,
        [
            (None, 10_000, none),
            (Some((5_000, Duration::from_millis(500), true)), 9_000, none),
            (Some((3_000, seconds(2), true)), 8_000, [false, true, false]),
            (Some((2_000, seconds(3), false)), 7_000, none),
            (Some((0, Duration::MAX, true)), 6_000, none),
        ]
    );
}

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

#[test]
fn breakers_and_slots_come_from_outside_in() {
    let policy = good("routes.yaml");
    let said = policy.deployments.iter().map(|deployment| {
        let breaker = deployment.breaker;
        let (failures, open) = (breaker.consecutive, breaker.open_for.as_secs());
        (&*deployment.name, failures, open, deployment.slots)
    });
    assert_eq!(
        said.collect::<Vec<_>>(),
        [
            ("sonnet-eu", 3, 9, Slots::Limited),
            ("sonnet-us", 5, 30, Slots::Adaptive),
            ("gpt-*", 3, 5, Slots::Limited),
            ("gpt-4*", 5, 30, Slots::Adaptive),
            ("qwen", 5, 30, Slots::Adaptive),
        ]
    );
    assert_eq!(limits(&policy), Vec::<String>::new());
}

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

#[test]
fn anchors_and_merge_keys_repeat_what_stands_elsewhere() {
    let policy = good("anchors.yaml");
    let keys: Vec<&str> = policy
        .accounts
        .iter()
        .map(|account| account.api_keys[0].expose().as_str())
        .collect();
    assert_eq!(keys, ["k-1", "k-2"]);
    assert_eq!(policy.accounts[1].limits[0].amount.get(), 500);
    assert_eq!(policy.deployments[0].price, policy.deployments[1].price);
}

#[test]
fn the_environment_is_expanded_in_values_also_inside_braces() {
    let policy = good("environment.yaml");
    assert_eq!(policy.server.listen.to_string(), "127.0.0.1:9100");
    assert_eq!(policy.server.drain, seconds(45));
    assert_eq!(policy.accounts[0].provider.id, "openai");
    assert_eq!(policy.accounts[0].api_keys[0].expose(), "${literal}");
    assert_eq!(policy.accounts[0].base_url, "https://api.example.net");
}

#[test]
fn a_region_gives_the_address_and_what_is_signed_for() {
    let policy = good("aws.yaml");
    let urls = policy.accounts.iter().map(|account| &*account.base_url);
    assert_eq!(
        urls.collect::<Vec<_>>(),
        [
            "https://bedrock-runtime.us-east-1.amazonaws.com",
            "https://vpce.example.net",
            "https://bedrock-runtime.us-west-2.amazonaws.com",
            "https://bedrock-mantle.ap-northeast-2.api.aws",
        ]
    );
    let signed: Vec<_> = policy
        .accounts
        .iter()
        .map(|account| account.aws.as_ref())
        .collect();
    let lasting = signed[0].expect("it is signed");
    assert_eq!(lasting.access_key_id.expose(), "hunter2-OPENAI_API_KEY");
    assert_eq!(lasting.secret_access_key.expose(), "hunter2-OTHER_KEY");
    assert_eq!(
        (lasting.session_token.as_ref(), &*lasting.region),
        (None, "us-east-1")
    );
    let passing = signed[1].expect("it is signed");
    assert_eq!(
        passing
            .session_token
            .as_ref()
            .map(|it| it.expose().as_str()),
        Some("c")
    );
    assert_eq!(passing.region, "eu-central-1");
    assert_eq!(signed[2..], [None, None]);
    assert!(policy.accounts[0].api_keys.is_empty());
    assert_eq!(policy.accounts[2].api_keys.len(), 1);
    assert!(!format!("{policy:?}").contains(SECRET));
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

fn yaml_files(name: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder(name))
        .expect("the folder exists")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    files
}

#[expect(clippy::disallowed_methods, reason = "a test has no runtime to block")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the file can be read")
}

#[test]
fn a_row_of_the_file_works_like_one_of_the_catalog() {
    let policy = good("providers.yaml");
    let rows: Vec<_> = policy.providers.iter().map(|row| &*row.id).collect();
    assert_eq!(rows, ["lab", "own", "openai"]);
    assert_eq!(
        limits(&policy),
        [
            "account lab requests/10s: 10 Fixed { per: 10s } Full Keep",
            "account lab tokens/60s: 1000 Bucket { per: 60s } Empty Usage",
            "account own input_tokens/2s: 900 Sliding { per: 2s } quantum 1s Empty Keep",
            "account own tokens/month +09:00: 5000000 Calendar(\"month +09:00\") Full Usage",
            "account main requests/60s: 500 Floating { per: 60s } Empty Keep",
            "account main tokens/60s: 300000 Bucket { per: 60s } Empty Keep",
        ]
    );
    let [lab, own, main] = &*policy.accounts else {
        panic!("three accounts");
    };
    assert_eq!(lab.base_url, "https://llm.lab.example/v1");
    assert_eq!(lab.provider.name, "lab");
    assert_eq!(lab.provider.auth.value("k"), "k");
    assert!(lab.provider.signals.is_empty());
    let work = lab.provider.work_ms.as_ref().expect("headers are named");
    assert_eq!(work.headers, ["x-lab-took", "x-took"]);
    assert_eq!(work.evidence.confidence.name(), "operator");
    let priority = lab.provider.lane_priority.as_ref().expect("it is named");
    assert_eq!(priority.field, "rank");
    let groq = sluicegate_catalog::provider("groq").expect("a row");
    assert_eq!(lab.provider.errors, groq.errors);
    assert_eq!(lab.charge.cached_weight.to_string(), "0.25");
    assert_eq!(lab.charge.input, groq.charge.default_rule().input);
    assert_eq!(lab.limits[1].failures, Failures::Return);

    assert_eq!(own.provider.name, "Our own server");
    assert_eq!(
        own.provider
            .url(&own.base_url, sluicegate_catalog::Endpoint::Chat, "m")
            .as_deref(),
        Some("http://127.0.0.1:9000/chat")
    );
    assert_eq!(own.provider.models, ["base", "large"]);
    let size = RequestSize::of_text(10, 99);
    // 10 / 3 rounded up, and the largest output of each model.
    assert_eq!(own.charge.charge(&size, "large-2").of(Meter::Tokens), 4_004);
    assert_eq!(own.charge.charge(&size, "base").of(Meter::Tokens), 104);

    assert_eq!(main.provider.name, "OpenAI");
    assert_eq!(main.provider.work_ms, None);
    assert_eq!(main.provider.lane_priority, None);
    assert_eq!(main.base_url, "https://api.openai.com");
}
