//! One row under one load: what both sides are told, and how much is offered.
//!
//! The gateway gets a row of its own that is like the catalog's, in shorter windows and in OpenAI's shape; the provider is the
//! fake's profile with the windows that it has for that provider, shortened alike. Neither is told what the other believes.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use sluicegate_catalog::{LimitRow, Provider, RequestSize, UsageTokens, WindowRow};
use sluicegate_core::Meter;
use sluicegate_fake::model::{Limit, Limits, Quantum};
use sluicegate_fake::{Period, Settings};

use super::load::{Load, Random};

/// What is a minute for the provider.
pub(super) const WINDOW: Duration = Duration::from_secs(6);
/// How many times as fast everything runs.
const SPEED: u64 = 10;
/// Nothing is shorter: a machine that is busy delays what it sends by tens of milliseconds.
const SHORTEST_S: u64 = 1;
/// How much more is asked for than the limits allow.
const OVERLOAD: f64 = 3.0;
/// The answer's way: a call arrives at the limits later by up to this.
const JITTER_MS: u64 = 80;
const HEAD_MS: u64 = 50;
const MS_PER_TOKEN: u64 = 1;

/// A row under a load.
pub(super) struct Case {
    provider: Arc<Provider>,
    load: Load,
    limits: Vec<Played>,
}

/// A limit that both sides know.
struct Played {
    short: String,
    meter: Meter,
    amount: NonZeroU64,
    /// In seconds, shortened; `None` for what is in flight.
    per_s: Option<u64>,
    quantum_s: Option<u64>,
    follows_usage: bool,
}

impl Case {
    /// `None` where no limit of the provider binds under the load.
    pub(super) fn of(provider: &Arc<Provider>, load: Load) -> Option<Self> {
        let mut limits: Vec<Played> = Vec::new();
        for row in &provider.limits {
            let Some(limit) = Played::read(&provider.id, row) else {
                continue;
            };
            // Two names of what is counted alike are one limit.
            let same = |other: &Played| (other.meter, other.per_s) == (limit.meter, limit.per_s);
            if !limits.iter().any(same) {
                limits.push(limit);
            }
        }
        let by_call = |limit: &Played| matches!(limit.meter, Meter::Requests | Meter::Concurrent);
        let binds = |limit: &Played| by_call(limit) == (load == Load::Small);
        limits.iter().any(binds).then(|| Self {
            provider: Arc::clone(provider),
            load,
            limits,
        })
    }

    pub(super) fn provider(&self) -> &str {
        &self.provider.id
    }

