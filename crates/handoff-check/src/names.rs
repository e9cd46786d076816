//! The changed names in what `git diff` prints: the patch, `--raw`, `--name-status`, `--name-only`,
//! `--numstat`, with or without `-z`; and what `diff -u` and other systems print.

mod tidy;

use baton_repo::GitPath;

/// Every changed name, both names of a rename; the error says which line cannot be read.
pub(crate) fn changed(text: &[u8]) -> Result<Vec<GitPath>, String> {
    let mut names = if text.contains(&0) {
        with_nul(text)?
    } else {
        let text = &tidy::tidied(text);
        if is_patch(text) {
            of_patch(text)?
        } else if is_plain_patch(text) {
            of_plain_patch(text)?
        } else if let Some(what) = tidy::no_list_of_names(text) {
            return Err(format!(
                "this is {what}; give the patch, or: git diff --name-status -z …"
            ));
        } else {
            of_lines(text)?
        }
    };
    names.sort();
    names.dedup();
    Ok(names)
}

fn is_patch(text: &[u8]) -> bool {
    text.split(|b| *b == b'\n').any(|l| {
        l.starts_with(b"diff --git ")
            || l.starts_with(b"diff --cc ")
            || l.starts_with(b"diff --combined ")
    })
}

/// `-z`: names alone, `STATUS\0name[\0name]`, or `:… STATUS\0name[\0name]`.
fn with_nul(text: &[u8]) -> Result<Vec<GitPath>, String> {
    let fields: Vec<&[u8]> = text.split(|b| *b == 0).filter(|f| !f.is_empty()).collect();
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(field) = fields.get(at) {
        at += 1;
        let two = match (numbers(field), status(field)) {
            // Two names follow the numbers of a rename.
            (Some([]), _) => true,
            (Some(name), _) => {
                names.push(GitPath::new(name));
                continue;
            }
            (None, None) => {
                names.push(GitPath::new(*field));
                continue;
            }
            (None, Some(status)) => matches!(status, b'R' | b'C'),
        };
        for _ in 0..=usize::from(two) {
            let name = fields.get(at).ok_or("the list of names ends early")?;
            names.push(GitPath::new(*name));
            at += 1;
        }
    }
    Ok(names)
}

/// The letter of a `--name-status` or `--raw` record; none when the field is a name.
///
/// A file may be called `M`. Then a list of names alone is read as a record, which only ever adds
/// the next name to the list, or ends in an error; no name is lost.
fn status(field: &[u8]) -> Option<u8> {
    let word = match field {
        [b':', rest @ ..] => rest.rsplit(|b| *b == b' ').next()?,
        other => other,
    };
    match word {
        [
            letter @ (b'A' | b'C' | b'D' | b'M' | b'R' | b'T' | b'U' | b'X'),
            score @ ..,
        ] if score.iter().all(u8::is_ascii_digit) && score.len() <= 3 => Some(*letter),
        _ => None,
    }
}

/// What stands after the two numbers of `--numstat`; `-` for a binary file.
fn numbers(field: &[u8]) -> Option<&[u8]> {
    let mut parts = field.splitn(3, |b| *b == b'\t');
    let is_number = |n: &[u8]| n == b"-" || (!n.is_empty() && n.iter().all(u8::is_ascii_digit));
    let (added, removed) = (parts.next()?, parts.next()?);
    let rest = parts.next()?;
    (is_number(added) && is_number(removed)).then_some(rest)
}

/// `--- name` and `+++ name` without the headers of git: `diff -u`, Subversion, Mercurial.
fn is_plain_patch(text: &[u8]) -> bool {
    let lines: Vec<&[u8]> = text.split(|b| *b == b'\n').collect();
    lines.windows(3).any(|w| {
        w[0].starts_with(b"--- ") && w[1].starts_with(b"+++ ") && w[2].starts_with(b"@@ -")
    })
}

