//! Cheap features of a text: how many words of which length, digits, punctuation, scripts.
//!
//! All are sums over the text, so a huge text can be fed piece by piece.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::merging::Merging;
use crate::unicode::Class;

/// A feature. Each is a count; the rows of the weight tables follow this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Feature {
    /// Words after a space, seven features by length: 1, 2, 3-4, 5-7, 8-10, 11-14, more.
    SpacedWord = 0,
    /// Words (and parts of camelCase words) after anything else, likewise seven.
    JoinedWord = 7,
    /// Runs of capitals.
    Capitals = 14,
    /// Letters in them.
    CapitalLetters = 15,
    /// Letters of a word past the fifteenth.
    LongWordLetters = 16,
    /// Digits.
    Digits = 17,
    /// Groups of up to three digits.
    DigitGroups = 18,
    /// Runs of digits.
    Numbers = 19,
    /// Runs of ASCII punctuation.
    PunctuationRuns = 20,
    /// Punctuation characters, a run of equal ones counted once.
    Punctuation = 21,
    /// Characters that repeat the one before, in runs with more than two such.
    RepeatedPunctuation = 22,
    /// The same, past the second of a run.
    LongPunctuation = 23,
    /// Line ends.
    LineEnds = 24,
    /// Runs of line ends that do not follow punctuation.
    LineEndRuns = 25,
    /// Indentations.
    Indents = 26,
    /// Spaces and tabs in them.
    IndentSpaces = 27,
    /// Runs of spaces inside a line.
    SpaceRuns = 28,
    /// Spaces in runs of more than sixteen.
    LongSpaces = 29,
    /// Runs of tabs.
    Tabs = 30,
    /// Characters by script, from here to `OtherSymbols`.
    Han = 31,
    Kana = 32,
    Hangul = 33,
    Cyrillic = 34,
    Greek = 35,
    Arabic = 36,
    Hebrew = 37,
    Thai = 38,
    Indic = 39,
    ExtendedLatin = 40,
    /// Letters of other scripts, in bytes.
    OtherLetters = 41,
    Marks = 42,
    Emoji = 43,
    Symbols = 44,
    /// Everything else beyond ASCII, in bytes.
    OtherSymbols = 45,
    /// Letters of random-looking runs (base64, hashes, identifiers).
    DenseLetters = 46,
    /// Digits of such runs.
    DenseDigits = 47,
    /// Switches between letters and digits or from small to capital letters.
    Switches = 48,
    /// ASCII control characters.
    Controls = 49,
    /// Carriage returns past the first of a run of line ends.
    Returns = 50,
    /// Words of the list of common ones (each one token in every vocabulary), after a space.
    SpacedCommon = 51,
    /// The same after anything else.
    JoinedCommon = 52,
    /// Symbols under the common merges, in words.
    MergedLetters = 53,
    /// The same in numbers.
    MergedDigits = 54,
    /// The same in punctuation.
    MergedPunctuation = 55,
    /// The same in white space.
    MergedSpaces = 56,
    /// The same beyond ASCII.
    MergedOthers = 57,
    /// One a text.
    Text = 58,
}

/// How many features there are.
pub(crate) const FEATURES: usize = 59;

/// What came before the piece at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Start,
    Space,
    Letter,
    Digit,
    Punctuation,
    LineEnd,
    Other,
}

/// Sums features over the pieces of one text.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    sums: [f64; FEATURES],
    before: Before,
    merging: Merging,
}

impl Features {
    /// Of an empty text.
    pub(crate) const fn new() -> Self {
        Self {
            sums: [0.0; FEATURES],
            before: Before::Start,
            merging: Merging::new(),
        }
    }

    /// The sums, in the order of [`Feature`].
    pub(crate) const fn sums(&self) -> &[f64; FEATURES] {
        &self.sums
    }

