//! Values whose form is right.
//!
//! What [`check`](crate::check) made of the tree: units are parsed, defaults filled in, keys known. A value whose form was
//! wrong is `Broken`: it was reported once, and whoever asks for it gets nothing and need not report it again.

use std::net::SocketAddr;
use std::time::Duration;

use sluicegate_core::BasisPoints;

use crate::Secret;
use crate::errors::{Mark, Path};
use crate::shape::Object;

#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) at: Mark,
    pub(crate) path: Path,
    pub(crate) data: Data,
}

#[derive(Debug)]
pub(crate) enum Data {
    Text(Text),
    Secret(Secret<String>),
    /// Without a slash at the end, where paths are appended to it.
    Url(String),
    Address(SocketAddr),
    Count(u64),
    Duration(Duration),
    Bytes(u64),
    Share(BasisPoints),
    Flag(bool),
    /// In micro-dollars.
    Dollars(u64),
    /// What a token counts as.
    Weight {
        thousandths: u32,
    },
    Word(&'static str),
    Section(Section),
    Map(Vec<Named>),
    List(Vec<Value>),
    Broken,
}

/// Text, and how a message may show it: as it was written, so that the environment does not show.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) value: String,
    pub(crate) shown: String,
}

/// An entry of a mapping with free names.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) at: Mark,
    pub(crate) value: Value,
}

/// A mapping with known keys: those that are there, defaults included.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) at: Mark,
    pub(crate) path: Path,
    pub(crate) object: &'static Object,
    pub(crate) fields: Vec<(&'static str, Value)>,
}

impl Section {
    /// The value of `key`, where it is there; it may be broken.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        debug_assert!(
            self.object.field(key).is_some(),
            "{key} is no key of {}",
            self.object.name
        );
        self.fields
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    }

    /// Like [`Section::value`], of a key that may be none.
    pub(crate) fn any(&self, key: &str) -> Option<&Value> {
        let found = self.fields.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| value)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&Text> {
        match &self.value(key)?.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn count(&self, key: &str) -> Option<u64> {
        match self.value(key)?.data {
            Data::Count(count) => Some(count),
            _ => None,
        }
    }

    pub(crate) fn bytes(&self, key: &str) -> Option<u64> {
        match self.value(key)?.data {
            Data::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn duration(&self, key: &str) -> Option<Duration> {
        match self.value(key)?.data {
            Data::Duration(duration) => Some(duration),
            _ => None,
        }
    }

    pub(crate) fn share(&self, key: &str) -> Option<BasisPoints> {
        match self.value(key)?.data {
            Data::Share(share) => Some(share),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.value(key)?.data {
            Data::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub(crate) fn dollars(&self, key: &str) -> Option<u64> {
        match self.value(key)?.data {
            Data::Dollars(micros) => Some(micros),
            _ => None,
        }
    }

    pub(crate) fn address(&self, key: &str) -> Option<SocketAddr> {
        match self.value(key)?.data {
            Data::Address(address) => Some(address),
            _ => None,
        }
    }

    pub(crate) fn word(&self, key: &str) -> Option<&'static str> {
        match self.value(key)?.data {
            Data::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn url(&self, key: &str) -> Option<&str> {
        match &self.value(key)?.data {
            Data::Url(url) => Some(url),
            _ => None,
        }
    }

    pub(crate) fn section(&self, key: &str) -> Option<&Self> {
        match &self.value(key)?.data {
            Data::Section(section) => Some(section),
            _ => None,
        }
    }

    pub(crate) fn map(&self, key: &str) -> &[Named] {
        match self.value(key).map(|value| &value.data) {
            Some(Data::Map(entries)) => entries,
            _ => &[],
        }
    }

    pub(crate) fn list(&self, key: &str) -> &[Value] {
        match self.value(key).map(|value| &value.data) {
            Some(Data::List(items)) => items,
            _ => &[],
        }
    }

    /// Whether the key stands there, right or broken.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Whether the key stands there and is broken.
    pub(crate) fn is_broken(&self, key: &str) -> bool {
        matches!(self.value(key), Some(value) if matches!(value.data, Data::Broken))
    }
}
