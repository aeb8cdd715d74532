//! Which JSON Schemas of clients are used, and on what.
//!
//! A validator visits a part of a schema each time that something leads to it, so a schema of a few hundred bytes can take for ever:
//! references that double with each step, or a part that is true of itself. So a schema is unfolded first, with a budget, as the
//! validator would unfold it. What leads back into itself is used only on values that are too flat for that to matter. Addresses
//! are not followed: a reference is a place in the same schema.

use serde_json::Value;

/// Bytes of a schema.
const BYTES_MAX: usize = 256 * 1024;
/// Parts of a schema once every reference is replaced by what it names.
const PARTS_MAX: usize = 20_000;
/// Levels of the same.
const DEPTH_MAX: usize = 128;
/// Levels of the schema times those of the value, where a schema leads back into itself: what is on the stack at once.
const STACK_MAX: usize = 1_024;
/// Parts of the schema that are held against parts of the value: some tenths of a second at most.
const WORK_MAX: usize = 10_000_000;
/// Characters of a reference that are shown.
const SHOWN_CHARS_MAX: usize = 80;
/// Patterns of a schema.
const PATTERNS_MAX: usize = 64;

/// Why a schema is not used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Unfit {
    /// It may be one, but holding an answer against it may take for ever.
    Costly,
    /// It is none: what is wrong with it.
    Wrong(String),
}

/// What a schema may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cost {
    parts: usize,
    depth: usize,
    /// How many ways lead from a value to one member of it; `None` where no part leads back into itself, so that `parts` counts all.
    ways: Option<usize>,
}

/// How large a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Size {
    /// It, its members and theirs.
    parts: usize,
    /// 1 for a scalar.
    levels: usize,
}

impl Cost {
    /// Of `schema`, of which `text` is the text.
    pub(super) fn of(schema: &Value, text: &str) -> Result<Self, Unfit> {
        if text.len() > BYTES_MAX {
            return Err(Unfit::Costly);
        }
        let mut walk = Walk {
            root: schema,
            parts: 0,
            patterns: 0,
            depth: 0,
            ways: 1,
            recurs: false,
            open: Vec::new(),
        };
        walk.part(schema, 1)?;
        Ok(Self {
            parts: walk.parts,
            depth: walk.depth,
            ways: walk.recurs.then_some(walk.ways),
        })
    }

    /// Whether a value of that `size` may be held against it.
    pub(super) fn allows(self, size: Size) -> bool {
        let mut work = self.parts.saturating_mul(size.parts);
        if let Some(ways) = self.ways {
            if self.depth.saturating_mul(size.levels) > STACK_MAX {
                return false;
            }
            // The ways out of a part, and those that lead back to one.
            let exponent = u32::try_from(size.levels.saturating_mul(2)).unwrap_or(u32::MAX);
            work = work.saturating_mul(ways.saturating_pow(exponent));
        }
        work <= WORK_MAX
    }
}

impl Size {
    /// Of `value`, the depth of which is bounded by that of parsing.
    pub(super) fn of(value: &Value) -> Self {
        let mut size = Self::default();
        let mut add = |member: &Value| {
            let member = Self::of(member);
            size.parts += member.parts;
            size.levels = size.levels.max(member.levels);
        };
        match value {
            Value::Array(items) => items.iter().for_each(&mut add),
            Value::Object(members) => members.values().for_each(&mut add),
            _ => {}
        }
        Self {
            parts: size.parts + 1,
            levels: size.levels + 1,
        }
    }
}

struct Walk<'a> {
    root: &'a Value,
    parts: usize,
    patterns: usize,
    depth: usize,
    ways: usize,
    recurs: bool,
    /// References that are being unfolded, and whether a member of the value was gone into since.
    open: Vec<(&'a str, bool)>,
}

impl<'a> Walk<'a> {
    /// Ways from a value that meets `part` to one of its members.
    fn part(&mut self, part: &'a Value, depth: usize) -> Result<usize, Unfit> {
        self.parts += 1;
        self.depth = self.depth.max(depth);
        within_bounds(self.parts, depth)?;
        match part {
            Value::Array(parts) => {
                let mut ways = 0;
                for part in parts {
                    ways += self.part(part, depth + 1)?;
                }
                Ok(ways)
            }
            Value::Object(members) => {
                let mut ways = 0;
                for (keyword, value) in members {
                    ways += self.keyword(keyword, value, depth)?;
                }
                self.ways = self.ways.max(ways);
                Ok(ways)
            }
            _ => Ok(0),
        }
    }

