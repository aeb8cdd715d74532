//! What providers do, as data: one row each, with source and confidence.
//!
//! A row says how a provider's limits count and refill, what a request is charged and what it is counted as in the end,
//! which headers tell the state of a limit and what its errors mean. When a provider changes a rule, one line of
//! its row changes; code here knows no provider by name. Every fact carries its [`Evidence`],
//! because documents, headers and refusals disagree: the row says which reading is the default and
//! why, and keeps the others as named alternatives.
//!
//! Rows are compiled in, so that a binary cannot meet a row that was not validated with it; one that a user writes meets
//! the same checks. Nothing here reads a file, a socket or a clock.
//!
//! ```
//! use std::num::NonZeroU64;
//! let openai = sluicegate_catalog::provider("openai").expect("a row of that name");
//! let tpm = openai.limit("tpm", NonZeroU64::new(300_000).expect("not zero"))?;
//! assert_eq!(tpm.named("openai-main/tpm".into()).amount.get(), 300_000);
//! # Ok::<(), sluicegate_catalog::LimitError>(())
//! ```

mod address;
mod calendar;
mod charge;
mod error_class;
mod evidence;
mod images;
mod lane_priority;
mod limit;
mod merge;
mod model;
mod problems;
mod provider;
mod reference;
mod settle;
mod signal;
mod told;
mod translation;
mod vocabulary;
mod weight;
mod window;
mod work;
mod written;

pub use address::{Endpoint, Paths};
pub use calendar::{TimeOfDay, Zone};
pub use charge::{
    Charge, ChargeRule, Input, Output, OutputMeter, OutputOnInput, RequestSize, Slots, TimesBestOf,
};
pub use error_class::ErrorMatch;
pub use evidence::{Confidence, Evidence};
pub use images::{ImageFormula, Images};
pub use lane_priority::LanePriority;
pub use limit::{ARRIVAL_SPREAD, Alternative, LimitError, LimitRow, LimitTemplate};
pub use model::ModelTerms;
pub use problems::RowProblem;
pub use provider::{Auth, Dialect, Provider, provider, providers};
pub use reference::reference;
pub use settle::{CutStream, UsageTokens};
pub use signal::{BodyHint, ResetFormat, ResetMeans, SignalRow};
pub use sluicegate_core::ErrorClass;
pub use translation::{CapName, Effort, Models, Thinking, ThinkingBy, Translation};
pub use vocabulary::{ModelVocabulary, Vocabulary};
pub use weight::Weight;
pub use window::WindowRow;
pub use work::WorkMs;
pub use written::RowError;
