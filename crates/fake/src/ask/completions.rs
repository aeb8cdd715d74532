//! OpenAI's older completions of a prompt, and its embeddings, as they are asked for.

use serde_json::{Map, Value};

use super::content_id::content_id;
use super::embed::Embed;
use super::field::{count, flag, given, invalid, missing, texts, wrong_type};
use super::talk::{Role, Talk};
use super::{Complaint, Draft, model};

/// The maximum where a request names none.
const OUTPUT_MAX: u64 = 16;
/// Texts of one request at most.
const TEXTS_MAX: usize = 2_048;
const PROMPT: [&str; 4] = ["prompt", "suffix", "n", "seed"];

/// Reads a request for completions.
pub(super) fn read(mut body: Map<String, Value>, talk: &mut Talk) -> Result<Draft, Complaint> {
    let fake = body.remove("fake");
    let prompts = several(&body, "prompt")?;
    for prompt in &prompts {
        talk.turn(Role::User, "");
        talk.text(prompt);
    }
    let stream = flag(&body, "stream")?;
    let options = given(&body, "stream_options");
    let alternatives = count(&body, "n")?.unwrap_or(1);
    Ok(Draft {
        model: model(&body)?,
        stream,
        include_usage: options.is_some_and(|options| options["include_usage"] == true),
        choices: Some(alternatives.saturating_mul(prompts.len() as u64)),
        best_of: count(&body, "best_of")?,
        output_max: count(&body, "max_tokens")?.or(Some(OUTPUT_MAX)),
        stops: texts(body.get("stop")),
        content_id: content_id(&body, &PROMPT),
        before: if flag(&body, "echo")? {
            prompts
        } else {
            Vec::new()
        },
        fake,
        ..Draft::default()
    })
}

/// Reads a request for embeddings.
pub(super) fn embeddings(
    mut body: Map<String, Value>,
    talk: &mut Talk,
) -> Result<Draft, Complaint> {
    let fake = body.remove("fake");
    let mut embed = Embed {
        dimensions: count(&body, "dimensions")?,
        base64: match given(&body, "encoding_format").map(Value::as_str) {
            None | Some(Some("float")) => false,
            Some(Some("base64")) => true,
            Some(_) => {
                let message = "Invalid value for 'encoding_format': expected 'float' or 'base64'.";
                return Err(invalid("encoding_format", message.to_owned()));
            }
        },
        ..Embed::default()
    };
    for text in several(&body, "input")? {
        embed.hear(text, talk);
    }
    Ok(Draft {
        model: model(&body)?,
        content_id: content_id(&body, &["input"]),
        embed: Some(embed),
        fake,
        ..Draft::default()
    })
}

/// One text or several, each as a string or as numbers of tokens, which stand for themselves.
fn several(body: &Map<String, Value>, name: &'static str) -> Result<Vec<String>, Complaint> {
    let of_tokens = |value: &Value| match value {
        Value::Array(tokens) if tokens.iter().all(Value::is_u64) => Some(value.to_string()),
        _ => None,
    };
    let texts = match body.get(name) {
        None | Some(Value::Null) => return Err(missing(name)),
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) if items.is_empty() => {
            return Err(invalid(
                name,
                format!("Invalid '{name}': input cannot be an empty array."),
            ));
        }
        Some(Value::Array(items)) if items.len() > TEXTS_MAX => {
            return Err(invalid(
                name,
                format!("Invalid '{name}': at most {TEXTS_MAX} items."),
            ));
        }
        Some(list @ Value::Array(items)) => match of_tokens(list) {
            Some(one) => vec![one],
            None => {
                let text =
                    |item: &Value| item.as_str().map(str::to_owned).or_else(|| of_tokens(item));
                let all: Option<Vec<String>> = items.iter().map(text).collect();
                all.ok_or_else(|| wrong_type(name, "strings or arrays of tokens"))?
            }
        },
        Some(_) => return Err(wrong_type(name, "a string or an array")),
    };
    match texts.iter().any(String::is_empty) && name == "input" {
        true => Err(invalid(
            name,
            format!("Invalid '{name}': input cannot be an empty string."),
        )),
        false => Ok(texts),
    }
}
