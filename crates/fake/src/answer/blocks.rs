//! The order of a stream in which one part of an answer ends before the next begins: all dialects but chat completions.

use super::{Completion, Step};
use crate::answer::said::Part;

/// The steps for which the dialect `has` an event.
pub(super) fn steps(said: &Completion, has: impl Fn(Step) -> bool) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, choice) in said.choices.iter().enumerate() {
        steps.extend([Step::Begin(index), Step::Ping]);
        for (at, part) in choice.parts.iter().enumerate() {
            steps.extend([Step::Open(index, at), Step::OpenInner(index, at)]);
            steps.extend((0..part.pieces().len()).map(|n| Step::Piece(index, at, n)));
            if matches!(part, Part::Thought(_)) {
                steps.push(Step::Sign(index, at));
            }
            steps.extend([
                Step::Say(index, at),
                Step::CloseInner(index, at),
                Step::Close(index, at),
            ]);
        }
        steps.push(Step::Finish(index));
    }
    steps.push(Step::End);
    steps.retain(|step| has(*step));
    steps
}
