//! Limits in both forms: by their usual names, with the provider's row filling in the rest, and in full.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use sluicegate_catalog::{ARRIVAL_SPREAD, LimitError, Provider};
use sluicegate_core::{
    Authority, Book, Failures, Headroom, Limit, Meter, Mode, Settlement, Start, Window,
};

use crate::Slots;
use crate::checked::{Data, Section, Value};
use crate::errors::{Mark, Path, Problems};
use crate::resolve::window;
use crate::shape::brief;
use crate::table::{LONG, SHORT};

/// What the limits stand at.
pub(super) struct Scope {
    /// Begins the limits' names: `account openai-main`.
    pub(super) name: String,
    pub(super) provider: Arc<Provider>,
    pub(super) headroom: Headroom,
}

/// The limits that `value` describes, named and without duplicates, in the order of the file.
pub(super) fn limits(value: Option<&Value>, scope: &Scope, problems: &mut Problems) -> Vec<Limit> {
    let mut drafts = Vec::new();
    match value.map(|value| &value.data) {
        Some(Data::Section(section)) => read_short(section, scope, &mut drafts, problems),
        Some(Data::List(items)) => {
            for item in items {
                match &item.data {
                    Data::Section(section) if std::ptr::eq(section.object, &raw const LONG) => {
                        drafts.extend(read_long(section, problems));
                    }
                    Data::Section(section) => read_short(section, scope, &mut drafts, problems),
                    _ => {}
                }
            }
        }
        _ => {}
    }
    refuse_duplicates(&drafts, problems);
    named(drafts, scope)
}

/// Whether what may be in flight is to be found out: somewhere in `limits` stands `concurrent: auto`.
pub(super) fn slots(limits: Option<&Value>) -> Slots {
    match adaptive(limits).next() {
        Some(_) => Slots::Adaptive,
        None => Slots::Limited,
    }
}

/// Refuses `concurrent: auto` in `limits` of something that is no upstream of its own.
pub(super) fn refuse_adaptive(limits: Option<&Value>, problems: &mut Problems) {
    for value in adaptive(limits) {
        problems
            .add(value.at, &value.path, "cannot be found out for a family")
            .mend("write auto at the account or at a deployment");
    }
}

fn adaptive(limits: Option<&Value>) -> impl Iterator<Item = &Value> {
    let values = limits.into_iter().flat_map(|limits| match &limits.data {
        Data::List(items) => items.as_slice(),
        _ => std::slice::from_ref(limits),
    });
    let short = values.filter_map(|value| match &value.data {
        Data::Section(section) if std::ptr::eq(section.object, &raw const SHORT) => Some(section),
        _ => None,
    });
    short
        .filter_map(|section| section.value("concurrent"))
        .filter(|value| matches!(value.data, Data::Word(_)))
}

/// A limit without its name and headroom.
struct Draft {
    at: Mark,
    path: Path,
    limit: Limit,
}

fn read_short(section: &Section, scope: &Scope, drafts: &mut Vec<Draft>, problems: &mut Problems) {
    debug_assert!(
        std::ptr::eq(section.object, &raw const SHORT),
        "{}",
        section.object.name
    );
    for (short, value) in &section.fields {
        let (amount, changes) = match &value.data {
            Data::Count(amount) => (Some(*amount), None),
            Data::Section(changes) => (changes.count("amount"), Some(changes)),
            _ => (None, None),
        };
        let Some(amount) = amount.and_then(NonZeroU64::new) else {
            continue;
        };
        let reading = changes.and_then(|changes| changes.text("reading"));
        let template = match reading {
            Some(reading) => scope.provider.limit_as(short, &reading.value, amount),
            None => scope.provider.limit(short, amount),
        };
        let limit = match (template, reading) {
            (Ok(template), _) => template.named(Arc::from("")),
            // The catalog's own message would show the value, which may come from the environment.
            (Err(LimitError::UnknownAlternative { known, .. }), Some(reading)) => {
                problems
                    .add(
                        value.at,
                        &value.path,
                        format!("{short} has no reading {}", reading.shown),
                    )
                    .expected(known);
                continue;
            }
            (Err(error), _) => {
                problems.add(value.at, &value.path, error.to_string());
                continue;
            }
        };
        let limit = match changes {
            Some(changes) => changed(limit, changes, problems),
            None => Some(limit),
        };
        drafts.extend(limit.map(|limit| Draft {
            at: value.at,
            path: value.path.clone(),
            limit,
        }));
    }
}

