//! One scalar against its kind: text to a typed value, or why not.

use std::net::{Ipv4Addr, SocketAddr};

use sluicegate_core::BasisPoints;

use crate::Secret;
use crate::checked::{Data, Text};
use crate::errors::shown;
use crate::scalar::{self, Wrong};
use crate::shape::{Kind, Support, Word, nearest};

/// The longest name or other text, in bytes.
const TEXT_BYTES_MAX: usize = 4_096;
/// The longest text of several lines, in bytes.
const PROSE_BYTES_MAX: usize = 65_536;
/// The longest name that may be given to something, in characters.
const NAME_CHARS_MAX: usize = 128;

/// `text` as a `kind`; `written` is how it stands in the file.
pub(crate) fn scalar(text: &str, written: &str, kind: &Kind) -> Result<Data, Wrong> {
    match kind {
        Kind::Text(_) => free_text(text).map(|text| {
            Data::Text(Text {
                value: text.to_owned(),
                shown: shown(written),
            })
        }),
        Kind::Prose(_) => prose(text).map(|text| {
            Data::Text(Text {
                value: text.to_owned(),
                shown: shown(written),
            })
        }),
        Kind::SecretOrEmpty if text.is_empty() => Ok(Data::Secret(Secret::new(String::new()))),
        Kind::Secret | Kind::SecretOrEmpty => secret(text).map(Data::Secret),
        Kind::Url => url(text).map(Data::Url),
        Kind::UrlByRegion => url_by_region(text).map(Data::Url),
        Kind::Webhook => whole_url(text).map(|()| Data::Url(text.to_owned())),
        Kind::Address => address(text).map(Data::Address),
        Kind::Count { max } => within(scalar::count(text)?, 1, *max).map(Data::Count),
        Kind::Number { max } => within(scalar::count(text)?, 0, *max).map(Data::Count),
        Kind::Weight => scalar::weight(text).map(|thousandths| Data::Weight { thousandths }),
        Kind::Bytes { max } => within(scalar::bytes(text)?, 1, *max).map(Data::Bytes),
        Kind::Duration { min, max } => {
            let duration = scalar::duration(text)?;
            match (duration < *min, duration > *max) {
                (true, _) => Err(Wrong::new("is too short")),
                (_, true) => Err(Wrong::new("is too long")),
                _ => Ok(Data::Duration(duration)),
            }
        }
        Kind::Share => match scalar::share(text)? {
            BasisPoints::ZERO => Err(Wrong::new("leaves nothing")),
            share => Ok(Data::Share(share)),
        },
        Kind::ShareFromZero => scalar::share(text).map(Data::Share),
        Kind::Flag => scalar::flag(text).map(Data::Flag),
        Kind::Dollars => scalar::dollars(text).map(Data::Dollars),
        Kind::Word(words) => word(text, words).map(Data::Word),
        Kind::OneOf(kinds) => one_of(text, written, kinds),
        Kind::Object(_) | Kind::Map { .. } | Kind::Pairs { .. } | Kind::List(_) => {
            Err(Wrong::new("is a single value"))
        }
        Kind::Later => Err(Wrong::new("is not supported yet")),
    }
}

/// Whether `name` may be given to something: it appears in messages, metrics and requests.
pub(crate) fn name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        Err("it is empty")
    } else if name.chars().count() > NAME_CHARS_MAX {
        Err("it has more than 128 characters")
    } else if name.contains("${") {
        Err("names are not taken from the environment")
    } else if name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        Err("it contains a space or control character")
    } else {
        Ok(())
    }
}

/// The first alternative that `text` is, else the last complaint of one that is a single value.
fn one_of(text: &str, written: &str, kinds: &[Kind]) -> Result<Data, Wrong> {
    let mut wrong = Wrong::new("is a single value");
    for kind in kinds {
        if kind.holds_several() {
            continue;
        }
        match scalar(text, written, kind) {
            Ok(data) => return Ok(data),
            Err(this) => wrong = this,
        }
    }
    Err(wrong)
}

