//! Where white space, strings and values end.

use memchr::memchr2;

/// Bytes of a string that are looked at one by one.
const SHORT_STRING: usize = 16;

pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// Behind the value that begins at `at`.
pub(super) fn skip_value(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => skip_string(text, at),
        b'{' | b'[' => skip_nested(text, at),
        b',' | b':' | b'}' | b']' => None,
        _ => {
            let ends =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            let length = text[at..].iter().position(ends);
            Some(length.map_or(text.len(), |length| at + length))
        }
    }
}

/// Behind the string that begins at `at`.
fn skip_string(text: &[u8], at: usize) -> Option<usize> {
    scan_string(text, at).map(|(end, _)| end)
}

/// Behind the string that begins at `at`, and whether there is an escape in it.
pub(super) fn scan_string(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let inner = text.get(at..)?.strip_prefix(b"\"")?;
    // Most strings are keys and short values, over before a vector search has begun.
    let short = inner
        .iter()
        .take(SHORT_STRING)
        .position(|byte| matches!(byte, b'"' | b'\\'));
    let mut from = at + 1 + short.unwrap_or(inner.len().min(SHORT_STRING));
    if short.is_some() && text[from] == b'"' {
        return Some((from + 1, false));
    }
    let mut escaped = false;
    loop {
        let found = from + memchr2(b'"', b'\\', text.get(from..)?)?;
        if text[found] == b'"' {
            return Some((found + 1, escaped));
        }
        escaped = true;
        from = found + 2;
    }
}

/// Behind the object or array that begins at `at`. Counts brackets of both kinds alike, which is
/// right for valid text.
fn skip_nested(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => {
                at = skip_string(text, at)?;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// The number that four hexadecimal digits at `at` stand for.
pub(super) fn hex4(text: &[u8], at: usize) -> Option<u32> {
    let mut unit = 0;
    for digit in text.get(at..at + 4)? {
        unit = unit * 16 + char::from(*digit).to_digit(16)?;
    }
    Some(unit)
}
