//! How likely tokens were, in OpenAI's words: alike in chat completions and in responses.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::canonical::Logprob;

/// A token.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WireLogprob {
    token: String,
    logprob: f64,
    bytes: Option<Vec<u8>>,
    /// Absent of one that is itself among the likeliest.
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<Vec<Self>>,
}

/// What stands beside a choice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ChoiceLogprobs {
    content: Option<Vec<WireLogprob>>,
    refusal: Option<()>,
}

impl ChoiceLogprobs {
    /// `None` where nothing is told.
    pub(super) fn of(logprobs: &[Logprob]) -> Option<Self> {
        (!logprobs.is_empty()).then(|| Self {
            content: Some(write(logprobs)),
            refusal: None,
        })
    }
}

/// Those of a list; none where it is no such list, as an answer is worth more than they.
pub(crate) fn read(list: Option<&RawValue>) -> Vec<Logprob> {
    let list = list.and_then(|raw| serde_json::from_str::<Vec<WireLogprob>>(raw.get()).ok());
    list.into_iter().flatten().map(Logprob::from).collect()
}

/// Those of a choice's text.
pub(super) fn read_choice(choice: Option<&RawValue>) -> Vec<Logprob> {
    let told = choice.and_then(|raw| serde_json::from_str::<ChoiceLogprobs>(raw.get()).ok());
    let list = told.and_then(|told| told.content).into_iter().flatten();
    list.map(Logprob::from).collect()
}

/// A list of them. The bytes of a token are those of its text where the provider told no others, since
/// clients of responses expect some.
pub(crate) fn write(logprobs: &[Logprob]) -> Vec<WireLogprob> {
    let one = |told: &Logprob, top_logprobs| WireLogprob {
        token: told.token.clone(),
        logprob: told.logprob,
        bytes: Some(match &told.bytes {
            Some(bytes) => bytes.clone(),
            None => told.token.clone().into_bytes(),
        }),
        top_logprobs,
    };
    let whole = |told: &Logprob| {
        one(
            told,
            Some(told.top.iter().map(|top| one(top, None)).collect()),
        )
    };
    logprobs.iter().map(whole).collect()
}

impl From<WireLogprob> for Logprob {
    fn from(wire: WireLogprob) -> Self {
        let top = wire.top_logprobs.unwrap_or_default();
        Self {
            token: wire.token,
            bytes: wire.bytes,
            logprob: wire.logprob,
            // These have none of their own, so that this goes no deeper.
            top: top
                .into_iter()
                .map(|top| Self {
                    token: top.token,
                    bytes: top.bytes,
                    logprob: top.logprob,
                    top: Vec::new(),
                })
                .collect(),
        }
    }
}
