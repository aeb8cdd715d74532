//! What a row must hold together beyond its form, for rows that are compiled in and for those that a user writes.

use std::collections::BTreeSet;

use sluicegate_core::Meter;

use crate::{Evidence, LimitRow, Provider, WindowRow};

/// The names that limits may have in the short form.
const SHORT: [&str; 10] = [
    "rpm",
    "rps",
    "rpd",
    "tpm",
    "tpd",
    "itpm",
    "otpm",
    "concurrent",
    "requests_month",
    "tokens_month",
];

impl Provider {
    /// What is wrong with the row, all of it, each as a sentence without its end; empty where nothing is.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        self.names_and_address(&mut problems);
        for limit in &self.limits {
            limit_problems(limit, &mut problems);
        }
        if let Some(short) = twice(self.limits.iter().map(|limit| &limit.short)) {
            problems.push(format!("the limit `{short}` stands twice"));
        }
        if !self.charge.default_exists() {
            let default = self.charge.default_name();
            problems.push(format!("the default charge `{default}` is no rule"));
        }
        let signals = self.signals.iter().filter_map(|signal| signal.problem());
        let errors = self.errors.iter().filter_map(|error| error.problem());
        problems.extend(signals.chain(errors).map(str::to_owned));
        if self.evidence().any(|evidence| evidence.source.is_empty()) {
            problems.push("a fact has no source".to_owned());
        }
        problems
    }

    fn names_and_address(&self, problems: &mut Vec<String>) {
        let headers = self.signals.iter().flat_map(|signal| signal.header_names());
        for header in headers.chain([self.auth.header.as_str()]) {
            if header != header.to_lowercase() {
                problems.push(format!("the header `{header}` is not in lower case"));
            }
        }
        if !self.paths.chat.starts_with('/') {
            problems.push("the path of chat does not begin with a slash".to_owned());
        }
        if self.base_url.as_ref().is_some_and(|url| url.ends_with('/')) {
            problems.push("the base URL ends in a slash".to_owned());
        }
        if !self.models.is_sorted() {
            problems.push("the models are not sorted".to_owned());
        }
        for pattern in &self.model_patterns {
            let stem = pattern.strip_suffix('*').unwrap_or(pattern);
            if stem.contains('*') {
                problems.push(format!("`{pattern}`: a * may stand at the end only"));
            }
        }
        for model in &self.models {
            if !self.serves(model) {
                problems.push(format!("no pattern covers the model `{model}`"));
            }
        }
    }

    fn evidence(&self) -> impl Iterator<Item = &Evidence> {
        let others = self.limits.iter().flat_map(|limit| &limit.alternatives);
        let rules = || {
            let names = self.charge.names();
            names.filter_map(|name| self.charge.rule(name))
        };
        let models = rules().flat_map(|rule| &rule.models);
        let limits = self.limits.iter().map(|limit| &limit.evidence);
        limits
            .chain(others.map(|other| &other.evidence))
            .chain(rules().map(|rule| &rule.evidence))
            .chain(models.map(|terms| &terms.evidence))
            .chain(self.signals.iter().map(|signal| &signal.evidence))
            .chain(self.errors.iter().map(|error| &error.evidence))
    }
}

fn limit_problems(limit: &LimitRow, problems: &mut Vec<String>) {
    let short = &limit.short;
    if !SHORT.contains(&short.as_str()) {
        problems.push(format!("`{short}` is no name of a limit"));
    }
    if (limit.meter == Meter::Concurrent) != (limit.window == WindowRow::Concurrent) {
        problems.push(format!(
            "`{short}`: the meter concurrent and the window concurrent go together"
        ));
    }
    if let Some(name) = twice(limit.alternatives.iter().map(|other| &other.name)) {
        problems.push(format!("`{short}`: the alternative `{name}` stands twice"));
    }
    let windows = limit
        .alternatives
        .iter()
        .filter_map(|other| other.window.as_ref());
    for window in windows.chain([&limit.window]) {
        if let WindowRow::Pacing { per_s, burst_s } = window
            && burst_s.is_some_and(|burst_s| burst_s > *per_s)
        {
            problems.push(format!("`{short}`: more comes at once than the amount"));
        }
    }
    for other in &limit.alternatives {
        if other.why.is_empty() {
            problems.push(format!("`{short}`: `{}` says no reason", other.name));
        }
    }
}

/// The first that was there before.
fn twice<'a>(mut names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut seen = BTreeSet::new();
    names.find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use crate::{Provider, provider};

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let row = include_str!("../rows/openai.toml")
            .replace("\"authorization\"", "\"Authorization\"")
            .replace("\"/v1/chat/completions\"", "\"v1/chat/completions\"")
            .replace("api.openai.com\"", "api.openai.com/\"")
            .replace("\"gpt-*\", ", "\"g*t\", ")
            .replace("short = \"rpd\"", "short = \"rpm\"")
            .replace("default = \"documented\"", "default = \"best\"")
            .replace("[\"requests per day\"", "[\"Requests per day\"");
        let row: Provider = toml::from_str(&row).expect("the form is right");
        let problems = row.problems();
        for said in [
            "the header `Authorization` is not in lower case",
            "the path of chat does not begin with a slash",
            "the base URL ends in a slash",
            "`g*t`: a * may stand at the end only",
            "no pattern covers the model `gpt-4o`",
            "the limit `rpm` stands twice",
            "the default charge `best` is no rule",
            "parts of an error's message are written in lower case",
        ] {
            assert!(problems.iter().any(|p| p == said), "{said}: {problems:?}");
        }
        let openai = provider("openai").expect("a row");
        assert_eq!(openai.problems(), Vec::<String>::new());
    }
}
