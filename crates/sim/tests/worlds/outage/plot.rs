//! The calls of each second as a step line.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;
use sluicegate_core::Timestamp;

use super::{DOWN, LIMIT};
use crate::SECOND;

const SECONDS: u64 = 25;

/// Compares with the kept picture, or rewrites that where `UPDATE_EXPECTED` is set.
pub(super) fn check(calls: &[Timestamp]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/outage-virtual.svg");
    let mut picture = String::new();
    draw(&mut picture, calls).expect("a string takes every picture");
    picture.push('\n');
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &picture).expect("the picture can be written");
    }
    let kept = std::fs::read(&path).unwrap_or_default();
    assert!(
        kept == picture.as_bytes(),
        "{}: the picture differs; UPDATE_EXPECTED=1 rewrites it",
        path.display()
    );
}

fn draw(picture: &mut String, calls: &[Timestamp]) -> Result<(), Box<dyn Error>> {
    let counts: Vec<u64> = (0..SECONDS).map(|second| count(calls, second)).collect();
    let most = counts.iter().copied().max().unwrap_or(0) + 5;
    let area = SVGBackend::with_string(picture, (800, 320)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0..SECONDS, 0..most)?;
    let down = Rectangle::new([(0, 0), (DOWN.as_secs(), most)], RED.mix(0.1).filled());
    chart.draw_series([down])?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("seconds; in the shaded ones the provider is down")
        .y_desc("calls a second")
        .label_style(("sans-serif", 16))
        .axis_desc_style(("sans-serif", 16))
        .draw()?;
    chart.draw_series(LineSeries::new([(0, LIMIT), (SECONDS, LIMIT)], RED))?;
    let steps = (0..SECONDS).zip(&counts);
    let steps = steps.flat_map(|(second, &count)| [(second, count), (second + 1, count)]);
    chart.draw_series(LineSeries::new(steps, BLUE.stroke_width(2)))?;
    area.present()?;
    Ok(())
}

fn count(calls: &[Timestamp], second: u64) -> u64 {
    let within = |at: &&Timestamp| at.as_nanos() / SECOND == second;
    calls.iter().filter(within).count() as u64
}
