//! The language of the configuration file: every key, in the order in which the reference lists them.
//!
//! It is data. What a value means beyond its own form (which account a deployment names, whether a quantum divides its
//! period) is [`resolve`](crate::resolve)'s.

use std::time::Duration;

use crate::shape::{Field, Kind, Object, Word};

mod accounts;
mod charge;
mod failures;
mod lanes;
mod limits;
mod load;
mod providers;
mod routes;
mod translation;

use accounts::{ACCOUNT, DEPLOYMENT};
use failures::{BREAKER, RETRY};
use lanes::{LANES, QUEUE};
pub(crate) use limits::{LONG, SHORT};
use load::LOAD;
pub(crate) use providers::PROVIDER;
use routes::ROUTE;

pub(crate) static ROOT: Object = Object {
    name: "configuration",
    doc: "The whole file. Every value may contain `${NAME}` or `${NAME:-default}`, replaced from the environment; \
          `$${` stands for a literal `${`.",
    fields: &[
        Field::section(
            "server",
            Kind::Object(&SERVER),
            "Where the gateway listens and what it allows a client.",
        ),
        Field::optional(
            "providers",
            Kind::Map {
                name: "provider",
                of: &PROVIDER,
            },
            "Providers that the catalog does not know, or that do otherwise than it says, by the names that accounts use.",
        ),
        Field::required(
            "accounts",
            Kind::Map {
                name: "account",
                of: &ACCOUNT,
            },
            "What a provider limits and bills, by a name of your choice.",
        ),
        Field::required(
            "deployments",
            Kind::Map {
                name: "deployment",
                of: &DEPLOYMENT,
            },
            "What a client may name as `model`. A name may end in `*`: it then answers for every model that begins like \
             that and has no longer entry, and all of them share its limits.",
        ),
        Field::optional(
            "routes",
            Kind::Map {
                name: "route",
                of: &ROUTE,
            },
            "What a client may name as `model` or as its task, and where that leads. A name may end in `*`. A route goes before \
             a deployment of its name; a deployment that no route has the name of is a route to itself.",
        ),
        Field::section(
            "lanes",
            Kind::Object(&LANES),
            "The priority classes: who goes first, how long each may wait and how hard it tries.",
        ),
        Field::section(
            "retry",
            Kind::Object(&RETRY),
            "When what failed is sent again, and how much that may add to the traffic.",
        ),
        Field::section(
            "breaker",
            Kind::Object(&BREAKER),
            "When an upstream is left alone, for all deployments.",
        ),
        Field::section(
            "load",
            Kind::Object(&LOAD),
            "The levels of load above normal, and what each changes.",
        ),
        Field::section(
            "stream",
            Kind::Object(&STREAM),
            "How streamed answers are passed on.",
        ),
        Field::section(
            "estimates",
            Kind::Object(&ESTIMATES),
            "How tokens are counted before their provider does.",
        ),
        Field::section(
            "queue",
            Kind::Object(&QUEUE),
            "The bounds of the waiting lines.",
        ),
        Field::section(
            "operator",
            Kind::Object(&OPERATOR),
            "How the operator is told what needs a hand.",
        ),
        Field::later("store"),
        Field::later("ledger"),
        Field::later("tenants"),
    ],
};

static SERVER: Object = Object {
    name: "server",
    doc: "Where the gateway listens and what it allows a client.",
    fields: &[
        Field::defaulted(
            "listen",
            Kind::Address,
            "127.0.0.1:8080",
            "The address for clients. Port 0 takes any free port.",
        ),
        Field::optional(
            "admin_listen",
            Kind::Address,
            "The address for `/`, `/admin` and `/metrics`. Without it: `listen` where that is loopback, else \
             `127.0.0.1:8081`.",
        ),
        Field::defaulted(
            "body_max",
            Kind::Bytes { max: 1 << 30 },
            "32MiB",
            "The largest request body.",
        ),
        Field::defaulted(
            "header_timeout",
            between(MILLI, HOUR),
            "75s",
            "How long a client may take to send the head of a request, and how long its connection may rest between two.",
        ),
        Field::defaulted(
            "drain",
            between(MILLI, DAY),
            "30s",
            "How long a stopping gateway waits for what is under way.",
        ),
        Field::section(
            "timeouts",
            Kind::Object(&TIMEOUTS),
            "For calls to every upstream.",
        ),
    ],
};

