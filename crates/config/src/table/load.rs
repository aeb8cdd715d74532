//! The part of the language that says when there is how much load, and what then changes.

use super::{DAY, MILLI, between};
use crate::shape::{Field, Kind, Object, Word};

pub(super) static LOAD: Object = Object {
    name: "load",
    doc: "The levels of load above normal. Of those that are reached the highest counts, alone: it does not take over what a lower \
          one changes. Answers name it in `x-sluicegate-load`.",
    fields: &[
        Field::section("mild", Kind::Object(&MILD), "The first sign."),
        Field::section("moderate", Kind::Object(&MODERATE), "Queues form."),
        Field::section("high", Kind::Object(&HIGH), "There is not enough for all."),
        Field::section("critical", Kind::Object(&CRITICAL), "Little gets through."),
    ],
};

static MILD: Object = Object {
    name: "load mild",
    doc: "When load is mild, and what that changes.",
    fields: &level_fields(
        ["40%", "never", "false"],
        ["100%", "false", "false", "false"],
    ),
};

static MODERATE: Object = Object {
    name: "load moderate",
    doc: "When load is moderate, and what that changes.",
    fields: &level_fields(["25%", "1s", "false"], ["100%", "false", "false", "false"]),
};

static HIGH: Object = Object {
    name: "load high",
    doc: "When load is high, and what that changes.",
    fields: &level_fields(["10%", "10s", "true"], ["100%", "true", "true", "false"]),
};

static CRITICAL: Object = Object {
    name: "load critical",
    doc: "When load is critical, and what that changes.",
    fields: &level_fields(["2%", "60s", "false"], ["50%", "true", "true", "true"]),
};

/// The keys of one level, with the defaults of its rule and of its effects in their order.
const fn level_fields(rule: [&'static str; 3], effects: [&'static str; 4]) -> [Field; 7] {
    [
        Field::defaulted(
            "budget_below",
            Kind::ShareFromZero,
            rule[0],
            "Reached when less than that share of the tightest limit is left; 0 is never.",
        ),
        Field::defaulted(
            "wait_above",
            WAIT,
            rule[1],
            "Reached when the newest waiting request of the lane `api` was promised a longer wait.",
        ),
        Field::defaulted(
            "breaker_open",
            Kind::Flag,
            rule[2],
            "Whether it is reached while the breakers of half of the upstreams or more are not closed.",
        ),
        Field::defaulted(
            "output_share",
            Kind::Share,
            effects[0],
            "The maximum of output tokens is lowered to that share of what was asked for, never below the route's \
             `output_floor`.",
        ),
        Field::defaulted(
            "degrade_simple",
            Kind::Flag,
            effects[1],
            "Whether requests of routes that are marked `simple` go to the route's `degrade_to`.",
        ),
        Field::defaulted(
            "hold_batch",
            Kind::Flag,
            effects[2],
            "Whether the lane `batch` starts nothing.",
        ),
        Field::defaulted(
            "answer_from_template",
            Kind::Flag,
            effects[3],
            "Whether routes that have a `template` answer with it.",
        ),
    ]
}

const WAIT: Kind = Kind::OneOf(&[
    Kind::Word(&[Word::now("never", "no wait reaches it")]),
    between(MILLI, DAY),
]);
