//! How a verdict looks on the wire: rate-limit headers, refusals, the ways of writing a time.
//!
//! Shapes only; the numbers come from the windows. Sources: the providers' rate-limit pages, and captured responses where
//! those say nothing. One file for each family of providers; here is what they share and which is whose.

mod anthropic;
mod azure;
mod bedrock;
mod cerebras;
mod cohere;
mod errors;
mod fireworks;
mod google;
mod groq;
mod mistral;
mod openai;
mod openrouter;
mod plain;
mod raon;
mod together;
mod upstage;

use serde_json::Value;

use super::charge::Usage;
use super::settings::{Hints, Meter, Profile, Settings, Window};
use super::standing::Standing;
use crate::Period;

pub(crate) use errors::{ErrorWords, bedrock_exception, error_body};

/// A response header.
pub type Header = (&'static str, String);

/// What an answer may show.
#[derive(Clone, Debug)]
pub(super) struct View<'a> {
    pub(super) settings: &'a Settings,
    pub(super) at: u64,
    pub(super) model: &'a str,
    /// Of the call, for ids.
    pub(super) number: u64,
    /// What the call took of limits on tokens, as far as that is known.
    pub(super) query_cost: u64,
    /// Known when the answer is sent in one piece.
    pub(super) usage: Option<Usage>,
    pub(super) standings: Vec<Standing>,
}

/// Why a call is refused.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    /// All slots are taken.
    Slots { limit: u64 },
    /// A limit has no room.
    Room(Refusal),
}

/// What a refusal for want of room says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    pub(super) meter: Meter,
    pub(super) window: Window,
    pub(super) per: Period,
    pub(super) limit: u64,
    pub(super) used: u64,
    pub(super) requested: u64,
    /// Nanoseconds after which the call would fit; `None`: never.
    pub(super) wait: Option<u64>,
    /// Whether the limit is lower than it should be.
    pub(super) cut: bool,
}

/// A refusal in the provider's words.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Worded {
    pub(super) status: u16,
    pub(super) headers: Vec<Header>,
    pub(super) body: Value,
}

/// The headers about limits that every counted answer carries.
pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    match view.settings.profile {
        Profile::OpenAi => openai::state(view),
        Profile::Azure | Profile::AzurePtu => azure::state(view),
        Profile::Raon => raon::state(view),
        Profile::Anthropic => anthropic::state(view),
        Profile::BedrockRuntime => bedrock::state(view),
        Profile::Mistral => mistral::served(view),
        Profile::Groq => groq::state(view),
        Profile::Cerebras => cerebras::state(view),
        Profile::Xai => plain::xai_state(view),
        Profile::Together => together::state(view),
        Profile::Fireworks => fireworks::state(view),
        Profile::Cohere => cohere::state(view),
        Profile::Upstage => upstage::state(view),
        Profile::Gemini
        | Profile::Vertex
        | Profile::BedrockMantle
        | Profile::DeepSeek
        | Profile::OpenRouter
        | Profile::Naver
        | Profile::Vllm
        | Profile::Tgi => Vec::new(),
    }
}

/// The refusal.
pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    match view.settings.profile {
        Profile::OpenAi => openai::refusal(view, reason),
        Profile::Azure | Profile::AzurePtu => azure::refusal(view, reason),
        Profile::Raon => raon::refusal(view, reason),
        Profile::Anthropic => anthropic::refusal(view, reason),
        Profile::Gemini => google::gemini_refusal(view, reason),
        Profile::Vertex => google::vertex_refusal(reason),
        Profile::BedrockRuntime | Profile::BedrockMantle => bedrock::refusal(view, reason),
        Profile::Mistral => mistral::refusal(view, reason),
        Profile::Groq => groq::refusal(view, reason),
        Profile::Cerebras => cerebras::refusal(view, reason),
        Profile::Together => together::refusal(view, reason),
        Profile::Fireworks => fireworks::refusal(view, reason),
        Profile::Cohere => cohere::refusal(view, reason),
        Profile::OpenRouter => openrouter::refusal(view, reason),
        Profile::Upstage => upstage::refusal(view, reason),
        Profile::Xai => plain::xai_refusal(view, reason),
        Profile::DeepSeek => plain::deepseek_refusal(reason),
        Profile::Naver => plain::naver_refusal(reason),
        Profile::Vllm => plain::vllm_refusal(reason),
        Profile::Tgi => plain::tgi_refusal(),
    }
}

