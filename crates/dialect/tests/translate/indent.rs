//! JSON over lines, its members in the order in which they were written.

pub(crate) fn indented(json: &[u8]) -> String {
    let text = std::str::from_utf8(json).expect("what is written is UTF-8");
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for character in text.chars() {
        if in_string {
            out.push(character);
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match character {
            '{' | '[' => {
                depth += 1;
                out.push(character);
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if out.trim_end().ends_with(['{', '[']) {
                    out.truncate(out.trim_end().len());
                } else {
                    new_line(&mut out, depth);
                }
                out.push(character);
            }
            ',' => {
                out.push(character);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            character if character.is_whitespace() => {}
            character => {
                in_string = character == '"';
                out.push(character);
            }
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
}
