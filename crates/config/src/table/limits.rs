//! The part of the language that describes limits, in both forms.

use super::{COUNT, PERIOD};
use crate::shape::{Field, Kind, Object, Word};

/// Limits in any form that they may take.
pub(super) const LIMITS: Kind = Kind::OneOf(&[
    Kind::Object(&SHORT),
    Kind::List(&Kind::OneOf(&[Kind::Object(&SHORT), Kind::Object(&LONG)])),
]);

pub(crate) static SHORT: Object = Object {
    name: "limits",
    doc: "Limits by their usual names; window and refill come from the provider's row. A list of these and of the long \
          form, mixed, is possible too.",
    fields: &[
        Field::optional("rpm", SHORT_VALUE, "Requests per minute."),
        Field::optional("rps", SHORT_VALUE, "Requests per second."),
        Field::optional("rpd", SHORT_VALUE, "Requests per day."),
        Field::optional(
            "tpm",
            SHORT_VALUE,
            "Tokens per minute, input and output together.",
        ),
        Field::optional("tpd", SHORT_VALUE, "Tokens per day."),
        Field::optional("itpm", SHORT_VALUE, "Input tokens per minute."),
        Field::optional("otpm", SHORT_VALUE, "Output tokens per minute."),
        Field::optional(
            "concurrent",
            Kind::OneOf(&[
                Kind::Word(&[Word::now("auto", "as many as serve well")]),
                COUNT,
                Kind::Object(&OVERRIDE),
            ]),
            "Requests in flight. `auto`, for an upstream that publishes no limit: as many as it serves without slowing down, \
             found out as it goes, for each deployment.",
        ),
        Field::optional("requests_month", SHORT_VALUE, "Requests per month."),
        Field::optional("tokens_month", SHORT_VALUE, "Tokens per month."),
        Field::later("spend_month"),
    ],
};

const SHORT_VALUE: Kind = Kind::OneOf(&[COUNT, Kind::Object(&OVERRIDE)]);

static OVERRIDE: Object = Object {
    name: "limit by name",
    doc: "A limit by its usual name that differs from the provider's row in what is written here.",
    fields: &[
        Field::required("amount", COUNT, AMOUNT_DOC),
        Field::optional(
            "reading",
            Kind::Text("the name of a reading"),
            "Which of the catalog's readings of this limit is used, where sources differ. Without it: the catalog's choice.",
        ),
        Field::optional("window", WINDOW, "How it counts and refills."),
        Field::optional("quantum", PERIOD, QUANTUM_DOC),
        Field::optional("start", START, START_DOC),
        Field::optional("phase", PHASE, PHASE_DOC),
        Field::optional("burst", PERIOD, BURST_DOC),
        Field::optional("zone", ZONE, ZONE_DOC),
        Field::optional("reset_at", RESET_AT, RESET_AT_DOC),
        Field::optional("mode", MODE, MODE_DOC),
        Field::optional("settle", SETTLE, SETTLE_DOC),
    ],
};

pub(crate) static LONG: Object = Object {
    name: "limit",
    doc: "A limit in full, for what the provider's row does not know.",
    fields: &[
        Field::required(
            "meter",
            Kind::Word(&[
                Word::now("requests", "requests sent"),
                Word::now("tokens", "tokens, input and output together"),
                Word::now("input_tokens", "input tokens"),
                Word::now("output_tokens", "output tokens"),
                Word::now("concurrent", "requests in flight"),
                Word::later("spend"),
            ]),
            "What it counts.",
        ),
        Field::required("amount", COUNT, AMOUNT_DOC),
        Field::optional(
            "per",
            PERIOD,
            "The time over which the amount applies; needed unless the meter is concurrent or the window a day or a month.",
        ),
        Field::optional(
            "window",
            WINDOW,
            "How it counts and refills; needed unless the meter is concurrent.",
        ),
        Field::optional("quantum", PERIOD, QUANTUM_DOC),
        Field::optional(
            "start",
            START,
            "What is left when counting begins. Without it: full where the period is a day or longer, else empty.",
        ),
        Field::optional("phase", PHASE, PHASE_DOC),
        Field::optional("burst", PERIOD, BURST_DOC),
        Field::optional("zone", ZONE, ZONE_DOC),
        Field::optional("reset_at", RESET_AT, RESET_AT_DOC),
        Field::defaulted("mode", MODE, "enforce", MODE_DOC),
        Field::defaulted("settle", SETTLE, "keep", SETTLE_DOC),
    ],
};

const AMOUNT_DOC: &str = "The ceiling.";
const QUANTUM_DOC: &str = "Also enforced over this shorter time, in proportion: 600 requests per minute with a quantum \
                           of 1s are at most 10 in any second.";
const START_DOC: &str = "What is left when counting begins.";
const PHASE_DOC: &str = "Where a fixed window begins. Without it: unknown.";
pub(super) const BURST_DOC: &str = "How much may come at once with `window: pacing`, as the time in which it drains. Without it: the whole \
                         amount.";
pub(super) const ZONE: Kind = Kind::Text("a time zone, `America/Los_Angeles`, `UTC` or `+09:00`");
pub(super) const ZONE_DOC: &str = "Whose day or month it is.";
const RESET_AT: Kind = Kind::Text("a time of day, `07:30`");
const RESET_AT_DOC: &str = "When a day begins on the clocks of its zone. Without it: at midnight.";
const MODE_DOC: &str = "Whether it holds requests back.";
pub(super) const SETTLE_DOC: &str =
    "What becomes of the difference between the charge on arrival and what was used.";

const WINDOW: Kind = Kind::Word(&[
    Word::now(
        "fixed",
        "one window after another, each with the whole amount",
    ),
    Word::now(
        "sliding",
        "no interval of the period holds more, wherever it begins",
    ),
    Word::now("bucket", "refills continuously"),
    Word::now(
        "pacing",
        "a leaky bucket: drains continuously, and a request of any size starts while it is not full",
    ),
    Word::now(
        "day",
        "calendar days of a zone, each with the whole amount; one that rolls is `sliding` with `per: 24h`",
    ),
    Word::now(
        "month",
        "calendar months of a zone, each with the whole amount",
    ),
    Word::now("concurrent", "given back when the request ends"),
]);
pub(super) const START: Kind = Kind::Word(&[
    Word::now(
        "empty",
        "one request passes, then the window refills: at its end where that is known, else bit by bit; the first answer that \
         tells what is left ends the guess",
    ),
    Word::now("full", "the whole amount"),
]);
pub(super) const PHASE: Kind = Kind::Word(&[
    Word::now(
        "calendar",
        "at multiples of the period since 1970-01-01T00:00:00Z",
    ),
    Word::now(
        "unknown",
        "anywhere, so that no interval of the period holds more until answers tell where a window ends",
    ),
]);
const MODE: Kind = Kind::Word(&[
    Word::now("enforce", "it does"),
    Word::now("shadow", "it only counts and reports"),
]);
pub(super) const SETTLE: Kind = Kind::Word(&[
    Word::now("keep", "the provider keeps the charge"),
    Word::now("usage", "the charge becomes what was used"),
    Word::now("produced", "likewise, and nothing is charged on arrival"),
]);