    fn keyword(&mut self, keyword: &str, value: &'a Value, depth: usize) -> Result<usize, Unfit> {
        match (keyword, value) {
            ("$ref", Value::String(place)) => self.reference(place, depth),
            // These change what a reference means.
            ("$id" | "id" | "$dynamicRef" | "$recursiveRef", Value::String(_)) => {
                Err(Unfit::Costly)
            }
            // One way for all of them together: each is for other members.
            ("properties", Value::Object(parts)) => {
                parts
                    .values()
                    .try_for_each(|part| self.inside(part, depth + 1))?;
                Ok(1)
            }
            ("items" | "prefixItems", Value::Array(parts)) => {
                parts
                    .iter()
                    .try_for_each(|part| self.inside(part, depth + 1))?;
                Ok(1)
            }
            (
                "items"
                | "additionalProperties"
                | "additionalItems"
                | "contains"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "propertyNames",
                Value::Object(_),
            ) => {
                self.inside(value, depth)?;
                Ok(1)
            }
            ("patternProperties", Value::Object(parts)) => {
                self.patterns += parts.len();
                parts
                    .values()
                    .try_for_each(|part| self.inside(part, depth + 1))?;
                self.within_patterns(parts.len())
            }
            ("pattern", Value::String(_)) => {
                self.patterns += 1;
                self.within_patterns(0)
            }
            ("enum" | "const" | "default" | "examples" | "$defs" | "definitions", _) => {
                self.aside(value, depth)?;
                Ok(0)
            }
            (_, value) => self.part(value, depth + 1),
        }
    }

    /// What a member of the value has to be.
    fn inside(&mut self, part: &'a Value, depth: usize) -> Result<(), Unfit> {
        let gone_into: Vec<bool> = self.open.iter().map(|(_, inside)| *inside).collect();
        for (_, inside) in &mut self.open {
            *inside = true;
        }
        self.part(part, depth + 1)?;
        for ((_, inside), before) in self.open.iter_mut().zip(gone_into) {
            *inside = before;
        }
        Ok(())
    }

    /// What is unfolded where something leads to it, or is data: only its size counts.
    fn aside(&mut self, value: &Value, depth: usize) -> Result<(), Unfit> {
        let children: Vec<&Value> = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(members) => {
                let renames =
                    |name: &str| matches!(name, "$id" | "id" | "$dynamicRef" | "$recursiveRef");
                let has_own_base = members
                    .iter()
                    .any(|(name, value)| renames(name) && value.is_string());
                if has_own_base {
                    return Err(Unfit::Costly);
                }
                members.values().collect()
            }
            _ => Vec::new(),
        };
        self.parts += 1;
        within_bounds(self.parts, depth)?;
        children
            .into_iter()
            .try_for_each(|child| self.aside(child, depth + 1))
    }

    fn within_patterns(&self, ways: usize) -> Result<usize, Unfit> {
        if self.patterns > PATTERNS_MAX {
            return Err(Unfit::Costly);
        }
        Ok(ways)
    }

    fn reference(&mut self, place: &'a str, depth: usize) -> Result<usize, Unfit> {
        let shown: String = place.chars().take(SHOWN_CHARS_MAX).collect();
        let wrong = |why: &str| Unfit::Wrong(format!("its `$ref` {shown:?} {why}"));
        let pointer = place.strip_prefix('#');
        let pointer = pointer.ok_or_else(|| {
            wrong("is an address, and addresses are not followed: write `#/$defs/NAME`")
        })?;
        if pointer.contains('%') {
            return Err(Unfit::Costly);
        }
        let is_open = |(open, _): &&(&str, bool)| *open == place;
        if let Some((_, inside)) = self.open.iter().find(is_open) {
            // Where no member was gone into since, it is true of itself and never ends.
            self.recurs = true;
            return if *inside {
                Ok(1)
            } else {
                Err(wrong("leads back to itself and says nothing"))
            };
        }
        let named = self.root.pointer(pointer);
        let named = match named {
            Some(named) => named,
            // A name of an anchor, which is legal.
            None if !pointer.starts_with('/') => return Err(Unfit::Costly),
            None => return Err(wrong("leads nowhere in the schema")),
        };
        self.open.push((place, false));
        let ways = self.part(named, depth + 1)?;
        self.open.pop();
        Ok(ways)
    }
}

