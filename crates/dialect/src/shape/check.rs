//! A whole answer, held against the form that was asked for.

use serde_json::Value;

use super::bounds::Unfit;
use super::scan::{Roots, Scan, behind_thoughts};
use super::schema::Schema;
use crate::canonical::{Answer, FinishReason, OutputForm, Part};

/// Bytes of text that are checked; more is not of the form.
pub(super) const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Places at which JSON is looked for.
const BEGINNINGS_MAX: usize = 16;
/// What is kept of a text that is not of the form, in characters.
const SAID_CHARS_MAX: usize = 64 * 1024;

/// What the text of an answer has to be.
#[derive(Debug)]
pub struct Shape {
    pub(super) roots: Roots,
    schema: Option<Schema>,
}

/// Whether an answer had to be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// It is what was asked for, or is not checked.
    AsItIs,
    /// Something stood around it.
    Stripped,
}

/// An answer that is not what was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misshapen {
    /// What is wrong with it, for the model to mend.
    pub problem: String,
    /// What the model said, cut at 64 Ki characters.
    pub said: String,
}

impl Shape {
    /// `None` where any text will do. A schema that would take too long to hold an answer against asks for JSON of any kind.
    ///
    /// # Errors
    /// What is wrong with a schema that is none.
    pub fn of(form: &OutputForm) -> Result<Option<Self>, String> {
        let (roots, schema) = match form {
            OutputForm::Text => return Ok(None),
            OutputForm::Json => (Roots::OBJECT, None),
            OutputForm::Schema { schema, .. } => match Schema::compile(schema) {
                Ok((schema, roots)) => (roots, Some(schema)),
                Err(Unfit::Costly) => (Roots::ANY, None),
                Err(Unfit::Wrong(why)) => return Err(why),
            },
        };
        Ok(Some(Self { roots, schema }))
    }

    /// The JSON in `text` that is what was asked for: the very bytes, without what stands around it.
    ///
    /// # Errors
    /// Where there is none, or it is not what was asked for.
    ///
    /// ```
    /// use sluicegate_dialect::Shape;
    /// use sluicegate_dialect::canonical::OutputForm;
    /// let shape = Shape::of(&OutputForm::Json)?.expect("a form");
    /// assert_eq!(shape.json_in("Here:\n```json\n{ \"a\": 1.0 }\n```"), Ok("{ \"a\": 1.0 }"));
    /// assert!(shape.json_in("I cannot.").is_err());
    /// # Ok::<(), String>(())
    /// ```
    pub fn json_in<'a>(&self, text: &'a str) -> Result<&'a str, Misshapen> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Misshapen::new("the answer is too long", text));
        }
        let text = behind_thoughts(text);
        let all = without_fence(text.trim());
        let mut problem = match self.problem(all) {
            None => return Ok(all),
            Some(problem) => problem,
        };
        let mut scan = Scan::new(self.roots);
        scan.push(text);
        scan.again_from(0);
        let is_all = |begin: usize, end: usize| text[begin..end] == *all;
        let mut empty = None;
        for _ in 0..BEGINNINGS_MAX {
            let Some(begin) = scan.begin() else {
                break;
            };
            let Some(end) = scan.end() else {
                problem = "the JSON does not end".to_owned();
                scan.again_from(begin + 1);
                continue;
            };
            if !is_all(begin, end) {
                match self.problem(&text[begin..end]) {
                    None if is_empty(&text[begin..end]) => {
                        empty = empty.or(Some(&text[begin..end]));
                    }
                    None => return Ok(&text[begin..end]),
                    Some(other) => problem = other,
                }
            }
            scan.again_from(end);
        }
        empty.ok_or_else(|| Misshapen::new(&problem, text))
    }

    /// Makes the text of `answer` the JSON in it.
    ///
    /// # Errors
    /// Where it is not what was asked for.
    pub fn fit(&self, answer: &mut Answer) -> Result<Fit, Misshapen> {
        let refuses = |part: &Part| matches!(part, Part::Refusal(_));
        if answer.calls_tools() || answer.parts.iter().any(refuses) || !is_checked(&answer.finish) {
            return Ok(Fit::AsItIs);
        }
        let texts = answer.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let text: String = texts.collect();
        let json = self.json_in(&text)?;
        if json == text {
            return Ok(Fit::AsItIs);
        }
        let mut json = Some(json.to_owned());
        answer.parts.retain_mut(|part| match part {
            Part::Text(text) => json.take().map(|json| *text = json).is_some(),
            _ => true,
        });
        Ok(Fit::Stripped)
    }

    /// What is wrong with `text`, which is to be JSON alone.
    pub(super) fn problem(&self, text: &str) -> Option<String> {
        if text.is_empty() {
            return Some("there is no JSON in the answer".to_owned());
        }
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => return Some(format!("it is not valid JSON: {error}")),
        };
        let is_root = match value {
            Value::Object(_) => self.roots.object,
            Value::Array(_) => self.roots.array,
            _ => self.roots.scalar,
        };
        match &self.schema {
            Some(schema) => schema.problem(&value),
            None if is_root => None,
            None => Some("it is not a JSON object".to_owned()),
        }
    }
}

impl Misshapen {
    pub(super) fn new(problem: &str, said: &str) -> Self {
        Self {
            problem: problem.to_owned(),
            said: said.chars().take(SAID_CHARS_MAX).collect(),
        }
    }
}

/// Whether the text of an answer that ended so is checked.
pub(super) const fn is_checked(finish: &FinishReason) -> bool {
    match finish {
        FinishReason::Stop | FinishReason::StopSequence(_) | FinishReason::ToolCalls => true,
        FinishReason::Length
        | FinishReason::ContextFull
        | FinishReason::Refusal
        | FinishReason::Pause => false,
    }
}

