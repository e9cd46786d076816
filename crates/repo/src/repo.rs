//! A repository and where its parts lie.

use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use baton_process::Cancel;

use crate::error::RepoError;
use crate::git::{Git, Said};
use crate::id::ObjectId;
use crate::objects::{self, Algorithm};
use crate::path::GitPath;
use crate::raw::Change;
use crate::scratch::{Scratch, alternate};

/// The work tree of a repository.
#[derive(Debug)]
pub struct Repo {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    cancel: Cancel,
    /// The commit that was checked out when it was found, and its tree.
    found_at: Option<(ObjectId, ObjectId)>,
    /// Settings that switch off what this repository's own config would run.
    guards: OnceLock<Vec<(String, String)>>,
    scratch: Mutex<Option<Scratch>>,
    /// The newest differences between trees: a tree never changes, so they hold for good.
    diffs: Mutex<Vec<(ObjectId, ObjectId, Vec<Change>)>>,
    /// Whether contents were needed that a partial clone has left behind.
    lacks_contents: AtomicBool,
}

/// How many differences are remembered.
const DIFFS: usize = 4;

/// What a work tree has checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The commit; none before the first one.
    pub commit: Option<ObjectId>,
    /// The branch, without `refs/heads/`; none when HEAD is detached.
    pub branch: Option<String>,
}

impl Repo {
    /// Finds the repository whose work tree holds `start`.
    pub fn discover(start: &Path) -> Result<Self, RepoError> {
        let said = Git::new(
            start,
            [
                "rev-parse",
                "--path-format=absolute",
                "--is-bare-repository",
                "--show-toplevel",
                "--git-dir",
                "--git-common-dir",
                "HEAD",
                "HEAD^{tree}",
            ],
        )
        .said()?;
        // Before the first commit only the last two questions have no answer.
        let has_places = said.stdout.starts_with(b"false\n")
            && said.stdout.split(|b| *b == b'\n').nth(4).is_some();
        if !said.is_ok() && !has_places {
            if said.stdout.starts_with(b"true")
                || said.stderr.contains("must be run in a work tree")
            {
                return Err(RepoError::Bare(start.to_owned()));
            }
            if said.stderr.contains("not a git repository")
                || said.stderr.contains("annot change to")
            {
                return Err(RepoError::NotARepository(start.to_owned()));
            }
            // "dubious ownership" and its like: git's own words say what to do.
            return Err(said.into_error());
        }
        let mut lines = said.stdout.split(|b| *b == b'\n').skip(1);
        let mut next = || {
            PathBuf::from(std::ffi::OsString::from_vec(
                lines.next().unwrap_or_default().to_vec(),
            ))
        };
        let (root, git_dir, common_dir): (PathBuf, _, _) = (next(), next(), next());
        let is_inside = |start: &Path| start.starts_with(&root);
        if start.canonicalize().is_ok_and(|s| !is_inside(&s)) && !is_inside(start) {
            return Err(RepoError::Elsewhere {
                start: start.to_owned(),
                root,
            });
        }
        let mut id = || ObjectId::new(next().to_str()?);
        Ok(Self {
            found_at: id().zip(id()),
            root,
            git_dir,
            common_dir,
            cancel: Cancel::new(),
            guards: OnceLock::new(),
            scratch: Mutex::new(None),
            diffs: Mutex::new(Vec::new()),
            lacks_contents: AtomicBool::new(false),
        })
    }

