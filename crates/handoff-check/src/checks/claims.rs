//! Claimed files against changed files.

use std::collections::BTreeSet;
use std::ops::Range;

use baton_protocol::{Changes, Check, FileNote};
use baton_repo::{Change, ChangeKind, ChangeSet, GitPath, Mode};

use super::{count, fail, list, pass, unknown};

/// The three classes, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) matched: Vec<String>,
    pub(crate) unclaimed: Vec<String>,
    pub(crate) missing: Vec<String>,
}

/// Which changed names are claimed, and which claims name none. One name of a rename is enough: the
/// other is the same change.
struct Hits<'a> {
    touched: Vec<&'a GitPath>,
    matched: Vec<bool>,
    missing: BTreeSet<&'a str>,
}

fn hits<'a>(claims: &'a [FileNote], facts: &'a ChangeSet) -> Hits<'a> {
    let touched = facts.touched();
    let mut matched = vec![false; touched.len()];
    let changes = || facts.net.iter().chain(&facts.committed);
    let is_submodule = |c: &&Change| [c.old_mode, c.new_mode].contains(&Mode::Submodule);
    let inside = facts.status.iter().filter(|e| e.submodule.is_some());
    let submodules: Vec<&GitPath> = changes()
        .filter(is_submodule)
        .map(|c| &c.path)
        .chain(inside.map(|e| &e.path))
        .collect();
    // Reports mostly list files in git's order.
    let mut next = 0;
    let mut missing = BTreeSet::new();
    for claim in claims {
        let name = claim.path.strip_prefix("./").unwrap_or(&claim.path);
        let is_next = touched
            .get(next)
            .is_some_and(|p| p.as_bytes() == name.as_bytes());
        if is_next {
            matched[next] = true;
            next += 1;
            continue;
        }
        let mut meant = meant(name, &touched);
        if meant.is_empty() {
            // Of a submodule git tells the commit; a file inside stands for it.
            let place = submodules.iter().find_map(|s| {
                let inside = name.as_bytes().strip_prefix(s.as_bytes())?;
                inside
                    .starts_with(b"/")
                    .then(|| place(s.as_bytes(), &touched))?
            });
            meant.extend(place.map(|i| i..i + 1));
        }
        if meant.is_empty() {
            missing.insert(claim.path.as_str());
        }
        for places in meant {
            next = places.end;
            matched[places].fill(true);
        }
    }
    for change in changes().filter(|c| c.kind == ChangeKind::Renamed) {
        let both: Vec<usize> = change
            .touched()
            .filter_map(|n| place(n.as_bytes(), &touched))
            .collect();
        if both.iter().any(|i| matched[*i]) {
            for i in both {
                matched[i] = true;
            }
        }
    }
    Hits {
        touched,
        matched,
        missing,
    }
}

fn place(name: &[u8], touched: &[&GitPath]) -> Option<usize> {
    touched.binary_search_by(|p| p.as_bytes().cmp(name)).ok()
}

/// The places of the files that a claim names: byte by byte, also as git quotes it, both names of a
/// rename, or all below a folder with a `/`.
fn meant(claim: &str, touched: &[&GitPath]) -> Vec<Range<usize>> {
    let one = |name: &[u8]| place(name, touched).map(|i| i..i + 1);
    if let Some(same) = one(claim.as_bytes()) {
        return vec![same];
    }
    if let Some(folder) = claim.strip_suffix('/') {
        if folder.is_empty() {
            return Vec::new();
        }
        // What lies below a folder follows one another in the order of the bytes.
        let start = touched.partition_point(|p| p.as_bytes() < claim.as_bytes());
        let below = touched[start..].iter();
        let end = start + below.take_while(|p| p.is_within(folder)).count();
        let itself = one(folder.as_bytes());
        return itself
            .into_iter()
            .chain((start < end).then_some(start..end))
            .collect();
    }
    if let Some((old, new)) = renamed(claim) {
        return [old, new]
            .iter()
            .filter_map(|n| one(n.as_bytes()))
            .collect();
    }
    if !claim.starts_with('"') {
        return Vec::new();
    }
    if let Some(same) = unquoted(claim.as_bytes()).and_then(|name| one(&name)) {
        return vec![same];
    }
    let as_we_show_it = touched.iter().position(|p| p.to_string() == claim);
    as_we_show_it.map(|i| i..i + 1).into_iter().collect()
}

/// Whether every changed name is claimed.
pub(crate) fn name_all(claims: &[FileNote], facts: &ChangeSet) -> bool {
    hits(claims, facts).matched.iter().all(|is| *is)
}

