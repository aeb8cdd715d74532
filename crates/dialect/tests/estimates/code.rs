//! Made code: functions in four languages, with names that a programmer would give.

use super::samples::{Dice, Part};

/// Names of which the first half is learned from and the second judged by.
const THINGS: &[&str] = &[
    "order",
    "invoice",
    "buffer",
    "session",
    "packet",
    "cursor",
    "bucket",
    "thread",
    "window",
    "channel",
    "record",
    "token",
    "account",
    "schema",
    "handler",
    "client",
    "worker",
    "message",
    "filter",
    "vertex",
    "shader",
    "layout",
    "parser",
    "symbol",
    "ticket",
    "payment",
    "stream",
    "route",
    "frame",
    "index",
    "queue",
    "node",
    "panel",
    "column",
    "report",
    "header",
    "customer",
    "migration",
    "callback",
    "server",
    "scheduler",
    "event",
    "mask",
    "matrix",
    "texture",
    "margin",
    "lexer",
    "scope",
];
const DEEDS: &[&str] = &[
    "load",
    "parse",
    "merge",
    "flush",
    "update",
    "resolve",
    "compute",
    "validate",
    "insert",
    "collect",
    "encode",
    "dispatch",
    "normalize",
    "split",
    "retry",
    "expand",
    "read",
    "format",
    "join",
    "drain",
    "create",
    "lookup",
    "estimate",
    "verify",
    "remove",
    "group",
    "decode",
    "notify",
    "scale",
    "trim",
    "backoff",
    "reduce",
];
const TRAITS: &[&str] = &[
    "pending", "total", "last", "max", "active", "raw", "next", "cached", "parent", "local",
    "is_valid", "offset", "expired", "count", "first", "min", "enabled", "parsed", "previous",
    "shared", "child", "remote", "is_empty", "length",
];
const REMARKS: &[&str] = &[
    "Skip entries that were already handled.",
    "The caller holds the lock here.",
    "Fall back to the default when nothing matches",
    "Later(kim): remove once v2 is everywhere",
    "Rounds up, so that a partial page still counts.",
    "Returns nothing if the file is missing.",
    "see RFC 9110, section 8.3",
    "this is hot, keep it free of allocation",
    "Keep the order stable for the snapshot tests.",
    "Only one writer may be active at a time.",
    "An empty list means that everything is allowed",
    "Note: leaks a handle on windows",
    "Bounds were checked above.",
    "Retries are the business of the layer above.",
    "compare https://example.com/spec/v3#limits",
    "must not block, it runs on the event loop",
];

/// One to three functions.
pub(crate) fn text(part: Part, dice: &mut Dice) -> String {
    let language = dice.below(4);
    let functions: Vec<_> = (0..=dice.below(3))
        .map(|_| function(language, part, dice))
        .collect();
    functions.join("\n\n")
}

struct Names {
    deed: &'static str,
    thing: &'static str,
    other: &'static str,
    quality: &'static str,
    second: &'static str,
    number: usize,
}

