//! The tools that only look: read, list, search.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, SearcherBuilder};

use crate::edit::text::{TextFile, unix};
use crate::files::path::similar;
use crate::text::shape::{Favour, cut_line, shape};

/// Lines of a file shown at once.
const READ_LINES: u64 = 300;
/// Files listed at once.
const LIST_FILES: usize = 100;
/// Matches shown at once.
const MATCHES: usize = 50;

/// A part of a file, numbered. The error is for the model.
pub(crate) fn numbered(
    path: &str,
    bytes: &[u8],
    offset: Option<u64>,
    limit: Option<u64>,
    budget: u64,
    count: &dyn Fn(&str) -> u64,
) -> Result<String, String> {
    let file = TextFile::decode(bytes).map_err(|error| format!("{path} is {error}"))?;
    let text = unix(&file.raw);
    let total = text.lines().count();
    if total == 0 {
        return Ok(format!("({path} is empty)"));
    }
    let first = usize::try_from(offset.unwrap_or(1).max(1)).unwrap_or(usize::MAX);
    if first > total {
        return Err(format!("{path} has only {total} lines"));
    }
    let limit = usize::try_from(limit.unwrap_or(READ_LINES).clamp(1, READ_LINES)).unwrap_or(1);
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .skip(first - 1)
        .take(limit)
        .map(|(at, line)| format!("{}\t{}", at + 1, cut_line(line)))
        .collect();
    let wanted = lines.len();
    let shaped = shape(&lines.join("\n"), budget, Favour::Head, count);
    let shown = wanted - shaped.omitted_lines;
    let last = first + shown - 1;
    let mut out: Vec<&str> = shaped.text.lines().take(shown.max(1)).collect();
    let more = format!(
        "[{path} has {total} lines; continue with offset {}]",
        last + 1
    );
    if last < total {
        out.push(&more);
    }
    Ok(out.join("\n"))
}

/// The error for a file that is not there.
pub(crate) fn missing(path: &str, known: &[String]) -> String {
    match similar(path, known) {
        Some(found) => format!("{path} does not exist; did you mean {found}?"),
        None => format!("{path} does not exist; use list to see the files"),
    }
}

/// The known files under `folder` that match `pattern`.
pub(crate) fn list(
    known: &[String],
    folder: &str,
    pattern: Option<&str>,
) -> Result<String, String> {
    let matcher = wanted(pattern)?;
    let prefix = prefix(folder);
    let found: Vec<&String> = known
        .iter()
        .filter(|path| *path == folder || path.starts_with(&prefix))
        .filter(|path| {
            let inside = path.strip_prefix(&prefix).unwrap_or(path);
            matcher.as_ref().is_none_or(|m| {
                let name = path.rsplit('/').next().unwrap_or(path);
                m.is_match(inside) || m.is_match(path.as_str()) || m.is_match(name)
            })
        })
        .collect();
    if found.is_empty() {
        return Ok(format!(
            "(no file matches; the repository has {} files)",
            known.len()
        ));
    }
    let mut out: Vec<String> = found
        .iter()
        .take(LIST_FILES)
        .map(ToString::to_string)
        .collect();
    if found.len() > LIST_FILES {
        out.push(format!(
            "[{} more; narrow the pattern]",
            found.len() - LIST_FILES
        ));
    }
    Ok(out.join("\n"))
}

/// Lines that match a regular expression, as `path:line:text`.
pub(crate) fn search(
    root: &Path,
    known: &[String],
    pattern: &str,
    folder: &str,
    files: Option<&str>,
) -> Result<String, String> {
    let build = |pattern: &str| {
        RegexMatcherBuilder::new()
            .line_terminator(Some(b'\n'))
            .build(pattern)
    };
    let only = wanted(files)?;
    let prefix = prefix(folder);
    let files: Vec<&String> = known
        .iter()
        .filter(|path| *path == folder || path.starts_with(&prefix))
        .filter(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            only.as_ref()
                .is_none_or(|m| m.is_match(path.as_str()) || m.is_match(name))
        })
        .collect();
    let plain = literal(pattern);
    let (note, (mut hits, total)) = match build(pattern) {
        Ok(matcher) => {
            let found = matches(root, &files, &matcher);
            match build(&plain) {
                // Code is full of brackets that a regex reads otherwise: `f(x)` is meant literally.
                Ok(matcher) if found.0.is_empty() && plain != pattern => (
                    "[no match as a regex; searched as plain text]\n",
                    matches(root, &files, &matcher),
                ),
                _ => ("", found),
            }
        }
        Err(error) => {
            let matcher =
                build(&plain).map_err(|_| format!("the pattern is not a regex: {error}"))?;
            (
                "[the pattern is no regex; searched as plain text]\n",
                matches(root, &files, &matcher),
            )
        }
    };
    if hits.is_empty() {
        return Ok("(no match)".into());
    }
    if total > hits.len() {
        hits.push(format!("[{} more; narrow the pattern]", total - hits.len()));
    }
    Ok(format!("{note}{}", hits.join("\n")))
}

