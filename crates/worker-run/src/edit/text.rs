//! What kind of file it is, and its text with `\n` line ends over the original bytes.

/// Why a file is not text that can be edited or shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotText {
    /// It holds NUL bytes or is a known binary format.
    #[error("a binary file ({kind}, {bytes} bytes)")]
    Binary {
        /// A guess at the format.
        kind: &'static str,
        /// Its size.
        bytes: usize,
    },
    /// UTF-16 with a byte order mark.
    #[error(
        "UTF-16 text ({bytes} bytes); convert it with `iconv -f UTF-16 -t UTF-8` to work on it"
    )]
    Utf16 {
        /// Its size.
        bytes: usize,
    },
    /// Text in another encoding.
    #[error(
        "not valid UTF-8 (first bad byte at {at}, {bytes} bytes); use sed or a script with bash to change only what you mean"
    )]
    NotUtf8 {
        /// Where the first bad byte stands.
        at: usize,
        /// Its size.
        bytes: usize,
    },
}

/// A text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    /// Whether it starts with a UTF-8 byte order mark.
    pub(crate) bom: bool,
    /// Its text without the mark, with the line ends it has.
    pub(crate) raw: String,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl TextFile {
    /// Reads the bytes of a file.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NotText> {
        let size = bytes.len();
        if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
            return Err(NotText::Utf16 { bytes: size });
        }
        if let Some(kind) = magic(bytes) {
            return Err(NotText::Binary { kind, bytes: size });
        }
        let (bom, body) = match bytes.strip_prefix(BOM) {
            Some(body) => (true, body),
            None => (false, bytes),
        };
        if body.contains(&0) {
            return Err(NotText::Binary {
                kind: "it holds NUL bytes",
                bytes: size,
            });
        }
        match std::str::from_utf8(body) {
            Ok(text) => Ok(Self {
                bom,
                raw: text.to_string(),
            }),
            Err(error) => Err(NotText::NotUtf8 {
                at: error.valid_up_to(),
                bytes: size,
            }),
        }
    }

    /// The bytes of a file with this text.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.raw.len() + 3);
        if self.bom {
            bytes.extend_from_slice(BOM);
        }
        bytes.extend_from_slice(self.raw.as_bytes());
        bytes
    }

    /// Whether most of its lines end in `\r\n`.
    pub(crate) fn is_crlf(&self) -> bool {
        let crlf = self.raw.matches("\r\n").count();
        crlf > 0 && crlf * 2 >= self.raw.matches('\n').count()
    }

    /// The file with a whole new text, keeping mark and line ends.
    pub(crate) fn replaced_by(&self, text: &str) -> Self {
        let text = unix(text);
        Self {
            bom: self.bom,
            raw: if self.is_crlf() {
                text.replace('\n', "\r\n")
            } else {
                text
            },
        }
    }
}

/// A text with `\n` line ends only.
pub(crate) fn unix(text: &str) -> String {
    text.strip_prefix('\u{feff}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
}

fn magic(bytes: &[u8]) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"\x89PNG", "PNG image"),
        (b"\xFF\xD8\xFF", "JPEG image"),
        (b"GIF8", "GIF image"),
        (b"\x7FELF", "ELF program"),
        (b"PK\x03\x04", "zip archive or office document"),
        (b"\x1F\x8B", "gzip archive"),
        (b"%PDF-", "PDF document"),
        (b"SQLite format 3", "SQLite database"),
    ];
    KNOWN
        .iter()
        .find(|(start, _)| bytes.starts_with(start))
        .map(|(_, kind)| *kind)
}

/// A text with `\n` line ends that knows where each of its places stands in the original.
#[derive(Debug, Clone)]
pub(crate) struct Normalised {
    /// The text with `\n` only.
    pub(crate) text: String,
    /// The places of those `\n` that were `\r\n`, ascending.
    dropped: Vec<usize>,
}

impl Normalised {
    /// Takes the `\r` out of every `\r\n`.
    pub(crate) fn new(raw: &str) -> Self {
        let mut text = String::with_capacity(raw.len());
        let mut dropped = Vec::new();
        let mut chars = raw.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\r' && chars.peek() == Some(&'\n') {
                dropped.push(text.len());
            } else {
                text.push(c);
            }
        }
        Self { text, dropped }
    }

    /// The place in the original that belongs to a place in `text`.
    pub(crate) fn original(&self, at: usize) -> usize {
        at + self.dropped.partition_point(|dropped| *dropped < at)
    }

    /// Whether the lines of this region end in `\r\n` (or, for a region without line end, the file).
    pub(crate) fn is_crlf(&self, start: usize, end: usize) -> bool {
        let newlines = self.text[start..end].matches('\n').count();
        let crlf = |from, to| {
            self.dropped.partition_point(|d| *d < to) - self.dropped.partition_point(|d| *d < from)
        };
        match newlines {
            0 => crlf(0, self.text.len() + 1) * 2 > self.text.matches('\n').count(),
            n => crlf(start, end) * 2 > n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Normalised, NotText, TextFile};
    use proptest::prelude::{prop_assert_eq, proptest};

    #[test]
    fn e16_binary_files_are_told_by_content_not_by_name() {
        for bytes in [
            &b"PK\x03\x04rest"[..],
            b"\x89PNG\r\n",
            b"\x7FELF\x02",
            b"a\0b",
        ] {
            assert!(matches!(
                TextFile::decode(bytes),
                Err(NotText::Binary { .. })
            ));
        }
        let utf16 = TextFile::decode(b"\xFF\xFEa\0").unwrap_err();
        assert!(utf16.to_string().contains("iconv"));
    }

    #[test]
    fn e17_no_sample_decides_a_whole_file_does() {
        let mut cjk = "字".repeat(3000).into_bytes();
        cjk.push(b'\n');
        assert!(TextFile::decode(&cjk).is_ok());
        let mut late = vec![b'a'; 600];
        late.push(0);
        assert!(TextFile::decode(&late).is_err());
    }

    #[test]
    fn e09_another_encoding_is_refused_and_named() {
        let error = TextFile::decode(b"const x = 1;\n// caf\xe9 note\n").unwrap_err();
        assert_eq!(error, NotText::NotUtf8 { at: 19, bytes: 26 });
        for wide in [b"\xFF\xFEa\0", b"\xFE\xFF\0a"] {
            let error = TextFile::decode(wide).unwrap_err();
            assert_eq!(error, NotText::Utf16 { bytes: 4 });
        }
    }

    #[test]
    fn e10_e11_a_whole_new_text_keeps_mark_and_line_ends() {
        let old = TextFile::decode(b"\xEF\xBB\xBFa\r\nb\r\n").unwrap();
        assert_eq!(
            old.replaced_by("x\ny\n").encode(),
            b"\xEF\xBB\xBFx\r\ny\r\n"
        );
        let unix = TextFile::decode(b"a\n").unwrap();
        assert_eq!(unix.replaced_by("x\r\ny\n").encode(), b"x\ny\n");
    }

    proptest! {
        #[test]
        fn places_lead_back_to_the_original(raw in "[a\r\né]{0,20}") {
            let normalised = Normalised::new(&raw);
            for (at, _) in normalised.text.char_indices() {
                let original = normalised.original(at);
                let c = raw[original..].chars().next();
                let want = normalised.text[at..].chars().next();
                let crlf = c == Some('\r') && want == Some('\n');
                prop_assert_eq!(if crlf { want } else { c }, want);
            }
            prop_assert_eq!(normalised.original(normalised.text.len()), raw.len());
        }
    }
}
