//! What the texts of a streamed answer are made of, wherever its pieces break.
//!
//! A tally of pieces as if each were a text would count a word anew in each of them, and so make more of an answer that comes letter by
//! letter. So the last byte of every text that may go on is kept.

use crate::canonical::Event;
use crate::{TextTally, text_tokens};

/// As many calls are followed; the pieces of more are texts of their own.
const CALLS_MAX: usize = 1_024;

/// Counts of the output that came so far.
#[derive(Debug, Default)]
pub(crate) struct OutputTally {
    tally: TextTally,
    last: Last,
    /// The last byte of the arguments of each call, as those of several may come in turns; 0 where none came.
    arguments: Vec<u8>,
}

/// The text that was told last and may go on, with its last byte.
#[derive(Clone, Copy, Debug, Default)]
enum Last {
    #[default]
    None,
    Text(u8),
    Thinking(u8),
    Refusal(u8),
}

impl OutputTally {
    /// Adds the output that `event` carries, in constant time but for its text.
    pub(crate) fn add(&mut self, event: &Event) {
        match (event, self.last) {
            (Event::Text(text), last) => {
                let before = if let Last::Text(byte) = last { byte } else { 0 };
                self.last = Last::Text(self.tally.add_behind(before, text.as_bytes()));
            }
            (Event::Thinking(text), last) => {
                let before = if let Last::Thinking(byte) = last {
                    byte
                } else {
                    0
                };
                self.last = Last::Thinking(self.tally.add_behind(before, text.as_bytes()));
            }
            (Event::Refusal(text), last) => {
                let before = if let Last::Refusal(byte) = last {
                    byte
                } else {
                    0
                };
                self.last = Last::Refusal(self.tally.add_behind(before, text.as_bytes()));
            }
            (Event::ToolCall { name, .. }, _) => {
                self.last = Last::None;
                self.tally.add(name.as_bytes());
            }
            (Event::Arguments { index, text }, _) => {
                self.last = Last::None;
                self.add_arguments(*index, text);
            }
            (Event::Signature(_) | Event::ThoughtEnds | Event::SealedThinking(_), _) => {
                self.last = Last::None;
            }
            (
                Event::Start { .. }
                | Event::Ping
                | Event::Logprobs(_)
                | Event::CallEnd { .. }
                | Event::End { .. }
                | Event::Error(_),
                _,
            ) => {}
        }
    }

    /// What it is expected to be in tokens.
    pub(crate) fn tokens(&self) -> u64 {
        text_tokens(&self.tally)
    }

    fn add_arguments(&mut self, index: u32, text: &str) {
        let index = index as usize;
        if index < CALLS_MAX && self.arguments.len() <= index {
            self.arguments.resize(index + 1, 0);
        }
        match self.arguments.get_mut(index) {
            Some(last) => *last = self.tally.add_behind(*last, text.as_bytes()),
            None => self.tally.add(text.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{Answer, FinishReason, Part};
    use proptest::prelude::*;

    /// A text, cut behind so many characters of each piece.
    fn cut(text: &str, sizes: &[usize]) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let size = sizes.next().map_or(1, |size| *size);
            let end = rest
                .char_indices()
                .nth(size)
                .map_or(rest.len(), |(at, _)| at);
            let (piece, later) = rest.split_at(end);
            pieces.push(piece.to_owned());
            rest = later;
        }
        pieces
    }

    fn tokens(events: impl IntoIterator<Item = Event>) -> u64 {
        let mut tally = OutputTally::default();
        for event in events {
            tally.add(&event);
        }
        tally.tokens()
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_count(
            texts in prop::collection::vec("[a-zA-Z0-9 .,\\n{}\"é한글漢😀]{0,80}", 5),
            sizes in prop::collection::vec(1_usize..9, 1..5),
        ) {
            let call = |name: &str, arguments: &str| Part::ToolCall {
                id: "c".to_owned(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                signature: None,
            };
            let mut answer = Answer {
                id: String::new(),
                model: String::new(),
                parts: vec![
                    Part::Thinking { text: texts[0].clone(), signature: None },
                    Part::Text(texts[1].clone()),
                    call("look", &texts[2]),
                    call("see", &texts[3]),
                    Part::Refusal(texts[4].clone()),
                ],
                logprobs: Vec::new(),
                finish: FinishReason::Stop,
                usage: None,
            };
            let whole = answer.clone().into_events();
            prop_assert!(answer.estimate_usage(0));
            let expected = answer.usage.expect("it is filled in").output_tokens;
            prop_assert_eq!(tokens(whole), expected);

            let pieces = |text: &str, event: fn(String) -> Event| cut(text, &sizes).into_iter().map(event).collect::<Vec<_>>();
            let call = |index, name: &str| Event::ToolCall { index, id: "c".to_owned(), name: name.to_owned(), signature: None };
            let mut events = pieces(&texts[0], Event::Thinking);
            events.extend(pieces(&texts[1], Event::Text));
            events.extend([call(0, "look"), call(1, "see")]);
            let mut first = cut(&texts[2], &sizes).into_iter();
            let mut second = cut(&texts[3], &sizes).into_iter();
            loop {
                let turn = [(0, first.next()), (1, second.next())];
                let told = turn.map(|(index, text)| text.map(|text| Event::Arguments { index, text }));
                let before = events.len();
                events.extend(told.into_iter().flatten());
                if events.len() == before {
                    break;
                }
            }
            events.push(Event::Ping);
            events.extend(pieces(&texts[4], Event::Refusal));
            prop_assert_eq!(tokens(events), expected);
        }
    }

    #[test]
    fn a_text_behind_another_is_its_own() {
        let text = |text: &str| Event::Text(text.to_owned());
        let call = Event::ToolCall {
            index: 0,
            id: "c".to_owned(),
            name: String::new(),
            signature: None,
        };
        let words = |events: Vec<Event>| {
            let mut tally = OutputTally::default();
            for event in &events {
                tally.add(event);
            }
            tally.tally.words
        };
        assert_eq!(words(vec![text("ab"), text(""), text("cd")]), 1);
        assert_eq!(words(vec![text("ab"), call, text("cd")]), 2);
        assert_eq!(words(vec![text("ab"), Event::Thinking("cd".to_owned())]), 2);
    }
}
