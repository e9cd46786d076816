//! Claimed files against changed files.

use std::collections::BTreeSet;

use baton_protocol::{Changes, Check, FileNote};
use baton_repo::{ChangeKind, ChangeSet, GitPath};

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
    let place = |name: &[u8]| touched.binary_search_by(|p| p.as_bytes().cmp(name)).ok();
    let mut matched = vec![false; touched.len()];
    // Reports mostly list files in git's order.
    let mut next = 0;
    let mut missing = BTreeSet::new();
    for claim in claims {
        let name = claim.path.strip_prefix("./").unwrap_or(&claim.path);
        let is_next = touched
            .get(next)
            .is_some_and(|p| p.as_bytes() == name.as_bytes());
        let hit = if is_next {
            Some(next)
        } else {
            place(name.as_bytes())
        };
        if let Some(hit) = hit {
            matched[hit] = true;
            next = hit + 1;
            continue;
        }
        let mut any = false;
        for (i, _) in touched
            .iter()
            .enumerate()
            .filter(|(_, p)| is_meant(name, p))
        {
            matched[i] = true;
            any = true;
        }
        if !any {
            missing.insert(claim.path.as_str());
        }
    }
    let changes = facts.net.iter().chain(&facts.committed);
    for change in changes.filter(|c| c.kind == ChangeKind::Renamed) {
        let both: Vec<usize> = change
            .touched()
            .filter_map(|n| place(n.as_bytes()))
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

/// Whether every changed name is claimed.
pub(crate) fn name_all(claims: &[FileNote], facts: &ChangeSet) -> bool {
    hits(claims, facts).matched.iter().all(|is| *is)
}

/// The claims that name nothing changed.
pub(crate) fn missing(claims: &[FileNote], facts: &ChangeSet) -> Vec<String> {
    let missing = hits(claims, facts).missing;
    missing.into_iter().map(str::to_owned).collect()
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

/// Whether a claim names this file: byte by byte, also as git quotes it, or a folder with a `/`.
fn is_meant(claim: &str, path: &GitPath) -> bool {
    if claim.as_bytes() == path.as_bytes() {
        return true;
    }
    if let Some(folder) = claim.strip_suffix('/') {
        return !folder.is_empty() && path.is_within(folder);
    }
    if renamed(claim)
        .is_some_and(|(old, new)| [old, new].iter().any(|n| n.as_bytes() == path.as_bytes()))
    {
        return true;
    }
    claim.starts_with('"')
        && (claim == path.to_string()
            || unquoted(claim.as_bytes()).as_deref() == Some(path.as_bytes()))
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

/// `files`: the report lists exactly what changed. Files git ignores cannot be told.
pub(crate) fn files(compared: &Compared, ignored: &[String]) -> Check {
    let (hidden, missing): (Vec<&String>, Vec<&String>) =
        compared.missing.iter().partition(|m| ignored.contains(m));
    let mut faults = Vec::new();
    if !missing.is_empty() {
        faults.push(format!("claimed_not_changed: {}", list(missing)));
    }
    if !compared.unclaimed.is_empty() {
        faults.push(format!(
            "changed_not_claimed: {}",
            list(&compared.unclaimed)
        ));
    }
    if !faults.is_empty() {
        fail("files", faults.join("; "))
    } else if !hidden.is_empty() {
        unknown(
            "files",
            format!(
                "claimed, but git ignores it, so nobody can tell: {}",
                list(hidden)
            ),
        )
    } else {
        pass(
            "files",
            format!(
                "{} claimed and changed",
                count(compared.matched.len(), "file")
            ),
        )
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

    use super::is_meant;

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
}
