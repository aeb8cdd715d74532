//! A chat completion: what is said, and its JSON, whole or as the events of a stream.
//!
//! It depends on the request and the seed only, so that the same request gives the same bytes whether it comes straight or
//! through a gateway. Timing and faults are played elsewhere; events are made one at a time, so that a long answer is
//! never held as JSON.

mod text;
mod wire;

use serde_json::{Map, Value};

use crate::ask::{Ask, Shape};
use crate::fault::UsageFault;
use crate::random::Random;
use text::Piece;
use wire::{
    CallPiece, Chunk, ChunkChoice, CompletionDetails, Delta, Function, Message, PromptDetails,
    Usage, Whole, WholeCall, WholeChoice, render,
};

/// Everything that an answer says.
#[derive(Clone, Debug)]
pub(crate) struct Completion {
    id: String,
    created: u64,
    fingerprint: String,
    model: String,
    choices: Vec<Choice>,
    extra: Map<String, Value>,
    prompt_tokens: u64,
    cached_tokens: u64,
    reasoning_tokens: u64,
}

#[derive(Clone, Debug)]
struct Choice {
    said: Said,
    finish: &'static str,
}

#[derive(Clone, Debug)]
enum Said {
    Text(Vec<Piece>),
    Tools(Vec<ToolCall>),
}

#[derive(Clone, Debug)]
struct ToolCall {
    id: String,
    name: String,
    fragments: Vec<String>,
}

/// One event of a stream, to be rendered by [`Completion::event`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The role of a choice's message.
    Role(usize),
    /// A piece of a choice's text.
    Piece(usize, usize),
    /// The beginning of a tool call.
    Call(usize, usize),
    /// A piece of a tool call's arguments.
    Fragment(usize, usize, usize),
    /// The end of a choice.
    Finish(usize),
    /// The usage of it all.
    Usage,
}

impl Event {
    /// Tokens of output that the event stands for.
    pub(crate) fn tokens(self) -> u64 {
        match self {
            Self::Piece(..) | Self::Call(..) | Self::Fragment(..) => 1,
            Self::Role(_) | Self::Finish(_) | Self::Usage => 0,
        }
    }
}

