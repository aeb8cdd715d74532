//! What an answer says, before any dialect writes it: thoughts, text or calls of tools, and why it ends.

use serde_json::{Value, json};

use super::text::{self, Piece};
use crate::ask::{Ask, JsonWish, Shape};
use crate::dialect::Dialect;
use crate::random::Random;
use crate::seal::Sealer;

/// The results of tools are repeated up to so many characters.
const REPEATED_CHARS_MAX: usize = 2_000;

/// One of the alternative answers.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) parts: Vec<Part>,
    pub(super) finish: Finish,
}

/// A part of an answer, in pieces of a token each.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Thought(Thought),
    Text(Vec<Piece>),
    Refusal(Vec<Piece>),
    Call(ToolCall),
}

/// What was thought, and the mark by which the provider knows it again.
#[derive(Clone, Debug)]
pub(super) struct Thought {
    pub(super) pieces: Vec<Piece>,
    pub(super) signature: String,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct ToolCall {
    /// Twenty-four hexadecimal digits.
    pub(super) id: String,
    pub(super) name: String,
    /// JSON.
    pub(super) fragments: Vec<Piece>,
}

/// Why an answer ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Finish {
    Stop,
    /// Before this sequence, which the request named.
    StopSequence(String),
    /// At the maximum.
    Length,
    Tools,
    Refused,
}

impl Choice {
    /// Says `tokens` tokens after as many of `reasoning`. Tool calls, JSON and repeated results take as many as they need, unless the maximum cuts them.
    pub(super) fn new(
        random: &mut Random,
        ask: &Ask,
        (reasoning, tokens): (u64, u64),
        complete: bool,
    ) -> Self {
        let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
        let most = match ask.output_max {
            None => usize::MAX,
            Some(_) if !complete => tokens,
            Some(most) => usize::try_from(most).unwrap_or(usize::MAX),
        };
        let (mut parts, finish) = if ask.wishes.refusal {
            let pieces = text::fragments("I cannot help with that.");
            (vec![Part::Refusal(pieces)], Finish::Refused)
        } else {
            match &ask.shape {
                Shape::Text => prose(random, ask, tokens, complete, most),
                Shape::Json(schema) => {
                    let pieces = text::json(random, ask.prompt, schema.as_ref(), tokens);
                    let mut pieces = spoil(pieces, ask.wishes.json);
                    let finish = cut(&mut pieces, most);
                    (vec![Part::Text(pieces)], finish)
                }
                Shape::Tools(count) => calls(random, ask, *count, most),
            }
        };
        if ask.thinks {
            parts.insert(0, thought(ask, reasoning));
        }
        Self { parts, finish }
    }

    /// Tokens of everything but thoughts.
    pub(super) fn spoken_tokens(&self) -> u64 {
        self.parts.iter().map(Part::spoken_tokens).sum()
    }

    /// Tokens of thoughts that are shown.
    pub(super) fn thought_tokens(&self) -> u64 {
        self.thought()
            .map_or(0, |thought| thought.pieces.len() as u64)
    }

    pub(super) fn thought(&self) -> Option<&Thought> {
        self.parts.iter().find_map(|part| match part {
            Part::Thought(thought) => Some(thought),
            _ => None,
        })
    }

    /// All text, where there is any.
    pub(super) fn text(&self) -> Option<String> {
        self.parts.iter().find_map(|part| match part {
            Part::Text(pieces) => Some(pieces.concat()),
            _ => None,
        })
    }

    /// The words in which the model refused, where it did.
    pub(super) fn refusal(&self) -> Option<String> {
        self.parts.iter().find_map(|part| match part {
            Part::Refusal(pieces) => Some(pieces.concat()),
            _ => None,
        })
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Which of the calls the part at `part` is.
    pub(super) fn call_index(&self, part: usize) -> usize {
        self.parts[..part]
            .iter()
            .filter(|part| matches!(part, Part::Call(_)))
            .count()
    }
}

impl ToolCall {
    /// The arguments as an object; an empty one where they were cut.
    pub(super) fn input(&self) -> Value {
        serde_json::from_str(&self.fragments.concat()).unwrap_or_else(|_| json!({}))
    }
}

impl Part {
    pub(super) fn pieces(&self) -> &[Piece] {
        match self {
            Self::Thought(thought) => &thought.pieces,
            Self::Text(pieces) | Self::Refusal(pieces) => pieces,
            Self::Call(call) => &call.fragments,
        }
    }

