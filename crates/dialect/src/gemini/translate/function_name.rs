//! Which call a result belongs to.
//!
//! A call may have no id here, and its result then says only the function's name; other dialects know
//! ids alone. So ids are made for those that have none, and names are found again by id.

use std::collections::BTreeMap;

use crate::canonical::{Part, Request};

/// So much of an answer's id, or of a name, is in an id that is made.
const ORIGIN_BYTES_MAX: usize = 24;

/// An id for the call number `index` of what `origin` names: the same for the same two.
pub(super) fn made_id(origin: &str, index: usize) -> String {
    let end = origin.floor_char_boundary(ORIGIN_BYTES_MAX);
    format!("call_{}_{index}", &origin[..end])
}

/// The calls of a request as it is read, in their order.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The id, and whether a result has come.
    by_name: BTreeMap<String, Vec<(String, bool)>>,
    count: usize,
}

impl Calls {
    /// The id of a call, made where it has none.
    pub(super) fn called(&mut self, id: Option<String>, name: &str) -> String {
        let id = id.filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| made_id(name, self.count));
        self.count += 1;
        let calls = self.by_name.entry(name.to_owned()).or_default();
        calls.push((id.clone(), false));
        id
    }

    /// The id of the call that a result belongs to: that of its id, else the first of its name that
    /// has none yet. A result without a call gets an id as well.
    pub(super) fn answered(&mut self, id: Option<String>, name: &str) -> String {
        let id = id.filter(|id| !id.is_empty());
        let mut calls = self.by_name.get_mut(name).into_iter().flatten();
        let call = calls.find(|(called, answered)| match &id {
            Some(id) => called == id,
            None => !answered,
        });
        match (call, id) {
            (Some((called, answered)), _) => {
                *answered = true;
                called.clone()
            }
            (None, Some(id)) => id,
            (None, None) => {
                self.count += 1;
                made_id(name, self.count - 1)
            }
        }
    }
}

/// The names of the functions that a request's calls called, by their ids.
pub(super) fn names(request: &Request) -> BTreeMap<&str, &str> {
    let parts = request.turns.iter().flat_map(|turn| &turn.parts);
    let named = parts.filter_map(|part| match part {
        Part::ToolCall { id, name, .. } => Some((id.as_str(), name.as_str())),
        _ => None,
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_find_their_calls() {
        let some = |id: &str| Some(id.to_owned());
        let mut calls = Calls::default();
        assert_eq!(calls.called(None, "look"), "call_look_0");
        assert_eq!(calls.called(some(""), "look"), "call_look_1");
        assert_eq!(calls.called(some("x"), "open"), "x");
        assert_eq!(calls.answered(None, "look"), "call_look_0");
        assert_eq!(calls.answered(None, "open"), "x");
        assert_eq!(calls.answered(None, "look"), "call_look_1");
        assert_eq!(calls.called(None, "look"), "call_look_3");
        assert_eq!(calls.answered(some("call_look_3"), "look"), "call_look_3");
        assert_eq!(calls.answered(some("y"), "look"), "y");
        assert_eq!(calls.answered(None, "shut"), "call_shut_4");
    }

    #[test]
    fn an_id_that_is_made_is_short_enough_for_every_dialect() {
        assert!(made_id(&"수".repeat(99), 1_000).len() <= 40);
    }
}
