//! Medians of the rounds, and how many times nginx's figure ours is.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::load::Seen;
use super::{LARGE_AT_ONCE, SMALL_AT_ONCE, WORKLOADS, Workload};
use crate::machine::Machine;

const YARDSTICK: &str = "nginx";
const OURS: &str = "sluicegate";
const US_PER_TICK: f64 = 10_000.0;

/// One round of one workload on one of the two.
#[derive(Clone, Copy)]
pub(super) struct Measurement {
    /// CPU time per request, or per event of a stream.
    cpu_us: f64,
    p50_us: f64,
    p99_us: f64,
    requests_per_second: f64,
}

impl Measurement {
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    pub(super) fn new(workload: &Workload, seen: &Seen, cpu_ticks: u64) -> Self {
        Self {
            cpu_us: cpu_ticks as f64 * US_PER_TICK / workload.units(seen).max(1) as f64,
            p50_us: seen.p50_us as f64,
            p99_us: seen.p99_us as f64,
            requests_per_second: seen.requests as f64 / seen.seconds,
        }
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cpu_us,
            p50_us,
            p99_us,
            requests_per_second,
        } = self;
        write!(
            f,
            "CPU {cpu_us:.1} µs, p50 {p50_us:.0} µs, p99 {p99_us:.0} µs, {requests_per_second:.0} requests/s"
        )
    }
}

pub(super) struct Report {
    machine: Machine,
    rounds: u32,
    load_percent: u32,
    /// By workload, then by name.
    measurements: BTreeMap<&'static str, BTreeMap<&'static str, Vec<Measurement>>>,
    idle_kib: BTreeMap<&'static str, u64>,
    peak_kib: BTreeMap<&'static str, u64>,
}

