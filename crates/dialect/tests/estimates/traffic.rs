//! Requests of all kinds as one vocabulary counts them: some to learn from, others to be judged by.

use bytes::Bytes;
use serde_json::json;
use sluicegate_catalog::provider;
use sluicegate_core::Meter;
use sluicegate_dialect::openai::Envelope;
use sluicegate_dialect::{Calibration, Parts, RequestFacts, charge};
use tiktoken_rs::CoreBPE;

use super::judged::{Errors, Judged};
use super::samples::{Dice, Kind, Part};

const LEARNED_OF_EACH: usize = 200;
const JUDGED_OF_EACH: usize = 150;

/// A real vocabulary.
#[derive(Clone, Copy)]
pub(crate) enum Vocabulary {
    /// The one that the weights were fitted to.
    O200k,
    Cl100k,
    /// An older one, for which Korean and Japanese are three bytes a character.
    P50k,
}

impl Vocabulary {
    pub(crate) const ALL: [Self; 3] = [Self::O200k, Self::Cl100k, Self::P50k];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
            Self::P50k => "p50k",
        }
    }

    fn tokenizer(self) -> &'static CoreBPE {
        match self {
            Self::O200k => tiktoken_rs::o200k_base_singleton(),
            Self::Cl100k => tiktoken_rs::cl100k_base_singleton(),
            Self::P50k => tiktoken_rs::p50k_base_singleton(),
        }
    }
}

struct Request {
    kind: Kind,
    facts: RequestFacts,
    /// Its input as the provider of such a model would count it.
    actual: u64,
}

pub(crate) struct Traffic {
    learned: Vec<Request>,
    judged: Vec<Request>,
}

impl Traffic {
    pub(crate) fn draw(vocabulary: Vocabulary) -> Self {
        let requests = |part, each: usize, seed| {
            let mut dice = Dice(seed);
            let kinds = (0..each).flat_map(|_| Kind::ALL);
            kinds
                .map(|kind| request(kind, &kind.draw(part, &mut dice), vocabulary))
                .collect()
        };
        Self {
            learned: requests(Part::Learned, LEARNED_OF_EACH, 1),
            judged: requests(Part::HeldOut, JUDGED_OF_EACH, 2),
        }
    }

    /// What a model has learned that got the requests of these kinds.
    pub(crate) fn learned(&self, gets: impl Fn(Kind) -> bool) -> Calibration {
        let mut calibration = Calibration::default();
        for request in self.learned.iter().filter(|request| gets(request.kind)) {
            calibration.learn(&Parts::of(&request.facts, None), request.actual);
        }
        calibration
    }

    pub(crate) fn judge(&self, kind: Kind, calibration: &Calibration) -> Errors {
        let judged: Vec<_> = self
            .judged
            .iter()
            .filter(|request| request.kind == kind)
            .map(|request| judge(request, calibration))
            .collect();
        Errors::of(&judged)
    }

    /// The size of half of the requests of this kind.
    pub(crate) fn usual_tokens(&self, kind: Kind) -> u64 {
        let requests = self.judged.iter().filter(|request| request.kind == kind);
        let mut tokens: Vec<_> = requests.map(|request| request.actual).collect();
        tokens.sort_unstable();
        tokens[tokens.len() / 2]
    }
}

/// A system prompt of the same kind of text would hide the kinds from each other: there is none.
fn request(kind: Kind, text: &str, vocabulary: Vocabulary) -> Request {
    let tokenizer = vocabulary.tokenizer();
    let count = |text: &str| tokenizer.count_ordinary(text) as u64;
    // As OpenAI's cookbook counts: the role, the content and three a message, and three for the answer.
    let actual = count("user") + count(text) + 3 + 3;
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": text }] });
    let envelope = Envelope::decode(&Bytes::from(body.to_string())).expect("a request");
    Request {
        kind,
        facts: envelope.facts,
        actual,
    }
}

/// Charges are those of a provider that counts tokens; what one that counts bytes takes follows from its rule alone.
fn judge(request: &Request, calibration: &Calibration) -> Judged {
    let rule = provider("anthropic").expect("a row").charge.default_rule();
    let charged =
        |tokens| charge(rule, "m", &request.facts, tokens, None, None).of(Meter::InputTokens);
    let expected = calibration.expected(&Parts::of(&request.facts, None));
    Judged {
        expected,
        actual: request.actual,
        charged: charged(expected.central),
        held: charged(expected.upper),
        charge: charged(request.actual),
    }
}
