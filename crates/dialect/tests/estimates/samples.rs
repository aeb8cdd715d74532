//! Texts of five kinds, drawn by seed: some to learn from, others to be judged by.
//!
//! Prose is drawn from paragraphs that were written for this; code and JSON are made. What is learned from and what is judged by
//! share no paragraph and no name.

/// Where a text is drawn from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Learned,
    HeldOut,
}

/// A kind of content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    English,
    Korean,
    Japanese,
    Code,
    Json,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] = [
        Self::English,
        Self::Korean,
        Self::Japanese,
        Self::Code,
        Self::Json,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Korean => "Korean",
            Self::Japanese => "Japanese",
            Self::Code => "code",
            Self::Json => "JSON",
        }
    }

    /// One text of this kind: some paragraphs, one or two functions, or a document.
    pub(crate) fn draw(self, part: Part, dice: &mut Dice) -> String {
        match self {
            Self::English => prose(
                include_str!("../../fixtures/text/paragraphs/english.txt"),
                part,
                dice,
            ),
            Self::Korean => prose(
                include_str!("../../fixtures/text/paragraphs/korean.txt"),
                part,
                dice,
            ),
            Self::Japanese => prose(
                include_str!("../../fixtures/text/paragraphs/japanese.txt"),
                part,
                dice,
            ),
            Self::Code => super::code::text(part, dice),
            Self::Json => super::data::document(part, dice),
        }
    }
}

/// Two to five paragraphs. Three lines in ten are learned from.
fn prose(lines: &str, part: Part, dice: &mut Dice) -> String {
    let lines: Vec<_> = lines.lines().enumerate().collect();
    let lines: Vec<_> = lines
        .iter()
        .filter(|(index, _)| (index % 10 < 3) == (part == Part::Learned))
        .map(|(_, line)| *line)
        .collect();
    let count = 2 + dice.below(4);
    let drawn: Vec<_> = (0..count).map(|_| dice.one_of(&lines)).collect();
    drawn.join("\n\n")
}

/// Chance by seed (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let drawn = u128::from(mixed) * (end as u128);
        usize::try_from(drawn >> 64).expect("it is below `end`")
    }

    pub(crate) fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