    /// Adds the next piece. A word cut by the border of two pieces counts as two words: a little
    /// more, never less.
    pub(crate) fn push(&mut self, text: &str) {
        let Self { sums, merging, .. } = self;
        merging.push(text, |feature, symbols| {
            sums[feature as usize] += f64::from(symbols);
        });
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            let rest = &bytes[at..];
            at += match first {
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => self.alphanumerics(rest),
                b' ' => self.spaces(rest),
                b'\n' | b'\r' => self.line_ends(rest),
                b'\t' => self.tabs(rest),
                b'!'..=b'~' => self.punctuation(rest),
                ..0x80 => {
                    self.add(Feature::Controls, 1);
                    self.before = Before::Other;
                    1
                }
                0x80.. => self.beyond_ascii(text[at..].chars().next().unwrap_or_default()),
            };
        }
    }

    fn add(&mut self, feature: Feature, count: usize) {
        self.add_at(feature as usize, count);
    }

    #[expect(clippy::cast_precision_loss, reason = "a count is far below 2^52")]
    fn add_at(&mut self, index: usize, count: usize) {
        self.sums[index] += count as f64;
    }

    fn alphanumerics(&mut self, rest: &[u8]) -> usize {
        let length = run(rest, |b| b.is_ascii_alphanumeric());
        let letters_and_digits = &rest[..length];
        let switches = letters_and_digits.windows(2).filter(|w| switch(w)).count();
        self.add(Feature::Switches, switches);
        if length >= 8 && switches * 5 >= length + 4 {
            let digits = letters_and_digits.iter().filter(|b| b.is_ascii_digit());
            let digits = digits.count();
            self.add(Feature::DenseDigits, digits);
            self.add(Feature::DenseLetters, length - digits);
        } else {
            let mut at = 0;
            while at < length {
                let rest = &letters_and_digits[at..];
                at += if rest[0].is_ascii_digit() {
                    self.number(rest)
                } else {
                    self.word(rest, at == 0 && self.before == Before::Space)
                };
            }
        }
        self.before = if rest[length - 1].is_ascii_digit() {
            Before::Digit
        } else {
            Before::Letter
        };
        length
    }

    fn number(&mut self, rest: &[u8]) -> usize {
        let length = run(rest, |b| b.is_ascii_digit());
        self.add(Feature::Digits, length);
        self.add(Feature::DigitGroups, length.div_ceil(3));
        self.add(Feature::Numbers, 1);
        length
    }

    /// A word as people write identifiers: `camel|Case`, `HTTP|Server`, `MAX`.
    fn word(&mut self, rest: &[u8], after_space: bool) -> usize {
        let capitals = run(rest, |b| b.is_ascii_uppercase());
        let small = run(&rest[capitals..], |b| b.is_ascii_lowercase());
        let length = capitals + small;
        // The last of several capitals before small letters begins the next word.
        let leading = match (capitals, small) {
            (0 | 1, _) => 0,
            (_, 0) => capitals,
            (_, _) => capitals - 1,
        };
        if leading > 0 {
            self.add(Feature::Capitals, 1);
            self.add(Feature::CapitalLetters, leading);
        }
        if leading == length {
            return length;
        }
        let word = length - leading;
        let spaced = after_space && leading == 0;
        if is_common(&rest[leading..length]) {
            let feature = if spaced {
                Feature::SpacedCommon
            } else {
                Feature::JoinedCommon
            };
            self.add(feature, 1);
            return length;
        }
        let base = if spaced {
            Feature::SpacedWord
        } else {
            Feature::JoinedWord
        };
        self.add_at(base as usize + length_class(word), 1);
        self.add(Feature::LongWordLetters, word.saturating_sub(15));
        length
    }

    fn spaces(&mut self, rest: &[u8]) -> usize {
        let length = run(rest, |b| b == b' ');
        if matches!(self.before, Before::LineEnd | Before::Start) {
            self.add(Feature::Indents, 1);
            self.add(Feature::IndentSpaces, length);
        } else if length > 1 {
            self.add(Feature::SpaceRuns, 1);
            if length > 16 {
                self.add(Feature::LongSpaces, length);
            }
        } else if matches!(rest.get(1), Some(b'0'..=b'9' | b'\n')) {
            // No word to join: sometimes a token of its own.
            self.sums[Feature::SpaceRuns as usize] += 0.5;
        }
        self.before = Before::Space;
        length
    }

    fn line_ends(&mut self, rest: &[u8]) -> usize {
        let length = run(rest, |b| matches!(b, b'\n' | b'\r'));
        self.add(Feature::LineEnds, length);
        let returns = rest[..length].iter().map(|b| usize::from(*b == b'\r'));
        let returns: usize = returns.sum();
        self.add(Feature::Returns, returns.saturating_sub(1));
        // Many vocabularies join a line end to the punctuation before it. (A line end before it was
        // cut off by the border of two pieces.)
        if !matches!(self.before, Before::Punctuation | Before::LineEnd) {
            self.add(Feature::LineEndRuns, 1);
        }
        self.before = Before::LineEnd;
        length
    }

    fn tabs(&mut self, rest: &[u8]) -> usize {
        let length = run(rest, |b| b == b'\t');
        self.add(Feature::Tabs, 1);
        if length > 1 {
            self.add(Feature::IndentSpaces, length);
        }
        self.before = Before::Space;
        length
    }

    fn punctuation(&mut self, rest: &[u8]) -> usize {
        let length = run(rest, |b| b.is_ascii_punctuation());
        let repeated = rest[..length].windows(2).filter(|w| w[0] == w[1]).count();
        self.add(Feature::PunctuationRuns, 1);
        self.add(Feature::Punctuation, length - repeated);
        if repeated > 2 {
            self.add(Feature::RepeatedPunctuation, repeated);
        }
        self.add(
            Feature::LongPunctuation,
            (length - repeated).saturating_sub(2),
        );
        self.before = Before::Punctuation;
        length
    }

    fn beyond_ascii(&mut self, c: char) -> usize {
        let class = Class::of(c);
        let length = c.len_utf8();
        let feature = script(c, class);
        let by_bytes = matches!(feature, Feature::OtherLetters | Feature::OtherSymbols);
        self.add(feature, if by_bytes { length } else { 1 });
        self.before = if class.is_letter() || class == Class::Mark {
            Before::Letter
        } else {
            Before::Punctuation
        };
        length
    }
}

