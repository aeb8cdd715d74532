//! The part of the language that describes upstreams: whom we call, what models we ask for, what that costs.

use super::limits::LIMITS;
use super::{BREAKER, COUNT, TIMEOUTS};
use crate::shape::{Field, Kind, Object, Word};

pub(super) static ACCOUNT: Object = Object {
    name: "account",
    doc: "What a provider limits and bills: an organisation, subscription or project.",
    fields: &[
        Field::required(
            "provider",
            Kind::Text("a provider's id"),
            "A name under `providers`, or the provider's id in the [catalog](providers.md).",
        ),
        Field::optional(
            "api_key",
            Kind::Secret,
            "The key. An upstream on a loopback address needs none.",
        ),
        Field::optional(
            "api_keys",
            Kind::List(&Kind::Secret),
            "Several keys, used in turn. They share the account's limits: more keys are not more quota.",
        ),
        Field::optional(
            "base_url",
            Kind::Url,
            "Where the provider's API begins, up to and including the version. Without it: the provider's own, where \
             it has one.",
        ),
        Field::defaulted(
            "headroom",
            Kind::OneOf(&[
                Kind::Word(&[Word::now("auto", "the whole, less what is learned")]),
                Kind::Share,
            ]),
            "auto",
            "The share of each limit that is used. `auto`: all of it but a margin, which is learned where answers show more used \
             than we counted; of token limits an eightieth is left free at least, of none more than a thirty-fourth. A number is a \
             hard cap, of which what is learned may leave free as much.",
        ),
        Field::optional(
            "limits",
            LIMITS,
            "What the provider grants the account as a whole. A meter that no limit counts is learned from the answers, where \
             they tell of it.",
        ),
        Field::optional(
            "families",
            Kind::Map {
                name: "family",
                of: &FAMILY,
            },
            "Groups of models that share limits within the account.",
        ),
        Field::section(
            "timeouts",
            Kind::Object(&TIMEOUTS),
            "For calls to this account.",
        ),
        Field::section(
            "breaker",
            Kind::Object(&BREAKER),
            "For each deployment of this account.",
        ),
        Field::optional(
            "ca_file",
            Kind::Text("a path"),
            "A PEM file with further root certificates for this upstream.",
        ),
        Field::optional(
            "charge",
            Kind::Text("the name of a charge rule"),
            "Which of the catalog's rules for what a request costs is used, where the provider's documentation and what \
             was measured differ. Without it: the catalog's choice.",
        ),
        Field::optional(
            "region",
            Kind::Text("a region's name"),
            "The provider's region, like `us-east-1`: it gives the address where none is written, and is what `aws` signs for.",
        ),
        Field::optional(
            "aws",
            Kind::Object(&AWS),
            "Credentials with which every request is signed, in place of a key.",
        ),
    ],
};

static AWS: Object = Object {
    name: "aws",
    doc: "Credentials of Amazon's, by which requests are signed (AWS Signature Version 4).",
    fields: &[
        Field::required(
            "access_key_id",
            Kind::Secret,
            "The access key's id, best as `${AWS_ACCESS_KEY_ID}`.",
        ),
        Field::required(
            "secret_access_key",
            Kind::Secret,
            "The secret that belongs to it, best as `${AWS_SECRET_ACCESS_KEY}`.",
        ),
        Field::optional(
            "session_token",
            Kind::SecretOrEmpty,
            "The token of credentials that hold for some hours only, best as `${AWS_SESSION_TOKEN:-}`. Empty or left out: they have none.",
        ),
    ],
};

static FAMILY: Object = Object {
    name: "family",
    doc: "Models of one account that share limits.",
    fields: &[
        Field::required(
            "models",
            Kind::List(&Kind::Text("a model's name")),
            "The provider's names of the models; a name may end in `*`.",
        ),
        Field::required(
            "limits",
            LIMITS,
            "What the provider grants these models together.",
        ),
    ],
};

pub(super) static DEPLOYMENT: Object = Object {
    name: "deployment",
    doc: "One addressable upstream: an account and a model.",
    fields: &[
        Field::required(
            "account",
            Kind::Text("an account's name"),
            "The account that is called and charged.",
        ),
        Field::optional(
            "model",
            Kind::Text("a model's name"),
            "The provider's name of the model. `\"*\"` passes the requested name through, for a deployment whose name \
             ends in `*`. Without it: the deployment's own name.",
        ),
        Field::optional(
            "limits",
            LIMITS,
            "What the provider grants this model. Deployments of one account and model share them.",
        ),
        Field::optional(
            "context",
            COUNT,
            "The most tokens of input and output together. A route tells by it which requests are too long.",
        ),
        Field::optional(
            "price",
            Kind::Object(&PRICE),
            "What it costs. A route with `balance: price` goes by it; spend limits are not there yet.",
        ),
        Field::section(
            "timeouts",
            Kind::Object(&TIMEOUTS),
            "For calls to this deployment.",
        ),
        Field::section("breaker", Kind::Object(&BREAKER), "For this deployment."),
        Field::optional(
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
        Field::required("input", Kind::Dollars, "A million input tokens."),
        Field::optional(
            "cached_input",
            Kind::Dollars,
            "A million input tokens read from the provider's cache. Without it: as `input`.",
        ),
        Field::required("output", Kind::Dollars, "A million output tokens."),
    ],
};
