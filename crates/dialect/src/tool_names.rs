//! Names of tools that a provider does not take.
//!
//! A request cannot do without the name of a tool, nor with a part of it, so that nothing may be dropped: where the provider is known to
//! refuse it, so do we, whatever the route allows. It is not sent by another name, as every answer would have to be searched for that one.

use std::collections::BTreeSet;

use crate::canonical::{Part, Request, Spot, Target};
use crate::{Dialect, ProviderDialect};

/// The longest name that is taken everywhere, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// What a name has to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    marks: &'static [u8],
    begins_with_letter: bool,
    bytes_max: usize,
}

impl Rule {
    /// That of providers which speak `to`, for `target`; `None` where nobody knows of one.
    pub(crate) fn of(to: ProviderDialect, target: &Target) -> Option<Self> {
        if to == ProviderDialect::Cohere && target.tool_name_max.is_none() {
            return None;
        }
        let is_google = to == ProviderDialect::Shared(Dialect::Gemini);
        Some(Self {
            marks: if is_google { b"_.:-" } else { b"_-" },
            begins_with_letter: is_google,
            bytes_max: target.tool_name_max.unwrap_or(NAME_BYTES_MAX),
        })
    }

    /// The tools of `request` whose name is another, and the calls in its conversation of such that are no longer among them.
    pub(crate) fn broken_by(self, request: &Request) -> Vec<Spot> {
        let tools = request.tools.iter().enumerate();
        let tools = tools.map(|(index, tool)| (Spot::Tool(index), &tool.name));
        let calls = request.turns.iter().enumerate().flat_map(|(at, turn)| {
            let parts = turn.parts.iter().enumerate();
            parts.filter_map(move |(index, part)| match part {
                Part::ToolCall { name, .. } => Some((Spot::Part(at, index), name)),
                _ => None,
            })
        });
        let mut told = BTreeSet::new();
        let named = tools.chain(calls);
        named
            .filter(|(_, name)| !self.allows(name) && told.insert(*name))
            .map(|(spot, _)| spot)
            .collect()
    }

    fn allows(self, name: &str) -> bool {
        let begins = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
        let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || self.marks.contains(&byte);
        (1..=self.bytes_max).contains(&name.len())
            && name.bytes().all(goes_on)
            && (!self.begins_with_letter || name.as_bytes().first().is_some_and(begins))
    }

    /// The same in words.
    pub(crate) fn words(self) -> String {
        let marks: Vec<_> = self
            .marks
            .iter()
            .map(|mark| format!("`{}`", char::from(*mark)))
            .collect();
        let begin = if self.begins_with_letter {
            ", the first of them a letter or `_`"
        } else {
            ""
        };
        format!(
            "a name of up to {} ASCII letters, digits, {}{begin}",
            self.bytes_max,
            marks.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_few_characters() {
        let target = |row: &str| {
            let row = sluicegate_catalog::provider(row).expect("a row");
            (ProviderDialect::of(row), Target::of(row, "m"))
        };
        let long = "a".repeat(65);
        let names = ["read-level_2", "a.b", "2a", "", "수문", &long];
        for (row, allowed) in [
            ("openai", [true, false, true, false, false, false]),
            ("vllm", [true, false, true, false, false, false]),
            ("anthropic", [true, false, true, false, false, true]),
            ("bedrock", [true, false, true, false, false, false]),
            ("gemini", [true, true, false, false, false, true]),
        ] {
            let (to, target) = target(row);
            let rule = Rule::of(to, &target).expect("it has one");
            assert_eq!(names.map(|name| rule.allows(name)), allowed, "{row}");
        }
    }
}
