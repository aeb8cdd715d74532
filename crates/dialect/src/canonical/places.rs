//! Where a client wrote what the canonical form holds, so that what becomes of it can be told in the client's words.

use super::{Part, Role, Spot, Turn};

/// A turn as it is read: what it holds, and where each of it stands.
#[derive(Debug)]
pub(crate) struct PlacedTurn {
    pub(crate) role: Role,
    /// The message, like `messages[2]`.
    pub(crate) place: String,
    /// The member of it that says who speaks.
    pub(crate) speaker: &'static str,
    pub(crate) parts: Vec<Placed>,
}

/// A part and where it stands.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) part: Part,
    pub(crate) place: PartPlace,
}

/// Where a part stands, and what is inside of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PartPlace {
    at: String,
    inside: Vec<String>,
}

impl Placed {
    pub(crate) fn new(part: Part, at: impl Into<String>) -> Self {
        let place = PartPlace {
            at: at.into(),
            inside: Vec::new(),
        };
        Self { part, place }
    }

    /// What the call `id` brought, which stands `at`.
    pub(crate) fn result(
        id: String,
        inside: Vec<Self>,
        is_error: bool,
        at: impl Into<String>,
    ) -> Self {
        let (parts, places): (Vec<_>, Vec<_>) =
            inside.into_iter().map(|it| (it.part, it.place.at)).unzip();
        let part = Part::ToolResult {
            id,
            parts,
            is_error,
        };
        let place = PartPlace {
            at: at.into(),
            inside: places,
        };
        Self { part, place }
    }
}

/// Where the turns and the tools of a request stand.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    turns: Vec<TurnPlace>,
    tools: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct TurnPlace {
    /// The messages that it was made from, as a client may say a turn in several.
    messages: Vec<String>,
    speaker: String,
    parts: Vec<PartPlace>,
}

impl Places {
    /// Appends the turn to `turns`, and its place here.
    pub(crate) fn push(&mut self, turn: PlacedTurn, turns: &mut Vec<Turn>) {
        let (parts, places): (Vec<_>, Vec<_>) =
            turn.parts.into_iter().map(|it| (it.part, it.place)).unzip();
        self.turns.push(TurnPlace {
            speaker: format!("{}{}", turn.place, turn.speaker),
            messages: vec![turn.place],
            parts: places,
        });
        let role = turn.role;
        turns.push(Turn { role, parts });
    }

    /// Makes it one with the last of `turns`.
    pub(crate) fn push_to_last(&mut self, turn: PlacedTurn, turns: &mut [Turn]) {
        let (Some(place), Some(last)) = (self.turns.last_mut(), turns.last_mut()) else {
            return;
        };
        place.messages.push(turn.place);
        for placed in turn.parts {
            place.parts.push(placed.place);
            last.parts.push(placed.part);
        }
    }

    /// The tool that is read next stands at `place`.
    pub(crate) fn push_tool(&mut self, place: String) {
        self.tools.push(place);
    }

    /// The turn is no longer there: the messages that it was.
    pub(crate) fn without_turn(&mut self, turn: usize) -> Vec<String> {
        self.turns.remove(turn).messages
    }

    /// The part is no longer there: where it stood.
    pub(crate) fn without_part(&mut self, turn: usize, part: usize) -> String {
        self.turns[turn].parts.remove(part).at
    }

    /// What stands inside of that part is no longer there: where it stood.
    pub(crate) fn without_inside(&mut self, turn: usize, part: usize, inside: usize) -> String {
        let place = &mut self.turns[turn].parts[part];
        if inside < place.inside.len() {
            place.inside.remove(inside)
        } else {
            place.at.clone()
        }
    }

    /// Leaves out the `parts` of the turn that `keeps` does not.
    pub(crate) fn retain_parts(
        &mut self,
        turn: usize,
        parts: &mut Vec<Part>,
        mut keeps: impl FnMut(&mut Part) -> bool,
    ) {
        let mut kept = Vec::with_capacity(parts.len());
        parts.retain_mut(|part| {
            kept.push(keeps(part));
            kept.last() == Some(&true)
        });
        self.keep(turn, kept);
    }

    /// Leaves out the `parts` of the turn that `joins` has added to the part before them, which is its second argument.
    pub(crate) fn join_parts(
        &mut self,
        turn: usize,
        parts: &mut Vec<Part>,
        mut joins: impl FnMut(&mut Part, &mut Part) -> bool,
    ) {
        let mut kept = vec![true];
        parts.dedup_by(|part, before| {
            let joined = joins(part, before);
            kept.push(!joined);
            joined
        });
        self.keep(turn, kept);
    }

    /// Of the parts of the turn only those are still there.
    fn keep(&mut self, turn: usize, kept: Vec<bool>) {
        let mut kept = kept.into_iter();
        self.turns[turn].parts.retain(|_| kept.next() == Some(true));
    }

    /// The place of what stands at `spot`, empty for the request itself; `stops` is the list of texts that end an answer.
    pub(crate) fn of(&self, spot: Spot, stops: &str) -> String {
        let turn = |turn: usize| self.turns.get(turn);
        let part = |at: usize, part: usize| turn(at).and_then(|turn| turn.parts.get(part));
        let found = match spot {
            Spot::Request => None,
            Spot::Turn(at) => turn(at).map(|turn| &turn.speaker),
            Spot::Part(at, of) => part(at, of).map(|part| &part.at),
            Spot::Inside(at, of, inside) => {
                part(at, of).map(|part| part.inside.get(inside).unwrap_or(&part.at))
            }
            Spot::Tool(tool) => self.tools.get(tool),
            Spot::Stop(stop) => return format!("{stops}[{stop}]"),
        };
        found.cloned().unwrap_or_default()
    }
}
