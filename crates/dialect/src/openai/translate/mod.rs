//! Chat completions to and from the canonical form.

mod carried;
pub(crate) mod effort;
mod failure;
pub(crate) mod logprobs;
mod read_answer;
mod read_media;
mod read_message;
mod read_request;
mod read_stream;
pub(crate) mod sampling;
mod strict_schema;
mod wire;
mod write_answer;
mod write_request;
mod write_stream;

use crate::canonical::Feature;

pub(super) use carried::is_carried;
pub(crate) use failure::error_out;
pub use failure::write_error;
pub(crate) use read_answer::call_id;
pub use read_answer::read_answer;
pub use read_request::read_request;
pub use read_stream::StreamReader;
pub(crate) use strict_schema::fits_strict;
pub use write_answer::write_answer;
pub use write_request::write_request;
pub use write_stream::StreamWriter;

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
        Feature::StopSequences => &["stop"],
        Feature::Images => &[".image_url"],
        Feature::Documents => &[".file"],
        Feature::Audio => &[".input_audio"],
        Feature::Files => &[".file.file_id"],
        Feature::ToolNames => &[".function.name"],
        Feature::StrictTools => &[".function.strict"],
        Feature::ToolChoice => &["tool_choice"],
        Feature::ParallelToolCalls => &["parallel_tool_calls"],
        Feature::ToolArguments => &[".function.arguments"],
        Feature::ToolResultMedia | Feature::AssistantFirst => &[""],
        Feature::OutputCap => &["max_completion_tokens", "max_tokens"],
        Feature::Thinking => &["reasoning_effort"],
        Feature::Thoughts => &["messages[].reasoning_content"],
    }
}
