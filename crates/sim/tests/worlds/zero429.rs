//! Three times what the limits allow, for every provider of the catalog: how many 429s, and how much of what was possible.
//!
//! The gateway's side is the catalog's row alone, read as it is by default: its windows, its charge, its settlement, a
//! window that may already be used up; and the length of the answers that it has seen. The provider's side is the fake's profile, with fixed windows that begin when nobody
//! knows. Nothing of what the provider says is fed back, so that a row stands for itself. The first two minutes are not
//! counted. `UPDATE_EXPECTED=1` rewrites the table in `docs/results`; `ZERO429_SEED` draws other calls.

mod expected;
mod table;

use std::num::NonZeroU64;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sluicegate_catalog::{LimitRow, Provider, WindowRow, providers};
use sluicegate_core::{Amounts, Limit, Meter};
use sluicegate_dialect::openai::classify;
use sluicegate_dialect::{retry_hint, signals, told_by_refusal};
use sluicegate_fake::model::{OtherTraffic, Share};
use sluicegate_sim::mirror::{Mirror, Reader, Transits};
use sluicegate_sim::workload::{Arrivals, Turn};
use sluicegate_sim::{Answering, Call, Run, Scenario, Transit, World, demand};

use crate::MINUTE;
use expected::EXPECTED;

/// Beginning of the measured time, in windows of a minute.
const WARM_UP_MINUTES: u64 = 2;
const MINUTES: u64 = 10;
/// How much more is asked for than the limits allow.
const OVERLOAD: u64 = 3;
/// The longest that a call waits for its start.
const PATIENCE_MS: u64 = 10_000;
/// When, after a minute of the calendar, a provider's own minutes begin where it does not say so.
const PHASE: &str = "23s";
const ANSWERING: Answering = Answering {
    head_ms: 500,
    ms_per_token: 10,
    jitter_ms: 200,
};
const TRANSIT: Transit = Transit {
    min_ms: 0,
    max_ms: 150,
};

/// Determines everything that is drawn, unless `ZERO429_SEED` is set.
const SEED: u64 = 429;

fn seed() -> u64 {
    let Ok(seed) = std::env::var("ZERO429_SEED") else {
        return SEED;
    };
    seed.parse().expect("ZERO429_SEED is a number")
}

/// What calls look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Load {
    /// Small ones: a limit on requests binds.
    Small,
    /// Large ones, up to a hundredth of a limit on tokens, which binds.
    Large,
}

/// What came of a provider under a load.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Outcome {
    provider: &'static str,
    load: Load,
    /// 429s after the warm-up.
    rejections: u64,
    /// Which limit of the provider answered the first of them.
    rejected_by: Option<String>,
    /// Calls that the provider took after the warm-up.
    calls: u64,
    /// The limit that gave the largest share, and that share in hundredths of a percent.
    binding: String,
    share: u64,
    wait_ms_p50: u64,
    wait_ms_p99: u64,
}

#[test]
fn three_times_the_limits_make_no_429() {
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let of_load = |load| {
            move || -> Vec<Outcome> {
                let only = std::env::var("ZERO429_ROW").ok();
                let plays = providers()
                    .iter()
                    .filter(|row| only.as_ref().is_none_or(|only| *only == row.id))
                    .filter_map(|row| Row::read(row, load));
                plays.map(|row| row.play()).collect()
            }
        };
        let (small, large) = (
            scope.spawn(of_load(Load::Small)),
            scope.spawn(of_load(Load::Large)),
        );
        let outcomes = [small, large].map(|thread| thread.join().expect("a load is played"));
        outcomes.concat()
    });
    if std::env::var("SHOW").is_ok() {
        for o in &outcomes {
            println!(
                "{:16} {:?} calls {:5} 429s {:4} {:?} {} {:6.2}",
                o.provider,
                o.load,
                o.calls,
                o.rejections,
                o.rejected_by,
                o.binding,
                o.share as f64 / 100.0
            );
        }
        return;
    }
    // The table is that of the usual seed; the bounds hold for any.
    if seed() == SEED {
        table::check(&outcomes);
    }
    let played = outcomes
        .iter()
        .map(|outcome| (outcome.provider, outcome.load));
    let wanted = EXPECTED
        .iter()
        .map(|expected| (expected.provider, expected.load));
    assert_eq!(played.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    for (outcome, expected) in outcomes.iter().zip(EXPECTED) {
        let case = || format!("ZERO429_SEED={}: {outcome:?}", seed());
        assert!(outcome.rejections <= expected.rejections_max, "{}", case());
        assert!(expected.share.contains(&outcome.share), "{}", case());
    }
}

