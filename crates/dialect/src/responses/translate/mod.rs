//! Responses to and from the canonical form.

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

/// The member of a request in which this dialect says `feature`.
pub const fn field_of(feature: Feature) -> &'static str {
    match feature {
        Feature::Temperature => "temperature",
        Feature::TopP => "top_p",
        // These seven this dialect cannot say, so that no request of it holds them.
        Feature::TopK => "top_k",
        Feature::FrequencyPenalty => "frequency_penalty",
        Feature::PresencePenalty => "presence_penalty",
        Feature::Seed => "seed",
        Feature::LogitBias => "logit_bias",
        Feature::StopSequences => "stop",
        Feature::Logprobs => "top_logprobs",
        Feature::Images => "input[].content[].input_image",
        Feature::Documents => "input[].content[].input_file",
        Feature::Audio => "input[].content[].input_audio",
        Feature::Files => "input[].content[].file_id",
        Feature::ToolNames => "tools[].name",
        Feature::StrictTools => "tools[].strict",
        Feature::ToolChoice => "tool_choice",
        Feature::ParallelToolCalls => "parallel_tool_calls",
        Feature::ToolArguments => "input[].arguments",
        Feature::ToolResultMedia => "input[].output",
        Feature::Prefill | Feature::AssistantFirst => "input[].role",
        Feature::OutputCap => "max_output_tokens",
        Feature::Thinking => "reasoning",
        Feature::Thoughts => "input[].reasoning",
    }
}
