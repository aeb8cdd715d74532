//! Vectors as OpenAI's embeddings.

use serde_json::{Value, json};

use super::{Completion, vector};
use crate::fault::UsageFault;

const DIMENSIONS: u64 = 1_536;

/// All vectors.
pub(super) fn whole(said: &Completion, usage: UsageFault) -> String {
    let dimensions = said.embed.dimensions.unwrap_or(DIMENSIONS);
    let texts = said.embed.texts.iter().enumerate();
    let data = texts.map(|(index, text)| {
        let vector = vector::vector(text, dimensions);
        let embedding = match said.embed.base64 {
            true => json!(vector::base64(&vector)),
            false => json!(vector),
        };
        json!({"object": "embedding", "index": index, "embedding": embedding})
    });
    let mut answer = json!({
        "object": "list", "model": said.model, "data": data.collect::<Vec<Value>>(),
    });
    if usage != UsageFault::Missing {
        let tokens = said.prompt_tokens;
        answer["usage"] = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    }
    answer.to_string()
}
