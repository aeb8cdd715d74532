//! An answer: what is said, and its text in the dialect that was asked, whole or as the events of a stream.
//!
//! It depends on the request and the seed only, so that the same request gives the same bytes whether it comes straight or
//! through a gateway. Timing and faults are played elsewhere; events are made one at a time, so that a long answer is
//! never held as JSON. What is said is the same for all dialects; a file below writes it in each.

mod blocks;
mod chat;
mod cohere;
mod completions;
mod converse;
mod embeddings;
mod gemini;
mod messages;
mod responses;
mod said;
mod text;
mod value;
mod vector;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::ask::{Ask, Embed};
use crate::dialect::{Dialect, Task};
use crate::fault::UsageFault;
use crate::random::Random;
use said::{Choice, Part};

/// Everything that an answer says.
#[derive(Clone, Debug)]
pub(crate) struct Completion {
    dialect: Dialect,
    task: Task,
    /// Twenty-four hexadecimal digits; each dialect puts its own word before them.
    id: String,
    created: u64,
    fingerprint: String,
    model: String,
    choices: Vec<Choice>,
    before: Vec<String>,
    repeated: Map<String, Value>,
    embed: Embed,
    batch: bool,
    extra: Map<String, Value>,
    prompt_tokens: u64,
    cached_tokens: u64,
    cache_written_tokens: u64,
    reasoning_tokens: u64,
}

/// What happens next in a stream. A dialect that has no event for it leaves it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// A choice begins.
    Begin(usize),
    /// Nothing new, but the stream lives.
    Ping,
    /// A part of a choice begins: a text, a thought, a call.
    Open(usize, usize),
    /// What a part contains begins.
    OpenInner(usize, usize),
    /// A token of a part.
    Piece(usize, usize, usize),
    /// The mark by which a thought is known again.
    Sign(usize, usize),
    /// All of what a part contains, once more.
    Say(usize, usize),
    /// What a part contains is complete.
    CloseInner(usize, usize),
    /// A part is complete.
    Close(usize, usize),
    /// A choice is complete.
    Finish(usize),
    /// The answer is complete: its usage.
    End,
}

/// One event of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// Its type, where the framing names it.
    pub(crate) name: Option<&'static str>,
    /// JSON.
    pub(crate) data: String,
}

/// How far a stream has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Progress {
    /// Events sent before this one.
    pub(crate) number: usize,
    /// Output tokens sent until now, those of this event included.
    pub(crate) tokens: u64,
    pub(crate) usage: ChunkUsage,
}

/// What events other than the last say about usage, where a dialect leaves that open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChunkUsage {
    /// Nothing: it was not asked for.
    Absent,
    /// `"usage": null`: it comes at the end.
    Null,
    /// What was sent so far.
    Cumulative,
}

