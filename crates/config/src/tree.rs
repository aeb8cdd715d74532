//! YAML text to a tree in which every node knows its place.
//!
//! It owns what YAML means here: one document, keys that are plain words and stand once, aliases, merge keys (`<<`). It must
//! not know the language of the configuration. The events of the parser are read one by one, instead of loading a ready
//! tree, so that a key that stands twice is one problem among others and not the end of the reading, and so that aliases
//! are paid for in nodes and bytes: a small file cannot name a large tree.

mod merge;

use std::collections::BTreeMap;

use merge::merge;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};

use crate::errors::{Mark, Path, Problems};
use crate::expand::{is_shielded, shield, unshield};

/// The longest text that is read, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 20;
/// The most nodes of a tree, those that aliases repeat included.
const NODES_MAX: usize = 50_000;
/// The most bytes in the scalars of a tree, those that aliases repeat included.
const SCALAR_BYTES_MAX: usize = 4 << 20;
/// The deepest nesting.
const DEPTH_MAX: usize = 32;

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
    let mut reader = Reader {
        parser: Parser::new_from_str(&shielded),
        problems,
        path: Path::default(),
        anchors: BTreeMap::new(),
        nodes_left: NODES_MAX,
        bytes_left: SCALAR_BYTES_MAX,
    };
    match reader.document() {
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

/// Why reading ends at once.
struct Stop {
    mark: Mark,
    what: String,
    mend: Option<&'static str>,
}

impl Stop {
    fn new(mark: Mark, what: impl Into<String>) -> Self {
        Self {
            mark,
            what: what.into(),
            mend: None,
        }
    }
}

impl From<ScanError> for Stop {
    fn from(error: ScanError) -> Self {
        let marker = error.marker();
        let mend = if error.info().contains("tab") {
            "indent with spaces"
        } else if error.info().contains("anchor") {
            "an alias (*name) repeats what was marked with &name before it"
        } else {
            "look for a missing quote, bracket or space after a colon, here or just above"
        };
        Self {
            mark: Mark {
                line: marker.line(),
                column: marker.col() + 1,
            },
            what: format!("not YAML: {}", unshield(error.info())),
            mend: Some(mend),
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    problems: &'a mut Problems,
    /// Of the mapping or list that is being read.
    path: Path,
    anchors: BTreeMap<usize, Anchored>,
    nodes_left: usize,
    bytes_left: usize,
}

/// A node that an alias may repeat, and what that costs.
struct Anchored {
    node: Node,
    nodes: usize,
    bytes: usize,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Node, Stop> {
        let start = Mark { line: 1, column: 1 };
        let mut root = None;
        loop {
            let (event, mark) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::StreamStart | Event::DocumentEnd | Event::Nothing => {}
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(Stop {
                        mend: Some("join them under one set of keys"),
                        ..Stop::new(mark, "a second document begins")
                    });
                }
                Event::DocumentStart(_) => {}
                event => root = Some(self.node(event, mark, 0)?),
            }
        }
        Ok(root.unwrap_or(Node {
            at: start,
            data: NodeData::Empty,
        }))
    }

    fn next(&mut self) -> Result<(Event<'a>, Mark), Stop> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, mark_of(&span))),
            Some(Err(error)) => Err(error.into()),
            None => Ok((Event::StreamEnd, Mark { line: 1, column: 1 })),
        }
    }

    /// The node that `event` begins.
    fn node(&mut self, event: Event<'a>, at: Mark, depth: usize) -> Result<Node, Stop> {
        if depth > DEPTH_MAX {
            return Err(Stop::new(at, format!("nested more than {DEPTH_MAX} deep")));
        }
        let before = (self.nodes_left, self.bytes_left);
        let (data, anchor) = match event {
            Event::Alias(id) => return self.alias(id, at),
            Event::Scalar(text, style, anchor, _) => {
                self.spend(1, text.len(), at)?;
                (scalar(&text, style), anchor)
            }
            Event::SequenceStart(anchor, _) => {
                self.spend(1, 0, at)?;
                (NodeData::List(self.list(depth)?), anchor)
            }
            Event::MappingStart(anchor, _) => {
                self.spend(1, 0, at)?;
                (NodeData::Map(self.map(depth)?), anchor)
            }
            _ => return Err(Stop::new(at, "not YAML: a value is missing")),
        };
        let node = Node { at, data };
        if anchor > 0 {
            let cost = (before.0 - self.nodes_left, before.1 - self.bytes_left);
            self.spend(cost.0, cost.1, at)?;
            self.anchors.insert(
                anchor,
                Anchored {
                    node: node.clone(),
                    nodes: cost.0,
                    bytes: cost.1,
                },
            );
        }
        Ok(node)
    }

    /// The node that `event` begins, one level below `depth`, read while `path` is the current one.
    fn node_under(
        &mut self,
        path: Path,
        event: Event<'a>,
        at: Mark,
        depth: usize,
    ) -> Result<Node, Stop> {
        let outer = std::mem::replace(&mut self.path, path);
        let node = self.node(event, at, depth + 1);
        self.path = outer;
        node
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Stop> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, at) => {
                    let path = self.path.item(items.len());
                    items.push(self.node_under(path, event, at, depth)?);
                }
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<Entry>, Stop> {
        let mut entries = Vec::new();
        let mut seen = BTreeMap::new();
        let mut merged = Vec::new();
        loop {
            let (event, key_at) = match self.next()? {
                (Event::MappingEnd, _) => break,
                next => next,
            };
            let key = self.node(event, key_at, depth + 1)?;
            let NodeData::Scalar(key) = key.data else {
                self.problems
                    .add(key_at, &self.path, "a key that is not a plain word");
                let (event, at) = self.next()?;
                self.node(event, at, depth + 1)?;
                continue;
            };
            let (event, at) = self.next()?;
            let path = self.path.key(&key);
            let value = self.node_under(path, event, at, depth)?;
            if key == "<<" {
                merged.push(value);
            } else if let Some(first) = seen.insert(key.clone(), key_at) {
                self.problems
                    .add(key_at, &self.path.key(&key), "stands twice")
                    .mend(format!("remove one; the other is at line {}", first.line));
            } else {
                entries.push(Entry { key, key_at, value });
            }
        }
        for value in merged {
            merge(value, &mut entries, &mut seen, &self.path, self.problems);
        }
        Ok(entries)
    }

    fn alias(&mut self, id: usize, at: Mark) -> Result<Node, Stop> {
        let Some(anchored) = self.anchors.get(&id) else {
            return Err(Stop::new(at, "an alias inside the node that it repeats"));
        };
        let (nodes, bytes) = (anchored.nodes, anchored.bytes);
        self.spend(nodes, bytes, at)?;
        Ok(self.anchors[&id].node.clone())
    }

    fn spend(&mut self, nodes: usize, bytes: usize, at: Mark) -> Result<(), Stop> {
        match (
            self.nodes_left.checked_sub(nodes),
            self.bytes_left.checked_sub(bytes),
        ) {
            (Some(nodes), Some(bytes)) => {
                self.nodes_left = nodes;
                self.bytes_left = bytes;
                Ok(())
            }
            _ => Err(Stop::new(
                at,
                format!(
                    "the file is too large: more than {NODES_MAX} values or {SCALAR_BYTES_MAX} \
                     bytes in them, with what aliases repeat"
                ),
            )),
        }
    }
}

fn scalar(text: &str, style: ScalarStyle) -> NodeData {
    match (style, text) {
        (ScalarStyle::Plain, "" | "~" | "null" | "Null" | "NULL") => NodeData::Empty,
        _ => NodeData::Scalar(unshield(text)),
    }
}

fn mark_of(span: &Span) -> Mark {
    Mark {
        line: span.start.line(),
        column: span.start.col() + 1,
    }
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
