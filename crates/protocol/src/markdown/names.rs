//! Names of files as they stand in a list of Markdown.

use std::fmt::Write as _;

/// A name as it may stand in a list: quoted as git does where the reader would take it otherwise.
pub(super) fn quoted_name(name: &str) -> String {
    if !needs_quotes(name) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' || c == '\u{85}' => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a list would be read as holding another name.
pub fn needs_quotes(name: &str) -> bool {
    name.contains(|c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}')
        || name.starts_with('"')
        || bare(name).is_none_or(|b| b != name)
}

/// A name as git has it: no `./`, no line number.
pub fn bare(name: &str) -> Option<String> {
    let name = name.strip_prefix("./").unwrap_or(name);
    let (stem, suffix) = name.rsplit_once(':').unwrap_or((name, ""));
    let line = !suffix.is_empty() && suffix.chars().all(|c| c.is_ascii_digit() || c == '-');
    let name = if line { stem } else { name };
    let name = name.split_once("#L").map_or(name, |(n, _)| n);
    (!name.is_empty()).then(|| name.to_owned())
}
