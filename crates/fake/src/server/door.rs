//! Which call a path is for.
//!
//! Names of models stand in many paths, with colons and percent signs in them; what cannot be read is nobody's path.

use crate::dialect::{Dialect, Door, Framing, Task};

/// The call that a path with this query is for, where there is one.
pub(super) fn door(path: &str, query: Option<&str>) -> Option<Door> {
    let query = query.unwrap_or_default();
    if let Some(rest) = path.strip_prefix("/openai/deployments/") {
        // Azure knows no deployment path without a version.
        let (deployment, rest) = rest.split_once('/')?;
        let versioned = query.contains("api-version=") && !deployment.is_empty();
        return openai(rest).filter(|_| versioned).map(|door| Door {
            model: Some(decoded(deployment)),
            ..door
        });
    }
    if let Some(google) = google(path, query) {
        return Some(google);
    }
    if let Some((model, verb)) = path
        .strip_prefix("/model/")
        .and_then(|rest| rest.rsplit_once('/'))
    {
        let stream = match verb {
            "converse" => false,
            "converse-stream" => true,
            _ => return None,
        };
        return Some(Door {
            model: Some(decoded(model)),
            stream: Some(stream),
            framing: Framing::Binary,
            ..Door::to(Dialect::Converse)
        });
    }
    match path {
        "/v2/chat" => return Some(Door::to(Dialect::Cohere)),
        "/v2/embed" => {
            return Some(Door {
                task: Task::Embed,
                stream: Some(false),
                ..Door::to(Dialect::Cohere)
            });
        }
        "/v1/messages" => return Some(Door::to(Dialect::Messages)),
        "/v1/messages/count_tokens" => {
            return Some(Door {
                task: Task::Count,
                ..Door::to(Dialect::Messages)
            });
        }
        _ => {}
    }
    let rest = path
        .strip_prefix("/openai/v1/")
        .or_else(|| path.strip_prefix("/v1/"))?;
    openai(rest)
}

fn openai(rest: &str) -> Option<Door> {
    match rest {
        "chat/completions" => Some(Door::to(Dialect::Chat)),
        "responses" => Some(Door::to(Dialect::Responses)),
        "completions" => Some(Door::to(Dialect::Completions)),
        "embeddings" => Some(Door {
            task: Task::Embed,
            stream: Some(false),
            ..Door::to(Dialect::Embeddings)
        }),
        _ => None,
    }
}

/// Google's paths end in a model and a verb: the developer interface's own, or Vertex' with a publisher.
fn google(path: &str, query: &str) -> Option<Door> {
    let rest = ["/v1beta1/", "/v1beta/", "/v1/"]
        .iter()
        .find_map(|version| path.strip_prefix(version))?;
    let (place, name) = match rest.strip_prefix("models/") {
        Some(name) => ("", name),
        None => rest.split_once("/models/")?,
    };
    let publisher = match place.rsplit_once("publishers/") {
        Some((_, publisher)) => publisher,
        None if place.is_empty() => "google",
        None => return None,
    };
    let (name, verb) = name.rsplit_once(':')?;
    let door = |dialect| Door {
        model: Some(decoded(name)).filter(|name| !name.is_empty()),
        ..Door::to(dialect)
    };
    let gemini = |task| Door {
        task,
        stream: Some(false),
        ..door(Dialect::Gemini)
    };
    let claude = |stream| Door {
        stream: Some(stream),
        ..door(Dialect::Messages)
    };
    match (publisher, verb) {
        ("google", "generateContent") => Some(gemini(Task::Generate)),
        ("google", "streamGenerateContent") => Some(Door {
            stream: Some(true),
            framing: match query.split('&').any(|pair| pair == "alt=sse") {
                true => Framing::Events,
                false => Framing::Array,
            },
            ..gemini(Task::Generate)
        }),
        ("google", "countTokens") => Some(gemini(Task::Count)),
        ("google", "embedContent") => Some(gemini(Task::Embed)),
        ("google", "batchEmbedContents") => Some(Door {
            batch: true,
            ..gemini(Task::Embed)
        }),
        ("anthropic", "rawPredict") if name == "count-tokens" => Some(Door {
            task: Task::Count,
            ..claude(false)
        }),
        ("anthropic", "rawPredict") => Some(claude(false)),
        ("anthropic", "streamRawPredict") => Some(claude(true)),
        _ => None,
    }
}

