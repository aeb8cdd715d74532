//! What media are called, hold and are found at, in the one form that every dialect writes.
//!
//! Checked where it is read, so that no writer meets a type that ends the head of a data URL, bytes that are none, or an address that
//! leads nowhere: what is written could not be read again, or would be refused by a provider that the client never chose. What cannot
//! be made into these is told by its place, like all that the canonical form cannot hold.

/// What bytes are, like `image/png`: in lower case, without parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MediaType(String);

impl MediaType {
    /// `None` where it is not two names with a `/` between them (RFC 6838).
    ///
    /// ```
    /// use sluicegate_dialect::canonical::MediaType;
    /// assert_eq!(MediaType::parse("Text/HTML; charset=utf-8").expect("a type").as_str(), "text/html");
    /// assert_eq!(MediaType::parse("png"), None);
    /// assert_eq!(MediaType::parse("au,io/wav"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let (essence, _) = text.split_once(';').unwrap_or((text, ""));
        let essence = essence.trim();
        let (kind, subtype) = essence.split_once('/')?;
        (is_name(kind) && is_name(subtype)).then(|| Self(essence.to_ascii_lowercase()))
    }

    /// What a document is of which nothing is said.
    pub(crate) fn pdf() -> Self {
        Self("application/pdf".to_owned())
    }

    /// The whole of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before and after the `/`.
    pub(crate) fn names(&self) -> (&str, &str) {
        let names = self.0.split_once('/');
        names.expect("a type is made with a '/' in it")
    }
}

/// The format of a sound, like `wav`: what stands behind the `/` of its media type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SoundFormat(String);

impl SoundFormat {
    /// In lower case; `None` where it cannot stand in a media type.
    pub fn parse(text: &str) -> Option<Self> {
        is_name(text).then(|| Self(text.to_ascii_lowercase()))
    }

    /// The format.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The longest name in a media type, in bytes (RFC 6838, 4.2).
const NAME_BYTES_MAX: usize = 127;

fn is_name(text: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_legal)
}

/// Bytes in base64: at least one, in the standard alphabet, padded, in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Base64(String);

impl Base64 {
    /// What is in the alphabet for URLs, as Google's SDK for Python writes it, unpadded or broken into lines means the same bytes, and
    /// is brought into the one form that all providers take. `None` where it is no base64, or nothing.
    ///
    /// ```
    /// use sluicegate_dialect::canonical::Base64;
    /// let parsed = |text: &str| Base64::parse(text.to_owned()).map(|data| data.as_str().to_owned());
    /// assert_eq!(parsed("-_8="), Some("+/8=".to_owned()));
    /// assert_eq!(parsed("QUJD\r\nRA"), Some("QUJDRA==".to_owned()));
    /// assert_eq!(parsed("https://a.example"), None);
    /// ```
    pub fn parse(text: String) -> Option<Self> {
        let mut text = if text.bytes().any(|byte| b"-_\r\n".contains(&byte)) {
            standard(&text)
        } else {
            text
        };
        let digits = text.trim_end_matches('=').len();
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
        let padding = text.len() - digits;
        text.truncate(digits);
        if digits == 0 || digits % 4 == 1 || padding > 2 || !text.bytes().all(is_digit) {
            return None;
        }
        text.extend(std::iter::repeat_n('=', (4 - digits % 4) % 4));
        Some(Self(text))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn standard(text: &str) -> String {
    let digits = text.chars().filter(|digit| !matches!(digit, '\r' | '\n'));
    let digits = digits.map(|digit| match digit {
        '-' => '+',
        '_' => '/',
        digit => digit,
    });
    digits.collect()
}

/// Where something lies that whoever answers has to load: an absolute URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address(String);

impl Address {
    /// `None` where it has no scheme, nothing behind it or white space in it, and for a `data:` URL, which leads to nothing but
    /// itself. Whether the scheme is one that the other side loads from is not asked.
    pub fn parse(text: String) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_legal)
            && !scheme.eq_ignore_ascii_case("data");
        let is_blank = |character: char| character.is_whitespace() || character.is_control();
        (is_scheme && !rest.is_empty() && !rest.contains(is_blank)).then_some(Self(text))
    }

    /// The URL as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_is_two_names() {
        let long = "a".repeat(128);
        for (text, expected) in [
            ("image/svg+xml", Some("image/svg+xml")),
            ("IMAGE/PNG", Some("image/png")),
            (" text/plain ;charset=utf-8", Some("text/plain")),
            ("", None),
            ("image/", None),
            ("/png", None),
            ("a/b/c", None),
            ("au,io/x-wav", None),
            ("a b/c", None),
            ("한/글", None),
            (&format!("a/{long}"), None),
        ] {
            let parsed = MediaType::parse(text);
            assert_eq!(parsed.as_ref().map(MediaType::as_str), expected, "{text}");
        }
    }

    #[test]
    fn a_format_can_stand_in_a_media_type() {
        for (text, expected) in [
            ("WAV", Some("wav")),
            ("", None),
            ("x/wav", None),
            ("m;p3", None),
        ] {
            let parsed = SoundFormat::parse(text);
            assert_eq!(parsed.as_ref().map(SoundFormat::as_str), expected, "{text}");
        }
    }

    #[test]
    fn base64_has_one_form() {
        for (text, expected) in [
            ("QUJD", Some("QUJD")),
            ("QQ==", Some("QQ==")),
            ("QQ", Some("QQ==")),
            ("QUI", Some("QUI=")),
            ("-_-_", Some("+/+/")),
            ("QU\nJD\r\n", Some("QUJD")),
            ("", None),
            ("=", None),
            ("\n", None),
            ("Q", None),
            ("QUJDR", None),
            ("QQ===", None),
            ("QQ==QQ==", None),
            ("QQ ==", None),
            ("data:,QQ", None),
            ("수문", None),
        ] {
            let parsed = Base64::parse(text.to_owned());
            assert_eq!(parsed.as_ref().map(Base64::as_str), expected, "{text}");
        }
    }

    #[test]
    fn an_address_leads_somewhere() {
        for (text, leads) in [
            ("https://a.example/수문.png?x=1", true),
            ("s3://bucket/a.pdf", true),
            ("", false),
            ("a.png", false),
            ("/a:b", false),
            ("https:", false),
            ("https://a.example/a b", false),
            ("https://a.example/\u{0}", false),
            (" https://a.example", false),
            ("data:image/png;base64,QQ==", false),
            ("DATA: ", false),
        ] {
            assert_eq!(Address::parse(text.to_owned()).is_some(), leads, "{text}");
        }
    }
}
