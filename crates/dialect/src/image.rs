//! How large an image is, and how many tokens that makes.
//!
//! Size stands in the first bytes of each common format, or in JPEG behind a few segments that name their length: so an image in
//! base64 is never decoded, only the bytes that are looked at. Formulas are those that providers publish; where none is known, or
//! no size, an image counts as one of usual size.

use memchr::memmem;
use sluicegate_catalog::ImageFormula;

/// The tokens that the images of a request make, by each formula that is published.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ImageTokens {
    /// By tiles of 512 pixels after scaling to 2,048 and 768: OpenAI's.
    pub tiles: u64,
    /// By area, a token for 750 pixels: Anthropic's.
    pub area: u64,
    /// By tiles of 768 pixels, 258 each: Google's.
    pub crops: u64,
}

/// One image of unknown size: 765 is what OpenAI's formula makes of a square megapixel.
const USUAL: ImageTokens = ImageTokens {
    tiles: 765,
    area: 1_600,
    crops: 258,
};

impl ImageTokens {
    /// Those of one image of `size`, where it is known, that is asked to be looked at in `detail` or briefly.
    pub fn of(size: Option<ImageSize>, detail: Detail) -> Self {
        let mut tokens = size.map_or(USUAL, |size| Self {
            tiles: size.tiles(),
            area: size.area(),
            crops: size.crops(),
        });
        if detail == Detail::Low {
            tokens.tiles = TILES_BASE;
        }
        tokens
    }

    /// By `formula`.
    pub const fn by(&self, formula: ImageFormula) -> u64 {
        match formula {
            ImageFormula::Tiles => self.tiles,
            ImageFormula::Area => self.area,
            ImageFormula::Crops => self.crops,
        }
    }

    /// Those of both.
    pub(crate) fn add(&mut self, other: Self) {
        self.tiles = self.tiles.saturating_add(other.tiles);
        self.area = self.area.saturating_add(other.area);
        self.crops = self.crops.saturating_add(other.crops);
    }
}

/// What a URL says before its data is no longer than that.
const HEAD_MAX: usize = 128;

/// How closely an image is to be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// Briefly, at a small size.
    Low,
    /// As it is, also where nothing is said.
    #[default]
    High,
}

/// What an image costs before its tiles, and each tile (OpenAI, vision guide: 85 and 170).
const TILES_BASE: u64 = 85;
const TILE: u64 = 170;

/// In pixels, none of them zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageSize {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

impl ImageSize {
    /// Of the image that stands in `url` itself; `None` where it only leads to one.
    pub fn of_url(url: &[u8]) -> Option<Self> {
        const MARK: &[u8] = b";base64,";
        let head = &url[..url.len().min(HEAD_MAX)];
        let at = memmem::find(head, MARK)?;
        Self::of_base64(&url[at + MARK.len()..])
    }

    /// Of the image in `base64`: PNG, GIF, WebP or JPEG.
    ///
    /// ```
    /// use sluicegate_dialect::ImageSize;
    /// let png = b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAACCAYAAACZgbYn";
    /// assert_eq!(ImageSize::of_base64(png), Some(ImageSize { width: 1, height: 2 }));
    /// assert_eq!(ImageSize::of_base64(b"AAAA"), None);
    /// ```
    pub fn of_base64(base64: &[u8]) -> Option<Self> {
        let image = Encoded(base64);
        let (width, height) = match image.bytes(0)? {
            [0x89, b'P', b'N', b'G'] => (big(image.bytes(16)?), big(image.bytes(20)?)),
            [b'G', b'I', b'F', b'8'] => {
                let [w0, w1, h0, h1] = image.bytes(6)?;
                (little([w0, w1, 0, 0]), little([h0, h1, 0, 0]))
            }
            [b'R', b'I', b'F', b'F'] => webp(image)?,
            [0xff, 0xd8, ..] => jpeg(image)?,
            _ => return None,
        };
        (width > 0 && height > 0).then_some(Self { width, height })
    }

    fn sides(self) -> (u64, u64) {
        let (width, height) = (u64::from(self.width), u64::from(self.height));
        (width.min(height), width.max(height))
    }

    fn tiles(self) -> u64 {
        let (mut short, mut long) = self.sides();
        if long > 2_048 {
            (short, long) = ((short * 2_048).div_ceil(long), 2_048);
        }
        if short > 768 {
            (short, long) = (768, (long * 768).div_ceil(short));
        }
        TILES_BASE + TILE * short.div_ceil(512) * long.div_ceil(512)
    }

    /// Larger ones than 1,568 pixels or some 1,600 tokens are made smaller first (Anthropic, vision guide).
    fn area(self) -> u64 {
        let (mut short, mut long) = self.sides();
        if long > 1_568 {
            (short, long) = ((short * 1_568).div_ceil(long), 1_568);
        }
        (short * long).div_ceil(750).min(USUAL.area)
    }

    /// Up to 384 pixels it is one tile; else tiles of two thirds of the shorter side, 256 to 768 pixels (Google, image guide).
    fn crops(self) -> u64 {
        const CROP: u64 = 258;
        let (short, long) = self.sides();
        if long <= 384 {
            return CROP;
        }
        let side = (short * 2 / 3).clamp(256, 768);
        CROP * short.div_ceil(side) * long.div_ceil(side)
    }
}

fn big(bytes: [u8; 4]) -> u32 {
    u32::from_be_bytes(bytes)
}

fn little(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes)
}