impl Completion {
    /// The answer to `ask`, with `usual` tokens of output where it does not say how many.
    pub(crate) fn new(ask: &Ask, seed: u64, usual: u64) -> Self {
        let mut random = Random::new(ask.content_id ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (output, complete) = ask.output(usual);
        let reasoning = ask.reasoning(output);
        let id = format!("{:016x}{:08x}", random.next(), random.next() >> 32);
        let created = 1_700_000_000 + random.next() % 100_000_000;
        let fingerprint = format!("fp_{:010x}", random.next() >> 24);
        let speaking = match ask.task {
            Task::Generate => ask.choices,
            Task::Count | Task::Embed => 0,
        };
        let choices = (0..speaking)
            .map(|_| Choice::new(&mut random, ask, (reasoning, output - reasoning), complete))
            .collect();
        let mut extra = ask.wishes.extra.clone();
        if ask.wishes.echo {
            extra.insert("vendor".to_owned(), Value::Object(ask.unknown.clone()));
        }
        Self {
            dialect: ask.dialect,
            task: ask.task,
            id,
            created,
            fingerprint,
            model: ask.model.clone(),
            choices,
            before: ask.before.clone(),
            repeated: ask.repeated.clone(),
            embed: ask.embed.clone(),
            batch: ask.batch,
            extra,
            prompt_tokens: ask.prompt_tokens(),
            cached_tokens: ask.wishes.cached_tokens,
            cache_written_tokens: ask.wishes.cache_written_tokens,
            reasoning_tokens: reasoning * speaking,
        }
    }

    /// Tokens of output over all choices, reasoning included.
    pub(crate) fn output_tokens(&self) -> u64 {
        self.reasoning_tokens + self.choices.iter().map(Choice::spoken_tokens).sum::<u64>()
    }

    /// Tokens of reasoning that no event of a stream stands for.
    fn silent_tokens(&self) -> u64 {
        let shown: u64 = self.choices.iter().map(Choice::thought_tokens).sum();
        self.reasoning_tokens.saturating_sub(shown)
    }

    /// The answer in one piece.
    pub(crate) fn whole(&self, usage: UsageFault) -> String {
        match (self.dialect, self.task) {
            (Dialect::Chat, _) => chat::whole(self, usage),
            (Dialect::Responses, _) => responses::whole(self, usage),
            (Dialect::Completions, _) => completions::whole(self, usage),
            (Dialect::Embeddings, _) => embeddings::whole(self, usage),
            (Dialect::Messages, Task::Count) => messages::count(self),
            (Dialect::Messages, _) => messages::whole(self, usage),
            (Dialect::Gemini, Task::Generate) => gemini::whole(self, usage),
            (Dialect::Gemini, Task::Count) => gemini::count(self),
            (Dialect::Gemini, Task::Embed) => gemini::embeddings(self),
            (Dialect::Converse, _) => converse::whole(self, usage),
            (Dialect::Cohere, Task::Embed) => cohere::embeddings(self),
            (Dialect::Cohere, _) => cohere::whole(self, usage),
        }
    }

    /// What happens in a stream, in order. The usage at the end is left out of it where nobody asked for it.
    pub(crate) fn steps(&self, include_usage: bool) -> Vec<Step> {
        match self.dialect {
            Dialect::Chat => chat::steps(self, include_usage),
            Dialect::Responses => responses::steps(self),
            Dialect::Completions => completions::steps(self, include_usage),
            Dialect::Embeddings => Vec::new(),
            Dialect::Messages => messages::steps(self),
            Dialect::Gemini => gemini::steps(self),
            Dialect::Converse => converse::steps(self),
            Dialect::Cohere => cohere::steps(self),
        }
    }

    /// The event that stands for a step.
    pub(crate) fn frame(&self, step: Step, progress: Progress) -> Frame {
        match self.dialect {
            // Embeddings have no stream.
            Dialect::Chat | Dialect::Embeddings => chat::frame(self, step, progress),
            Dialect::Responses => responses::frame(self, step, progress),
            Dialect::Completions => completions::frame(self, step, progress),
            Dialect::Messages => messages::frame(self, step, progress),
            Dialect::Gemini => gemini::frame(self, step, progress),
            Dialect::Converse => converse::frame(self, step, progress),
            Dialect::Cohere => cohere::frame(self, step, progress),
        }
    }

    /// Tokens of output that the event of a step stands for.
    pub(crate) fn tokens(&self, step: Step) -> u64 {
        let call = |choice: usize, part: usize| match &self.choices[choice].parts[part] {
            Part::Call(call) => Some(call),
            _ => None,
        };
        match step {
            // There a call comes in one piece.
            Step::Close(choice, part) if self.dialect == Dialect::Gemini => {
                call(choice, part).map_or(0, |call| 1 + call.fragments.len() as u64)
            }
            Step::Piece(..) => 1,
            Step::Open(choice, part) => u64::from(call(choice, part).is_some()),
            Step::Begin(_)
            | Step::Ping
            | Step::OpenInner(..)
            | Step::Sign(..)
            | Step::Say(..)
            | Step::CloseInner(..)
            | Step::Close(..)
            | Step::Finish(_)
            | Step::End => 0,
        }
    }
}

/// The JSON of an answer or of an event.
fn render(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).expect("plain structs with string keys always serialise")
}

#[cfg(test)]
mod tests;
