//! The metrics page as a program reads it.

use std::collections::BTreeMap;

/// One page.
#[derive(Debug)]
pub(crate) struct Metrics(Vec<Sample>);

#[derive(Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Metrics {
    /// Reads the OpenMetrics text format, as far as it is written here: label values without quotes and commas in them.
    pub(crate) fn parse(page: &str) -> Self {
        assert!(page.ends_with("# EOF\n"), "the page is whole: {page}");
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        Self(lines.map(Sample::parse).collect())
    }

    /// The sum over all series of `name` that have these labels.
    pub(crate) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let series = self.0.iter().filter(|sample| {
            sample.name == name
                && labels
                    .iter()
                    .all(|(label, value)| sample.labels.get(*label).is_some_and(|v| v == value))
        });
        series.fold(0.0, |sum, sample| sum + sample.value)
    }

    /// What is held or waits, by name, where it is not nothing.
    pub(crate) fn held(&self) -> Vec<String> {
        const HELD: [&str; 4] = [
            "sluicegate_reservations_open",
            "sluicegate_requests_in_flight",
            "sluicegate_limit_reserved",
            "llm_queue_depth",
        ];
        let held = self
            .0
            .iter()
            .filter(|sample| HELD.contains(&sample.name.as_str()) && sample.value != 0.0);
        held.map(|sample| format!("{sample:?}")).collect()
    }

    /// Whether there is a series of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|sample| sample.name == name)
    }
}

impl Sample {
    fn parse(line: &str) -> Self {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = match series.split_once('{') {
            None => (series, ""),
            Some((name, labels)) => (name, labels.strip_suffix('}').unwrap()),
        };
        let pairs = labels.split(',').filter_map(|pair| pair.split_once('='));
        Self {
            name: name.to_owned(),
            labels: pairs
                .map(|(label, value)| (label.to_owned(), value.trim_matches('"').to_owned()))
                .collect(),
            value: value.parse().unwrap(),
        }
    }
}