fn free_text(text: &str) -> Result<&str, Wrong> {
    if text.trim().is_empty() {
        Err(Wrong::new("is empty"))
    } else if text.len() > TEXT_BYTES_MAX {
        Err(Wrong::new("is too long"))
    } else if text.chars().any(char::is_control) {
        Err(Wrong::new("contains a line break or control character"))
    } else {
        Ok(text)
    }
}

/// Text in which lines may break.
fn prose(text: &str) -> Result<&str, Wrong> {
    let is_line_break = |c: char| matches!(c, '\n' | '\t');
    if text.trim().is_empty() {
        Err(Wrong::new("is empty"))
    } else if text.len() > PROSE_BYTES_MAX {
        Err(Wrong::new("is too long"))
    } else if text.chars().any(|c| c.is_control() && !is_line_break(c)) {
        Err(Wrong::new("contains a control character"))
    } else {
        Ok(text)
    }
}

/// A key goes into a header: visible ASCII only. The value appears in no message.
fn secret(text: &str) -> Result<Secret<String>, Wrong> {
    if text.is_empty() {
        Err(Wrong {
            what: "is empty",
            mend: Some("set the key, or remove the line if the upstream needs none".to_owned()),
        })
    } else if text.len() > TEXT_BYTES_MAX {
        Err(Wrong::new("is too long"))
    } else if text.bytes().all(|b| b.is_ascii_graphic()) {
        Ok(Secret::new(text.to_owned()))
    } else {
        Err(Wrong {
            what: "contains a space, line break or other character that no key has",
            mend: Some("look for a line break at the end of the variable or file".to_owned()),
        })
    }
}

/// A URL to which paths are appended. It may hold a password, so it appears in no message.
fn url(text: &str) -> Result<String, Wrong> {
    if text.contains(['?', '#']) {
        return Err(Wrong {
            what: "has a query or fragment",
            mend: Some("end it with the path".to_owned()),
        });
    }
    whole_url(text).map(|()| text.trim_end_matches('/').to_owned())
}

/// A URL that is whole once `{region}` is a region's name.
fn url_by_region(text: &str) -> Result<String, Wrong> {
    const PLACE: &str = "{region}";
    if !text.contains(PLACE) {
        return Err(Wrong {
            what: "has no place for a region",
            mend: Some("write {region} where its name goes, or the whole as base_url".to_owned()),
        });
    }
    url(&text.replace(PLACE, "region-1"))?;
    Ok(text.trim_end_matches('/').to_owned())
}

/// A URL that is used as it is.
fn whole_url(text: &str) -> Result<(), Wrong> {
    let wrong = |what, mend: &str| {
        Err(Wrong {
            what,
            mend: Some(mend.to_owned()),
        })
    };
    if text.contains('#') {
        return wrong("has a fragment", "remove it: nobody is sent it");
    }
    let Ok(uri) = text.parse::<http::Uri>() else {
        return Err(Wrong::new("is not a URL"));
    };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return wrong("is not a whole URL", "begin it with https:// and the host");
    };
    if !matches!(scheme, "http" | "https") {
        return wrong(
            "has a scheme other than http and https",
            "begin it with https://",
        );
    }
    if authority.as_str().contains('@') {
        return wrong(
            "has a user name or password in it",
            "give the key as api_key",
        );
    }
    let portless = authority.as_str() == authority.host();
    if authority.host().is_empty() || (!portless && authority.port_u16().is_none()) {
        return Err(Wrong::new("has no host or an impossible port"));
    }
    Ok(())
}

fn address(text: &str) -> Result<SocketAddr, Wrong> {
    let write = |address: String| {
        Err(Wrong {
            what: "is not an address",
            mend: Some(format!("write {address}")),
        })
    };
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    match text.rsplit_once(':') {
        Some(("localhost", port)) => match port.parse::<u16>() {
            Ok(port) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
            Err(_) => Err(Wrong::new("is not an address")),
        },
        Some(("" | "*", port)) if port.parse::<u16>().is_ok() => write(format!(
            "127.0.0.1:{port}, or 0.0.0.0:{port} for every interface"
        )),
        None if text.parse::<u16>().is_ok() => write(format!("127.0.0.1:{text}")),
        _ => Err(Wrong::new("is not an address")),
    }
}

