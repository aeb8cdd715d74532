//! What requests, answers and streams say, apart from any dialect.
//!
//! Each dialect reads into this form and writes from it, so that a dialect more is a folder more and
//! not a translation to each of the others. What passes between two sides of the same dialect never
//! comes here: there the bytes pass. So this form need not hold everything that some dialect can
//! say. What it cannot hold, or what the other side cannot say, is told by name ([`Inexpressible`])
//! and left to the caller: to refuse, or to drop and report.
//!
//! Plain owned data, not serialisable: each dialect owns its wire types. JSON inside it (schemas,
//! arguments of tools) is kept as the text that came, since the order of members means something to
//! a model.

mod answer;
pub(crate) mod arguments;
pub(crate) mod call_id;
mod calls_in_order;
mod event;
pub(crate) mod failed_tool;
mod feature;
pub(crate) mod json_end;
mod json_text;
mod logprob;
mod lost;
mod media;
mod places;
mod request;
pub(crate) mod seal;
mod target;
mod tools;
mod translated;

pub use answer::{Answer, FinishReason};
pub use calls_in_order::CallsInOrder;
pub use event::Event;
pub use feature::{Feature, Inexpressible};
pub(crate) use feature::{NAMED_MAX, Unsaid};
pub use json_text::JsonText;
pub use logprob::Logprob;
pub(crate) use lost::Losses;
pub use lost::{Lost, Spot};
pub use media::{Address, Base64, MediaType, SoundFormat};
pub use places::Places;
pub(crate) use places::{Placed, PlacedTurn};
pub use request::{Part, Request, Role, Sampling, Source, Thinking, ThinkingEffort, Turn};
pub use target::{CapName, Stamp, Target, ThinkingForm};
pub use tools::{OutputForm, Tool, ToolChoice};
pub use translated::{ReadRequest, WrittenRequest};
