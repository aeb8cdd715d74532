//! What a translated request is told of its model, for the rows that are compiled in.

use std::collections::BTreeSet;

use sluicegate_catalog::{Effort, Models, ThinkingBy, Translation, provider};

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

fn row(id: &str) -> &'static Translation {
    &provider(id).expect("a row").translation
}

/// The names of Claude's models among `names`, without what a cloud puts before them.
fn claudes(names: &[String]) -> BTreeSet<&str> {
    let names = names.iter().map(|name| name.trim_start_matches('*'));
    names.filter(|name| name.starts_with("claude-")).collect()
}

fn claudes_of(models: &Models) -> BTreeSet<&str> {
    match models {
        Models::All(_) => BTreeSet::new(),
        Models::Named(names) => claudes(names),
    }
}

/// How Claude's models are told to think, without those of others.
fn thinking(row: &Translation) -> Vec<(BTreeSet<&str>, ThinkingBy, &[Effort])> {
    let entries = row.thinking.iter();
    let entries = entries.map(|entry| (claudes(&entry.models), entry.by, &*entry.efforts));
    entries.filter(|(names, ..)| !names.is_empty()).collect()
}

#[test]
fn what_is_said_of_claude_at_its_maker_is_said_at_every_cloud() {
    let maker = row("anthropic");
    for id in ["bedrock", "vertex"] {
        let cloud = row(id);
        for (key, at_maker, at_cloud) in [
            ("always_thinks", &maker.always_thinks, &cloud.always_thinks),
            (
                "fixed_sampling",
                &maker.fixed_sampling,
                &cloud.fixed_sampling,
            ),
            ("one_sampler", &maker.one_sampler, &cloud.one_sampler),
        ] {
            let names = claudes_of(at_maker);
            assert!(!names.is_empty(), "{key}");
            assert_eq!(names, claudes_of(at_cloud), "{id}: {key}");
        }
        assert_eq!(thinking(maker), thinking(cloud), "{id}");
        assert!(thinking(cloud).len() > 2, "{id}");
    }
}

/// A model that is new goes into more than one list.
#[test]
fn no_model_of_claude_is_in_one_list_and_missing_in_another() {
    let row = row("anthropic");
    for (names, by, efforts) in thinking(row) {
        for name in names.iter().map(|name| name.trim_end_matches('*')) {
            let samples = [row.fixed_sampling.hold(name), row.one_sampler.hold(name)];
            if by == ThinkingBy::Effort {
                assert_eq!(samples.iter().filter(|it| **it).count(), 1, "{name}");
                assert!(efforts.contains(&Effort::High), "{name}");
            } else {
                assert!(!samples[0] && !row.always_thinks.hold(name), "{name}");
            }
        }
    }
    for list in [&row.always_thinks, &row.fixed_sampling, &row.one_sampler] {
        for name in claudes_of(list) {
            let name = name.trim_end_matches('*');
            assert!(row.thinking_of(name).is_some(), "{name}");
        }
    }
}

#[test]
fn azures_deployments_are_taken_for_the_models_whose_names_they_have() {
    for id in ["azure", "azure_ptu"] {
        assert_eq!(row(id), row("openai"), "{id}");
    }
}

#[test]
fn a_model_of_openai_that_always_thinks_takes_no_temperature() {
    let row = row("openai");
    for (model, always, unless_unthinking) in [
        ("gpt-5-mini", true, true),
        ("gpt-5.1-codex-max", true, true),
        ("gpt-5.5-pro-2026-04-23", true, true),
        ("gpt-6-astra", true, true),
        ("gpt-5.1", false, true),
        ("gpt-5.5-prod", false, true),
        ("gpt-5-chat-latest", false, false),
        ("gpt-4.1", false, false),
    ] {
        assert_eq!(row.always_thinks.hold(model), always, "{model}");
        assert_eq!(row.fixed_sampling.hold(model), always, "{model}");
        let refuses = row.fixed_sampling.hold(model) || row.unthinking_sampling.hold(model);
        assert_eq!(refuses, unless_unthinking, "{model}");
        assert_eq!(row.thinking_of(model).is_some(), refuses, "{model}");
    }
}