fn within_bounds(parts: usize, depth: usize) -> Result<(), Unfit> {
    if depth > DEPTH_MAX {
        return Err(too_deep());
    }
    if parts > PARTS_MAX {
        return Err(Unfit::Costly);
    }
    Ok(())
}

/// Of a schema that nobody means.
pub(super) fn too_deep() -> Unfit {
    Unfit::Wrong(format!(
        "it is nested deeper than {DEPTH_MAX} levels, references included"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(schema: &str) -> Result<Cost, Unfit> {
        let value = serde_json::from_str(schema).expect("JSON");
        Cost::of(&value, schema)
    }

    /// `allOf` of twice the next, `steps` times.
    fn doubling(steps: usize) -> String {
        let defs: Vec<String> = (0..steps)
            .map(|step| {
                let next = step + 1;
                format!(r##""d{step}":{{"allOf":[{{"$ref":"#/$defs/d{next}"}},{{"$ref":"#/$defs/d{next}"}}]}}"##)
            })
            .collect();
        format!(
            r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d{steps}":{{}}}}}}"##,
            defs.join(",")
        )
    }

    #[test]
    fn usual_schemas_are_used_and_those_made_to_be_slow_are_not() {
        let list =
            r##"{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}"##;
        for schema in [
            "{}".to_owned(),
            r#"{"type":"object","properties":{"id":{"type":"string"},"a":{"items":{"enum":["x"]}}}}"#.to_owned(),
            list.to_owned(),
            doubling(8),
        ] {
            assert!(cost(&schema).is_ok(), "{schema}");
        }
        for schema in [
            doubling(30),
            r#"{"$id":"https://schemas.example/a","items":{}}"#.to_owned(),
            r##"{"$defs":{"a":{"$id":"https://schemas.example/a"}},"items":{"$ref":"#/$defs/a"}}"##
                .to_owned(),
        ] {
            assert_eq!(cost(&schema), Err(Unfit::Costly), "{schema}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_reference_is_said() {
        for (schema, why) in [
            (
                r##"{"$ref":"#"}"##,
                "its `$ref` \"#\" leads back to itself and says nothing",
            ),
            (
                r##"{"allOf":[{"$ref":"#"}]}"##,
                "its `$ref` \"#\" leads back to itself and says nothing",
            ),
            (
                r##"{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"$ref":"#/$defs/a"}}}"##,
                "its `$ref` \"#/$defs/a\" leads back to itself and says nothing",
            ),
            (
                r#"{"items":{"$ref":"https://schemas.example/a.json"}}"#,
                "its `$ref` \"https://schemas.example/a.json\" is an address, and addresses are not followed: write `#/$defs/NAME`",
            ),
            (
                r##"{"$ref":"#/nowhere"}"##,
                "its `$ref` \"#/nowhere\" leads nowhere in the schema",
            ),
        ] {
            assert_eq!(cost(schema), Err(Unfit::Wrong(why.to_owned())), "{schema}");
        }
    }

    #[test]
    fn what_leads_back_into_itself_is_used_on_flat_values_only() {
        let list = r##"{"properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}"##;
        let list = cost(list).expect("a cost");
        let flat = |levels| Size { parts: 100, levels };
        assert!(list.allows(flat(60)));
        let twice =
            r##"{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}"##;
        let twice = cost(twice).expect("a cost");
        assert!(twice.allows(flat(6)));
        assert!(!twice.allows(flat(20)));
    }

    #[test]
    fn much_is_not_held_against_much() {
        let wide = format!(
            r#"{{"items":{{"allOf":[{}]}}}}"#,
            vec!["{}"; 10_000].join(",")
        );
        let wide = cost(&wide).expect("a cost");
        let items = |count: usize| Value::from(vec![0; count]);
        assert!(wide.allows(Size::of(&items(100))));
        assert!(!wide.allows(Size::of(&items(20_000))));
    }
}
