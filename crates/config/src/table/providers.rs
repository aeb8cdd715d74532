//! The part of the language that describes providers: rows of the catalog as a user writes them.
//!
//! The keys are the row's own where nothing in the rest of the file says the same in other words; where it does (`per`,
//! `quantum`, `phase`, `settle`), they are those of the file.

use super::PERIOD;
use super::charge::CHARGE;
use super::limits::{BURST_DOC, PHASE, SETTLE, SETTLE_DOC, START, ZONE, ZONE_DOC};
use super::translation::TRANSLATION;
use crate::shape::{Field, Kind, Object, Word};

pub(crate) static PROVIDER: Object = Object {
    name: "provider",
    doc: "A provider that the catalog does not know, or one that does otherwise than the catalog says. An entry with the \
          name of a [known one](providers.md) changes that one for this file; what is left out stays as it is there.",
    fields: &[
        Field::optional(
            "like",
            Kind::Text("a provider's id"),
            "The known provider that this one is like but for what is written here. Without it: the one of the entry's own \
             name; where there is none, `dialect`, `auth`, `paths` and `charge` are needed.",
        ),
        Field::optional(
            "name",
            Kind::Text("a name"),
            "Its name in messages. Without it: the entry's.",
        ),
        Field::optional(
            "dialect",
            Kind::Word(&[
                Word::now("openai", "OpenAI's chat completions"),
                Word::now("anthropic", "Anthropic's messages"),
                Word::now("gemini", "Google's generateContent"),
                Word::now("bedrock", "Amazon's Converse"),
                Word::now("cohere", "Cohere's chat, version 2"),
            ]),
            "The wire format that it speaks.",
        ),
        Field::optional(
            "base_url",
            Kind::Url,
            "Where its API begins, for accounts that name no address of their own.",
        ),
        Field::optional(
            "region_url",
            Kind::UrlByRegion,
            "Where its API begins in the `region` that an account names.",
        ),
        Field::optional(
            "aws_service",
            Kind::Text("a service's name, like bedrock"),
            "Under what name requests are signed for it (AWS Signature Version 4), for accounts with `aws` in the place of a key.",
        ),
        Field::optional("auth", Kind::Object(&AUTH), "How it wants the key."),
        Field::optional(
            "paths",
            Kind::Object(&PATHS),
            "Where its operations live, below the base URL.",
        ),
        Field::optional(
            "headers",
            Kind::OneOf(&[
                Kind::Word(&[Word::now("none", "it wants none")]),
                Kind::Pairs {
                    name: "header",
                    of: &Kind::Text("a header's text"),
                },
            ]),
            "Headers that it wants, by name in lower case, with what they say where the client says nothing. Not for keys: those are an              account's.",
        ),
        Field::optional(
            "translation",
            Kind::Object(&TRANSLATION),
            "What a request heeds that is translated into its dialect.",
        ),
        Field::optional(
            "request_id",
            NAMES,
            "Headers that carry its name for a request, best one first.",
        ),
        Field::optional(
            "work_ms",
            Kind::OneOf(&[
                Kind::Word(&[Word::now("none", "no header tells it")]),
                NAMES,
            ]),
            "Headers that tell how long it worked until the head of its answer, in milliseconds; the first that is there counts. \
             From them is learned how unevenly requests arrive.",
        ),
        Field::optional(
            "lane_priority",
            Kind::OneOf(&[
                Kind::Word(&[Word::now("none", "it is not told")]),
                Kind::Text("the name of a field"),
            ]),
            "The field of a request's body that tells it the lane, as a number: 0 is `interactive`, 1 `api`, 2 `batch`, and it \
             serves the lower one first.",
        ),
        Field::optional("models", MODELS, "Well-known names of its models."),
        Field::optional(
            "model_patterns",
            MODELS,
            "The names of models that it serves; a name may end in `*`. Without it: every model.",
        ),
        Field::optional(
            "limits",
            Kind::Object(&LIMITS),
            "How its limits count and refill, by their usual names. The amounts are an account's.",
        ),
        Field::optional(
            "charge",
            Kind::OneOf(&[
                Kind::Text("the name of a charge rule"),
                Kind::Object(&CHARGE),
            ]),
            "What its limits take for a request: the name of the rule to use, or more.",
        ),
        Field::optional(
            "signals",
            Kind::OneOf(&[
                Kind::Word(&[Word::now("none", "no header tells anything")]),
                Kind::List(&Kind::Object(&SIGNAL)),
            ]),
            "Headers that tell the state of its limits; they replace all that the other row has.",
        ),
        Field::optional(
            "errors",
            Kind::List(&Kind::Object(&ERROR)),
            "What its errors mean; the first that fits decides, and they replace all that the other row has.",
        ),
    ],
};

