//! The rows as a page of the documentation: what is assumed of each provider, how well it is known, and from where.

use std::fmt::Write as _;

use crate::model::ModelTerms;
use crate::weight::Weight;
use crate::{
    ChargeRule, CutStream, Dialect, Evidence, Input, LimitRow, Output, OutputMeter, OutputOnInput,
    Provider, SignalRow, Slots, TimesBestOf, providers,
};

/// The reference of the providers, in Markdown: one section for each, with its limits, its charge and its signals.
pub fn reference() -> String {
    let mut page = String::from(
        "# Providers\n\n\
         <!-- Generated from crates/catalog/rows; change it there. -->\n\n\
         What Sluicegate assumes of each provider, how well it is known and from where. The first line of a limit and the rule in \
         bold are the defaults; a `reading` of a limit and a `charge` of an account choose another. What no line here says is in \
         the long form of [limits](configuration.md#limit).\n\n\
         Known: *documented* by the provider, *measured* from recorded answers, *reported* by users, from its *sdk*, from the \
         server's *source*, or *unknown* to everybody, where the safe reading stands.\n\n",
    );
    page.push_str(
        "| provider | name in the configuration | dialect | address |\n|---|---|---|---|\n",
    );
    for row in providers() {
        let names = row
            .aliases
            .iter()
            .fold(format!("`{}`", row.id), |names, alias| {
                format!("{names}, `{alias}`")
            });
        let _ = writeln!(
            page,
            "| [{}](#{}) | {names} | {} | {} |",
            row.name,
            anchor(&row.name),
            row.dialect.name(),
            address(row),
        );
    }
    for row in providers() {
        section(row, &mut page);
    }
    page
}

fn address(row: &Provider) -> String {
    match (&row.base_url, &row.region_url) {
        (Some(url), _) => url.clone(),
        (None, Some(url)) => format!("{url}, by `region`"),
        (None, None) => "your own".to_owned(),
    }
}

fn section(row: &Provider, page: &mut String) {
    let _ = write!(page, "\n## {}\n\n", row.name);
    if row.dialect != Dialect::OpenAi {
        let _ = write!(page, "Speaks the {} dialect.\n\n", row.dialect.name());
    }
    limits(&row.limits, page);
    charges(row, page);
    signals(&row.signals, page);
    if let Some(work) = &row.work_ms {
        let _ = write!(
            page,
            "\nAnswers tell how long it worked, in milliseconds: {} ({}).\n",
            names(work.headers.iter().map(String::as_str)),
            known(&work.evidence),
        );
    }
    if let Some(priority) = &row.lane_priority {
        let _ = write!(
            page,
            "\nA request's `{}` tells it the lane, the lower number first: 0 to 2 ({}).\n",
            priority.field,
            known(&priority.evidence),
        );
    }
}

fn limits(rows: &[LimitRow], page: &mut String) {
    page.push_str("| limit | reading | counts | window | in the end | failed calls | known |\n|---|---|---|---|---|---|---|\n");
    for row in rows {
        let follows = |follows: bool| {
            if follows {
                "the usage"
            } else {
                "what was charged"
            }
        };
        let failed = if row.counts_failures() {
            "count"
        } else {
            "are given back"
        };
        let _ = writeln!(
            page,
            "| `{}` | | {} | {} | {} | {failed} | {} |",
            row.short,
            row.meter,
            window(&row.window.to_string(), row.quantum_s.map(|s| s.get())),
            follows(row.follows_usage()),
            known(&row.evidence),
        );
        for other in &row.alternatives {
            let window = match (&other.window, other.quantum_s) {
                (Some(kind), quantum) => window(&kind.to_string(), quantum.map(|s| s.get())),
                (None, Some(quantum)) => window("the same", Some(quantum.get())),
                (None, None) => String::new(),
            };
            let settled = other.follows_usage().map_or("", follows);
            let _ = writeln!(
                page,
                "| | `{}` | {} | {window} | {settled} | | {} |",
                other.name,
                cell(&other.why),
                known(&other.evidence),
            );
        }
    }
    page.push('\n');
}

fn window(kind: &str, quantum_s: Option<u64>) -> String {
    match quantum_s {
        Some(quantum) => format!("{kind}, also in proportion over any {quantum} s"),
        None => kind.to_owned(),
    }
}

fn charges(row: &Provider, page: &mut String) {
    page.push_str("| charge | on arrival | in the end | known |\n|---|---|---|---|\n");
    for name in row.charge.names() {
        let Some(rule) = row.charge.rule(name) else {
            continue;
        };
        let name = if name == row.charge.default_name() {
            format!("**`{name}`**")
        } else {
            format!("`{name}`")
        };
        let _ = writeln!(
            page,
            "| {name} | {} | {} | {} |",
            on_arrival(rule),
            in_the_end(rule),
            known(&rule.evidence),
        );
        for terms in &rule.models {
            let names: Vec<String> = terms.names.iter().map(|name| format!("`{name}`")).collect();
            let (arrival, end) = of_models(terms);
            let _ = writeln!(
                page,
                "| {} | {arrival} | {end} | {} |",
                names.join(", "),
                known(&terms.evidence),
            );
        }
    }
    page.push('\n');
}