/// The names of such a patch, a date after a tab cut off. `a/` and `b/` are no folders where they
/// stand as a pair.
fn of_plain_patch(text: &[u8]) -> Result<Vec<GitPath>, String> {
    let mut names = Vec::new();
    let (mut old, mut new) = (0_u64, 0_u64);
    let mut before: Option<&[u8]> = None;
    for line in text.split(|b| *b == b'\n') {
        if old > 0 || new > 0 {
            (old, new) = within(line, old, new);
        } else if let Some(rest) = line.strip_prefix(b"@@ -") {
            (old, new) = hunk(rest).ok_or_else(|| unreadable(line))?;
        } else if let Some(name) = line.strip_prefix(b"--- ") {
            before = Some(name);
        } else if let Some(after) = line.strip_prefix(b"+++ ") {
            let before = before.take().ok_or_else(|| unreadable(line))?;
            let bare = |name: &[u8]| {
                let name = name.split(|b| *b == b'\t').next().unwrap_or_default();
                unquoted(name).map(|n| n.as_bytes().to_vec())
            };
            let (Some(old), Some(new)) = (bare(before), bare(after)) else {
                return Err(unreadable(line));
            };
            let none = |name: &[u8]| name == b"/dev/null";
            let is_pair =
                (old.starts_with(b"a/") || none(&old)) && (new.starts_with(b"b/") || none(&new));
            for name in [old, new].iter().filter(|n| !none(n)) {
                names.push(GitPath::new(if is_pair { &name[2..] } else { name }));
            }
        }
    }
    Ok(names)
}

/// How much of a hunk is left after one of its lines.
fn within(line: &[u8], old: u64, new: u64) -> (u64, u64) {
    match line.first() {
        Some(b'+') => (old, new.saturating_sub(1)),
        Some(b'-') => (old.saturating_sub(1), new),
        Some(b'\\') => (old, new),
        // An empty line is a context line whose blank an editor has stripped.
        _ => (old.saturating_sub(1), new.saturating_sub(1)),
    }
}

/// One record a line; names git had to quote are unquoted.
fn of_lines(text: &[u8]) -> Result<Vec<GitPath>, String> {
    let mut names = Vec::new();
    for line in text.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
        if let Some(name) = numbers(line) {
            names.extend(of_numstat(name).ok_or_else(|| unreadable(line))?);
            continue;
        }
        let fields: Vec<&[u8]> = line.split(|b| *b == b'\t').collect();
        let fields = match fields.as_slice() {
            [first, rest @ ..] if !rest.is_empty() && status(first).is_some() => rest,
            [_] => fields.as_slice(),
            _ => return Err(unreadable(line)),
        };
        for field in fields {
            names.push(unquoted(field).ok_or_else(|| unreadable(line))?);
        }
    }
    Ok(names)
}

/// The name of a `--numstat` line, or both names of `src/{old => new}/x`.
fn of_numstat(name: &[u8]) -> Option<Vec<GitPath>> {
    let text = std::str::from_utf8(name).ok();
    let arrow = text.filter(|t| !t.starts_with('"') && t.contains(" => "));
    if let Some((old, new)) = arrow.and_then(crate::checks::claims::renamed) {
        return Some([old, new].map(|n| GitPath::new(n.into_bytes())).into());
    }
    Some(vec![unquoted(name)?])
}

/// The headers of each file's part. Content lines begin with a blank, `+`, `-` or `\`, and hunks
/// say how long they are, so that a line of content is never taken for a header.
fn of_patch(text: &[u8]) -> Result<Vec<GitPath>, String> {
    let mut names = Vec::new();
    let (mut old, mut new) = (0_u64, 0_u64);
    // A header whose names must come from later lines: they differ.
    let mut open: Option<&[u8]> = None;
    let mut sides: Vec<&[u8]> = Vec::new();
    for line in text.split(|b| *b == b'\n') {
        if old > 0 || new > 0 {
            (old, new) = within(line, old, new);
            continue;
        }
        if let Some(rest) = line.strip_prefix(b"@@ -") {
            (old, new) = hunk(rest).ok_or_else(|| unreadable(line))?;
            continue;
        }
        if let Some(rest) = line.strip_prefix(b"diff --git ") {
            if let Some(header) = open {
                return Err(unreadable(header));
            }
            let name = header(rest);
            open = name.is_none().then_some(line);
            names.extend(name);
        }
        for prefix in [
            &b"diff --cc "[..],
            b"diff --combined ",
            b"rename from ",
            b"rename to ",
            b"copy to ",
        ] {
            if let Some(rest) = line.strip_prefix(prefix) {
                names.push(unquoted(rest).ok_or_else(|| unreadable(line))?);
                open = None;
            }
        }
        // Where the header has told the name, these add nothing, and their prefix is not known.
        for prefix in [&b"--- "[..], b"+++ "]
            .into_iter()
            .filter(|_| open.is_some())
        {
            if let Some(rest) = line.strip_prefix(prefix) {
                sides.extend((rest != b"/dev/null").then_some(rest));
            }
        }
        if sides.len() == 2 {
            for side in sides.drain(..) {
                names.push(prefixed(side).ok_or_else(|| unreadable(line))?);
            }
            open = None;
        }
    }
    match open {
        Some(header) => Err(unreadable(header)),
        None => Ok(names),
    }
}

