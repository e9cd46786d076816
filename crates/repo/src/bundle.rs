//! Bundles: commits in a file, for a host that shares no folder with this one.
//!
//! The file is what `git bundle` makes and reads. Its head is written here, because git wants a
//! reference for each commit and a user's repository is not to get any.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::error::RepoError;
use crate::git::Git;
use crate::id::ObjectId;
use crate::path::GitPath;
use crate::repo::{Repo, parse_id, split_names};

/// Before a commit whose parents the sender does not have. git itself knows no such line, and no
/// bundle of a shallow clone.
const EDGE: &str = "@baton-edge=";

/// The longest head of a bundle that is read.
const LONGEST_HEAD: usize = 1 << 20;

/// The reference under which a commit stands in a bundle of ours.
const REFERENCE: &str = "refs/baton/";

impl Repo {
    /// Writes a bundle of `commits` and their history to a file, without what `have` holds. Commits of
    /// `have` that this repository does not know are passed over.
    pub fn bundle(
        &self,
        file: &Path,
        commits: &[ObjectId],
        have: &[ObjectId],
    ) -> Result<(), RepoError> {
        let known: Vec<&ObjectId> = have
            .iter()
            .filter(|id| matches!(self.find(&format!("{id}^{{commit}}")), Ok(Some(_))))
            .collect();
        let mut head = String::new();
        let edge = self.shallow_edge();
        let is_long = commits.iter().any(|c| c.as_str().len() > 40);
        let version = if is_long || !edge.is_empty() { 3 } else { 2 };
        // Writing into a String cannot fail, so the results are not looked at.
        let _ = writeln!(head, "# v{version} git bundle");
        if is_long {
            head.push_str("@object-format=sha256\n");
        }
        for id in &edge {
            let _ = writeln!(head, "{EDGE}{id}");
        }
        let mut wanted = String::new();
        for id in &known {
            let _ = writeln!(head, "-{id}");
            let _ = writeln!(wanted, "^{id}");
        }
        for id in commits {
            let _ = writeln!(head, "{id} {REFERENCE}{id}");
            let _ = writeln!(wanted, "{id}");
        }
        head.push('\n');
        let cannot = || RepoError::io(format!("cannot write {}", file.display()));
        let mut made = File::create(file).map_err(cannot())?;
        made.write_all(head.as_bytes()).map_err(cannot())?;
        self.git(["pack-objects", "--revs", "--thin", "--delta-base-offset"])
            .args(["--stdout", "--quiet"])
            .stdin(wanted)
            .stdout_file(Arc::new(made))
            .ok()?;
        Ok(())
    }

    /// The commits whose parents this repository does not have, in a shallow clone.
    fn shallow_edge(&self) -> Vec<ObjectId> {
        let text = std::fs::read_to_string(self.common_dir().join("shallow"));
        let text = text.unwrap_or_default();
        text.lines().filter_map(ObjectId::new).collect()
    }

    /// Takes the objects of a bundle in and checks them; no reference changes. Answers the commits
    /// the bundle names.
    pub fn unbundle(&self, file: &Path) -> Result<Vec<ObjectId>, RepoError> {
        take_in(&self.git_here(), Opened::open(file)?, true)
    }

    /// Git in this work tree, for the functions that also work without one.
    fn git_here(&self) -> impl Fn(&[&str]) -> Git + '_ {
        |args: &[&str]| self.git([]).args(args)
    }

    /// Makes the files of the work tree what they are in a commit, as uncommitted changes: HEAD and
    /// the index stay where they are. Files of the same names that git does not track are replaced.
    pub fn lay(&self, commit: &ObjectId) -> Result<(), RepoError> {
        self.git(["read-tree", "--reset", "-u", commit.as_str()])
            .ok()?;
        self.git(["reset", "--quiet"]).ok()?;
        Ok(())
    }

    /// A commit without parents that holds these files, ignored ones too. None: there are none.
    pub fn commit_of(&self, paths: &[GitPath]) -> Result<Option<ObjectId>, RepoError> {
        if paths.is_empty() {
            return Ok(None);
        }
        let dir = tempfile::tempdir().map_err(RepoError::io("cannot make a temporary folder"))?;
        let index = dir.path().join("index");
        let mut names = Vec::new();
        for path in paths {
            names.extend_from_slice(path.as_bytes());
            names.push(0);
        }
        self.git(["update-index", "--add", "-z", "--stdin"])
            .env("GIT_INDEX_FILE", &index)
            .stdin(names)
            .ok()?;
        let tree = self
            .git(["write-tree"])
            .env("GIT_INDEX_FILE", &index)
            .ok()?;
        let tree = parse_id(&tree)?;
        let commit = self
            .as_committer(self.git(["commit-tree", tree.as_str(), "-m", "files beside git"]))?
            .ok()?;
        parse_id(&commit).map(Some)
    }

    /// The files of a commit or tree.
    pub fn files_of(&self, revision: &str) -> Result<Vec<GitPath>, RepoError> {
        let said = self
            .git(["ls-tree", "-r", "-z", "--name-only", "--full-tree"])
            .arg(revision)
            .ok()?;
        Ok(split_names(&said.stdout))
    }

    /// What tells this repository from others wherever it is cloned: its first commit.
    pub fn lineage(&self, commit: &str) -> Result<ObjectId, RepoError> {
        let said = self
            .git(["rev-list", "--max-parents=0", "--max-count=1", "--reverse"])
            .arg(commit)
            .ok()?;
        parse_id(&said)
    }

    /// Puts HEAD and the index on a commit; the files stay.
    pub fn reset_keeping_files(&self, commit: &str) -> Result<(), RepoError> {
        self.git(["reset", "--quiet", "--mixed", commit])
            .ok()
            .map(|_| ())
    }
}