    /// The same repository, whose git commands end when the caller is cancelled.
    #[must_use]
    pub fn with_cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// The root of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The git folder of this work tree (`.git`, or `.git/worktrees/NAME` of the main one).
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git folder all work trees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether this is a linked work tree rather than the main one.
    pub fn is_linked(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// The commit and branch that are checked out.
    pub fn head(&self) -> Result<Head, RepoError> {
        let branch = self.git(["symbolic-ref", "-q", "HEAD"]).said()?;
        let branch = branch
            .is_ok()
            .then(|| branch.line().replacen("refs/heads/", "", 1));
        let commit = self.find("HEAD^{commit}")?;
        Ok(Head { commit, branch })
    }

    /// The tree of a commit. That of the one that was checked out first is known.
    pub(crate) fn tree_of(&self, commit: &ObjectId) -> Result<ObjectId, RepoError> {
        match &self.found_at {
            Some((known, tree)) if known == commit => Ok(tree.clone()),
            _ => self.tree(commit.as_str()),
        }
    }

    /// Whether HEAD names a commit rather than a branch.
    pub fn is_detached(&self) -> Result<bool, RepoError> {
        Ok(self.head()?.branch.is_none())
    }

    /// The commit a revision names.
    pub fn commit(&self, revision: &str) -> Result<ObjectId, RepoError> {
        self.find(&format!("{revision}^{{commit}}"))?
            .ok_or_else(|| RepoError::UnknownRevision(revision.to_owned()))
    }

    /// The tree a revision (commit, tag or tree) names.
    pub fn tree(&self, revision: &str) -> Result<ObjectId, RepoError> {
        self.find(&format!("{revision}^{{tree}}"))?
            .ok_or_else(|| RepoError::UnknownRevision(revision.to_owned()))
    }

    /// The tree with nothing in it, in this repository's hash.
    pub fn empty_tree(&self) -> Result<ObjectId, RepoError> {
        let here = self.found_at.as_ref();
        if let Some(empty) = here.and_then(|(_, t)| objects::tree(Algorithm::of(t), &[])) {
            return Ok(empty);
        }
        let said = self.git(["hash-object", "-t", "tree", "/dev/null"]).ok()?;
        parse_id(&said)
    }

    /// The content of a file in a tree or commit; none when it is not there (or is a folder).
    pub fn read_file(&self, revision: &str, path: &GitPath) -> Result<Option<Vec<u8>>, RepoError> {
        let mut name = revision.as_bytes().to_vec();
        name.push(b':');
        name.extend_from_slice(path.as_bytes());
        let name = std::ffi::OsString::from_vec(name);
        let said = self.reading(["cat-file", "blob"]).arg(name).said()?;
        Ok(said.is_ok().then_some(said.stdout))
    }

    /// Whether `ancestor` is reachable from `descendant`.
    pub fn is_ancestor(&self, ancestor: &str, descendant: &str) -> Result<bool, RepoError> {
        let said = self
            .git(["merge-base", "--is-ancestor", ancestor, descendant])
            .said()?;
        match said.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(said.into_error()),
        }
    }

    /// The newest commit both revisions descend from.
    pub fn merge_base(&self, a: &str, b: &str) -> Result<Option<ObjectId>, RepoError> {
        let said = self.git(["merge-base", a, b]).said()?;
        Ok(ObjectId::new(&said.line()))
    }

