//! What a writer had no words for is left out of the conversation too, so that what is left is one.
//!
//! A writer knows part by part what it can say, and only when it is through whether anything of a turn is left: a user's only image may be
//! gone, and then nobody has asked. So it tells of which parts nothing was written, and what remains is pruned and written once more.
//! Six writers that each look ahead would have to know as much of conversations as `prune.rs` does.

use crate::ProviderDialect;
use crate::canonical::{Part, Places, Request};
use crate::prune::prune;

/// Leaves the `unwritten` parts, given by turn and part in their order, out of `request` and `places`, and turns that are empty without them.
/// Where turns that are left out for it stood, if they had more to them than those parts.
pub(crate) fn without_unwritten(
    to: ProviderDialect,
    unwritten: &[(usize, usize)],
    request: &mut Request,
    places: &mut Places,
) -> Vec<String> {
    let mut left_out = Vec::new();
    for gone in unwritten.chunk_by(|one, next| one.0 == next.0).rev() {
        let (at, _) = gone[0];
        let mut gone = gone.iter().map(|(_, part)| *part).peekable();
        let mut index = 0..;
        places.retain_parts(at, &mut request.turns[at].parts, |_| {
            gone.next_if_eq(&index.next().unwrap_or_default()).is_none()
        });
        let turn = &request.turns[at];
        if turn.parts.iter().all(is_nothing_alone) {
            let had_more = !turn.parts.is_empty();
            request.turns.remove(at);
            let messages = places.without_turn(at);
            left_out.splice(0..0, messages.into_iter().filter(|_| had_more));
        }
    }
    left_out.extend(prune(to, request, places));
    left_out
}

/// Whether it was there for the sake of what stood beside it.
fn is_nothing_alone(part: &Part) -> bool {
    match part {
        Part::Text(text) | Part::Refusal(text) => text.trim().is_empty(),
        Part::Thinking { .. } | Part::SealedThinking(_) => true,
        _ => false,
    }
}