/// Takes a bundle in by `git`. `strict`: every object is checked as one of a stranger.
pub(crate) fn take_in(
    git: &impl Fn(&[&str]) -> Git,
    opened: Opened,
    strict: bool,
) -> Result<Vec<ObjectId>, RepoError> {
    let Opened { mut file, head } = opened;
    for id in &head.needs {
        let known = git(&["cat-file", "-e"])
            .arg(format!("{id}^{{commit}}"))
            .said()?;
        if !known.is_ok() {
            return Err(RepoError::Refused(format!(
                "the bundle rests on commit {id}, which is not here"
            )));
        }
    }
    file.seek(SeekFrom::Start(head.bytes))
        .map_err(RepoError::io("cannot read the bundle"))?;
    let pack = git(&["index-pack", "--stdin", "--fix-thin"]);
    let pack = if strict { pack.arg("--strict") } else { pack };
    pack.stdin_file(Arc::new(file)).ok()?;
    for id in &head.holds {
        let known = git(&["cat-file", "-e"])
            .arg(format!("{id}^{{commit}}"))
            .said()?;
        if !known.is_ok() {
            return Err(RepoError::Refused(format!(
                "the bundle names commit {id} and does not hold it"
            )));
        }
    }
    Ok(head.holds)
}

/// A bundle whose head was read.
pub(crate) struct Opened {
    file: File,
    head: Head,
}

impl Opened {
    pub(crate) fn open(path: &Path) -> Result<Self, RepoError> {
        let cannot = || RepoError::io(format!("cannot read the bundle {}", path.display()));
        let mut file = File::open(path).map_err(cannot())?;
        let head = Head::read(&mut file).map_err(cannot())?.ok_or_else(|| {
            RepoError::Refused("what came is not a git bundle, or it is cut off".into())
        })?;
        Ok(Self { file, head })
    }

    /// The commits whose parents the sender did not have.
    pub(crate) fn edge(&self) -> &[ObjectId] {
        &self.head.edge
    }
}

/// What stands before the pack in a bundle.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    /// Commits that must be there already.
    needs: Vec<ObjectId>,
    /// Commits it brings.
    holds: Vec<ObjectId>,
    /// Commits whose parents the sender does not have.
    edge: Vec<ObjectId>,
    /// Its own length.
    bytes: u64,
}

impl Head {
    fn read(from: &mut impl std::io::Read) -> std::io::Result<Option<Self>> {
        let mut start = Vec::new();
        let mut buffer = [0u8; 4096];
        loop {
            if let Some(head) = Self::parse(&start) {
                return Ok(Some(head));
            }
            let count = from.read(&mut buffer)?;
            if count == 0 || start.len() > LONGEST_HEAD {
                return Ok(None);
            }
            start.extend_from_slice(&buffer[..count]);
        }
    }

    fn parse(start: &[u8]) -> Option<Self> {
        let end = start.windows(2).position(|w| w == b"\n\n")?;
        let text = std::str::from_utf8(&start[..end]).ok()?;
        let mut lines = text.lines();
        if !matches!(lines.next(), Some("# v2 git bundle" | "# v3 git bundle")) {
            return None;
        }
        let mut head = Self {
            needs: Vec::new(),
            holds: Vec::new(),
            edge: Vec::new(),
            bytes: u64::try_from(end + 2).ok()?,
        };
        for line in lines {
            let word = |text: &str| ObjectId::new(text.split(' ').next().unwrap_or_default());
            if let Some(id) = line.strip_prefix(EDGE) {
                head.edge.push(word(id)?);
            }
            if line.starts_with('@') {
                continue;
            }
            match line.strip_prefix('-') {
                Some(rest) => head.needs.push(word(rest)?),
                None => head.holds.push(word(line)?),
            }
        }
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Head;

    #[test]
    fn a_head_is_read_and_what_is_none_is_refused() {
        let id = "1".repeat(40);
        let text = format!("# v2 git bundle\n-{id} subject\n{id} refs/heads/x\n\nPACK");
        let head = Head::parse(text.as_bytes()).unwrap();
        assert_eq!((head.needs.len(), head.holds.len()), (1, 1));
        assert_eq!(&text[usize::try_from(head.bytes).unwrap()..], "PACK");
        for wrong in [
            "",
            "PACK\n\n",
            "# v2 git bundle\nnothing refs/x\n\n",
            "# v2 git bundle\n",
        ] {
            assert_eq!(Head::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut with = b"# v2 git bundle\n".to_vec();
            with.extend_from_slice(&bytes);
            let _ = Head::parse(&bytes);
            let _ = Head::parse(&with);
        }
    }
}
