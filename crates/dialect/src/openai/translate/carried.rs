//! Sealed thoughts, as clients of this dialect carry them.
//!
//! No member of OpenAI's has a place for them. Its SDKs keep members that they do not know and send
//! them back with the message; `extra_content` is where other servers put theirs
//! (<https://ai.google.dev/gemini-api/docs/thought-signatures>). The member inside it is ours, so that
//! it is known again and kept from providers of this dialect.
//!
//! A message has one text and its calls behind it. So a thought that came later says after how much of
//! both, as Claude takes its thoughts back in their order only.

use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::wire;
use crate::canonical::{Event, Part, Placed};
use crate::object_only;

/// The most bytes of thoughts that are kept while they are streamed; a stream with more carries none.
const KEPT_BYTES_MAX: usize = 4 << 20;
/// What stands in `extra_content` that we wrote, and in nobody else's.
const MARKS: [&[u8]; 2] = [b"\"sluicegate\"", b"\"gemini#"];

/// `extra_content` of a message.
#[derive(Debug, Serialize)]
pub(super) struct ExtraContent {
    sluicegate: Carried,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Carried {
    thoughts: Vec<Thought>,
}

/// A thought as Anthropic would write it, which all that reads thoughts knows.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Thought {
    /// SDKs that put a stream together find elements by it.
    index: usize,
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    #[serde(skip_serializing_if = "After::is_nothing")]
    after: After,
}

/// After how many bytes of the text and how many calls it came.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct After {
    bytes: usize,
    calls: usize,
}

impl After {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl Thought {
    fn part(self) -> Option<Part> {
        match &*self.kind {
            "thinking" => Some(Part::Thinking {
                text: self.thinking.unwrap_or_default(),
                signature: self.signature,
            }),
            "redacted_thinking" => self.data.map(Part::SealedThinking),
            _ => None,
        }
    }
}

/// What a message has to carry, put together from an answer or the pieces of one.
#[derive(Debug, Default)]
pub(super) struct Carrier {
    thoughts: Vec<Thought>,
    /// The thought that has no seal yet. It never gets one once something else is said.
    open: String,
    after: After,
    bytes: usize,
}

impl Carrier {
    /// Takes in what is said next.
    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::Text(text) => {
                self.open.clear();
                self.after.bytes += text.len();
            }
            Event::ToolCall { .. } => {
                self.open.clear();
                self.after.calls += 1;
            }
            Event::Thinking(text) => {
                self.keep(text.len());
                self.open.push_str(text);
            }
            Event::Signature(seal) => {
                self.keep(seal.len());
                let thinking = Some(std::mem::take(&mut self.open));
                self.add(Thought {
                    kind: "thinking".to_owned(),
                    thinking,
                    signature: Some(seal.clone()),
                    ..Thought::default()
                });
            }
            Event::ThoughtEnds => self.open.clear(),
            Event::SealedThinking(data) => {
                self.open.clear();
                self.keep(data.len());
                self.add(Thought {
                    kind: "redacted_thinking".to_owned(),
                    data: Some(data.clone()),
                    ..Thought::default()
                });
            }
            _ => {}
        }
    }

    /// The same of a part of an answer.
    pub(super) fn note_part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => self.after.bytes += text.len(),
            Part::ToolCall { .. } => self.after.calls += 1,
            Part::Thinking { text, signature } => {
                self.open.clone_from(text);
                if let Some(seal) = signature.as_ref().filter(|seal| !seal.is_empty()) {
                    self.note(&Event::Signature(seal.clone()));
                }
                self.open.clear();
            }
            Part::SealedThinking(data) => self.note(&Event::SealedThinking(data.clone())),
            _ => {}
        }
    }

    /// What the message carries; `None` where nothing was sealed.
    pub(super) fn finish(self) -> Option<ExtraContent> {
        let thoughts = self.thoughts;
        let fits = !thoughts.is_empty() && self.bytes <= KEPT_BYTES_MAX;
        fits.then_some(ExtraContent {
            sluicegate: Carried { thoughts },
        })
    }

    fn add(&mut self, thought: Thought) {
        let (index, after) = (self.thoughts.len(), self.after);
        self.thoughts.push(Thought {
            index,
            after,
            ..thought
        });
    }

    fn keep(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > KEPT_BYTES_MAX {
            self.thoughts.clear();
            self.open.clear();
        }
    }
}

/// The thoughts that a message carries, each where it came.
#[derive(Debug, Default)]
pub(super) struct Thoughts(Vec<(After, Part)>);

