//! What the model may call, and what form its answer has to have.

use super::JsonText;
use crate::json;

/// A tool that the client runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, an object; `None` for a tool without any.
    pub parameters: Option<JsonText>,
    /// Whether arguments have to follow the schema to the letter.
    pub strict: Option<bool>,
}

impl Tool {
    /// The schema of its arguments where it has to be there and say that they are an object, which some
    /// programs leave out.
    pub(crate) fn object_schema(&self) -> JsonText {
        let Some(schema) = &self.parameters else {
            return JsonText::empty_object();
        };
        let text = schema.as_str();
        let rest = text.strip_prefix('{').map(str::trim_start);
        let Some(rest) = rest.filter(|_| json::member(text.as_bytes(), 0, "type").is_none()) else {
            return schema.clone();
        };
        let comma = if rest.starts_with('}') { "" } else { "," };
        let typed = JsonText::parse(&format!(r#"{{"type":"object"{comma}{rest}"#));
        typed.expect("an object with a member more is one")
    }
}

/// Whether and which tool is to be called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ToolChoice {
    /// The default: the model chooses where there are tools.
    #[default]
    Unsaid,
    /// The model chooses.
    Auto,
    /// None.
    None,
    /// At least one.
    Any,
    /// The one of that name.
    Named(String),
}

impl ToolChoice {
    /// Whether the model has to call a tool.
    pub const fn forces(&self) -> bool {
        matches!(self, Self::Any | Self::Named(_))
    }
}

/// What the text of an answer has to be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum OutputForm {
    /// Anything.
    #[default]
    Text,
    /// A JSON object.
    Json,
    /// JSON that follows a schema.
    Schema {
        /// A name for it, which some dialects want.
        name: Option<String>,
        /// What it is.
        description: Option<String>,
        /// The JSON Schema.
        schema: JsonText,
        /// Whether it must follow to the letter, which the schema has to be fit for.
        strict: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, parameters: Option<&str>) -> Tool {
        Tool {
            name: name.to_owned(),
            description: None,
            parameters: parameters.map(|text| JsonText::parse(text).expect("JSON")),
            strict: None,
        }
    }

    #[test]
    fn arguments_are_said_to_be_an_object() {
        let cases = [
            (None, r#"{"type":"object","properties":{}}"#),
            (Some("{ }"), r#"{"type":"object"}"#),
            (
                Some(r#"{"properties":{}}"#),
                r#"{"type":"object","properties":{}}"#,
            ),
            (Some(r#"{"type": "object"}"#), r#"{"type": "object"}"#),
            (Some("true"), "true"),
        ];
        for (parameters, expected) in cases {
            assert_eq!(tool("a", parameters).object_schema().as_str(), expected);
        }
    }
}