/// `-1,7 +1,6 @@`: the lengths; a missing one is 1.
fn hunk(rest: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(rest.split(|b| *b == b'@').next()?).ok()?;
    let (old, new) = text.trim().split_once(" +")?;
    let length = |range: &str| {
        range
            .split_once(',')
            .map_or(Some(1), |(_, n)| n.parse().ok())
    };
    Some((length(old)?, length(new)?))
}

/// The name in `diff --git a/x b/x`, or in `diff --git x x` without prefixes. Where the two names
/// differ, other lines tell them; where they are equal, blanks inside make no difference.
fn header(rest: &[u8]) -> Option<GitPath> {
    let (left, right) = if rest.starts_with(b"\"") {
        let end = closing_quote(rest)? + 1;
        (&rest[..end], rest.get(end + 1..)?)
    } else {
        let half = rest.len() / 2;
        if rest.len().is_multiple_of(2) || rest.get(half) != Some(&b' ') {
            return None;
        }
        (&rest[..half], &rest[half + 1..])
    };
    if left == right {
        return unquoted(left);
    }
    let (left, right) = (prefixed(left)?, prefixed(right)?);
    (left == right).then_some(left)
}

fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut i = 1;
    while i < text.len() {
        match text[i] {
            b'\\' => i += 2,
            b'"' => return Some(i),
            _ => i += 1,
        }
    }
    None
}

/// `a/name` or `b/name` (also git's other one-letter prefixes), quoted or not; a tab ends a bare name.
fn prefixed(text: &[u8]) -> Option<GitPath> {
    let text = if text.starts_with(b"\"") {
        text
    } else {
        text.split(|b| *b == b'\t').next()?
    };
    let name = unquoted(text)?;
    match name.as_bytes() {
        [b'a' | b'b' | b'i' | b'w' | b'c' | b'o', b'/', rest @ ..] => Some(GitPath::new(rest)),
        _ => Some(name),
    }
}

/// A name as it is, or as git quotes odd ones.
fn unquoted(text: &[u8]) -> Option<GitPath> {
    if !text.starts_with(b"\"") {
        return Some(GitPath::new(text));
    }
    crate::checks::claims::unquoted(text).map(GitPath::new)
}

