//! What a short name of a limit becomes, for the rows that are compiled in.

use std::num::NonZeroU64;
use std::time::Duration;

use sluicegate_catalog::{Provider, provider, providers};
use sluicegate_core::{Failures, Settlement, Start, Window};

fn amount(amount: u64) -> NonZeroU64 {
    NonZeroU64::new(amount).expect("not zero")
}

#[test]
fn openai_refills_continuously() {
    let openai = provider("openai").expect("a row");
    let limit = openai
        .limit("tpm", amount(300_000))
        .expect("a limit")
        .named("t".into());
    assert_eq!(
        limit.window,
        Window::Bucket {
            per: Duration::from_secs(60)
        }
    );
    assert_eq!(limit.quantum, None);
    assert_eq!(limit.start, Start::Empty);
    assert_eq!(limit.settlement, Settlement::Keep);
    assert_eq!(limit.failures, Failures::Count);
    assert_eq!(limit.arrival_spread, Duration::from_millis(100));

    let day = openai
        .limit("rpd", amount(200))
        .expect("a limit")
        .named("d".into());
    assert_eq!(
        day.window,
        Window::Bucket {
            per: Duration::from_secs(86_400)
        }
    );
    assert_eq!(day.start, Start::Full);
}

#[test]
fn azure_fits_every_minute_and_every_second() {
    let azure = provider("azure").expect("a row");
    let limit = azure
        .limit("rpm", amount(600))
        .expect("a limit")
        .named("r".into());
    assert_eq!(
        limit.window,
        Window::Sliding {
            per: Duration::from_secs(60)
        }
    );
    assert_eq!(limit.quantum, Some(Duration::from_secs(1)));
}

#[test]
fn an_alternative_replaces_only_what_it_names() {
    let azure = provider("azure").expect("a row");
    let ten = azure
        .limit_as("rpm", "ten_seconds", amount(600))
        .expect("an alternative")
        .named("l".into());
    assert_eq!(
        ten.window,
        Window::Sliding {
            per: Duration::from_secs(60)
        }
    );
    assert_eq!(ten.quantum, Some(Duration::from_secs(10)));
    let refill = azure
        .limit_as("rpm", "refill", amount(600))
        .expect("an alternative")
        .named("l".into());
    assert_eq!(
        refill.window,
        Window::Bucket {
            per: Duration::from_secs(60)
        }
    );
    assert_eq!(refill.quantum, None);
    let openai = provider("openai").expect("a row");
    let settled = openai
        .limit_as("tpm", "settled", amount(9))
        .expect("an alternative")
        .named("l".into());
    assert_eq!(settled.settlement, Settlement::Usage);
    assert_eq!(
        settled.window,
        Window::Bucket {
            per: Duration::from_secs(60)
        }
    );
}

#[test]
fn a_refusal_names_what_there_is() {
    let openai = provider("openai").expect("a row");
    let error = openai
        .limit("itpm", amount(1))
        .expect_err("OpenAI has none");
    assert_eq!(
        error.to_string(),
        "OpenAI has no `itpm` limit: it has rpm, rpd, tpm, tpd, concurrent. Another limit can be written in the long \
         form, with its meter, amount, per and window"
    );
    let error = openai
        .limit_as("rpm", "calendar", amount(1))
        .expect_err("no such one");
    assert_eq!(
        error.to_string(),
        "`rpm` has no alternative `calendar`: it has sliced"
    );
    let error = openai
        .limit_as("rpd", "x", amount(1))
        .expect_err("no such one");
    assert_eq!(
        error.to_string(),
        "`rpd` has no alternative `x`: it has none"
    );
}

#[test]
fn a_day_is_that_of_the_providers_zone() {
    let gemini = provider("gemini").expect("a row");
    let day = gemini
        .limit("rpd", amount(100))
        .expect("a limit")
        .named("l".into());
    assert_eq!(calendar_name(&day.window), Some("day America/Los_Angeles"));
    assert_eq!(day.start, Start::Full);
    let openrouter = provider("openrouter").expect("a row");
    let day = openrouter
        .limit("rpd", amount(50))
        .expect("a limit")
        .named("l".into());
    assert_eq!(calendar_name(&day.window), Some("day UTC"));
    let cohere = provider("cohere").expect("a row");
    let month = cohere
        .limit("requests_month", amount(1_000))
        .expect("a limit")
        .named("l".into());
    assert_eq!(calendar_name(&month.window), Some("month UTC"));
    assert_eq!(month.start, Start::Full);
    let rolling = gemini
        .limit_as("rpd", "rolling", amount(100))
        .expect("a reading")
        .named("l".into());
    assert_eq!(
        rolling.window,
        Window::Sliding {
            per: Duration::from_secs(86_400)
        }
    );
}

#[test]
fn what_is_smoothed_is_a_leaky_bucket_of_the_depth_that_the_row_says() {
    for (id, short, burst_s) in [
        ("together", "rpm", 1),
        ("together", "tpm", 1),
        ("vertex", "tpm", 1),
        ("azure_ptu", "tpm", 60),
    ] {
        let row = provider(id).expect("a row");
        let limit = row
            .limit(short, amount(600))
            .expect("a limit")
            .named("l".into());
        let paced = Window::Pacing {
            per: Duration::from_secs(60),
            burst: Duration::from_secs(burst_s),
        };
        assert_eq!((limit.window, limit.quantum), (paced, None), "{id} {short}");
    }
}

#[test]
fn a_row_with_a_wrong_zone_or_burst_is_refused_in_words() {
    let row = |window: &str| {
        Provider::from_toml(&format!(
            "like = 'vertex'\nid = 'lab'\nname = 'Lab'\n[[limits]]\nshort = 'tpm'\nmeter = 'tokens'\n\
             window = {{ {window} }}\nsettlement = 'usage'\nfailures = 'return'\nstart = 'empty'\n\
             evidence = {{ confidence = 'measured', source = 'the lab' }}\n"
        ))
    };
    let said = |window: &str| row(window).expect_err("wrong").to_string();
    let zone = said("kind = 'day', zone = 'Pacific'");
    assert!(zone.contains("there is no time zone `Pacific`"), "{zone}");
    assert_eq!(
        said("kind = 'pacing', per_s = 60, burst_s = 61"),
        "limits.tpm: more comes at once than the amount"
    );
    assert!(row("kind = 'day', zone = 'Asia/Seoul'").is_ok());
}

fn calendar_name(window: &Window) -> Option<&str> {
    match window {
        Window::Calendar(calendar) => Some(calendar.name()),
        _ => None,
    }
}

#[test]
fn every_limit_and_every_reading_is_counted() {
    for provider in providers() {
        for row in &provider.limits {
            let others = row.alternatives.iter();
            let readings = others
                .map(|other| provider.limit_as(&row.short, &other.name, amount(7)))
                .chain([provider.limit(&row.short, amount(7))]);
            for reading in readings {
                let template = reading.unwrap_or_else(|error| panic!("{}: {error}", provider.id));
                assert_eq!(template.meter(), row.meter);
            }
        }
    }
}

#[test]
fn whatever_the_provider_flight_can_be_bounded() {
    for provider in providers() {
        let limit = provider
            .limit("concurrent", amount(64))
            .expect("always there")
            .named("l".into());
        assert_eq!(limit.window, Window::Concurrent, "{}", provider.id);
    }
}
