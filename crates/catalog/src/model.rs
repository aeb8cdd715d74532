//! What a charge rule says of some models only.
//!
//! A table of name patterns, searched in the row's order, so that a new generation of models is one more entry and no
//! code. Names are matched anywhere in what is asked for, since clouds put regions, vendors and versions around them.

use serde::Deserialize;

use crate::{Evidence, Weight};

/// What differs for the models that fit one of the names. What is left out stays as the rule has it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTerms {
    /// Patterns of model names, with `*` for any part of a name, also an empty one.
    pub names: Vec<String>,
    /// The largest output of the model in tokens: taken where the request names no maximum.
    pub output_max: Option<u64>,
    /// What an output token weighs when it is reserved.
    pub output_weight_reserved: Option<Weight>,
    /// What an output token weighs in the end.
    pub output_weight_settled: Option<Weight>,
    /// What an input token weighs in the end that was read from a cache.
    pub cached_weight: Option<Weight>,
    /// How it is known.
    pub evidence: Evidence,
}

impl ModelTerms {
    /// Whether `model` is one of these.
    pub(crate) fn covers(&self, model: &str) -> bool {
        self.names.iter().any(|pattern| fits(pattern, model))
    }
}

/// Whether `name` fits `pattern`, where each `*` stands for any part, also an empty one. Letters match by case.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(head) else {
        return false;
    };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The first place will do for each part: what stands behind it only becomes longer.
    for part in middle.split('*') {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_any_part() {
        let cases = [
            ("gpt-5", "gpt-5", true),
            ("gpt-5", "gpt-5.5", false),
            ("gpt-*", "gpt-", true),
            ("gpt-*", "gp", false),
            ("*claude-*-4-8*", "us.anthropic.claude-opus-4-8-v1:0", true),
            ("*claude-*-4-8*", "anthropic.claude-opus-4-7", false),
            ("*:free", "meta-llama/llama-3:free", true),
            ("*:free", "meta-llama/llama-3:freed", false),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("*", "", true),
            ("**", "anything", true),
        ];
        for (pattern, name, is_fit) in cases {
            assert_eq!(fits(pattern, name), is_fit, "{pattern} {name}");
        }
    }
}