    pub(super) const fn load(&self) -> Load {
        self.load
    }

    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.provider.id, self.load.name())
    }

    /// One whose weights are not one, where the rule has such.
    pub(super) fn model(&self) -> &'static str {
        match self.provider.id.as_str() {
            "azure_ptu" => "gpt-5",
            "bedrock" => "anthropic.claude-sonnet-5",
            _ => "model",
        }
    }

    /// Slots in flight, where they are limited.
    pub(super) fn slots(&self) -> Option<u64> {
        let slots = self.limits.iter().find(|limit| limit.per_s.is_none())?;
        Some(slots.amount.get())
    }

    pub(super) fn gateway_configuration(&self, upstream: SocketAddr) -> String {
        let id = &self.provider.id;
        let windows = self.limits.iter().filter_map(|limit| {
            let per_s = limit.per_s?;
            let quantum = match limit.quantum_s {
                Some(quantum_s) if quantum_s < per_s => format!(", quantum: {quantum_s}s"),
                Some(_) => ", quantum: none".to_owned(),
                None => String::new(),
            };
            Some(format!("{}: {{ per: {per_s}s{quantum} }}", limit.short))
        });
        let windows: Vec<String> = windows.collect();
        let amounts = self.limits.iter();
        let amounts: Vec<String> = amounts
            .map(|limit| format!("{}: {}", limit.short, limit.amount))
            .collect();
        format!(
            "providers:
  {id}:
    dialect: openai
    auth: {{ header: authorization, scheme: Bearer }}
    paths: {{ chat: /v1/chat/completions }}
    limits: {{ {} }}
accounts:
  played: {{ provider: {id}, base_url: \"http://{upstream}\", limits: {{ {} }} }}
deployments:
  {}: {{ account: played }}
",
            windows.join(", "),
            amounts.join(", "),
            self.model(),
        )
    }

    /// # Errors
    ///
    /// When the fake has no profile for the provider.
    pub(super) fn provider_settings(&self, seed: u64) -> anyhow::Result<String> {
        let profile = match self.provider.id.as_str() {
            "bedrock" => "bedrock_runtime",
            id => id,
        };
        let counted = self.limits.iter().filter(|limit| limit.per_s.is_some());
        let amounts: Vec<String> = counted
            .map(|limit| {
                format!(
                    "{}: {}",
                    limit.short,
                    amount(&self.provider.id, &limit.short)
                )
            })
            .collect();
        let text = format!(
            "provider: {{ profile: {profile}, limits: {{ {} }} }}
answer: {{ head_ms: {HEAD_MS}, ms_per_token: {MS_PER_TOKEN}, jitter_ms: {JITTER_MS} }}
seed: {seed}
",
            amounts.join(", ")
        );
        let mut settings =
            Settings::from_yaml(&text).with_context(|| format!("no profile {profile}"))?;
        let limits: Vec<Limit> = settings.provider.limits().iter().map(shortened).collect();
        settings.provider.limits = Limits::Full(limits);
        settings.provider.phase = self.phase(seed);
        settings.provider.concurrent = self.slots().and_then(NonZeroU64::new);
        Ok(serde_json::to_string_pretty(&settings)?)
    }

    /// When, after a multiple of its length, a window begins; the row knows it where it is the calendar's.
    fn phase(&self, seed: u64) -> Option<Period> {
        let is_fixed = |row: &LimitRow| matches!(row.window, WindowRow::Fixed { .. });
        if self.provider.limits.iter().any(is_fixed) {
            return None;
        }
        let window_ms = u64::try_from(WINDOW.as_millis()).unwrap_or(u64::MAX);
        let phase_ms = 1 + Random::new(seed ^ 0x5eed).below(window_ms - 1);
        NonZeroU64::new(phase_ms * 1_000_000).map(Period::from_nanos)
    }

    /// What is offered, in calls a second.
    pub(super) fn rate(&self) -> f64 {
        let allowed = self.limits.iter().map(|limit| self.allowed(limit));
        OVERLOAD * allowed.fold(f64::INFINITY, f64::min)
    }

    /// What a limit allows of average calls, in calls a second.
    #[expect(clippy::cast_precision_loss, reason = "amounts far below 2^52")]
    fn allowed(&self, limit: &Played) -> f64 {
        let sizes = self.load.sizes();
        let prompt = u64::midpoint(sizes.prompt_tokens.0, sizes.prompt_tokens.1);
        let amount = limit.amount.get() as f64;
        let Some(per_s) = limit.per_s else {
            let answer_ms = HEAD_MS + sizes.answer_tokens * MS_PER_TOKEN;
            return amount * 1_000.0 / answer_ms as f64;
        };
        let rule = self.provider.charge.default_rule();
        let charge = if limit.follows_usage {
            let usage = UsageTokens {
                input: prompt,
                output: sizes.answer_tokens,
                ..UsageTokens::default()
            };
            rule.settle(&usage, self.model())
        } else {
            let size = RequestSize {
                output_cap: Some(sizes.output_max),
                ..RequestSize::of_text(prompt * Load::BYTES_PER_TOKEN, prompt)
            };
            rule.charge(&size, self.model())
        };
        amount / per_s as f64 / charge.of(limit.meter).max(1) as f64
    }
}

impl Played {
    /// `None` for what ten windows do not fill, on both sides.
    fn read(provider: &str, row: &LimitRow) -> Option<Self> {
        let per_s = match row.window {
            WindowRow::Fixed { per_s }
            | WindowRow::Sliding { per_s }
            | WindowRow::Bucket { per_s }
            | WindowRow::Floating { per_s }
            | WindowRow::Pacing { per_s, .. } => Some(per_s.get()),
            WindowRow::Concurrent => None,
            WindowRow::Day { .. } | WindowRow::Month { .. } => return None,
        };
        if per_s.is_some_and(|per_s| per_s > 60) {
            return None;
        }
        let amount = amount(provider, &row.short);
        Some(Self {
            short: row.short.clone(),
            meter: row.meter,
            amount: match per_s {
                Some(per_s) => faster(amount, per_s * 1_000),
                None => amount,
            },
            per_s: per_s.map(|per_s| (per_s / SPEED).max(SHORTEST_S)),
            quantum_s: row
                .quantum_s
                .map(|quantum_s| (quantum_s.get() / SPEED).max(SHORTEST_S)),
            follows_usage: row.follows_usage(),
        })
    }
}

/// A limit of the provider, ten times as fast.
fn shortened(limit: &Limit) -> Limit {
    let per_ms = limit.per.as_nanos() / 1_000_000;
    Limit {
        amount: faster(limit.amount, per_ms),
        per: shorter(limit.per),
        burst: limit.burst.map(shorter),
        quantum: limit.quantum.map(|quantum| Quantum {
            per: shorter(quantum.per),
            ..quantum
        }),
        ..limit.clone()
    }
}

fn shorter(period: Period) -> Period {
    let nanos = (period.as_nanos() / SPEED).max(SHORTEST_S * 1_000_000_000);
    NonZeroU64::new(nanos).map_or(period, Period::from_nanos)
}

/// The amount of a limit over its shortened period: the same, unless the period cannot be so short.
fn faster(amount: NonZeroU64, per_ms: u64) -> NonZeroU64 {
    let shortened_ms = (per_ms / SPEED).max(SHORTEST_S * 1_000);
    let factor = (shortened_ms * SPEED).div_ceil(per_ms.max(1)).max(1);
    amount.saturating_mul(NonZeroU64::new(factor).unwrap_or(NonZeroU64::MIN))
}

/// Of the limit as the provider would have it: 300 requests and 300,000 tokens a minute, and three times as many tokens where
/// output weighs more than input.
fn amount(provider: &str, short: &str) -> NonZeroU64 {
    let weighs = matches!(provider, "azure_ptu" | "bedrock");
    let amount = match short {
        "rps" => 5,
        "rpm" => 300,
        "tpm" if weighs => 900_000,
        "tpm" => 300_000,
        "itpm" => 240_000,
        "otpm" => 60_000,
        "concurrent" => 8,
        _ => 1,
    };
    NonZeroU64::new(amount).unwrap_or(NonZeroU64::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::{provider, providers};

    fn case(id: &str, load: Load) -> Case {
        Case::of(provider(id).expect("a row"), load).expect("a limit binds")
    }

    #[test]
    fn every_case_is_understood_by_both_sides() {
        let address = SocketAddr::from(([127, 0, 0, 1], 9));
        let mut count = 0;
        for provider in providers() {
            for case in Load::ALL
                .map(|load| Case::of(provider, load))
                .iter()
                .flatten()
            {
                let text = case.gateway_configuration(address);
                let policy = sluicegate_config::parse("p.yaml", &text, &|_| None);
                let policy = policy.unwrap_or_else(|errors| panic!("{text}{errors}"));
                assert_eq!(policy.accounts[0].limits.len(), case.limits.len());
                let settings = case.provider_settings(7).expect("a profile");
                let settings = Settings::from_yaml(&settings).expect("settings");
                let slots = usize::from(case.slots().is_some());
                assert_eq!(settings.provider.limits().len(), case.limits.len() - slots);
                assert!(
                    case.rate() > 10.0 && case.rate() < 1_000.0,
                    "{}",
                    case.rate()
                );
                count += 1;
            }
        }
        assert_eq!(count, 37);
    }

    #[test]
    fn everything_is_ten_times_as_fast_and_nothing_shorter_than_a_second() {
        let mistral = case("mistral", Load::Small);
        let told: Vec<_> = mistral
            .limits
            .iter()
            .map(|limit| (&*limit.short, limit.amount.get(), limit.per_s))
            .collect();
        assert_eq!(
            told,
            [
                ("rps", 50, Some(1)),
                ("rpm", 300, Some(6)),
                ("tpm", 300_000, Some(6))
            ]
        );
        // The fake counts Mistral's second by ten seconds, which become one.
        let settings = mistral.provider_settings(1).expect("a profile");
        let settings = Settings::from_yaml(&settings).expect("settings");
        let limits: Vec<_> = settings
            .provider
            .limits()
            .iter()
            .map(|limit| (limit.amount.get(), limit.per.as_nanos() / 1_000_000))
            .collect();
        assert_eq!(limits, [(50, 1_000), (300, 6_000), (300_000, 6_000)]);
    }
}
