//! Paths of members in a client's body, in the client's own spelling.
//!
//! Readers and writers know what a member is called and in which list it stands, but not how a client has written it: Google's
//! servers take two spellings of each name and one element in place of a list, others a text in place of a list of one. So what is
//! told to a client is looked up in its body first, and a path ends where the body does.

use crate::json::Cursor;

/// A path as far as it is there.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// What is there, as it is spelt; empty where not even the beginning is.
    pub(crate) path: String,
    /// Whether that is all of it.
    pub(crate) is_whole: bool,
}

/// Looks up `path`, like `messages[2].content[0].text`, in `body`, a JSON object.
pub(crate) fn found(body: &[u8], path: &str) -> Found {
    let mut cursor = Cursor::new(body);
    let mut told = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        let Some(step) = step(&mut cursor, rest) else {
            break;
        };
        if !told.is_empty() && !step.name.is_empty() && !step.name.starts_with('[') {
            told.push('.');
        }
        told.push_str(&step.name);
        rest = step.rest;
    }
    Found {
        path: told,
        is_whole: rest.is_empty(),
    }
}

struct Step<'p> {
    name: String,
    rest: &'p str,
}

/// Goes from the value at hand to the one that `path` begins with.
fn step<'p>(cursor: &mut Cursor<'_>, path: &'p str) -> Option<Step<'p>> {
    match cursor.peek() {
        b'[' => element(cursor, path),
        // An element that stands for the list of it.
        b'{' if path.starts_with("[0]") => Some(Step {
            name: String::new(),
            rest: &path["[0]".len()..],
        }),
        b'{' => member(cursor, path.strip_prefix('.').unwrap_or(path)),
        _ => None,
    }
}

fn element<'p>(cursor: &mut Cursor<'_>, path: &'p str) -> Option<Step<'p>> {
    let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
    let wanted: usize = index.parse().ok()?;
    let mut list = cursor.clone();
    list.enter(b'[');
    for _ in 0..=wanted {
        if !list.next_element() {
            return None;
        }
    }
    *cursor = Cursor::at(cursor.text(), list.position());
    Some(Step {
        name: format!("[{wanted}]"),
        rest,
    })
}

/// The member with the longest name that `path` begins with: a name may hold dots and brackets.
fn member<'p>(cursor: &mut Cursor<'_>, path: &'p str) -> Option<Step<'p>> {
    let mut best: Option<(Step<'p>, usize, bool)> = None;
    let mut object = cursor.clone();
    object.enter(b'{');
    while let Some(key) = object.next_key() {
        let name = String::from_utf8_lossy(&key.name(cursor.text())).into_owned();
        let exact = after(path, &name);
        let rest = exact.or_else(|| after(path, &camel(&name)));
        let Some(rest) = rest else { continue };
        let is_better = best.as_ref().is_none_or(|(step, _, was_exact)| {
            (exact.is_some(), rest.len() <= step.rest.len()) >= (*was_exact, true)
        });
        if is_better {
            best = Some((Step { name, rest }, object.position(), exact.is_some()));
        }
    }
    let (step, at, _) = best?;
    *cursor = Cursor::at(cursor.text(), at);
    Some(step)
}

/// What follows `name` in `path`.
fn after<'p>(path: &'p str, name: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(name).filter(|_| !name.is_empty())?;
    (rest.is_empty() || rest.starts_with(['.', '['])).then_some(rest)
}

/// `generation_config` as `generationConfig`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut joined = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        joined.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        joined.push_str(letters.as_str());
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_as_it_is_spelt_and_as_far_as_it_is_there() {
        let body = r#" { "messages" : [ {"content":"a"}, {"content":[{"image_url":{"url":"b"}}]} ], "stop": "x",
            "generation_config":{"topK":1,"top_p":2}, "tools":{"googleSearch":{}}, "a":{"b":1}, "a.b":{"c":2}, "l[0]":3 }"#;
        for (path, expected, is_whole) in [
            (
                "messages[1].content[0].image_url.url",
                "messages[1].content[0].image_url.url",
                true,
            ),
            ("messages[1]", "messages[1]", true),
            (
                "messages[0].content[0].image_url",
                "messages[0].content",
                false,
            ),
            ("messages[2].content", "messages", false),
            ("stop[0]", "stop", false),
            ("generationConfig.topK", "generation_config.topK", true),
            ("generationConfig.topP", "generation_config.top_p", true),
            ("tools[0].googleSearch", "tools.googleSearch", true),
            ("a.b.c", "a.b.c", true),
            ("a.b", "a.b", true),
            ("l[0]", "l[0]", true),
            ("nothing.of[0].it", "", false),
            ("", "", true),
        ] {
            let expected = Found {
                path: expected.to_owned(),
                is_whole,
            };
            assert_eq!(found(body.as_bytes(), path), expected, "{path}");
        }
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        for body in ["", "[", "{", "{\"a\"", "7", "{\"a\":[", "[[["] {
            let found = found(body.as_bytes(), "a[3].b");
            assert!(!found.is_whole, "{body}");
        }
    }
}
