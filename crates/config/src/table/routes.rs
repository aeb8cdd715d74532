//! The part of the language that says where a request may go.

use super::{COUNT, TIMEOUTS};
use crate::shape::{Field, Kind, Object, Word};

pub(super) static ROUTE: Object = Object {
    name: "route",
    doc: "What a requested model or a task leads to. A task, the request header `x-sluicegate-task`, is a route of that name; a \
          model is a route of that name, else the deployment of that name, else whichever of both shares the longest beginning \
          with it before a `*`. Routes lead to deployments. A wildcard deployment is named by a model that it answers for, \
          `gpt-5.5` of `gpt-*`; a route whose own name ends in `*` may also name it as it stands, and passes the requested name \
          through.",
    fields: &[
        Field::required(
            "primary",
            Kind::OneOf(&[TARGET, Kind::List(&TARGET)]),
            "The deployment that is tried first, or a list of several that serve alike, a pool.",
        ),
        Field::defaulted(
            "balance",
            Kind::Word(&[
                Word::now("earliest", "where the request can start earliest"),
                Word::now("price", "the cheapest; each needs a `price`"),
                Word::now("latency", "the one that answered fastest of late"),
            ]),
            "earliest",
            "Which one of a pool comes first.",
        ),
        Field::optional(
            "fallbacks",
            Kind::List(&Kind::Object(&FALLBACK)),
            "Where else to go, in this order.",
        ),
        Field::optional(
            "degrade_to",
            Kind::Object(&DEGRADE),
            "Where a request goes that need not have the best: when its conditions hold, and where the route is `simple` also \
             when the level of load says so.",
        ),
        Field::optional(
            "lane",
            Kind::Word(&[
                Word::now("interactive", "somebody is watching"),
                Word::now("api", "a program is waiting"),
                Word::now("batch", "nobody is waiting"),
            ]),
            "The lane of requests that name none. Without it: the key's, else `api`.",
        ),
        Field::defaulted(
            "simple",
            Kind::Flag,
            "false",
            "Whether a smaller model will do under load; needs `degrade_to`.",
        ),
        Field::defaulted(
            "lossy",
            Kind::Word(&[
                Word::now(
                    "refuse",
                    "such a request is refused, with the names of the members",
                ),
                Word::now(
                    "allow",
                    "it goes without them, or with what comes nearest, and they are named in `x-sluicegate-degraded`",
                ),
            ]),
            "refuse",
            "What becomes of a request with members that the dialect of the provider that it goes to cannot say.",
        ),
        Field::defaulted(
            "output_floor",
            COUNT,
            "256",
            "Load never lowers the maximum of output tokens below this.",
        ),
        Field::optional(
            "template",
            Kind::Prose("the text of an answer"),
            "What is answered when the level of load says so. Without it: the route is never answered so.",
        ),
        Field::optional(
            "raise_cap",
            COUNT,
            "An answer that was cut by a maximum that we set or lowered is asked for once more with this one. Without it: the cut \
             answer stays.",
        ),
        Field::section(
            "timeouts",
            Kind::Object(&TIMEOUTS),
            "For calls on this route.",
        ),
    ],
};

const TARGET: Kind = Kind::Text("a deployment's name");

static FALLBACK: Object = Object {
    name: "fallback",
    doc: "Another deployment, and when it may be used.",
    fields: &[
        Field::required("to", TARGET, "The deployment."),
        Field::optional(
            "when",
            Kind::List(&CONDITION),
            "Any of these. Without it: whatever keeps the ones before it from answering, all but `batch_low_priority` and \
             `content_filter`. `provider_5xx`: the provider failed or is short of capacity; `rate_limit_after_retry_budget`: it \
             limits, and no retry is left or would be in time; `capacity`: by our own count the request does not fit before its \
             deadline; `context_length_needed`: it is longer than the model's context; `primary_unavailable`: the breaker is \
             open, no key works or the account is out of money; `timeout`: no answer came in time, and the call may be billed \
             all the same; `batch_low_priority`: the request is in the lane `batch`, and load is high; `content_filter`: the \
             provider refused the content.",
        ),
    ],
};

static DEGRADE: Object = Object {
    name: "degrade_to",
    doc: "A smaller deployment, and when it is used in place of the primary.",
    fields: &[
        Field::required("to", TARGET, "The deployment."),
        Field::optional(
            "when",
            Kind::List(&CONDITION),
            "Any of the conditions of a fallback. Without it: `batch_low_priority`.",
        ),
    ],
};

const CONDITION: Kind = Kind::Word(&[
    Word::now("provider_5xx", "the provider failed"),
    Word::now(
        "rate_limit_after_retry_budget",
        "it limits, and no retry is left",
    ),
    Word::now("capacity", "it does not fit before its deadline"),
    Word::now("context_length_needed", "it is longer than the context"),
    Word::now("primary_unavailable", "the breaker is open or no key works"),
    Word::now("timeout", "no answer came in time"),
    Word::now("batch_low_priority", "in the lane batch under high load"),
    Word::now("content_filter", "the provider refused the content"),
]);
