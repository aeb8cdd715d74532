//! What a configuration can be made of: objects, their fields, and the kinds of values.
//!
//! It owns the vocabulary in which [`table`](crate::table) describes the language. The check of a file, the JSON Schema
//! and the reference are written against these types and never against a single key, so a key that is added to the table is
//! checked, completed and documented at once.

use std::time::Duration;

use strsim::damerau_levenshtein;

/// A mapping with known keys.
#[derive(Debug)]
pub(crate) struct Object {
    /// Its name in the schema and the reference, unique in the table.
    pub(crate) name: &'static str,
    /// One sentence: what it is for.
    pub(crate) doc: &'static str,
    pub(crate) fields: &'static [Field],
}

impl Object {
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The keys that may be written today.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields
            .iter()
            .filter(|field| !matches!(field.kind, Kind::Later))
            .map(|field| field.name)
    }
}

/// A known key.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) presence: Presence,
    /// A sentence or two: meaning, unit, what happens without it.
    pub(crate) doc: &'static str,
}

impl Field {
    pub(crate) const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            name,
            kind,
            presence: Presence::Required,
            doc,
        }
    }

    pub(crate) const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            name,
            kind,
            presence: Presence::Optional,
            doc,
        }
    }

    pub(crate) const fn defaulted(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            presence: Presence::Default(default),
            doc,
        }
    }

    /// Of kind [`Kind::Object`].
    pub(crate) const fn section(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            name,
            kind,
            presence: Presence::Section,
            doc,
        }
    }

    pub(crate) const fn later(name: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Later,
            presence: Presence::Optional,
            doc: "",
        }
    }
}

#[derive(Debug)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// A section: without it as if it stood there empty, so that its own defaults apply.
    Section,
    /// Taken where the key is absent, written as it would be in a file.
    Default(&'static str),
}

/// What a value may be.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Free text, not empty; the string says what it is, as in "expected …".
    Text(&'static str),
    /// A key or password: never printed.
    Secret,
    /// The same, or an empty text for none.
    SecretOrEmpty,
    /// Text of any number of lines, not empty; the string says what it is, as in "expected …".
    Prose(&'static str),
    /// `http://…` or `https://…`, without user name and query.
    Url,
    /// Likewise, with `{region}` in it where a region's name goes.
    UrlByRegion,
    /// Likewise, whole: it may have a query. Never printed, since who knows it may use it.
    Webhook,
    /// `HOST:PORT` with a numeric host, or `localhost`.
    Address,
    /// A whole number from 1 to the maximum.
    Count { max: u64 },
    /// A whole number from 0 to the maximum.
    Number { max: u64 },
    /// What a token counts as, from 0 to 1,000, down to a thousandth.
    Weight,
    /// A time from `min` to `max`.
    Duration { min: Duration, max: Duration },
    /// A number of bytes, from 1 to the maximum.
    Bytes { max: u64 },
    /// A share of the whole, above zero.
    Share,
    /// A share of the whole, or nothing of it.
    ShareFromZero,
    /// Yes or no.
    Flag,
    /// Dollars, down to a millionth.
    Dollars,
    /// One of some words.
    Word(&'static [Word]),
    /// A mapping with known keys.
    Object(&'static Object),
    /// A mapping with free names as keys; `name` is what a name stands for.
    Map {
        name: &'static str,
        of: &'static Object,
    },
    /// A mapping with free names as keys and single values of one kind; `name` is what a name stands for.
    Pairs {
        name: &'static str,
        of: &'static Kind,
    },
    /// A list with at least one item.
    List(&'static Kind),
    /// Any of several: scalars are tried in order, and among objects the one that knows most of the keys is meant.
    OneOf(&'static [Kind]),
    /// Known, but not supported by this version.
    Later,
}

#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) name: &'static str,
    pub(crate) support: Support,
    /// What it means, as the end of a sentence.
    pub(crate) doc: &'static str,
}

impl Word {
    pub(crate) const fn now(name: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            support: Support::Now,
            doc,
        }
    }

    pub(crate) const fn later(name: &'static str) -> Self {
        Self {
            name,
            support: Support::Later,
            doc: "",
        }
    }
}

/// Whether this version can do what a word asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Support {
    Now,
    Later,
}

impl Kind {
    /// Whether it is never a single value.
    pub(crate) const fn holds_several(&self) -> bool {
        matches!(
            self,
            Self::Object(_) | Self::Map { .. } | Self::Pairs { .. } | Self::List(_)
        )
    }

    /// As in "expected …".
    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Text(what) | Self::Prose(what) => (*what).to_owned(),
            Self::Secret => "a key".to_owned(),
            Self::SecretOrEmpty => "a key, or nothing".to_owned(),
            Self::Url => "a URL like https://host/v1".to_owned(),
            Self::UrlByRegion => {
                "a URL with {region} in it, like https://{region}.example.net".to_owned()
            }
            Self::Webhook => "a URL like https://host/hooks/1".to_owned(),
            Self::Address => "an address like 127.0.0.1:8080".to_owned(),
            Self::Count { max: u64::MAX } => {
                "a whole number of at least 1, like 500, 300_000, 300k or 2M".to_owned()
            }
            Self::Count { max } => format!("a whole number from 1 to {max}"),
            Self::Number { max } => format!("a whole number from 0 to {max}"),
            Self::Weight => {
                "a number from 0 to 1000 with at most three decimals, like 0.1 or 5".to_owned()
            }
            Self::Duration { min, max } => format!(
                "a duration from {} to {}, like 300ms, 5s, 2m or 24h",
                brief(*min),
                brief(*max)
            ),
            Self::Bytes { max } => {
                format!("a size of at most {} MiB, like 32MiB", max >> 20)
            }
            Self::Share => "a share like 0.97 or 97%".to_owned(),
            Self::ShareFromZero => "a share like 0, 0.2 or 20%".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Dollars => "dollars like 1.25".to_owned(),
            Self::Word(words) => listed(
                words
                    .iter()
                    .filter(|word| word.support == Support::Now)
                    .map(|word| word.name),
            ),
            Self::Object(object) => format!("a mapping with {}", listed(object.keys())),
            Self::Map { name, .. } => format!("a mapping of {name}s"),
            Self::Pairs { name, of } => {
                format!("a mapping of {name}s, each with {}", of.expected())
            }
            Self::List(_) => "a list".to_owned(),
            Self::OneOf(kinds) => kinds
                .iter()
                .map(Self::expected)
                .collect::<Vec<_>>()
                .join(", or "),
            Self::Later => "nothing".to_owned(),
        }
    }
}

