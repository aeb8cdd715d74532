//! An answer that came whole.

use std::borrow::Cow;

use super::arguments::{NO_ARGUMENTS, are_none, break_off, cuts};
use super::{Event, Feature, Logprob, Part};
use crate::{TextTally, Usage, text_tokens};

/// One answer. Several to one request (`n`) are not translated.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The provider's id of it, empty where it has none.
    pub id: String,
    /// The model that answered, in the provider's words; empty where it does not say.
    pub model: String,
    /// Texts, thoughts, calls and refusals in their order, and what else the provider made: images, sound, documents.
    pub parts: Vec<Part>,
    /// How likely the tokens of its texts were, in their order; empty where that was not asked for.
    pub logprobs: Vec<Logprob>,
    /// Why it ended.
    pub finish: FinishReason,
    /// What it used; `None` where it does not say.
    pub usage: Option<Usage>,
}

impl Answer {
    /// Fills in the usage where the provider did not tell it: `input_tokens` of input, and what its texts are expected to be. Whether it
    /// did.
    pub fn estimate_usage(&mut self, input_tokens: u64) -> bool {
        if self.usage.is_some() {
            return false;
        }
        let mut text = TextTally::default();
        for part in &self.parts {
            match part {
                Part::Text(said) | Part::Thinking { text: said, .. } | Part::Refusal(said) => {
                    text.add(said.as_bytes());
                }
                Part::ToolCall {
                    name, arguments, ..
                } => {
                    text.add(name.as_bytes());
                    text.add(arguments.as_bytes());
                }
                Part::Image(_)
                | Part::Document { .. }
                | Part::Audio { .. }
                | Part::ToolResult { .. }
                | Part::SealedThinking(_) => {}
            }
        }
        self.usage = Some(Usage {
            input_tokens,
            output_tokens: text_tokens(&text),
            ..Usage::default()
        });
        true
    }

    /// The same answer as the pieces of a stream, as a reader tells them.
    pub fn into_events(self) -> Vec<Event> {
        let finish = self.finish.clone().with_calls(self.calls_tools());
        let mut events = vec![Event::Start {
            id: self.id,
            model: self.model,
            usage: self.usage.map(|usage| Usage {
                output_tokens: 0,
                reasoning_tokens: 0,
                ..usage
            }),
        }];
        let mut calls = 0;
        let mut logprobs = Some(self.logprobs).filter(|logprobs| !logprobs.is_empty());
        for part in self.parts {
            // An unsealed thought of its own stays one.
            let thinks = matches!(part, Part::Thinking { .. });
            if thinks && matches!(events.last(), Some(Event::Thinking(_))) {
                events.push(Event::ThoughtEnds);
            }
            match part {
                Part::Text(text) => {
                    events.push(Event::Text(text));
                    events.extend(logprobs.take().map(Event::Logprobs));
                }
                Part::Thinking { text, signature } => {
                    events.push(Event::Thinking(text));
                    events.extend(signature.map(Event::Signature));
                }
                Part::SealedThinking(seal) => events.push(Event::SealedThinking(seal)),
                Part::Refusal(text) => events.push(Event::Refusal(text)),
                Part::ToolCall {
                    id,
                    name,
                    arguments,
                    signature,
                } => {
                    let index = calls;
                    calls += 1;
                    events.push(Event::ToolCall {
                        index,
                        id,
                        name,
                        signature,
                    });
                    let text = arguments;
                    events.push(Event::Arguments { index, text });
                    events.push(Event::CallEnd { index });
                }
                // No stream has a piece for these.
                Part::Image(_)
                | Part::Document { .. }
                | Part::Audio { .. }
                | Part::ToolResult { .. } => {}
            }
        }
        let usage = self.usage;
        events.push(Event::End { finish, usage });
        events
    }

