//! Addresses that hold what they lead to (`data:` URLs), as several dialects write images and files.

use crate::canonical::{Address, Base64, MediaType, Source};

const SCHEME: &str = "data:";

/// An address, or what it holds where it is a data URL. `None` for one that is neither, or not in base64.
pub(crate) fn source(url: String) -> Option<Source> {
    if !is_data_url(&url) {
        return Address::parse(url).map(Source::Url);
    }
    let (head, data) = url[SCHEME.len()..].split_once(',')?;
    Some(Source::Base64 {
        media_type: MediaType::parse(head.strip_suffix(";base64")?)?,
        data: Base64::parse(data.to_owned())?,
    })
}

/// What a file's data hold: a data URL, or base64 alone, which is that of a PDF. `None` for anything else.
pub(crate) fn file(data: String) -> Option<Source> {
    if is_data_url(&data) {
        return source(data);
    }
    Some(Source::Base64 {
        media_type: MediaType::pdf(),
        data: Base64::parse(data)?,
    })
}

fn is_data_url(url: &str) -> bool {
    let scheme = url.get(..SCHEME.len());
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME))
}

/// The address that holds these bytes.
pub(crate) fn data_url(media_type: &MediaType, data: &Base64) -> String {
    format!("{SCHEME}{};base64,{}", media_type.as_str(), data.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The media type and the data of what is here, or the address.
    fn told(source: Option<Source>) -> Option<(String, String)> {
        match source? {
            Source::Base64 { media_type, data } => {
                Some((media_type.as_str().to_owned(), data.as_str().to_owned()))
            }
            Source::Url(url) => Some((String::new(), url.as_str().to_owned())),
            Source::Text(_) | Source::File(_) => None,
        }
    }

    #[test]
    fn data_urls_are_taken_apart() {
        for (url, expected) in [
            ("data:image/png;base64,AA==", Some(("image/png", "AA=="))),
            ("DATA:Image/PNG;base64,AA==", Some(("image/png", "AA=="))),
            (
                "data:text/plain;charset=utf-8;base64,QQ",
                Some(("text/plain", "QQ==")),
            ),
            ("https://a.example/x", Some(("", "https://a.example/x"))),
            ("data:text/plain,A", None),
            ("data:;base64", None),
            ("data:;base64,QQ==", None),
            ("data:image/png;base64,", None),
            ("data:image/png;base64,<svg/>", None),
            ("data: image,x/png;base64,QQ==", None),
            ("", None),
            ("수문", None),
        ] {
            let expected = expected.map(|(kind, data)| (kind.to_owned(), data.to_owned()));
            assert_eq!(told(source(url.to_owned())), expected, "{url}");
        }
    }

    #[test]
    fn the_data_of_a_file_may_be_a_pdf_alone() {
        let pdf = |data: &str| Some(("application/pdf".to_owned(), data.to_owned()));
        assert_eq!(told(file("JVBERi0xLjQ=".to_owned())), pdf("JVBERi0xLjQ="));
        let csv = "data:text/csv;base64,YSxi".to_owned();
        assert_eq!(
            told(file(csv)),
            Some(("text/csv".to_owned(), "YSxi".to_owned()))
        );
        for none in ["", "https://a.example/a.pdf", "data:application/pdf"] {
            assert_eq!(told(file(none.to_owned())), None, "{none}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let media_type = MediaType::parse("image/svg+xml").expect("a type");
        let data = Base64::parse("QQ".to_owned()).expect("base64");
        let url = data_url(&media_type, &data);
        assert_eq!(url, "data:image/svg+xml;base64,QQ==");
        assert_eq!(source(url), Some(Source::Base64 { media_type, data }));
    }
}
