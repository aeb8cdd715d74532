//! What the sender of a request wants the answer to be like: its `fake` field, or the same between `<fake>` and `</fake>`
//! in the prompt, which survives a gateway that translates.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Complaint;
use super::field::invalid;
use crate::Millis;
use crate::fault::Fault;

/// Wishes; what a field of the body says goes before what the prompt says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wishes {
    pub(crate) output_tokens: Option<u64>,
    pub(crate) reasoning_tokens: u64,
    pub(crate) prompt_tokens: Option<u64>,
    pub(crate) cached_tokens: u64,
    pub(crate) cache_written_tokens: u64,
    pub(crate) ms_per_token: Option<Millis>,
    pub(crate) head_ms: Option<Millis>,
    pub(crate) tools: Option<u64>,
    pub(crate) echo: bool,
    pub(crate) extra: Map<String, Value>,
    pub(crate) fault: Option<Fault>,
    /// The answer shows what was thought, also where nothing else in the request asks for it.
    pub(crate) thinking: bool,
    /// The model refuses to answer.
    pub(crate) refusal: bool,
    pub(crate) json: JsonWish,
}

/// What becomes of JSON that was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JsonWish {
    /// It is JSON and nothing else.
    #[default]
    Bare,
    /// It stands in a code fence, with a word before it.
    Fence,
    /// It cannot be parsed.
    Broken,
    /// The same in the first call of a conversation only; conversations are told by the first text of a user.
    BrokenOnce,
}

impl Wishes {
    /// Reads the `fake` field on top of what the prompt says.
    pub(super) fn read(
        mut from_prompt: Map<String, Value>,
        field: Option<Value>,
    ) -> Result<Self, Complaint> {
        match field {
            Some(Value::Object(field)) => from_prompt.extend(field),
            None => {}
            Some(_) => return Err(invalid("fake", "Invalid 'fake': no object.".to_owned())),
        }
        serde_json::from_value(Value::Object(from_prompt))
            .map_err(|error| invalid("fake", format!("Invalid 'fake': {error}.")))
    }
}
