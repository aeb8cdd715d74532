//! Google's `generateContent` to and from the canonical form.

mod carried;
mod foreign_seal;
mod function_name;
mod logprobs;
mod open_api;
mod read_answer;
mod read_part;
mod read_request;
mod read_stream;
mod read_tools;
mod wire;
mod wire_value;
mod write_answer;
mod write_contents;
mod write_request;
mod write_stream;

use sluicegate_catalog::ErrorClass;

use crate::canonical::Feature;

pub(super) use carried::is_carried;
pub(super) use foreign_seal::{ASKED as STAND_IN, is_stand_in};
pub use read_answer::read_answer;
pub use read_request::read_request;
pub use read_stream::StreamReader;
pub use write_answer::{write_answer, write_error};
pub use write_request::write_request;
pub use write_stream::StreamWriter;

/// The members of a request in which this dialect says `feature`: from the beginning, or behind a dot from where it stands. Some have
/// no place here, so that no request of this dialect holds them.
pub(crate) const fn members_of(feature: Feature) -> &'static [&'static str] {
    match feature {
        Feature::Temperature => &["generationConfig.temperature"],
        Feature::TopP => &["generationConfig.topP"],
        Feature::TopK => &["generationConfig.topK"],
        Feature::FrequencyPenalty => &["generationConfig.frequencyPenalty"],
        Feature::PresencePenalty => &["generationConfig.presencePenalty"],
        Feature::Seed => &["generationConfig.seed"],
        Feature::Logprobs => &["generationConfig.responseLogprobs"],
        Feature::LogitBias => &["generationConfig.logitBias"],
        Feature::StopSequences => &["generationConfig.stopSequences"],
        Feature::Images | Feature::Documents | Feature::Audio => &[".inlineData", ".fileData"],
        Feature::Files => &[".fileData"],
        Feature::ToolNames => &[".name", ".functionCall.name"],
        Feature::StrictTools | Feature::ToolChoice => &["toolConfig.functionCallingConfig.mode"],
        Feature::ParallelToolCalls => &["toolConfig.functionCallingConfig"],
        Feature::ToolArguments => &[".functionCall.args"],
        Feature::ToolResultMedia | Feature::AssistantFirst => &[""],
        Feature::OutputCap => &["generationConfig.maxOutputTokens"],
        Feature::Thinking => &["generationConfig.thinkingConfig"],
        Feature::Thoughts => &["contents[].parts[].thought"],
    }
}

/// The status of an error of that class, as a number and as a word.
const fn status_of(class: ErrorClass) -> (u16, &'static str) {
    match class {
        ErrorClass::Rate | ErrorClass::Daily | ErrorClass::Ramp => (429, "RESOURCE_EXHAUSTED"),
        ErrorClass::Overload => (503, "UNAVAILABLE"),
        ErrorClass::TooLargeForLimit
        | ErrorClass::Invalid
        | ErrorClass::Context
        | ErrorClass::Policy => (400, "INVALID_ARGUMENT"),
        ErrorClass::Auth => (401, "UNAUTHENTICATED"),
        ErrorClass::Billing => (402, "FAILED_PRECONDITION"),
        ErrorClass::Timeout => (504, "DEADLINE_EXCEEDED"),
        ErrorClass::Server => (500, "INTERNAL"),
    }
}
