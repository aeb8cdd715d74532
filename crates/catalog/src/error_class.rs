//! What a failure means for what we do next, and how a row tells one from another.
//!
//! A status alone does not say: 429 stands for a full window, a ramp that is too fast, a provider
//! short of capacity, an unpaid bill and a request that will never fit.

use serde::Deserialize;

use crate::Evidence;

/// What a failure means.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// A window is full: the same target will do after the hint or the refill.
    Rate,
    /// Traffic grew too fast though no window is full: the same target will do, more slowly.
    Ramp,
    /// A day's limit is used up: no retry before it refills.
    Daily,
    /// The account is out of money or over its spend limit: no retry will help, another account
    /// may.
    Billing,
    /// This one request is larger than the whole limit: it never fits here.
    TooLargeForLimit,
    /// The provider is short of capacity: another target first.
    Overload,
    /// The provider failed.
    Server,
    /// No answer in time: the request may have run and may be billed.
    Timeout,
    /// Too long for the model's context: only a model with a larger one helps.
    Context,
    /// Refused for its content.
    Policy,
    /// Our credential was refused: another one may do.
    Auth,
    /// The request is wrong: it fails everywhere alike.
    Invalid,
}

impl ErrorClass {
    /// Every class.
    pub const ALL: [Self; 12] = [
        Self::Rate,
        Self::Ramp,
        Self::Daily,
        Self::Billing,
        Self::TooLargeForLimit,
        Self::Overload,
        Self::Server,
        Self::Timeout,
        Self::Context,
        Self::Policy,
        Self::Auth,
        Self::Invalid,
    ];

    /// The name in rows, metrics and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Ramp => "ramp",
            Self::Daily => "daily",
            Self::Billing => "billing",
            Self::TooLargeForLimit => "too_large_for_limit",
            Self::Overload => "overload",
            Self::Server => "server",
            Self::Timeout => "timeout",
            Self::Context => "context",
            Self::Policy => "policy",
            Self::Auth => "auth",
            Self::Invalid => "invalid",
        }
    }
}

/// One entry of a row's error table. Every list that is given must hold the answer's value; one
/// that is left out holds any.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorMatch {
    /// HTTP statuses.
    #[serde(default)]
    status: Vec<u16>,
    /// The error's `code`.
    #[serde(default)]
    code: Vec<String>,
    /// The error's `type`.
    #[serde(default, rename = "type")]
    kind: Vec<String>,
    /// Parts of its message, in lower case.
    #[serde(default)]
    message: Vec<String>,
    /// What it means.
    pub class: ErrorClass,
    /// How it is known.
    pub evidence: Evidence,
}

impl ErrorMatch {
    /// Whether the entry fits. `status` is `None` for an error inside a stream, which fits whatever
    /// the entry says of it; `message` is in lower case.
    pub fn fits(&self, status: Option<u16>, code: &str, kind: &str, message: &str) -> bool {
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|v| v == value);
        let names_more_than_status =
            !(self.code.is_empty() && self.kind.is_empty() && self.message.is_empty());
        let status_fits = match status {
            Some(status) => self.status.is_empty() || self.status.contains(&status),
            None => names_more_than_status,
        };
        status_fits
            && any(&self.code, code)
            && any(&self.kind, kind)
            && (self.message.is_empty() || self.message.iter().any(|part| message.contains(part)))
    }

    pub(crate) fn problem(&self) -> Option<&'static str> {
        if self.status.is_empty() && self.code.is_empty() && self.kind.is_empty() {
            return Some("an error entry needs a status, a code or a type");
        }
        if self.message.iter().any(|part| part.to_lowercase() != *part) {
            return Some("parts of an error's message are written in lower case");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    fn class(
        id: &str,
        status: Option<u16>,
        code: &str,
        kind: &str,
        message: &str,
    ) -> Option<ErrorClass> {
        let row = provider(id).expect("a row");
        row.errors
            .iter()
            .find(|entry| entry.fits(status, code, kind, message))
            .map(|entry| entry.class)
    }

    #[test]
    fn names_are_those_of_the_rows() {
        for class in ErrorClass::ALL {
            #[derive(Deserialize)]
            struct Row {
                class: ErrorClass,
            }
            let row: Row =
                toml::from_str(&format!("class = \"{}\"", class.name())).expect("a name");
            assert_eq!(row.class, class);
        }
    }

    #[test]
    fn one_status_has_many_meanings() {
        let openai = |code, kind, message| class("openai", Some(429), code, kind, message);
        assert_eq!(
            openai("rate_limit_exceeded", "tokens", "limit 9"),
            Some(ErrorClass::Rate)
        );
        assert_eq!(
            openai("", "insufficient_quota", ""),
            Some(ErrorClass::Billing)
        );
        assert_eq!(
            openai("credit_balance_exhausted", "", ""),
            Some(ErrorClass::Billing)
        );
        assert_eq!(openai("slow_down", "", ""), Some(ErrorClass::Ramp));
        assert_eq!(
            openai(
                "rate_limit_exceeded",
                "tokens",
                "request too large for gpt-4o"
            ),
            Some(ErrorClass::TooLargeForLimit)
        );
        assert_eq!(openai("", "", ""), None);
    }

    #[test]
    fn inside_a_stream_a_status_cannot_be_asked_for() {
        assert_eq!(
            class("openai", None, "slow_down", "", ""),
            Some(ErrorClass::Ramp)
        );
        // Azure's 503 entry names nothing but its status, so it says nothing about a stream.
        assert_eq!(class("azure", None, "", "", ""), None);
    }
}
