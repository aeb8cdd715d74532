//! How a row tells what an error means.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use sluicegate_core::ErrorClass;

use crate::Evidence;

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
    #[serde(deserialize_with = "named")]
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

fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ErrorClass, D::Error> {
    let name = String::deserialize(deserializer)?;
    ErrorClass::from_name(&name).ok_or_else(|| {
        let names = ErrorClass::ALL.map(|class| format!("`{class}`")).join(", ");
        D::Error::custom(format_args!(
            "unknown variant `{name}`, expected one of {names}"
        ))
    })
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
    fn a_class_is_read_by_its_name() {
        #[derive(Debug, Deserialize)]
        struct Row {
            #[serde(deserialize_with = "named")]
            class: ErrorClass,
        }
        for class in ErrorClass::ALL {
            let row: Row = toml::from_str(&format!("class = \"{class}\"")).expect("a name");
            assert_eq!(row.class, class);
        }
        let problem = toml::from_str::<Row>("class = \"teapot\"").expect_err("no class");
        let message = problem.message();
        assert!(message.starts_with("unknown variant `teapot`, expected one of `rate`, `ramp`"));
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
