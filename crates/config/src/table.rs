//! The language of the configuration file: every key, in the order in which the reference lists them.
//!
//! It is data. What a value means beyond its own form (which account a deployment names, whether a quantum divides its
//! period) is [`resolve`](crate::resolve)'s.

use std::time::Duration;

use crate::shape::{Field, Kind, Object, Presence, Support, Word};

pub(crate) static ROOT: Object = Object {
    name: "configuration",
    doc: "The whole file. Every value may contain `${NAME}` or `${NAME:-default}`, replaced from the environment; \
          `$${` stands for a literal `${`.",
    fields: &[
        section(
            "server",
            Kind::Object(&SERVER),
            "Where the gateway listens and what it allows a client.",
        ),
        required(
            "accounts",
            Kind::Map {
                name: "account",
                of: &ACCOUNT,
            },
            "What a provider limits and bills, by a name of your choice.",
        ),
        required(
            "deployments",
            Kind::Map {
                name: "deployment",
                of: &DEPLOYMENT,
            },
            "What a client may name as `model`. A name may end in `*`: it then answers for every model that begins like \
             that and has no longer entry, and all of them share its limits.",
        ),
        section(
            "lanes",
            Kind::Object(&LANES),
            "How long each priority class may wait and retry.",
        ),
        section(
            "stream",
            Kind::Object(&STREAM),
            "How streamed answers are passed on.",
        ),
        section(
            "queue",
            Kind::Object(&QUEUE),
            "The bound of the waiting line.",
        ),
        later("store"),
        later("ledger"),
        later("routes"),
        later("tenants"),
    ],
};

static SERVER: Object = Object {
    name: "server",
    doc: "Where the gateway listens and what it allows a client.",
    fields: &[
        defaulted(
            "listen",
            Kind::Address,
            "127.0.0.1:8080",
            "The address for clients. Port 0 takes any free port.",
        ),
        optional(
            "admin_listen",
            Kind::Address,
            "The address for `/`, `/admin` and `/metrics`. Without it: `listen` where that is loopback, else \
             `127.0.0.1:8081`.",
        ),
        defaulted(
            "body_max",
            Kind::Bytes { max: 1 << 30 },
            "32MiB",
            "The largest request body.",
        ),
        defaulted(
            "header_timeout",
            between(MILLI, HOUR),
            "10s",
            "How long a client may take to send the head of a request.",
        ),
        defaulted(
            "drain",
            between(MILLI, DAY),
            "30s",
            "How long a stopping gateway waits for what is under way.",
        ),
        section(
            "timeouts",
            Kind::Object(&TIMEOUTS),
            "For calls to every upstream.",
        ),
    ],
};

static ACCOUNT: Object = Object {
    name: "account",
    doc: "What a provider limits and bills: an organisation, subscription or project.",
    fields: &[
        required(
            "provider",
            Kind::Text("a provider's id"),
            "The provider's id in the catalog.",
        ),
        optional(
            "api_key",
            Kind::Secret,
            "The key. An upstream on a loopback address needs none.",
        ),
        optional(
            "api_keys",
            Kind::List(&Kind::Secret),
            "Several keys, used in turn. They share the account's limits: more keys are not more quota.",
        ),
        optional(
            "base_url",
            Kind::Url,
            "Where the provider's API begins, up to and including the version. Without it: the provider's own, where \
             it has one.",
        ),
        defaulted(
            "headroom",
            Kind::OneOf(&[
                Kind::Word(&[word("auto", "the whole, less a margin that is learned")]),
                Kind::Share,
            ]),
            "auto",
            "The share of each limit that is used. A number is a hard cap.",
        ),
        optional(
            "limits",
            LIMITS,
            "What the provider grants the account as a whole.",
        ),
        optional(
            "families",
            Kind::Map {
                name: "family",
                of: &FAMILY,
            },
            "Groups of models that share limits within the account.",
        ),
        section(
            "timeouts",
            Kind::Object(&TIMEOUTS),
            "For calls to this account.",
        ),
        optional(
            "ca_file",
            Kind::Text("a path"),
            "A PEM file with further root certificates for this upstream.",
        ),
        optional(
            "charge",
            Kind::Text("the name of a charge rule"),
            "Which of the catalog's rules for what a request costs is used, where the provider's documentation and what \
             was measured differ. Without it: the catalog's choice.",
        ),
        later("region"),
    ],
};

static FAMILY: Object = Object {
    name: "family",
    doc: "Models of one account that share limits.",
    fields: &[
        required(
            "models",
            Kind::List(&Kind::Text("a model's name")),
            "The provider's names of the models; a name may end in `*`.",
        ),
        required(
            "limits",
            LIMITS,
            "What the provider grants these models together.",
        ),
    ],
};

