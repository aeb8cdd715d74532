//! Messages to and from the canonical form.

pub(crate) mod call;
mod read_answer;
mod read_request;
mod read_stream;
mod seal;
mod stream_event;
mod wire;
mod write_answer;
mod write_request;
mod write_stream;
mod write_thinking;

use sluicegate_catalog::ErrorClass;

use crate::canonical::Feature;

pub use read_answer::read_answer;
pub use read_request::read_request;
pub use read_stream::StreamReader;
pub(super) use seal::is_own as is_own_seal;
pub(crate) use wire::Thinking;
pub(super) use write_answer::error_out;
pub use write_answer::{write_answer, write_error};
pub use write_request::write_request;
pub use write_stream::StreamWriter;
pub(crate) use write_thinking::{thinking, thinking_budget};

/// The members of a request in which this dialect says `feature`: from the beginning, or behind a dot from where it stands. Some have
/// no place here, so that no request of this dialect holds them.
pub(crate) const fn members_of(feature: Feature) -> &'static [&'static str] {
    match feature {
        Feature::Temperature => &["temperature"],
        Feature::TopP => &["top_p"],
        Feature::TopK => &["top_k"],
        Feature::FrequencyPenalty => &["frequency_penalty"],
        Feature::PresencePenalty => &["presence_penalty"],
        Feature::Seed => &["seed"],
        Feature::Logprobs => &["logprobs"],
        Feature::LogitBias => &["logit_bias"],
        Feature::StopSequences => &["stop_sequences"],
        Feature::Images | Feature::Documents | Feature::Audio => &[".source"],
        Feature::Files => &[".source.file_id"],
        Feature::ToolNames => &[".name"],
        Feature::StrictTools => &[".strict"],
        Feature::ToolChoice => &["tool_choice"],
        Feature::ParallelToolCalls => &["tool_choice.disable_parallel_tool_use"],
        Feature::ToolArguments => &[".input"],
        Feature::ToolResultMedia | Feature::AssistantFirst => &[""],
        Feature::OutputCap => &["max_tokens"],
        Feature::Thinking => &["thinking", "output_config.effort"],
        Feature::Thoughts => &["messages[].content[].thinking"],
    }
}

/// The kind of an error of that class.
const fn kind_of(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Rate | ErrorClass::Daily | ErrorClass::Ramp => "rate_limit_error",
        ErrorClass::Overload => "overloaded_error",
        ErrorClass::TooLargeForLimit
        | ErrorClass::Invalid
        | ErrorClass::Context
        | ErrorClass::Policy => "invalid_request_error",
        ErrorClass::Auth => "authentication_error",
        ErrorClass::Billing => "billing_error",
        ErrorClass::Timeout => "timeout_error",
        ErrorClass::Server => "api_error",
    }
}
