//! The table as a page of the documentation.

use std::fmt::Write as _;

use crate::shape::{Kind, Object, Presence, Support, Word, brief};
use crate::table::ROOT;

/// The reference of the configuration file, in Markdown: one section per object, one row per key.
pub fn reference() -> String {
    let mut page = String::from(
        "# Configuration reference\n\n\
         <!-- Generated from the table in crates/config; change it there. -->\n",
    );
    let mut done = Vec::new();
    let mut next = vec![&ROOT];
    while let Some(object) = next.pop() {
        if done.contains(&object.name) {
            continue;
        }
        done.push(object.name);
        section(object, &mut page);
        // In the order of the keys: the first one is written next.
        for field in object.fields.iter().rev() {
            below(&field.kind, &mut next);
        }
    }
    page
}

fn section(object: &'static Object, page: &mut String) {
    let _ = write!(
        page,
        "\n## {}\n\n{}\n\n| key | value | default | meaning |\n|---|---|---|---|\n",
        object.name, object.doc
    );
    for field in object.fields {
        if matches!(field.kind, Kind::Later) {
            continue;
        }
        let default = match field.presence {
            Presence::Required => "required".to_owned(),
            Presence::Optional | Presence::Section => String::new(),
            Presence::Default(text) => format!("`{text}`"),
        };
        let mut meaning = field.doc.to_owned();
        if let Kind::Word(words) = &field.kind {
            let words = words.iter().filter(|word| word.support == Support::Now);
            let told = words.map(|Word { name, doc, .. }| format!("`{name}`: {doc}"));
            let _ = write!(meaning, " {}.", told.collect::<Vec<_>>().join("; "));
        }
        let value = value(&field.kind);
        let _ = writeln!(
            page,
            "| `{}` | {value} | {default} | {meaning} |",
            field.name
        );
    }
}

/// What stands behind a key, briefly.
fn value(kind: &'static Kind) -> String {
    match kind {
        Kind::Text(what) | Kind::Prose(what) => (*what).to_owned(),
        Kind::Secret | Kind::SecretOrEmpty => "a key, best as `${NAME}`".to_owned(),
        Kind::Url | Kind::Webhook => "a URL".to_owned(),
        Kind::UrlByRegion => "a URL with `{region}` in it".to_owned(),
        Kind::Address => "an address, `127.0.0.1:8080`".to_owned(),
        Kind::Count { max: u64::MAX } => "a number, `500` or `300k`".to_owned(),
        Kind::Count { max } => format!("a number up to {max}"),
        Kind::Number { max } => format!("a number from 0 to {max}"),
        Kind::Weight => "a number, `5` or `0.1`".to_owned(),
        Kind::Duration { min, max } => {
            format!("a duration from `{}` to `{}`", brief(*min), brief(*max))
        }
        Kind::Bytes { .. } => "a size, `32MiB`".to_owned(),
        Kind::Share => "a share, `0.97` or `97%`".to_owned(),
        Kind::ShareFromZero => "a share, `0`, `0.2` or `20%`".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Dollars => "dollars, `1.25`".to_owned(),
        Kind::Word(words) => {
            let words = words.iter().filter(|word| word.support == Support::Now);
            let words: Vec<String> = words.map(|word| format!("`{}`", word.name)).collect();
            words.join(", ")
        }
        Kind::Object(of) => link(of),
        Kind::Map { name, of } => format!("names, each with {} ({name})", link(of)),
        Kind::Pairs { name, of } => format!("names, each with {} ({name})", value(of)),
        Kind::List(of) => format!("a list of: {}", value(of)),
        Kind::OneOf(kinds) => kinds.iter().map(value).collect::<Vec<_>>().join(", or "),
        Kind::Later => String::new(),
    }
}

fn link(object: &Object) -> String {
    format!("[{}](#{})", object.name, object.name.replace(' ', "-"))
}

fn below(kind: &'static Kind, into: &mut Vec<&'static Object>) {
    match kind {
        Kind::Object(of) | Kind::Map { of, .. } => into.push(of),
        Kind::List(of) | Kind::Pairs { of, .. } => below(of, into),
        Kind::OneOf(kinds) => kinds.iter().rev().for_each(|kind| below(kind, into)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_has_its_section_and_every_row_its_cells() {
        let page = reference();
        let sections: Vec<String> = page
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .map(|name| name.replace(' ', "-"))
            .collect();
        let mut links = 0;
        for link in page.split("](#").skip(1) {
            let target = link.split(')').next().expect("closed");
            assert!(sections.iter().any(|name| name == target), "{target}");
            links += 1;
        }
        assert!(links > 10);
        for row in page.lines().filter(|line| line.starts_with("| `")) {
            assert_eq!(row.matches(" | ").count(), 3, "{row}");
        }
        assert!(page.contains("| `drain` | a duration from `1ms` to `1d` | `30s` |"));
    }
}