/// `limit` from the provider's row with what `changes` says otherwise.
fn changed(mut limit: Limit, changes: &Section, problems: &mut Problems) -> Option<Limit> {
    if limit.window == Window::Concurrent {
        refuse_windows(changes, &OF_WINDOWS, problems)?;
        refuse_windows(changes, &["window"], problems)?;
    } else if window::is_told_by(changes) {
        limit.window = window::changed(changes, &limit.window, problems)?;
    }
    if let Some(per) = limit.window.per() {
        limit.quantum = match quantum(changes, limit.meter, limit.amount, per, problems)? {
            Some(quantum) => Some(quantum),
            None => limit.quantum,
        };
    }
    limit.start = start(changes).unwrap_or(limit.start);
    limit.mode = mode(changes).unwrap_or(limit.mode);
    limit.settlement = settlement(changes).unwrap_or(limit.settlement);
    Some(limit)
}

fn read_long(section: &Section, problems: &mut Problems) -> Option<Draft> {
    let meter = Meter::from_name(section.word("meter")?)?;
    let amount = section.count("amount").and_then(NonZeroU64::new);
    let per = section.duration("per");
    let (window, quantum) = if meter == Meter::Concurrent {
        refuse_windows(section, &["per"], problems)?;
        refuse_windows(section, &OF_WINDOWS, problems)?;
        if section
            .word("window")
            .is_some_and(|word| word != "concurrent")
        {
            refuse_windows(section, &["window"], problems)?;
        }
        (Window::Concurrent, None)
    } else {
        let window = window::full(section, problems);
        let per = window.as_ref().and_then(Window::per).or(per);
        let quantum = match (amount, per) {
            (Some(amount), Some(per)) => quantum(section, meter, amount, per, problems)?,
            _ => None,
        };
        (window?, quantum)
    };
    if section.is_broken("start") {
        return None;
    }
    Some(Draft {
        at: section.at,
        path: section.path.clone(),
        limit: Limit {
            name: Arc::from(""),
            meter,
            amount: amount?,
            quantum,
            headroom: Headroom::Auto,
            start: start(section).unwrap_or_else(|| usual_start(&window)),
            window,
            mode: mode(section)?,
            settlement: settlement(section)?,
            failures: Failures::Count,
            arrival_spread: ARRIVAL_SPREAD,
            authority: Authority::Local,
            book: Book::Mirror,
        },
    })
}

/// What is true of no limit on what is in flight.
const OF_WINDOWS: [&str; 5] = ["quantum", "phase", "burst", "zone", "reset_at"];

/// What is in flight has no window.
fn refuse_windows(section: &Section, keys: &[&str], problems: &mut Problems) -> Option<()> {
    let mut right = Some(());
    for key in keys {
        if let Some(value) = section.value(key) {
            problems
                .add(value.at, &value.path, "what is in flight has no window")
                .mend(format!("remove {key}"));
            right = None;
        }
    }
    right
}

/// The quantum that `section` asks for; the outer `None` where it cannot be.
#[expect(
    clippy::option_option,
    reason = "none asked for and none possible are different"
)]
fn quantum(
    section: &Section,
    meter: Meter,
    amount: NonZeroU64,
    per: Duration,
    problems: &mut Problems,
) -> Option<Option<Duration>> {
    let Some(quantum) = section.duration("quantum") else {
        return Some(None);
    };
    let value = section.value("quantum")?;
    let (quantum_ns, per_ns) = (quantum.as_nanos(), per.as_nanos());
    let share = u128::from(amount.get()) * quantum_ns / per_ns;
    if quantum_ns >= per_ns || !per_ns.is_multiple_of(quantum_ns) {
        problems
            .add(
                value.at,
                &value.path,
                format!(
                    "{} does not divide the period of {}",
                    brief(quantum),
                    brief(per)
                ),
            )
            .expected("a shorter time that fits into the period a whole number of times");
        return None;
    }
    if meter == Meter::Requests && share == 0 {
        problems
            .add(
                value.at,
                &value.path,
                format!(
                    "{amount} requests per {} leave less than one for {}",
                    brief(per),
                    brief(quantum)
                ),
            )
            .mend(format!(
                "write a quantum of at least {}, or none",
                brief(Duration::from_millis(
                    u64::try_from(per.as_millis().div_ceil(u128::from(amount.get())))
                        .unwrap_or(u64::MAX)
                ))
            ));
        return None;
    }
    Some(Some(quantum))
}

