//! Turns of a conversation as messages.

use std::borrow::Cow;

use super::family::Family;
use super::wire::{Block, Message, Reasoning, ReasoningText, ToolResult, ToolUse};
use super::write_media::{audio, document, image};
use crate::anthropic::call;
use crate::canonical::seal::is_claudes;
use crate::canonical::{Feature, Losses, Part, Request, Role, Spot};
use crate::canonical::{call_id, failed_tool};

/// Writes the turns of one request.
pub(super) struct TurnWriter {
    family: Family,
    /// The names of documents so far.
    names: Vec<String>,
    /// What cannot be said.
    pub(super) unsaid: Losses,
}

impl TurnWriter {
    pub(super) fn new(family: Family) -> Self {
        Self {
            family,
            names: Vec::new(),
            unsaid: Losses::default(),
        }
    }

    /// Instructions and messages. Where there are only instructions they are said by the user, as one
    /// message has to be there.
    pub(super) fn conversation(&mut self, request: &Request) -> (Vec<Block>, Vec<Message>) {
        let mut system = Vec::new();
        let mut messages: Vec<(Role, Vec<Block>)> = Vec::new();
        for (index, turn) in request.turns.iter().enumerate() {
            self.unsaid.at_turn(index);
            let parts = turn.parts.iter().enumerate();
            let blocks = parts.filter_map(|(index, part)| {
                self.unsaid.at_part(index);
                Some((self.unsaid.spot(), self.block(part)?))
            });
            if turn.role.instructs() {
                system.extend(blocks);
                continue;
            }
            let blocks: Vec<_> = blocks.map(|(_, block)| block).collect();
            if let Some((_, last)) = messages.last_mut().filter(|(role, _)| *role == turn.role) {
                last.extend(blocks);
            } else if !blocks.is_empty() {
                messages.push((turn.role, blocks));
            }
        }
        if messages.is_empty() && !system.is_empty() {
            let said = std::mem::take(&mut system).into_iter();
            messages.push((Role::User, said.map(|(_, block)| block).collect()));
        }
        let is_assistant = |(role, _): &(Role, Vec<Block>)| *role == Role::Assistant;
        if messages.first().is_some_and(is_assistant) {
            self.unsaid.assistant_first(request);
            messages.insert(0, (Role::User, vec![text(FILLER)]));
        }
        let system = self.only_texts(system);
        (system, messages.into_iter().map(message).collect())
    }

    /// Instructions are texts only.
    fn only_texts(&mut self, mut blocks: Vec<(Spot, Block)>) -> Vec<Block> {
        blocks.retain(|(spot, block)| {
            let lost = [
                (block.image.is_some(), Feature::Images),
                (block.document.is_some(), Feature::Documents),
                (block.audio.is_some(), Feature::Audio),
            ];
            let lost = lost.into_iter().filter(|(is_lost, _)| *is_lost);
            for (_, feature) in lost {
                self.unsaid.push_at(*spot, feature);
            }
            block.text.is_some()
        });
        blocks.into_iter().map(|(_, block)| block).collect()
    }

    /// Texts must not be blank here, so that blank ones are left out. So are thoughts of another
    /// maker's models, and those without a seal.
    fn block(&mut self, part: &Part) -> Option<Block> {
        match part {
            Part::Text(said) | Part::Refusal(said) => (!said.trim().is_empty()).then(|| text(said)),
            Part::Image(source) => {
                let image = self.or_name(image(source));
                image.map(|image| Block {
                    image: Some(image),
                    ..Block::default()
                })
            }
            Part::Document { source, title } => {
                let document = document(source, title.as_deref(), &mut self.names);
                self.or_name(document).map(|document| Block {
                    document: Some(document),
                    ..Block::default()
                })
            }
            Part::Audio { data, format } => {
                let audio = self.or_name(audio(data, format));
                audio.map(|audio| Block {
                    audio: Some(audio),
                    ..Block::default()
                })
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => {
                let input = call::input(arguments);
                if input.as_str() != arguments.trim() && !arguments.trim().is_empty() {
                    self.unsaid.push(Feature::ToolArguments);
                }
                Some(Block {
                    tool_use: Some(ToolUse {
                        tool_use_id: legal_id(id).into_owned(),
                        name: name.clone(),
                        input: Some(input.raw()),
                        kind: None,
                    }),
                    ..Block::default()
                })
            }
            Part::ToolResult {
                id,
                parts,
                is_error,
            } => Some(Block {
                tool_result: Some(self.result(id, parts, *is_error)),
                ..Block::default()
            }),
            Part::Thinking { text, signature } => {
                let signature = signature.clone();
                let signature = signature.filter(|seal| is_claudes(seal))?;
                self.thought(Reasoning {
                    reasoning_text: Some(ReasoningText {
                        text: text.clone(),
                        signature: Some(signature),
                    }),
                    redacted_content: None,
                })
            }
            Part::SealedThinking(data) if is_claudes(data) => self.thought(Reasoning {
                reasoning_text: None,
                redacted_content: Some(data.clone()),
            }),
            Part::SealedThinking(_) => None,
        }
    }

    /// A seal is Claude's: it holds on all platforms that serve Claude.
    /// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>)
    fn thought(&self, reasoning: Reasoning) -> Option<Block> {
        (self.family == Family::Claude).then(|| Block {
            reasoning_content: Some(reasoning),
            ..Block::default()
        })
    }

    /// That a tool failed is said to models that take it; to others it is said by the result only.
    fn result(&mut self, id: &str, parts: &[Part], is_error: bool) -> ToolResult {
        let mut content = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            self.unsaid.at_inside(index);
            match self.block(part) {
                Some(block) if block.audio.is_some() => {
                    self.unsaid.push(Feature::ToolResultMedia);
                }
                block => content.extend(block),
            }
        }
        let takes_status = self.family != Family::Other;
        if is_error && !takes_status {
            match content.iter_mut().find_map(|block| block.text.as_mut()) {
                Some(said) => failed_tool::mark(said),
                None => content.insert(0, text(failed_tool::NOTHING_SAID)),
            }
        }
        ToolResult {
            tool_use_id: legal_id(id).into_owned(),
            content,
            status: (is_error && takes_status).then_some("error"),
        }
    }

    fn or_name<T>(&mut self, said: Result<T, Feature>) -> Option<T> {
        said.map_err(|feature| self.unsaid.push(feature)).ok()
    }
}

/// What stands where a text has to be and nobody said one.
const FILLER: &str = ".";

/// Results of tools come first; with a document there has to be a text.
/// (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html>)
fn message((role, mut content): (Role, Vec<Block>)) -> Message {
    let is_user = role == Role::User;
    content.sort_by_key(|block| block.tool_result.is_none() && is_user);
    let has_document = content.iter().any(|block| block.document.is_some());
    if has_document && content.iter().all(|block| block.text.is_none()) {
        content.push(text(FILLER));
    }
    Message {
        role: if is_user { "user" } else { "assistant" }.to_owned(),
        content,
    }
}

fn text(text: &str) -> Block {
    Block {
        text: Some(text.to_owned()),
        ..Block::default()
    }
}

/// The longest id of a call, in bytes.
const ID_BYTES_MAX: usize = 64;

fn legal_id(id: &str) -> Cow<'_, str> {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    call_id::legal(id, ID_BYTES_MAX, is_legal)
}
