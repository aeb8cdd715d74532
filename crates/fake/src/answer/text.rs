//! Text that depends on nothing but a seed: words, Korean words, emoji, and JSON after a schema, in pieces of a token each.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::value::value_for;
use crate::ask::Prompt;
use crate::random::Random;

const WORDS: [&str; 48] = [
    "water", "gate", "river", "level", "slow", "opens", "before", "the", "flood", "arrives", "and",
    "each", "boat", "waits", "its", "turn", "while", "keepers", "count", "what", "passes", "below",
    "morning", "light", "stone", "bridge", "north", "quiet", "engine", "lock", "rises", "again",
    "a", "small", "valley", "holds", "more", "than", "it", "shows", "until", "rain", "returns",
    "to", "fill", "every", "channel", "evenly",
];
const KOREAN: [&str; 24] = [
    "물이",
    "천천히",
    "흐르고",
    "수문은",
    "아침에",
    "열린다",
    "배들은",
    "차례를",
    "기다리며",
    "강가에",
    "머문다",
    "돌다리",
    "아래로",
    "빛이",
    "내려오고",
    "비가",
    "오면",
    "다시",
    "차오른다",
    "작은",
    "마을은",
    "조용히",
    "숨을",
    "고른다",
];
const EMOJI: [&str; 8] = ["🌊", "🚤", "⛵", "🌧️", "👩‍🔧", "🇰🇷", "👍🏽", "🐟"];

/// A token's text.
pub(crate) type Piece = Cow<'static, str>;

/// `count` pieces of prose in the languages of `prompt`.
pub(crate) fn prose(random: &mut Random, prompt: Prompt, count: usize) -> Vec<Piece> {
    let pieces = (0..count).map(|index| {
        let word = if prompt.emoji && index % 5 == 4 {
            pick(random, &EMOJI)
        } else if prompt.hangul && index % 8 != 7 {
            pick(random, &KOREAN)
        } else {
            pick(random, &WORDS)
        };
        if index == 0 {
            Cow::Borrowed(word)
        } else {
            Cow::Owned(format!(" {word}"))
        }
    });
    pieces.collect()
}

/// JSON text in pieces: after `schema`, or an object with an `answer` of `count` words.
pub(crate) fn json(
    random: &mut Random,
    prompt: Prompt,
    schema: Option<&Value>,
    count: usize,
) -> Vec<Piece> {
    let value = match schema {
        Some(schema) => value_for(random, schema),
        None => {
            let words = prose(random, prompt, count.max(1));
            Value::Object(Map::from_iter([(
                "answer".to_owned(),
                Value::String(words.concat()),
            )]))
        }
    };
    fragments(&value.to_string())
}

/// Arguments for a function with these `parameters`, as JSON text in pieces.
pub(crate) fn arguments(random: &mut Random, parameters: &Value) -> Vec<Piece> {
    let parameters = if parameters.is_object() {
        parameters
    } else {
        &Value::Null
    };
    let value = match value_for(random, parameters) {
        value @ Value::Object(_) => value,
        _ => Value::Object(Map::new()),
    };
    fragments(&value.to_string())
}

/// `text` in pieces of five characters, about a token of JSON each.
pub(super) fn fragments(text: &str) -> Vec<Piece> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(5)
        .map(|piece| Cow::Owned(piece.iter().collect()))
        .collect()
}

fn pick(random: &mut Random, from: &'static [&'static str]) -> &'static str {
    from[random.below(from.len())]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_seed_says_the_same_in_the_languages_of_the_prompt() {
        let prompt = Prompt {
            hangul: true,
            emoji: true,
            ..Prompt::default()
        };
        let one = prose(&mut Random::new(7), prompt, 20);
        assert_eq!(one, prose(&mut Random::new(7), prompt, 20));
        assert_ne!(one, prose(&mut Random::new(8), prompt, 20));
        assert_eq!(one.len(), 20);
        let text = one.concat();
        assert!(text.contains(|c| matches!(c, '가'..='힣')));
        assert!(EMOJI.iter().any(|emoji| text.contains(emoji)));
        assert!(
            prose(&mut Random::new(7), Prompt::default(), 20)
                .concat()
                .is_ascii()
        );
    }

    #[test]
    fn arguments_fit_their_schema() {
        let parameters = json!({"type": "object", "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"},
            "unit": {"enum": ["C"]}, "tags": {"type": "array", "items": {"type": "boolean"}},
        }});
        let text = arguments(&mut Random::new(1), &parameters).concat();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value["city"].is_string() && value["days"].is_u64());
        assert_eq!(value["unit"], "C");
        assert!(value["tags"][0].is_boolean());
        assert_eq!(arguments(&mut Random::new(1), &Value::Null).concat(), "{}");
    }
}
