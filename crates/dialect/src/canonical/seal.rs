//! Whose a seal of thoughts is.
//!
//! Only the provider that sealed a thought takes it back; another one refuses the whole request for
//! it. A seal travels through the client, so that it has to say itself whose it is. Claude's bear no
//! name, whoever serves it; others stand behind a name and a `#`, which no base64 holds.
//!
//! Google seals calls and texts too, where other dialects seal thoughts only. There such a seal is a
//! thought that is not shown: before the call that it seals, or behind the text.

use super::{Part, Places, Request, Role, Turn};

/// Before a seal of Google's, of a thought or of the text that stands before it.
const GOOGLE: &str = "gemini#";
/// Before a seal of Google's that is of the call that follows.
const GOOGLE_CALL: &str = "gemini-call#";

/// Before the id of a thought that was not sent back, but named for its provider to look up.
const STORED: &str = "stored#";

/// What stands for a thought that only its provider can look up: a seal that nobody takes.
pub(crate) fn of_stored(id: &str) -> String {
    format!("{STORED}{id}")
}

/// Whether a model in the middle of its calls does not get what it thought, or planned, as that was not
/// sent back.
pub(crate) fn lacks_stored(request: &Request) -> bool {
    let mut parts = open_turns(request).iter().flat_map(|turn| &turn.parts);
    parts.any(|part| matches!(part, Part::SealedThinking(seal) if seal.starts_with(STORED)))
}

/// Whether it is Claude's.
pub(crate) fn is_claudes(seal: &str) -> bool {
    !seal.is_empty() && !seal.contains('#')
}

/// A seal that Google put on a thought or a text.
pub(crate) fn of_google(seal: &str) -> String {
    format!("{GOOGLE}{seal}")
}

/// The seal as Google gave it; `None` for another's.
pub(crate) fn googles(seal: &str) -> Option<&str> {
    seal.strip_prefix(GOOGLE)
}

/// What stands before a call where no call can bear its seal.
pub(crate) fn before_call(seal: &str) -> String {
    format!("{GOOGLE_CALL}{seal}")
}

/// Gives calls the seals that stand before them in their turn. One without its call is of no use to anybody.
pub(crate) fn give_to_calls(turns: &mut [Turn], places: &mut Places) {
    for (at, turn) in turns.iter_mut().enumerate() {
        let mut waiting = None;
        places.retain_parts(at, &mut turn.parts, |part| match part {
            Part::SealedThinking(seal) => match seal.strip_prefix(GOOGLE_CALL) {
                Some(seal) => {
                    waiting = Some(seal.to_owned());
                    false
                }
                None => true,
            },
            Part::ToolCall { signature, .. } => {
                *signature = waiting.take().or(signature.take());
                true
            }
            _ => true,
        });
    }
}

/// The turns since the user said something last: a model in the middle of its calls wants what it
/// thought in them. Empty where it is in the middle of nothing.
pub(crate) fn open_turns(request: &Request) -> &[Turn] {
    let turns = &request.turns;
    let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
    let asks = |turn: &Turn| turn.role == Role::User && !turn.parts.iter().all(is_result);
    let ends_with_results = turns
        .last()
        .is_some_and(|turn| turn.role == Role::User && !asks(turn));
    if !ends_with_results {
        return &[];
    }
    let start = turns.iter().rposition(asks).map_or(0, |at| at + 1);
    &turns[start..]
}

/// Whether a model in the middle of its calls does not get all thoughts of that: those without a
/// seal that it takes are left out, and so is what the seal of a call stands for.
pub(crate) fn loses_thoughts(request: &Request, takes: fn(&str) -> bool) -> bool {
    let mut parts = open_turns(request).iter().flat_map(|turn| &turn.parts);
    parts.any(|part| match part {
        Part::Thinking { signature, text } => {
            let seal = signature.as_deref().unwrap_or_default();
            let is_nothing = text.is_empty() && seal.is_empty();
            !takes(seal) && !is_nothing
        }
        Part::SealedThinking(seal) => !takes(seal),
        Part::ToolCall { signature, .. } => signature.is_some(),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{Placed, PlacedTurn, Spot};

    fn call(signature: Option<&str>) -> Part {
        Part::ToolCall {
            id: "1".to_owned(),
            name: "look".to_owned(),
            arguments: String::new(),
            signature: signature.map(str::to_owned),
        }
    }

    fn sealed(seal: &str) -> Part {
        Part::SealedThinking(seal.to_owned())
    }

    #[test]
    fn a_seal_before_a_call_is_the_calls() {
        let parts = vec![
            sealed("Eq=="),
            sealed(&before_call("a")),
            call(None),
            call(None),
            sealed(&before_call("b")),
            call(Some("old")),
            sealed(&of_google("t")),
            sealed(&before_call("lost")),
        ];
        let (mut turns, mut places) = (Vec::new(), Places::default());
        let turn = PlacedTurn {
            role: Role::Assistant,
            place: "messages[0]".to_owned(),
            speaker: ".role",
            parts: parts
                .into_iter()
                .enumerate()
                .map(|(index, part)| Placed::new(part, index.to_string()))
                .collect(),
        };
        places.push(turn, &mut turns);
        give_to_calls(&mut turns, &mut places);
        let expected = [
            sealed("Eq=="),
            call(Some("a")),
            call(None),
            call(Some("b")),
            sealed("gemini#t"),
        ];
        assert_eq!(turns[0].parts, expected);
        let places: Vec<_> = (0..5)
            .map(|part| places.of(Spot::Part(0, part), "stop"))
            .collect();
        assert_eq!(places, ["0", "2", "3", "5", "6"]);
    }

    #[test]
    fn seals_say_whose_they_are() {
        for (seal, claudes, google) in [
            ("Eq==", true, None),
            ("", false, None),
            ("openai#gA==", false, None),
            ("gemini#c2VhbA==", false, Some("c2VhbA==")),
            ("gemini-call#c2VhbA==", false, None),
        ] {
            assert_eq!(
                (is_claudes(seal), googles(seal)),
                (claudes, google),
                "{seal}"
            );
        }
    }

    #[test]
    fn only_a_model_in_the_middle_of_its_calls_misses_thoughts() {
        let turn = |role, parts| Turn { role, parts };
        let asks = || turn(Role::User, vec![Part::Text("q".to_owned())]);
        let result = || {
            let (id, parts) = ("1".to_owned(), Vec::new());
            let result = Part::ToolResult {
                id,
                parts,
                is_error: false,
            };
            turn(Role::User, vec![result])
        };
        let thinks = |seal: Option<&str>| {
            let signature = seal.map(str::to_owned);
            let text = "hm".to_owned();
            turn(
                Role::Assistant,
                vec![Part::Thinking { text, signature }, call(None)],
            )
        };
        let loses = |turns: Vec<Turn>| {
            let request = Request {
                turns,
                ..Request::default()
            };
            loses_thoughts(&request, is_claudes)
        };
        assert!(!loses(vec![asks(), thinks(Some("Eq==")), result()]));
        assert!(loses(vec![asks(), thinks(Some("openai#x")), result()]));
        assert!(loses(vec![asks(), thinks(None), result()]));
        assert!(loses(vec![
            asks(),
            thinks(None),
            result(),
            thinks(Some("Eq==")),
            result()
        ]));
        // What was thought before the last question is over.
        assert!(!loses(vec![asks(), thinks(None), result(), asks()]));
        assert!(!loses(vec![asks(), thinks(None)]));
    }
}