impl Completion {
    /// The answer to `ask`, with `usual` tokens of output where it does not say how many.
    pub(crate) fn new(ask: &Ask, seed: u64, usual: u64) -> Self {
        let mut random = Random::new(ask.content_id ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (output, complete) = ask.output(usual);
        let reasoning = ask.wishes.reasoning_tokens.min(output);
        let id = format!("chatcmpl-{:016x}{:08x}", random.next(), random.next() >> 32);
        let created = 1_700_000_000 + random.next() % 100_000_000;
        let fingerprint = format!("fp_{:010x}", random.next() >> 24);
        let visible = usize::try_from(output - reasoning).unwrap_or(usize::MAX);
        let choices = (0..ask.choices)
            .map(|_| Choice::new(&mut random, ask, visible, complete))
            .collect();
        let mut extra = ask.wishes.extra.clone();
        if ask.wishes.echo {
            extra.insert("vendor".to_owned(), Value::Object(ask.unknown.clone()));
        }
        Self {
            id,
            created,
            fingerprint,
            model: ask.model.clone(),
            choices,
            extra,
            prompt_tokens: ask.prompt_tokens(),
            cached_tokens: ask.wishes.cached_tokens,
            reasoning_tokens: reasoning * ask.choices,
        }
    }

    /// Tokens of output over all choices, reasoning included.
    pub(crate) fn output_tokens(&self) -> u64 {
        self.reasoning_tokens + self.choices.iter().map(Choice::tokens).sum::<u64>()
    }

    /// The answer in one piece.
    pub(crate) fn whole(&self, usage: UsageFault) -> String {
        let choices = self.choices.iter().enumerate().map(|(index, choice)| {
            let content = match &choice.said {
                Said::Text(pieces) => Some(pieces.concat()),
                Said::Tools(_) => None,
            };
            WholeChoice {
                index,
                message: Message {
                    role: "assistant",
                    content,
                    refusal: None,
                    annotations: [],
                    tool_calls: choice.calls().iter().map(ToolCall::whole).collect(),
                },
                logprobs: None,
                finish_reason: choice.finish,
            }
        });
        render(&Whole {
            id: &self.id,
            object: "chat.completion",
            created: self.created,
            model: &self.model,
            choices: choices.collect(),
            usage: (usage != UsageFault::Missing).then(|| self.usage(self.output_tokens())),
            service_tier: "default",
            system_fingerprint: &self.fingerprint,
            extra: &self.extra,
        })
    }

    /// The events of a stream in order: roles, then a token of each choice and of each tool call in turn, then the ends,
    /// then the usage where it is asked for.
    pub(crate) fn events(&self, include_usage: bool) -> Vec<Event> {
        let mut events = Vec::new();
        for (index, choice) in self.choices.iter().enumerate() {
            events.push(Event::Role(index));
            events.extend((0..choice.calls().len()).map(|call| Event::Call(index, call)));
        }
        let longest = self.choices.iter().map(Choice::longest).max().unwrap_or(0);
        for at in 0..longest {
            for (index, choice) in self.choices.iter().enumerate() {
                match &choice.said {
                    Said::Text(pieces) if at < pieces.len() => events.push(Event::Piece(index, at)),
                    Said::Text(_) => {}
                    Said::Tools(calls) => events.extend(
                        calls
                            .iter()
                            .enumerate()
                            .filter(|(_, call)| at < call.fragments.len())
                            .map(|(call, _)| Event::Fragment(index, call, at)),
                    ),
                }
            }
        }
        events.extend((0..self.choices.len()).map(Event::Finish));
        if include_usage {
            events.push(Event::Usage);
        }
        events
    }

    /// The JSON of one event. `sent` tokens have been sent with it, for usage in every chunk.
    pub(crate) fn event(&self, event: Event, usage: ChunkUsage, sent: u64) -> String {
        let usage = match (event, usage) {
            (Event::Usage, _) => Some(Some(self.usage(self.output_tokens()))),
            (_, ChunkUsage::Null) => Some(None),
            (_, ChunkUsage::Absent) => None,
            (_, ChunkUsage::Cumulative) => Some(Some(self.usage(sent + self.reasoning_tokens))),
        };
        render(&Chunk {
            id: &self.id,
            object: "chat.completion.chunk",
            created: self.created,
            model: &self.model,
            service_tier: "default",
            system_fingerprint: &self.fingerprint,
            choices: self.chunk_choice(event).into_iter().collect(),
            usage,
            extra: &self.extra,
        })
    }

    fn chunk_choice(&self, event: Event) -> Option<ChunkChoice<'_>> {
        let (index, delta) = match event {
            Event::Role(index) => {
                let content = match self.choices[index].said {
                    Said::Text(_) => Some(""),
                    Said::Tools(_) => None,
                };
                (
                    index,
                    Delta {
                        role: Some("assistant"),
                        content: Some(content),
                        ..Delta::default()
                    },
                )
            }
            Event::Piece(index, at) => match &self.choices[index].said {
                Said::Text(pieces) => (
                    index,
                    Delta {
                        content: Some(Some(&pieces[at])),
                        ..Delta::default()
                    },
                ),
                Said::Tools(_) => (index, Delta::default()),
            },
            Event::Call(index, at) => {
                let call = &self.choices[index].calls()[at];
                (
                    index,
                    Delta {
                        tool_calls: Some([call.begun(at)]),
                        ..Delta::default()
                    },
                )
            }
            Event::Fragment(index, at, fragment) => {
                let call = &self.choices[index].calls()[at];
                let piece = CallPiece::of(at, &call.fragments[fragment]);
                (
                    index,
                    Delta {
                        tool_calls: Some([piece]),
                        ..Delta::default()
                    },
                )
            }
            Event::Finish(index) => (index, Delta::default()),
            Event::Usage => return None,
        };
        let finish_reason = matches!(event, Event::Finish(_)).then(|| self.choices[index].finish);
        Some(ChunkChoice {
            index,
            delta,
            logprobs: None,
            finish_reason,
        })
    }

