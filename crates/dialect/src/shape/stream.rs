//! A streamed answer, made the JSON in it on its way.
//!
//! Nothing that is content passes until JSON begins: so what never becomes any can still be taken back. From then on it passes as it
//! comes; what follows its end does not. The last of it waits until the whole is known to be what was asked for.

use std::sync::Arc;

use sluicegate_catalog::ErrorClass;

use super::Misshapen;
use super::check::{Shape, TEXT_BYTES_MAX, is_checked, is_empty};
use super::scan::Scan;
use crate::UpstreamError;
use crate::canonical::Event;

/// So much of what comes before JSON is held; thoughts beyond that pass.
const HELD_BYTES_MAX: usize = 256 * 1024;

/// The events of one answer on their way.
#[derive(Debug)]
pub(crate) struct ShapedEvents {
    shape: Arc<Shape>,
    scan: Scan,
    /// Bytes of the text that have passed.
    passed: usize,
    /// What came before JSON began.
    held: Vec<Event>,
    held_bytes: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    /// JSON is awaited or passes.
    Checking,
    /// It has come whole, and is what was asked for.
    Whole,
    /// It is not what was asked for, as the end will tell.
    Wrong(Misshapen),
    /// Everything passes.
    Unchecked,
    /// The end has told it.
    Failed(Misshapen),
}

impl ShapedEvents {
    pub(crate) fn new(shape: Arc<Shape>) -> Self {
        Self {
            scan: Scan::new(shape.roots),
            shape,
            passed: 0,
            held: Vec::new(),
            held_bytes: 0,
            state: State::Checking,
        }
    }

    /// Takes the next event and appends to `out` what passes now.
    pub(crate) fn take(&mut self, event: Event, out: &mut Vec<Event>) {
        if matches!(self.state, State::Unchecked) {
            return out.push(event);
        }
        match event {
            Event::Start { .. } | Event::Ping | Event::Error(_) => out.push(event),
            Event::Text(text) => self.text(text, out),
            Event::Thinking(_)
            | Event::Logprobs(_)
            | Event::Signature(_)
            | Event::ThoughtEnds
            | Event::SealedThinking(_) => {
                self.thought(event, out);
            }
            Event::Refusal(_)
            | Event::ToolCall { .. }
            | Event::Arguments { .. }
            | Event::CallEnd { .. } => {
                self.let_go(out);
                out.push(event);
            }
            Event::End { ref finish, .. } => {
                if is_checked(finish) {
                    match self.ended(out) {
                        Some(wrong) => out.push(Event::Error(failure(&wrong))),
                        None => out.push(event),
                    }
                } else {
                    self.let_go(out);
                    out.push(event);
                }
            }
        }
    }

    /// What was wrong with it, once its end has come.
    pub(crate) const fn misshapen(&self) -> Option<&Misshapen> {
        match &self.state {
            State::Failed(wrong) => Some(wrong),
            _ => None,
        }
    }

    fn text(&mut self, text: String, out: &mut Vec<Event>) {
        let fits = self.scan.text().len() <= TEXT_BYTES_MAX;
        match self.state {
            State::Checking => {}
            // Nothing has passed: at the end all of it is looked through, wherever it was parted.
            State::Wrong(_) if self.passed == 0 && fits => return self.scan.push(&text),
            _ => return,
        }
        self.scan.push(&text);
        if self.scan.text().len() > TEXT_BYTES_MAX {
            self.wrong("the answer is too long");
            return;
        }
        // At the end it is what there is, unless more has come.
        while let (Some(begin), Some(end)) = (self.scan.begin(), self.scan.end())
            && is_empty(&self.scan.text()[begin..end])
        {
            self.scan.again_from(end);
        }
        let Some(begin) = self.scan.begin().filter(|_| !self.shape.roots.scalar) else {
            self.held.push(Event::Text(text));
            return;
        };
        if let Some(end) = self.scan.end() {
            match self.shape.problem(&self.scan.text()[begin..end]) {
                None => {
                    self.state = State::Whole;
                    self.pass(begin, end, out);
                }
                Some(problem) => self.wrong(&problem),
            }
            return;
        }
        self.pass(begin, self.scan.text().len(), out);
    }

    /// The text from `begin` to `end` may pass, and the thoughts that came before it.
    fn pass(&mut self, begin: usize, end: usize, out: &mut Vec<Event>) {
        self.release_thoughts(out);
        let text = &self.scan.text()[self.passed.max(begin)..end];
        if !text.is_empty() {
            out.push(Event::Text(text.to_owned()));
        }
        self.passed = end;
    }

