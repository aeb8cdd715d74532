//! How likely tokens were, as this dialect tells it: those that were chosen and the likeliest apart.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::canonical::Logprob;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Told {
    chosen_candidates: Vec<Token>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    top_candidates: Vec<Top>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Top {
    candidates: Vec<Token>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Token {
    token: String,
    log_probability: f64,
}

/// None where it cannot be read, as an answer is worth more than they.
pub(super) fn read(told: Option<&RawValue>) -> Vec<Logprob> {
    let told = told.and_then(|raw| serde_json::from_str::<Told>(raw.get()).ok());
    let told = told.unwrap_or_default();
    let mut tops = told.top_candidates.into_iter();
    let chosen = told.chosen_candidates.into_iter();
    let with_top = chosen.map(|token| Logprob {
        top: tops
            .next()
            .map(|top| top.candidates.into_iter().map(Logprob::from).collect())
            .unwrap_or_default(),
        ..Logprob::from(token)
    });
    with_top.collect()
}

/// `None` where nothing is told.
pub(super) fn write(logprobs: &[Logprob]) -> Option<Box<RawValue>> {
    if logprobs.is_empty() {
        return None;
    }
    let token = |told: &Logprob| Token {
        token: told.token.clone(),
        log_probability: told.logprob,
    };
    let has_top = logprobs.iter().any(|told| !told.top.is_empty());
    let tops = logprobs.iter().filter(|_| has_top).map(|told| Top {
        candidates: told.top.iter().map(token).collect(),
    });
    let told = to_raw_value(&Told {
        chosen_candidates: logprobs.iter().map(token).collect(),
        top_candidates: tops.collect(),
    });
    Some(told.expect("strings and numbers always have a JSON form"))
}

impl From<Token> for Logprob {
    fn from(token: Token) -> Self {
        Self {
            token: token.token,
            logprob: token.log_probability,
            ..Self::default()
        }
    }
}
