//! The part of the language that says what follows a failure: another attempt, or a rest for the upstream.

use super::{DAY, HOUR, MILLI, between};
use crate::shape::{Field, Kind, Object};

pub(super) static RETRY: Object = Object {
    name: "retry",
    doc: "When a failed call is made again. Whether it is at all follows from what failed; how often, from its lane.",
    fields: &[
        Field::defaulted(
            "first",
            between(MILLI, HOUR),
            "500ms",
            "The longest wait before the second call; the wait itself is a random part of it. It doubles with each further call. \
             Where the provider names a time, no wait is shorter.",
        ),
        Field::defaulted(
            "max",
            between(MILLI, HOUR),
            "8s",
            "What the longest wait never grows beyond.",
        ),
        Field::defaulted(
            "budget",
            Kind::ShareFromZero,
            "20%",
            "How many further calls all requests together may make, as a share of the first calls of the last 10 s.",
        ),
        Field::defaulted(
            "budget_floor",
            Kind::Number { max: 1_000_000 },
            "10",
            "So many further calls a second are always allowed.",
        ),
    ],
};

pub(super) static BREAKER: Object = Object {
    name: "breaker",
    doc: "When a deployment is left alone, and how it comes back. What a deployment says goes before what its account says, and \
          that before the top of the file. Our own waits and refusals are no failures.",
    fields: &[
        Field::optional(
            "failure_rate",
            Kind::Share,
            "It opens when that share of the calls within `over` failed. Without it anywhere: 50%.",
        ),
        Field::optional(
            "min_calls",
            Kind::Count { max: 1_000_000 },
            "Fewer calls within `over` tell no rate. Without it anywhere: 20.",
        ),
        Field::optional(
            "over",
            between(MILLI, DAY),
            "The time over which the rate is taken. Without it anywhere: 30s.",
        ),
        Field::optional(
            "consecutive",
            Kind::Number { max: 1_000_000 },
            "It opens after so many failures without a success between them; 0 never. Without it anywhere: 5.",
        ),
        Field::optional(
            "open",
            between(MILLI, DAY),
            "How long it stays open before one call may probe. Without it anywhere: 30s.",
        ),
        Field::optional(
            "half_open_successes",
            Kind::Count { max: 1_000 },
            "It closes after so many successful probes, one at a time. Without it anywhere: 1.",
        ),
    ],
};
