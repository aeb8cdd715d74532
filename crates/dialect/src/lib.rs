//! Wire formats: bytes and headers to requests, usage, signals and error classes, and the
//! estimates.
//!
//! What passes through is read, not rebuilt: a body or a stream event stays the bytes that came,
//! and what must differ is spliced in by its place. So an unknown field can never be lost, and
//! reading costs what deciding needs. Nothing here sends, waits or reads a clock; wall time is an
//! argument.

mod answer_stream;
pub mod anthropic;
pub mod bedrock;
mod calibration;
pub mod canonical;
mod changes;
mod charge_told;
mod clock_text;
pub mod cohere;
mod crossing;
mod data_url;
mod envelope;
mod error_text;
mod estimate;

pub mod gemini;
mod header_text;
mod image;
mod json;
mod lenient;
mod member_path;
mod mistake_words;
mod model_member;
mod object_only;
pub mod openai;
mod operation;
mod output_tally;
mod period;
mod progress;
mod provider_dialect;
mod prune;
mod rate_limit_fields;
mod ratios;
mod reference;
mod refusal;
mod request_error;
mod request_facts;
mod request_member;
pub mod responses;
mod retry_hint;
mod shape;
mod signal;
mod splice;
pub mod sse;
mod text;
mod told_failure;
mod tool_names;
mod translate;
mod translate_stream;
mod unwritten;
mod upstream_error;
mod usage;
mod wire_form;
mod wire_mistake;
mod work_time;

pub use answer_stream::AnswerStream;
pub use calibration::{Calibration, Expected};
pub use changes::{Changes, IncludeUsage, Priority, Seals};
pub use charge_told::{charge_refused, charge_told, taken_between};
pub use crossing::{Crossing, Outbound, Owed, Whole};
pub use envelope::Envelope;
pub use estimate::{Parts, charge, text_tokens, tokens};
pub use image::{Detail, ImageSize, ImageTokens};
pub use operation::{ErrorOut, Operation};
pub use progress::Progress;
pub use provider_dialect::ProviderDialect;
pub use ratios::Ratios;
pub use reference::reference;
pub use refusal::{RefusalFacts, refusal_facts, told_by_refusal};
pub use request_error::RequestError;
pub use request_facts::RequestFacts;
pub use retry_hint::retry_hint;
pub use shape::{Fit, Misshapen, Shape};
pub use signal::signals;
pub use text::TextTally;
pub use told_failure::{Success, ToldFailure};
pub use translate::{Dialect, Translation, translate_request};
pub use translate_stream::StreamTranslation;
pub use upstream_error::{UpstreamError, classify};
pub use usage::Usage;
pub use work_time::work_time;
