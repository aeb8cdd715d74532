//! What the model may call, and whether it has to.

use super::open_api::{Others, json_schema};
use super::wire;
use super::wire_value::Listed;
use crate::canonical::{JsonText, Places, Tool, ToolChoice, Unsaid};

pub(super) fn tools(
    wire: Listed<wire::Tool>,
    places: &mut Places,
    unsaid: &mut Unsaid,
) -> Vec<Tool> {
    let mut tools = Vec::new();
    for (index, tool) in wire.0.into_iter().enumerate() {
        // What else a tool may be is run by the provider: its name says which.
        unsaid.members(&format!("tools[{index}]"), &tool.unknown, &[]);
        for (at, function) in tool.function_declarations.0.into_iter().enumerate() {
            let place = format!("tools[{index}].functionDeclarations[{at}]");
            // What a function gives back is told by its results.
            let hints = ["response", "responseJsonSchema", "response_json_schema"];
            unsaid.members(&place, &function.unknown, &hints);
            let parameters = function.parameters.as_deref();
            let parameters = parameters.map(|schema| json_schema(schema, Others::AsWritten));
            let json = function.parameters_json_schema.as_deref();
            tools.push(Tool {
                name: function.name,
                description: function.description,
                parameters: json.map(JsonText::from).or(parameters),
                strict: None,
            });
            places.push_tool(place);
        }
    }
    tools
}

/// The choice; where it holds the model to the schemas, the tools say so.
pub(super) fn tool_choice(
    wire: Option<wire::ToolConfig>,
    tools: &mut [Tool],
    unsaid: &mut Unsaid,
) -> ToolChoice {
    let wire = wire.unwrap_or_default();
    unsaid.members("toolConfig", &wire.unknown, &[]);
    let config = wire.function_calling_config.unwrap_or_default();
    let place = "toolConfig.functionCallingConfig";
    unsaid.members(place, &config.unknown, &[]);
    let allowed = config.allowed_function_names.unwrap_or_default();
    let all_are_allowed = tools.iter().all(|tool| allowed.contains(&tool.name));
    let mode = config.mode.as_deref().unwrap_or_default();
    if let ("ANY", [name]) = (mode, allowed.as_slice()) {
        return ToolChoice::Named(name.clone());
    }
    if !allowed.is_empty() && !all_are_allowed {
        unsaid.name(format!("{place}.allowedFunctionNames"));
    }
    match mode {
        "" | "MODE_UNSPECIFIED" => ToolChoice::Unsaid,
        "AUTO" => ToolChoice::Auto,
        "ANY" => ToolChoice::Any,
        "NONE" => ToolChoice::None,
        "VALIDATED" => {
            for tool in tools {
                tool.strict = Some(true);
            }
            ToolChoice::Auto
        }
        _ => {
            unsaid.name(format!("{place}.mode"));
            ToolChoice::Unsaid
        }
    }
}
