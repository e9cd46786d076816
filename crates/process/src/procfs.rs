//! Reading `/proc`. The parsing is pure; where there is no `/proc`, the answer is "not known".

use std::fs;
use std::path::Path;

/// What we use of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) state: char,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// Clock ticks after boot: together with the boot id this names a process for ever.
    pub(crate) start_ticks: u64,
}

/// Parses a `/proc/PID/stat` line. The command name stands in parentheses and may itself hold
/// blanks and parentheses, so the fields are counted from the last `)`.
pub(crate) fn parse_stat(text: &str) -> Option<Stat> {
    let rest = &text[text.rfind(')')? + 1..];
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

pub(crate) fn stat(pid: i32) -> Option<Stat> {
    // The name may be any bytes, so this is not read as a string.
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&bytes))
}

/// The pids of all processes that `/proc` shows.
pub(crate) fn pids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// The command line of a process, arguments joined by blanks, at most 200 characters.
pub(crate) fn command_line(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = bytes
        .split(|b| *b == 0)
        .filter(|w| !w.is_empty())
        .map(String::from_utf8_lossy)
        .collect();
    words.join(" ").chars().take(200).collect()
}

/// Whether a process's environment holds this `NAME=VALUE`.
pub(crate) fn has_in_environment(pid: i32, entry: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|bytes| bytes.split(|b| *b == 0).any(|e| e == entry))
}

/// Whether this process ignores a signal (false where it cannot be told).
pub(crate) fn ignores_signal(signal: i32) -> bool {
    ignored_mask(&fs::read_to_string("/proc/self/status").unwrap_or_default())
        .is_some_and(|mask| mask & (1_u64 << (signal - 1)) != 0)
}

fn ignored_mask(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// This boot's id, or an empty string where there is none.
pub(crate) fn boot_id() -> String {
    fs::read_to_string(Path::new("/proc/sys/kernel/random/boot_id"))
        .unwrap_or_default()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_command_name_with_parentheses_does_not_shift_the_fields() {
        let line = "42 (a) b (c)) S 1 40 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 1";
        let want = Stat {
            state: 'S',
            group: 40,
            session: 41,
            start_ticks: 98765,
        };
        assert_eq!(parse_stat(line), Some(want));
    }

    #[test]
    fn our_own_stat_is_readable() {
        let own = stat(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(own.start_ticks > 0 && own.state != 'Z');
    }

    #[test]
    fn the_ignored_mask_is_hexadecimal() {
        assert_eq!(
            ignored_mask("Name:\tx\nSigIgn:\t0000000000001001\n"),
            Some(0x1001)
        );
        assert_eq!(ignored_mask("Name:\tx\n"), None);
    }

    proptest! {
        #[test]
        fn parse_stat_never_panics(text in ".{0,200}") {
            let _ = parse_stat(&text);
        }

        #[test]
        fn the_fields_come_back_whatever_the_name(name in "[ -~]{0,15}", ticks in any::<u64>(), group in 1..i32::MAX) {
            let line = format!("7 ({name}) R 1 {group} 3 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {ticks} 0");
            let stat = parse_stat(&line).unwrap();
            prop_assert_eq!((stat.group, stat.start_ticks), (group, ticks));
        }
    }
}
