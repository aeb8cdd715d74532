//! Events as AWS frames them (`application/vnd.amazon.eventstream`): lengths, headers, payload, and checksums of each.

/// Headers of strings have this type.
const STRING: u8 = 7;

/// An event of type `name`.
pub(super) fn event(name: &str, payload: &str) -> Vec<u8> {
    message(
        &[
            (":event-type", name),
            (":content-type", "application/json"),
            (":message-type", "event"),
        ],
        payload.as_bytes(),
    )
}

/// An error that ends a stream.
pub(super) fn exception(name: &str, payload: &str) -> Vec<u8> {
    message(
        &[
            (":exception-type", name),
            (":content-type", "application/json"),
            (":message-type", "exception"),
        ],
        payload.as_bytes(),
    )
}

fn message(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        head.extend(name.as_bytes());
        head.push(STRING);
        head.extend(u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
        head.extend(value.as_bytes());
    }
    // The lengths themselves, their checksum and that of the whole are 16 bytes.
    let mut message = Vec::with_capacity(head.len() + payload.len() + 16);
    message.extend(length(head.len() + payload.len() + 16));
    message.extend(length(head.len()));
    message.extend(crc32(&message).to_be_bytes());
    message.extend(head);
    message.extend(payload);
    message.extend(crc32(&message).to_be_bytes());
    message
}

fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes()
}

/// The checksum of ISO 3309 (polynomial 0xEDB88320), bit by bit: frames are small.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn lengths_count_everything() {
        let message = event("messageStart", "{}");
        let number = |at: usize| u32::from_be_bytes(message[at..at + 4].try_into().unwrap());
        assert_eq!(number(0) as usize, message.len());
        let head = number(4) as usize;
        assert_eq!(&message[12 + head..message.len() - 4], b"{}");
        assert_eq!(number(8), crc32(&message[..8]));
        assert_eq!(
            number(message.len() - 4),
            crc32(&message[..message.len() - 4])
        );
        assert_eq!(&message[12..24], b"\x0b:event-type");
    }
}