const NAMES: Kind = Kind::List(&Kind::Text("the name of a header"));
const MODELS: Kind = Kind::List(&Kind::Text("a model's name"));
const HEADER: Kind = Kind::Text("the name of a header");

static AUTH: Object = Object {
    name: "auth",
    doc: "How a provider wants the key.",
    fields: &[
        Field::required("header", HEADER, "The header's name, in lower case."),
        Field::optional(
            "scheme",
            Kind::Text("a word"),
            "The word before the key, like `Bearer`.",
        ),
    ],
};

static PATHS: Object = Object {
    name: "paths",
    doc: "Where a provider's operations live, below its base URL.",
    fields: &[
        Field::required(
            "chat",
            Kind::Text("a path like /v1/chat/completions"),
            "The answer of a model, in the provider's own dialect. In every path `{model}` stands for the model's name.",
        ),
        Field::optional(
            "stream",
            PATH,
            "The same as a stream, where that is another path.",
        ),
        Field::optional("responses", PATH, "OpenAI's responses."),
        Field::optional("completions", PATH, "OpenAI's completions of a text."),
        Field::optional(
            "embeddings",
            PATH,
            "Embeddings, in the provider's own dialect.",
        ),
        Field::optional(
            "embeddings_batch",
            PATH,
            "The same for several texts, where that is another path.",
        ),
        Field::optional(
            "count_tokens",
            PATH,
            "How many tokens a request would have.",
        ),
        Field::optional(
            "instead_of_model",
            Kind::List(&Kind::Text("a member's name, then its text")),
            "The member of a body, and its text, that stands in the place of `model`, where the path names the model and the body \
             must not; for Claude at Vertex `[anthropic_version, vertex-2023-10-16]`.",
        ),
    ],
};

const PATH: Kind = Kind::Text("a path like /v1/embeddings");

static LIMITS: Object = Object {
    name: "provider's limits",
    doc: "How each limit counts and refills.",
    fields: &[
        Field::optional("rpm", LIMIT_KIND, "Requests per minute."),
        Field::optional("rps", LIMIT_KIND, "Requests per second."),
        Field::optional("rpd", LIMIT_KIND, "Requests per day."),
        Field::optional(
            "tpm",
            LIMIT_KIND,
            "Tokens per minute, input and output together.",
        ),
        Field::optional("tpd", LIMIT_KIND, "Tokens per day."),
        Field::optional("itpm", LIMIT_KIND, "Input tokens per minute."),
        Field::optional("otpm", LIMIT_KIND, "Output tokens per minute."),
        Field::optional("requests_month", LIMIT_KIND, "Requests per month."),
        Field::optional("tokens_month", LIMIT_KIND, "Tokens per month."),
    ],
};

const LIMIT_KIND: Kind = Kind::Object(&LIMIT);