    /// The same where every call has arguments, those of an empty object where the model wrote none. The
    /// last call of an answer that was cut may not have come to its own.
    pub(crate) fn with_arguments(&self) -> Cow<'_, Self> {
        let lacks = |(at, part): (usize, &Part)| {
            matches!(part, Part::ToolCall { arguments, .. } if are_none(arguments) && !self.was_cut(at))
                .then_some(at)
        };
        let lacking: Vec<usize> = self.parts.iter().enumerate().filter_map(lacks).collect();
        if lacking.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut answer = self.clone();
        for at in lacking {
            if let Part::ToolCall { arguments, .. } = &mut answer.parts[at] {
                NO_ARGUMENTS.clone_into(arguments);
            }
        }
        Cow::Owned(answer)
    }

    /// The same without the calls that were cut, for clients that take arguments as an object only: half
    /// of them is none, and to make one up would be to call a tool with what nobody has written.
    pub(crate) fn without_cut_calls(&self) -> Cow<'_, Self> {
        let cut: Vec<bool> = (0..self.parts.len()).map(|at| self.was_cut(at)).collect();
        if !cut.contains(&true) {
            return Cow::Borrowed(self);
        }
        let mut answer = self.clone();
        let mut cut = cut.into_iter();
        answer.parts.retain(|_| !cut.next().unwrap_or(false));
        answer.finish = answer.finish.with_cut_call();
        Cow::Owned(answer)
    }

    /// Whether the part at that place is a call whose arguments did not come to their end.
    fn was_cut(&self, at: usize) -> bool {
        let Some(Part::ToolCall { arguments, .. }) = self.parts.get(at) else {
            return false;
        };
        let is_last = at + 1 == self.parts.len();
        break_off(arguments) || is_last && cuts(&self.finish) && arguments.trim().is_empty()
    }

    /// What it holds that is neither text nor a call, each kind once.
    pub fn media(&self) -> Vec<Feature> {
        let mut kinds: Vec<_> = self.parts.iter().filter_map(medium).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Whether nothing is left of it for who gets no media.
    pub fn is_media_alone(&self) -> bool {
        let is_said = |part: &Part| match part {
            Part::Text(_) | Part::Refusal(_) | Part::ToolCall { .. } => true,
            Part::Thinking { .. } | Part::SealedThinking(_) => false,
            Part::Image(_) | Part::Document { .. } | Part::Audio { .. } => false,
            Part::ToolResult { .. } => true,
        };
        !self.media().is_empty() && !self.parts.iter().any(is_said)
    }

    /// Whether a tool is called.
    pub fn calls_tools(&self) -> bool {
        let is_call = |part: &Part| matches!(part, Part::ToolCall { .. });
        self.parts.iter().any(is_call)
    }
}

/// What `part` is, where it is a medium.
const fn medium(part: &Part) -> Option<Feature> {
    match part {
        Part::Image(_) => Some(Feature::Images),
        Part::Document { .. } => Some(Feature::Documents),
        Part::Audio { .. } => Some(Feature::Audio),
        _ => None,
    }
}

/// Why an answer ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// Before a text that the request named: which, where the provider says it.
    StopSequence(Option<String>),
    /// At the largest output allowed.
    Length,
    /// At the end of what the model can hold.
    ContextFull,
    /// To have tools called.
    ToolCalls,
    /// The model or the provider would not go on.
    Refusal,
    /// The provider paused a long turn; sending the answer back goes on with it.
    Pause,
}

impl FinishReason {
    /// The reason of an answer that calls tools or not. Some providers say that the model was done
    /// where it was told which tool to call; what the client has to do decides.
    #[must_use]
    pub fn with_calls(self, calls: bool) -> Self {
        match self {
            Self::Stop if calls => Self::ToolCalls,
            reason => reason,
        }
    }

    /// The reason where a call was cut, whatever the provider says: nobody can take up the tools of an
    /// answer that ended in the middle of a call.
    #[must_use]
    pub fn with_cut_call(self) -> Self {
        match self {
            Self::Stop | Self::ToolCalls => Self::Length,
            reason => reason,
        }
    }
}