fn start(section: &Section) -> Option<Start> {
    section.word("start").map(|word| match word {
        "full" => Start::Full,
        _ => Start::Empty,
    })
}

/// A limit of a day would stand still for long if it were believed to be used up.
fn usual_start(window: &Window) -> Start {
    if window.per().is_none_or(|per| per < window::DAY) {
        Start::Empty
    } else {
        Start::Full
    }
}

fn mode(section: &Section) -> Option<Mode> {
    section.word("mode").map(|word| match word {
        "shadow" => Mode::Shadow,
        _ => Mode::Enforce,
    })
}

fn settlement(section: &Section) -> Option<Settlement> {
    section.word("settle").map(|word| match word {
        "usage" => Settlement::Usage,
        "produced" => Settlement::Produced,
        _ => Settlement::Keep,
    })
}

/// Two limits of one scope are the same where only their amounts differ: the lower one would make the higher useless.
fn refuse_duplicates(drafts: &[Draft], problems: &mut Problems) {
    for (index, draft) in drafts.iter().enumerate() {
        let same = |other: &&Draft| {
            (other.limit.meter, other.limit.mode) == (draft.limit.meter, draft.limit.mode)
                && other.limit.window == draft.limit.window
        };
        if let Some(first) = drafts[..index].iter().find(same) {
            problems
                .add(
                    draft.at,
                    &draft.path,
                    "a second limit of the same meter, window and mode",
                )
                .mend(format!(
                    "keep the lower; the other is at line {}",
                    first.at.line
                ));
        }
    }
}

/// A limit's name must not depend on the order of the file or on its amount, since it ties the limit to what was counted. So
/// it says what distinguishes the limit from the others of its scope, and nothing else.
fn named(drafts: Vec<Draft>, scope: &Scope) -> Vec<Limit> {
    let label = |limit: &Limit| {
        let mut label = format!("{} {}", scope.name, limit.meter);
        match (&limit.window, limit.window.per()) {
            (Window::Calendar(calendar), _) => label.push_str(&format!("/{}", calendar.name())),
            (_, Some(per)) => label.push_str(&format!("/{}", seconds(per))),
            (_, None) => {}
        }
        if limit.mode == Mode::Shadow {
            label.push_str(" shadow");
        }
        label
    };
    let labels: Vec<String> = drafts.iter().map(|draft| label(&draft.limit)).collect();
    drafts
        .into_iter()
        .zip(&labels)
        .map(|(draft, label)| {
            let alone = labels.iter().filter(|other| *other == label).count() == 1;
            let name = if alone {
                label.clone()
            } else {
                format!("{label} {}", window_words(&draft.limit.window))
            };
            Limit {
                name: name.into(),
                headroom: scope.headroom,
                ..draft.limit
            }
        })
        .collect()
}

fn window_words(window: &Window) -> String {
    match window {
        Window::Fixed { .. } => "fixed".to_owned(),
        Window::Floating { .. } => "floating".to_owned(),
        Window::Sliding { .. } => "sliding".to_owned(),
        Window::Bucket { .. } => "bucket".to_owned(),
        Window::Pacing { burst, .. } => format!("pacing {}", seconds(*burst)),
        Window::Calendar(calendar) => calendar.name().to_owned(),
        Window::Concurrent => "concurrent".to_owned(),
        Window::Adaptive => "adaptive".to_owned(),
    }
}

/// A period in a name: in seconds where it is whole, since limits are compared with each other.
fn seconds(per: Duration) -> String {
    if per.subsec_nanos() == 0 {
        format!("{}s", per.as_secs())
    } else {
        brief(per)
    }
}
