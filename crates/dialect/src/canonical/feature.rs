//! What a dialect may not be able to say.

use crate::wire_form::Unknown;

/// Something of a request that the dialect it is written in cannot say.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Feature {
    /// Above what the other side takes, or any where it takes none.
    Temperature,
    TopP,
    TopK,
    FrequencyPenalty,
    PresencePenalty,
    Seed,
    Logprobs,
    LogitBias,
    /// More texts than the other side takes, or an empty one.
    StopSequences,
    Images,
    Documents,
    Audio,
    /// A file of an account, which another provider does not have.
    Files,
    /// A name of a tool that the other side does not take.
    ToolNames,
    /// A schema of a tool is to be followed to the letter.
    StrictTools,
    /// Whether a tool is to be called, where the other side cannot forbid it.
    ToolChoice,
    /// That tools are called one by one.
    ParallelToolCalls,
    /// Arguments of a call that are no JSON object.
    ToolArguments,
    /// Results of tools that hold more than text.
    ToolResultMedia,
    /// The model speaks first.
    AssistantFirst,
    /// An output maximum below the least that the other side takes.
    OutputCap,
    /// That and how much to think.
    Thinking,
    /// What the model has thought before.
    Thoughts,
}

/// A member of a request that cannot be said on the other side, in the words of the dialect that
/// the client speaks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Inexpressible {
    /// The member, like `logit_bias` or `messages[2].content[0].input_audio`. At most 128 bytes.
    pub field: String,
    /// What the other side takes there, where it refuses the whole request for anything else: no route can then drop it.
    pub instead: Option<String>,
}

impl Inexpressible {
    /// The longest name, in bytes: names are the client's, and are told in messages and headers.
    const FIELD_BYTES_MAX: usize = 128;

    pub(crate) fn new(field: impl Into<String>) -> Self {
        let mut field = field.into();
        field.truncate(field.floor_char_boundary(Self::FIELD_BYTES_MAX));
        Self {
            field,
            instead: None,
        }
    }

    /// The same, where the other side takes only what `rule` says.
    pub(crate) fn unless(self, rule: &str) -> Self {
        Self {
            instead: Some(rule.to_owned()),
            ..self
        }
    }
}

/// So many members are named.
pub(crate) const NAMED_MAX: usize = 32;

/// The members that a reader met and cannot put into the canonical form.
#[derive(Debug, Default)]
pub(crate) struct Unsaid(Vec<Inexpressible>);

impl Unsaid {
    pub(crate) fn name(&mut self, field: impl Into<String>) {
        if self.0.len() < NAMED_MAX {
            self.0.push(Inexpressible::new(field));
        }
    }

    /// Names the unknown members of what stands at `place`, except `hints`, which change nothing
    /// that an answer says.
    pub(crate) fn members(&mut self, place: &str, unknown: &Unknown, hints: &[&str]) {
        for name in unknown.names().filter(|name| !hints.contains(name)) {
            let dot = if place.is_empty() { "" } else { "." };
            self.name(format!("{place}{dot}{name}"));
        }
    }

    pub(crate) fn into_fields(self) -> Vec<Inexpressible> {
        self.0
    }
}
