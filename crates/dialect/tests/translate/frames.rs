//! Amazon's binary frames, as a test writes them: by a line of text each.

/// The stream that these lines tell of: `event TYPE JSON`, `exception TYPE JSON`, `error CODE TEXT`.
/// What is none of these becomes the payload of a frame without headers.
pub(crate) fn framed(lines: &[u8]) -> Vec<u8> {
    let lines = String::from_utf8_lossy(lines);
    let lines = lines.lines().filter(|line| !line.is_empty());
    lines.flat_map(frame_of_line).collect()
}

fn frame_of_line(line: &str) -> Vec<u8> {
    let mut words = line.splitn(3, ' ');
    let (kind, name) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let rest = words.next().unwrap_or("");
    let json = (":content-type", "application/json");
    let message = (":message-type", kind);
    match kind {
        "event" => frame(&[(":event-type", name), json, message], rest),
        "exception" => frame(&[(":exception-type", name), json, message], rest),
        "error" => frame(
            &[(":error-code", name), (":error-message", rest), message],
            "",
        ),
        _ => frame(&[], line),
    }
}

/// (<https://smithy.io/2.0/aws/amazon-eventstream.html>)
fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in headers {
        let value = &value[..value.floor_char_boundary(usize::from(u16::MAX))];
        bytes.push(u8::try_from(name.len()).expect("names are short"));
        bytes.extend(name.as_bytes());
        bytes.push(7);
        let length = u16::try_from(value.len()).expect("it was cut");
        bytes.extend(length.to_be_bytes());
        bytes.extend(value.as_bytes());
    }
    let word = |number: usize| u32::try_from(number).expect("it is small").to_be_bytes();
    let mut frame = [word(16 + bytes.len() + payload.len()), word(bytes.len())].concat();
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame.extend(bytes);
    frame.extend(payload.as_bytes());
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    frame
}