fn on_arrival(rule: &ChargeRule) -> String {
    let mut terms = match rule.input {
        Input::Bytes {
            bytes_per_token,
            message_tokens,
            image_tokens,
        } => {
            let messages = match message_tokens {
                0 => String::new(),
                tokens => format!(", {tokens} a message"),
            };
            format!("input: bytes / {bytes_per_token}{messages}, {image_tokens} an image")
        }
        Input::Tokens { image_tokens } => {
            format!("input: estimated tokens, {image_tokens} an image")
        }
    };
    if rule.choice_tokens > 0 {
        let _ = write!(terms, ", {} a choice", rule.choice_tokens);
    }
    terms.push_str(match rule.output {
        Output::Ignored => "; output does not count",
        Output::AtLeast => "; or the output maximum where it is larger",
        Output::Added => "; plus the output maximum",
        Output::AddedExpected => "; plus the output that is expected",
    });
    if rule.output_weight_reserved != Weight::ONE {
        let _ = write!(terms, " × {}", rule.output_weight_reserved);
    }
    if rule.output_default > 0 {
        let _ = write!(terms, ", {} where none is known", rule.output_default);
    }
    if rule.times_best_of == TimesBestOf::Yes {
        terms.push_str("; all × `best_of`");
    }
    if rule.output_on_input == OutputOnInput::Added {
        terms.push_str("; the maximum has to fit the input limit too");
    }
    if rule.output_meter == OutputMeter::Produced {
        terms.push_str("; the output limit counts what is produced");
    }
    if rule.slots == Slots::EachSequence {
        terms.push_str("; a slot for each sequence");
    }
    terms
}

fn in_the_end(rule: &ChargeRule) -> String {
    let mut terms = format!("input, output{}", times(rule.output_weight_settled));
    terms.push_str(&cached(rule.cached_weight));
    if rule.cache_write_weight != Weight::ONE {
        let _ = write!(terms, "; written to a cache × {}", rule.cache_write_weight);
    }
    if rule.cut_stream == CutStream::ReleaseOutput {
        terms.push_str("; a cut stream releases its output");
    }
    terms
}

fn of_models(terms: &ModelTerms) -> (String, String) {
    let mut arrival = Vec::new();
    if let Some(tokens) = terms.output_max {
        arrival.push(format!("{tokens} where no maximum is named"));
    }
    if let Some(weight) = terms.output_weight_reserved {
        arrival.push(format!("output × {weight}"));
    }
    let mut end = Vec::new();
    if let Some(weight) = terms.output_weight_settled {
        end.push(format!("output × {weight}"));
    }
    if let Some(weight) = terms.cached_weight {
        end.push(match weight {
            Weight::ONE => "read from a cache counts".to_owned(),
            weight => cached(weight).trim_start_matches("; ").to_owned(),
        });
    }
    (arrival.join("; "), end.join("; "))
}

fn times(weight: Weight) -> String {
    match weight {
        Weight::ONE => String::new(),
        weight => format!(" × {weight}"),
    }
}

fn cached(weight: Weight) -> String {
    match weight {
        Weight::ONE => String::new(),
        Weight::ZERO => "; read from a cache does not count".to_owned(),
        weight => format!("; read from a cache × {weight}"),
    }
}

fn signals(rows: &[SignalRow], page: &mut String) {
    if rows.is_empty() {
        page.push_str("No headers tell the state of its limits.\n");
        return;
    }
    page.push_str("| signal of | headers | reset | known |\n|---|---|---|---|\n");
    for row in rows {
        let reset = row.reset_format.map_or("", |format| format.name());
        let _ = writeln!(
            page,
            "| {} | {} | {reset} | {} |",
            row.meter,
            names(row.header_names()),
            known(&row.evidence),
        );
    }
}

/// Names of headers as a list.
fn names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn known(evidence: &Evidence) -> String {
    format!("{}: {}", evidence.confidence.name(), cell(&evidence.source))
}

/// Text that cannot end a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_has_its_section_and_every_table_its_cells() {
        let page = reference();
        for row in providers() {
            assert!(page.contains(&format!("\n## {}\n", row.name)), "{}", row.id);
            assert!(
                page.contains(&format!("](#{})", anchor(&row.name))),
                "{}",
                row.id
            );
        }
        let mut columns = 0;
        for line in page.lines() {
            let cells = line.replace("\\|", "").matches('|').count();
            if line.starts_with("|---") {
                assert_eq!(cells, columns, "{line}");
            } else if cells == 0 {
                columns = 0;
            } else if columns == 0 {
                columns = cells;
            } else {
                assert_eq!(cells, columns, "{line}");
            }
        }
    }

    #[test]
    fn a_row_reads_as_a_line() {
        let page = reference();
        assert!(page.contains(
            "\nAnswers tell how long it worked, in milliseconds: `openai-processing-ms` (documented: "
        ));
        assert!(page.contains(
            "| `*claude-opus-4-8*`, `*claude-sonnet-4-8*`, `*claude-haiku-4-8*` |  | output × 15 | documented: "
        ));
        assert!(page.contains(
            "| **`documented`** | input: bytes / 4, 765 an image, 1 a choice; or the output maximum where it is larger | \
             input, output | documented: "
        ));
    }
}
