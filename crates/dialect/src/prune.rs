//! What no provider takes of a conversation is left out before it is written, and told by its place.
//!
//! The rules are those that providers have in common, whatever their dialects, and each refuses the rest with words of its own that
//! mean nothing to a client of another one: results of calls that nobody made, thoughts of somebody else than the model, documents
//! without text, messages that say nothing, and an answer that the model has begun, which none of them is known to go on with when it
//! comes from another.

use std::collections::BTreeSet;

use crate::canonical::{Part, Places, Request, Role, Source, Turn};
use crate::{Dialect, ProviderDialect};

/// Leaves it out of `request` and `places`; where it stood, in the client's words and in the order of its body.
pub(crate) fn prune(
    to: ProviderDialect,
    request: &mut Request,
    places: &mut Places,
) -> Vec<String> {
    let mut left_out = without_strays(request, places);
    let turns = request.turns.iter().zip(&left_out);
    // Blank text was there for the sake of what stood beside it.
    let is_rest =
        |turn: &Turn, gone: &[String]| !gone.is_empty() && turn.parts.iter().all(is_blank);
    let says = turns.map(|(turn, gone)| is_kept(to, turn) && !is_rest(turn, gone));
    let says: Vec<bool> = says.collect();
    let end = before_prefill(&request.turns, &says);
    for at in (0..says.len()).rev().filter(|at| !says[*at] || *at >= end) {
        request.turns.remove(at);
        for message in places.without_turn(at) {
            // One that was a result of no call and nothing else is told already.
            if !left_out[at].contains(&message) {
                left_out[at].push(message);
            }
        }
    }
    left_out.into_iter().flatten().collect()
}

/// Whether nothing is left that a model could answer.
pub(crate) fn is_empty(to: ProviderDialect, request: &Request) -> bool {
    request.turns.iter().all(|turn| says_nothing(to, turn))
}

/// Parts that may stand nowhere, or not where they do: results whose call was made in no turn before theirs, thoughts that are not
/// the model's, and documents without text. Where they stood, turn by turn.
fn without_strays(request: &mut Request, places: &mut Places) -> Vec<Vec<String>> {
    let mut left_out = Vec::with_capacity(request.turns.len());
    let mut called: BTreeSet<String> = BTreeSet::new();
    for (at, turn) in request.turns.iter_mut().enumerate() {
        let thinks = turn.role == Role::Assistant;
        let is_stray = |part: &Part| match part {
            Part::ToolResult { id, .. } => !called.contains(id),
            Part::Thinking { .. } | Part::SealedThinking(_) => !thinks,
            part => is_empty_document(part),
        };
        let mut places_of: Vec<String> = Vec::new();
        for index in (0..turn.parts.len()).rev() {
            if is_stray(&turn.parts[index]) {
                turn.parts.remove(index);
                places_of.push(places.without_part(at, index));
            } else if let Part::ToolResult { parts, .. } = &mut turn.parts[index] {
                for inside in (0..parts.len()).rev() {
                    if is_empty_document(&parts[inside]) {
                        parts.remove(inside);
                        places_of.push(places.without_inside(at, index, inside));
                    }
                }
            }
        }
        places_of.reverse();
        left_out.push(places_of);
        called.extend(turn.parts.iter().filter_map(|part| match part {
            Part::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        }));
    }
    left_out
}

/// Whether it is a document that is a text, and an empty one.
fn is_empty_document(part: &Part) -> bool {
    matches!(part, Part::Document { source: Source::Text(text), .. } if text.is_empty())
}

fn is_blank(part: &Part) -> bool {
    matches!(part, Part::Text(text) | Part::Refusal(text) if text.trim().is_empty())
}

/// Whether the turn says something. Instructions that say nothing are as good as none, which nobody needs to be told.
fn is_kept(to: ProviderDialect, turn: &Turn) -> bool {
    turn.role.instructs() || !says_nothing(to, turn)
}

/// Where what the model has said last begins, if nobody who `says` something spoke after it.
fn before_prefill(turns: &[Turn], says: &[bool]) -> usize {
    let others = |(turn, says): (&Turn, &bool)| *says && turn.role != Role::Assistant;
    let last = turns.iter().zip(says).rposition(others);
    last.map_or(0, |last| last + 1)
}