static TIMEOUTS: Object = Object {
    name: "timeouts",
    doc: "Bounds on one call to an upstream. What a route says goes before what the deployment says, that before what its \
          account says, and that before the server's.",
    fields: &[
        Field::optional(
            "connect",
            between(MILLI, HOUR),
            "To a connection, TLS included. Without it anywhere: 5s.",
        ),
        Field::optional(
            "head",
            between(MILLI, DAY),
            "From the end of the request to the head of the answer. Without it anywhere: 120s.",
        ),
        Field::optional(
            "idle",
            between(MILLI, DAY),
            "Between two pieces of the answer. Without it anywhere: 60s.",
        ),
        Field::optional(
            "total",
            Kind::OneOf(&[
                Kind::Word(&[Word::now("none", "no bound")]),
                between(MILLI, DAY),
            ]),
            "For the whole call; never cuts a stream that moves. Without it anywhere: none.",
        ),
    ],
};

static STREAM: Object = Object {
    name: "stream",
    doc: "How streamed answers are passed on.",
    fields: &[Field::defaulted(
        "head_hold",
        between(MILLI, HOUR),
        "10s",
        "How long the head of a stream is held back for its first content, so that a failure before it can still be \
         answered with a real status.",
    )],
};

static ESTIMATES: Object = Object {
    name: "estimates",
    doc: "How tokens are counted before their provider does. Estimates are calibrated by the usage that providers report, whatever \
          stands here.",
    fields: &[Field::defaulted(
        "sampled",
        Kind::ShareFromZero,
        "1%",
        "The share of the requests to models of a known vocabulary that are counted exactly, on a thread of their own and after they \
         were sent; the first one loads the vocabulary, which takes half a second there and some 46 MiB for good. `0%`: none.",
    )],
};

static OPERATOR: Object = Object {
    name: "operator",
    doc: "How the operator is told of what needs a hand: a key that was refused, an account that is out of money.",
    fields: &[
        Field::optional(
            "webhook",
            Kind::Webhook,
            "A URL to which each such event is posted as JSON.",
        ),
        Field::optional(
            "webhook_key",
            Kind::Secret,
            "Sent along as `authorization: Bearer`, so that the receiver knows who posts.",
        ),
    ],
};

const COUNT: Kind = Kind::Count { max: u64::MAX };
const PERIOD: Kind = between(MILLI, Duration::from_secs(400 * 86_400));
const MILLI: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);
const WEEK: Duration = Duration::from_secs(7 * 86_400);

const fn between(min: Duration, max: Duration) -> Kind {
    Kind::Duration { min, max }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form;
    use crate::shape::Presence;

    /// Every object that `object` leads to, itself included.
    fn objects(object: &'static Object, into: &mut Vec<&'static Object>) {
        if into.iter().any(|known| std::ptr::eq(*known, object)) {
            return;
        }
        into.push(object);
        for field in object.fields {
            below(&field.kind, into);
        }
    }

    fn below(kind: &'static Kind, into: &mut Vec<&'static Object>) {
        match kind {
            Kind::Object(of) | Kind::Map { of, .. } => objects(of, into),
            Kind::List(of) | Kind::Pairs { of, .. } => below(of, into),
            Kind::OneOf(kinds) => kinds.iter().for_each(|kind| below(kind, into)),
            _ => {}
        }
    }

    #[test]
    fn the_table_is_sound() {
        let mut all = Vec::new();
        objects(&ROOT, &mut all);
        assert!(all.len() > 10, "the walk reaches the whole table");
        for object in &all {
            let same = all.iter().filter(|other| other.name == object.name);
            assert_eq!(same.count(), 1, "{}", object.name);
            for field in object.fields {
                let same = object.fields.iter().filter(|f| f.name == field.name);
                assert_eq!(same.count(), 1, "{}.{}", object.name, field.name);
                if let Presence::Default(text) = field.presence {
                    assert!(
                        form::scalar(text, text, &field.kind).is_ok(),
                        "{}.{}",
                        object.name,
                        field.name
                    );
                }
                if let Presence::Section = field.presence {
                    assert!(
                        matches!(field.kind, Kind::Object(_)),
                        "{}.{}",
                        object.name,
                        field.name
                    );
                }
                let said = field.doc.ends_with('.') || matches!(field.kind, Kind::Later);
                assert!(said, "{}.{} has no sentence", object.name, field.name);
            }
        }
    }
}
