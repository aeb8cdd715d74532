//! Gemini's content, as it is asked for, at Google's developer interface or at Vertex.

mod seals;

use serde_json::{Map, Value};

use super::content_id::content_id;
use super::embed::Embed;
use super::field::{complain, texts};
use super::talk::{Role, Talk};
use super::{Complaint, Draft, Tool, ToolChoice};
use crate::dialect::{Door, Task};
use seals::check_seals;

pub(crate) use seals::seals_calls;

/// Fields of the interface; others are refused.
const KNOWN: [&str; 19] = [
    "cachedContent",
    "content",
    "contents",
    "fake",
    "generateContentRequest",
    "generationConfig",
    "labels",
    "model",
    "outputDimensionality",
    "requests",
    "safetySettings",
    "serviceTier",
    "store",
    "systemInstruction",
    "system_instruction",
    "taskType",
    "title",
    "toolConfig",
    "tools",
];
const CONTENT: [&str; 7] = [
    "contents",
    "content",
    "requests",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
];

/// Reads a body.
pub(super) fn read(
    mut body: Map<String, Value>,
    door: &Door,
    talk: &mut Talk,
) -> Result<Draft, Complaint> {
    let fake = body.remove("fake");
    let echo = fake.as_ref().is_some_and(|fake| fake["echo"] == true);
    let unknown: Map<String, Value> = body
        .iter()
        .filter(|(name, _)| KNOWN.binary_search(&name.as_str()).is_err())
        .filter(|(name, _)| !KNOWN.contains(&camel(name).as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(name) = unknown.keys().next().filter(|_| !echo) {
        return Err(complain(format!(
            "Invalid JSON payload received. Unknown name \"{name}\": Cannot find field."
        )));
    }
    let content_id = content_id(&body, &CONTENT);
    let mut draft = match door.task {
        Task::Embed => Draft {
            embed: Some(inputs(&body, talk)?),
            ..Draft::default()
        },
        Task::Count => {
            let body = Value::Object(body);
            match either(&body, "generateContentRequest") {
                Value::Null => generate(&body, talk)?,
                inner => generate(inner, talk)?,
            }
        }
        Task::Generate => {
            let body = Value::Object(body);
            check_seals(&body, door.model.as_deref().unwrap_or_default())?;
            generate(&body, talk)?
        }
    };
    draft.content_id = content_id;
    draft.unknown = unknown;
    draft.fake = fake;
    Ok(draft)
}

fn generate(body: &Value, talk: &mut Talk) -> Result<Draft, Complaint> {
    let instruction = either(body, "systemInstruction");
    if !instruction.is_null() {
        talk.turn(Role::System, "system");
        hear_parts(instruction, talk)?;
    }
    match either(body, "contents") {
        Value::Array(contents) if !contents.is_empty() => {
            for content in contents {
                hear(content, talk)?;
            }
        }
        Value::Array(_) | Value::Null => {
            return Err(complain(
                "* GenerateContentRequest.contents: contents is not specified\n",
            ));
        }
        _ => return Err(complain("Invalid value at 'contents'")),
    }
    let config = either(body, "generationConfig");
    let count = |name: &str| match either(config, name) {
        Value::Null => Ok(None),
        value => match value.as_u64().filter(|count| *count > 0) {
            Some(count) => Ok(Some(count)),
            None => Err(complain(format!(
                "Invalid value at 'generation_config.{name}'"
            ))),
        },
    };
    Ok(Draft {
        include_usage: true,
        choices: count("candidateCount")?,
        output_max: count("maxOutputTokens")?,
        tools: tools(body)?,
        choice: choice(either(either(body, "toolConfig"), "functionCallingConfig")),
        json: json(config),
        stops: texts(Some(either(config, "stopSequences"))),
        thinks: either(either(config, "thinkingConfig"), "includeThoughts") == true,
        ..Draft::default()
    })
}

/// Hears one turn; what functions answer comes from the user's side.
fn hear(content: &Value, talk: &mut Talk) -> Result<(), Complaint> {
    let (role, name) = match content["role"].as_str() {
        None | Some("user") => (Role::User, "user"),
        Some("function") => (Role::Tool, "function"),
        Some("model") => (Role::Assistant, "model"),
        Some(_) => {
            return Err(complain("Please use a valid role: user, model."));
        }
    };
    talk.turn(role, name);
    hear_parts(content, talk)
}

fn hear_parts(content: &Value, talk: &mut Talk) -> Result<(), Complaint> {
    let Some(parts) = content["parts"].as_array() else {
        return Err(complain(
            "* GenerateContentRequest.contents.parts: contents.parts must not be empty.\n",
        ));
    };
    for part in parts {
        let response = either(part, "functionResponse");
        if let Some(text) = part["text"].as_str() {
            talk.text(text);
        } else if !either(part, "inlineData").is_null() || !either(part, "fileData").is_null() {
            talk.image();
        } else if !response.is_null() {
            let answer = &response["response"];
            let plain = answer["result"]
                .as_str()
                .or_else(|| answer["output"].as_str());
            match plain {
                Some(text) => talk.result(text),
                None => talk.result(&answer.to_string()),
            }
        } else if part.as_object().is_none_or(Map::is_empty) {
            return Err(complain(
                "* GenerateContentRequest.contents.parts: required oneof field 'data' must have one initialized field\n",
            ));
        }
    }
    Ok(())
}

fn tools(body: &Value) -> Result<Vec<Tool>, Complaint> {
    let tools = either(body, "tools").as_array().into_iter().flatten();
    let declared = tools.filter_map(|tool| either(tool, "functionDeclarations").as_array());
    declared
        .flatten()
        .map(|function| match function["name"].as_str() {
            Some(name) => {
                let newer = either(function, "parametersJsonSchema");
                let parameters = match newer {
                    Value::Null => &function["parameters"],
                    newer => newer,
                };
                Ok(Tool {
                    name: name.to_owned(),
                    parameters: parameters.clone(),
                })
            }
            None => Err(complain(
                "* GenerateContentRequest.tools.function_declarations.name: Invalid function name.\n",
            )),
        })
        .collect()
}

fn choice(config: &Value) -> ToolChoice {
    let mut names = texts(Some(either(config, "allowedFunctionNames")));
    match config["mode"].as_str() {
        Some("NONE") => ToolChoice::Never,
        Some("ANY") => match (names.pop(), names.is_empty()) {
            (Some(only), true) => ToolChoice::Only(only),
            _ => ToolChoice::Any,
        },
        _ => ToolChoice::Auto,
    }
}

fn json(config: &Value) -> Option<Option<Value>> {
    if either(config, "responseMimeType") != "application/json" {
        return None;
    }
    let schemas = ["responseJsonSchema", "responseSchema"].map(|name| either(config, name));
    Some(
        schemas
            .into_iter()
            .find(|schema| !schema.is_null())
            .cloned(),
    )
}

fn inputs(body: &Map<String, Value>, talk: &mut Talk) -> Result<Embed, Complaint> {
    let body = Value::Object(body.clone());
    let requests = match body["requests"].as_array() {
        Some(requests) => requests.clone(),
        None => vec![body],
    };
    let mut embed = Embed::default();
    for request in &requests {
        let parts = request["content"]["parts"].as_array();
        let Some(parts) = parts.filter(|parts| !parts.is_empty()) else {
            return Err(complain(
                "* EmbedContentRequest.content: contents is not specified\n",
            ));
        };
        let text: Vec<&str> = parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect();
        embed.hear(text.concat(), talk);
        embed.dimensions = either(request, "outputDimensionality").as_u64();
    }
    Ok(embed)
}

/// A member in either of the spellings that protocol buffers have in JSON; `null` where it is missing.
fn either<'a>(value: &'a Value, name: &str) -> &'a Value {
    let mut snake = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    value
        .get(name)
        .or_else(|| value.get(snake))
        .unwrap_or(&Value::Null)
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        camel.push_str(&first.to_ascii_uppercase());
        camel.push_str(rest);
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Ask, Shape};
    use super::*;
    use crate::dialect::Dialect;

    fn ask(body: &Value) -> Result<Ask, Complaint> {
        let door = Door {
            model: Some("m".to_owned()),
            ..Door::to(Dialect::Gemini)
        };
        Ask::read(body.to_string().as_bytes(), &door)
    }

    #[test]
    fn known_fields_are_sorted_for_the_search() {
        assert!(KNOWN.is_sorted());
    }

    #[test]
    fn both_spellings_are_read() {
        let parts = json!({"parts": [{"text": "x"}, {"inline_data": {"mimeType": "image/png", "data": "AA"}}]});
        let ask = ask(&json!({
            "contents": [parts], "system_instruction": {"parts": [{"text": "y"}]},
            "generation_config": {"max_output_tokens": 7, "responseMimeType": "application/json"},
        }))
        .unwrap();
        assert_eq!((ask.output_max, ask.prompt.image_tokens), (Some(7), 765));
        assert_eq!(ask.shape, Shape::Json(None));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (body, words) in [
            (json!({}), "contents is not specified"),
            (json!({"shiny": 1}), "Unknown name \"shiny\""),
            (
                json!({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}),
                "valid role",
            ),
            (
                json!({"contents": [{"parts": [{}]}]}),
                "required oneof field 'data'",
            ),
        ] {
            let complaint = ask(&body).unwrap_err();
            assert!(complaint.message.contains(words), "{complaint:?}");
        }
    }
}
