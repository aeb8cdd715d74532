//! What a text is made of, as far as its number of tokens depends on it.
//!
//! A tokenizer would be right and cost a hundred times more than the rest of a request. Counting
//! classes of bytes is near enough for an estimate that is settled later, and runs at memory speed:
//! the loops work on fixed lanes of bytes, which the compiler turns into vector instructions, and
//! short texts are gathered before they are counted. Scripts are told apart by the first byte of a
//! character alone.

use crate::json::{Cursor, Piece};

/// Counts of what a text is made of. Texts are added one after another; a word never spans two of
/// them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TextTally {
    /// Bytes of UTF-8.
    pub bytes: u64,
    /// Letters a to z, of either case.
    pub letters: u64,
    /// Runs of such letters.
    pub words: u64,
    /// Digits 0 to 9.
    pub digits: u64,
    /// Runs of digits.
    pub numbers: u64,
    /// Other visible ASCII characters.
    pub marks: u64,
    /// Runs of them.
    pub mark_runs: u64,
    /// Line feeds.
    pub lines: u64,
    /// Characters of two bytes: accented Latin, Greek, Cyrillic, Hebrew, Arabic.
    pub two_byte: u64,
    /// Kana and other characters of the block before the ideographs.
    pub kana: u64,
    /// Chinese, Japanese and Korean ideographs.
    pub ideographs: u64,
    /// Hangul syllables.
    pub hangul: u64,
    /// Other characters of three bytes: Thai, Indic scripts, typographic marks, full-width forms.
    pub three_byte: u64,
    /// Characters of four bytes: emoji and rare ideographs.
    pub four_byte: u64,
    /// Runs of characters that are not ASCII.
    pub wide_runs: u64,
}

impl TextTally {
    /// Adds `text`, which is UTF-8 (anything else is counted, but not meaningfully).
    pub fn add(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        self.count(BREAK, text);
    }

    /// Adds more of a text of which the last byte was `before`, 0 where it begins. Gives the last byte of it now.
    pub(crate) fn add_behind(&mut self, before: u8, text: &[u8]) -> u8 {
        self.bytes += text.len() as u64;
        self.count(before, text);
        text.last().copied().unwrap_or(before)
    }

    /// Counts all but the bytes of `text`, which follows on the byte `before`.
    fn count(&mut self, before: u8, text: &[u8]) {
        let Some((first, rest)) = text.split_first() else {
            return;
        };
        self.add_byte(before, *first);
        let (mut previous, mut current) = (text, rest);
        while current.len() >= LANES {
            // So many blocks fill no lane's counter.
            let blocks = (current.len() / LANES).min(usize::from(u8::MAX));
            let length = blocks * LANES;
            let (now, later) = current.split_at(length);
            self.add_blocks(&previous[..length], now);
            previous = &previous[length..];
            current = later;
        }
        for (before, byte) in previous.iter().zip(current) {
            self.add_byte(*before, *byte);
        }
    }

    fn add_blocks(&mut self, previous: &[u8], current: &[u8]) {
        let mut ascii = [[0_u8; LANES]; 7];
        let mut from = [[0_u8; LANES]; 8];
        let mut wide_runs = [0_u8; LANES];
        let pairs = previous
            .as_chunks::<LANES>()
            .0
            .iter()
            .zip(current.as_chunks::<LANES>().0);
        // One after the other, as both sets of counters together do not fit into a processor's vector registers.
        for (previous, current) in pairs.clone() {
            count_ascii(previous, current, &mut ascii);
        }
        if !current.is_ascii() {
            for (previous, current) in pairs {
                count_wide(previous, current, &mut from, &mut wide_runs);
            }
        }
        let sum = |lanes: &[u8; LANES]| lanes.iter().map(|count| u64::from(*count)).sum::<u64>();
        self.letters += sum(&ascii[0]);
        self.words += sum(&ascii[1]);
        self.digits += sum(&ascii[2]);
        self.numbers += sum(&ascii[3]);
        self.marks += sum(&ascii[4]);
        self.mark_runs += sum(&ascii[5]);
        self.lines += sum(&ascii[6]);
        let [wide, three, kana, ideographs, hangul, other, four, ascii] = from.each_ref().map(sum);
        self.two_byte += wide - three;
        self.kana += kana - ideographs;
        self.ideographs += ideographs - hangul;
        self.hangul += hangul - other;
        self.three_byte += (three - kana) + (other - four);
        self.four_byte += four - ascii;
        self.wide_runs += sum(&wide_runs);
    }

