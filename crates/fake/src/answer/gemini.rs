//! An answer as Gemini's response, or as the responses of a stream.

use serde_json::{Value, json};

use super::said::{Choice, Finish, Part};
use super::{ChunkUsage, Completion, Frame, Progress, Step, blocks, vector};
use crate::ask::seals_calls;
use crate::fault::UsageFault;
use crate::seal::Sealer;

const DIMENSIONS: u64 = 3_072;

/// The answer in one piece.
pub(super) fn whole(said: &Completion, usage: UsageFault) -> String {
    let candidates: Vec<Value> = said
        .choices
        .iter()
        .enumerate()
        .map(|(index, choice)| {
            let mut candidate = candidate(index, &whole_parts(said, choice));
            finish(&mut candidate, &choice.finish);
            candidate
        })
        .collect();
    let mut response = response(said, &json!(candidates));
    if usage != UsageFault::Missing {
        response["usageMetadata"] = usage_of(said, said.output_tokens());
    }
    response.to_string()
}

/// Tokens of a prompt.
pub(super) fn count(said: &Completion) -> String {
    json!({
        "totalTokens": said.prompt_tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": said.prompt_tokens}],
    })
    .to_string()
}

/// One vector, or those of a batch.
pub(super) fn embeddings(said: &Completion) -> String {
    let dimensions = said.embed.dimensions.unwrap_or(DIMENSIONS);
    let values = |text: &String| json!({"values": vector::vector(text, dimensions)});
    match said.embed.texts.as_slice() {
        [text] if !said.batch => json!({"embedding": values(text)}).to_string(),
        texts => json!({"embeddings": texts.iter().map(values).collect::<Vec<_>>()}).to_string(),
    }
}

/// The responses of a stream: a call of a function comes whole.
pub(super) fn steps(said: &Completion) -> Vec<Step> {
    blocks::steps(said, |step| match step {
        Step::Piece(choice, at, _) => matches!(
            said.choices[choice].parts[at],
            Part::Thought(_) | Part::Text(_)
        ),
        Step::Close(choice, at) => match said.choices[choice].parts[at] {
            Part::Call(_) => true,
            Part::Text(_) => said.choices[choice].thought().is_some(),
            _ => false,
        },
        Step::Finish(_) => true,
        _ => false,
    })
}

/// The response of one step.
pub(super) fn frame(said: &Completion, step: Step, progress: Progress) -> Frame {
    let candidate = match step {
        Step::Piece(choice, at, n) => {
            let part = &said.choices[choice].parts[at];
            let mut piece = json!({"text": part.pieces()[n]});
            if matches!(part, Part::Thought(_)) {
                piece["thought"] = json!(true);
            }
            candidate(choice, &[piece])
        }
        Step::Close(choice, at) => {
            let spoken = &said.choices[choice];
            let mut part = match &spoken.parts[at] {
                Part::Call(_) => whole_part(&spoken.parts[at]),
                _ => json!({"text": ""}),
            };
            sign(&mut part, said, spoken, at);
            candidate(choice, &[part])
        }
        Step::Finish(choice) => {
            let mut last = candidate(choice, &[json!({"text": ""})]);
            finish(&mut last, &said.choices[choice].finish);
            last
        }
        _ => Value::Null,
    };
    let mut response = response(said, &json!([candidate]));
    if progress.usage != ChunkUsage::Absent {
        let spoken = match step {
            Step::Finish(choice) if choice + 1 == said.choices.len() => said.output_tokens(),
            _ => progress.tokens + said.silent_tokens(),
        };
        response["usageMetadata"] = usage_of(said, spoken);
    }
    Frame {
        name: None,
        data: response.to_string(),
    }
}

fn response(said: &Completion, candidates: &Value) -> Value {
    let mut response = json!({
        "candidates": candidates, "modelVersion": said.model, "responseId": said.id,
    });
    if let Some(object) = response.as_object_mut() {
        object.extend(said.extra.clone());
    }
    response
}

fn candidate(index: usize, parts: &[Value]) -> Value {
    json!({"index": index, "content": {"role": "model", "parts": parts}})
}

fn whole_parts(said: &Completion, choice: &Choice) -> Vec<Value> {
    let parts = choice.parts.iter().enumerate();
    parts
        .map(|(at, part)| {
            let mut shown = whole_part(part);
            sign(&mut shown, said, choice, at);
            shown
        })
        .collect()
}

fn whole_part(part: &Part) -> Value {
    match part {
        Part::Thought(thought) => json!({"text": thought.pieces.concat(), "thought": true}),
        Part::Text(pieces) | Part::Refusal(pieces) => json!({"text": pieces.concat()}),
        Part::Call(call) => json!({"functionCall": {
            "id": call.id, "name": call.name, "args": call.input(),
        }}),
    }
}

/// What follows a thought carries its mark. Newer models seal the first of their calls whether the thought is shown or not.
fn sign(part: &mut Value, said: &Completion, choice: &Choice, at: usize) {
    let before = at.checked_sub(1).map(|before| &choice.parts[before]);
    match (before, &choice.parts[at]) {
        (Some(Part::Thought(thought)), _) => part["thoughtSignature"] = json!(thought.signature),
        (_, Part::Call(call)) if seals_calls(&said.model) && choice.call_index(at) == 0 => {
            let number = u64::from_str_radix(&call.id[..16], 16).unwrap_or_default();
            part["thoughtSignature"] = json!(Sealer::Google.seal(number));
        }
        _ => {}
    }
}

fn finish(candidate: &mut Value, finish: &Finish) {
    candidate["finishReason"] = json!(match finish {
        Finish::Stop | Finish::StopSequence(_) | Finish::Tools => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Refused => "SAFETY",
    });
    if *finish == Finish::Refused {
        candidate["safetyRatings"] = json!([{
            "category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true,
        }]);
        candidate["content"] = json!({"role": "model"});
    }
}

/// Thoughts are counted apart from what candidates say; what was cached is part of the prompt.
fn usage_of(said: &Completion, output: u64) -> Value {
    let mut usage = json!({
        "promptTokenCount": said.prompt_tokens,
        "candidatesTokenCount": output.saturating_sub(said.reasoning_tokens),
        "totalTokenCount": said.prompt_tokens + output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": said.prompt_tokens}],
    });
    if said.reasoning_tokens > 0 {
        usage["thoughtsTokenCount"] = json!(said.reasoning_tokens.min(output));
    }
    if said.cached_tokens > 0 {
        usage["cachedContentTokenCount"] = json!(said.cached_tokens);
    }
    usage
}
