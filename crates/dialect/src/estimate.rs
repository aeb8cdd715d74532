//! The two estimates of a request, which are never mixed.
//!
//! [`charge`] is what the provider's rule will take, by its own formula however crude: it must be
//! as wrong as the provider is. [`tokens`] is the input that the model will really read: it should
//! be right, for any script, since output budgets, context lengths and spend follow from it.
//! Weights are whole 1,024ths of a token, so that two runs agree to the last digit. They are one
//! vocabulary's; what another one's tokens are worth, [`Calibration`](crate::Calibration) learns
//! part by part.

use sluicegate_catalog::{ChargeRule, ImageFormula, RequestSize};
use sluicegate_core::Amounts;

use crate::{RequestFacts, TextTally};

/// What `rule` takes for the request to `model`, which is the provider's name for it: one request in flight and its tokens. A rule
/// that counts tokens takes `text_tokens` for all but the images, and for those what the formula `images` makes of their sizes,
/// where it is known. One answer is expected to be `output_expected` tokens long, where that was learned.
pub fn charge(
    rule: &ChargeRule,
    model: &str,
    facts: &RequestFacts,
    text_tokens: u64,
    images: Option<ImageFormula>,
    output_expected: Option<u64>,
) -> Amounts {
    let size = RequestSize {
        text_bytes: (facts.text.bytes)
            .saturating_add(facts.ready_tokens.saturating_mul(READY_TOKEN_BYTES)),
        text_tokens,
        messages: facts.messages,
        images: facts.images,
        image_tokens: images.map(|formula| facts.image_tokens.by(formula)),
        choices: facts.choices,
        best_of: facts.best_of,
        output_cap: facts.output_cap,
        output_expected,
    };
    rule.hold(&size, model)
}

/// The input tokens that the request is expected to use, before anything was learned of the model.
/// Sound and files are left out, as nothing here tells their length.
///
/// ```
/// use sluicegate_dialect::{openai::Envelope, tokens};
/// let body = r#"{"model":"gpt-5.5","messages":[{"role":"user","content":"Hello, how are you?"}]}"#.into();
/// assert_eq!(tokens(&Envelope::decode(&body)?.facts), 13);
/// # Ok::<(), sluicegate_dialect::RequestError>(())
/// ```
pub fn tokens(facts: &RequestFacts) -> u64 {
    Parts::of(facts, None).tokens()
}

/// The tokens that text alone is expected to make.
pub fn text_tokens(text: &TextTally) -> u64 {
    Parts::of_text(text).tokens()
}

/// The expected tokens of a request, apart by what they are tokens of, in 1,024ths.
///
/// The parts are those whose price differs between vocabularies: one writes a syllable of Korean as one token and another as
/// three, while both agree on English.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parts(pub(crate) [u64; PARTS]);

/// How many parts there are.
pub(crate) const PARTS: usize = 13;
/// Tools and the form of the answer.
const DEFINITIONS: usize = 9;
/// What stands between messages and before the answer.
const FRAME: usize = 10;
const IMAGES: usize = 11;
/// What came as tokens.
const READY: usize = 12;

impl Parts {
    /// Those of a request to where images count by that formula, if one is known.
    pub fn of(facts: &RequestFacts, images: Option<ImageFormula>) -> Self {
        let mut parts = Self::of_text(&facts.text);
        let definitions = facts.tools_bytes.saturating_add(facts.form_bytes);
        let frame = framing_tokens(facts.messages);
        parts.0[DEFINITIONS] = definitions.saturating_mul(DEFINITION_BYTE);
        parts.0[FRAME] = frame.saturating_mul(TOKEN);
        parts.0[READY] = facts.ready_tokens.saturating_mul(TOKEN);
        let images = images.map_or(facts.images.saturating_mul(IMAGE_TOKENS), |formula| {
            facts.image_tokens.by(formula)
        });
        parts.0[IMAGES] = images.saturating_mul(TOKEN);
        parts
    }