static DEPLOYMENT: Object = Object {
    name: "deployment",
    doc: "One addressable upstream: an account and a model.",
    fields: &[
        required(
            "account",
            Kind::Text("an account's name"),
            "The account that is called and charged.",
        ),
        optional(
            "model",
            Kind::Text("a model's name"),
            "The provider's name of the model. `\"*\"` passes the requested name through, for a deployment whose name \
             ends in `*`. Without it: the deployment's own name.",
        ),
        optional(
            "limits",
            LIMITS,
            "What the provider grants this model. Deployments of one account and model share them.",
        ),
        optional(
            "context",
            COUNT,
            "The most tokens of input and output together.",
        ),
        optional("price", Kind::Object(&PRICE), "What it costs."),
        section(
            "timeouts",
            Kind::Object(&TIMEOUTS),
            "For calls to this deployment.",
        ),
        optional(
            "output_default",
            COUNT,
            "The output tokens that are expected of a request that names no maximum. Without it: the provider's row.",
        ),
    ],
};

static PRICE: Object = Object {
    name: "price",
    doc: "Dollars for a million tokens.",
    fields: &[
        required("input", Kind::Dollars, "A million input tokens."),
        optional(
            "cached_input",
            Kind::Dollars,
            "A million input tokens read from the provider's cache. Without it: as `input`.",
        ),
        required("output", Kind::Dollars, "A million output tokens."),
    ],
};

static TIMEOUTS: Object = Object {
    name: "timeouts",
    doc: "Bounds on one call to an upstream. What a deployment says goes before what its account says, and that before \
          the server's.",
    fields: &[
        optional(
            "connect",
            between(MILLI, HOUR),
            "To a connection, TLS included. Without it anywhere: 5s.",
        ),
        optional(
            "head",
            between(MILLI, DAY),
            "From the end of the request to the head of the answer. Without it anywhere: 120s.",
        ),
        optional(
            "idle",
            between(MILLI, DAY),
            "Between two pieces of the answer. Without it anywhere: 60s.",
        ),
        optional(
            "total",
            Kind::OneOf(&[Kind::Word(&[word("none", "no bound")]), between(MILLI, DAY)]),
            "For the whole call; never cuts a stream that moves. Without it anywhere: none.",
        ),
    ],
};

static LANES: Object = Object {
    name: "lanes",
    doc: "The priority classes, highest first.",
    fields: &[
        section(
            "interactive",
            Kind::Object(&INTERACTIVE),
            "Somebody is watching.",
        ),
        section(
            "api",
            Kind::Object(&API),
            "A program is waiting; what is used unless a request says otherwise.",
        ),
        section("batch", Kind::Object(&BATCH), "Nobody is waiting."),
    ],
};

static INTERACTIVE: Object = Object {
    name: "lane interactive",
    doc: "The lane of requests that somebody is watching.",
    fields: &lane_fields("3", "8s", "5s"),
};

static API: Object = Object {
    name: "lane api",
    doc: "The lane of programs that wait for their answer.",
    fields: &lane_fields("3", "30s", "120s"),
};

static BATCH: Object = Object {
    name: "lane batch",
    doc: "The lane of work that nobody waits for.",
    fields: &lane_fields("8", "300s", "24h"),
};

const fn lane_fields(
    max_attempts: &'static str,
    max_total_retry: &'static str,
    max_wait: &'static str,
) -> [Field; 3] {
    [
        defaulted(
            "max_attempts",
            Kind::Count { max: 100 },
            max_attempts,
            "The most upstream calls for one request, the first included.",
        ),
        defaulted(
            "max_total_retry",
            between(MILLI, DAY),
            max_total_retry,
            "The longest time from the first call to the last retry.",
        ),
        defaulted(
            "max_wait",
            between(MILLI, WEEK),
            max_wait,
            "The longest wait in the queue, where the request names none.",
        ),
    ]
}

static STREAM: Object = Object {
    name: "stream",
    doc: "How streamed answers are passed on.",
    fields: &[defaulted(
        "head_hold",
        between(MILLI, HOUR),
        "10s",
        "How long the head of a stream is held back for its first content, so that a failure before it can still be \
         retried elsewhere or answered with a real status.",
    )],
};

static QUEUE: Object = Object {
    name: "queue",
    doc: "The bound of the waiting line.",
    fields: &[defaulted(
        "max_tickets",
        Kind::Count { max: 10_000_000 },
        "10000",
        "The most requests that wait at once; the next one is refused.",
    )],
};

/// Limits in any form that they may take.
const LIMITS: Kind = Kind::OneOf(&[
    Kind::Object(&SHORT),
    Kind::List(&Kind::OneOf(&[Kind::Object(&SHORT), Kind::Object(&LONG)])),
]);

pub(crate) static SHORT: Object = Object {
    name: "limits",
    doc: "Limits by their usual names; window and refill come from the provider's row. A list of these and of the long \
          form, mixed, is possible too.",
    fields: &[
        optional("rpm", SHORT_VALUE, "Requests per minute."),
        optional("rps", SHORT_VALUE, "Requests per second."),
        optional("rpd", SHORT_VALUE, "Requests per day."),
        optional(
            "tpm",
            SHORT_VALUE,
            "Tokens per minute, input and output together.",
        ),
        optional("tpd", SHORT_VALUE, "Tokens per day."),
        optional("itpm", SHORT_VALUE, "Input tokens per minute."),
        optional("otpm", SHORT_VALUE, "Output tokens per minute."),
        optional("concurrent", SHORT_VALUE, "Requests in flight."),
        later("spend_month"),
    ],
};