/// `a, b or c`.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.split_last() {
        None => "nothing".to_owned(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
    }
}

/// `wait` in the largest unit in which it is whole.
pub(crate) fn brief(wait: Duration) -> String {
    const UNITS: [(u128, &str); 5] = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1_000, "s"),
        (1, "ms"),
    ];
    let millis = wait.as_millis();
    if millis == 0 || !wait.as_nanos().is_multiple_of(1_000_000) {
        return format!("{}ns", wait.as_nanos());
    }
    UNITS
        .iter()
        .find(|(unit, _)| millis.is_multiple_of(*unit))
        .map_or_else(String::new, |(unit, name)| {
            format!("{}{name}", millis / unit)
        })
}

/// The known name that `name` was probably meant to be: at most a third of it is different. Only so many names, none of
/// them very long, are looked at.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const CHARS_MAX: usize = 64;
    const KNOWN_MAX: usize = 1_000;
    let len = name.chars().take(CHARS_MAX + 1).count();
    if len > CHARS_MAX {
        return None;
    }
    let lower = name.to_lowercase();
    known
        .into_iter()
        .take(KNOWN_MAX)
        .filter(|known| known.len() <= 4 * CHARS_MAX)
        .map(|known| (damerau_levenshtein(&lower, &known.to_lowercase()), known))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, known)| *distance <= (len.max(known.chars().count()) / 3).max(1))
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let known = ["rpm", "tpm", "concurrent", "openai-main"];
        assert_eq!(nearest("tmp", known), Some("tpm"));
        assert_eq!(nearest("RPM", known), Some("rpm"));
        assert_eq!(nearest("concurent", known), Some("concurrent"));
        assert_eq!(nearest("openai-mian", known), Some("openai-main"));
        assert_eq!(nearest("requests", known), None);
        assert_eq!(nearest(&"x".repeat(65), known), None);
    }

    #[test]
    fn words_and_times_read_well() {
        assert_eq!(listed(["a", "b", "c"]), "a, b or c");
        assert_eq!(listed(["a"]), "a");
        assert_eq!(brief(Duration::from_millis(1_500)), "1500ms");
        assert_eq!(brief(Duration::from_secs(86_400)), "1d");
        assert_eq!(brief(Duration::from_secs(60)), "1m");
        assert_eq!(brief(Duration::from_nanos(1_500_000)), "1500000ns");
    }
}