fn word(text: &str, words: &[Word]) -> Result<&'static str, Wrong> {
    match words.iter().find(|word| word.name == text) {
        Some(word) if word.support == Support::Now => Ok(word.name),
        Some(_) => Err(Wrong::new("is not supported yet")),
        None => {
            let near = nearest(text, words.iter().map(|word| word.name));
            Err(Wrong {
                what: "is not one of the known words",
                mend: near.map(|near| format!("did you mean \"{near}\"?")),
            })
        }
    }
}

fn within(number: u64, min: u64, max: u64) -> Result<u64, Wrong> {
    if number < min {
        Err(Wrong::new("is too small"))
    } else if number > max {
        Err(Wrong::new("is too large"))
    } else {
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_a_host_and_nothing_to_hide() {
        assert_eq!(
            url("https://api.example.net/v1/").ok().as_deref(),
            Some("https://api.example.net/v1")
        );
        assert_eq!(
            url("http://[::1]:9000").ok().as_deref(),
            Some("http://[::1]:9000")
        );
        for bad in [
            "api.example.net/v1",
            "/v1",
            "ftp://example.net",
            "https://user:pass@example.net",
            "https://example.net/?key=1",
            "https://example.net/#a",
            "https://",
            "https://exa mple.net",
            "https://example.net:99999",
            "",
        ] {
            assert!(url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_url_by_region_is_one_with_a_region_in_its_place() {
        assert_eq!(
            url_by_region("https://llm.{region}.example.net/")
                .ok()
                .as_deref(),
            Some("https://llm.{region}.example.net")
        );
        for bad in [
            "https://llm.example.net",
            "llm.{region}.example.net",
            "https://llm.{regoin}.example.net",
            "https://llm.{region}.{x}.example.net",
            "https://llm.{region}.example.net/?a=b",
        ] {
            assert!(url_by_region(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_webhook_may_have_a_query() {
        assert!(whole_url("https://hooks.example.net/a?sig=1&v=2").is_ok());
        for bad in [
            "https://a.example/#b",
            "hooks.example.net/a?b=1",
            "https://u:p@a.example/?b",
        ] {
            assert!(whole_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn prose_has_lines_and_nothing_unseen() {
        assert!(prose("one\n\ttwo").is_ok());
        assert!(prose(&"x".repeat(PROSE_BYTES_MAX)).is_ok());
        for bad in [" \n", "a\u{7}", "a\r\n", &"x".repeat(PROSE_BYTES_MAX + 1)] {
            assert!(prose(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn addresses_are_numeric_or_localhost() {
        let parsed = |text| address(text).ok().map(|address| address.to_string());
        assert_eq!(parsed("0.0.0.0:80").as_deref(), Some("0.0.0.0:80"));
        assert_eq!(parsed("[::1]:80").as_deref(), Some("[::1]:80"));
        assert_eq!(parsed("localhost:80").as_deref(), Some("127.0.0.1:80"));
        assert_eq!(parsed("example.net:80"), None);
        let mend = |text| address(text).err().and_then(|wrong| wrong.mend);
        assert_eq!(mend("8080").as_deref(), Some("write 127.0.0.1:8080"));
        assert!(mend(":8080").is_some_and(|mend| mend.contains("0.0.0.0:8080")));
    }

    #[test]
    fn keys_fit_into_a_header() {
        assert!(secret("sk-abc_123").is_ok());
        for bad in ["", "a b", "a\n", "키"] {
            assert!(secret(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn names_are_short_and_visible() {
        assert!(
            name("qwen/qwen3:8b").is_ok() && name("한국").is_ok() && name(&"x".repeat(128)).is_ok()
        );
        for bad in ["", "a b", "a\tb", "${A}", &"x".repeat(129)] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
    }
}