    /// Those of a text alone.
    pub fn of_text(text: &TextTally) -> Self {
        let mut parts = Self::default();
        for (part, count, weight) in text_terms(text) {
            let sum = &mut parts.0[part];
            *sum = sum.saturating_add(count.saturating_mul(weight));
        }
        parts
    }

    /// The same without images, which some rules charge by a number of their own.
    #[must_use]
    pub fn without_images(mut self) -> Self {
        self.0[IMAGES] = 0;
        self
    }

    /// All of them, in tokens.
    pub fn tokens(&self) -> u64 {
        let sum = self.0.iter().copied().fold(0, u64::saturating_add);
        sum.div_ceil(TOKEN)
    }
}

/// What stands around messages; nothing around texts that are no conversation.
const fn framing_tokens(messages: u64) -> u64 {
    if messages == 0 {
        return 0;
    }
    messages
        .saturating_mul(MESSAGE_TOKENS)
        .saturating_add(ANSWER_TOKENS)
}

/// One token, in the unit of the weights.
pub(crate) const TOKEN: u64 = 1_024;
/// What separates one message from the next, its role apart.
const MESSAGE_TOKENS: u64 = 3;
/// The bytes that a token stands for, where a rule takes bytes for tokens.
const READY_TOKEN_BYTES: u64 = 4;
/// What begins the answer.
const ANSWER_TOKENS: u64 = 3;
/// One image of usual size, as charges in recorded answers show it.
const IMAGE_TOKENS: u64 = 765;
/// A byte of a tool's JSON: the model reads it in a shorter form.
const DEFINITION_BYTE: u64 = 180;

