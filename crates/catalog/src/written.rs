//! Rows that are not compiled in: a provider that the catalog does not know, or one that does otherwise than it says.
//!
//! Such a row has the same shape and meets the same checks. It may begin with `like = "openai"` and then names only what
//! differs, since most of what speaks a known dialect differs in an address and a limit. What it says needs no source: whoever
//! wrote it is the source.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::merge::merge_row;
use crate::problems::RowProblem;
use crate::provider::{Provider, providers, text_of};
use crate::{ChargeRule, ErrorMatch, LanePriority, LimitRow, SignalRow, Translation, WorkMs};

/// Why a written row cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RowError {
    /// It is no TOML.
    #[error("{0}")]
    Form(String),
    /// It is like a row that there is not.
    #[error("`like` names no row: there are {known}")]
    UnknownLike {
        /// The rows that there are, as a list in words.
        known: String,
    },
    /// It lacks something, has what no row has, or contradicts itself: all there is.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Wrong(Vec<RowProblem>),
}

impl Provider {
    /// The row that `text` holds, as [`Provider::from_table`] reads it.
    ///
    /// # Errors
    /// [`RowError`]; what is wrong with a row comes all at once.
    ///
    /// ```
    /// use sluicegate_catalog::Provider;
    /// let row = Provider::from_toml(
    ///     r#"
    ///     like = "openai"
    ///     id = "lab"
    ///     name = "The lab's proxy"
    ///     base_url = "https://llm.example.net"
    ///     charge = { default = "observed" }
    ///     "#,
    /// )?;
    /// let url = row.url("https://llm.example.net", sluicegate_catalog::Endpoint::Chat, "m");
    /// assert_eq!(url.as_deref(), Some("https://llm.example.net/v1/chat/completions"));
    /// assert_eq!(row.charge.default_name(), "observed");
    /// # Ok::<(), sluicegate_catalog::RowError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, RowError> {
        let form = |error: toml::de::Error| RowError::Form(error.to_string());
        Self::from_table(toml::from_str(text).map_err(form)?)
    }

    /// The row that `row` describes. With `like` it is another row with what `row` says instead:
    ///
    /// - tables are merged key by key, limits by their short names; everything else, `auth` and the `input` of a charge are
    ///   replaced whole;
    /// - a window of another kind keeps the length of the one that it replaces unless it names its own;
    /// - `false` takes away what the other row has;
    /// - aliases are not taken over.
    ///
    /// Without `like`, lists that are left out are empty, and every model is served. What has no evidence is the operator's
    /// word.
    ///
    /// # Errors
    /// [`RowError::UnknownLike`] or [`RowError::Wrong`], with everything that is wrong.
    pub fn from_table(mut row: Table) -> Result<Self, RowError> {
        let mut whole = match row.remove("like") {
            Some(like) => like.as_str().and_then(other).ok_or_else(unknown_like)?,
            None => blank(),
        };
        give_evidence(&mut row);
        merge_row(&mut whole, row);
        give_evidence(&mut whole);
        sort_models(&mut whole);
        let problems = form_problems(&whole);
        if !problems.is_empty() {
            return Err(RowError::Wrong(problems));
        }
        let row: Self = Value::Table(whole).try_into().map_err(|error| {
            let problem = RowProblem::new("", message(&error));
            RowError::Wrong(vec![problem])
        })?;
        let problems = row.problems();
        if problems.is_empty() {
            Ok(row)
        } else {
            Err(RowError::Wrong(problems))
        }
    }
}

/// The row of that id or alias as a table.
fn other(id: &str) -> Option<Table> {
    let mut row: Table = toml::from_str(text_of(id)?).ok()?;
    row.remove("aliases");
    Some(row)
}

fn unknown_like() -> RowError {
    let known: Vec<&str> = providers().iter().map(|row| row.id.as_str()).collect();
    RowError::UnknownLike {
        known: known.join(", "),
    }
}

/// What a row that is like no other begins with.
fn blank() -> Table {
    let lists = [
        "env_keys",
        "request_id",
        "models",
        "limits",
        "signals",
        "errors",
    ];
    let empty = lists.map(|key| (key.to_owned(), Value::Array(Vec::new())));
    let mut row: Table = empty.into_iter().collect();
    let all = vec![Value::String("*".to_owned())];
    row.insert("model_patterns".to_owned(), Value::Array(all));
    row
}

/// Puts the operator's word where a fact has no evidence.
fn give_evidence(row: &mut Table) {
    for key in ["limits", "signals", "errors"] {
        for fact in items(row, key) {
            attest(fact);
        }
    }
    for key in ["work_ms", "lane_priority"] {
        if let Some(fact) = row.get_mut(key) {
            attest(fact);
        }
    }
    let Some(Value::Table(charge)) = row.get_mut("charge") else {
        return;
    };
    let Some(Value::Table(rules)) = charge.get_mut("rules") else {
        return;
    };
    for (_, rule) in rules.iter_mut() {
        attest(rule);
        if let Value::Table(rule) = rule {
            items(rule, "models").for_each(attest);
        }
    }
}