/// A provider's row under a load, ready to play.
struct Row {
    provider: &'static Provider,
    load: Load,
    /// Limits that both sides know, by their short names.
    limits: Vec<(&'static str, NonZeroU64)>,
}

impl Row {
    /// `None` where the provider has no limit that binds under the load.
    fn read(provider: &'static Provider, load: Load) -> Option<Self> {
        let shorts = provider.limits.iter().map(|row| row.short.as_str());
        let played = shorts.filter(|short| left_out(provider, short, load).is_none());
        let limits = played.map(|short| (short, amount(&provider.id, short, load)));
        let row = Self {
            provider,
            load,
            limits: limits.collect(),
        };
        let binds = |meter| {
            let by_call = matches!(meter, Meter::Requests | Meter::Concurrent);
            by_call == (load == Load::Small)
        };
        let mut meters = row.mirrored().into_iter().map(|limit| limit.meter);
        meters.any(binds).then_some(row)
    }

    fn play(&self) -> Outcome {
        let scenario = self.scenario();
        let rule = self.provider.charge.default_rule();
        let mirror = Mirror {
            limits: self.mirrored(),
            demand: Box::new(demand::learned(rule, self.model())),
            counted: &demand::settled_for(rule, self.model()),
            reads: Some(reader(self.provider)),
            transits: Transits::Measured,
        };
        let world = World::mirrored(&scenario, mirror).expect("the core can hold to a row");
        let run = world
            .run()
            .unwrap_or_else(|stall| panic!("{}: {stall}", self.provider.id));
        self.judge(&run)
    }

    fn judge(&self, run: &Run) -> Outcome {
        let began = WARM_UP_MINUTES * MINUTE;
        let measured = |call: &&Call| call.started.is_some_and(|at| at.as_nanos() >= began);
        let calls = || run.calls.iter().filter(measured);
        if std::env::var("DEBUG").is_ok_and(|d| d == self.provider.id) {
            let mut by: std::collections::BTreeMap<u64, (u64, u64)> = Default::default();
            for call in &run.calls {
                if let Some((at, charged)) = call.accepted {
                    let w = (at / 1_000_000_000 % 86400 + 37) / 60;
                    let e = by.entry(w).or_default();
                    e.0 += call.demand.of(Meter::InputTokens);
                    e.1 += charged;
                }
            }
            eprintln!("DEBUG windows {by:?}");
            for call in &run.calls {
                if let Some(by) = &call.rejected_by {
                    eprintln!("DEBUG {:?} started {:?} {by}", self.load, call.started);
                }
            }
        }
        let mut waits: Vec<u64> = calls()
            .filter_map(|call| Some(call.started?.as_nanos() - call.came.as_nanos()))
            .map(|nanos| nanos / 1_000_000)
            .collect();
        waits.sort_unstable();
        let wait = |percent: usize| waits.get(waits.len() * percent / 100).copied().unwrap_or(0);
        let shares = run
            .served
            .iter()
            .map(|served| (served.limit.clone(), served.share()));
        let (binding, share) = shares
            .chain(self.slot_share(run))
            .max_by_key(|(_, share)| *share)
            .expect("a row has a limit");
        let mut rejected = calls().filter_map(|call| call.rejected_by.clone());
        Outcome {
            provider: &self.provider.id,
            load: self.load,
            rejections: calls().filter(|call| call.rejected_by.is_some()).count() as u64,
            rejected_by: rejected.next(),
            calls: calls().filter(|call| call.accepted.is_some()).count() as u64,
            binding,
            share,
            wait_ms_p50: wait(50),
            wait_ms_p99: wait(99),
        }
    }