    fn add_byte(&mut self, before: u8, byte: u8) {
        let count = |condition: bool| u64::from(condition);
        self.letters += count(is_letter(byte));
        self.words += count(is_letter(byte) & !is_letter(before));
        self.digits += count(is_digit(byte));
        self.numbers += count(is_digit(byte) & !is_digit(before));
        self.marks += count(is_mark(byte));
        self.mark_runs += count(is_mark(byte) & !is_mark(before));
        self.lines += count(byte == b'\n');
        self.two_byte += count(within(byte, 0xc0, 0xdf));
        self.kana += count(byte == 0xe3);
        self.ideographs += count(within(byte, 0xe4, 0xe9));
        self.hangul += count(within(byte, 0xea, 0xed));
        self.three_byte += count(is_other_three_byte(byte));
        self.four_byte += count(byte >= 0xf0);
        self.wide_runs += count((byte >= 0x80) & (before < 0x80));
    }
}

/// Gathers texts that come in pieces and counts them together.
pub(crate) struct Gatherer {
    tally: TextTally,
    before: u8,
    gathered: usize,
    buffer: [u8; GATHERED_MAX],
}

impl Gatherer {
    pub(crate) fn new() -> Self {
        Self {
            tally: TextTally::default(),
            before: BREAK,
            gathered: 0,
            buffer: [0; GATHERED_MAX],
        }
    }

    /// Adds a piece of the current text.
    pub(crate) fn piece(&mut self, piece: &[u8]) {
        self.tally.bytes += piece.len() as u64;
        self.gather(piece);
    }

