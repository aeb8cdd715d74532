//! The tree against the table: is every key known and every value of its kind?
//!
//! It owns form: unknown and missing keys, units, bounds, the expansion of references. It must not know a single key of the
//! language; what values mean together is [`resolve`](crate::resolve)'s. It goes on after a problem, so that all come
//! at once.

use std::borrow::Cow;

use crate::checked::{Data, Named, Section, Value};
use crate::errors::{Mark, Path, Problems, plain, shown};
use crate::expand::{ExpandError, expand};
use crate::form;
use crate::shape::{Field, Kind, Object, Presence, listed, nearest};
use crate::tree::{Entry, Node, NodeData};

/// The most bytes in all values after expansion.
const EXPANDED_BYTES_MAX: usize = 4 << 20;

/// Checks `root` as an `object`.
pub(crate) fn check(
    root: &Node,
    object: &'static Object,
    env: &dyn Fn(&str) -> Option<String>,
    problems: &mut Problems,
) -> Section {
    let mut check = Check {
        env,
        problems,
        bytes_left: EXPANDED_BYTES_MAX,
    };
    let path = Path::default();
    let entries = match &root.data {
        NodeData::Map(entries) => entries.as_slice(),
        NodeData::Empty => &[],
        NodeData::Scalar(_) | NodeData::List(_) => {
            check
                .problems
                .add(root.at, &path, "not a configuration")
                .expected(Kind::Object(object).expected());
            return Section {
                at: root.at,
                path,
                object,
                fields: Vec::new(),
            };
        }
    };
    check.object(entries, object, root.at, path)
}

struct Check<'a> {
    env: &'a dyn Fn(&str) -> Option<String>,
    problems: &'a mut Problems,
    bytes_left: usize,
}

