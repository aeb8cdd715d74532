//! The part of the language that says what a request heeds that is translated for a provider: the catalog's own keys.

use super::COUNT;
use crate::shape::{Field, Kind, Object, Word};

pub(super) static TRANSLATION: Object = Object {
    name: "translation",
    doc: "What a request heeds that is translated into a provider's dialect. What is left out is as in the row that this one is like; \
          in one that is like no other, no model follows schemas or is told to think. A name of a model may have a `*` at its \
          beginning, at its end, or at both.",
    fields: &[
        Field::optional(
            "output_default",
            COUNT,
            "The output maximum where a request names none and the dialect wants one, in tokens. Without it: 4,096.",
        ),
        Field::optional(
            "cap",
            Kind::Word(&[
                Word::now("max_tokens", "what all servers know"),
                Word::now("max_completion_tokens", "what OpenAI's newer models want"),
            ]),
            "Under which name OpenAI's dialect takes the output maximum here.",
        ),
        Field::optional(
            "schema",
            MODELS,
            "Which of its models follow a JSON Schema by themselves; others are asked in words.",
        ),
        Field::optional(
            "thinking",
            Kind::OneOf(&[
                Kind::Word(&[Word::now("none", "no model is told")]),
                Kind::List(&Kind::Object(&THINKING)),
            ]),
            "How models are told to think; the first entry that names a model counts, one that none names is not told, and all of it \
             replaces what the other row has.",
        ),
        Field::optional(
            "always_thinks",
            MODELS,
            "Models that cannot be told not to think.",
        ),
        Field::optional(
            "fixed_sampling",
            MODELS,
            "Models that choose their tokens by themselves and refuse a temperature or another word on it.",
        ),
        Field::optional(
            "unthinking_sampling",
            MODELS,
            "Models that take a temperature, `top_p` and probabilities of tokens over OpenAI's dialects only where they do not think.",
        ),
        Field::optional(
            "thinks_unasked",
            MODELS,
            "Of those, models that think where nothing is said of it.",
        ),
        Field::optional(
            "one_sampler",
            MODELS,
            "Models that take a temperature or `top_p`, and refuse both at once: of two the temperature is sent.",
        ),
        Field::optional(
            "unthinking_tools",
            MODELS,
            "Models that take tools over OpenAI's chat completions only where they are told not to think: with tools they are.",
        ),
        Field::optional(
            "tool_name_max",
            COUNT,
            "The longest name of a tool, in bytes, where longer ones and those of other characters than the dialect's are known to be \
             refused: a translated request with one is then refused, also by a `lossy` route. Without it what is longer than 64 is told, and a \
             `lossy` route sends it.",
        ),
    ],
};

/// All, none, or some.
const MODELS: Kind = Kind::OneOf(&[Kind::Flag, Kind::List(&Kind::Text("a model's name"))]);

static THINKING: Object = Object {
    name: "thinking",
    doc: "How some models are told to think.",
    fields: &[
        Field::required(
            "models",
            Kind::List(&Kind::Text("a model's name")),
            "Which.",
        ),
        Field::required(
            "by",
            Kind::Word(&[
                Word::now("effort", "a word like `low`"),
                Word::now("budget", "a number of tokens"),
            ]),
            "By what.",
        ),
        Field::optional(
            "efforts",
            Kind::List(&Kind::Word(&[
                Word::now("minimal", "the least"),
                Word::now("low", "what almost all know"),
                Word::now("medium", "what almost all know"),
                Word::now("high", "what almost all know"),
                Word::now("xhigh", "more than high"),
                Word::now("max", "the most"),
            ])),
            "The efforts that they know: another becomes the next lower one. Without it: `low` to `high` in OpenAI's dialect, `low` to `max` in \
             Claude's.",
        ),
    ],
};