    /// Of the time of the slots, how much the provider was at work on calls that it has ended.
    fn slot_share(&self, run: &Run) -> Option<(String, u64)> {
        let slots = self.limit("concurrent")?.get();
        let (began, ended) = (WARM_UP_MINUTES * MINUTE, MINUTES * MINUTE);
        let busy = run.calls.iter().filter_map(|call| {
            let (accepted, _) = call.accepted?;
            let accepted = (accepted % DAY).max(began);
            let answered = call.answered.map_or(ended, |at| at.as_nanos()).min(ended);
            Some(answered.saturating_sub(accepted))
        });
        let share = busy.sum::<u64>() / slots * 10_000 / (ended - began);
        Some(("concurrent".to_owned(), share))
    }

    fn mirrored(&self) -> Vec<Limit> {
        let limit = |&(short, amount): &(&str, NonZeroU64)| {
            let limit = self
                .provider
                .limit(short, amount)
                .expect("it was read before");
            limit.named(short.into())
        };
        self.limits.iter().map(limit).collect()
    }

    fn limit(&self, short: &str) -> Option<NonZeroU64> {
        let found = self.limits.iter().find(|(name, _)| *name == short);
        found.map(|(_, amount)| *amount)
    }

    fn scenario(&self) -> Scenario {
        let is_fixed = |row: &LimitRow| matches!(row.window, WindowRow::Fixed { .. });
        // Where the row knows the minute's beginning, it is that of the calendar.
        let phase = match self.provider.limits.iter().any(is_fixed) {
            true => "60s",
            false => PHASE,
        };
        let profile = match self.provider.id.as_str() {
            "bedrock" => "bedrock_runtime",
            id => id,
        };
        let counted = self
            .limits
            .iter()
            .filter(|(short, _)| *short != "concurrent");
        let limits: Vec<String> = counted
            .map(|(short, amount)| format!("{short}: {amount}"))
            .collect();
        let text = format!(
            "provider: {{ profile: {profile}, phase: {phase}, limits: {{ {} }} }}",
            limits.join(", ")
        );
        let mut scenario =
            Scenario::from_yaml(&text).unwrap_or_else(|error| panic!("{profile}: {error}"));
        scenario.provider.concurrent = self.limit("concurrent");
        scenario.provider.estimate.bias = std::env::var("BIAS").map_or(0.0, |b| b.parse().unwrap());
        scenario.provider.estimate.spread = Share::try_from(0.05).unwrap();
        scenario.provider.estimate.seed = seed();
        if let Ok(share) = std::env::var("OTHERS") {
            scenario.provider.other_traffic = Some(OtherTraffic {
                share: Share::try_from(share.parse::<f64>().unwrap()).unwrap(),
                seed: seed(),
            });
        }
        let per_minute = OVERLOAD * self.calls_per_minute();
        Scenario {
            model: self.model().to_owned(),
            measure_from_ms: WARM_UP_MINUTES * 60_000,
            end_ms: Some(MINUTES * 60_000),
            transit: TRANSIT,
            answering: ANSWERING,
            arrivals: vec![
                self.load
                    .arrivals(MINUTES * per_minute, 60_000_000 / per_minute),
            ],
            seed: seed(),
            ..scenario
        }
    }

    /// What the limits allow of the load.
    fn calls_per_minute(&self) -> u64 {
        let rule = self.provider.charge.default_rule();
        let turn = self.load.average();
        let reserved = demand::of_model(rule, self.model())(&turn);
        let settled = demand::settled_for(rule, self.model())(&turn);
        let rows = self.provider.limits.iter();
        let allowed = rows.filter_map(|row| {
            let amount = self.limit(&row.short)?.get();
            let charges: Amounts = if row.follows_usage() {
                settled
            } else {
                reserved
            };
            let Some(per) = self.mirrored_window(&row.short) else {
                let answer = ANSWERING.head_ms + turn.answer_tokens * ANSWERING.ms_per_token;
                return Some(amount * 60_000 / answer);
            };
            Some(amount * 60 / per.as_secs() / charges.of(row.meter).max(1))
        });
        allowed.min().expect("a row has a limit")
    }

