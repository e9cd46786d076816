//! Whether two globs can match a common path. Never says "no" wrongly: what it does not understand
//! (character classes) it takes for any character.

/// Whether any glob of `a` and any of `b` can match a common path, or the whole folder one of them
/// names contains a path of the other. Returns the first such pair.
pub(crate) fn overlap<'a>(a: &'a [String], b: &'a [String]) -> Option<(&'a str, &'a str)> {
    a.iter()
        .flat_map(|x| b.iter().map(move |y| (x.as_str(), y.as_str())))
        .find(|(x, y)| globs_meet(x, y))
}

fn globs_meet(a: &str, b: &str) -> bool {
    let (a, b) = (braces(a), braces(b));
    a.iter().any(|x| b.iter().any(|y| paths_meet(x, y)))
}

fn paths_meet(a: &str, b: &str) -> bool {
    let (a, b) = (segments(a), segments(b));
    meet(&a, &b, |s| *s == "**", |x, y| names_meet(x, y)) || holds(&a, &b) || holds(&b, &a)
}

/// Whether the first, a plain path, is a folder above the second: two tasks that disagree about
/// whether a name is a file or a folder do overlap.
fn holds(a: &[&str], b: &[&str]) -> bool {
    let plain = !a.iter().any(|s| s.contains(['*', '?', '[', '\\']));
    plain && a.len() < b.len() && a.iter().zip(b).all(|(x, y)| x.eq_ignore_ascii_case(y))
}

/// The path's segments. A glob that ends in `/` names a folder, meaning all below it.
fn segments(glob: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = glob
        .split('/')
        .filter(|s| !matches!(*s, "" | "."))
        .collect();
    if glob.ends_with('/') {
        parts.push("**");
    }
    parts
}

fn names_meet(a: &str, b: &str) -> bool {
    let (a, b) = (characters(a), characters(b));
    meet(&a, &b, |c| *c == Piece::Star, Piece::meets)
}

/// A piece of a name's pattern.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Star,
    Any,
    One(char),
}

impl Piece {
    /// Letters that differ only in case meet: on some file systems they are one file.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::One(x), Self::One(y)) => x == y || x.to_lowercase().eq(y.to_lowercase()),
            _ => true,
        }
    }
}

fn characters(name: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        pieces.push(match c {
            '*' => Piece::Star,
            '?' => Piece::Any,
            '\\' => rest.next().map_or(Piece::Any, Piece::One),
            '[' => {
                // The first character inside may be a `]` that does not close the class.
                let inside = rest.as_str();
                let end = inside.char_indices().skip(1).find(|(_, c)| *c == ']');
                if let Some((at, _)) = end {
                    rest = inside[at + 1..].chars();
                    Piece::Any
                } else {
                    rest = "".chars();
                    Piece::Star
                }
            }
            c => Piece::One(c),
        });
    }
    pieces
}

/// Whether two patterns, each a row of items of which some stand for any number of items, can match
/// a common row.
fn meet<T>(a: &[T], b: &[T], star: impl Fn(&T) -> bool, equal: impl Fn(&T, &T) -> bool) -> bool {
    // ahead[j]: do the rest of `a` and `b[j..]` meet? Filled from the end, one item of `a` at a time.
    let mut ahead: Vec<bool> = vec![true; b.len() + 1];
    for j in (0..b.len()).rev() {
        ahead[j] = star(&b[j]) && ahead[j + 1];
    }
    for x in a.iter().rev() {
        let mut row = vec![false; b.len() + 1];
        row[b.len()] = star(x) && ahead[b.len()];
        for j in (0..b.len()).rev() {
            let y = &b[j];
            row[j] = if star(x) || star(y) {
                ahead[j] || row[j + 1]
            } else {
                equal(x, y) && ahead[j + 1]
            };
        }
        ahead = row;
    }
    ahead[0]
}

/// Expands `{a,b}` alternatives. Too many of them become one `*`, which meets everything they do.
fn braces(glob: &str) -> Vec<String> {
    const MOST: usize = 64;
    let mut open = vec![glob.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        if open.len() + done.len() > MOST {
            return vec!["**".into()];
        }
        match innermost(&pattern) {
            None => done.push(pattern),
            Some((start, end)) => {
                let (head, tail) = (&pattern[..start], &pattern[end + 1..]);
                for choice in pattern[start + 1..end].split(',') {
                    open.push(format!("{head}{choice}{tail}"));
                }
            }
        }
    }
    done
}

fn innermost(pattern: &str) -> Option<(usize, usize)> {
    let end = pattern.find('}')?;
    let start = pattern[..end].rfind('{')?;
    Some((start, end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::overlap;

    fn meet(a: &str, b: &str) -> bool {
        let (a, b) = ([a.to_owned()], [b.to_owned()]);
        let there = overlap(&a, &b).is_some();
        assert_eq!(there, overlap(&b, &a).is_some(), "not symmetric");
        there
    }

    #[test]
    fn o01_scopes_that_share_a_file_meet() {
        for (a, b) in [
            ("src/mod.rs", "src/mod.rs"),
            ("src/**", "src/mod.rs"),
            ("src/*.rs", "src/a*"),
            ("src", "src/a.rs"),
            ("src/", "src/a/b.rs"),
            ("**/*.md", "docs/api.md"),
            ("**", "anything"),
            ("a/**/z", "a/z"),
            ("src/{a,b}.rs", "src/b.rs"),
            ("src/[ab].rs", "src/a.rs"),
            ("./src/a.rs", "src/a.rs"),
            ("README.md", "readme.md"),
            ("a?c", "abc"),
            ("src/[a", "src/x"),
        ] {
            assert!(meet(a, b), "{a} and {b}");
        }
    }

    #[test]
    fn scopes_that_cannot_share_a_file_do_not_meet() {
        for (a, b) in [
            ("src/a.rs", "src/b.rs"),
            ("src/*.rs", "src/*.py"),
            ("src/**", "docs/**"),
            ("src/{a,b}.rs", "src/c.rs"),
            ("*.md", "docs/api.md"),
            ("a/**/z", "a/b/y"),
            ("src2/**", "src/**"),
            ("**/*.md", "src/a.rs"),
        ] {
            assert!(!meet(a, b), "{a} and {b}");
        }
    }

    proptest! {
        #[test]
        fn a_path_that_both_match_is_never_missed(
            path in "[ab]{1,2}(/[ab]{1,2}){0,3}",
            cut in 0usize..4,
            star in 0usize..3,
        ) {
            let segments: Vec<&str> = path.split('/').collect();
            let kept = cut.min(segments.len() - 1);
            let mut deep = segments[..kept].to_vec();
            deep.push("**");
            let deep = deep.join("/");
            prop_assert!(meet(&deep, &path));
            let mut wild: Vec<String> = segments.iter().map(ToString::to_string).collect();
            let index = star.min(wild.len() - 1);
            wild[index] = "*".into();
            prop_assert!(meet(&wild.join("/"), &path));
            prop_assert!(meet(&wild.join("/"), &deep));
        }

        #[test]
        fn any_text_is_survived(a in ".{0,12}", b in ".{0,12}") {
            meet(&a, &b);
        }
    }
}
