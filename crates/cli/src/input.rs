//! Reading a tool's main document.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::Path;

use crate::Failure;

/// The longest document that is read, in bytes; a longer one is not a document of ours.
const LONGEST_BYTES: u64 = 256 << 20;

/// Reads the tool's main document: from `file`, or from stdin when there is none or it is `-`.
///
/// `what` names the document and the flag that gives it, for example `a task/1 document (--task FILE)`.
/// A terminal on stdin is a usage error at once, instead of a wait that looks like a hang.
pub fn main_document(file: Option<&Path>, what: &str) -> Result<String, Failure> {
    if let Some(path) = file.filter(|path| *path != Path::new("-")) {
        let opened = File::open(path)
            .map_err(|e| Failure::input(format!("cannot read {what}: {}: {e}", path.display())))?;
        return read_text(opened, what, &path.display().to_string());
    }
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Failure::usage(format!(
            "expects {what} on standard input, which is a terminal; give a file or a pipe"
        )));
    }
    read_text(stdin.lock(), what, "standard input")
}

fn read_text(source: impl Read, what: &str, place: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    source
        .take(LONGEST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Failure::input(format!("cannot read {what}: {place}: {e}")))?;
    if bytes.len() as u64 > LONGEST_BYTES {
        return Err(Failure::input(format!(
            "{place}: longer than 256 MiB, not {what}"
        )));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Failure::input(format!("{place} is empty; expected {what}")));
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Failure::input(format!(
            "{place}: UTF-16 text; convert it first (iconv -f UTF-16 -t UTF-8); expected {what}"
        )));
    }
    // Some editors, and PowerShell, put a mark before everything, which no document begins with.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Failure::input(format!("{place}: not UTF-8 at byte {at}; expected {what}"))
    })
}

#[cfg(test)]
mod tests {
    use super::read_text;

    #[test]
    fn empty_broken_and_good_input() {
        let read = |bytes: &[u8]| read_text(bytes, "a task/1 document", "t.json");
        assert_eq!(read(b" {} ").unwrap(), " {} ");
        assert_eq!(read(b"\xef\xbb\xbf{}").unwrap(), "{}");
        assert_eq!(
            read(b"\n").unwrap_err().message,
            "t.json is empty; expected a task/1 document"
        );
        assert!(
            read(b"ab\xff")
                .unwrap_err()
                .message
                .contains("not UTF-8 at byte 2")
        );
        for utf16 in [&b"\xff\xfe{\0}\0"[..], b"\xfe\xff\0{\0}"] {
            assert!(read(utf16).unwrap_err().message.contains("iconv"));
        }
    }
}
