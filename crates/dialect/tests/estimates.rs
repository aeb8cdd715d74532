//! How near the estimates are to what real vocabularies count, before and after they were calibrated.
//!
//! For each vocabulary one model gets requests of one kind, and another one of all kinds in turn; each learns from 200 of a kind
//! and is judged by 150 others. `UPDATE_EXPECTED=1` rewrites the table in `docs/results`.

#[path = "estimates/code.rs"]
mod code;
#[path = "estimates/data.rs"]
mod data;
#[path = "estimates/judged.rs"]
mod judged;
#[path = "estimates/samples.rs"]
mod samples;
#[path = "estimates/table.rs"]
mod table;
#[path = "estimates/traffic.rs"]
mod traffic;

use judged::Errors;
use samples::Kind;
use traffic::{Traffic, Vocabulary};

#[test]
fn calibrated_estimates_are_near_what_vocabularies_count() {
    let mut lines = Vec::new();
    for vocabulary in Vocabulary::ALL {
        let traffic = Traffic::draw(vocabulary);
        let mixed = traffic.learned(|_| true);
        for kind in Kind::ALL {
            let alone = traffic.learned(|other| other == kind);
            let line = table::Line {
                vocabulary,
                kind,
                tokens: traffic.usual_tokens(kind),
                before: traffic.judge(kind, &sluicegate_dialect::Calibration::default()),
                alone: traffic.judge(kind, &alone),
                mixed: traffic.judge(kind, &mixed),
            };
            hold(&line, "alone", &line.alone);
            hold(&line, "mixed", &line.mixed);
            lines.push(line);
        }
    }
    table::check(&lines);
}

/// Half of the requests within a twentieth, 99 of 100 reserved to nine tenths at least; both for what a model reads and for what
/// a rule that counts tokens charges.
fn hold(line: &table::Line, traffic: &str, errors: &Errors) {
    let of = format!("{} {} {traffic}", line.vocabulary.name(), line.kind.name());
    assert!(errors.median <= 50, "{of}: median {} ‰", errors.median);
    assert!(
        errors.upper_under <= 100,
        "{of}: reserved {} ‰ too little",
        errors.upper_under
    );
    assert!(
        errors.charge_median <= 50,
        "{of}: charge {} ‰",
        errors.charge_median
    );
    assert!(
        errors.charge_under <= 100,
        "{of}: charged {} ‰ too little",
        errors.charge_under
    );
}
