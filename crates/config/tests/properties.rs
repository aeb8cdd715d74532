//! What holds for every text.

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::Index;
use proptest::{prop_assert, prop_assert_eq};
use sluicegate_config::parse;

const GOOD: [&str; 7] = [
    include_str!("good/everything.yaml"),
    include_str!("good/limits.yaml"),
    include_str!("good/shared-ledgers.yaml"),
    include_str!("good/anchors.yaml"),
    include_str!("good/environment.yaml"),
    include_str!("good/providers.yaml"),
    include_str!("good/routes.yaml"),
];

/// Appears in a value only where the environment brought it.
const SECRET: &str = "hunter2";

fn env(name: &str) -> Option<String> {
    match name {
        "RPM" => Some("500".to_owned()),
        "OPENAI_API_KEY" | "OTHER_KEY" => Some(format!("{SECRET}-{name}")),
        _ => None,
    }
}

/// One change of a text at a place.
#[derive(Clone, Debug)]
enum Edit {
    Remove(usize),
    Insert(&'static str),
    Swap(char),
    /// This many characters from there stand a second time.
    Repeat(usize),
    /// A reference stands where some value was.
    Refer,
}

fn edit() -> impl Strategy<Value = Edit> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ": ",
        ",",
        "- ",
        "\n",
        "  ",
        "\t",
        "\"",
        "'",
        "&a ",
        "*a",
        "<<: ",
        "#",
        "|",
        ">",
        "? ",
        "!x ",
        "${",
        "$$",
        "---\n",
        "%",
        "~",
        "\u{0}",
        "\u{feff}",
        "가",
        "-1",
        "0",
        "9999999999999999999999",
        "1e9",
        "nan",
        "\\",
        "@",
        "`",
    ];
    prop_oneof![
        (1_usize..20).prop_map(Edit::Remove),
        proptest::sample::select(pieces.to_vec()).prop_map(Edit::Insert),
        any::<char>().prop_map(Edit::Swap),
        (1_usize..200).prop_map(Edit::Repeat),
        Just(Edit::Refer),
    ]
}

fn edited(text: &str, edits: &[(Index, Edit)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (place, edit) in edits {
        let at = place.index(chars.len() + 1);
        let end = |len: usize| (at + len).min(chars.len());
        match edit {
            Edit::Remove(len) => drop(chars.drain(at..end(*len))),
            Edit::Insert(piece) => drop(chars.splice(at..at, piece.chars())),
            Edit::Swap(c) => drop(chars.splice(at..end(1), [*c])),
            Edit::Repeat(len) => {
                let again = chars[at..end(*len)].to_vec();
                chars.splice(at..at, again);
            }
            Edit::Refer => drop(chars.splice(at..end(5), "${OPENAI_API_KEY}".chars())),
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn no_text_panics_and_no_secret_is_printed(
        file in 0..GOOD.len(),
        edits in proptest::collection::vec((any::<Index>(), edit()), 1..12),
    ) {
        let text = edited(GOOD[file], &edits);
        match parse("a.yaml", &text, &env) {
            Err(errors) => {
                prop_assert!(!errors.problems().is_empty());
                prop_assert!(!format!("{errors} {errors:?}").contains(SECRET), "{errors}");
            }
            Ok(policy) => {
                let ledgers = policy.ledgers();
                prop_assert_eq!(ledgers.targets.len(), policy.deployments.len());
                let mut names: Vec<&str> = ledgers.limits.iter().map(|limit| &*limit.name).collect();
                names.sort_unstable();
                names.dedup();
                prop_assert_eq!(names.len(), ledgers.limits.len());
            }
        }
    }

    #[test]
    fn no_noise_panics(text in "\\PC{0,200}") {
        let _ = parse("a.yaml", &text, &env);
    }
}

/// The catalog judges rows of the file, and repeats what it does not understand.
#[test]
fn a_row_that_the_catalog_refuses_shows_no_secret() {
    let row = |limit: &str| {
        format!(
            "providers: {{ own: {{ like: openai, base_url: \"https://x.example\", limits: {{ tokens_month: {limit} }} }} }}"
        )
    };
    let month = "{ meter: tokens, window: month, zone: \"${OTHER_KEY}\", settle: usage, failures: return, start: full }";
    let errors = parse("a.yaml", &row(month), &env).expect_err("no such zone");
    let said = errors.to_string();
    assert!(
        said.contains("there is no time zone `${OTHER_KEY}`"),
        "{said}"
    );
    assert!(!said.contains(SECRET), "{said}");
}