impl Thoughts {
    /// Reads `extra_content`. What others put there is left alone.
    pub(super) fn read(extra_content: Option<&RawValue>) -> Self {
        #[derive(Deserialize)]
        struct Extra {
            sluicegate: Carried,
        }
        let extra = extra_content.and_then(|raw| object_only::from_str::<Extra>(raw.get()).ok());
        let thoughts = extra.map_or_else(Vec::new, |extra| extra.sluicegate.thoughts);
        let parts = thoughts
            .into_iter()
            .filter_map(|thought| Some((thought.after, thought.part()?)));
        Self(parts.collect())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `said`, texts before calls, with the thoughts, which stand at `place`, in their places among them.
    pub(super) fn among(self, said: Vec<Placed>, place: &str) -> Vec<Placed> {
        if self.is_empty() {
            return said;
        }
        let mut thoughts = self.0.into_iter().peekable();
        let mut parts = Vec::new();
        let mut before = After::default();
        let placed = |thought| Placed::new(thought, place);
        for Placed { part, place: at } in said {
            match part {
                Part::Text(mut text) => {
                    let piece = |text: String| {
                        let part = (!text.is_empty()).then_some(Part::Text(text));
                        let place = at.clone();
                        part.map(|part| Placed { part, place })
                    };
                    while let Some((after, thought)) = thoughts.next_if(|(after, _)| {
                        after.calls == 0 && after.bytes < before.bytes + text.len()
                    }) {
                        let split = after.bytes.saturating_sub(before.bytes);
                        let rest = text.split_off(text.floor_char_boundary(split));
                        before.bytes += text.len();
                        parts.extend(piece(text));
                        parts.push(placed(thought));
                        text = rest;
                    }
                    before.bytes += text.len();
                    parts.extend(piece(text));
                }
                Part::ToolCall { .. } => {
                    let comes = |(after, _): &(After, Part)| after.calls <= before.calls;
                    while let Some((_, thought)) = thoughts.next_if(comes) {
                        parts.push(placed(thought));
                    }
                    before.calls += 1;
                    parts.push(Placed { part, place: at });
                }
                part => parts.push(Placed { part, place: at }),
            }
        }
        parts.extend(thoughts.map(|(_, thought)| placed(thought)));
        parts
    }
}

/// Whether the JSON `raw` is an `extra_content` that we wrote: nothing in it is for a provider of this
/// dialect.
pub(in crate::openai) fn is_carried(raw: &[u8]) -> bool {
    MARKS.iter().any(|mark| memmem::find(raw, mark).is_some())
}

/// The thoughts that a client sends back where it kept what we gave it; else what it kept of their text.
pub(super) fn thoughts_of(message: &mut wire::Message) -> (Option<Part>, Thoughts) {
    let thoughts = Thoughts::read(message.extra_content.as_deref());
    let shown = message
        .reasoning_content
        .take()
        .or(message.reasoning.take());
    let shown = shown.filter(|_| thoughts.is_empty());
    let signature = None;
    (
        shown.map(|text| Part::Thinking { text, signature }),
        thoughts,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinking(text: &str, seal: &str) -> Part {
        Part::Thinking {
            text: text.to_owned(),
            signature: Some(seal.to_owned()),
        }
    }

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    fn call(id: &str) -> Part {
        Part::ToolCall {
            id: id.to_owned(),
            name: "look".to_owned(),
            arguments: "{}".to_owned(),
            signature: None,
        }
    }

    /// What comes back of `parts` where a message holds `said` of them.
    fn back(parts: &[Part], said: Vec<Part>) -> Vec<Part> {
        let mut carrier = Carrier::default();
        parts.iter().for_each(|part| carrier.note_part(part));
        let extra = carrier.finish().map(|extra| {
            let raw = serde_json::value::to_raw_value(&extra);
            raw.expect("strings and numbers have a JSON form")
        });
        let said = said.into_iter().map(|part| Placed::new(part, "content"));
        let among = Thoughts::read(extra.as_deref()).among(said.collect(), "extra_content");
        among.into_iter().map(|placed| placed.part).collect()
    }

    #[test]
    fn thoughts_come_back_where_they_came() {
        let parts = vec![
            thinking("a", "1="),
            Part::SealedThinking("openai#2=".to_owned()),
            text("grüß"),
            thinking("", "3="),
            text(" dich"),
            thinking("b", "4="),
            call("x"),
            Part::SealedThinking("5=".to_owned()),
            call("y"),
            thinking("c", "6="),
        ];
        let said = vec![text("grüß dich"), call("x"), call("y")];
        assert_eq!(back(&parts, said), parts);
        // The client has shortened the text.
        let shorter = back(&parts, vec![text("gr"), call("x"), call("y")]);
        let seals = |parts: &[Part]| -> Vec<Part> {
            let is_thought =
                |part: &&Part| matches!(part, Part::Thinking { .. } | Part::SealedThinking(_));
            parts.iter().filter(is_thought).cloned().collect()
        };
        assert_eq!(seals(&shorter), seals(&parts));
    }

    #[test]
    fn what_nobody_sealed_is_not_carried() {
        let unsealed = Part::Thinking {
            text: "hm".to_owned(),
            signature: None,
        };
        assert_eq!(back(&[unsealed, text("a")], vec![text("a")]), [text("a")]);
    }

    #[test]
    fn ours_is_known_from_others() {
        for (raw, expected) in [
            (r#"{"sluicegate":{"thoughts":[]}}"#, true),
            (
                r#"{"google":{"thought_signature":"gemini#c2VhbA=="}}"#,
                true,
            ),
            (r#"{"google":{"thought_signature":"c2VhbA=="}}"#, false),
            ("null", false),
        ] {
            assert_eq!(is_carried(raw.as_bytes()), expected, "{raw}");
        }
    }
}
