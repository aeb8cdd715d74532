//! The part of the language that describes who goes next: lanes, and the bounds of their lines.

use super::{DAY, MILLI, WEEK, between};
use crate::shape::{Field, Kind, Object};

pub(super) static LANES: Object = Object {
    name: "lanes",
    doc: "The priority classes. A waiting request of a higher one goes first.",
    fields: &[
        Field::section(
            "interactive",
            Kind::Object(&INTERACTIVE),
            "Somebody is watching.",
        ),
        Field::section(
            "api",
            Kind::Object(&API),
            "A program is waiting; what is used unless a request, its key or its route says otherwise.",
        ),
        Field::section("batch", Kind::Object(&BATCH), "Nobody is waiting."),
    ],
};

static INTERACTIVE: Object = Object {
    name: "lane interactive",
    doc: "The lane of requests that somebody is watching.",
    fields: &lane_fields("5s", "3", "8s", "0%"),
};

static API: Object = Object {
    name: "lane api",
    doc: "The lane of programs that wait for their answer.",
    fields: &lane_fields("120s", "3", "30s", "20%"),
};

static BATCH: Object = Object {
    name: "lane batch",
    doc: "The lane of work that nobody waits for.",
    fields: &lane_fields("24h", "8", "300s", "50%"),
};

const fn lane_fields(
    max_wait: &'static str,
    max_attempts: &'static str,
    max_total_retry: &'static str,
    leaves: &'static str,
) -> [Field; 6] {
    [
        Field::defaulted(
            "max_wait",
            between(MILLI, WEEK),
            max_wait,
            "The longest wait in the queue, where the request names none.",
        ),
        Field::defaulted(
            "max_attempts",
            Kind::Count { max: 100 },
            max_attempts,
            "The calls for one request over all deployments and fallbacks, the first one included.",
        ),
        Field::defaulted(
            "max_total_retry",
            between(MILLI, DAY),
            max_total_retry,
            "No further call begins later than this after the first one began.",
        ),
        Field::defaulted(
            "min_share",
            Kind::ShareFromZero,
            "0%",
            "The share of what starts that this lane gets while it waits, also where higher ones want everything. Of all lanes \
             together at most the whole.",
        ),
        Field::defaulted(
            "leaves",
            Kind::ShareFromZero,
            leaves,
            "The share of each limit that this lane leaves free while a higher one has demand, or what that one is expected to \
             want where it is less.",
        ),
        Field::optional(
            "max_waiting",
            QUEUED,
            "The most requests of this lane that wait at once. Without it: `queue.max_tickets` less the share that the lane \
             `leaves`, so that a flood of one lane leaves room in the line for those above it.",
        ),
    ]
}

pub(super) static QUEUE: Object = Object {
    name: "queue",
    doc: "The bounds of the waiting lines, all together; the request that would exceed one is refused.",
    fields: &[
        Field::defaulted(
            "max_tickets",
            QUEUED,
            "10000",
            "The most requests that wait at once.",
        ),
        Field::defaulted(
            "max_bytes",
            Kind::Bytes { max: 1 << 40 },
            "256MiB",
            "The most bytes in the bodies of those that wait.",
        ),
    ],
};

const QUEUED: Kind = Kind::Count { max: 10_000_000 };