    /// The JSON string at hand, with its escapes undone, as a text of its own.
    pub(crate) fn json_string(&mut self, cursor: &mut Cursor<'_>) {
        cursor.pieces(|piece| match piece {
            Piece::Plain(text) => self.piece(text),
            Piece::Escaped(character) => {
                self.piece(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        });
        self.end_text();
    }

    /// Ends the current text: the next piece begins another.
    pub(crate) fn end_text(&mut self) {
        self.gather(&[BREAK]);
    }

    pub(crate) fn finish(mut self) -> TextTally {
        self.flush();
        self.tally
    }

    fn gather(&mut self, piece: &[u8]) {
        if self.gathered + piece.len() > GATHERED_MAX {
            self.flush();
        }
        if piece.len() > GATHERED_MAX {
            self.tally.count(self.before, piece);
            self.before = piece[piece.len() - 1];
        } else {
            self.buffer[self.gathered..][..piece.len()].copy_from_slice(piece);
            self.gathered += piece.len();
        }
    }

    fn flush(&mut self) {
        let gathered = &self.buffer[..self.gathered];
        self.tally.count(self.before, gathered);
        self.before = gathered.last().copied().unwrap_or(self.before);
        self.gathered = 0;
    }
}

/// A byte that is of no class and so ends every run.
const BREAK: u8 = 0;
/// Bytes that are gathered before they are counted.
const GATHERED_MAX: usize = 2_048;
/// Bytes that are counted at once.
const LANES: usize = 16;

#[inline]
fn count_ascii(previous: &[u8; LANES], current: &[u8; LANES], counts: &mut [[u8; LANES]; 7]) {
    let [letters, words, digits, numbers, marks, mark_runs, lines] = counts;
    for lane in 0..LANES {
        let (before, byte) = (previous[lane], current[lane]);
        letters[lane] += u8::from(is_letter(byte));
        words[lane] += u8::from(is_letter(byte) & !is_letter(before));
        digits[lane] += u8::from(is_digit(byte));
        numbers[lane] += u8::from(is_digit(byte) & !is_digit(before));
        marks[lane] += u8::from(is_mark(byte));
        mark_runs[lane] += u8::from(is_mark(byte) & !is_mark(before));
        lines[lane] += u8::from(byte == b'\n');
    }
}

/// Counts the bytes from the first one of each class on, in `from`, so that a class is the difference of two. Bytes compare as signed
/// numbers, for which there is one vector instruction: ASCII is above all others then, and counted with each.
#[inline]
fn count_wide(
    previous: &[u8; LANES],
    current: &[u8; LANES],
    from: &mut [[u8; LANES]; 8],
    runs: &mut [u8; LANES],
) {
    let is_from = |first: u8, byte: u8| u8::from(byte.cast_signed() >= first.cast_signed());
    let [wide, three, kana, ideographs, hangul, other, four, ascii] = from;
    for lane in 0..LANES {
        let (before, byte) = (previous[lane], current[lane]);
        wide[lane] += is_from(0xc0, byte);
        three[lane] += is_from(0xe0, byte);
        kana[lane] += is_from(0xe3, byte);
        ideographs[lane] += is_from(0xe4, byte);
        hangul[lane] += is_from(0xea, byte);
        other[lane] += is_from(0xee, byte);
        four[lane] += is_from(0xf0, byte);
        ascii[lane] += is_from(0, byte);
        runs[lane] += u8::from((byte >= 0x80) & (before < 0x80));
    }
}

const fn within(byte: u8, low: u8, high: u8) -> bool {
    byte.wrapping_sub(low) <= high - low
}

const fn is_letter(byte: u8) -> bool {
    within(byte | 0x20, b'a', b'z')
}

const fn is_digit(byte: u8) -> bool {
    within(byte, b'0', b'9')
}

const fn is_mark(byte: u8) -> bool {
    within(byte, b'!', b'~') & !is_letter(byte) & !is_digit(byte)
}

const fn is_other_three_byte(byte: u8) -> bool {
    within(byte, 0xe0, 0xe2) | within(byte, 0xee, 0xef)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally(text: &str) -> TextTally {
        let mut tally = TextTally::default();
        tally.add(text.as_bytes());
        tally
    }

    #[test]
    fn classes_and_runs_are_counted() {
        let expected = TextTally {
            bytes: 40,
            letters: 10,
            words: 3,
            digits: 4,
            numbers: 2,
            marks: 4,
            mark_runs: 3,
            lines: 1,
            two_byte: 1,
            hangul: 2,
            kana: 1,
            four_byte: 1,
            wide_runs: 4,
            ..TextTally::default()
        };
        // Letters in words: Hello, isX, ok; marks: `,` `!!` `_`.
        assert_eq!(tally("Hello, 123!! isX\n4_ok é 한국 ひ 😀"), expected);
        assert_eq!(tally("漢字、… Ａ").ideographs, 2);
        assert_eq!(tally("漢字、… Ａ").three_byte, 2);
    }

    proptest! {
        #[test]
        fn blocks_count_like_single_bytes(text in "[a-zA-Z0-9 .,\\n{}\"éж한글ひ漢😀]{0,300}", cut in 0_usize..300) {
            let mut expected = TextTally { bytes: text.len() as u64, ..TextTally::default() };
            let mut before = b' ';
            for byte in text.bytes() {
                expected.add_byte(before, byte);
                before = byte;
            }
            prop_assert_eq!(tally(&text), expected);

            let (head, tail) = text.as_bytes().split_at(cut.min(text.len()));
            let mut gatherer = Gatherer::new();
            gatherer.piece(head);
            gatherer.piece(tail);
            let parts = gatherer.finish();
            prop_assert_eq!(parts, expected);
        }

        #[test]
        fn gathered_texts_count_like_single_ones(texts in prop::collection::vec("[a-z0-9. 한]{0,90}", 0..90), long in 0_usize..5_000) {
            let mut expected = TextTally::default();
            let mut gatherer = Gatherer::new();
            for text in texts.into_iter().chain(["x1".repeat(long)]) {
                expected.add(text.as_bytes());
                gatherer.piece(text.as_bytes());
                gatherer.end_text();
            }
            prop_assert_eq!(gatherer.finish(), expected);
        }

        #[test]
        fn lanes_never_overflow(byte in prop::sample::select(vec![b'a', b'1', b'.', b'\n', 0xea_u8]), length in 8_000_usize..20_000) {
            let mut tally = TextTally::default();
            tally.add(&vec![byte; length]);
            let counted = tally.letters + tally.digits + tally.marks + tally.lines + tally.hangul;
            prop_assert_eq!(counted, length as u64);
        }
    }
}
