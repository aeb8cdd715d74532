//! Images, documents and sound as this dialect takes them: by bytes with a name of their format, or
//! by the place of an object in S3.

use super::wire::{Media, MediaSource};
use crate::canonical::{Base64, Feature, SoundFormat, Source};

/// What documents are called that have no name.
const NAME: &str = "document";
/// The longest name of a document, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// Formats that sound may have.
const SOUNDS: [&str; 15] = [
    "aac", "flac", "m4a", "mka", "mkv", "mp3", "mp4", "mpeg", "mpga", "ogg", "opus", "pcm", "wav",
    "webm", "x-aac",
];

/// # Errors
/// What cannot be said.
pub(super) fn image(source: &Source) -> Result<Media, Feature> {
    let (format, source) = match source {
        Source::Base64 { media_type, data } => {
            let format = match media_type.as_str() {
                "image/png" => "png",
                "image/jpeg" | "image/jpg" => "jpeg",
                "image/gif" => "gif",
                "image/webp" => "webp",
                _ => return Err(Feature::Images),
            };
            (format, MediaSource::Bytes(data.as_str().to_owned()))
        }
        Source::Url(url) => {
            let url = url.as_str();
            let format = match ending(url) {
                "png" => "png",
                "jpeg" | "jpg" => "jpeg",
                "gif" => "gif",
                "webp" => "webp",
                _ => return Err(Feature::Images),
            };
            (format, in_s3(url).ok_or(Feature::Images)?)
        }
        Source::File(_) => return Err(Feature::Files),
        Source::Text(_) => return Err(Feature::Images),
    };
    Ok(Media {
        format: format.to_owned(),
        name: None,
        source,
    })
}

/// A document, its name apart from those in `names`, to which it is added.
///
/// # Errors
/// What cannot be said.
pub(super) fn document(
    source: &Source,
    title: Option<&str>,
    names: &mut Vec<String>,
) -> Result<Media, Feature> {
    let (format, source) = match source {
        Source::Base64 { media_type, data } => {
            let format = format_of(media_type.as_str()).ok_or(Feature::Documents)?;
            (format, MediaSource::Bytes(data.as_str().to_owned()))
        }
        Source::Text(text) => ("txt", MediaSource::Text(text.clone())),
        Source::Url(url) => {
            let url = url.as_str();
            let formats = [
                "pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md",
            ];
            let mut formats = formats.into_iter();
            let format = formats.find(|format| *format == ending(url));
            let format = format.ok_or(Feature::Documents)?;
            (format, in_s3(url).ok_or(Feature::Documents)?)
        }
        Source::File(_) => return Err(Feature::Files),
    };
    Ok(Media {
        format: format.to_owned(),
        name: Some(name(title.unwrap_or(NAME), names)),
        source,
    })
}

/// # Errors
/// What cannot be said.
pub(super) fn audio(data: &Base64, format: &SoundFormat) -> Result<Media, Feature> {
    if !SOUNDS.contains(&format.as_str()) {
        return Err(Feature::Audio);
    }
    Ok(Media {
        format: format.as_str().to_owned(),
        name: None,
        source: MediaSource::Bytes(data.as_str().to_owned()),
    })
}

fn format_of(media_type: &str) -> Option<&'static str> {
    Some(match media_type {
        "application/pdf" => "pdf",
        "text/csv" => "csv",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "text/html" => "html",
        "text/plain" => "txt",
        "text/markdown" => "md",
        _ => return None,
    })
}

/// This dialect loads from nowhere else.
fn in_s3(url: &str) -> Option<MediaSource> {
    url.starts_with("s3://").then(|| MediaSource::S3Location {
        uri: url.to_owned(),
    })
}

fn ending(url: &str) -> &str {
    url.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// `title` with what a name may not hold replaced (letters, digits, single spaces, hyphens, round and
/// square brackets are left), and a number behind one that is taken: two documents of the same name
/// are refused.
fn name(title: &str, names: &mut Vec<String>) -> String {
    let mut name = String::new();
    for character in title.chars() {
        let is_legal = character.is_ascii_alphanumeric() || "-()[]".contains(character);
        let written = if is_legal {
            character
        } else if character.is_whitespace() {
            ' '
        } else {
            '-'
        };
        let repeats = written == ' ' && name.ends_with(' ');
        if !repeats && name.len() < NAME_BYTES_MAX - 16 {
            name.push(written);
        }
    }
    let is_bare = |name: &str| name.bytes().all(|byte| matches!(byte, b'-' | b' '));
    let name = if is_bare(&name) {
        NAME.to_owned()
    } else {
        name.trim().to_owned()
    };
    let mut unique = name.clone();
    for number in 2.. {
        if !names.contains(&unique) {
            break;
        }
        unique = format!("{name} ({number})");
    }
    names.push(unique.clone());
    unique
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{Address, MediaType};

    #[test]
    fn names_are_legal_and_apart() {
        let mut names = Vec::new();
        for (title, expected) in [
            ("levels.pdf", "levels-pdf"),
            ("levels-pdf", "levels-pdf (2)"),
            ("levels.pdf", "levels-pdf (3)"),
            ("a  b\t(1) [x]", "a b (1) [x]"),
            ("규칙", "document"),
            ("", "document (2)"),
        ] {
            assert_eq!(name(title, &mut names), expected, "{title}");
        }
        let long = name(&"a".repeat(999), &mut names);
        assert!(long.len() <= NAME_BYTES_MAX);
    }

    #[test]
    fn only_what_is_here_or_in_s3_can_be_said() {
        let data = || Base64::parse("QQ==".to_owned()).expect("base64");
        let base64 = |media_type: &str| Source::Base64 {
            media_type: MediaType::parse(media_type).expect("a type"),
            data: data(),
        };
        let url = |url: &str| Source::Url(Address::parse(url.to_owned()).expect("a URL"));
        let format = |media: Result<Media, Feature>| media.map(|media| media.format);
        assert_eq!(format(image(&base64("image/jpg"))), Ok("jpeg".to_owned()));
        assert_eq!(
            format(image(&url("s3://bucket/a.png"))),
            Ok("png".to_owned())
        );
        assert_eq!(format(image(&base64("image/tiff"))), Err(Feature::Images));
        assert_eq!(
            format(image(&url("https://x.example/a.png"))),
            Err(Feature::Images)
        );
        assert_eq!(
            format(image(&Source::File("f".to_owned()))),
            Err(Feature::Files)
        );
        let document = |source: &Source| format(document(source, None, &mut Vec::new()));
        assert_eq!(document(&base64("text/csv")), Ok("csv".to_owned()));
        assert_eq!(
            document(&Source::Text("t".to_owned())),
            Ok("txt".to_owned())
        );
        assert_eq!(document(&url("s3://b/a.pdf")), Ok("pdf".to_owned()));
        assert_eq!(document(&url("s3://b/a.exe")), Err(Feature::Documents));
        assert_eq!(document(&base64("image/png")), Err(Feature::Documents));
        let audio = |kind: &str| {
            let kind = SoundFormat::parse(kind).expect("a format");
            format(audio(&data(), &kind))
        };
        assert_eq!(audio("mp3"), Ok("mp3".to_owned()));
        assert_eq!(audio("midi"), Err(Feature::Audio));
    }
}