    fn thought(&mut self, thought: Event, out: &mut Vec<Event>) {
        if self.passed > 0 {
            return out.push(thought);
        }
        self.held_bytes += match &thought {
            Event::Thinking(text) | Event::Signature(text) | Event::SealedThinking(text) => {
                text.len()
            }
            Event::Logprobs(logprobs) => size_of_val(logprobs.as_slice()),
            _ => 0,
        };
        self.held.push(thought);
        if self.held_bytes > HELD_BYTES_MAX {
            self.release_thoughts(out);
        }
    }

    fn release_thoughts(&mut self, out: &mut Vec<Event>) {
        self.held_bytes = 0;
        let held = std::mem::take(&mut self.held);
        for event in held {
            match event {
                Event::Text(_) if self.scan.begin().is_none() || self.shape.roots.scalar => {
                    self.held.push(event);
                }
                Event::Text(_) => {}
                thought => out.push(thought),
            }
        }
    }

    /// It is none of those that are checked: everything may pass as it came.
    fn let_go(&mut self, out: &mut Vec<Event>) {
        out.append(&mut self.held);
        if let State::Wrong(_) | State::Checking = self.state
            && let Some(begin) = self.scan.begin()
            && !self.shape.roots.scalar
        {
            let rest = &self.scan.text()[self.passed.max(begin)..];
            if !rest.is_empty() {
                out.push(Event::Text(rest.to_owned()));
            }
        }
        self.state = State::Unchecked;
    }

    /// The answer is whole: tells what is wrong with it.
    fn ended(&mut self, out: &mut Vec<Event>) -> Option<Misshapen> {
        if matches!(self.state, State::Whole) {
            return None;
        }
        let text = self.scan.text();
        let judged = match &self.state {
            State::Wrong(wrong) if self.passed > 0 => Err(wrong.clone()),
            _ if self.passed > 0 => Err(Misshapen::new("the JSON does not end", text)),
            _ => self.shape.json_in(text).map(str::to_owned),
        };
        match judged {
            Ok(json) => {
                let thoughts = std::mem::take(&mut self.held);
                out.extend(
                    thoughts
                        .into_iter()
                        .filter(|event| !matches!(event, Event::Text(_))),
                );
                out.push(Event::Text(json));
                self.state = State::Whole;
                None
            }
            Err(wrong) => {
                self.held.clear();
                self.state = State::Failed(wrong.clone());
                Some(wrong)
            }
        }
    }

    fn wrong(&mut self, problem: &str) {
        self.state = State::Wrong(Misshapen::new(problem, self.scan.text()));
    }
}

