//! Responses to and from the canonical form.

mod asked;
mod output;
mod read_answer;
mod read_input;
mod read_request;
mod read_stream;
mod seal;
mod stream_event;
mod wire;
mod write_answer;
mod write_input;
mod write_request;
mod write_stream;

use crate::canonical::Feature;

pub use read_answer::read_answer;
pub use read_request::read_request;
pub use read_stream::StreamReader;
pub(super) use seal::is_foreign as is_foreign_seal;
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
        Feature::LogitBias => &["logit_bias"],
        Feature::StopSequences => &["stop"],
        Feature::Logprobs => &["top_logprobs", "include"],
        Feature::Images => &[".image_url"],
        Feature::Documents => &[".file_data", ".file_url"],
        Feature::Audio => &[".input_audio"],
        Feature::Files => &[".file_id"],
        Feature::ToolNames => &[".name"],
        Feature::StrictTools => &[".strict"],
        Feature::ToolChoice => &["tool_choice"],
        Feature::ParallelToolCalls => &["parallel_tool_calls"],
        Feature::ToolArguments => &[".arguments"],
        Feature::ToolResultMedia | Feature::AssistantFirst => &[""],
        Feature::OutputCap => &["max_output_tokens"],
        Feature::Thinking => &["reasoning"],
        Feature::Thoughts => &["input[].reasoning"],
    }
}