/// Compares the claims with every changed name.
pub(crate) fn compare(claims: &[FileNote], facts: &ChangeSet) -> Compared {
    let hits = hits(claims, facts);
    let those = |wanted: bool| {
        let all = hits.touched.iter().zip(&hits.matched);
        all.filter(|(_, is)| **is == wanted)
            .map(|(path, _)| path.to_string())
            .collect()
    };
    Compared {
        unclaimed: those(false),
        matched: those(true),
        missing: hits.missing.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// Both names of `old -> new`, `old => new` or `src/{old => new}/x`, as git's summaries have them.
pub(crate) fn renamed(claim: &str) -> Option<(String, String)> {
    let arrow = [" -> ", " => "].into_iter().find(|a| claim.contains(a))?;
    if let Some((before, rest)) = claim.split_once('{')
        && let Some((inside, after)) = rest.split_once('}')
        && let Some((old, new)) = inside.split_once(arrow)
    {
        let join = |part: &str| format!("{before}{part}{after}").replace("//", "/");
        return Some((join(old), join(new)));
    }
    let (old, new) = claim.split_once(arrow)?;
    Some((old.to_owned(), new.to_owned()))
}

/// Git's own quoting, as in `"caf\303\251.txt"`, which a worker may copy from `git status`.
pub(crate) fn unquoted(claim: &[u8]) -> Option<Vec<u8>> {
    let inner = claim.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut bytes = Vec::new();
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let escaped = rest.next()?;
        bytes.push(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'v' => 11,
            b'f' => 12,
            b'0'..=b'3' => {
                let mut digit = || {
                    rest.next()
                        .filter(|d| (b'0'..=b'7').contains(d))
                        .map(|d| d - b'0')
                };
                (escaped - b'0') * 64 + digit()? * 8 + digit()?
            }
            other => other,
        });
    }
    Some(bytes)
}

/// What git cannot tell of some names, so that nobody is accused by them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Untold<'a> {
    /// Claimed files that git ignores.
    pub(crate) ignored: &'a [String],
    /// Claimed files of which only the mode differs, while git does not look at modes.
    pub(crate) modes: &'a [String],
    /// Deleted names that may be the old ones of claimed files: their contents are not here.
    pub(crate) renamed: &'a [String],
}

/// `files`: the report lists exactly what changed.
pub(crate) fn files(compared: &Compared, untold: Untold<'_>) -> Check {
    let part = |names: &[String], part: &[String]| -> (Vec<String>, Vec<String>) {
        names.iter().cloned().partition(|name| part.contains(name))
    };
    let (ignored, missing) = part(&compared.missing, untold.ignored);
    let (modes, missing) = part(&missing, untold.modes);
    let (renamed, unclaimed) = part(&compared.unclaimed, untold.renamed);
    let say = |words: &str, names: &[String]| format!("{words}: {}", list(names));
    let mut faults = Vec::new();
    if !missing.is_empty() {
        faults.push(say("claimed_not_changed", &missing));
    }
    if !unclaimed.is_empty() {
        faults.push(say("changed_not_claimed", &unclaimed));
    }
    if !faults.is_empty() {
        return fail("files", faults.join("; "));
    }
    let mut doubts = Vec::new();
    if !ignored.is_empty() {
        let words = "claimed, but git ignores it, so nobody can tell";
        doubts.push(say(words, &ignored));
    }
    if !modes.is_empty() {
        let words = "only its mode differs, and git does not look at modes here (core.filemode is false; git update-index --chmod=+x records one)";
        doubts.push(say(words, &modes));
    }
    if !renamed.is_empty() {
        let words = "deleted and not claimed; whether a claimed file is the same under another name cannot be told, for this partial clone has not the contents (git fetch --refetch --no-filter)";
        doubts.push(say(words, &renamed));
    }
    if doubts.is_empty() {
        let matched = count(compared.matched.len(), "file");
        pass("files", format!("{matched} claimed and changed"))
    } else {
        unknown("files", doubts.join("; "))
    }
}

impl Compared {
    /// Into the verdict's lists.
    pub(crate) fn put(self, changes: &mut Changes) {
        changes.matched = self.matched;
        changes.unclaimed = self.unclaimed;
        changes.missing = self.missing;
    }
}

#[cfg(test)]
mod tests {
    use baton_repo::GitPath;

    use super::meant;

    fn is_meant(claim: &str, path: &GitPath) -> bool {
        !meant(claim, &[path]).is_empty()
    }

    #[test]
    fn h10_a_claim_is_matched_byte_by_byte_or_as_git_quotes_it() {
        let cafe = GitPath::from("café.txt");
        for claim in ["café.txt", r#""caf\303\251.txt""#] {
            assert!(is_meant(claim, &cafe), "{claim}");
        }
        assert!(is_meant(r#""\"q\".txt""#, &GitPath::from("\"q\".txt")));
        assert!(is_meant("src/", &GitPath::from("src/a.rs")));
        for claim in ["old -> src/new", "src/{old => new}", "x => src/new"] {
            assert!(is_meant(claim, &GitPath::from("src/new")), "{claim}");
        }
        for claim in ["cafe.txt", "", "/", "caf", r#""caf\30""#] {
            assert!(!is_meant(claim, &cafe), "{claim}");
        }
        assert!(!is_meant("src", &GitPath::from("src/a.rs")));
    }

    #[test]
    fn a_folder_means_all_that_lies_below_it_and_a_rename_both_names() {
        let names = [
            "a",
            "src",
            "src-old/x",
            "src.rs",
            "src/a",
            "src/b/c",
            "src0",
        ];
        let paths = names.map(GitPath::from);
        let touched: Vec<&GitPath> = paths.iter().collect();
        assert_eq!(meant("src/", &touched), [1..2, 4..6]);
        assert!(meant("a => src/{b => x}/c", &touched).is_empty());
        assert_eq!(meant("src/{b/c => a}", &touched), [5..6, 4..5]);
        assert!(meant("none/", &touched).is_empty());
    }
}
