//! YAML text to a tree in which every node knows its place.
//!
//! It owns what YAML means here: one document, keys that are plain words and stand once, aliases, merge keys (`<<`). It must
//! not know the language of the configuration. The events of the parser are read one by one, instead of loading a ready
//! tree, so that a key that stands twice is one problem among others and not the end of the reading, and so that aliases
//! are paid for in nodes and bytes: a small file cannot name a large tree.

mod merge;
mod reader;

use reader::{Reader, Stop};

use crate::errors::{Mark, Path, Problems};
use crate::expand::{is_shielded, shield};

/// The longest text that is read, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Mark,
    pub(crate) data: NodeData,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeData {
    /// Nothing was written, or `null` or `~`.
    Empty,
    /// As written: neither expanded nor interpreted.
    Scalar(String),
    List(Vec<Node>),
    /// In the order of the file; keys are unique.
    Map(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Mark,
    pub(crate) value: Node,
}

/// Reads `text`. `None` where it cannot be read at all; then, and where single keys are wrong, `problems` says why.
pub(crate) fn read(text: &str, problems: &mut Problems) -> Option<Node> {
    let start = Mark { line: 1, column: 1 };
    if text.len() > TEXT_BYTES_MAX {
        problems
            .add(
                start,
                &Path::default(),
                format!("the file has {} bytes", text.len()),
            )
            .expected(format!("at most {TEXT_BYTES_MAX}"));
        return None;
    }
    if let Some(mark) = first_shielded(text) {
        problems.add(
            mark,
            &Path::default(),
            "a character of the private use area (U+E000 to U+E07F)",
        );
        return None;
    }
    let shielded = shield(text);
    match Reader::new(&shielded, problems).document() {
        Ok(node) => Some(node),
        Err(Stop { mark, what, mend }) => {
            let problem = problems.add(mark, &Path::default(), what);
            if let Some(mend) = mend {
                problem.mend(mend);
            }
            None
        }
    }
}

fn first_shielded(text: &str) -> Option<Mark> {
    text.split('\n').enumerate().find_map(|(line, content)| {
        let column = content.chars().position(is_shielded)?;
        Some(Mark {
            line: line + 1,
            column: column + 1,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn read_ok(text: &str) -> Node {
        let mut problems = Problems::default();
        let node = read(text, &mut problems);
        problems.or_else("t", node).expect("reads")
    }

    fn read_err(text: &str) -> String {
        let mut problems = Problems::default();
        let node = read(text, &mut problems);
        problems
            .or_else("t", node)
            .expect_err("does not read")
            .to_string()
    }

    pub(super) fn flat(node: &Node) -> String {
        match &node.data {
            NodeData::Empty => "~".to_owned(),
            NodeData::Scalar(text) => text.clone(),
            NodeData::List(items) => {
                format!("[{}]", items.iter().map(flat).collect::<Vec<_>>().join(" "))
            }
            NodeData::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|entry| format!("{}={}", entry.key, flat(&entry.value)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(" "))
            }
        }
    }

    #[test]
    fn nodes_know_their_place() {
        let root = read_ok("a: 1\nb:\n  가: [x, ${Y}]\n");
        assert_eq!(flat(&root), "{a=1 b={가=[x ${Y}]}}");
        let NodeData::Map(entries) = &root.data else {
            panic!("a mapping");
        };
        let NodeData::Map(inner) = &entries[1].value.data else {
            panic!("a mapping");
        };
        let NodeData::List(items) = &inner[0].value.data else {
            panic!("a list");
        };
        assert_eq!(
            items[1].at,
            Mark {
                line: 3,
                column: 10
            }
        );
        assert_eq!(inner[0].key_at, Mark { line: 3, column: 3 });
    }

    #[test]
    fn quoted_nothing_is_text_and_plain_nothing_is_empty() {
        assert_eq!(
            flat(&read_ok("a: ''\nb:\nc: null\nd: 'null'")),
            "{a= b=~ c=~ d=null}"
        );
    }

    #[test]
    fn aliases_are_paid_for() {
        let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{}, ", level - 1).repeat(9);
            laughs.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }
        assert!(read_err(&laughs).contains("too large"));

        let long = format!(
            "a: &a {}\nb: [{}]\n",
            "x".repeat(500_000),
            "*a, ".repeat(100)
        );
        assert!(read_err(&long).contains("too large"));
        assert!(read_err("a: &a [*a]").contains("inside the node that it repeats"));
    }

    #[test]
    fn what_is_not_one_document_of_yaml_is_refused() {
        assert!(read_err(&"[".repeat(5_000)).starts_with("t:1:"));
        assert!(read_err(&"- ".repeat(5_000)).contains("nested more than 32 deep"));
        assert!(read_err(&" ".repeat(TEXT_BYTES_MAX + 1)).contains("at most 1048576"));
        assert!(read_err("a: 1\n---\nb: 2\n").contains("t:2:1: a second document begins"));
        assert!(read_err("a: \u{E041}").starts_with("t:1:4: a character of the private use"));
        assert_eq!(
            read_err("a: 1\nb: 2\na: 3\n"),
            "t:3:1: a: stands twice; remove one; the other is at line 1\n1 error"
        );
    }
}