impl Check<'_> {
    /// A mapping with known keys; `at` is where a missing key is reported.
    fn object(
        &mut self,
        entries: &[Entry],
        object: &'static Object,
        at: Mark,
        path: Path,
    ) -> Section {
        let mut fields = Vec::new();
        let mut misspelt = Vec::new();
        for entry in entries {
            match self.known(entry, object, &path) {
                Ok(field) => {
                    let value = self.field(entry, field, &path);
                    fields.push((field.name, value));
                }
                Err(near) => misspelt.extend(near),
            }
        }
        for field in object.fields {
            let there = fields.iter().any(|(name, _)| *name == field.name);
            // What was misspelt is not missing, and what it says is not known.
            if !there && misspelt.contains(&field.name) {
                let path = path.key(field.name);
                let data = Data::Broken;
                fields.push((field.name, Value { at, path, data }));
            } else if !there && let Some(value) = self.absent(field, at, &path) {
                fields.push((field.name, value));
            }
        }
        Section {
            at,
            path,
            object,
            fields,
        }
    }

    /// The field that `entry` stands for, or the known key that was probably meant.
    fn known(
        &mut self,
        entry: &Entry,
        object: &'static Object,
        path: &Path,
    ) -> Result<&'static Field, Option<&'static str>> {
        match object.field(&entry.key) {
            Some(Field {
                kind: Kind::Later, ..
            }) => {
                self.problems
                    .add(entry.key_at, &path.key(&entry.key), "is not supported yet")
                    .mend(format!("this version knows {}", known_keys(object)));
                Err(None)
            }
            Some(field) => Ok(field),
            None => {
                let problem = self
                    .problems
                    .add(entry.key_at, &path.key(&entry.key), "unknown key");
                let near = nearest(&entry.key, object.keys());
                problem.mend(match near {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("known here: {}", known_keys(object)),
                });
                Err(near)
            }
        }
    }

    fn field(&mut self, entry: &Entry, field: &'static Field, path: &Path) -> Value {
        let under = path.key(&entry.key);
        self.value(&entry.value, &field.kind, place(entry), under)
    }

    fn absent(&mut self, field: &'static Field, at: Mark, path: &Path) -> Option<Value> {
        match field.presence {
            Presence::Optional => None,
            Presence::Section => {
                let empty = Node {
                    at,
                    data: NodeData::Empty,
                };
                Some(self.value(&empty, &field.kind, at, path.key(field.name)))
            }
            Presence::Required => {
                self.problems
                    .add(at, path, format!("\"{}\" is missing", field.name))
                    .expected(field.kind.expected());
                Some(Value {
                    at,
                    path: path.key(field.name),
                    data: Data::Broken,
                })
            }
            Presence::Default(text) => Some(Value {
                at,
                path: path.key(field.name),
                data: form::scalar(text, text, &field.kind)
                    .expect("a test parses every default of the table"),
            }),
        }
    }

    fn value(&mut self, node: &Node, kind: &'static Kind, at: Mark, path: Path) -> Value {
        let kind = meant(kind, node);
        let data = match (&node.data, kind) {
            (NodeData::Map(entries), Kind::Object(object)) => {
                Data::Section(self.object(entries, object, at, path.clone()))
            }
            (NodeData::Empty, Kind::Object(object)) => {
                Data::Section(self.object(&[], object, at, path.clone()))
            }
            (NodeData::Map(entries), Kind::Map { of, .. }) => {
                Data::Map(self.map(entries, of, &path))
            }
            (NodeData::Map(entries), Kind::Pairs { of, .. }) => {
                Data::Map(self.pairs(entries, of, &path))
            }
            (NodeData::List(items), Kind::List(of)) => self.list(items, of, at, &path),
            (NodeData::Scalar(written), kind) => self.scalar(written, kind, at, &path),
            (NodeData::Empty, kind) => {
                self.problems
                    .add(at, &path, "has no value")
                    .expected(kind.expected())
                    .mend("write one, or remove the key");
                Data::Broken
            }
            (NodeData::Map(_), kind) => self.other(at, &path, "is a mapping", kind),
            (NodeData::List(_), kind) => self.other(at, &path, "is a list", kind),
        };
        Value { at, path, data }
    }

    fn other(&mut self, at: Mark, path: &Path, what: &str, kind: &Kind) -> Data {
        self.problems.add(at, path, what).expected(kind.expected());
        Data::Broken
    }

    fn map(&mut self, entries: &[Entry], of: &'static Object, path: &Path) -> Vec<Named> {
        let mut named = Vec::new();
        for entry in entries {
            let under = self.named(entry, path);
            let data = match &entry.value.data {
                NodeData::Map(entries) => {
                    Data::Section(self.object(entries, of, entry.key_at, under.clone()))
                }
                NodeData::Empty => Data::Section(self.object(&[], of, entry.key_at, under.clone())),
                NodeData::Scalar(_) => self.other(
                    entry.value.at,
                    &under,
                    "is a single value",
                    &Kind::Object(of),
                ),
                NodeData::List(_) => {
                    self.other(entry.key_at, &under, "is a list", &Kind::Object(of))
                }
            };
            named.push(Named {
                name: entry.key.clone(),
                at: entry.key_at,
                value: Value {
                    at: entry.key_at,
                    path: under,
                    data,
                },
            });
        }
        named
    }

    /// The path of an entry whose key is a name of the user's.
    fn named(&mut self, entry: &Entry, path: &Path) -> Path {
        let under = path.key(&entry.key);
        if let Err(why) = form::name(&entry.key) {
            self.problems
                .add(entry.key_at, &under, format!("cannot be a name: {why}"));
        }
        under
    }

    fn pairs(&mut self, entries: &[Entry], of: &'static Kind, path: &Path) -> Vec<Named> {
        let mut named = Vec::new();
        for entry in entries {
            let under = self.named(entry, path);
            let at = place(entry);
            named.push(Named {
                name: entry.key.clone(),
                at,
                value: self.value(&entry.value, of, at, under),
            });
        }
        named
    }

    fn list(&mut self, items: &[Node], of: &'static Kind, at: Mark, path: &Path) -> Data {
        if items.is_empty() {
            self.problems
                .add(at, path, "is an empty list")
                .mend("write at least one item, or remove the key");
            return Data::Broken;
        }
        let items = items.iter().enumerate();
        Data::List(
            items
                .map(|(index, item)| self.value(item, of, item.at, path.item(index)))
                .collect(),
        )
    }

    fn scalar(&mut self, written: &str, kind: &'static Kind, at: Mark, path: &Path) -> Data {
        let Some(text) = self.expanded(written, at, path) else {
            return Data::Broken;
        };
        // Only what stands in the file itself is ever shown; a mend may repeat the value.
        let from_env = *text != *written;
        let tells = |mend: &String| from_env && !text.is_empty() && mend.contains(&*text);
        match form::scalar(&text, written, kind) {
            Ok(data) => data,
            Err(wrong) => {
                let what = match kind {
                    // These may hold a secret, or were meant to hold several.
                    Kind::Secret
                    | Kind::SecretOrEmpty
                    | Kind::Url
                    | Kind::Webhook
                    | Kind::Prose(_)
                    | Kind::List(_) => wrong.what.to_owned(),
                    _ if text.is_empty() && from_env => {
                        format!("{} is empty", plain(written))
                    }
                    _ if text.is_empty() => "is empty".to_owned(),
                    _ => format!("{} {}", shown(written), wrong.what),
                };
                let problem = self.problems.add(at, path, what).expected(kind.expected());
                if let Some(mend) = wrong.mend.filter(|mend| !tells(mend)) {
                    problem.mend(mend);
                }
                Data::Broken
            }
        }
    }

    fn expanded<'t>(&mut self, written: &'t str, at: Mark, path: &Path) -> Option<Cow<'t, str>> {
        match expand(written, self.env) {
            Ok(text) => match self.bytes_left.checked_sub(text.len()) {
                Some(left) => {
                    self.bytes_left = left;
                    Some(text)
                }
                None => {
                    self.problems.add(
                        at,
                        path,
                        format!(
                            "all values together expand to more than {EXPANDED_BYTES_MAX} bytes"
                        ),
                    );
                    None
                }
            },
            Err(ExpandError::Unset(name)) => {
                self.problems
                    .add(
                        at,
                        path,
                        format!("the environment variable {name} is not set"),
                    )
                    .mend(format!("set it, or write ${{{name}:-default}}"));
                None
            }
            Err(ExpandError::Open) => {
                self.problems
                    .add(at, path, "\"${\" is not closed")
                    .mend("close it with \"}\", or write $${ for the characters themselves");
                None
            }
            Err(ExpandError::Name(name)) => {
                self.problems
                    .add(
                        at,
                        path,
                        format!("{} is not the name of a variable", shown(&name)),
                    )
                    .expected("letters, digits and underscores, like ${OPENAI_API_KEY}");
                None
            }
        }
    }
}

