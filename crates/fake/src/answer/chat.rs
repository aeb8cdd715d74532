//! An answer as an OpenAI chat completion, or as its chunks.

mod wire;

use super::said::{Choice, Finish, Part, ToolCall};
use super::{ChunkUsage, Completion, Frame, Progress, Step, render};
use crate::fault::UsageFault;
use wire::{
    CallPiece, Chunk, ChunkChoice, CompletionDetails, Delta, Function, Message, PromptDetails,
    Usage, Whole, WholeCall, WholeChoice,
};

/// The answer in one piece.
pub(super) fn whole(said: &Completion, usage: UsageFault) -> String {
    let choices = said
        .choices
        .iter()
        .enumerate()
        .map(|(index, choice)| WholeChoice {
            index,
            message: Message {
                role: "assistant",
                content: choice.text(),
                refusal: choice.refusal(),
                reasoning_content: choice.thought().map(|thought| thought.pieces.concat()),
                annotations: [],
                tool_calls: choice.calls().map(whole_call).collect(),
            },
            logprobs: None,
            finish_reason: finish_reason(&choice.finish),
        });
    render(&Whole {
        id: &format!("chatcmpl-{}", said.id),
        object: "chat.completion",
        created: said.created,
        model: &said.model,
        choices: choices.collect(),
        usage: (usage != UsageFault::Missing).then(|| usage_of(said, said.output_tokens())),
        service_tier: "default",
        system_fingerprint: &said.fingerprint,
        extra: &said.extra,
    })
}

/// Roles and the beginnings of calls, thoughts, then a token of each choice and of each tool call in turn, then the ends, then
/// the usage where it is asked for.
pub(super) fn steps(said: &Completion, include_usage: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, choice) in said.choices.iter().enumerate() {
        steps.push(Step::Begin(index));
        for (at, part) in choice.parts.iter().enumerate() {
            match part {
                Part::Call(_) => steps.push(Step::Open(index, at)),
                Part::Thought(thought) => {
                    steps.extend((0..thought.pieces.len()).map(|n| Step::Piece(index, at, n)));
                }
                Part::Text(_) | Part::Refusal(_) => {}
            }
        }
    }
    let spoken = |part: &Part| match part {
        Part::Thought(_) => 0,
        part => part.pieces().len(),
    };
    let parts = said.choices.iter().flat_map(|choice| &choice.parts);
    let longest = parts.map(spoken).max().unwrap_or(0);
    for n in 0..longest {
        for (index, choice) in said.choices.iter().enumerate() {
            let parts = choice.parts.iter().enumerate();
            let speaking = parts.filter(|(_, part)| n < spoken(part));
            steps.extend(speaking.map(|(at, _)| Step::Piece(index, at, n)));
        }
    }
    steps.extend((0..said.choices.len()).map(Step::Finish));
    if include_usage {
        steps.push(Step::End);
    }
    steps
}

/// The chunk of one step.
pub(super) fn frame(said: &Completion, step: Step, progress: Progress) -> Frame {
    let usage = match (step, progress.usage) {
        (Step::End, _) => Some(Some(usage_of(said, said.output_tokens()))),
        (_, ChunkUsage::Null) => Some(None),
        (_, ChunkUsage::Absent) => None,
        (_, ChunkUsage::Cumulative) => {
            Some(Some(usage_of(said, progress.tokens + said.silent_tokens())))
        }
    };
    let data = render(&Chunk {
        id: &format!("chatcmpl-{}", said.id),
        object: "chat.completion.chunk",
        created: said.created,
        model: &said.model,
        service_tier: "default",
        system_fingerprint: &said.fingerprint,
        choices: chunk_choice(said, step).into_iter().collect(),
        usage,
        extra: &said.extra,
    });
    Frame { name: None, data }
}

fn chunk_choice(said: &Completion, step: Step) -> Option<ChunkChoice<'_>> {
    let (index, delta) = match step {
        Step::Begin(index) => (index, begin(&said.choices[index])),
        Step::Open(index, at) => (index, open(&said.choices[index], at)),
        Step::Piece(index, at, n) => (index, piece(&said.choices[index], at, n)),
        Step::Finish(index) => (index, Delta::default()),
        _ => return None,
    };
    let finish_reason = match step {
        Step::Finish(index) => Some(finish_reason(&said.choices[index].finish)),
        _ => None,
    };
    Some(ChunkChoice {
        index,
        delta,
        logprobs: None,
        finish_reason,
    })
}

fn begin(choice: &Choice) -> Delta<'_> {
    let speaks = choice
        .parts
        .iter()
        .any(|part| matches!(part, Part::Text(_)));
    Delta {
        role: Some("assistant"),
        content: Some(speaks.then_some("")),
        ..Delta::default()
    }
}

fn open(choice: &Choice, at: usize) -> Delta<'_> {
    let Part::Call(call) = &choice.parts[at] else {
        return Delta::default();
    };
    let piece = CallPiece {
        index: choice.call_index(at),
        id: Some(call_id(call)),
        r#type: Some("function"),
        function: Function {
            name: Some(&call.name),
            arguments: String::new(),
        },
    };
    Delta {
        tool_calls: Some([piece]),
        ..Delta::default()
    }
}

fn piece(choice: &Choice, at: usize, n: usize) -> Delta<'_> {
    let part = &choice.parts[at];
    let text = &*part.pieces()[n];
    let mut delta = Delta::default();
    match part {
        Part::Thought(_) => delta.reasoning_content = Some(text),
        Part::Text(_) => delta.content = Some(Some(text)),
        Part::Refusal(_) => delta.refusal = Some(text),
        Part::Call(_) => delta.tool_calls = Some([CallPiece::of(choice.call_index(at), text)]),
    }
    delta
}

fn whole_call(call: &ToolCall) -> WholeCall<'_> {
    WholeCall {
        id: call_id(call),
        r#type: "function",
        function: Function {
            name: Some(&call.name),
            arguments: call.fragments.concat(),
        },
    }
}

fn call_id(call: &ToolCall) -> String {
    format!("call_{}", call.id)
}

fn finish_reason(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::StopSequence(_) | Finish::Refused => "stop",
        Finish::Length => "length",
        Finish::Tools => "tool_calls",
    }
}

fn usage_of(said: &Completion, completion_tokens: u64) -> Usage {
    Usage {
        prompt_tokens: said.prompt_tokens,
        completion_tokens,
        total_tokens: said.prompt_tokens + completion_tokens,
        prompt_tokens_details: PromptDetails {
            cached_tokens: said.cached_tokens,
            audio_tokens: 0,
        },
        completion_tokens_details: CompletionDetails {
            reasoning_tokens: said.reasoning_tokens,
            audio_tokens: 0,
            accepted_prediction_tokens: 0,
            rejected_prediction_tokens: 0,
        },
    }
}