/// Common English and programming words of 3 to 14 letters.
static COMMON: LazyLock<HashSet<&'static [u8]>> = LazyLock::new(|| {
    let words = include_str!("../../data/common-words.txt").split_ascii_whitespace();
    words.map(str::as_bytes).collect()
});

/// Whether a word is in the list, in small letters or with one capital.
fn is_common(word: &[u8]) -> bool {
    let mut small = [0; 14];
    let Some(small) = small.get_mut(..word.len()).filter(|_| word.len() >= 3) else {
        return false;
    };
    small.copy_from_slice(word);
    small.make_ascii_lowercase();
    COMMON.contains(&*small)
}

/// The length of the run of matching bytes at the start.
fn run(bytes: &[u8], matches: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|b| matches(**b)).count()
}

/// Whether the kind of character changes, other than from a capital to a small letter.
fn switch(pair: &[u8]) -> bool {
    let kind = |b: u8| match b {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let (a, b) = (kind(pair[0]), kind(pair[1]));
    a != b && (a, b) != (1, 2)
}

const fn length_class(letters: usize) -> usize {
    match letters {
        ..=1 => 0,
        2 => 1,
        3..=4 => 2,
        5..=7 => 3,
        8..=10 => 4,
        11..=14 => 5,
        15.. => 6,
    }
}

fn script(c: char, class: Class) -> Feature {
    match c as u32 {
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0x2_0000..0x3_2000 => return Feature::Han,
        0x3040..=0x30FF => return Feature::Kana,
        0xAC00..=0xD7AF | 0x1100..=0x11FF => return Feature::Hangul,
        _ => {}
    }
    if class == Class::Mark {
        return Feature::Marks;
    }
    if class.is_letter() {
        return match c as u32 {
            0x400..=0x52F => Feature::Cyrillic,
            0x370..=0x3FF => Feature::Greek,
            0x600..=0x6FF | 0x750..=0x77F => Feature::Arabic,
            0x590..=0x5FF => Feature::Hebrew,
            0xE00..=0xEFF => Feature::Thai,
            0x900..=0xDFF => Feature::Indic,
            0x80..=0x24F | 0x1E00..=0x1EFF => Feature::ExtendedLatin,
            _ => Feature::OtherLetters,
        };
    }
    if c >= '\u{1F000}' {
        return Feature::Emoji;
    }
    match class {
        Class::Symbol | Class::Punctuation => Feature::Symbols,
        _ => Feature::OtherSymbols,
    }
}
