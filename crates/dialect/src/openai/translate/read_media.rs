//! What a model made besides text, in answers of OpenAI and those who follow it.

use serde_json::value::RawValue;

use super::wire;
use crate::canonical::{Base64, Part, SoundFormat};
use crate::data_url::source;
use crate::lenient;

/// What base64 of a WAVE file begins with.
const WAVE: &str = "UklGR";

/// The images of a message; none where they are no list of parts with addresses.
pub(super) fn images(list: Option<&RawValue>) -> Vec<Part> {
    let parts: Option<Vec<wire::Part>> = list.and_then(read);
    parts.into_iter().flatten().filter_map(image).collect()
}

/// The image that `part` is.
pub(super) fn image(part: wire::Part) -> Option<Part> {
    source(part.image_url?.url).map(Part::Image)
}

/// The words of what is said aloud.
pub(super) fn transcript(audio: Option<&RawValue>) -> Option<String> {
    let audio: wire::Audio = audio.and_then(read)?;
    audio.transcript.filter(|text| !text.is_empty())
}

/// What is said aloud. The answer does not name its format, which the request chose.
pub(super) fn sound(audio: Option<&RawValue>) -> Option<Part> {
    let audio: wire::Audio = audio.and_then(read)?;
    let format = if audio.data.starts_with(WAVE) {
        "wav"
    } else {
        "mp3"
    };
    Some(Part::Audio {
        data: Base64::parse(audio.data)?,
        format: SoundFormat::parse(format)?,
    })
}

fn read<T: serde::de::DeserializeOwned>(raw: &RawValue) -> Option<T> {
    lenient::from_slice(raw.get().as_bytes()).ok()
}
