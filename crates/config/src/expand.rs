//! `${NAME}` and `${NAME:-default}` in values.
//!
//! It owns the notation: `$${` stands for a literal `${`, and a default is also taken where the variable is set but empty,
//! as in a shell. It reads no environment: the caller looks names up.
//!
//! YAML gives braces and commas a meaning of their own inside `{ … }`, where `api_key: ${KEY}` would not parse. So
//! [`shield`] disguises each reference, character for character, before the YAML is read, and [`unshield`] brings it back
//! in the scalars: lines and columns stay as they are. Expanding in the text instead would let a variable's value change
//! the structure of the file.

use std::borrow::Cow;

/// Where the disguised ASCII characters live: the beginning of the private use area.
const SHIELD: u32 = 0xE000;

/// A character of the file that only [`shield`] may produce.
pub(crate) fn is_shielded(c: char) -> bool {
    (SHIELD..SHIELD + 0x80).contains(&u32::from(c))
}

/// `text` with each reference disguised.
pub(crate) fn shield(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let len = reference_len(rest).unwrap_or(1);
        if len == 1 {
            out.push('$');
        } else {
            out.extend(rest[..len].chars().map(disguised));
        }
        rest = &rest[len..];
    }
    out.push_str(rest);
    out
}

/// `text` as it was before [`shield`].
pub(crate) fn unshield(text: &str) -> String {
    text.chars()
        .map(|c| match u32::from(c).checked_sub(SHIELD) {
            Some(code) if is_shielded(c) => char::from_u32(code).unwrap_or(c),
            _ => c,
        })
        .collect()
}

fn disguised(c: char) -> char {
    if c.is_ascii() {
        char::from_u32(SHIELD + u32::from(c)).unwrap_or(c)
    } else {
        c
    }
}

/// The bytes of the complete reference, escaped or not, that `text` begins with. One with a quote or backslash in its
/// default is left to YAML, which may give these a meaning first.
fn reference_len(text: &str) -> Option<usize> {
    let dollars = if text.starts_with("$${") { 2 } else { 1 };
    let inner = text.get(dollars..)?.strip_prefix('{')?;
    let end = inner.find(['}', '\n', '\r', '"', '\'', '\\'])?;
    let name = &inner[..end];
    let name = name.split_once(":-").map_or(name, |(name, _)| name);
    (inner[end..].starts_with('}') && is_name(name)).then_some(dollars + 1 + end + 1)
}

/// Why a value cannot be expanded. Carries names, never values.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ExpandError {
    /// The variable is not set and there is no default.
    Unset(String),
    /// `${` without `}`.
    Open,
    /// Not a name of a variable.
    Name(String),
}

/// `written` with its references replaced by what `env` answers.
pub(crate) fn expand<'a>(
    written: &'a str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Cow<'a, str>, ExpandError> {
    if !written.contains("${") {
        return Ok(Cow::Borrowed(written));
    }
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find("${") {
        let before = &rest[..at];
        let inner = &rest[at + 2..];
        if let Some(before) = before.strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = inner;
            continue;
        }
        out.push_str(before);
        let end = inner.find('}').ok_or(ExpandError::Open)?;
        out.push_str(&value(&inner[..end], env)?);
        rest = &inner[end + 1..];
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

fn value(reference: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, ExpandError> {
    let (name, default) = match reference.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (reference, None),
    };
    if !is_name(name) {
        return Err(ExpandError::Name(name.to_owned()));
    }
    match (env(name), default) {
        (Some(value), Some(default)) if value.is_empty() => Ok(default.to_owned()),
        (Some(value), _) => Ok(value),
        (None, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(ExpandError::Unset(name.to_owned())),
    }
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "HOST" => Some("example.net".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn references_are_replaced() {
        let expanded = |text| expand(text, &env).map(Cow::into_owned);
        assert_eq!(
            expanded("https://${HOST}/v1"),
            Ok("https://example.net/v1".into())
        );
        assert_eq!(expanded("${NO:-a: b}${HOST}"), Ok("a: bexample.net".into()));
        assert_eq!(expanded("${EMPTY:-x}|${EMPTY}|"), Ok("x||".into()));
        assert_eq!(expanded("$${HOST} $HOST $"), Ok("${HOST} $HOST $".into()));
        assert_eq!(expanded("${NO}"), Err(ExpandError::Unset("NO".into())));
        assert_eq!(expanded("${NO"), Err(ExpandError::Open));
        assert_eq!(expanded("${1}"), Err(ExpandError::Name("1".into())));
    }

    #[test]
    fn a_shield_keeps_every_column_and_comes_off() {
        for text in [
            "a: ${KEY}, ${KEY:-x, y: [1] #}}",
            "$${KEY} $$ ${",
            "가${KEY:-나}다",
            "\"${A:-\\\"}\"",
            "$",
        ] {
            let shielded = shield(text);
            assert_eq!(shielded.chars().count(), text.chars().count());
            assert_eq!(unshield(&shielded), text);
        }
        assert!(
            !shield("{ a: ${KEY:-x, y} }")[3..]
                .trim_end_matches(" }")
                .contains(['{', ','])
        );
    }
}
