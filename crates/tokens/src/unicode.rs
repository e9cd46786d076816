//! The character classes tokenizers split text by, as of Unicode 16.
//!
//! The version matters: Hugging Face's tokenizers behave as Unicode 16, and a table one version off
//! miscounts emoji and new letters. The table is a two-stage lookup made from the `regex-syntax`
//! crate's data; a test compares every code point with it.

/// `0x1100` little-endian block numbers, then blocks of 256 classes.
static TABLE: &[u8; INDEX_BYTES + BLOCK_BYTES] = include_bytes!("../data/unicode16.bin");

const INDEX_BYTES: usize = 0x1100 * 2;
const BLOCK_BYTES: usize = 155 * 256;

/// The class of a character. The order matters: letters first, white space last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Class {
    /// Everything else: control, format, unassigned, private use.
    Other,
    /// `\p{Lu}`
    Upper,
    /// `\p{Lt}`
    Title,
    /// `\p{Ll}`
    Lower,
    /// `\p{Lm}`
    Modifier,
    /// `\p{Lo}`
    OtherLetter,
    /// `\p{M}`
    Mark,
    /// `\p{N}`
    Number,
    /// `\p{P}`
    Punctuation,
    /// `\p{S}`
    Symbol,
    /// `\s` other than the two below.
    Space,
    /// Carriage return.
    Return,
    /// Line feed.
    Newline,
}

const CLASSES: [Class; 13] = [
    Class::Other,
    Class::Upper,
    Class::Title,
    Class::Lower,
    Class::Modifier,
    Class::OtherLetter,
    Class::Mark,
    Class::Number,
    Class::Punctuation,
    Class::Symbol,
    Class::Space,
    Class::Return,
    Class::Newline,
];

/// The classes of ASCII, which is most of all text, found in one step.
static ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut code: usize = 0;
    while code < classes.len() {
        classes[code] = Class::in_table(code);
        code += 1;
    }
    classes
};

impl Class {
    /// The class of a character.
    #[inline]
    pub(crate) fn of(c: char) -> Self {
        let code = c as usize;
        match ASCII.get(code) {
            Some(class) => *class,
            None => Self::in_table(code),
        }
    }

    const fn in_table(code: usize) -> Self {
        let index = (code >> 8) * 2;
        let block = u16::from_le_bytes([TABLE[index], TABLE[index + 1]]) as usize;
        CLASSES[TABLE[INDEX_BYTES + (block << 8) + (code & 0xFF)] as usize]
    }

    /// `\p{L}`
    #[inline]
    pub(crate) fn is_letter(self) -> bool {
        (Self::Upper..=Self::OtherLetter).contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir;

    use super::{BLOCK_BYTES, CLASSES, Class, INDEX_BYTES, TABLE};

    /// The class of each code point by the regex syntax crate's Unicode tables.
    fn reference() -> Vec<Class> {
        let mut classes = vec![Class::Other; 0x11_0000];
        for (class, pattern) in [
            (Class::Upper, r"\p{Lu}"),
            (Class::Title, r"\p{Lt}"),
            (Class::Lower, r"\p{Ll}"),
            (Class::Modifier, r"\p{Lm}"),
            (Class::OtherLetter, r"\p{Lo}"),
            (Class::Mark, r"\p{M}"),
            (Class::Number, r"\p{N}"),
            (Class::Punctuation, r"\p{P}"),
            (Class::Symbol, r"\p{S}"),
            (Class::Space, r"\s"),
            (Class::Return, r"\r"),
            (Class::Newline, r"\n"),
        ] {
            match regex_syntax::parse(pattern).unwrap().kind() {
                hir::HirKind::Class(hir::Class::Unicode(set)) => {
                    for range in set.ranges() {
                        classes[range.start() as usize..=range.end() as usize].fill(class);
                    }
                }
                hir::HirKind::Literal(text) => classes[usize::from(text.0[0])] = class,
                other => panic!("{pattern} is {other:?}"),
            }
        }
        classes
    }

    /// The table's bytes: block numbers, then the distinct blocks in the order they appear.
    fn two_stage(classes: &[Class]) -> Vec<u8> {
        let mut blocks: Vec<&[Class]> = Vec::new();
        let mut index = Vec::new();
        for block in classes.chunks(256) {
            let at = blocks.iter().position(|known| *known == block);
            let at = at.unwrap_or_else(|| {
                blocks.push(block);
                blocks.len() - 1
            });
            index.extend(u16::try_from(at).unwrap().to_le_bytes());
        }
        index.extend(blocks.concat().iter().map(|class| *class as u8));
        index
    }

    #[test]
    fn the_table_is_unicode_16() {
        let table = two_stage(&reference());
        if std::env::var("SNAPSHOTS").is_ok_and(|mode| mode == "overwrite") {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/unicode16.bin");
            std::fs::write(path, &table).unwrap();
        }
        assert_eq!(table.len(), INDEX_BYTES + BLOCK_BYTES);
        assert!(table == TABLE, "run with SNAPSHOTS=overwrite to rewrite it");
    }

    #[test]
    fn classes_are_found_by_their_number() {
        for (number, class) in CLASSES.into_iter().enumerate() {
            assert_eq!(class as usize, number);
        }
        for (c, class) in [
            ('A', Class::Upper),
            ('ß', Class::Lower),
            ('ǅ', Class::Title),
            ('ー', Class::Modifier),
            ('中', Class::OtherLetter),
            ('\u{301}', Class::Mark),
            ('½', Class::Number),
            ('_', Class::Punctuation),
            ('😀', Class::Symbol),
            ('\u{3000}', Class::Space),
            ('\r', Class::Return),
            ('\n', Class::Newline),
            ('\0', Class::Other),
        ] {
            assert_eq!(Class::of(c), class, "{c:?}");
        }
        assert!(Class::of('é').is_letter() && !Class::of('1').is_letter());
    }
}
