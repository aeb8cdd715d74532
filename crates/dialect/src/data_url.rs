//! Addresses that hold what they lead to (`data:` URLs), as several dialects write images and files.

use crate::canonical::Source;

/// An address, or what it holds where it is a data URL. `None` for one that is not in base64.
pub(crate) fn source(url: String) -> Option<Source> {
    let Some(inline) = url.strip_prefix("data:") else {
        return Some(Source::Url(url));
    };
    let (head, data) = inline.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?;
    let media_type = media_type
        .split_once(';')
        .map_or(media_type, |(kind, _)| kind);
    Some(Source::Base64 {
        media_type: media_type.to_owned(),
        data: data.to_owned(),
    })
}

/// The address that holds these bytes, which are in base64. A media type that is none would end the head too early, and tells nothing.
pub(crate) fn data_url(media_type: &str, data: &str) -> String {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-/".contains(&byte);
    let media_type = if media_type.bytes().all(is_legal) {
        media_type
    } else {
        "application/octet-stream"
    };
    format!("data:{media_type};base64,{data}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_that_is_none_does_not_end_the_head() {
        assert_eq!(
            data_url("image/svg+xml", "QQ"),
            "data:image/svg+xml;base64,QQ"
        );
        for none in ["au,io/x-wav", "a b/c", "text/plain;x"] {
            assert_eq!(
                data_url(none, "QQ"),
                "data:application/octet-stream;base64,QQ"
            );
        }
    }

    #[test]
    fn data_urls_are_taken_apart() {
        let base64 = |media_type: &str, data: &str| {
            Some(Source::Base64 {
                media_type: media_type.to_owned(),
                data: data.to_owned(),
            })
        };
        let source = |url: &str| source(url.to_owned());
        assert_eq!(
            source("data:image/png;base64,AA=="),
            base64("image/png", "AA==")
        );
        assert_eq!(
            source("data:text/plain;charset=utf-8;base64,QQ"),
            base64("text/plain", "QQ")
        );
        assert_eq!(source("data:text/plain,A"), None);
        assert_eq!(source("data:;base64"), None);
        assert_eq!(
            source("https://a.example/x"),
            Some(Source::Url("https://a.example/x".to_owned()))
        );
    }
}