fn half<T>(list: &'static [T], part: Part) -> &'static [T] {
    let (learned, held_out) = list.split_at(list.len() / 2);
    match part {
        Part::Learned => learned,
        Part::HeldOut => held_out,
    }
}

fn names(part: Part, dice: &mut Dice) -> Names {
    Names {
        deed: dice.one_of(half(DEEDS, part)),
        thing: dice.one_of(half(THINGS, part)),
        other: dice.one_of(half(THINGS, part)),
        quality: dice.one_of(half(TRAITS, part)),
        second: dice.one_of(half(TRAITS, part)),
        number: [0, 1, 2, 8, 16, 60, 100, 255, 404, 1_024, 3_600, 65_535][dice.below(12)],
    }
}

fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

fn function(language: usize, part: Part, dice: &mut Dice) -> String {
    let names = names(part, dice);
    let statements: Vec<_> = (0..2 + dice.below(5))
        .map(|_| statement(language, part, dice))
        .collect();
    let Names {
        deed,
        thing,
        other,
        quality,
        ..
    } = names;
    let big = capital(thing);
    let body = statements.join("\n");
    match language {
        0 => format!(
            "    pub(crate) fn {deed}_{thing}(&mut self, {other}: &{big}, {quality}: usize) -> Result<Option<{big}>, Error> {{\n{body}\n        Ok(None)\n    }}"
        ),
        1 => format!(
            "    def {deed}_{thing}(self, {other}: str, {quality}: int = 0) -> list[{big}]:\n        \"\"\"{}\"\"\"\n{body}\n        return {other}",
            dice.one_of(half(REMARKS, part))
        ),
        2 => format!(
            "export async function {deed}{big}({other}: string, {{ {quality} }}: {big}Options): Promise<{big}[]> {{\n{body}\n    return {other};\n}}"
        ),
        _ => format!(
            "func (s *{big}Store) {deed}{big}(ctx context.Context, {other} string) (*{big}, error) {{\n{body}\n\treturn nil, nil\n}}"
        ),
    }
}

fn statement(language: usize, part: Part, dice: &mut Dice) -> String {
    let Names {
        deed,
        thing,
        other,
        quality,
        second,
        number,
    } = names(part, dice);
    let big = capital(thing);
    let remark = dice.one_of(half(REMARKS, part));
    let choice = dice.below(6);
    match (language, choice) {
        (0, 0) => format!(
            "        // {remark}\n        let {thing} = self.{other}s.iter().filter(|{other}| {other}.{quality} > {number}).count();"
        ),
        (0, 1) => format!(
            "        if {other}.{quality}() && self.{second} != {number} {{\n            return Err(Error::{big}({quality}));\n        }}"
        ),
        (0, 2) => format!(
            "        for ({thing}, {other}) in self.{thing}s.iter_mut().enumerate() {{\n            *{other} += {deed}({thing}, {number})?;\n        }}"
        ),
        (0, 3) => format!(
            "        let {second} = match {other}.{quality} {{\n            Some({thing}) => {thing}.{deed}(),\n            None => {number},\n        }};"
        ),
        (0, 4) => {
            format!("        self.{thing}.{deed}(\"{other} {{}} has no {thing}\", {number}u64);")
        }
        (0, _) => format!(
            "        let {thing}: Vec<{big}> = Vec::with_capacity({number});\n        debug_assert!({thing}.len() <= self.{quality});"
        ),
        (1, 0) => format!(
            "        # {remark}\n        {thing} = [{other} for {other} in self.{other}s if {other}.{quality} > {number}]"
        ),
        (1, 1) => format!(
            "        if not {other} or self.{second} == {number}:\n            raise ValueError(f\"no {thing} for {{{other}!r}}\")"
        ),
        (1, 2) => format!(
            "        for i, {thing} in enumerate(self.{thing}s):\n            {thing}.{quality} = {deed}_{other}(i, {second}={number})"
        ),
        (1, 3) => format!(
            "        self.{quality} = {{k: v for k, v in {other}.items() if k not in (\"{thing}\", \"{second}\")}}"
        ),
        (1, 4) => format!(
            "        with open(self.{thing}_path, \"rb\") as f:\n            {thing} = json.load(f)[\"{quality}\"]"
        ),
        (1, _) => format!(
            "        logger.info(\"%s: {deed} of %d {thing}s took %.1f ms\", {other}, {number}, {second})"
        ),
        (2, 0) => format!(
            "    // {remark}\n    const {thing} = {other}s.filter(({other}) => {other}.{quality} > {number}).length;"
        ),
        (2, 1) => format!(
            "    if (!{other} || this.{second} === {number}) {{\n        throw new {big}Error(`no {thing} for ${{{other}}}`);\n    }}"
        ),
        (2, 2) => format!(
            "    for (const [i, {thing}] of {thing}s.entries()) {{\n        {thing}.{quality} = await {deed}{big}(i, {{ {second}: {number} }});\n    }}"
        ),
        (2, 3) => format!(
            "    const {{ {quality}, ...rest }} = await fetch(`/api/{thing}s/${{{other}}}`).then((r) => r.json());"
        ),
        (2, 4) => format!(
            "    return <div className=\"{thing}-{quality}\" onClick={{() => {deed}({number})}}>{{{other}.{second}}}</div>;"
        ),
        (2, _) => format!(
            "    const {thing}: Map<string, {big}> = new Map();\n    {thing}.set('{other}', {{ {quality}: {number}, {second}: null }});"
        ),
        (_, 0) => format!("\t// {remark}\n\t{thing}s := make([]{big}, 0, {number})"),
        (_, 1) => format!(
            "\tif {other} == \"\" || s.{quality} != {number} {{\n\t\treturn nil, fmt.Errorf(\"{deed} {thing}: %w\", err)\n\t}}"
        ),
        (_, 2) => format!(
            "\tfor i, {thing} := range s.{thing}s {{\n\t\t{thing}.{quality} += i * {number}\n\t}}"
        ),
        (_, 3) => {
            format!("\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\t{quality}, ok := s.{thing}s[{other}]")
        }
        (_, 4) => format!(
            "\trows, err := s.db.QueryContext(ctx, \"SELECT {quality}, {second} FROM {thing}s WHERE {other}_id = $1 LIMIT {number}\", {other})"
        ),
        (_, _) => format!(
            "\tselect {{\n\tcase {thing} := <-s.{other}s:\n\t\ts.{deed}({thing})\n\tcase <-ctx.Done():\n\t\treturn nil, ctx.Err()\n\t}}"
        ),
    }
}