fn unreadable(line: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(line).chars().take(80).collect();
    format!("cannot read the line {shown:?}; expected what `git diff` prints")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::changed;

    fn names(text: &[u8]) -> Vec<String> {
        changed(text)
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn h10_a_patch_with_odd_names() {
        let text = b"diff --git a/x b/y.txt b/x b/y.txt\n\
            index 1..2 100644\n--- a/x b/y.txt\n+++ b/x b/y.txt\n@@ -1 +1,2 @@\n-old\n+new\n+++ b/not/a/header\n\
            diff --git \"a/caf\\303\\251.txt\" \"b/caf\\303\\251.txt\"\nnew file mode 100644\nindex 0..1\n\
            diff --git a/run b/run\nold mode 100644\nnew mode 100755\n\
            diff --git a/old name b/new\nsimilarity index 100%\nrename from old name\nrename to new\n\
            diff --git a/img.png b/img.png\nindex 1..2\nBinary files a/img.png and b/img.png differ\n\
            diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n";
        assert_eq!(
            names(text),
            [
                "café.txt",
                "gone",
                "img.png",
                "new",
                "old name",
                "run",
                "x b/y.txt"
            ]
        );
    }

    #[test]
    fn a_patch_without_prefixes_keeps_its_folders() {
        let text = b"diff --git a/x.rs a/x.rs\nindex 1..2 100644\n--- a/x.rs\n+++ a/x.rs\n@@ -1 +1 @@\n-1\n+2\n\
            diff --git c/b/y w/b/y\nindex 1..2 100644\n--- c/b/y\n+++ w/b/y\n@@ -1 +1 @@\n-1\n+2\n\
            diff --git a/old b/new\nindex 1..2\n--- a/old\n+++ b/new\n@@ -1 +1 @@\n-1\n+2\n";
        assert_eq!(names(text), ["a/x.rs", "b/y", "new", "old"]);
    }

    #[test]
    fn h11_lists_of_names_with_renames() {
        assert_eq!(
            names(b"M\0a b\0R100\0old\0new -> x\0"),
            ["a b", "new -> x", "old"]
        );
        assert_eq!(
            names(b":100644 100644 1 2 R090\0old\0new\0:100644 000000 1 0 D\0gone\0"),
            ["gone", "new", "old"]
        );
        assert_eq!(names(b"M\ta\nR100\told\tnew\n"), ["a", "new", "old"]);
        assert_eq!(names(b":100644 100644 1 2 M\ta b\n"), ["a b"]);
        assert_eq!(
            names(b"src/a.rs\n\"tab\\there\"\n"),
            ["src/a.rs", "\"tab\\there\""]
        );
        assert_eq!(names(b""), Vec::<String>::new());
    }

    #[test]
    fn h10_numbers_colours_and_other_systems() {
        assert_eq!(
            names(
                b"1\t2\ta b\n-\t-\timg\n0\t0\tsrc/{b => b2}/x\n0\t0\told => new\n1\t1\t\"q\\tx\"\n"
            ),
            [
                "a b",
                "img",
                "new",
                "old",
                "\"q\\tx\"",
                "src/b/x",
                "src/b2/x"
            ]
        );
        assert_eq!(names(b"1\t2\ta\0" as &[u8]), ["a"]);
        assert_eq!(
            names(b"0\t0\t\0old\0new\0-\t-\timg\0"),
            ["img", "new", "old"]
        );
        let patch = b"\xef\xbb\xbf\x1b[1mdiff --git a/x b/x\x1b[m\r\n\x1b[1m--- a/x\x1b[m\r\n\x1b[1m+++ b/x\x1b[m\r\n";
        assert_eq!(names(patch), ["x"]);
        for (text, expected) in [
            (
                "--- README\t2024\n+++ README\t2025\n@@ -1 +1 @@\n-a\n+b\n",
                "README",
            ),
            (
                "Index: x\n===\n--- x\t(revision 1)\n+++ x\t(working copy)\n@@ -1,2 +1,2 @@\n--- y\n+++ z\n c\n",
                "x",
            ),
            (
                "diff -r 12 x\n--- a/x\tThu\n+++ b/x\tFri\n@@ -1 +1 @@\n-a\n+b\n",
                "x",
            ),
            ("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+b\n", "new"),
            ("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n", "a/x"),
        ] {
            assert_eq!(names(text.as_bytes()), [expected], "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert!(changed(b"R100\0old\0").is_err());
        assert!(changed(b"diff --git a/x b/y\nindex 1..2\n").is_err());
        assert!(changed(b"1\tx\ta\n").is_err());
        for summary in [
            " a | 2 +-\n 1 file changed\n",
            " M README\n",
            "  9.5% src/\n",
        ] {
            let error = changed(summary.as_bytes()).unwrap_err();
            assert!(error.contains("--name-status"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_input_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = changed(&bytes);
        }

        #[test]
        fn content_is_never_taken_for_a_header(lines in proptest::collection::vec("[-+ ]{1,4}[ab]/[a-z]{1,5}", 1..6)) {
            let header = "diff --git a/f b/f\n--- /dev/null\n+++ b/f\n";
            let hunk = format!("@@ -0,0 +1,{} @@\n+", lines.len());
            let text = header.to_owned() + &hunk + &lines.join("\n+") + "\n";
            prop_assert_eq!(names(text.as_bytes()), ["f"]);
        }
    }
}
