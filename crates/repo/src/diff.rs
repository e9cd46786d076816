//! The text of a difference and its size.

use crate::error::RepoError;
use crate::path::GitPath;
use crate::repo::Repo;

/// How many lines of a file changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCount {
    /// The name it has now.
    pub path: GitPath,
    /// The name it had, when it was renamed or copied.
    pub from: Option<GitPath>,
    /// Lines added; none for a binary file.
    pub added: Option<u64>,
    /// Lines removed; none for a binary file.
    pub removed: Option<u64>,
}

impl Repo {
    /// The difference between two trees or commits as `git diff` prints it, bytes as they are.
    /// No paths: all of it.
    pub fn diff_text(&self, old: &str, new: &str, paths: &[GitPath]) -> Result<Vec<u8>, RepoError> {
        let said = self
            .reading(["diff-tree", "-r", "-p", "--no-commit-id", "--no-ext-diff"])
            .args([
                "--no-textconv",
                "--no-color",
                "--src-prefix=a/",
                "--dst-prefix=b/",
            ])
            .args(["-M", "-l1000", "--ignore-submodules=none", old, new, "--"])
            .args(paths.iter().map(GitPath::as_path))
            .ok()?;
        Ok(said.stdout)
    }

    /// The number of changed lines, file by file.
    pub fn line_counts(&self, old: &str, new: &str) -> Result<Vec<LineCount>, RepoError> {
        let said = self
            .reading(["diff-tree", "-r", "--numstat", "-z", "--no-commit-id"])
            .args(["--no-ext-diff", "--no-textconv", "-M", "-l1000", old, new])
            .ok()?;
        parse(&said.stdout)
    }
}

/// Reads `added\tremoved\tpath\0`, or `added\tremoved\t\0old\0new\0` for a rename.
fn parse(bytes: &[u8]) -> Result<Vec<LineCount>, RepoError> {
    let mut fields = bytes.split(|b| *b == 0);
    let mut counts = Vec::new();
    while let Some(record) = fields.next() {
        if record.is_empty() {
            continue;
        }
        let mut parts = record.splitn(3, |b| *b == b'\t');
        let (Some(added), Some(removed), Some(name)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(RepoError::Output {
                command: "diff-tree --numstat -z".into(),
                what: format!("record `{}`", GitPath::new(record)),
            });
        };
        let (from, path) = if name.is_empty() {
            let old = fields.next().unwrap_or_default();
            (Some(GitPath::new(old)), fields.next().unwrap_or_default())
        } else {
            (None, name)
        };
        counts.push(LineCount {
            path: GitPath::new(path),
            from,
            added: number(added),
            removed: number(removed),
        });
    }
    Ok(counts)
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn binary_files_and_renames_are_counted() {
        let counts = parse(b"3\t1\ta b\0-\t-\tx.png\x000\t2\t\0old -> name\0new\tname\0").unwrap();
        assert_eq!(counts.len(), 3);
        assert_eq!((counts[0].added, counts[0].removed), (Some(3), Some(1)));
        assert_eq!(counts[1].added, None);
        assert_eq!(counts[2].from.as_ref().unwrap().as_bytes(), b"old -> name");
        assert_eq!(counts[2].path.as_bytes(), b"new\tname");
    }

    #[test]
    fn a_cut_record_is_an_error() {
        assert!(parse(b"3\t1").is_err());
    }
}