    /// Those of the names that git ignores. Of a name inside a submodule or behind a link git does
    /// not tell, so it is none of them.
    pub fn ignored(&self, names: &[GitPath]) -> Result<Vec<GitPath>, RepoError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let mut input = Vec::new();
        for name in names {
            input.extend_from_slice(name.as_bytes());
            input.push(0);
        }
        let said = self
            .git(["check-ignore", "-z", "--stdin"])
            .stdin(input)
            .said()?;
        let is_refused = ["is in submodule", "is beyond a symbolic link"];
        match said.code {
            Some(0 | 1) => Ok(split_names(&said.stdout)),
            _ if !is_refused.iter().any(|why| said.stderr.contains(why)) => Err(said.into_error()),
            _ if names.len() == 1 => Ok(Vec::new()),
            // One name that it refuses, and it tells nothing of the others.
            _ => {
                let (some, others) = names.split_at(names.len() / 2);
                Ok([self.ignored(some)?, self.ignored(others)?].concat())
            }
        }
    }

    /// Those of the names whose mode on disk is not that of the index while git does not look at
    /// modes here (`core.filemode`).
    pub fn modes_untold(&self, names: &[GitPath]) -> Result<Vec<GitPath>, RepoError> {
        let asked = ["config", "--type=bool", "--get", "core.filemode"];
        if names.is_empty() || self.git(asked).said()?.line() != "false" {
            return Ok(Vec::new());
        }
        let files = names.iter().map(GitPath::as_path);
        let said = self
            .git(["ls-files", "--stage", "-z", "--"])
            .args(files)
            .ok()?;
        // `mode id stage\tpath\0`
        let records = said.stdout.split(|b| *b == 0);
        let differing = records.filter_map(|record| {
            let cut = record.iter().position(|b| *b == b'\t')?;
            let path = GitPath::new(&record[cut + 1..]);
            let data = std::fs::symlink_metadata(self.root.join(path.as_path())).ok()?;
            let runs = data.is_file() && data.permissions().mode() & 0o100 != 0;
            let ran = record.starts_with(b"100755");
            (data.is_file() && runs != ran).then_some(path)
        });
        Ok(differing.collect())
    }

    /// The file whose rule makes git ignore each of these names, and the name without a slash
    /// behind it. The file is as git names it: relative to the root, or absolute.
    pub fn ignored_by(&self, names: &[GitPath]) -> Result<Vec<(GitPath, GitPath)>, RepoError> {
        let mut input = Vec::new();
        for name in names {
            input.extend_from_slice(name.as_bytes());
            input.push(0);
        }
        let said = self
            .git(["check-ignore", "--verbose", "-z", "--stdin"])
            .stdin(input)
            .said()?;
        // `source\0line\0pattern\0path\0`
        let fields: Vec<&[u8]> = said.stdout.split(|b| *b == 0).collect();
        let pairs = fields.chunks_exact(4).map(|r| {
            let name = r[3].strip_suffix(b"/").unwrap_or(r[3]);
            (GitPath::new(r[0]), GitPath::new(name))
        });
        Ok(pairs.collect())
    }

    /// The files with ignore rules that do not travel with the work: `info/exclude`, and what the
    /// repository's own config names.
    pub fn untravelled_rules(&self) -> Vec<PathBuf> {
        let mut files = vec![self.common_dir.join("info/exclude")];
        for scope in ["--local", "--worktree"] {
            let asked = ["config", scope, "--includes", "--type=path", "-z"];
            let said = self.git(asked).args(["--get", "core.excludesFile"]).said();
            let named = said.ok().filter(Said::is_ok).map(|s| s.stdout);
            let name = named.and_then(|n| n.strip_suffix(b"\0").map(<[u8]>::to_vec));
            let path = name.map(|n| PathBuf::from(std::ffi::OsString::from_vec(n)));
            files.extend(path.map(|p| self.root.join(p)));
        }
        files
    }

    /// The paths that `.gitmodules` of a tree or commit declares.
    pub fn submodule_paths(&self, revision: &str) -> Result<Vec<GitPath>, RepoError> {
        let names = self.submodule_names(revision)?;
        Ok(names.into_iter().map(|(_, path)| path).collect())
    }

    /// The names and paths of the submodules that `.gitmodules` of a tree or commit declares.
    pub(crate) fn submodule_names(
        &self,
        revision: &str,
    ) -> Result<Vec<(String, GitPath)>, RepoError> {
        let blob = format!("{revision}:.gitmodules");
        if self.find(&blob)?.is_none() {
            return Ok(Vec::new());
        }
        let said = self
            .reading(["config", "-z", "--blob"])
            .args([blob.as_str(), "--get-regexp", r"^submodule\..*\.path$"])
            .said()?;
        let pairs = split_names(&said.stdout);
        let paths = pairs.iter().filter_map(|pair| {
            let cut = pair.as_bytes().iter().position(|b| *b == b'\n')?;
            let key = std::str::from_utf8(&pair.as_bytes()[..cut]).ok()?;
            let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
            Some((name.to_owned(), GitPath::new(&pair.as_bytes()[cut + 1..])))
        });
        Ok(paths.collect())
    }

    pub(crate) fn find(&self, revision: &str) -> Result<Option<ObjectId>, RepoError> {
        let said = self
            .reading(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(revision)
            .said()?;
        Ok(ObjectId::new(&said.line()).filter(|_| said.is_ok()))
    }

    /// A git command in this work tree.
    pub(crate) fn git<const N: usize>(&self, args: [&str; N]) -> Git {
        Git::new(&self.root, args)
            .settings(self.guards())
            .cancel(&self.cancel)
    }

    /// A git command that only reads, and also sees the objects of private snapshots.
    ///
    /// A command that writes must not see them: git would take them for stored and not write them.
    pub(crate) fn reading<const N: usize>(&self, args: [&str; N]) -> Git {
        let git = self.git(args);
        match &*self.scratch() {
            Some(scratch) => git.env(
                "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                alternate(&scratch.objects()),
            ),
            None => git,
        }
    }

    pub(crate) const fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub(crate) fn scratch(&self) -> MutexGuard<'_, Option<Scratch>> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a rename may have gone unseen, because this is a partial clone and has not the
    /// contents of both names.
    pub fn lacks_contents(&self) -> bool {
        self.lacks_contents.load(Ordering::Relaxed)
    }

    pub(crate) fn missed_contents(&self) {
        self.lacks_contents.store(true, Ordering::Relaxed);
    }

    pub(crate) fn known_diff(&self, old: &ObjectId, new: &ObjectId) -> Option<Vec<Change>> {
        let diffs = self.diffs.lock().unwrap_or_else(PoisonError::into_inner);
        let known = diffs.iter().find(|(a, b, _)| a == old && b == new);
        known.map(|(_, _, changes)| changes.clone())
    }

    pub(crate) fn remember_diff(&self, old: &ObjectId, new: &ObjectId, changes: &[Change]) {
        let mut diffs = self.diffs.lock().unwrap_or_else(PoisonError::into_inner);
        if diffs.len() >= DIFFS {
            diffs.remove(0);
        }
        diffs.push((old.clone(), new.clone(), changes.to_vec()));
    }

    /// Filters, merge drivers and the like that the repository's own config would run.
    ///
    /// A worker that can write the config must not make the host run a program. Those of the
    /// user's own config (git-lfs, say) stay, unless the repository redefines them.
    pub(crate) fn guards(&self) -> &[(String, String)] {
        self.guards.get_or_init(|| {
            let mut guards = Vec::new();
            if self.tells_case_apart() {
                // Else a file could hide behind one whose name differs in case only.
                guards.push(("core.ignorecase".to_owned(), "false".to_owned()));
            }
            if !self.sets_no_programs() {
                let config = ["config", "--show-scope", "--name-only", "-z"];
                let said = Git::new(&self.root, config)
                    .args(["--get-regexp", PROGRAMS])
                    .said();
                guards.extend(said.map(|s| guards_for(&s.stdout)).unwrap_or_default());
            }
            guards
        })
    }

    /// Whether names that differ in case only are two files here, as git tries it out.
    fn tells_case_apart(&self) -> bool {
        self.common_dir.join("config").exists() && !self.common_dir.join("CoNfIg").exists()
    }

    /// Whether the repository's own config plainly has nothing to switch off, so that git need not
    /// be asked: no section of that kind, and no other file that it includes.
    fn sets_no_programs(&self) -> bool {
        let text = |file: PathBuf| match std::fs::read(file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Some(Vec::new()),
            other => other.ok(),
        };
        let shared = text(self.common_dir.join("config"));
        let own = text(self.git_dir.join("config.worktree"));
        [shared, own]
            .iter()
            .all(|text| text.as_ref().is_some_and(|text| names_no_program(text)))
    }
}