fn items<'a>(table: &'a mut Table, key: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = table.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

fn attest(fact: &mut Value) {
    let Value::Table(fact) = fact else {
        return;
    };
    fact.entry("evidence").or_insert_with(|| {
        let word = [("confidence", "operator"), ("source", "the configuration")];
        let word = word.map(|(key, value)| (key.to_owned(), Value::String(value.to_owned())));
        Value::Table(word.into_iter().collect())
    });
}

/// An operator lists models in any order.
fn sort_models(row: &mut Table) {
    if let Some(Value::Array(models)) = row.get_mut("models") {
        models.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    }
}

/// What is wrong with the form of each part, with its place: reading the whole would end at the first.
fn form_problems(row: &Table) -> Vec<RowProblem> {
    let mut problems = Vec::new();
    for key in ["dialect", "auth", "paths", "charge"] {
        if !row.contains_key(key) {
            problems.push(RowProblem::new("", format!("`{key}` is missing")));
        }
    }
    for limit in list(row, "limits") {
        let short = limit.get("short").and_then(Value::as_str);
        part::<LimitRow>(
            limit,
            || format!("limits.{}", short.unwrap_or("?")),
            &mut problems,
        );
    }
    let rules = row.get("charge").and_then(|charge| charge.get("rules"));
    for (name, rule) in rules.and_then(Value::as_table).into_iter().flatten() {
        part::<ChargeRule>(rule, || format!("charge.rules.{name}"), &mut problems);
    }
    let instead = row
        .get("paths")
        .and_then(|paths| paths.get("instead_of_model"));
    if let Some(Value::Array(pair)) = instead
        && pair.len() != 2
    {
        let what = "is not two texts, a member's name and what it says";
        problems.push(RowProblem::new("paths.instead_of_model", what));
    }
    if let Some(translation) = row.get("translation") {
        part::<Translation>(translation, || "translation".to_owned(), &mut problems);
    }
    if let Some(work) = row.get("work_ms") {
        part::<WorkMs>(work, || "work_ms".to_owned(), &mut problems);
    }
    if let Some(priority) = row.get("lane_priority") {
        part::<LanePriority>(priority, || "lane_priority".to_owned(), &mut problems);
    }
    for (index, signal) in list(row, "signals").enumerate() {
        part::<SignalRow>(signal, || format!("signals[{index}]"), &mut problems);
    }
    for (index, error) in list(row, "errors").enumerate() {
        part::<ErrorMatch>(error, || format!("errors[{index}]"), &mut problems);
    }
    problems
}

fn list<'a>(row: &'a Table, key: &str) -> impl Iterator<Item = &'a Value> {
    row.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn part<T: DeserializeOwned>(
    part: &Value,
    key: impl FnOnce() -> String,
    problems: &mut Vec<RowProblem>,
) {
    if let Err(error) = part.clone().try_into::<T>() {
        problems.push(RowProblem::new(key(), message(&error)));
    }
}

