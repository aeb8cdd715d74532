//! The window of a limit: which kind, how long, where it begins.
//!
//! Each kind has keys of its own, and a key that stands beside another kind is a mistake, not decoration: a `zone` at a sliding
//! window would let its reader believe in a midnight that nobody counts by.

use std::time::Duration;

use sluicegate_catalog::{TimeOfDay, Zone};
use sluicegate_core::Window;

use crate::checked::Section;
use crate::errors::Problems;
use crate::shape::brief;

/// The keys that belong to some kinds of windows only, with those kinds.
const KEYS: [(&str, &[&str]); 4] = [
    ("phase", &["fixed"]),
    ("burst", &["pacing"]),
    ("zone", &["day", "month"]),
    ("reset_at", &["day"]),
];

/// Whether `section` says anything about the window.
pub(super) fn is_told_by(section: &Section) -> bool {
    let mut keys = KEYS.iter().map(|(key, _)| *key).chain(["window"]);
    keys.any(|key| section.has(key))
}

/// The window that `section` asks for in place of `row`, the provider's; its period stays.
pub(super) fn changed(section: &Section, row: &Window, problems: &mut Problems) -> Option<Window> {
    if section.is_broken("window") {
        return None;
    }
    let kind = section.word("window").or_else(|| kind_of(row))?;
    refuse_keys_of_others(section, kind, problems)?;
    let says_whose = section.has("zone") || section.has("reset_at");
    if !says_whose && kind_of(row) == Some(kind) && matches!(row, Window::Calendar(_)) {
        return Some(row.clone());
    }
    let window = of_kind(kind, section, row.per(), problems)?;
    if window.per() == row.per() {
        return Some(window);
    }
    let per = row.per().map(brief).unwrap_or_default();
    let value = section.value("window").or(section.value("zone"))?;
    problems
        .add(
            value.at,
            &value.path,
            format!("its period is {per}, not a {kind}"),
        )
        .mend("write one of another period in the long form");
    None
}

/// The window of a limit in the long form.
pub(super) fn full(section: &Section, problems: &mut Problems) -> Option<Window> {
    if !section.has("window") {
        problems
            .add(section.at, &section.path, "\"window\" is missing")
            .mend("add `window: fixed`, `sliding`, `bucket`, `pacing`, `day` or `month`");
        require_per(section, problems);
        return None;
    }
    let kind = section.word("window")?;
    let is_calendar = matches!(kind, "day" | "month");
    match section.value("per") {
        Some(value) if is_calendar => {
            problems
                .add(
                    value.at,
                    &value.path,
                    format!("a {kind} is as long as the calendar says"),
                )
                .mend("remove it, or write `window: sliding`, which rolls");
            return None;
        }
        None if !is_calendar => require_per(section, problems),
        _ => {}
    }
    refuse_keys_of_others(section, kind, problems)?;
    of_kind(kind, section, section.duration("per"), problems)
}

fn of_kind(
    kind: &str,
    section: &Section,
    per: Option<Duration>,
    problems: &mut Problems,
) -> Option<Window> {
    if section.is_broken("phase") || section.is_broken("burst") {
        return None;
    }
    match (kind, section.word("phase")) {
        ("day" | "month", _) => calendar(kind, section, problems),
        ("pacing", _) => pacing(section, per?, problems),
        ("bucket", _) => Some(Window::Bucket { per: per? }),
        ("fixed", Some("calendar")) => Some(Window::Fixed { per: per? }),
        ("fixed", _) => Some(Window::Floating { per: per? }),
        _ => Some(Window::Sliding { per: per? }),
    }
}

fn pacing(section: &Section, per: Duration, problems: &mut Problems) -> Option<Window> {
    let burst = section.duration("burst").unwrap_or(per);
    if burst > per {
        let value = section.value("burst")?;
        problems
            .add(
                value.at,
                &value.path,
                format!(
                    "{} is longer than the period of {}",
                    brief(burst),
                    brief(per)
                ),
            )
            .expected("the time in which what may come at once drains, at most the period");
        return None;
    }
    Some(Window::Pacing { per, burst })
}

fn calendar(kind: &str, section: &Section, problems: &mut Problems) -> Option<Window> {
    if section.is_broken("zone") || section.is_broken("reset_at") {
        return None;
    }
    let Some(name) = section.text("zone") else {
        let rolling = match kind {
            "day" => "; one that rolls is `window: sliding, per: 24h`",
            _ => "",
        };
        problems
            .add(section.at, &section.path, "\"zone\" is missing")
            .mend(format!(
                "say whose {kind} it is, like `zone: UTC` or `zone: America/Los_Angeles`{rolling}"
            ));
        return None;
    };
    let zone = Zone::named(&name.value);
    if zone.is_none() {
        let value = section.value("zone")?;
        problems
            .add(
                value.at,
                &value.path,
                format!("there is no time zone {}", name.shown),
            )
            .expected("a name like America/Los_Angeles or UTC, or an offset like +09:00");
    }
    let reset = match section.text("reset_at") {
        Some(text) => TimeOfDay::from_text(&text.value).or_else(|| {
            let value = section.value("reset_at")?;
            problems
                .add(
                    value.at,
                    &value.path,
                    format!("{} is no time of day", text.shown),
                )
                .expected("hours and minutes like \"07:30\"");
            None
        })?,
        None => TimeOfDay::MIDNIGHT,
    };
    Some(Window::Calendar(match kind {
        "day" => zone?.days(reset),
        _ => zone?.months(),
    }))
}

fn require_per(section: &Section, problems: &mut Problems) {
    if !section.has("per") {
        problems
            .add(section.at, &section.path, "\"per\" is missing")
            .mend("add the time over which the amount applies, like `per: 60s`");
    }
}

fn refuse_keys_of_others(section: &Section, kind: &str, problems: &mut Problems) -> Option<()> {
    if kind == "concurrent" {
        let value = section.value("window")?;
        problems
            .add(
                value.at,
                &value.path,
                "\"concurrent\" goes with the meter concurrent only",
            )
            .mend("write fixed, sliding or bucket");
        return None;
    }
    let mut right = Some(());
    for (key, kinds) in KEYS {
        if let Some(value) = section.value(key)
            && !kinds.contains(&kind)
        {
            let mut words = kinds.iter().map(|kind| format!("`window: {kind}`"));
            let first = words.next().unwrap_or_default();
            let others = words.fold(first, |words, word| format!("{words} or {word}"));
            problems
                .add(
                    value.at,
                    &value.path,
                    format!("a {kind} window has no {key}"),
                )
                .mend(format!("remove it, or write {others}"));
            right = None;
        }
    }
    right
}

/// What the language calls the window of a row; `None` for what is in flight.
fn kind_of(row: &Window) -> Option<&'static str> {
    match row {
        // A row says `sliding` also of fixed windows whose phase nobody knows.
        Window::Fixed { .. } | Window::Floating { .. } | Window::Sliding { .. } => Some("fixed"),
        Window::Bucket { .. } => Some("bucket"),
        Window::Pacing { .. } => Some("pacing"),
        Window::Calendar(days) if days.usual_length() == DAY => Some("day"),
        Window::Calendar(_) => Some("month"),
        Window::Concurrent | Window::Adaptive => None,
    }
}

/// The usual length of a day.
pub(super) const DAY: Duration = Duration::from_secs(86_400);
