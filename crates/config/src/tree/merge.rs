//! Merge keys: `<<: *defaults` brings the keys of another mapping.

use std::collections::BTreeMap;

use super::{Entry, Node, NodeData};
use crate::errors::{Mark, Path, Problems};

/// Adds to the mapping `into`, which has the keys `seen`, what the value `from` of a merge key brings. Keys that stand in
/// the mapping itself, or came with an earlier merge, win.
pub(super) fn merge(
    from: Node,
    into: &mut Vec<Entry>,
    seen: &mut BTreeMap<String, Mark>,
    path: &Path,
    problems: &mut Problems,
) {
    match from.data {
        NodeData::Map(entries) => {
            for entry in entries {
                if !seen.contains_key(&entry.key) {
                    seen.insert(entry.key.clone(), entry.key_at);
                    into.push(entry);
                }
            }
        }
        NodeData::List(maps) if maps.iter().all(|map| matches!(map.data, NodeData::Map(_))) => {
            for map in maps {
                merge(map, into, seen, path, problems);
            }
        }
        _ => {
            problems
                .add(from.at, path, "a merge key (<<) without a mapping")
                .expected("an alias of a mapping, like `<<: *defaults`");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{flat, read_ok};

    #[test]
    fn merge_keys_give_way_to_the_mapping_s_own() {
        let root =
            read_ok("a: &a { x: 1, y: 2 }\nb: { y: 3, <<: *a }\nc: { <<: [*a, { z: 4, x: 5 }] }");
        assert_eq!(flat(&root), "{a={x=1 y=2} b={y=3 x=1} c={x=1 y=2 z=4}}");
    }
}
