//! Checked values in the shape of a row of the catalog.
//!
//! It knows where the file's words differ from a row's (`per` and `per_s`, a fixed window of unknown phase) and nothing of what
//! they mean together. What was broken before was reported before.

use std::time::Duration;

use toml::{Table, Value as Toml};

use crate::checked::{Data, Section, Value};
use crate::errors::Problems;
use crate::shape::brief;

/// Writes checked values in the shape of a row.
pub(super) struct Writer<'a> {
    problems: &'a mut Problems,
}

impl<'a> Writer<'a> {
    pub(super) const fn new(problems: &'a mut Problems) -> Self {
        Self { problems }
    }

    /// The row that `section` describes, without what it is like; `None` where something in it is broken; all of it is looked at.
    pub(super) fn row(&mut self, section: &Section) -> Option<Table> {
        self.table(section)
    }

    fn table(&mut self, section: &Section) -> Option<Table> {
        let mut table = Some(Table::new());
        for (key, value) in &section.fields {
            let value = match (*key, &value.data) {
                ("like", _) => continue,
                ("limits", Data::Section(limits)) => self.limits(limits),
                ("charge", Data::Text(rule)) => {
                    let default = Toml::String(rule.value.clone());
                    Some(Toml::Table(
                        [("default".to_owned(), default)].into_iter().collect(),
                    ))
                }
                ("signals" | "thinking", Data::Word(_)) => Some(Toml::Array(Vec::new())),
                ("work_ms" | "lane_priority" | "headers", Data::Word(_)) => {
                    Some(Toml::Boolean(false))
                }
                ("work_ms", _) => self.value(value).map(|headers| {
                    let headers = [("headers".to_owned(), headers)];
                    Toml::Table(headers.into_iter().collect())
                }),
                ("lane_priority", _) => self.value(value).map(|field| {
                    let field = [("field".to_owned(), field)];
                    Toml::Table(field.into_iter().collect())
                }),
                _ => self.value(value),
            };
            let key = if *key == "per" { "per_s" } else { *key };
            put(&mut table, key, value);
        }
        table
    }

    fn value(&mut self, value: &Value) -> Option<Toml> {
        Some(match &value.data {
            Data::Text(text) => Toml::String(text.value.clone()),
            Data::Url(url) => Toml::String(url.clone()),
            Data::Word(word) => Toml::String((*word).to_owned()),
            Data::Count(count) => Toml::Integer(i64::try_from(*count).unwrap_or(i64::MAX)),
            Data::Flag(flag) => Toml::Boolean(*flag),
            Data::Weight { thousandths } => Toml::Float(f64::from(*thousandths) / 1_000.0),
            Data::Duration(duration) => self.seconds(value, *duration)?,
            Data::Section(section) => Toml::Table(self.table(section)?),
            Data::Map(entries) => {
                let mut table = Some(Table::new());
                for entry in entries {
                    let value = self.value(&entry.value);
                    put(&mut table, &entry.name, value);
                }
                Toml::Table(table?)
            }
            Data::List(items) => {
                // Every one is looked at before any is missed.
                let items: Vec<Option<Toml>> = items.iter().map(|item| self.value(item)).collect();
                Toml::Array(items.into_iter().collect::<Option<_>>()?)
            }
            Data::Secret(_)
            | Data::Address(_)
            | Data::Bytes(_)
            | Data::Share(_)
            | Data::Dollars(_)
            | Data::Broken => return None,
        })
    }

    /// Rows count in whole seconds.
    fn seconds(&mut self, value: &Value, duration: Duration) -> Option<Toml> {
        if duration.subsec_nanos() != 0 {
            self.problems
                .add(
                    value.at,
                    &value.path,
                    format!("{} is not whole", brief(duration)),
                )
                .expected("whole seconds, like 1s or 60s");
            return None;
        }
        i64::try_from(duration.as_secs()).ok().map(Toml::Integer)
    }

    fn limits(&mut self, section: &Section) -> Option<Toml> {
        let limits: Vec<Option<Toml>> = section
            .fields
            .iter()
            .map(|(short, value)| match &value.data {
                Data::Section(limit) => {
                    let mut limit = self.limit(limit)?;
                    let short = Toml::String((*short).to_owned());
                    limit.insert("short".to_owned(), short);
                    Some(Toml::Table(limit))
                }
                _ => None,
            })
            .collect();
        Some(Toml::Array(limits.into_iter().collect::<Option<_>>()?))
    }

    fn limit(&mut self, section: &Section) -> Option<Table> {
        self.refuse_phase(section)?;
        let mut limit = Some(Table::new());
        let mut window = Some(Table::new());
        for (key, value) in &section.fields {
            match (*key, &value.data) {
                ("window", Data::Word(kind)) => {
                    let kind = match (*kind, section.word("phase")) {
                        ("fixed", Some("calendar")) => "fixed",
                        ("fixed", _) => "floating",
                        (kind, _) => kind,
                    };
                    put(&mut window, "kind", Some(Toml::String(kind.to_owned())));
                }
                ("phase", Data::Word(_)) => {}
                ("per", _) => {
                    let per = self.value(value);
                    put(&mut window, "per_s", per);
                }
                ("burst", _) => {
                    let burst = self.value(value);
                    put(&mut window, "burst_s", burst);
                }
                ("zone", _) => {
                    let zone = self.value(value);
                    put(&mut window, "zone", zone);
                }
                ("quantum", Data::Word(_)) => {
                    put(&mut limit, "quantum_s", Some(Toml::Boolean(false)));
                }
                (key, _) => {
                    let key = match key {
                        "quantum" => "quantum_s",
                        "settle" => "settlement",
                        key => key,
                    };
                    let value = self.value(value);
                    put(&mut limit, key, value);
                }
            }
        }
        let window = window?;
        if !window.is_empty() {
            put(&mut limit, "window", Some(Toml::Table(window)));
        }
        limit
    }

    fn refuse_phase(&mut self, section: &Section) -> Option<()> {
        let Some(phase) = section.value("phase") else {
            return Some(());
        };
        if section.word("window") == Some("fixed") || section.is_broken("window") {
            return Some(());
        }
        self.problems
            .add(phase.at, &phase.path, "only a fixed window has a phase")
            .mend("remove it, or write `window: fixed`");
        None
    }
}

/// Puts the value under the key; where there is none, there is no table any more.
fn put(table: &mut Option<Table>, key: &str, value: Option<Toml>) {
    match (table.as_mut(), value) {
        (Some(table), Some(value)) => {
            table.insert(key.to_owned(), value);
        }
        _ => *table = None,
    }
}
