//! A conversation as it is read, turn by turn, whatever the dialect: what an answer depends on, and nothing else of it.

use serde_json::{Map, Value};

use super::content_id::text_id;
use super::field::invalid;
use super::instruction;
use super::{Complaint, Prompt};

/// The words around wishes that stand in a prompt, where no field of the body would survive on its way.
const WISH: (&str, &str) = ("<fake>", "</fake>");

/// Who speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// What was said until now.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) prompt: Prompt,
    role: Role,
    /// Of the last turn, which the answer follows.
    results: Vec<String>,
    answers_a_tool: bool,
    system: String,
    /// The last turn of a user.
    user: String,
    /// Names the first text of a user.
    opening: Option<u64>,
    wishes: Map<String, Value>,
    wrong_wish: Option<String>,
}

impl Talk {
    pub(super) fn new() -> Self {
        Self {
            prompt: Prompt {
                tokens: 3,
                ..Prompt::default()
            },
            role: Role::System,
            results: Vec::new(),
            answers_a_tool: false,
            system: String::new(),
            user: String::new(),
            opening: None,
            wishes: Map::new(),
            wrong_wish: None,
        }
    }

    /// Begins the turn of `role`, which the dialect calls `name`. Turns of tools that follow each other are one.
    pub(super) fn turn(&mut self, role: Role, name: &str) {
        self.prompt.turn(name);
        if role != Role::Tool || self.role != Role::Tool {
            self.results.clear();
            self.answers_a_tool = false;
        }
        if role == Role::User {
            self.user.clear();
        }
        self.role = role;
    }

    pub(super) fn text(&mut self, text: &str) {
        self.prompt.text(text);
        let place = match self.role {
            Role::System => &mut self.system,
            Role::User => {
                self.opening.get_or_insert_with(|| text_id(text));
                &mut self.user
            }
            Role::Assistant | Role::Tool => return,
        };
        place.push_str(text);
        place.push('\n');
        self.wish(text);
    }

    pub(super) fn image(&mut self) {
        self.prompt.image();
    }

    /// What a tool answered.
    pub(super) fn result(&mut self, text: &str) {
        self.prompt.text(text);
        self.answers_a_tool = true;
        self.results.push(text.to_owned());
    }

    /// Whether the last turn brings what a tool answered.
    pub(super) fn answers_a_tool(&self) -> bool {
        self.answers_a_tool
    }

    /// What tools answered in the last turn.
    pub(super) fn results(&self) -> Option<String> {
        self.answers_a_tool.then(|| self.results.join(" "))
    }

    /// Names the conversation by how it began, so that a later attempt at the same is known as one.
    pub(super) fn id(&self) -> u64 {
        self.opening.unwrap_or_default()
    }

    /// JSON that the words of the prompt ask for, after a schema if they show one.
    pub(super) fn json_in_words(&self) -> Option<Option<Value>> {
        instruction::json(&self.system).or_else(|| instruction::json(&self.user))
    }

    /// The wishes that stand in the prompt.
    pub(super) fn wishes(&self) -> Result<Map<String, Value>, Complaint> {
        match &self.wrong_wish {
            None => Ok(self.wishes.clone()),
            Some(error) => Err(invalid("fake", format!("Invalid '<fake>': {error}."))),
        }
    }

    fn wish(&mut self, text: &str) {
        let wish = text
            .split_once(WISH.0)
            .and_then(|(_, rest)| rest.split_once(WISH.1));
        match wish.map(|(wish, _)| serde_json::from_str::<Map<String, Value>>(wish)) {
            None => {}
            Some(Ok(wish)) => self.wishes.extend(wish),
            Some(Err(error)) => self.wrong_wish = Some(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_turn_counts_as_a_tools() {
        let mut talk = Talk::new();
        talk.turn(Role::Tool, "tool");
        talk.result("12 degrees");
        talk.turn(Role::Tool, "tool");
        talk.result("rain");
        assert_eq!(talk.results().as_deref(), Some("12 degrees rain"));
        talk.turn(Role::User, "user");
        talk.text("thanks");
        assert_eq!(talk.results(), None);
    }

    #[test]
    fn wishes_stand_in_what_a_user_says_and_not_in_what_a_model_does() {
        let mut talk = Talk::new();
        talk.turn(Role::User, "user");
        talk.text(r#"Hi <fake>{"tools": 2}</fake>"#);
        talk.turn(Role::Assistant, "assistant");
        talk.text(r#"<fake>{"tools": 3}</fake>"#);
        assert_eq!(talk.wishes().unwrap()["tools"], 2);
        talk.turn(Role::User, "user");
        talk.text("<fake>{tools}</fake>");
        assert_eq!(talk.wishes().unwrap_err().param, Some("fake"));
    }
}