    fn usage(&self, completion_tokens: u64) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens,
            completion_tokens,
            total_tokens: self.prompt_tokens + completion_tokens,
            prompt_tokens_details: PromptDetails {
                cached_tokens: self.cached_tokens,
                audio_tokens: 0,
            },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: self.reasoning_tokens,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}

/// What chunks other than the last say about usage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChunkUsage {
    /// Nothing: it was not asked for.
    Absent,
    /// `"usage": null`: it comes at the end.
    Null,
    /// What was sent so far.
    Cumulative,
}

impl Choice {
    /// Says `tokens` tokens. Tool calls and JSON take as many as they need, unless the maximum cuts them.
    fn new(random: &mut Random, ask: &Ask, tokens: usize, complete: bool) -> Self {
        let most = ask.output_max.and_then(|_| (!complete).then_some(tokens));
        let most = most.or(ask
            .output_max
            .map(|most| usize::try_from(most).unwrap_or(usize::MAX)));
        match &ask.shape {
            Shape::Text => {
                let pieces = text::prose(random, ask.prompt, tokens);
                Self {
                    said: Said::Text(pieces),
                    finish: if complete { "stop" } else { "length" },
                }
            }
            Shape::Json(schema) => {
                let mut pieces = text::json(random, ask.prompt, schema.as_ref(), tokens);
                let cut = most.is_some_and(|most| pieces.len() > most);
                pieces.truncate(most.unwrap_or(usize::MAX));
                Self {
                    said: Said::Text(pieces),
                    finish: if cut { "length" } else { "stop" },
                }
            }
            Shape::Tools(count) => {
                let mut left = most.unwrap_or(usize::MAX);
                let mut cut = false;
                let mut calls = Vec::new();
                for tool in ask
                    .tools
                    .iter()
                    .cycle()
                    .take(usize::try_from(*count).unwrap_or(0))
                {
                    if left == 0 {
                        cut = true;
                        break;
                    }
                    let mut call = ToolCall {
                        id: format!("call_{:016x}{:08x}", random.next(), random.next() >> 32),
                        name: tool.name.clone(),
                        fragments: text::arguments(random, &tool.parameters),
                    };
                    left -= 1;
                    cut |= call.fragments.len() > left;
                    call.fragments.truncate(left);
                    left -= call.fragments.len();
                    calls.push(call);
                }
                Self {
                    said: Said::Tools(calls),
                    finish: if cut { "length" } else { "tool_calls" },
                }
            }
        }
    }

    fn tokens(&self) -> u64 {
        match &self.said {
            Said::Text(pieces) => pieces.len() as u64,
            Said::Tools(calls) => calls
                .iter()
                .map(|call| 1 + call.fragments.len() as u64)
                .sum(),
        }
    }

    fn longest(&self) -> usize {
        match &self.said {
            Said::Text(pieces) => pieces.len(),
            Said::Tools(calls) => calls
                .iter()
                .map(|call| call.fragments.len())
                .max()
                .unwrap_or(0),
        }
    }

    fn calls(&self) -> &[ToolCall] {
        match &self.said {
            Said::Text(_) => &[],
            Said::Tools(calls) => calls,
        }
    }
}

impl ToolCall {
    fn whole(&self) -> WholeCall<'_> {
        WholeCall {
            id: &self.id,
            r#type: "function",
            function: Function {
                name: Some(&self.name),
                arguments: self.fragments.concat(),
            },
        }
    }

    fn begun(&self, index: usize) -> CallPiece<'_> {
        let function = Function {
            name: Some(&self.name),
            arguments: String::new(),
        };
        CallPiece {
            index,
            id: Some(&self.id),
            r#type: Some("function"),
            function,
        }
    }
}

#[cfg(test)]
mod tests;