/// Whether a provider of that dialect takes the turn for one without content. OpenAI takes a text that is empty; Google and Cohere
/// take white space, and Anthropic and Amazon do not.
fn says_nothing(to: ProviderDialect, turn: &Turn) -> bool {
    let is_nothing: fn(&str) -> bool = match to {
        ProviderDialect::Shared(Dialect::OpenAiChat | Dialect::OpenAiResponses) => |_| false,
        ProviderDialect::Shared(Dialect::Gemini) | ProviderDialect::Cohere => str::is_empty,
        ProviderDialect::Shared(Dialect::Anthropic) | ProviderDialect::Bedrock => {
            |text| text.trim().is_empty()
        }
    };
    turn.parts.iter().all(|part| match part {
        Part::Text(text) | Part::Refusal(text) => is_nothing(text),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What of these messages is left out for `to`, and how many turns are left.
    fn pruned(to: impl Into<ProviderDialect>, messages: &str) -> (Vec<String>, usize) {
        let body = format!(r#"{{"model":"m","messages":{messages}}}"#);
        let read = Dialect::OpenAiChat.read_request(body.as_bytes());
        let mut read = read.expect("a request");
        let left_out = prune(to.into(), &mut read.request, &mut read.places);
        (left_out, read.request.turns.len())
    }

    #[test]
    fn a_result_without_a_call_before_it_is_left_out() {
        let messages = r#"[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c1","content":"too soon"},
            {"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"c1","content":"b"},{"role":"tool","tool_call_id":"c2","content":"c"}]"#;
        for to in [Dialect::OpenAiChat, Dialect::Gemini] {
            let (left_out, turns) = pruned(to, messages);
            assert_eq!(left_out, ["messages[1]", "messages[4]"]);
            assert_eq!(turns, 3);
        }
    }

    #[test]
    fn a_message_that_says_nothing_is_left_out_where_it_is_refused() {
        let messages = r#"[{"role":"system","content":""},{"role":"user","content":"a"},{"role":"assistant","content":[]},
            {"role":"assistant","content":""},{"role":"assistant","content":null},{"role":"user","content":" "},
            {"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"b"}]}]"#;
        let cases: [(ProviderDialect, &[usize]); 4] = [
            (Dialect::OpenAiChat.into(), &[2, 4]),
            (Dialect::Gemini.into(), &[2, 3, 4]),
            (Dialect::Anthropic.into(), &[2, 3, 4, 5]),
            (ProviderDialect::Bedrock, &[2, 3, 4, 5]),
        ];
        for (to, indexes) in cases {
            let expected: Vec<_> = indexes.iter().map(|at| format!("messages[{at}]")).collect();
            let (left_out, turns) = pruned(to, messages);
            assert_eq!(left_out, expected, "{to:?}");
            assert_eq!(turns, 7 - indexes.len());
        }
    }

    #[test]
    fn thoughts_of_a_user_and_documents_without_text_are_left_out() {
        let empty =
            r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":""}}"#;
        let thought = r#"{"type":"thinking","thinking":"hm","signature":"Eq=="}"#;
        let body = format!(
            r#"{{"max_tokens":9,"messages":[{{"role":"user","content":[{{"type":"text","text":"a"}},{empty},{thought}]}},
            {{"role":"assistant","content":[{thought},{{"type":"tool_use","id":"1","name":"f","input":{{}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"1","content":[{{"type":"text","text":"b"}},{empty}]}}]}},
            {{"role":"user","content":[{thought}]}},{{"role":"user","content":[{empty}]}}]}}"#
        );
        for to in [
            Dialect::OpenAiChat.into(),
            Dialect::Gemini.into(),
            ProviderDialect::Bedrock,
        ] {
            let read = Dialect::Anthropic.read_request(body.as_bytes());
            let mut read = read.expect("a request");
            let left_out = prune(to, &mut read.request, &mut read.places);
            let expected = [
                "messages[0].content[1]",
                "messages[0].content[2]",
                "messages[2].content[0].content[1]",
                "messages[3].content[0]",
                "messages[3]",
                "messages[4].content[0]",
                "messages[4]",
            ];
            assert_eq!(left_out, expected, "{to:?}");
            let parts = read.request.turns.iter().map(|turn| turn.parts.len());
            assert_eq!(parts.collect::<Vec<_>>(), [1, 2, 1], "{to:?}");
        }
    }

    #[test]
    fn an_answer_that_the_model_has_begun_is_left_out() {
        let messages = r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"}]"#;
        let (left_out, turns) = pruned(ProviderDialect::Cohere, messages);
        assert_eq!(left_out, ["messages[1]", "messages[2]"]);
        assert_eq!(turns, 1);
    }

    #[test]
    fn what_is_left_out_is_told_in_the_order_of_the_body_whatever_the_reason() {
        let messages = r#"[{"role":"assistant","content":""},{"role":"user","content":"a"},{"role":"user","content":""},
            {"role":"tool","tool_call_id":"c1","content":"of no call"},{"role":"assistant","content":"b"},{"role":"user","content":""},
            {"role":"assistant","content":"c"}]"#;
        let (left_out, turns) = pruned(Dialect::Anthropic, messages);
        let expected = [0, 2, 3, 4, 5, 6].map(|at| format!("messages[{at}]"));
        assert_eq!(left_out, expected);
        assert_eq!(turns, 1);
    }
}