/// Where what `entry` says is reported: at a single value, else at its key.
const fn place(entry: &Entry) -> Mark {
    match &entry.value.data {
        NodeData::Map(_) | NodeData::List(_) | NodeData::Empty => entry.key_at,
        NodeData::Scalar(_) => entry.value.at,
    }
}

/// The alternative of `kind` that `node` was meant as; `kind` itself where it has none or none fits.
fn meant(kind: &'static Kind, node: &Node) -> &'static Kind {
    let Kind::OneOf(kinds) = kind else {
        return kind;
    };
    let NodeData::Map(entries) = &node.data else {
        let is_list = matches!(node.data, NodeData::List(_));
        let list = kinds.iter().find(|kind| matches!(kind, Kind::List(_)));
        return list.filter(|_| is_list).unwrap_or(kind);
    };
    let objects = kinds.iter().filter_map(|kind| match kind {
        Kind::Object(object) => Some((kind, object)),
        _ => None,
    });
    let known = |(_, object): &(&Kind, &&Object)| {
        let keys = entries.iter().map(|entry| entry.key.as_str());
        keys.filter(|key| object.field(key).is_some()).count()
    };
    let pairs = || kinds.iter().find(|kind| matches!(kind, Kind::Pairs { .. }));
    // The first of equals: `max_by_key` alone would give the last.
    let object = objects.rev().max_by_key(known).map(|(kind, _)| kind);
    object.or_else(pairs).unwrap_or(kind)
}

fn known_keys(object: &Object) -> String {
    listed(object.keys()).replace(" or ", " and ")
}
