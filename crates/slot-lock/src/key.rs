//! What slots are counted by: one key a model server.

use std::fmt::Write as _;
use std::path::PathBuf;

use baton_protocol::BaseUrl;

/// The name of one set of slots: a server's canonical origin, or what `--key` says.
///
/// It never depends on a provider's nickname or on the terminal, so that everybody who means the
/// same server counts the same slots.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(String);

/// File names end at 255 bytes; a longer key keeps its beginning and gains a hash.
const LONGEST_NAME: usize = 200;

impl Key {
    /// The key of a server. This machine is one server at a port, by whatever name it is called.
    pub(crate) fn of_server(url: &BaseUrl) -> Self {
        const HERE: [&str; 5] = ["localhost", "::1", "0.0.0.0", "::", "ip6-localhost"];
        if HERE.contains(&url.host()) {
            let scheme = if url.is_tls() { "https" } else { "http" };
            return Self(format!("{scheme}://127.0.0.1:{}", url.port()));
        }
        Self(url.origin())
    }

    /// A key a person chose.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the key is empty; give a name or a server's base URL".into());
        }
        if text.contains('\0') || text.len() > 4096 {
            return Err("the key is longer than 4096 bytes or holds a NUL".into());
        }
        // A base URL and its origin mean the same slots. One with a mistake in it would silently
        // count apart from everybody else's.
        let start = text.get(..8).unwrap_or(text).to_ascii_lowercase();
        let is_url = start.starts_with("http://") || start.starts_with("https://");
        match BaseUrl::parse(text) {
            Ok(url) => Ok(Self::of_server(&url)),
            Err(wrong) if is_url => Err(wrong),
            Err(_) => Ok(Self(text.into())),
        }
    }

    /// The server it is the key of, where it is one's.
    pub(crate) fn server(&self) -> Option<BaseUrl> {
        BaseUrl::parse(&self.0).ok()
    }

    /// The name of its folder: everything but letters, digits, `.`, `_` and `-` is percent-encoded.
    pub(crate) fn folder(&self) -> PathBuf {
        if is_shortened(&self.0) {
            return PathBuf::from(&self.0);
        }
        let mut name = String::with_capacity(self.0.len() + 16);
        for (at, byte) in self.0.bytes().enumerate() {
            let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            // A leading dot would hide the folder, and `..` would leave it.
            if plain || (byte == b'.' && at > 0) {
                name.push(char::from(byte));
            } else {
                name.push('%');
                name.push(hex(byte >> 4));
                name.push(hex(byte & 15));
            }
        }
        if name.len() > LONGEST_NAME {
            name.truncate(LONGEST_NAME - 17);
            name.push('~');
            name.extend(
                fnv1a(self.0.as_bytes())
                    .to_be_bytes()
                    .iter()
                    .flat_map(|b| [hex(b >> 4), hex(b & 15)]),
            );
        }
        PathBuf::from(name)
    }

    /// The key a folder stands for. A shortened name stands for itself.
    pub(crate) fn from_folder(name: &str) -> Option<Self> {
        if is_shortened(name) {
            return Some(Self(name.into()));
        }
        let mut bytes = Vec::with_capacity(name.len());
        let mut rest = name.as_bytes();
        while let Some((&first, tail)) = rest.split_first() {
            rest = tail;
            match first {
                b'%' => {
                    let (hex, tail) = rest.split_at_checked(2)?;
                    bytes.push(u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?);
                    rest = tail;
                }
                b'~' => return None,
                other => bytes.push(other),
            }
        }
        String::from_utf8(bytes).ok().map(Self)
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Another user's folder name must not steer the reader's terminal.
        for c in self.0.chars() {
            if c.is_control() {
                write!(f, "{}", c.escape_default())?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

/// Whether it is the folder of a key that was too long for a file name.
fn is_shortened(name: &str) -> bool {
    let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"%._-~".contains(&b);
    name.len() == LONGEST_NAME
        && name.bytes().all(plain)
        && name.rsplit_once('~').is_some_and(|(_, hash)| is_hash(hash))
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).map_or('0', |c| c.to_ascii_uppercase())
}

/// The 64-bit FNV-1a hash: stable over versions, unlike the standard library's.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Key;

    fn key(text: &str) -> Key {
        Key::parse(text).unwrap()
    }

    #[test]
    fn l18_the_key_is_the_server_however_it_is_written() {
        for same in [
            "http://Box:8000",
            "http://box:8000/v1/",
            "http://box.:8000/v1",
        ] {
            assert_eq!(key(same).0, "http://box:8000");
        }
        assert_ne!(key("http://box:8000"), key("http://box:8001"));
    }

    #[test]
    fn l18_this_machine_is_one_server_by_whatever_name() {
        for same in [
            "http://localhost:8000",
            "http://127.0.0.1:8000/v1",
            "http://[::1]:8000",
            "http://0.0.0.0:8000/",
        ] {
            assert_eq!(key(same).0, "http://127.0.0.1:8000", "{same}");
        }
        assert_eq!(key("https://localhost/v1").0, "https://127.0.0.1:443");
        // Another address of the loopback network may be another server.
        assert_eq!(key("http://127.0.0.2:8000").0, "http://127.0.0.2:8000");
    }

    #[test]
    fn a_url_with_a_mistake_in_it_is_no_name() {
        for bad in [
            "http://h:99999",
            "HTTP://user:secret@h:80/v1",
            "https://",
            "http://h/v1?x=1",
            "http://b\u{fc}cher.de/v1",
        ] {
            assert!(Key::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(key("httpbox").0, "httpbox");
    }

    #[test]
    fn a_folder_name_cannot_leave_the_directory() {
        assert_eq!(key("../../etc").folder().to_str(), Some("%2E.%2F..%2Fetc"));
        assert_eq!(key(".").folder().to_str(), Some("%2E"));
        assert_eq!(
            key("http://h:1").folder().to_str(),
            Some("http%3A%2F%2Fh%3A1")
        );
    }

    #[test]
    fn a_long_key_is_shortened_and_stays_itself() {
        let (a, b) = (key(&"é".repeat(300)), key(&"é".repeat(301)));
        assert!(a.folder().as_os_str().len() <= 255);
        assert_ne!(a.folder(), b.folder());
        // The folder's own name finds it again, or nobody could list or release what it holds.
        let again = Key::from_folder(a.folder().to_str().unwrap()).unwrap();
        assert_eq!(again.folder(), a.folder());
    }

    #[test]
    fn a_key_shown_does_not_steer_the_terminal() {
        assert_eq!(key("a\u{1b}[2Jb\n").to_string(), "a\\u{1b}[2Jb");
    }

    #[test]
    fn an_empty_key_is_refused() {
        assert!(Key::parse(" ").is_err());
        assert!(Key::parse("a\0b").is_err());
    }

    proptest! {
        #[test]
        fn a_short_key_comes_back_from_its_folder(text in "[^\0 ][^\0]{0,20}[^\0 ]") {
            let key = Key(text);
            let folder = key.folder();
            let name = folder.to_str().unwrap();
            prop_assert!(!name.contains('/') && !name.starts_with('.'));
            if name.len() < super::LONGEST_NAME {
                prop_assert_eq!(Key::from_folder(name), Some(key));
            }
        }
    }
}
