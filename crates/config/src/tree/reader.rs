//! Events of the parser to nodes, one by one, within bounds.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::merge::merge;
use super::{Entry, Node, NodeData};
use crate::errors::{Mark, Path, Problems};
use crate::expand::unshield;

/// The most nodes of a tree, those that aliases repeat included.
const NODES_MAX: usize = 50_000;
/// The most bytes in the scalars of a tree, those that aliases repeat included.
const SCALAR_BYTES_MAX: usize = 4 << 20;
/// The deepest nesting.
const DEPTH_MAX: usize = 32;

/// Why reading ends at once.
pub(super) struct Stop {
    pub(super) mark: Mark,
    pub(super) what: String,
    pub(super) mend: Option<&'static str>,
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

pub(super) struct Reader<'a> {
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
    pub(super) fn new(shielded: &'a str, problems: &'a mut Problems) -> Self {
        Self {
            parser: Parser::new_from_str(shielded),
            problems,
            path: Path::default(),
            anchors: BTreeMap::new(),
            nodes_left: NODES_MAX,
            bytes_left: SCALAR_BYTES_MAX,
        }
    }

    pub(super) fn document(&mut self) -> Result<Node, Stop> {
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