const SHORT_VALUE: Kind = Kind::OneOf(&[COUNT, Kind::Object(&OVERRIDE)]);

static OVERRIDE: Object = Object {
    name: "limit by name",
    doc: "A limit by its usual name that differs from the provider's row in what is written here.",
    fields: &[
        required("amount", COUNT, AMOUNT_DOC),
        optional(
            "reading",
            Kind::Text("the name of a reading"),
            "Which of the catalog's readings of this limit is used, where sources differ. Without it: the catalog's choice.",
        ),
        optional("window", WINDOW, "How it counts and refills."),
        optional("quantum", PERIOD, QUANTUM_DOC),
        optional("start", START, START_DOC),
        optional("phase", PHASE, PHASE_DOC),
        optional("mode", MODE, MODE_DOC),
        optional("settle", SETTLE, SETTLE_DOC),
    ],
};

pub(crate) static LONG: Object = Object {
    name: "limit",
    doc: "A limit in full, for what the provider's row does not know.",
    fields: &[
        required(
            "meter",
            Kind::Word(&[
                word("requests", "requests sent"),
                word("tokens", "tokens, input and output together"),
                word("input_tokens", "input tokens"),
                word("output_tokens", "output tokens"),
                word("concurrent", "requests in flight"),
                word_later("spend"),
            ]),
            "What it counts.",
        ),
        required("amount", COUNT, AMOUNT_DOC),
        optional(
            "per",
            PERIOD,
            "The time over which the amount applies; needed unless the meter is concurrent.",
        ),
        optional(
            "window",
            WINDOW,
            "How it counts and refills; needed unless the meter is concurrent.",
        ),
        optional("quantum", PERIOD, QUANTUM_DOC),
        defaulted("start", START, "empty", START_DOC),
        optional("phase", PHASE, PHASE_DOC),
        defaulted("mode", MODE, "enforce", MODE_DOC),
        defaulted("settle", SETTLE, "keep", SETTLE_DOC),
    ],
};

const AMOUNT_DOC: &str = "The ceiling.";
const QUANTUM_DOC: &str = "Also enforced over this shorter time, in proportion: 600 requests per minute with a quantum \
                           of 1s are at most 10 in any second.";
const START_DOC: &str = "What is left when counting begins.";
const PHASE_DOC: &str = "Where a fixed window begins. Without it: unknown.";
const MODE_DOC: &str = "Whether it holds requests back.";
const SETTLE_DOC: &str =
    "What becomes of the difference between the charge on arrival and what was used.";

const WINDOW: Kind = Kind::Word(&[
    word(
        "fixed",
        "one window after another, each with the whole amount",
    ),
    word(
        "sliding",
        "no interval of the period holds more, wherever it begins",
    ),
    word("bucket", "refills continuously"),
    word("concurrent", "given back when the request ends"),
    word_later("pacing"),
    word_later("day"),
]);
const START: Kind = Kind::Word(&[
    word("empty", "one request passes, then the window refills"),
    word("full", "the whole amount"),
]);
const PHASE: Kind = Kind::Word(&[
    word(
        "calendar",
        "at multiples of the period since 1970-01-01T00:00:00Z",
    ),
    word(
        "unknown",
        "anywhere, so that no interval of the period may hold more",
    ),
]);
const MODE: Kind = Kind::Word(&[
    word("enforce", "it does"),
    word("shadow", "it only counts and reports"),
]);
const SETTLE: Kind = Kind::Word(&[
    word("keep", "the provider keeps the charge"),
    word("usage", "the charge becomes what was used"),
]);

const COUNT: Kind = Kind::Count { max: u64::MAX };
const PERIOD: Kind = between(MILLI, Duration::from_secs(400 * 86_400));
const MILLI: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);
const WEEK: Duration = Duration::from_secs(7 * 86_400);

const fn between(min: Duration, max: Duration) -> Kind {
    Kind::Duration { min, max }
}

const fn word(name: &'static str, doc: &'static str) -> Word {
    Word {
        name,
        support: Support::Now,
        doc,
    }
}

const fn word_later(name: &'static str) -> Word {
    Word {
        name,
        support: Support::Later,
        doc: "",
    }
}

const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Required,
        doc,
    }
}

/// Of kind [`Kind::Object`].
const fn section(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Section,
        doc,
    }
}

const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Optional,
        doc,
    }
}

const fn defaulted(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Default(default),
        doc,
    }
}

const fn later(name: &'static str) -> Field {
    Field {
        name,
        kind: Kind::Later,
        presence: Presence::Optional,
        doc: "",
    }
}
