//! What load changes about one request, and how its client is told.

use http::{HeaderMap, HeaderName, HeaderValue};
use sluicegate_core::LoadLevel;

const LOAD: HeaderName = HeaderName::from_static("x-sluicegate-load");

/// How loaded everything was when a request came.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Degraded {
    level: LoadLevel,
}

impl Degraded {
    /// The level of load is `level`.
    pub(super) fn at(&mut self, level: LoadLevel) {
        self.level = level;
    }

    /// Tells the client, where there is something to tell.
    pub(super) fn tell(&self, headers: &mut HeaderMap) {
        if self.level > LoadLevel::Normal {
            headers.insert(LOAD, HeaderValue::from_static(self.level.name()));
        }
    }
}
