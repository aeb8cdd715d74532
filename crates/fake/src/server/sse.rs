//! How events of a stream are put on the wire, right or with the oddities of a fault.

use crate::fault::{Eol, Fault};

use super::framing::Place;

/// An event of type `name` with this `data`, preceded by a comment where the fault wants one.
pub(super) fn event(fault: &Fault, name: Option<&str>, data: &str, place: Place) -> String {
    let eol = eol(fault);
    let field = if fault.no_space { "data:" } else { "data: " };
    let mut lines = String::with_capacity(data.len() + 32);
    if fault.comments {
        lines.push_str(&comment(fault));
    }
    if let Some(name) = name {
        lines.push_str(&field.replace("data", "event"));
        lines.push_str(name);
        lines.push_str(eol);
    }
    lines.push_str(field);
    // Between two members a line end is only white space to JSON.
    match data.find(",\"").filter(|_| fault.two_lines) {
        Some(comma) => {
            lines.push_str(&data[..=comma]);
            lines.push_str(eol);
            lines.push_str(field);
            lines.push_str(&data[comma + 1..]);
        }
        None => lines.push_str(data),
    }
    lines.push_str(eol);
    if !place.is_last() || bool::from(fault.last_blank) {
        lines.push_str(eol);
    }
    lines
}

/// A comment, as servers send it to keep a connection alive.
pub(super) fn comment(fault: &Fault) -> String {
    let eol = eol(fault);
    format!(": keep-alive{eol}{eol}")
}

fn eol(fault: &Fault) -> &'static str {
    match fault.eol {
        Eol::Lf => "\n",
        Eol::Crlf => "\r\n",
        Eol::Cr => "\r",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: &str) -> Fault {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn events_are_framed_as_told() {
        let data = r#"{"a":1,"b":2}"#;
        for (json, framed) in [
            ("{}", "data: {\"a\":1,\"b\":2}\n\n"),
            (
                r#"{"eol":"crlf","no_space":true}"#,
                "data:{\"a\":1,\"b\":2}\r\n\r\n",
            ),
            (r#"{"eol":"cr"}"#, "data: {\"a\":1,\"b\":2}\r\r"),
            (
                r#"{"two_lines":true}"#,
                "data: {\"a\":1,\ndata: \"b\":2}\n\n",
            ),
            (
                r#"{"comments":true}"#,
                ": keep-alive\n\ndata: {\"a\":1,\"b\":2}\n\n",
            ),
            (r#"{"last_blank":false}"#, "data: {\"a\":1,\"b\":2}\n"),
        ] {
            assert_eq!(event(&fault(json), None, data, Place::Last), framed);
        }
        assert_eq!(
            event(
                &fault(r#"{"last_blank":false}"#),
                Some("ping"),
                "x",
                Place::Within
            ),
            "event: ping\ndata: x\n\n"
        );
    }
}
