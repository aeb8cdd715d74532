//! Whose model it is: Converse passes on to each what only it understands.

/// Whose model an id names, as far as that makes a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    /// Anthropic's.
    Claude,
    /// Amazon's own.
    Nova,
    /// Another's, or one behind an ARN that does not say.
    Other,
}

impl Family {
    /// Of a model's id, a profile's or an ARN that holds one.
    pub(super) fn of(model: &str) -> Self {
        if model.contains("claude") {
            Self::Claude
        } else if model.contains("amazon.nova") {
            Self::Nova
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_arns_hold_the_id() {
        for (model, family) in [
            ("anthropic.claude-opus-4-6-v1", Family::Claude),
            (
                "global.anthropic.claude-haiku-4-5-20251001-v1:0",
                Family::Claude,
            ),
            (
                "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0",
                Family::Nova,
            ),
            (
                "arn:aws:bedrock:us-east-1:1:application-inference-profile/x1",
                Family::Other,
            ),
            ("meta.llama3-3-70b-instruct-v1:0", Family::Other),
        ] {
            assert_eq!(Family::of(model), family, "{model}");
        }
    }
}