/// The part that each count belongs to, the count, and its weight: fitted to the `o200k` vocabulary on prose, dialogue, code and
/// JSON.
const fn text_terms(text: &TextTally) -> [(usize, u64, u64); 14] {
    [
        (0, text.letters, 14),
        (0, text.words, 953),
        (1, text.digits, 315),
        (1, text.numbers, 725),
        (2, text.marks, 80),
        (2, text.mark_runs, 779),
        (3, text.lines, 1_035),
        (4, text.two_byte, 614),
        (5, text.kana, 842),
        (6, text.ideographs, 797),
        (7, text.hangul, 710),
        (8, text.three_byte, 1_024),
        (8, text.four_byte, 2_048),
        (8, text.wide_runs, 236),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai::Envelope;
    use bytes::Bytes;
    use sluicegate_catalog::provider;
    use sluicegate_core::Meter;

    const SAMPLES: [(&str, &str); 7] = [
        ("English", include_str!("../fixtures/text/english.txt")),
        ("Korean", include_str!("../fixtures/text/korean.txt")),
        ("Japanese", include_str!("../fixtures/text/japanese.txt")),
        ("code", include_str!("../fixtures/text/code.txt")),
        ("JSON", include_str!("../fixtures/text/data.json")),
        ("dense JSON", include_str!("../fixtures/text/data.min.json")),
        ("dialogue", include_str!("../fixtures/text/dialogue.txt")),
    ];

    /// How far the estimate is from the tokenizer, in thousandths of what it says.
    fn error_permille(text: &str) -> i64 {
        let mut tally = TextTally::default();
        tally.add(text.as_bytes());
        let signed = |tokens: u64| i64::try_from(tokens).expect("a small number");
        let real = signed(tiktoken_rs::o200k_base_singleton().count_ordinary(text) as u64);
        (signed(text_tokens(&tally)) - real) * 1_000 / real
    }

    #[test]
    fn estimates_are_within_a_tenth_of_the_tokenizer() {
        for (name, text) in SAMPLES {
            let error = error_permille(text);
            assert!(error.abs() <= 100, "{name}: {error} ‰");
        }
    }

    #[test]
    fn paragraphs_are_near_too() {
        for (name, text) in SAMPLES {
            let paragraphs = text.split("\n\n").filter(|paragraph| paragraph.len() > 150);
            let mut errors: Vec<_> = paragraphs
                .map(|paragraph| error_permille(paragraph).abs())
                .collect();
            errors.sort_unstable();
            let median = errors[errors.len() / 2];
            assert!(median <= 100, "{name}: median {median} ‰ of {errors:?}");
            assert!(
                errors.last().is_some_and(|worst| *worst <= 200),
                "{name}: {errors:?}"
            );
        }
    }

    fn facts(members: &str) -> RequestFacts {
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"안녕하세요"}}]{members}}}"#
        );
        Envelope::decode(&Bytes::from(body))
            .expect("a request")
            .facts
    }

    #[test]
    fn the_charge_goes_by_bytes_and_the_rest_by_script() {
        let facts = facts(r#","max_tokens":100"#);
        let openai = provider("openai").expect("a row");
        let observed = openai.charge.rule("observed").expect("a rule");
        // 4 bytes of the role and 15 of the text: 19 / 4 = 4.75, rounded up, and one choice.
        assert_eq!(
            charge(observed, "m", &facts, 11, None, None).of(Meter::Tokens),
            6
        );
        let taken = charge(openai.charge.default_rule(), "m", &facts, 11, None, None);
        assert_eq!(
            (taken.of(Meter::Tokens), taken.of(Meter::Requests)),
            (100, 1)
        );
        // user: 4 * 14 + 953, five syllables in a run: 5 * 710 + 236; 4,795 / 1,024 = 4.7, and 3 +
        // 3.
        assert_eq!(tokens(&facts), 5 + 3 + 3);
    }

    #[test]
    fn output_that_is_counted_as_produced_is_charged_as_expected() {
        let facts = facts(r#","max_tokens":100"#);
        let rule = provider("anthropic").expect("a row").charge.default_rule();
        let output =
            |expected| charge(rule, "m", &facts, 11, None, expected).of(Meter::OutputTokens);
        assert_eq!(output(None), 100);
        assert_eq!(output(Some(40)), 40);
        // Never above the request's own maximum.
        assert_eq!(output(Some(4_000)), 100);
    }

    #[test]
    fn definitions_are_read_but_not_charged() {
        let (plain, with_tools) = (
            facts(""),
            facts(&format!(r#","tools":["{}"]"#, "x".repeat(1_020))),
        );
        let rule = provider("openai").expect("a row").charge.default_rule();
        assert_eq!(
            charge(rule, "m", &plain, tokens(&plain), None, None),
            charge(rule, "m", &with_tools, tokens(&with_tools), None, None)
        );
        // 4,795 and 1,024 * 180 in 1,024ths: 184.7.
        assert_eq!(tokens(&with_tools), 185 + 3 + 3);
    }

    #[test]
    fn images_count_by_their_providers_formula_where_it_is_known() {
        let body = r#"{"model":"m","messages":[{"role":"user","content":[
            {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAACCAYAAACZgbYn"}},
            {"type":"image_url","image_url":{"detail":"low","url":"https://a.example/b.png"}}]}]}"#;
        let facts = Envelope::decode(&Bytes::from(body))
            .expect("a request")
            .facts;
        assert_eq!((facts.images, facts.image_tokens.tiles), (2, 255 + 85));
        let rule = provider("anthropic").expect("a row").charge.default_rule();
        let input = |images| charge(rule, "m", &facts, 10, images, None).of(Meter::InputTokens);
        assert_eq!(input(None), 10 + 2 * 1_600);
        assert_eq!(input(Some(ImageFormula::Area)), 10 + 1 + 1_600);
        let images = |formula| {
            let parts = Parts::of(&facts, formula);
            parts.tokens() - parts.without_images().tokens()
        };
        assert_eq!(images(None), 2 * 765);
        assert_eq!(images(Some(ImageFormula::Crops)), 2 * 258);
    }
}
