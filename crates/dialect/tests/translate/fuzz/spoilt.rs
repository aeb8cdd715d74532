//! Texts spoilt by seed: byte by byte, piece by piece and by pieces of each other.

/// Changes to one text.
const CHANGES_MAX: u64 = 6;
/// The longest text.
const BYTES_MAX: usize = 16 << 10;

/// One text of the corpus with some changes.
pub(super) fn spoilt(corpus: &[Vec<u8>], draws: &mut Seed) -> Vec<u8> {
    let mut text = draws.pick(corpus).clone();
    for _ in 0..draws.below(CHANGES_MAX + 1) {
        let at = draws.place(text.len() + 1);
        let end = (at + draws.place(64)).min(text.len());
        match draws.below(7) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
            2 => {
                let token = *draws.pick(&TOKENS);
                text.splice(at..end, token.iter().copied());
            }
            3 => {
                let token = *draws.pick(&TOKENS);
                text.splice(at..at, token.iter().copied());
            }
            4 => {
                let other = draws.pick(corpus);
                let from = draws.place(other.len() + 1);
                let piece = &other[from..(from + draws.place(256)).min(other.len())];
                text.splice(at..end, piece.iter().copied());
            }
            5 => text.truncate(at),
            _ => {
                if let Some(byte) = text.get_mut(at) {
                    *byte = draws.below(256).to_le_bytes()[0];
                }
            }
        }
    }
    text.truncate(BYTES_MAX);
    text
}

/// What breaks readers.
const TOKENS: [&[u8]; 36] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b":",
    b",",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"\\ud83d",
    b"\\u0000",
    b"\xf0\x9f",
    b"\xff",
    b"\n\n",
    b"\r",
    b"\r\n\r\n",
    b"data: ",
    b"event: error\n",
    b": \n",
    b"[DONE]",
    b"{}",
    b"[[[[[[[[",
    b"\"type\":\"tool_use\",",
    b"\"index\":4294967295,",
    b"\"content\":[],",
    b"\"usage\":{},",
    b"\"id\":\"\",",
    b"\"input\":7,",
    b"\"type\":\"function_call\",",
    b"\"output_index\":1,",
    b"\"encrypted_content\":\"sealed#\",",
    b"event: response.completed\n",
];

/// A generator that is small, portable and good enough (splitmix64).
pub(super) struct Seed(u64);

impl Seed {
    pub(super) fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn place(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).expect("it is below a usize")
    }

    pub(super) fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.place(choices.len())]
    }

    /// Where a text of that length is cut, its ends included.
    pub(super) fn cuts(&mut self, length: usize) -> Vec<usize> {
        let mut cuts: Vec<_> = (0..self.below(12))
            .map(|_| self.place(length + 1))
            .collect();
        cuts.extend([0, length]);
        cuts.sort_unstable();
        cuts
    }
}