/// Its three forms: lossy, lossless, extended.
fn webp(image: Encoded<'_>) -> Option<(u32, u32)> {
    match image.bytes(12)? {
        [b'V', b'P', b'8', b' '] => {
            let [w0, w1, h0, h1] = image.bytes(26)?;
            let side = |low, high| little([low, high, 0, 0]) & 0x3fff;
            Some((side(w0, w1), side(h0, h1)))
        }
        [b'V', b'P', b'8', b'L'] => {
            let bits = little(image.bytes(21)?);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        [b'V', b'P', b'8', b'X'] => {
            let side = |at| Some((little(image.bytes(at)?) & 0x00ff_ffff) + 1);
            Some((side(24)?, side(27)?))
        }
        _ => None,
    }
}

/// So many segments are passed over at most: what comes before the frame is a handful.
const SEGMENTS_MAX: usize = 64;

fn jpeg(image: Encoded<'_>) -> Option<(u32, u32)> {
    let mut at = 2;
    for _ in 0..SEGMENTS_MAX {
        let [0xff, marker, high, low] = image.bytes(at)? else {
            return None;
        };
        // Frames are C0 to CF but for tables (C4, CC) and an extension (C8).
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let [h0, h1, w0, w1] = image.bytes(at + 5)?;
            return Some((big([0, 0, w0, w1]), big([0, 0, h0, h1])));
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
    None
}

/// Bytes in base64, of which any may be looked at.
#[derive(Clone, Copy)]
struct Encoded<'a>(&'a [u8]);

impl Encoded<'_> {
    /// Four bytes from `at` on.
    fn bytes(self, at: usize) -> Option<[u8; 4]> {
        Some([
            self.byte(at)?,
            self.byte(at + 1)?,
            self.byte(at + 2)?,
            self.byte(at + 3)?,
        ])
    }

    fn byte(self, at: usize) -> Option<u8> {
        let bit = at % 3 * 8;
        let first = at / 3 * 4 + bit / 6;
        let pair = (u16::from(self.digit(first)?) << 6) | u16::from(self.digit(first + 1)?);
        // A byte begins at bit 0, 2 or 4 of its first digit.
        let [_, byte] = (pair >> (4 - bit % 6)).to_be_bytes();
        Some(byte)
    }

    fn digit(self, at: usize) -> Option<u8> {
        match *self.0.get(at)? {
            digit @ b'A'..=b'Z' => Some(digit - b'A'),
            digit @ b'a'..=b'z' => Some(digit - b'a' + 26),
            digit @ b'0'..=b'9' => Some(digit - b'0' + 52),
            b'+' | b'-' => Some(62),
            b'/' | b'_' => Some(63),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn base64(bytes: &[u8]) -> Vec<u8> {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = Vec::new();
        for three in bytes.chunks(3) {
            let at = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
            let bits = (at(0) << 16) | (at(1) << 8) | at(2);
            for digit in 0..=three.len() {
                let place = (bits >> (18 - 6 * digit)) & 63;
                text.push(DIGITS[usize::try_from(place).expect("six bits")]);
            }
        }
        text
    }

    fn size(width: u32, height: u32) -> ImageSize {
        ImageSize { width, height }
    }

    #[test]
    fn each_format_says_its_size() {
        let mut jpeg = vec![0xff, 0xd8, 0xff, 0xe1, 0x01, 0x00];
        jpeg.resize(4 + 256, 7);
        jpeg.extend([
            0xff, 0xc4, 0, 3, 1, 0xff, 0xc2, 0, 17, 8, 0x03, 0x00, 0x04, 0x00, 3,
        ]);
        let mut lossy = b"RIFF....WEBPVP8 ....".to_vec();
        lossy.extend([0, 0, 0, 0x9d, 0x01, 0x2a, 0x80, 0x42, 0xe0, 0x01]);
        let mut extended = b"RIFF....WEBPVP8X".to_vec();
        extended.extend([10, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x03, 0, 0xff, 0x02, 0, 0]);
        let mut lossless = b"RIFF....WEBPVP8L....\x2f".to_vec();
        lossless.extend(((1_024_u32 - 1) | ((768 - 1) << 14)).to_le_bytes());
        let cases = [
            (jpeg, size(1_024, 768)),
            (b"GIF89a\x00\x04\x00\x03".to_vec(), size(1_024, 768)),
            (lossy, size(640, 480)),
            (extended, size(1_024, 768)),
            (lossless, size(1_024, 768)),
        ];
        for (bytes, expected) in cases {
            assert_eq!(
                ImageSize::of_base64(&base64(&bytes)),
                Some(expected),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn formulas_are_the_published_ones() {
        // OpenAI's and Anthropic's own examples.
        assert_eq!(size(1_024, 1_024).tiles(), 765);
        assert_eq!(size(2_048, 4_096).tiles(), 1_105);
        assert_eq!(
            ImageTokens::of(Some(size(4_096, 8_192)), Detail::Low).tiles,
            85
        );
        assert_eq!(size(200, 200).area(), 54);
        assert_eq!(size(1_000, 1_000).area(), 1_334);
        assert_eq!(size(8_000, 8_000).area(), 1_600);
        assert_eq!(size(384, 300).crops(), 258);
        assert_eq!(size(960, 540).crops(), 258 * 6);
        assert_eq!(ImageTokens::of(None, Detail::High), USUAL);
    }

    proptest! {
        #[test]
        fn no_bytes_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), head in prop::sample::select(vec![&b"\xff\xd8\xff"[..], b"RIFF....WEBPVP8", b"GIF8", b"\x89PNG", b""])) {
            let image = [head, &bytes].concat();
            if let Some(size) = ImageSize::of_base64(&base64(&image)) {
                let tokens = ImageTokens::of(Some(size), Detail::High);
                prop_assert!(tokens.tiles > 0 && tokens.area > 0 && tokens.crops > 0);
            }
            ImageSize::of_base64(&image);
        }
    }
}