impl Report {
    pub(super) fn new(machine: Machine, rounds: u32, load_percent: u32) -> Self {
        Self {
            machine,
            rounds,
            load_percent,
            measurements: BTreeMap::new(),
            idle_kib: BTreeMap::new(),
            peak_kib: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, name: &'static str, workload: &Workload, round: Measurement) {
        self.measurements
            .entry(workload.name)
            .or_default()
            .entry(name)
            .or_default()
            .push(round);
    }

    pub(super) fn idle(&mut self, name: &'static str, kib: u64) {
        self.idle_kib.entry(name).or_insert(kib);
    }

    pub(super) fn peak(&mut self, name: &'static str, kib: u64) {
        let peak = self.peak_kib.entry(name).or_default();
        *peak = kib.max(*peak);
    }

    pub(super) fn table(&self) -> String {
        let mut table = format!(
            "Machine: {}. Medians of {} rounds at {} % of the load; what is measured on one core, upstream and load on another.\n\n\
             | measure | nginx | sluicegate | ratio |\n|---|---|---|---|\n",
            self.machine, self.rounds, self.load_percent
        );
        for workload in WORKLOADS {
            let of = |name, figure| self.median(workload.name, name, figure);
            if workload.is_for_latency() {
                let measure = format!("p50 µs, {}", workload.name);
                row(
                    &mut table,
                    &measure,
                    of(YARDSTICK, |m| m.p50_us),
                    of(OURS, |m| m.p50_us),
                );
            } else {
                let measure = format!("CPU µs/{}, {}", workload.unit(), workload.name);
                row(
                    &mut table,
                    &measure,
                    of(YARDSTICK, |m| m.cpu_us),
                    of(OURS, |m| m.cpu_us),
                );
            }
        }
        let above = |name| {
            let of = |workload| self.median(workload, name, |m| m.cpu_us);
            Some(of(LARGE_AT_ONCE)? - of(SMALL_AT_ONCE)?)
        };
        let measure = "CPU µs/request, 30 KB prompt above 1 KB prompt, answered at once";
        row(&mut table, measure, above(YARDSTICK), above(OURS));
        for (measure, kib) in [
            ("memory idle, MiB", &self.idle_kib),
            ("memory peak, MiB", &self.peak_kib),
        ] {
            row(
                &mut table,
                measure,
                mib(kib.get(YARDSTICK)),
                mib(kib.get(OURS)),
            );
        }
        table
    }

    pub(super) fn json(&self) -> Value {
        let mut rounds = Vec::new();
        for (workload, by_name) in &self.measurements {
            for (name, measurements) in by_name {
                for (index, measurement) in measurements.iter().enumerate() {
                    rounds.push(json!({
                        "workload": workload,
                        "name": name,
                        "round": index + 1,
                        "cpu_us": measurement.cpu_us,
                        "p50_us": measurement.p50_us,
                        "p99_us": measurement.p99_us,
                        "requests_per_second": measurement.requests_per_second,
                    }));
                }
            }
        }
        json!({
            "machine": self.machine.to_string(),
            "load_percent": self.load_percent,
            "rounds": rounds,
            "memory_idle_kib": self.idle_kib,
            "memory_peak_kib": self.peak_kib,
        })
    }

    fn median(&self, workload: &str, name: &str, figure: fn(&Measurement) -> f64) -> Option<f64> {
        let measurements = self.measurements.get(workload)?.get(name)?;
        let mut figures: Vec<f64> = measurements.iter().map(figure).collect();
        figures.sort_unstable_by(f64::total_cmp);
        let middle = figures.len() / 2;
        if figures.len() % 2 == 1 {
            figures.get(middle).copied()
        } else {
            Some((figures.get(middle.checked_sub(1)?)? + figures.get(middle)?) / 2.0)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn mib(kib: Option<&u64>) -> Option<f64> {
    kib.map(|kib| *kib as f64 / 1024.0)
}

fn row(table: &mut String, measure: &str, yardstick: Option<f64>, ours: Option<f64>) {
    let (Some(yardstick), Some(ours)) = (yardstick, ours) else {
        return;
    };
    let ratio = if yardstick > 0.0 {
        format!("{:.2}", ours / yardstick)
    } else {
        "too little to tell".to_owned()
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        table,
        "| {measure} | {yardstick:.1} | {ours:.1} | {ratio} |"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(requests: u64, events: u64, cpu_ticks: u64, workload: &Workload) -> Measurement {
        let seen = Seen {
            requests,
            events,
            seconds: 1.0,
            p50_us: 160,
            p99_us: 900,
        };
        Measurement::new(workload, &seen, cpu_ticks)
    }

    #[test]
    fn the_table_has_medians_and_their_ratio() {
        let machine = Machine::look();
        let mut report = Report::new(machine, 3, 100);
        let plain = &WORKLOADS[0];
        // 100 ticks are a second: 20, 30 and 25 µs a request.
        for ticks in [40, 60, 50] {
            report.add("nginx", plain, measurement(20_000, 0, ticks, plain));
            report.add(
                "sluicegate",
                plain,
                measurement(20_000, 0, ticks * 2, plain),
            );
        }
        let (small, large) = (&WORKLOADS[4], &WORKLOADS[5]);
        for (workload, ticks) in [(small, 50), (large, 90)] {
            report.add("nginx", workload, measurement(20_000, 0, ticks, workload));
            let ours = measurement(20_000, 0, ticks * 2, workload);
            report.add("sluicegate", workload, ours);
        }
        let streams = &WORKLOADS[2];
        report.add("nginx", streams, measurement(400, 80_000, 56, streams));
        report.add("sluicegate", streams, measurement(400, 80_000, 64, streams));
        let single = &WORKLOADS[3];
        report.add("nginx", single, measurement(2_000, 0, 10, single));
        report.add("sluicegate", single, measurement(2_000, 0, 20, single));
        report.idle("nginx", 12 * 1024);
        report.idle("sluicegate", 15 * 1024);
        let table = report.table();
        assert!(
            table.contains("| CPU µs/request, 1 KB prompt | 25.0 | 50.0 | 2.00 |\n"),
            "{table}"
        );
        assert!(
            table.contains(
                "| CPU µs/request, 30 KB prompt above 1 KB prompt, answered at once | 20.0 | 40.0 | 2.00 |\n"
            ),
            "{table}"
        );
        assert!(
            table.contains("| CPU µs/stream event, streams of 200 events | 7.0 | 8.0 | 1.14 |\n"),
            "{table}"
        );
        assert!(
            table.contains("| memory idle, MiB | 12.0 | 15.0 | 1.25 |\n"),
            "{table}"
        );
        assert!(
            !table.contains("memory peak"),
            "nothing was measured: {table}"
        );
    }

    #[test]
    fn an_even_number_of_rounds_has_its_median_in_between() {
        let mut report = Report::new(Machine::look(), 2, 100);
        let plain = &WORKLOADS[0];
        for ticks in [40, 60] {
            report.add("nginx", plain, measurement(20_000, 0, ticks, plain));
        }
        assert_eq!(report.median(plain.name, "nginx", |m| m.cpu_us), Some(25.0));
    }
}