    fn mirrored_window(&self, short: &str) -> Option<Duration> {
        let mut limits = self.mirrored().into_iter();
        limits.find(|limit| &*limit.name == short)?.window.per()
    }

    /// One whose weights are not one, where the rule has such.
    fn model(&self) -> &'static str {
        match self.provider.id.as_str() {
            "azure_ptu" => "gpt-5",
            "bedrock" => "anthropic.claude-sonnet-5",
            _ => "model",
        }
    }
}

/// What the gateway reads of the provider's answers, as it would read them on the wire.
fn reader(provider: &'static Provider) -> Box<Reader> {
    Box::new(move |said, wall| {
        let mut headers = HeaderMap::new();
        for (name, value) in said.headers {
            let value = HeaderValue::from_str(value).expect("the fake's headers are text");
            headers.append(HeaderName::from_static(name), value);
        }
        let mut told = signals(provider, &headers, wall);
        if std::env::var("DEBUG").is_ok_and(|d| d == provider.id) {
            eprintln!("DEBUG {:?} {told:?}", headers);
        }
        let status = StatusCode::from_u16(said.status).expect("the fake's statuses are some");
        if !status.is_success() {
            let error = classify(provider, status, &headers, said.body);
            let hint = retry_hint(provider, status, &headers, said.body, wall);
            told.extend(told_by_refusal(&error, said.body, hint));
        }
        told
    })
}

const DAY: u64 = 24 * 60 * MINUTE;

/// Why a limit is left out on both sides; `None` where it is played.
fn left_out(provider: &Provider, short: &str, load: Load) -> Option<&'static str> {
    let limit = provider
        .limit(short, amount(&provider.id, short, load))
        .unwrap_or_else(|error| panic!("{}: {error}", provider.id))
        .named(short.into());
    let per = limit.window.per().unwrap_or_default();
    (per >= Duration::from_nanos(DAY)).then_some("ten minutes do not fill a day")
}

/// The amount of a limit: 300 requests and 300,000 tokens a minute, and three times as many tokens where output weighs more
/// than input.
fn amount(provider: &str, short: &str, load: Load) -> NonZeroU64 {
    let weighs = matches!(provider, "azure_ptu" | "bedrock");
    // A limit of a second is to hold many calls as well.
    let by_second = matches!(
        provider,
        "azure" | "mistral" | "upstage" | "vertex" | "xai" | "together"
    );
    let tokens = match load {
        Load::Small if by_second => 2_400_000,
        _ if weighs => 900_000,
        _ => 300_000,
    };
    let amount = match short {
        "rps" => 40,
        "rpm" if by_second => 2_400,
        "rpm" => 300,
        "tpm" => tokens,
        "itpm" => 240_000,
        "otpm" => 60_000,
        "concurrent" => 8,
        // Left out, whatever the amount.
        _ => 1,
    };
    NonZeroU64::new(amount).expect("no limit is nothing")
}

impl Load {
    fn arrivals(self, count: u64, gap_us: u64) -> Arrivals {
        let (prompt_tokens, output_max, answer_tokens) = self.sizes();
        Arrivals {
            count,
            gap_us,
            prompt_tokens,
            output_max,
            answer_tokens,
            patience_ms: Some(PATIENCE_MS),
        }
    }

    fn average(self) -> Turn {
        let ((shortest, longest), output_max, answer_tokens) = self.sizes();
        Turn {
            prompt_tokens: u64::midpoint(shortest, longest),
            output_max,
            answer_tokens,
        }
    }

    /// The shortest and the longest prompt, the maximum of output, the answer.
    const fn sizes(self) -> ((u64, u64), u64, u64) {
        match self {
            Self::Small => ((100, 300), 150, 80),
            Self::Large => ((600, 2_200), 600, 400),
        }
    }
}
