//! Providers: rows of the catalog that the file itself holds.
//!
//! It puts what is written into the shape of the catalog's rows and lets the catalog judge it, so that a row of the file and one
//! that is compiled in cannot come to mean different things. It owns the places: whatever the catalog finds wrong is reported
//! where the file says it.

mod writer;

use std::sync::Arc;

use sluicegate_catalog::{Provider, RowError, RowProblem, provider, providers};
use toml::Value as Toml;
use writer::Writer;

use crate::checked::{Data, Named, Section, Value};
use crate::errors::{Mark, Path, Problems};
use crate::shape::{listed, nearest};

/// An entry of `providers`; the name stands also where the rest is wrong, so that an account that names it is not.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    pub(super) provider: Option<Arc<Provider>>,
}

pub(super) fn rows<'a>(entries: &'a [Named], problems: &mut Problems) -> Vec<Row<'a>> {
    let rows = entries.iter().map(|entry| Row {
        name: &entry.name,
        provider: match &entry.value.data {
            Data::Section(section) => row(&entry.name, section, problems).map(Arc::new),
            _ => None,
        },
    });
    rows.collect()
}

/// The row that an account names: one of the file, or else one of the catalog.
pub(super) fn find(
    value: &Value,
    rows: &[Row<'_>],
    problems: &mut Problems,
) -> Option<Arc<Provider>> {
    let Data::Text(name) = &value.data else {
        return None;
    };
    let known = provider(&name.value);
    // An alias names what its row was changed to.
    let id = known.map(|row| row.id.as_str());
    let of_file = |row: &&Row<'_>| row.name == name.value || Some(row.name) == id;
    if let Some(row) = rows.iter().find(of_file) {
        return row.provider.clone();
    }
    if known.is_none() {
        let names = || {
            let of_file = rows.iter().map(|row| row.name);
            of_file.chain(providers().iter().map(|row| row.id.as_str()))
        };
        let problem = problems
            .add(value.at, &value.path, format!("no provider {}", name.shown))
            .expected(listed(names()));
        if let Some(near) = nearest(&name.value, names()) {
            problem.mend(format!("did you mean \"{near}\"?"));
        }
    }
    known.cloned()
}

fn row(name: &str, section: &Section, problems: &mut Problems) -> Option<Provider> {
    let like = like(name, section, problems);
    let mut written = Writer::new(problems).row(section);
    let (like, written) = (like?, written.as_mut()?);
    let text = |text: &str| Toml::String(text.to_owned());
    written.insert("id".to_owned(), text(name));
    if like.is_none_or(|like| like.id != name) {
        written.entry("name").or_insert_with(|| text(name));
    }
    if let Some(like) = like {
        written.insert("like".to_owned(), text(&like.id));
    }
    match Provider::from_table(std::mem::take(written)) {
        Ok(row) => Some(row),
        Err(RowError::Wrong(found)) => {
            for problem in found {
                let (at, path) = place(section, &problem);
                problems.add(at, path, as_written(problem.what, section));
            }
            None
        }
        Err(error @ (RowError::Form(_) | RowError::UnknownLike { .. })) => {
            let what = as_written(error.to_string(), section);
            problems.add(section.at, &section.path, what);
            None
        }
    }
}

/// The row that this one is like; the outer `None` where it names one that there is not.
#[expect(
    clippy::option_option,
    reason = "like no other and like one that there is not are different"
)]
fn like(
    name: &str,
    section: &Section,
    problems: &mut Problems,
) -> Option<Option<&'static Provider>> {
    let Some(value) = section.value("like") else {
        return Some(provider(name).map(|row| &**row));
    };
    let text = section.text("like")?;
    let found = provider(&text.value);
    if found.is_none() {
        let known = || providers().iter().map(|row| row.id.as_str());
        let problem = problems
            .add(
                value.at,
                &value.path,
                format!("the catalog has no {}", text.shown),
            )
            .expected(listed(known()));
        if let Some(near) = nearest(&text.value, known()) {
            problem.mend(format!("did you mean \"{near}\"?"));
        }
    }
    found.map(|row| Some(&**row))
}

/// What the catalog says, with the texts that it repeats as the file has them: the environment may have brought them.
fn as_written(mut what: String, section: &Section) -> String {
    let mut texts = Vec::new();
    for (_, value) in &section.fields {
        collect_texts(value, &mut texts);
    }
    // One may be a part of another.
    texts.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    for (text, shown) in texts {
        if text != shown && !text.is_empty() {
            what = what.replace(text, shown);
        }
    }
    what
}

/// The texts in `value`, each with how a message may show it.
fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<(&'a str, &'a str)>) {
    match &value.data {
        Data::Text(text) => texts.push((&text.value, text.shown.trim_matches('"'))),
        // How it was written is not kept.
        Data::Url(url) => texts.push((url, "***")),
        Data::Section(section) => {
            for (_, value) in &section.fields {
                collect_texts(value, texts);
            }
        }
        Data::Map(entries) => {
            for entry in entries {
                collect_texts(&entry.value, texts);
            }
        }
        Data::List(items) => {
            for item in items {
                collect_texts(item, texts);
            }
        }
        _ => {}
    }
}

/// Where the file says what `problem` is about: as near to its keys as the file goes.
fn place<'a>(section: &'a Section, problem: &RowProblem) -> (Mark, &'a Path) {
    let mut found = (section.at, &section.path);
    let mut inside = Some(section);
    for step in problem.key.split('.') {
        let (key, index) = match step.split_once('[') {
            Some((key, index)) => (key, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (step, None),
        };
        let Some(value) = inside.and_then(|section| section.any(key)) else {
            return found;
        };
        let value = match (&value.data, index) {
            (Data::List(items), Some(index)) => items.get(index).unwrap_or(value),
            _ => value,
        };
        found = (value.at, &value.path);
        inside = match &value.data {
            Data::Section(section) => Some(section),
            Data::Map(entries) => {
                // The names are the user's, so they may hold what separates steps.
                let rest = problem
                    .key
                    .split_once(&format!("{step}."))
                    .map(|(_, name)| name);
                if let Some(entry) = entries.iter().find(|entry| Some(&*entry.name) == rest) {
                    found = (entry.at, &entry.value.path);
                }
                return found;
            }
            _ => None,
        };
    }
    found
}
