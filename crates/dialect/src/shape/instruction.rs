//! The form of the answer, said to the model in words.

use crate::canonical::{OutputForm, Part, Request, Role, Turn};

use super::Misshapen;

/// Adds to `request` what its form is. It stands with what instructs the model already, as many servers take one such turn only, and
/// that at the beginning.
pub(crate) fn instruct(request: &mut Request) {
    let Some(instruction) = instruction(request) else {
        return;
    };
    if let Some(first) = request.turns.first_mut()
        && first.role.instructs()
    {
        match first.parts.last_mut() {
            Some(Part::Text(text)) => {
                text.push_str("\n\n");
                text.push_str(&instruction);
            }
            _ => first.parts.push(Part::Text(instruction)),
        }
        return;
    }
    let turn = Turn {
        role: Role::System,
        parts: vec![Part::Text(instruction)],
    };
    request.turns.insert(0, turn);
}

/// Adds to `request`, which was answered with what is not its form, that answer and what is wrong with it.
pub(crate) fn repair(request: &mut Request, wrong: &Misshapen) {
    if !wrong.said.trim().is_empty() {
        request.turns.push(Turn {
            role: Role::Assistant,
            parts: vec![Part::Text(wrong.said.clone())],
        });
    }
    let text = format!(
        "This answer is not what was asked for: {}. Give the whole answer again, as JSON only.",
        wrong.problem
    );
    request.turns.push(Turn {
        role: Role::User,
        parts: vec![Part::Text(text)],
    });
}

fn instruction(request: &Request) -> Option<String> {
    let mut text = if request.tools.is_empty() {
        "Answer with ".to_owned()
    } else {
        "Call tools where you need them. When you answer, answer with ".to_owned()
    };
    match &request.output {
        OutputForm::Text => return None,
        OutputForm::Json => text.push_str("one JSON object"),
        OutputForm::Schema { .. } => {
            text.push_str("JSON that is valid against the JSON Schema below");
        }
    }
    text.push_str(" and nothing else: no words before or after it, and no code fence.");
    if let OutputForm::Schema {
        name,
        description,
        schema,
        ..
    } = &request.output
    {
        if let Some(name) = name {
            text.push_str("\nIts name: ");
            text.push_str(name);
        }
        if let Some(description) = description {
            text.push_str("\nWhat it is: ");
            text.push_str(description);
        }
        text.push_str("\nThe JSON Schema:\n");
        text.push_str(schema.as_str());
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::JsonText;

    #[test]
    fn the_form_is_said_where_other_instructions_stand_or_before_everything() {
        let turn = |role, text: &str| Turn {
            role,
            parts: vec![Part::Text(text.to_owned())],
        };
        for role in [Role::System, Role::User] {
            let mut request = Request {
                turns: vec![turn(role, "Be short."), turn(Role::User, "Hi")],
                output: OutputForm::Json,
                ..Request::default()
            };
            instruct(&mut request);
            let [Part::Text(said)] = request.turns[0].parts.as_slice() else {
                unreachable!("one text was put there");
            };
            assert!(said.contains("one JSON object"), "{said}");
            assert_eq!(
                said.starts_with("Be short."),
                role == Role::System,
                "{said}"
            );
            assert_eq!(request.turns[0].role, Role::System);
        }
        let mut request = Request {
            turns: vec![turn(Role::User, "Hi")],
            ..Request::default()
        };
        instruct(&mut request);
        assert_eq!(request.turns.len(), 1);
    }

    #[test]
    fn a_schema_is_said_with_its_name_and_what_it_is() {
        let request = Request {
            output: OutputForm::Schema {
                name: Some("city".to_owned()),
                description: Some("A city.".to_owned()),
                schema: JsonText::parse(r#"{"b":1.0,"a":2}"#).expect("JSON"),
                strict: false,
            },
            ..Request::default()
        };
        let said = instruction(&request).expect("a form");
        assert!(
            said.ends_with(
                "Its name: city\nWhat it is: A city.\nThe JSON Schema:\n{\"b\":1.0,\"a\":2}"
            ),
            "{said}"
        );
    }
}
