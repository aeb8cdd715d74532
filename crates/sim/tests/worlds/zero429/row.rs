//! A provider's row under a load and a trouble: what both sides are told, and who calls.

use std::num::NonZeroU64;
use std::time::Duration;

use sluicegate_catalog::{LimitRow, Provider, WindowRow};
use sluicegate_core::{Amounts, Limit, Meter};
use sluicegate_fake::Period;
use sluicegate_fake::model::{Cut, EstimateError, Factor, OtherTraffic, Share};
use sluicegate_sim::mirror::{Mirror, Transits};
use sluicegate_sim::workload::{Arrivals, Turn};
use sluicegate_sim::{Answering, Run, Scenario, Transit, World, demand};

use super::reading::reader;
use super::{Load, Trouble, seed};
use crate::MINUTE;

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
/// Of every limit, somebody else takes that share.
const OTHERS: f64 = 0.3;
/// What is left of every limit while it is cut.
const CUT: f64 = 0.5;

/// A provider's row, ready to play.
pub(super) struct Row {
    pub(super) provider: &'static Provider,
    load: Load,
    trouble: Trouble,
    /// Limits that both sides know, by their short names.
    limits: Vec<(&'static str, NonZeroU64)>,
}

impl Row {
    /// `None` where the provider has no limit that binds under the load.
    pub(super) fn read(provider: &'static Provider, load: Load, trouble: Trouble) -> Option<Self> {
        let shorts = provider.limits.iter().map(|row| row.short.as_str());
        let played = shorts.filter(|short| left_out(provider, short, load).is_none());
        let limits = played.map(|short| (short, amount(&provider.id, short, load)));
        let row = Self {
            provider,
            load,
            trouble,
            limits: limits.collect(),
        };
        let binds = |meter| {
            let by_call = matches!(meter, Meter::Requests | Meter::Concurrent);
            by_call == (load == Load::Small)
        };
        let mut meters = row.mirrored().into_iter().map(|limit| limit.meter);
        meters.any(binds).then_some(row)
    }

    pub(super) fn play(&self) -> Run {
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
        world
            .run()
            .unwrap_or_else(|stall| panic!("{}: {stall}", self.provider.id))
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

    pub(super) fn limit(&self, short: &str) -> Option<NonZeroU64> {
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
        scenario.provider.estimate = EstimateError {
            bias: match self.trouble {
                Trouble::Dear => 0.1,
                Trouble::Cheap => -0.1,
                Trouble::Others | Trouble::Cut => 0.0,
            },
            spread: share(0.05),
            seed: seed(),
        };
        if self.trouble == Trouble::Others {
            scenario.provider.other_traffic = Some(OtherTraffic {
                share: share(OTHERS),
                seed: seed(),
            });
        }
        if self.trouble == Trouble::Cut {
            scenario.provider.cuts = vec![Cut {
                at: Period::from_seconds(Trouble::CUT_FROM * 60),
                r#for: Period::from_seconds(Trouble::CUT_FOR * 60).expect("it is not zero"),
                factor: Factor::try_from(CUT).expect("a factor"),
            }];
        }
        let per_minute = OVERLOAD * self.calls_per_minute();
        let (from, end) = (self.trouble.measured_from(), self.trouble.end());
        Scenario {
            model: self.model().to_owned(),
            measure_from_ms: from * 60_000,
            end_ms: Some(end * 60_000),
            transit: TRANSIT,
            answering: ANSWERING,
            arrivals: vec![
                self.load
                    .arrivals(end * per_minute, 60_000_000 / per_minute),
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

const DAY: u64 = 24 * 60 * MINUTE;

fn share(share: f64) -> Share {
    Share::try_from(share).expect("a share")
}

/// Why a limit is left out on both sides; `None` where it is played.
pub(super) fn left_out(provider: &Provider, short: &str, load: Load) -> Option<&'static str> {
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
        Load::Small if by_second => 1_200_000,
        _ if weighs => 900_000,
        _ => 300_000,
    };
    let amount = match short {
        "rps" => 20,
        "rpm" if by_second => 1_200,
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
            ..Arrivals::default()
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