/// A piece of a path without its percent signs; one that does not stand before two digits stays.
fn decoded(piece: &str) -> String {
    let bytes = piece.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = piece.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 3;
            }
            None => {
                plain.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(
        path: &str,
        query: Option<&str>,
    ) -> Option<(Dialect, Task, Option<String>, Option<bool>)> {
        door(path, query).map(|door| (door.dialect, door.task, door.model, door.stream))
    }

    #[test]
    fn paths_lead_where_they_should() {
        let version = Some("api-version=2024-10-21");
        let chat = |model: Option<&str>| {
            Some((
                Dialect::Chat,
                Task::Generate,
                model.map(str::to_owned),
                None,
            ))
        };
        for (path, query, expected) in [
            ("/v1/chat/completions", None, chat(None)),
            ("/openai/v1/chat/completions", version, chat(None)),
            (
                "/openai/deployments/d/chat/completions",
                version,
                chat(Some("d")),
            ),
            ("/openai/deployments/d/chat/completions", None, None),
            ("/openai/deployments//chat/completions", version, None),
            (
                "/openai/v1/responses",
                version,
                Some((Dialect::Responses, Task::Generate, None, None)),
            ),
            (
                "/openai/deployments/d/embeddings",
                version,
                Some((
                    Dialect::Embeddings,
                    Task::Embed,
                    Some("d".to_owned()),
                    Some(false),
                )),
            ),
            ("/v1/models/m", None, None),
            ("/v2/models", None, None),
        ] {
            assert_eq!(seen(path, query), expected, "{path}");
        }
    }

    #[test]
    fn bedrock_names_a_model_with_colons_and_percent_signs() {
        let path = "/model/arn%3Aaws%3Ax%2Fus.claude-v1%3A0/converse-stream";
        let found = door(path, None).unwrap();
        assert_eq!(found.model.as_deref(), Some("arn:aws:x/us.claude-v1:0"));
        assert_eq!((found.stream, found.framing), (Some(true), Framing::Binary));
        assert_eq!(door("/model/m:0/invoke", None), None);
    }

    #[test]
    fn google_names_model_and_verb() {
        let vertex = "/v1/projects/p/locations/l/publishers";
        for (path, dialect, task, model, stream) in [
            (
                "/v1beta/models/g:generateContent".to_owned(),
                Dialect::Gemini,
                Task::Generate,
                "g",
                false,
            ),
            (
                "/v1beta/models/g:countTokens".to_owned(),
                Dialect::Gemini,
                Task::Count,
                "g",
                false,
            ),
            (
                format!("{vertex}/google/models/g:streamGenerateContent"),
                Dialect::Gemini,
                Task::Generate,
                "g",
                true,
            ),
            (
                "/v1/publishers/google/models/g:generateContent".to_owned(),
                Dialect::Gemini,
                Task::Generate,
                "g",
                false,
            ),
            (
                format!("{vertex}/anthropic/models/c@1:rawPredict"),
                Dialect::Messages,
                Task::Generate,
                "c@1",
                false,
            ),
            (
                format!("{vertex}/anthropic/models/c%401:streamRawPredict"),
                Dialect::Messages,
                Task::Generate,
                "c@1",
                true,
            ),
        ] {
            let expected = Some((dialect, task, Some(model.to_owned()), Some(stream)));
            assert_eq!(seen(&path, None), expected, "{path}");
        }
        let array = door("/v1beta/models/g:streamGenerateContent", None).unwrap();
        assert_eq!(array.framing, Framing::Array);
        let events = door("/v1beta/models/g:streamGenerateContent", Some("alt=sse")).unwrap();
        assert_eq!(events.framing, Framing::Events);
        assert_eq!(
            seen(&format!("{vertex}/google/models/g:rawPredict"), None),
            None
        );
        assert_eq!(seen("/v1/models/g", None), None);
    }
}
