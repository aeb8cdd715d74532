//! What is wrong with a body that is none of its dialect, in words of its client's.
//!
//! A wire type says where reading stopped and what it wanted, but in names of ours. Where it stopped is a place in the body, and
//! what it wanted is one of few kinds of JSON: the two make a sentence about the client's own member.

use crate::RequestError;
use crate::json::Cursor;
use crate::request_error::mistaken;

/// Reading `body` has ended in `error`.
pub(crate) fn told(body: &[u8], error: &serde_json::Error) -> RequestError {
    let said = error.to_string();
    let (place, cursor) = value_at(body, offset(body, error.line(), error.column()));
    let message = match (expected(&said), place.is_empty()) {
        (Some(kind), false) => mistaken(&place, kind, &cursor),
        (Some(kind), true) => format!("the body must be {kind}"),
        (None, false) => format!("`{place}` cannot be read: {}", why(&said)),
        (None, true) => format!("the body cannot be read: {}", why(&said)),
    };
    RequestError {
        param: None,
        message,
    }
}

/// The kind of JSON that a wire type wanted.
fn expected(said: &str) -> Option<&'static str> {
    let (_, wanted) = said.split_once(", expected ")?;
    let wanted = without_position(wanted);
    Some(match wanted {
        "a string" => "a string",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "a string or an array" => "a string or an array",
        "an array or an object" => "an array or an object",
        "a number" | "f32" | "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        _ if wanted.starts_with("struct ") || wanted.contains("map") || wanted == "members" => {
            "an object"
        }
        _ => return None,
    })
}

/// Mistakes of another kind: a member that is written twice, a number that is none.
fn why(said: &str) -> String {
    let said = without_position(said);
    match said.strip_prefix("duplicate field ") {
        Some(name) => format!("{name} is written twice in it"),
        None => said
            .split_once(", expected ")
            .map_or(said, |(found, _)| found)
            .to_owned(),
    }
}

fn without_position(said: &str) -> &str {
    said.rsplit_once(" at line ").map_or(said, |(said, _)| said)
}

/// How many bytes of the body were read at that line and column.
fn offset(body: &[u8], line: usize, column: usize) -> usize {
    let ends = memchr::memchr_iter(b'\n', body);
    let begin = match line {
        0 | 1 => 0,
        line => ends.map(|end| end + 1).nth(line - 2).unwrap_or(body.len()),
    };
    begin + column
}

/// The innermost value that begins or ends at `offset` or around it, and where it stands: reading stops behind a scalar and before a
/// bracket.
fn value_at(body: &[u8], offset: usize) -> (String, Cursor<'_>) {
    let mut place = String::new();
    let mut at = Cursor::new(body);
    while let Some((step, inside)) = inner(&at, offset) {
        if !place.is_empty() && !step.starts_with('[') {
            place.push('.');
        }
        place.push_str(&step);
        at = inside;
    }
    (place, at)
}

fn inner<'b>(at: &Cursor<'b>, offset: usize) -> Option<(String, Cursor<'b>)> {
    let mut cursor = at.clone();
    let holds = |cursor: &Cursor<'_>| {
        let value = cursor.clone().skip();
        value.is_some_and(|value| (value.start..=value.end).contains(&offset))
    };
    if cursor.enter(b'{') {
        while let Some(key) = cursor.next_key() {
            if holds(&cursor) {
                let name = String::from_utf8_lossy(&key.name(cursor.text())).into_owned();
                return Some((name, Cursor::at(cursor.text(), cursor.position())));
            }
        }
    } else if cursor.enter(b'[') {
        let mut index = 0;
        while cursor.next_element() {
            if holds(&cursor) {
                let value = Cursor::at(cursor.text(), cursor.position());
                return Some((format!("[{index}]"), value));
            }
            index += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::Dialect;

    #[test]
    fn a_mistake_is_told_by_its_place_and_by_what_should_stand_there() {
        let cases = [
            (
                Dialect::OpenAiChat,
                "{\"model\":\"m\",\n \"messages\":[],\n\n  \"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a\"}}, 7]}",
                "`tools[1]` must be an object, not 7",
            ),
            (
                Dialect::OpenAiChat,
                r#"{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":{"a":1}}}]}]}"#,
                "`messages[0].tool_calls[0].function.arguments` must be a string, not an object",
            ),
            (
                Dialect::OpenAiChat,
                r#"{"messages":[],"max_tokens":-3}"#,
                "`max_tokens` must be a whole number that is not negative, not -3",
            ),
            (
                Dialect::OpenAiChat,
                r#"{"messages":[],"stream":"yes"}"#,
                "`stream` must be true or false, not a string",
            ),
            (
                Dialect::OpenAiChat,
                r#"{"messages":[],"seed":1,"seed":2}"#,
                "the body cannot be read: `seed` is written twice in it",
            ),
            (
                Dialect::Anthropic,
                r#"{"messages":[{"role":"user","content":[{"type":"tool_result","content":[[]]}]}]}"#,
                "`messages[0].content[0].content[0]` must be an object, not an array",
            ),
            (
                Dialect::OpenAiResponses,
                r#"{"input":7}"#,
                "`input` must be a string or an array, not 7",
            ),
            (
                Dialect::Gemini,
                r#"{"contents":[{"parts":[{"text":[]}]}]}"#,
                "`contents[0].parts[0].text` must be a string, not an array",
            ),
            (
                Dialect::Gemini,
                r#"{"contents":[],"generation_config":{"top_k":"many"}}"#,
                "`generation_config.top_k` cannot be read: a string that is no number",
            ),
            (Dialect::Gemini, "[]", "the body must be an object"),
        ];
        for (dialect, body, message) in cases {
            let error = dialect.read_request(body.as_bytes()).expect_err(body);
            assert_eq!(error.message, message, "{body}");
        }
    }
}
