//! OpenAI's chat completions, which many other providers and servers speak too.

mod endings;
mod envelope;
mod error;
mod members;
mod messages;
mod request_error;
mod rewrite;
mod stream;
mod template;
mod usage;

pub use endings::is_cut;
pub use envelope::Envelope;
pub use error::{ErrorOut, UpstreamError, classify, error_body, error_event};
pub use request_error::RequestError;
pub use rewrite::{Changes, IncludeUsage, Priority};
pub use stream::{ChatStream, Progress, UsageChunk};
pub use template::Template;
pub use usage::Usage;