/// What the client of a stream is told.
fn failure(wrong: &Misshapen) -> UpstreamError {
    UpstreamError {
        class: ErrorClass::Server,
        status: None,
        code: "upstream_error".to_owned(),
        kind: String::new(),
        message: format!(
            "the answer is not of the form that was asked for: {}",
            wrong.problem
        ),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::canonical::{FinishReason, OutputForm};

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    fn end(finish: FinishReason) -> Event {
        Event::End {
            finish,
            usage: None,
        }
    }

    /// What has passed after each of `events`, joined; `!` where it failed.
    fn play(events: Vec<Event>) -> (Vec<String>, Option<Misshapen>) {
        let shape = Shape::of(&OutputForm::Json)
            .expect("no schema")
            .expect("a form");
        let mut shaped = ShapedEvents::new(Arc::new(shape));
        let told = events.into_iter().map(|event| {
            let mut out = Vec::new();
            shaped.take(event, &mut out);
            let told = out.iter().map(|event| match event {
                Event::Text(text) => text.as_str(),
                Event::Thinking(_) => "*",
                Event::ToolCall { .. } => "call",
                Event::End { .. } => ".",
                Event::Error(_) => "!",
                _ => "?",
            });
            told.collect::<String>()
        });
        let told = told.collect();
        (told, shaped.misshapen().cloned())
    }

    #[test]
    fn json_passes_as_it_comes_from_where_it_begins_to_where_it_ends() {
        let (told, wrong) = play(vec![
            Event::Thinking("hm".to_owned()),
            text("Sure:\n```json\n{"),
            text(" \"a\""),
            text(": [1,"),
            text("2]}\n`"),
            text("``\nDone."),
            end(FinishReason::Stop),
        ]);
        assert_eq!(told, ["", "", "*{ \"a\"", ": [1,", "2]}", "", "."]);
        assert_eq!(wrong, None);
    }

    #[test]
    fn json_among_thoughts_is_no_answer_and_json_of_nothing_only_where_there_is_no_other() {
        for parts in [
            &["<think>maybe {\"a\":0}</think>{\"a\":1}"][..],
            &["<thi", "nk>maybe {\"a\"", ":0}</thi", "nk>{\"a\":1}"],
            &["I start from {} and fill: {\"a\":1}"],
            &["I start from {", "} and fill: {", "\"a\":1}"],
        ] {
            let parts = parts.iter().map(|part| text(part));
            let (told, wrong) = play(parts.chain([end(FinishReason::Stop)]).collect());
            assert_eq!(told.concat(), "{\"a\":1}.", "{told:?}");
            assert_eq!(wrong, None);
        }
        let (told, wrong) = play(vec![text("It is {}."), end(FinishReason::Stop)]);
        assert_eq!((told.concat().as_str(), wrong), ("{}.", None));
        let (told, _) = play(vec![text("<think>{\"a\":0}"), end(FinishReason::Stop)]);
        assert_eq!(told.concat(), "{\"a\":0}.", "nothing else is left");
    }

    #[test]
    fn a_stream_without_json_fails_before_anything_of_it_passed() {
        let (told, wrong) = play(vec![
            Event::Thinking("hm".to_owned()),
            text("I cannot {do} that."),
            end(FinishReason::Stop),
        ]);
        assert_eq!(told, ["", "", "!"]);
        let wrong = wrong.expect("no JSON");
        assert_eq!(wrong.said, "I cannot {do} that.");
    }

    #[test]
    fn what_follows_a_broken_beginning_is_looked_through_wherever_it_was_parted() {
        for parts in [
            &["{\"a\":1,} but {\"a\":2}"][..],
            &["{\"a\":1,}", " but {\"a\"", ":2}"],
        ] {
            let parts = parts.iter().map(|part| text(part));
            let (told, wrong) = play(parts.chain([end(FinishReason::Stop)]).collect());
            assert_eq!(told.concat(), "{\"a\":2}.", "{told:?}");
            assert_eq!(wrong, None);
        }
    }

    #[test]
    fn a_stream_of_which_the_json_is_broken_or_unfinished_fails_once_at_its_end() {
        for broken in ["{\"a\":1,}", "{\"a\":[1}", "{\"a\":1"] {
            let (told, wrong) = play(vec![
                text(&broken[..5]),
                text(&broken[5..]),
                end(FinishReason::Stop),
            ]);
            assert_eq!(told[2], "!", "{broken}");
            assert!(wrong.is_some());
        }
        // Nothing had passed: it can be asked for again.
        let (told, _) = play(vec![text("{\"a\":1,}"), end(FinishReason::Stop)]);
        assert_eq!(told, ["", "!"]);
    }

    #[test]
    fn what_is_not_checked_passes_whole() {
        let call = Event::ToolCall {
            signature: None,
            index: 0,
            id: "1".to_owned(),
            name: "look".to_owned(),
        };
        let (told, _) = play(vec![
            text("Let me see."),
            call,
            end(FinishReason::ToolCalls),
        ]);
        assert_eq!(told, ["", "Let me see.call", "."]);
        let (told, wrong) = play(vec![text("{\"a\":1"), end(FinishReason::Length)]);
        assert_eq!(told, ["{\"a\":1", "."]);
        assert_eq!(wrong, None);
        let (told, _) = play(vec![text("In {short"), end(FinishReason::Length)]);
        assert_eq!(told, ["", "In {short."]);
    }

    proptest! {
        /// Whatever a model says in whatever pieces: what passes is JSON of the form, or the stream fails.
        #[test]
        fn what_passes_is_of_the_form(
            pieces in prop::collection::vec("[{}\\[\\]\":,a1 `\\\\]{1,4}|\\{\"a\":1\\}|```json\n", 0..12),
        ) {
            let mut events: Vec<Event> = pieces.iter().map(|piece| text(piece)).collect();
            events.push(end(FinishReason::Stop));
            let (told, wrong) = play(events);
            let told = told.concat();
            if wrong.is_none() {
                let json = told.strip_suffix('.').expect("it ended");
                let shape = Shape::of(&OutputForm::Json).expect("no schema").expect("a form");
                prop_assert_eq!(shape.json_in(json), Ok(json));
                prop_assert!(pieces.concat().contains(json));
            } else {
                prop_assert!(told.ends_with('!'));
            }
        }
    }
}
