//! What a row must hold together beyond its form, for rows that are compiled in and for those that a user writes.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU64;

use sluicegate_core::Meter;

use crate::address::REGION;
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

/// One thing that a row does not hold together. It never repeats a value of the row, which may be nobody's business.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowProblem {
    /// The keys that lead there, limits by their short names: `limits.tpm`, `signals[2]`; empty for the row as a whole.
    pub key: String,
    /// What is wrong, as a sentence whose subject is what stands there, without its end.
    pub what: String,
}

impl RowProblem {
    pub(crate) fn new(key: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            what: what.into(),
        }
    }
}

impl fmt::Display for RowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.what)
    }
}

impl Provider {
    /// What is wrong with the row, all of it; empty where nothing is.
    pub fn problems(&self) -> Vec<RowProblem> {
        let mut problems = Vec::new();
        self.names_and_address(&mut problems);
        for limit in &self.limits {
            limit_problems(limit, &mut problems);
        }
        if let Some(short) = twice(self.limits.iter().map(|limit| &limit.short)) {
            problems.push(RowProblem::new(format!("limits.{short}"), "stands twice"));
        }
        if !self.charge.default_exists() {
            problems.push(RowProblem::new("charge.default", "names no rule"));
        }
        for (index, signal) in self.signals.iter().enumerate() {
            let what = signal.problem();
            problems.extend(what.map(|what| RowProblem::new(format!("signals[{index}]"), what)));
        }
        for (index, error) in self.errors.iter().enumerate() {
            let what = error.problem();
            problems.extend(what.map(|what| RowProblem::new(format!("errors[{index}]"), what)));
        }
        if self.evidence().any(|evidence| evidence.source.is_empty()) {
            problems.push(RowProblem::new("", "a fact has no source"));
        }
        problems
    }

    fn names_and_address(&self, problems: &mut Vec<RowProblem>) {
        if !is_header(&self.auth.header) {
            problems.push(RowProblem::new("auth.header", NO_HEADER));
        }
        for (index, signal) in self.signals.iter().enumerate() {
            if !signal.header_names().all(is_header) {
                problems.push(RowProblem::new(format!("signals[{index}]"), NO_HEADER));
            }
        }
        if let Some(work) = &self.work_ms {
            if work.headers.is_empty() {
                problems.push(RowProblem::new("work_ms", "names no header"));
            }
            if !work.headers.iter().all(|name| is_header(name)) {
                problems.push(RowProblem::new("work_ms", NO_HEADER));
            }
        }
        if let Some(priority) = &self.lane_priority
            && priority.field.is_empty()
        {
            problems.push(RowProblem::new("lane_priority", "names no field"));
        }
        for (key, what) in self.path_problems() {
            problems.push(RowProblem::new(format!("paths.{key}"), what));
        }
        for (name, text) in &self.headers {
            let what = self.header_problem(name, text);
            problems.extend(what.map(|what| RowProblem::new(format!("headers.{name}"), what)));
        }
        for (key, what) in self.translation.problems() {
            problems.push(RowProblem::new(format!("translation.{key}"), what));
        }
        if self.base_url.as_ref().is_some_and(|url| url.ends_with('/')) {
            problems.push(RowProblem::new("base_url", "ends in a slash"));
        }
        if self
            .region_url
            .as_ref()
            .is_some_and(|url| url.ends_with('/') || !url.contains(REGION))
        {
            let what = "ends in a slash, or names no {region}";
            problems.push(RowProblem::new("region_url", what));
        }
        let is_service =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if self
            .aws_service
            .as_ref()
            .is_some_and(|name| name.is_empty() || !name.bytes().all(is_service))
        {
            let what = "is no service's name, like bedrock or execute-api";
            problems.push(RowProblem::new("aws_service", what));
        }
        if !self.models.is_sorted() {
            problems.push(RowProblem::new("models", "are not sorted"));
        }
        for (index, pattern) in self.model_patterns.iter().enumerate() {
            let stem = pattern.strip_suffix('*').unwrap_or(pattern);
            if stem.contains('*') {
                let key = format!("model_patterns[{index}]");
                problems.push(RowProblem::new(key, "has a * that is not at its end"));
            }
        }
        let uncovered = self.models.iter().filter(|model| !self.serves(model));
        match uncovered.count() {
            0 => {}
            count => problems.push(RowProblem::new(
                "models",
                format!("{count} of them fit none of `model_patterns`"),
            )),
        }
    }

    /// What is wrong with one of its headers, with its text.
    fn header_problem(&self, name: &str, text: &str) -> Option<&'static str> {
        if !is_header(name) {
            Some(NO_HEADER)
        } else if name == self.auth.header {
            Some("is the header of the key, which is an account's")
        } else if SAID_ANEW.contains(&name) {
            Some("is said anew with each request")
        } else if text.trim() != text || !text.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
            Some("holds something other than visible ASCII characters with spaces between them")
        } else {
            None
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
            .chain(self.work_ms.iter().map(|work| &work.evidence))
            .chain(self.lane_priority.iter().map(|priority| &priority.evidence))
            .chain(self.vocabularies.iter().map(|row| &row.evidence))
            .chain(self.images.iter().map(|images| &images.evidence))
            .chain(self.errors.iter().map(|error| &error.evidence))
    }
}

