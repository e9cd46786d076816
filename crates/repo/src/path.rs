//! Names of files as git has them: bytes, relative to the root, `/` between segments.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A path relative to the repository root, byte for byte as git stores it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GitPath(Vec<u8>);

impl GitPath {
    /// Wraps the bytes of a name.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name as text; none when it is not UTF-8.
    pub fn to_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The name as a relative file-system path.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The name of a file below this folder.
    pub(crate) fn join(&self, below: &Self) -> Self {
        let mut name = self.0.clone();
        name.push(b'/');
        name.extend_from_slice(&below.0);
        Self(name)
    }

    /// The name without its folders.
    pub(crate) fn last_segment(&self) -> &[u8] {
        self.0.rsplit(|b| *b == b'/').next().unwrap_or_default()
    }

    /// Whether the name is `folder` or lies below it.
    pub fn is_within(&self, folder: &str) -> bool {
        self.0
            .strip_prefix(folder.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

impl From<&str> for GitPath {
    fn from(name: &str) -> Self {
        Self(name.as_bytes().to_vec())
    }
}

/// For people: printable names as they are, others quoted with escapes, never ambiguous.
impl std::fmt::Display for GitPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::fmt::Write as _;
        let plain = |c: char| !c.is_control() && c != '"' && c != '\\' && !is_line_break(c);
        if let Some(name) = self.to_str().filter(|n| n.chars().all(plain)) {
            return f.write_str(name);
        }
        f.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    c if plain(c) => f.write_char(c)?,
                    c => write!(f, "{}", c.escape_default())?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        f.write_char('"')
    }
}

impl std::fmt::Debug for GitPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Line separators that are not control characters; they would break a line of output all the same.
const fn is_line_break(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::GitPath;

    #[test]
    fn odd_names_are_shown_on_one_line_and_told_apart() {
        let shown = |bytes: &[u8]| GitPath::new(bytes).to_string();
        assert_eq!(shown("café b/ü.txt".as_bytes()), "café b/ü.txt");
        assert_eq!(shown(b"a -> b"), "a -> b");
        assert_eq!(shown(b"q\".txt"), r#""q\".txt""#);
        assert_eq!(shown(b"tab\there\n"), r#""tab\there\n""#);
        assert_eq!(shown("u\u{2028}v".as_bytes()), r#""u\u{2028}v""#);
        assert_eq!(shown(b"\xff\xfe"), r#""\xff\xfe""#);
    }

    #[test]
    fn a_neighbour_with_the_same_beginning_is_not_within() {
        let within = |p: &str| GitPath::from(p).is_within(".orchestrator");
        assert!(within(".orchestrator") && within(".orchestrator/a"));
        assert!(!within(".orchestrator2") && !within("x/.orchestrator"));
    }
}