/// Whether it is an object or array of nothing, which prose speaks of more often than it answers with it: what else is there goes
/// before it.
pub(super) fn is_empty(json: &str) -> bool {
    let inner = json.strip_prefix(['{', '[']);
    let inner = inner.and_then(|inner| inner.strip_suffix(['}', ']']));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// What stands in the code fence that `text` is, or `text`.
fn without_fence(text: &str) -> &str {
    let inner = text
        .strip_prefix("```")
        .and_then(|text| text.strip_suffix("```"))
        .and_then(|text| text.split_once('\n'));
    inner.map_or(text, |(_, inner)| inner.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::JsonText;

    pub(super) fn of_schema(schema: &str) -> Shape {
        let form = OutputForm::Schema {
            name: None,
            description: None,
            schema: JsonText::parse(schema).expect("JSON"),
            strict: true,
        };
        Shape::of(&form).expect("a schema").expect("a form")
    }

    fn of_json() -> Shape {
        Shape::of(&OutputForm::Json)
            .expect("no schema")
            .expect("a form")
    }

    fn answer(parts: Vec<Part>, finish: FinishReason) -> Answer {
        Answer {
            id: String::new(),
            model: String::new(),
            parts,
            logprobs: Vec::new(),
            finish,
            usage: None,
        }
    }

    #[test]
    fn json_is_found_in_what_models_put_around_it_to_the_byte() {
        let shape = of_schema(
            r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#,
        );
        for (text, expected) in [
            (
                "{ \"a\" : 1 , \"b\": 1e2 }",
                Some("{ \"a\" : 1 , \"b\": 1e2 }"),
            ),
            ("```\n{\"a\":1}\n```", Some("{\"a\":1}")),
            ("```json\n{\"a\":1}\n``` as you {wished}", Some("{\"a\":1}")),
            ("A set {\"b\": 2} and then {\"a\": 1}.", Some("{\"a\": 1}")),
            ("{\"a\": {\"a\": 1}", Some("{\"a\": 1}")),
            (
                "<think>maybe {\"a\":0}</think>\n{\"a\":1}",
                Some("{\"a\":1}"),
            ),
            ("<think>{\"a\":0}</think>no", None),
            ("{\"a\":\"1\"}", None),
            ("{\"a\":1", None),
            ("[{\"b\":1}]", None),
            ("{\"a\":1,}", None),
            ("", None),
        ] {
            assert_eq!(shape.json_in(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn json_of_nothing_is_taken_where_there_is_no_other() {
        let shape = of_json();
        for (text, expected) in [
            ("I start from {} and fill: {\"a\":1}", "{\"a\":1}"),
            ("I start from { } and leave it at {}.", "{ }"),
            ("{}", "{}"),
        ] {
            assert_eq!(shape.json_in(text), Ok(expected));
        }
    }

    #[test]
    fn what_is_wrong_is_said_so_that_a_model_can_mend_it() {
        let shape = of_schema(
            r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#,
        );
        let wrong = shape.json_in(r#"{"a":"x"}"#).expect_err("a string");
        assert!(
            wrong.problem.contains("/a") && wrong.problem.contains("integer"),
            "{wrong:?}"
        );
        let wrong = shape.json_in(r#"{"a":1"#).expect_err("cut");
        assert_eq!(wrong.problem, "the JSON does not end");
        assert_eq!(wrong.said, r#"{"a":1"#);
    }

    #[test]
    fn a_scalar_is_taken_where_the_schema_wants_one() {
        let shape = of_schema(r#"{"enum":["red","green"]}"#);
        assert_eq!(shape.json_in("```\n\"red\"\n```"), Ok("\"red\""));
        assert!(shape.json_in("red").is_err());
        assert!(of_json().json_in("1").is_err());
    }

    #[test]
    fn a_schema_that_is_too_costly_asks_for_json_of_any_kind() {
        let hostile = [
            r#"{"type":"string","pattern":"(a{1000}){1000}"}"#,
            r#"{"type":"string","pattern":"(?=a)b"}"#,
            r##"{"items":{"$dynamicRef":"#a"}}"##,
        ];
        for schema in hostile {
            let shape = of_schema(schema);
            assert_eq!(shape.json_in("so: [1]"), Ok("[1]"), "{schema}");
            assert!(shape.json_in("nothing").is_err(), "{schema}");
        }
    }

    #[test]
    fn only_an_answer_in_text_that_came_to_its_end_is_checked() {
        let shape = of_json();
        let text = || Part::Text("Let me see.".to_owned());
        let call = Part::ToolCall {
            signature: None,
            id: "1".to_owned(),
            name: "look".to_owned(),
            arguments: String::new(),
        };
        let refusal = Part::Refusal("No.".to_owned());
        for (parts, finish, is_fit) in [
            (vec![text()], FinishReason::Stop, false),
            (vec![], FinishReason::Stop, false),
            (vec![text()], FinishReason::Length, true),
            (vec![text(), call], FinishReason::ToolCalls, true),
            (vec![refusal], FinishReason::Stop, true),
        ] {
            let mut answer = answer(parts, finish);
            let before = answer.clone();
            assert_eq!(shape.fit(&mut answer).is_ok(), is_fit, "{before:?}");
            assert_eq!(answer, before);
        }
        let parts = ["Sure: ", "{\"a\"", ":1}"].map(|text| Part::Text(text.to_owned()));
        let mut split = answer(parts.to_vec(), FinishReason::Stop);
        assert_eq!(shape.fit(&mut split), Ok(Fit::Stripped));
        assert_eq!(split.parts, [Part::Text("{\"a\":1}".to_owned())]);
    }
}
