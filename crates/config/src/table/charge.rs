//! The part of the language that describes what a provider's limits take for a request.

use super::COUNT;
use crate::shape::{Field, Kind, Object, Word};

pub(super) static CHARGE: Object = Object {
    name: "provider's charge",
    doc: "What a provider's limits take for a request.",
    fields: &[
        Field::optional(
            "default",
            Kind::Text("the name of a charge rule"),
            "The rule that accounts use unless they choose another.",
        ),
        Field::optional(
            "rules",
            Kind::Map {
                name: "charge rule",
                of: &RULE,
            },
            "Rules by name; one of a name that the other row has changes that one.",
        ),
    ],
};

static RULE: Object = Object {
    name: "charge rule",
    doc: "How a request's sizes become a charge, and its usage what is counted in the end. A new rule needs `input` and \
          `output`.",
    fields: &[
        Field::optional("input", Kind::Object(&INPUT), "How the input is measured."),
        Field::optional(
            "choice_tokens",
            NUMBER,
            "Tokens for each requested choice, on the meter `tokens`.",
        ),
        Field::optional(
            "output",
            Kind::Word(&[
                Word::now("ignored", "it does not count"),
                Word::now("at_least", "the larger of input and output maximum"),
                Word::now("added", "the maximum is added"),
                Word::now(
                    "added_expected",
                    "what answers are expected to be long is added",
                ),
            ]),
            "What the output does to the charge on the meter `tokens`.",
        ),
        Field::optional(
            "output_on_input",
            Kind::Word(&[
                Word::now("ignored", "nothing"),
                Word::now("added", "its maximum has to fit too"),
            ]),
            "What the output does to the charge on the meter `input_tokens`.",
        ),
        Field::optional(
            "output_meter",
            Kind::Word(&[
                Word::now("reserved", "the maximum, on arrival"),
                Word::now("produced", "what is produced, as it is"),
            ]),
            "What the meter `output_tokens` takes.",
        ),
        Field::optional(
            "output_default",
            NUMBER,
            "The output maximum where a request names none.",
        ),
        Field::optional(
            "times_best_of",
            Kind::Word(&[Word::now("yes", "it does"), Word::now("no", "it does not")]),
            "Whether `best_of` multiplies the whole.",
        ),
        Field::optional(
            "slots",
            Kind::Word(&[
                Word::now("one", "one"),
                Word::now("each_sequence", "one for each sequence that is generated"),
            ]),
            "What a request takes of what may be in flight.",
        ),
        Field::optional(
            "output_weight_reserved",
            Kind::Weight,
            "What an output token weighs when it is reserved, on the meter `tokens`.",
        ),
        Field::optional(
            "output_weight_settled",
            Kind::Weight,
            "What an output token weighs in the end, on the meter `tokens`.",
        ),
        Field::optional(
            "cached_weight",
            Kind::Weight,
            "What an input token weighs in the end that was read from a cache.",
        ),
        Field::optional(
            "cache_write_weight",
            Kind::Weight,
            "What an input token weighs in the end that was written to a cache.",
        ),
        Field::optional(
            "cut_stream",
            Kind::Word(&[
                Word::now("observed", "the input, and as much output as came"),
                Word::now("release_output", "the input"),
            ]),
            "What stays charged where a stream was cut.",
        ),
        Field::optional(
            "models",
            Kind::List(&Kind::Object(&TERMS)),
            "What differs for some models; the first that fits decides.",
        ),
    ],
};

static INPUT: Object = Object {
    name: "input",
    doc: "How a charge rule measures the input.",
    fields: &[
        Field::required(
            "by",
            Kind::Word(&[
                Word::now("bytes", "from its size"),
                Word::now("tokens", "by the model's tokenizer, as far as we can tell"),
            ]),
            "From what.",
        ),
        Field::optional(
            "bytes_per_token",
            COUNT,
            "Bytes of text that count as one token; needed with `bytes`.",
        ),
        Field::optional(
            "message_tokens",
            NUMBER,
            "Tokens for each message, with `bytes`.",
        ),
        Field::defaulted("image_tokens", NUMBER, "0", "Tokens for one image."),
    ],
};

static TERMS: Object = Object {
    name: "terms of models",
    doc: "What a charge rule says of some models only.",
    fields: &[
        Field::required(
            "names",
            Kind::List(&Kind::Text("a model's name")),
            "The models, with `*` for any part of a name.",
        ),
        Field::optional(
            "output_max",
            COUNT,
            "The largest output, taken where a request names no maximum.",
        ),
        Field::optional(
            "output_weight_reserved",
            Kind::Weight,
            "What an output token weighs when it is reserved.",
        ),
        Field::optional(
            "output_weight_settled",
            Kind::Weight,
            "What an output token weighs in the end.",
        ),
        Field::optional(
            "cached_weight",
            Kind::Weight,
            "What an input token weighs in the end that was read from a cache.",
        ),
    ],
};

const NUMBER: Kind = Kind::Number { max: 1 << 32 };
