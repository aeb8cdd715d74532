//! What a writer cannot say, and of what in the request.

use super::{Feature, Request, Role};

/// So many are told of one request.
const LOST_MAX: usize = 32;

/// Something of a request that is not in what was written, or only by what comes nearest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Lost {
    /// What it is.
    pub feature: Feature,
    /// Of what.
    pub spot: Spot,
}

impl Lost {
    /// Whether it is a part of a turn, and nothing is written of it.
    pub(crate) const fn is_whole_part(self) -> bool {
        use Feature::{Audio, Documents, Files, Images};
        let is_medium = matches!(self.feature, Images | Documents | Audio | Files);
        is_medium && matches!(self.spot, Spot::Part(..))
    }
}

/// A place in a [`Request`]: numbers count its lists from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Spot {
    /// The request itself.
    #[default]
    Request,
    /// A turn.
    Turn(usize),
    /// A part of a turn.
    Part(usize, usize),
    /// A part of a tool's result, which is a part of a turn.
    Inside(usize, usize, usize),
    /// A tool.
    Tool(usize),
    /// A text that ends the answer.
    Stop(usize),
}

/// What is lost while a request is written: whoever writes says where it stands, and then what is lost there.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    spot: Spot,
    lost: Vec<Lost>,
    unwritten: Vec<(usize, usize)>,
}

impl Losses {
    /// What it is about now.
    pub(crate) const fn spot(&self) -> Spot {
        self.spot
    }

    /// From here on it is about the request itself.
    pub(crate) const fn at_request(&mut self) {
        self.spot = Spot::Request;
    }

    /// From here on it is about that turn.
    pub(crate) const fn at_turn(&mut self, turn: usize) {
        self.spot = Spot::Turn(turn);
    }

    /// From here on it is about that part of the turn.
    pub(crate) const fn at_part(&mut self, part: usize) {
        if let Spot::Turn(turn) | Spot::Part(turn, _) | Spot::Inside(turn, _, _) = self.spot {
            self.spot = Spot::Part(turn, part);
        }
    }

    /// From here on it is about what stands inside of that part.
    pub(crate) const fn at_inside(&mut self, inside: usize) {
        if let Spot::Part(turn, part) | Spot::Inside(turn, part, _) = self.spot {
            self.spot = Spot::Inside(turn, part, inside);
        }
    }

    /// From here on it is about that tool.
    pub(crate) const fn at_tool(&mut self, tool: usize) {
        self.spot = Spot::Tool(tool);
    }

    /// It is lost, of what it is about now.
    pub(crate) fn push(&mut self, feature: Feature) {
        self.push_at(self.spot, feature);
    }

    /// It is lost, of what stands at `spot`.
    pub(crate) fn push_at(&mut self, spot: Spot, feature: Feature) {
        let lost = Lost { feature, spot };
        if let Spot::Part(turn, part) = spot
            && lost.is_whole_part()
        {
            self.unwritten.push((turn, part));
        }
        if self.lost.len() < LOST_MAX && !self.lost.contains(&lost) {
            self.lost.push(lost);
        }
    }

    /// All that are lost, of the request itself.
    pub(crate) fn extend(&mut self, features: impl IntoIterator<Item = Feature>) {
        for feature in features {
            self.push_at(Spot::Request, feature);
        }
    }

    /// The texts that end an answer from that one on.
    pub(crate) fn stops_from(&mut self, first: usize, count: usize) {
        for stop in first..count {
            self.push_at(Spot::Stop(stop), Feature::StopSequences);
        }
    }

    /// The model speaks first in `request`.
    pub(crate) fn assistant_first(&mut self, request: &Request) {
        let mut turns = request.turns.iter();
        let first = turns.position(|turn| turn.role == Role::Assistant);
        self.push_at(Spot::Turn(first.unwrap_or(0)), Feature::AssistantFirst);
    }

    /// All of it, by feature; and the parts of turns of which nothing was written, each once and in their order.
    pub(crate) fn into_lost(mut self) -> (Vec<Lost>, Vec<(usize, usize)>) {
        self.lost.sort_unstable();
        self.unwritten.sort_unstable();
        self.unwritten.dedup();
        (self.lost, self.unwritten)
    }
}
