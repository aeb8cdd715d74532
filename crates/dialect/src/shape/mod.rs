//! The form that the text of an answer has to have, where nobody else sees to it.
//!
//! A client that asks for JSON gets it from the target that it chose by that provider's own feature, or not at all. A target that
//! somebody else chose (a fallback), or one without the feature, owes it the same: the model is told in words (`instruction`), what
//! it wraps around its JSON is taken off (`scan`), and what is left is checked (`check`). A JSON Schema comes from a client and may
//! be made to be slow: `bounds` says which are used.
//!
//! Answers that call tools, refuse or were cut at their maximum are not checked: the providers' own feature does not either.

mod bounds;
mod check;
mod instruction;
mod scan;
mod schema;
mod stream;

pub use check::{Fit, Misshapen, Shape};
pub(crate) use instruction::{instruct, repair};
pub(crate) use stream::ShapedEvents;