    fn spoken_tokens(&self) -> u64 {
        match self {
            Self::Thought(_) => 0,
            Self::Text(pieces) | Self::Refusal(pieces) => pieces.len() as u64,
            Self::Call(call) => 1 + call.fragments.len() as u64,
        }
    }
}

fn prose(
    random: &mut Random,
    ask: &Ask,
    tokens: usize,
    complete: bool,
    most: usize,
) -> (Vec<Part>, Finish) {
    let (mut pieces, mut finish) = match &ask.results {
        Some(results) => {
            let results: String = results.chars().take(REPEATED_CHARS_MAX).collect();
            let mut pieces = text::fragments(&format!("The tool says: {results}"));
            let finish = cut(&mut pieces, most);
            (pieces, finish)
        }
        None => {
            let finish = if complete {
                Finish::Stop
            } else {
                Finish::Length
            };
            (text::prose(random, ask.prompt, tokens), finish)
        }
    };
    if let Some(stop) = end_before(&mut pieces, &ask.stops) {
        finish = Finish::StopSequence(stop);
    }
    (vec![Part::Text(pieces)], finish)
}

fn calls(random: &mut Random, ask: &Ask, count: u64, most: usize) -> (Vec<Part>, Finish) {
    let mut left = most;
    let mut finish = Finish::Tools;
    let mut parts = Vec::new();
    let count = usize::try_from(count).unwrap_or(0);
    for tool in ask.tools.iter().cycle().take(count) {
        if left == 0 {
            finish = Finish::Length;
            break;
        }
        let mut call = ToolCall {
            id: format!("{:016x}{:08x}", random.next(), random.next() >> 32),
            name: tool.name.clone(),
            fragments: text::arguments(random, &tool.parameters),
        };
        left -= 1;
        if cut(&mut call.fragments, left) == Finish::Length {
            finish = Finish::Length;
        }
        left -= call.fragments.len();
        parts.push(Part::Call(call));
    }
    (parts, finish)
}

/// Thoughts have their own sequence, so that an answer says the same whether they are shown or not.
fn thought(ask: &Ask, tokens: u64) -> Part {
    let mut random = Random::new(!ask.content_id);
    let sealer = match ask.dialect {
        Dialect::Gemini => Sealer::Google,
        _ => Sealer::Anthropic,
    };
    let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
    Part::Thought(Thought {
        pieces: text::prose(&mut random, ask.prompt, tokens),
        signature: sealer.seal(random.next()),
    })
}

/// Takes away what is beyond `most` pieces.
fn cut(pieces: &mut Vec<Piece>, most: usize) -> Finish {
    let cut = pieces.len() > most;
    pieces.truncate(most);
    if cut { Finish::Length } else { Finish::Stop }
}

/// Ends the text before the first of `stops` in it, which is returned.
fn end_before(pieces: &mut Vec<Piece>, stops: &[String]) -> Option<String> {
    let text = pieces.concat();
    let (mut left, stop) = stops
        .iter()
        .filter(|stop| !stop.is_empty())
        .filter_map(|stop| Some((text.find(stop.as_str())?, stop)))
        .min()?;
    let mut kept = Vec::new();
    for piece in pieces.drain(..) {
        if left == 0 {
            break;
        }
        if piece.len() > left {
            kept.push(piece[..left].to_owned().into());
            break;
        }
        left -= piece.len();
        kept.push(piece);
    }
    *pieces = kept;
    Some(stop.clone())
}

fn spoil(mut pieces: Vec<Piece>, wish: JsonWish) -> Vec<Piece> {
    match wish {
        JsonWish::Bare => {}
        JsonWish::Fence => {
            pieces.insert(0, "Here it is:\n```json\n".into());
            pieces.push("\n```\n".into());
        }
        // Its last bracket is missing.
        JsonWish::Broken | JsonWish::BrokenOnce => {
            if let Some(last) = pieces.last_mut() {
                let mut text = last.to_string();
                text.pop();
                *last = format!("{text},").into();
            }
        }
    }
    pieces
}