/// Whether a config file has none of the sections that can name a program, and includes no file.
/// A section's name follows its bracket at once, in whatever case.
fn names_no_program(config: &[u8]) -> bool {
    let lower = config.to_ascii_lowercase();
    let sections: [&[u8]; 4] = [b"[filter", b"[merge", b"[diff", b"[include"];
    !sections
        .iter()
        .any(|name| lower.windows(name.len()).any(|part| part == *name))
}

/// Settings that name a program to run.
const PROGRAMS: &str = r"^(filter|merge|diff)\..*\.(clean|smudge|process|driver|command|textconv)$";

/// Reads `scope\0name\0…`; only what the repository itself sets is switched off.
fn guards_for(listed: &[u8]) -> Vec<(String, String)> {
    let fields: Vec<&[u8]> = listed.split(|b| *b == 0).collect();
    let pairs = fields.chunks_exact(2);
    let local = pairs.filter(|p| matches!(p[0], b"local" | b"worktree"));
    let mut guards = Vec::new();
    for pair in local {
        let name = String::from_utf8_lossy(pair[1]).into_owned();
        if let Some((filter, _)) = name.rsplit_once('.')
            && filter.starts_with("filter.")
        {
            // A filter that must run and may not would be an error.
            guards.push((format!("{filter}.required"), "false".to_owned()));
        }
        // A merge driver that fails leaves the file in conflict, which is the safe answer.
        let value = if name.ends_with(".driver") {
            "false"
        } else {
            ""
        };
        guards.push((name, value.to_owned()));
    }
    guards
}

/// The object id a command printed.
pub(crate) fn parse_id(said: &Said) -> Result<ObjectId, RepoError> {
    let line = said.line();
    ObjectId::new(line.trim()).ok_or_else(|| RepoError::Output {
        command: said.command.clone(),
        what: format!("`{line}` is not an object id"),
    })
}

/// The names of a list that NUL bytes part.
pub(crate) fn split_names(bytes: &[u8]) -> Vec<GitPath> {
    let names = bytes.split(|b| *b == 0).filter(|n| !n.is_empty());
    names.map(GitPath::new).collect()
}
