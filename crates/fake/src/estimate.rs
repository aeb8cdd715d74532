//! How many tokens a text is, for the usage that the fake reports.
//!
//! Not the rule of charging (which counts bytes) but what a tokenizer would roughly say, by class of character. The densities
//! are measured averages of a large vocabulary, in hundredths of a token per character: English prose 0.18, Hangul 0.54,
//! kana 0.77, Han 0.79, emoji 1.6, hexadecimal 0.67. Coarse, fixed and of its own, so that a gateway's better estimate is
//! never compared with itself.

/// Tokens of `text`; zero only for an empty one.
pub(crate) fn tokens(text: &str) -> u64 {
    let mut hundredths = 0_u64;
    let mut word = Word::default();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            word.push(character);
            continue;
        }
        hundredths += std::mem::take(&mut word).hundredths();
        hundredths += match character {
            ' ' => 18,
            '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}' => 54,
            '\u{3040}'..='\u{30ff}' => 77,
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => 79,
            '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' => 160,
            '\u{200d}' | '\u{fe0f}' => 80,
            '\0'..='\x7f' => 60,
            _ => 50,
        };
    }
    hundredths += word.hundredths();
    hundredths.div_ceil(100)
}

/// A run of ASCII letters and digits: prose if it is all letters, else like a hexadecimal name.
#[derive(Default)]
struct Word {
    letters: u64,
    digits: u64,
}

impl Word {
    fn push(&mut self, character: char) {
        if character.is_ascii_digit() {
            self.digits += 1;
        } else {
            self.letters += 1;
        }
    }

    fn hundredths(self) -> u64 {
        match self.digits {
            0 => 18 * self.letters,
            _ => 67 * (self.letters + self.digits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_their_densities() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("hi"), 1);
        assert_eq!(tokens(&"abcd ".repeat(20)), 18);
        assert_eq!(tokens(&"가".repeat(100)), 54);
        assert_eq!(tokens(&"漢".repeat(100)), 79);
        assert_eq!(tokens(&"か".repeat(100)), 77);
        assert_eq!(tokens(&"🚀".repeat(100)), 160);
        assert_eq!(tokens(&"deadbeef42".repeat(10)), 67);
    }
}