/// The first matching lines, and how many there are.
fn matches(root: &Path, files: &[&String], matcher: &RegexMatcher) -> (Vec<String>, usize) {
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .build();
    let mut hits: Vec<String> = Vec::new();
    let mut total = 0;
    for path in files {
        let file = root.join(path);
        if !file.symlink_metadata().is_ok_and(|facts| facts.is_file()) {
            continue;
        }
        let sink = Lossy(|number, line| {
            total += 1;
            if hits.len() < MATCHES {
                let line: String = line.trim_end().chars().take(200).collect();
                hits.push(format!("{path}:{number}:{line}"));
            }
            Ok(true)
        });
        // A file that cannot be read has no matches.
        let _ = searcher.search_path(matcher, &file, sink);
    }
    (hits, total)
}

/// What the paths below a folder begin with.
fn prefix(folder: &str) -> String {
    if folder == "." {
        String::new()
    } else {
        format!("{folder}/")
    }
}

/// The glob that was given; models that fill every parameter give an empty text for none.
fn wanted(pattern: Option<&str>) -> Result<Option<GlobMatcher>, String> {
    pattern
        .filter(|glob| !glob.trim().is_empty())
        .map(glob)
        .transpose()
}

fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    let pattern = pattern.trim().trim_start_matches("./");
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| format!("the glob is wrong: {error}"))
}

fn literal(text: &str) -> String {
    let special = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c);
    text.chars()
        .flat_map(|c| special(c).then_some('\\').into_iter().chain([c]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{list, missing, numbered, search};

    fn count(text: &str) -> u64 {
        u64::try_from(text.len() / 4).unwrap_or(0)
    }

    #[test]
    fn a_long_file_is_shown_in_parts_that_say_how_to_go_on() {
        let text = (1..=700)
            .map(|n| format!("line {n}\n"))
            .collect::<Vec<_>>()
            .concat();
        let show = |offset, limit, budget| {
            numbered("a", text.as_bytes(), offset, limit, budget, &count).unwrap()
        };
        let first = show(None, None, 10_000);
        assert!(
            first.starts_with("1\tline 1\n")
                && first.ends_with("[a has 700 lines; continue with offset 301]")
        );
        assert!(show(Some(650), None, 10_000).ends_with("700\tline 700"));
        let short = show(None, None, 30);
        assert!(
            short.contains("continue with offset") && short.lines().count() < 30,
            "{short}"
        );
        assert!(
            numbered("a", b"x\n", Some(9), None, 100, &count)
                .unwrap_err()
                .contains("only 1 lines")
        );
    }

    #[test]
    fn e16_a_binary_file_is_named_not_shown() {
        let error = numbered("a.txt", b"\x89PNG\r\n", None, None, 100, &count).unwrap_err();
        assert!(error.contains("PNG image"), "{error}");
    }

    #[test]
    fn globs_match_the_path_or_the_name() {
        let known = [
            "a.py".to_string(),
            "src/b.py".into(),
            "src/deep/c.rs".into(),
        ];
        assert_eq!(list(&known, ".", Some("*.py")).unwrap(), "a.py\nsrc/b.py");
        assert_eq!(
            list(&known, "src", None).unwrap(),
            "src/b.py\nsrc/deep/c.rs"
        );
        assert_eq!(
            list(&known, ".", Some("src/**/*.rs")).unwrap(),
            "src/deep/c.rs"
        );
        assert!(list(&known, ".", Some("*.go")).unwrap().contains("no file"));
        assert!(list(&known, ".", Some("[")).is_err());
        assert!(missing("b.py", &known).contains("src/b.py"));
    }

    #[test]
    fn search_finds_lines_and_forgives_a_pattern_that_is_no_regex() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.py"), "x = f(1)\ny = 2\n").unwrap();
        let known = ["a.py".to_string()];
        let find = |pattern| search(dir.path(), &known, pattern, ".", None).unwrap();
        assert_eq!(find("y +="), "a.py:2:y = 2");
        assert!(find("f(").ends_with("a.py:1:x = f(1)"));
        assert!(find("x = f(1)").ends_with("a.py:1:x = f(1)"));
        assert_eq!(find("nothing"), "(no match)");
        assert_eq!(find("nothing(at all)"), "(no match)");
        let every = search(dir.path(), &known, "x = ", ".", Some("")).unwrap();
        assert_eq!(every, "a.py:1:x = f(1)");
        assert_eq!(list(&known, ".", Some(" ")).unwrap(), "a.py");
    }
}