/// What is wrong, without the excerpt of a text that there is not.
fn message(error: &toml::de::Error) -> String {
    error.message().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{WindowRow, provider};
    use std::num::NonZeroU64;

    fn said(text: &str) -> String {
        let error = Provider::from_toml(text).expect_err("something is wrong");
        error.to_string()
    }

    #[test]
    fn what_is_not_named_is_as_in_the_other_row() {
        let text = r#"
            like = "bedrock"
            id = "ours"
            [charge.rules.documented]
            output_default = 9
        "#;
        let ours = Provider::from_toml(text).expect("a row");
        let bedrock = provider("bedrock").expect("a row");
        assert_eq!(ours.id, "ours");
        assert_eq!(ours.aliases, Vec::<String>::new());
        assert_eq!(ours.limits, bedrock.limits);
        let (ours, theirs) = (ours.charge.default_rule(), bedrock.charge.default_rule());
        assert_eq!(ours.output_default, 9);
        assert_eq!(ours.models, theirs.models);
    }

    #[test]
    fn limits_are_merged_by_their_short_names() {
        let text = r#"
            like = "azure"
            id = "ours"
            base_url = "https://x.example"
            limits = [
              { short = "rpm", window = { kind = "bucket" }, quantum_s = false },
              { short = "tpm", window = { per_s = 6 } },
            ]
        "#;
        let ours = Provider::from_toml(text).expect("a row");
        let azure = provider("azure").expect("a row");
        let limit = |row: &Provider, short: &str| {
            let limit = row.limits.iter().find(|limit| limit.short == short);
            limit.expect("a limit").clone()
        };
        let seconds = |s| NonZeroU64::new(s).expect("not zero");
        assert!(limit(azure, "rpm").quantum_s.is_some());
        let rpm = limit(&ours, "rpm");
        assert_eq!(rpm.quantum_s, None);
        assert_eq!(rpm.window, WindowRow::Bucket { per_s: seconds(60) });
        assert_eq!(rpm.evidence.confidence.name(), "operator");
        let tpm = limit(&ours, "tpm");
        assert_eq!(tpm.meter, limit(azure, "tpm").meter);
        assert!(
            matches!(tpm.window, WindowRow::Sliding { per_s } if per_s == seconds(6)),
            "{tpm:?}"
        );
        assert_eq!(ours.limits.len(), azure.limits.len());
    }

    #[test]
    fn a_day_that_becomes_a_minute_has_no_zone() {
        let text = r#"
            like = "gemini"
            limits = [{ short = "rpd", window = { kind = "fixed", per_s = 60 } }]
        "#;
        let ours = Provider::from_toml(text).expect("a row");
        let rpd = ours.limits.iter().find(|limit| limit.short == "rpd");
        let window = &rpd.expect("a limit").window;
        assert_eq!(window.to_string(), "fixed, 60 s");
    }

    #[test]
    fn a_row_that_is_like_no_other_says_little() {
        let text = r#"
            id = "x"
            name = "X"
            dialect = "openai"
            auth = { header = "authorization", scheme = "Bearer" }
            paths = { chat = "/chat" }
            models = ["b", "a"]
            charge = { default = "sum", rules = { sum = { input = { by = "tokens", image_tokens = 0 }, output = "added" } } }
        "#;
        let row = Provider::from_toml(text).expect("a row");
        assert!(row.serves("anything"));
        assert_eq!(row.models, ["a", "b"]);
        assert!(row.limits.is_empty() && row.signals.is_empty());
    }

    #[test]
    fn who_names_other_headers_of_the_work_is_their_source() {
        let row = |work: &str| {
            let text = format!("like = \"openai\"\nid = \"x\"\nwork_ms = {work}");
            Provider::from_toml(&text)
        };
        let work = row("{ headers = [\"x-took\"] }").expect("a row").work_ms;
        let work = work.expect("it names a header");
        assert_eq!(work.headers, ["x-took"]);
        assert_eq!(work.evidence.confidence.name(), "operator");
        assert_eq!(row("false").expect("a row").work_ms, None);
        let wrong = row("{ headers = [\"X-Took\"] }").expect_err("upper case");
        assert!(
            wrong.to_string().starts_with("work_ms: a header"),
            "{wrong}"
        );
        let empty = row("{ headers = [] }").expect_err("no header");
        assert_eq!(empty.to_string(), "work_ms: names no header");
    }

    #[test]
    fn the_place_of_the_lane_can_be_named_and_taken_away() {
        let row = |priority: &str| {
            let text = format!("like = \"vllm\"\nid = \"x\"\n{priority}");
            Provider::from_toml(&text)
        };
        let field = |priority: &str| {
            let row = row(priority).expect("a row");
            row.lane_priority.map(|priority| priority.field)
        };
        assert_eq!(field("").as_deref(), Some("priority"));
        assert_eq!(
            field("lane_priority = { field = \"rank\" }").as_deref(),
            Some("rank")
        );
        assert_eq!(field("lane_priority = false"), None);
        let empty = row("lane_priority = { field = \"\" }").expect_err("no field");
        assert_eq!(empty.to_string(), "lane_priority: names no field");
    }

    #[test]
    fn an_alias_is_as_good_as_a_name() {
        let row = Provider::from_toml("like = \"clova\"\nid = \"n\"").expect("a row");
        assert_eq!(row.name, "Naver CLOVA Studio");
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(said("like = \"opena\"").contains("openai, openrouter"));
        assert!(said("like = \"openai\"\nlimit = 3").contains("limit"));
        assert_eq!(
            said("id = \"x\"\nauth = { header = \"a\" }"),
            "`dialect` is missing; `paths` is missing; `charge` is missing"
        );
        assert_eq!(
            said("like = \"openai\"\npaths = { chat = \"v1\" }\nbase_url = \"http://x/\""),
            "paths.chat: does not begin with a slash; base_url: ends in a slash"
        );
        assert_eq!(
            said(
                "like = \"openai\"\nlimits = [{ short = \"otpm\" }]\ncharge = { rules = { a = { output = \"added\" } } }"
            ),
            "limits.otpm: missing field `meter`; charge.rules.a: missing field `input`"
        );
        assert!(matches!(
            Provider::from_toml("like = "),
            Err(RowError::Form(_))
        ));
    }

    #[test]
    fn every_row_that_is_compiled_in_may_be_written_again() {
        for row in providers() {
            let text = text_of(&row.id).expect("it was compiled in");
            assert_eq!(Provider::from_toml(text).as_ref(), Ok(&**row));
        }
    }
}