impl View<'_> {
    fn of(&self, meter: Meter) -> impl Iterator<Item = &Standing> {
        self.standings
            .iter()
            .filter(move |standing| standing.meter == meter)
    }

    /// The limit on `meter` that lets the least through in the long run, as a low tier shows its day instead of its minute.
    fn tightest(&self, meter: Meter) -> Option<&Standing> {
        self.of(meter).min_by(|one, other| {
            let rate = u128::from(one.amount) * u128::from(other.per.as_nanos());
            rate.cmp(&(u128::from(other.amount) * u128::from(one.per.as_nanos())))
        })
    }

    /// The limit on `meter` with the shortest window, which is no calendar month.
    fn shortest(&self, meter: Meter) -> Option<&Standing> {
        self.of(meter)
            .filter(|standing| standing.window != Window::Month)
            .min_by_key(|standing| standing.per)
    }

    /// The limit on `meter` with the longest window, which is no calendar month.
    fn longest(&self, meter: Meter) -> Option<&Standing> {
        self.of(meter)
            .filter(|standing| standing.window != Window::Month)
            .max_by_key(|standing| standing.per)
    }

    fn month(&self, meter: Meter) -> Option<&Standing> {
        self.of(meter)
            .find(|standing| standing.window == Window::Month)
    }

    /// `retry-after` in whole seconds, rounded up, at least one, unless the settings leave it out.
    fn retry_after(&self, wait: Option<u64>) -> Option<Header> {
        let wait = wait.filter(|_| matches!(self.settings.hints, Hints::Both | Hints::Seconds))?;
        Some(("retry-after", whole_seconds(wait).max(1).to_string()))
    }

    /// `retry-after-ms`, rounded up, unless the settings leave it out.
    fn retry_after_ms(&self, wait: Option<u64>) -> Option<Header> {
        let hints = self.settings.hints;
        let wait = wait.filter(|_| matches!(hints, Hints::Both | Hints::Milliseconds))?;
        Some(("retry-after-ms", wait.div_ceil(1_000_000).to_string()))
    }

    /// An id for this call.
    fn id(&self) -> String {
        format!("{:016x}", self.number)
    }
}

impl Refusal {
    /// Whether the limit holds for a day or longer.
    fn is_daily(&self) -> bool {
        self.per >= Period::DAY
    }

    /// `per minute`, or as it is.
    fn unit(&self) -> &'static str {
        match (self.window, self.per) {
            (Window::Month, _) => "month",
            (_, per) if per >= Period::DAY => "day",
            (_, per) if per >= Period::HOUR => "hour",
            (_, per) if per == Period::SECOND => "second",
            _ => "minute",
        }
    }
}

/// Names of limit, remaining and reset.
type Trio = [&'static str; 3];

/// Writes a limit's trio, its reset as `reset` does.
fn put(headers: &mut Vec<Header>, names: Trio, limit: &Standing, reset: impl Fn(u64) -> String) {
    let [amount, remaining, until_full] = names;
    headers.push((amount, limit.amount.to_string()));
    headers.push((remaining, limit.remaining.to_string()));
    headers.push((until_full, reset(limit.reset)));
}

/// Whole seconds, rounded up.
fn whole_seconds(nanos: u64) -> u64 {
    nanos.div_ceil(1_000_000_000)
}

/// As Go prints a duration, cut to whole milliseconds: `0s`, `84ms`, `1.146s`, `7m12s`, `83h10m39s`.
pub fn go_duration(nanos: u64) -> String {
    let millis = nanos / 1_000_000;
    if millis == 0 {
        return "0s".to_owned();
    }
    if millis < 1_000 {
        return format!("{millis}ms");
    }
    let (seconds, fraction) = (millis / 1_000, millis % 1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = match fraction {
        0 => String::new(),
        _ => format!(".{fraction:03}").trim_end_matches('0').to_owned(),
    };
    match (hours, minutes) {
        (0, 0) => format!("{seconds}{fraction}s"),
        (0, _) => format!("{minutes}m{seconds}{fraction}s"),
        _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_look_like_go() {
        const MS: u64 = 1_000_000;
        for (nanos, text) in [
            (0, "0s"),
            (60_000, "0s"),
            (2_640_000, "2ms"),
            (84_300_000, "84ms"),
            (1_146 * MS, "1.146s"),
            (3_890 * MS, "3.89s"),
            (20_000 * MS, "20s"),
            (360_000 * MS, "6m0s"),
            (432_000 * MS, "7m12s"),
            (179_560 * MS, "2m59.56s"),
            (3_600_000 * MS, "1h0m0s"),
            (299_439_000 * MS, "83h10m39s"),
        ] {
            assert_eq!(go_duration(nanos), text);
        }
    }
}
