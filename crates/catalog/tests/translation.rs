//! What a translated request is told of its model, for the rows that are compiled in.

use sluicegate_catalog::{ThinkingBy, provider};

#[test]
fn at_amazon_it_depends_on_whose_model_it_is() {
    let row = &provider("bedrock").expect("a row").translation;
    for (model, follows_schema, thinks) in [
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            true,
            Some(ThinkingBy::Budget),
        ),
        (
            "anthropic.claude-haiku-4-5-20251001-v1:0",
            true,
            Some(ThinkingBy::Budget),
        ),
        (
            "global.anthropic.claude-opus-4-6-v1",
            true,
            Some(ThinkingBy::Effort),
        ),
        (
            "us.anthropic.claude-sonnet-4-20250514-v1:0",
            false,
            Some(ThinkingBy::Budget),
        ),
        ("anthropic.claude-3-haiku-20240307-v1:0", false, None),
        ("amazon.nova-pro-v1:0", false, None),
        (
            "arn:aws:bedrock:us-east-1:1:application-inference-profile/x1",
            false,
            None,
        ),
    ] {
        assert_eq!(row.schema.hold(model), follows_schema, "{model}");
        assert_eq!(row.thinking_of(model), thinks, "{model}");
    }
}