/// Headers of the connection or of the one request: a row that named them would break what goes out.
const SAID_ANEW: [&str; 9] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "transfer-encoding",
    "upgrade",
];

const NO_HEADER: &str = "a header is a name in lower case, without spaces";

/// Whether `name` may be compared with the names of headers as they come.
fn is_header(name: &str) -> bool {
    let fits =
        |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(fits)
}

fn limit_problems(limit: &LimitRow, problems: &mut Vec<RowProblem>) {
    let short = &limit.short;
    let mut add = |what: String| problems.push(RowProblem::new(format!("limits.{short}"), what));
    if !SHORT.contains(&short.as_str()) {
        add("is no name of a limit".to_owned());
    }
    if (limit.meter == Meter::Concurrent) != (limit.window == WindowRow::Concurrent) {
        add("the meter concurrent and the window concurrent go together".to_owned());
    }
    if let Some(quantum_s) = limit.quantum_s
        && let Some(what) = quantum_problem(&limit.window, quantum_s)
    {
        add(what.to_owned());
    }
    if let Some(name) = twice(limit.alternatives.iter().map(|other| &other.name)) {
        add(format!("the alternative `{name}` stands twice"));
    }
    let windows = limit
        .alternatives
        .iter()
        .filter_map(|other| other.window.as_ref());
    for window in windows.chain([&limit.window]) {
        if let WindowRow::Pacing { per_s, burst_s } = window
            && burst_s.is_some_and(|burst_s| burst_s > *per_s)
        {
            add("more comes at once than the amount".to_owned());
        }
    }
    for other in &limit.alternatives {
        if other.why.is_empty() {
            add(format!("`{}` says no reason", other.name));
        }
    }
}

fn quantum_problem(window: &WindowRow, quantum_s: NonZeroU64) -> Option<&'static str> {
    let per_s = match window {
        WindowRow::Fixed { per_s }
        | WindowRow::Floating { per_s }
        | WindowRow::Sliding { per_s }
        | WindowRow::Bucket { per_s }
        | WindowRow::Pacing { per_s, .. } => per_s.get(),
        WindowRow::Day { .. } => 86_400,
        WindowRow::Month { .. } | WindowRow::Concurrent => {
            return Some("a month and what is in flight have no quantum");
        }
    };
    let divides = quantum_s.get() < per_s && per_s.is_multiple_of(quantum_s.get());
    (!divides).then_some(
        "the quantum is not a shorter time that fits into the window a whole number of times",
    )
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
    fn an_address_by_region_has_a_place_for_it() {
        for wrong in ["https://x.example", "https://{region}.x.example/"] {
            let row = include_str!("../rows/bedrock.toml")
                .replace("https://bedrock-runtime.{region}.amazonaws.com", wrong);
            let row: Provider = toml::from_str(&row).expect("the form is right");
            let said: Vec<_> = row.problems().iter().map(ToString::to_string).collect();
            assert_eq!(
                said,
                ["region_url: ends in a slash, or names no {region}"],
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_header_that_would_break_a_request_is_none() {
        let said = |name: &str, text: &str| {
            let row =
                format!("like = \"anthropic\"\nid = \"x\"\nheaders = {{ {name} = \"{text}\" }}");
            let row = Provider::from_toml(&row);
            row.err().map(|error| error.to_string())
        };
        assert_eq!(said("x-team", "red, blue"), None);
        for (name, text) in [
            ("X-Team", "a"),
            ("x-api-key", "a"),
            ("content-type", "a"),
            ("x-team", " a"),
            ("x-team", "수문"),
        ] {
            let said = said(name, text).expect("it is refused");
            assert!(said.starts_with(&format!("headers.{name}: ")), "{said}");
        }
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let row = include_str!("../rows/openai.toml")
            .replace("\"authorization\"", "\"Authorization\"")
            .replace("\"/v1/chat/completions\"", "\"v1/chat/completions\"")
            .replace("api.openai.com\"", "api.openai.com/\"")
            .replace("\"gpt-*\", ", "\"g*t\", ")
            .replace("short = \"rpd\"", "short = \"rpm\"")
            .replace("default = \"documented\"", "default = \"best\"")
            .replace("\"openai-processing-ms\"", "\"openai processing\"")
            .replace("[\"requests per day\"", "[\"Requests per day\"");
        let row: Provider = toml::from_str(&row).expect("the form is right");
        let problems = row.problems();
        for said in [
            "auth.header: a header is a name in lower case, without spaces",
            "work_ms: a header is a name in lower case, without spaces",
            "paths.chat: does not begin with a slash",
            "base_url: ends in a slash",
            "model_patterns[2]: has a * that is not at its end",
            "limits.rpm: stands twice",
            "charge.default: names no rule",
        ] {
            let there = problems.iter().any(|problem| problem.to_string() == said);
            assert!(there, "{said}: {problems:?}");
        }
        for said in [
            "of them fit none of `model_patterns`",
            "parts of an error's message are written in lower case",
        ] {
            let there = problems.iter().any(|problem| problem.what.contains(said));
            assert!(there, "{said}: {problems:?}");
        }
        let openai = provider("openai").expect("a row");
        assert_eq!(openai.problems(), Vec::new());
    }
}
