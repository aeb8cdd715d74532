//! Whether an answer that was cut is worth asking for once more.
//!
//! A maximum that the client named is its own to raise. One that load lowered, or that it left to the provider, may be raised to what
//! the route says, once: a second call that is paid like any other. A stream has reached the client by the time that it is cut.

use sluicegate_dialect::{Changes, Envelope};

use crate::attempt::{Answer, AnswerBody};

/// The request to send in place of `sent`, which was made of what the client `asked` for and was answered with `answer`. `None` where
/// that is as good as it gets.
pub(super) fn raised(
    asked: &Envelope,
    sent: &Envelope,
    raise_cap: Option<u64>,
    answer: &Answer,
) -> Option<Envelope> {
    let AnswerBody::Whole(whole) = &answer.body else {
        return None;
    };
    if !answer.head.status.is_success() || !whole.cut {
        return None;
    }
    let (facts, sent) = (asked.facts(), sent.facts());
    let choices = facts.choices.max(facts.best_of).max(1);
    let length = whole.usage.map(|usage| usage.output_tokens / choices);
    let cap = raised_cap(facts.output_cap, sent.output_cap, length, raise_cap?)?;
    let changes = Changes {
        output_cap: Some(cap),
        ..Changes::default()
    };
    // It was read once, and a number in it is another: it can be read again.
    asked.again(&asked.rewrite(&changes)).ok()
}

/// The maximum that is worth another call, after one of `sent` cut an answer of `length`.
fn raised_cap(
    asked: Option<u64>,
    sent: Option<u64>,
    length: Option<u64>,
    raise_cap: u64,
) -> Option<u64> {
    let is_own = asked.is_some() && asked == sent;
    let cap = asked.map_or(raise_cap, |asked| raise_cap.min(asked));
    let had = sent.max(length).unwrap_or(0);
    (!is_own && cap > had).then_some(cap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_maximum_that_is_not_the_clients_is_raised_and_never_above_its_own() {
        let cases = [
            ("its own", Some(100), Some(100), Some(100), None),
            ("lowered", Some(400), Some(200), Some(200), Some(300)),
            (
                "its own is less",
                Some(250),
                Some(125),
                Some(125),
                Some(250),
            ),
            ("lowered to more", Some(800), Some(400), Some(400), None),
            ("the provider's", None, None, Some(128), Some(300)),
            ("the provider's is more", None, None, Some(4_096), None),
            ("no usage", None, None, None, Some(300)),
        ];
        for (name, asked, sent, length, expected) in cases {
            assert_eq!(raised_cap(asked, sent, length, 300), expected, "{name}");
        }
    }
}