static LIMIT: Object = Object {
    name: "provider's limit",
    doc: "How one limit counts and refills. What is left out is as in the row that this one is like; a limit that row does not \
          have needs all but `phase`, `burst`, `zone` and `quantum`.",
    fields: &[
        Field::optional("meter", METER, "What it counts."),
        Field::optional(
            "window",
            Kind::Word(&[
                Word::now(
                    "fixed",
                    "one window after another, each with the whole amount",
                ),
                Word::now(
                    "sliding",
                    "no interval of the period holds more, wherever it begins",
                ),
                Word::now("bucket", "refills continuously"),
                Word::now("pacing", "a leaky bucket that drains in the period"),
                Word::now("day", "calendar days of a zone, each with the whole amount"),
                Word::now("month", "calendar months of a zone, likewise"),
            ]),
            "How it counts and refills.",
        ),
        Field::optional(
            "per",
            PERIOD,
            "The time over which the amount applies, in whole seconds, whatever the limit is called.",
        ),
        Field::optional(
            "phase",
            PHASE,
            "Where a fixed window begins. Without it: unknown.",
        ),
        Field::optional("burst", PERIOD, BURST_DOC),
        Field::optional("zone", ZONE, ZONE_DOC),
        Field::optional(
            "quantum",
            Kind::OneOf(&[
                Kind::Word(&[Word::now("none", "it holds over the whole period only")]),
                PERIOD,
            ]),
            "Also enforced over this shorter time, in proportion and in whole seconds.",
        ),
        Field::optional("settle", SETTLE, SETTLE_DOC),
        Field::optional(
            "failures",
            Kind::Word(&[
                Word::now("count", "what failed stays charged"),
                Word::now("return", "what failed is given back"),
            ]),
            "What becomes of a call that failed at the provider.",
        ),
        Field::optional("start", START, "What is left when counting begins."),
    ],
};

const METER: Kind = Kind::Word(&[
    Word::now("requests", "requests sent"),
    Word::now("tokens", "tokens, input and output together"),
    Word::now("input_tokens", "input tokens"),
    Word::now("output_tokens", "output tokens"),
]);

static SIGNAL: Object = Object {
    name: "signal",
    doc: "The headers of one limit, all in lower case.",
    fields: &[
        Field::required("meter", METER, "What the limit counts."),
        Field::optional("limit", HEADER, "The ceiling in force."),
        Field::optional("remaining", HEADER, "What is left."),
        Field::optional("reset", HEADER, "A time at which more is left."),
        Field::optional(
            "reset_format",
            Kind::Word(&[
                Word::now("go_duration", "`6m0s`"),
                Word::now("int_auto", "a whole number of milliseconds or seconds"),
                Word::now("int_seconds", "whole seconds"),
                Word::now("int_ms", "whole milliseconds"),
                Word::now("float_seconds", "seconds with a fraction"),
                Word::now("epoch_seconds", "seconds since 1970"),
                Word::now("epoch_ms", "milliseconds since 1970"),
                Word::now("rfc3339", "`2026-10-04T12:00:00Z`"),
            ]),
            "How `reset` is written; needed with it.",
        ),
        Field::optional(
            "reset_means",
            Kind::Word(&[
                Word::now("whole", "the limit is whole again"),
                Word::now("next", "something is let through again"),
            ]),
            "What `reset` is the time of. Without it: `whole`.",
        ),
        Field::optional("period", HEADER, "The window's length in seconds."),
        Field::optional(
            "per",
            PERIOD,
            "The window's length, where these headers always speak of the same one; in whole seconds.",
        ),
        Field::optional("charged", HEADER, "What the answered request was charged."),
        Field::optional("retry_after", HEADER, "Of a refusal: the seconds to wait."),
    ],
};

static ERROR: Object = Object {
    name: "error",
    doc: "What an error means. Each list that is written has to hold what came.",
    fields: &[
        Field::optional(
            "status",
            Kind::List(&Kind::Count { max: 599 }),
            "Its status.",
        ),
        Field::optional("code", Kind::List(&Kind::Text("a code")), "Its `code`."),
        Field::optional("type", Kind::List(&Kind::Text("a type")), "Its `type`."),
        Field::optional(
            "message",
            Kind::List(&Kind::Text("a part of a message")),
            "Parts of its message, in lower case.",
        ),
        Field::required(
            "class",
            Kind::Word(&[
                Word::now("rate", "a window is full"),
                Word::now("ramp", "traffic grew too fast"),
                Word::now("daily", "a day's limit is used up"),
                Word::now("billing", "the account is out of money"),
                Word::now("too_large_for_limit", "this request never fits"),
                Word::now("overload", "the provider is short of capacity"),
                Word::now("server", "the provider failed"),
                Word::now("timeout", "no answer in time"),
                Word::now("context", "too long for the model"),
                Word::now("policy", "refused for its content"),
                Word::now("auth", "the key was refused"),
                Word::now("invalid", "the request is wrong"),
            ]),
            "What it means.",
        ),
    ],
};
