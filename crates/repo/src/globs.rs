//! Ownership globs: which files a task may change.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::path::GitPath;

/// A set of globs over paths relative to the repository root.
///
/// `*` and `?` stay within one folder, `**` crosses folders, `{a,b}` and `[ab]` are alternatives.
/// A pattern that names a folder owns everything in it (`src`, `src/`). A pattern also owns the
/// path it spells, so `app/[id]/page.tsx` works for the file of that name. `!pattern` takes away
/// from the others. No pattern at all owns nothing.
#[derive(Debug, Clone)]
pub struct Globs {
    patterns: Vec<String>,
    owned: Set,
    taken_away: Set,
}

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("glob `{pattern}`: {why}")]
pub struct GlobError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

#[derive(Debug, Clone)]
struct Set {
    globs: GlobSet,
    literal: Vec<String>,
}

impl Globs {
    /// Compiles the patterns.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, GlobError> {
        let all = || patterns.iter().map(AsRef::as_ref);
        let negative = |p: &&str| p.starts_with('!');
        Ok(Self {
            patterns: all().map(str::to_owned).collect(),
            owned: Set::new(all().filter(|p| !negative(p)))?,
            taken_away: Set::new(all().filter(negative).map(|p| &p[1..]))?,
        })
    }

    /// Whether the path is owned.
    pub fn matches(&self, path: &GitPath) -> bool {
        self.owned.matches(path) && !self.taken_away.matches(path)
    }

    /// The patterns, as they were given.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }
}

impl Set {
    fn new<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<Self, GlobError> {
        let mut globs = GlobSetBuilder::new();
        let mut literal = Vec::new();
        for pattern in patterns {
            let fail = |why: String| GlobError {
                pattern: pattern.to_owned(),
                why,
            };
            let clean = clean(pattern).map_err(|why| fail(why.to_owned()))?;
            match compile(clean) {
                Ok(pair) => pair.into_iter().for_each(|g| {
                    globs.add(g);
                }),
                // A name like `a[b` is no glob, but it is a fine file name.
                Err(_) if !clean.contains(['*', '?', '{']) => {}
                Err(e) => return Err(fail(e.kind().to_string())),
            }
            literal.push(clean.to_owned());
        }
        let globs = globs.build().map_err(|e| GlobError {
            pattern: e.glob().unwrap_or_default().to_owned(),
            why: e.kind().to_string(),
        })?;
        Ok(Self { globs, literal })
    }

    fn matches(&self, path: &GitPath) -> bool {
        self.literal.iter().any(|l| path.is_within(l)) || self.globs.is_match(path.as_path())
    }
}

/// Strips `./` and a final `/`, and refuses what cannot name a file of the repository.
fn clean(pattern: &str) -> Result<&str, &'static str> {
    let mut rest = pattern;
    while let Some(shorter) = rest.strip_prefix("./") {
        rest = shorter;
    }
    let rest = rest.trim_end_matches('/');
    if pattern.starts_with('/') {
        return Err("it is absolute; globs are relative to the repository root");
    }
    if rest.is_empty() {
        return Err("it is empty; write `**` to own everything");
    }
    if rest.split('/').any(|s| s == "..") {
        return Err("it leads out of the repository");
    }
    if rest == "." {
        return Err("write `**` to own everything");
    }
    Ok(rest)
}

/// The pattern, and everything below it when its last segment is a plain name.
fn compile(pattern: &str) -> Result<Vec<Glob>, globset::Error> {
    let build = |p: &str| {
        GlobBuilder::new(p)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
    };
    let mut globs = vec![build(pattern)?];
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    if !last.contains(['*', '?', '[', '{', '}', ',']) {
        globs.push(build(&format!("{pattern}/**"))?);
    }
    Ok(globs)
}

#[cfg(test)]
mod tests {
    use super::Globs;
    use crate::path::GitPath;

    fn owns(patterns: &[&str], path: &str) -> bool {
        Globs::new(patterns).unwrap().matches(&GitPath::from(path))
    }

    #[test]
    fn h25_no_pattern_owns_nothing() {
        for path in ["a", "src/lib.rs", ""] {
            assert!(!owns(&[], path), "{path}");
        }
    }

    #[test]
    fn a_star_stays_in_its_folder() {
        assert!(owns(&["src/*.rs"], "src/a.rs"));
        assert!(!owns(&["src/*.rs"], "src/a/b.rs"));
        assert!(!owns(&["*"], "src/a.rs"));
        assert!(owns(&["**"], "src/a.rs") && owns(&["**/*.rs"], "a.rs"));
        assert!(owns(&["src/**"], "src/a/b.rs") && !owns(&["src/**"], "srcs/a"));
        assert!(owns(&["src/{a,b}/*"], "src/b/x") && !owns(&["src/{a,b}/*"], "src/c/x"));
    }

    #[test]
    fn a_folder_owns_what_is_in_it_and_not_its_neighbour() {
        for pattern in ["src", "src/", "./src"] {
            assert!(owns(&[pattern], "src/deep/a.rs"), "{pattern}");
            assert!(!owns(&[pattern], "src2/a.rs"), "{pattern}");
        }
        assert!(owns(&["crates/*/src"], "crates/x/src/lib.rs"));
        assert!(!owns(&["crates/*/src"], "crates/x/y/src/lib.rs"));
    }

    #[test]
    fn a_name_that_looks_like_a_glob_owns_itself() {
        assert!(owns(&["app/[id]/page.tsx"], "app/[id]/page.tsx"));
        assert!(owns(&["a[b"], "a[b"));
        assert!(owns(&["normal -> file.txt"], "normal -> file.txt"));
    }

    #[test]
    fn an_exclamation_mark_takes_away() {
        let patterns = ["src/**", "!src/generated"];
        assert!(owns(&patterns, "src/a.rs") && !owns(&patterns, "src/generated/b.rs"));
    }

    #[test]
    fn bytes_that_are_not_text_are_matched_too() {
        let globs = Globs::new(&["data/*"]).unwrap();
        assert!(globs.matches(&GitPath::new(&b"data/\xff.bin"[..])));
        assert!(!globs.matches(&GitPath::new(&b"\xff/x"[..])));
    }

    #[test]
    fn a_pattern_outside_the_repository_is_refused_by_name() {
        for bad in ["/etc/**", "../x", "a/../b", "", ".", "x/{a"] {
            let error = Globs::new(&[bad]).unwrap_err();
            assert_eq!(error.pattern, bad);
        }
    }
}
