//! Contents that git stores just as they are on disk, which is nearly all of them: those are named
//! here, many at a time, instead of being copied into a store by git.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::id::ObjectId;
use crate::index;
use crate::objects::{self, Algorithm, Blob, Leaf};
use crate::path::GitPath;
use crate::raw::Mode;
use crate::repo::Repo;
use crate::states::{State, States};

/// Settings that decide how git takes a file in.
const SETTINGS: &str = r"^core\.(autocrlf|filemode|symlinks|ignorecase|precomposeunicode)$";

/// How git takes files in.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    /// Whether every file's line ends may be turned.
    all_turned: bool,
    /// The files whose line ends may be turned.
    turned: BTreeSet<Vec<u8>>,
}

impl Intake {
    /// Whether every file is stored just as it is on disk.
    pub(crate) fn is_plain(&self) -> bool {
        !self.all_turned && self.turned.is_empty()
    }

    fn turns(&self, path: &GitPath) -> bool {
        self.all_turned || self.turned.contains(path.as_bytes())
    }

    /// The names, where none of these contents is changed on the way in.
    fn unchanged(
        &self,
        files: &[(&GitPath, Option<Mode>)],
        found: Vec<Blob>,
    ) -> Option<Vec<(Mode, ObjectId)>> {
        let named = found.into_iter().zip(files).map(|(blob, (path, _))| {
            let is_changed = blob.has_returns && self.turns(path);
            (!is_changed).then_some((blob.mode, blob.id))
        });
        named.collect()
    }
}

impl Repo {
    /// How git takes these files in. None where it would pass one through a filter, or where that
    /// cannot be told.
    pub(crate) fn intake(
        &self,
        files: &[(&GitPath, Option<Mode>)],
        index: &Path,
    ) -> Option<Intake> {
        if files.is_empty() {
            return Some(Intake::default());
        }
        let settings = self.git(["config", "-z", "--get-regexp", SETTINGS]).said();
        let settings = settings.ok().filter(|s| matches!(s.code, Some(0 | 1)))?;
        let all_turned = turned_by_settings(&settings.stdout)?;
        let mut names = Vec::new();
        for (path, _) in files {
            names.extend_from_slice(path.as_bytes());
            names.push(0);
        }
        let attributes = self
            .git(["check-attr", "-z", "--stdin", "--all"])
            .env("GIT_INDEX_FILE", index)
            .stdin(names)
            .ok()
            .ok()?;
        Some(Intake {
            all_turned,
            turned: turned_by_attributes(&attributes.stdout)?,
        })
    }

    /// What files are and the names of their contents. None where git would change one on the way in.
    pub(crate) fn name_contents(
        &self,
        files: &[(&GitPath, Option<Mode>)],
        intake: &Intake,
        algorithm: Algorithm,
    ) -> Option<Vec<(Mode, ObjectId)>> {
        let wanted = AtomicBool::new(false);
        let found = objects::blobs(self.root(), algorithm, files, &wanted)?;
        intake.unchanged(files, found)
    }

    /// The same, while git is asked how it takes the files in: most often just as they are.
    pub(crate) fn take_in(
        &self,
        files: &[(&GitPath, Option<Mode>)],
        index: &Path,
        algorithm: Algorithm,
    ) -> Option<Vec<(Mode, ObjectId)>> {
        let is_vain = AtomicBool::new(false);
        thread::scope(|scope| {
            let intake = scope.spawn(|| {
                let intake = self.intake(files, index);
                is_vain.store(intake.is_none(), Ordering::Relaxed);
                intake
            });
            let found = objects::blobs(self.root(), algorithm, files, &is_vain);
            let intake = intake.join().ok()??;
            intake.unchanged(files, found?)
        })
    }
}

/// Whether the settings may turn line ends; none where they make git take files in its own way.
fn turned_by_settings(listed: &[u8]) -> Option<bool> {
    let mut last: BTreeMap<&[u8], bool> = BTreeMap::new();
    for setting in listed.split(|b| *b == 0).filter(|s| !s.is_empty()) {
        let mut parts = setting.splitn(2, |b| *b == b'\n');
        let name = parts.next().unwrap_or_default();
        // A setting without a value is true.
        let value = parts.next().unwrap_or(b"true").to_ascii_lowercase();
        let is_false = matches!(&value[..], b"false" | b"no" | b"off" | b"0" | b"");
        last.insert(name, !is_false);
    }
    let is = |name: &str, default| last.get(name.as_bytes()).copied().unwrap_or(default);
    // On such disks the mode, the kind or the name of a file is not what the disk says.
    let is_odd = !is("core.filemode", true)
        || !is("core.symlinks", true)
        || is("core.ignorecase", false)
        || is("core.precomposeunicode", false);
    (!is_odd).then(|| is("core.autocrlf", false))
}

/// The files whose line ends git may turn, of `path\0attribute\0value\0`. None where one passes
/// through a filter, or is stored in another form.
fn turned_by_attributes(listed: &[u8]) -> Option<BTreeSet<Vec<u8>>> {
    let fields: Vec<&[u8]> = listed.split(|b| *b == 0).collect();
    let mut turned = BTreeSet::new();
    for record in fields.chunks_exact(3) {
        let [path, attribute, value] = record else {
            continue;
        };
        let is_set = *value != b"unset";
        match *attribute {
            b"filter" | b"ident" | b"working-tree-encoding" if is_set => return None,
            b"text" | b"eol" | b"crlf" if is_set => {
                turned.insert(path.to_vec());
            }
            _ => {}
        }
    }
    Some(turned)
}

/// The name of the work tree: the index with what the disk has instead. Every content on disk must
/// have its name already. None where the index file does not tell all.
pub(crate) fn tree(states: &States, index: &Path, algorithm: Algorithm) -> Option<ObjectId> {
    let files = match fs::read(index) {
        Ok(bytes) => index::files(&bytes, algorithm.length())?,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(_) => return None,
    };
    let mut leaves = Vec::with_capacity(files.len());
    let mut changed = states.0.iter().peekable();
    for file in &files {
        while let Some((path, name)) = changed.next_if(|(path, _)| **path < file.path) {
            put(&mut leaves, path, &name.disk)?;
        }
        match changed.next_if(|(path, _)| **path == file.path) {
            Some((path, name)) => put(&mut leaves, path, &name.disk)?,
            None => leaves.push(Leaf {
                path: file.path.as_bytes(),
                mode: file.mode,
                id: &file.id,
            }),
        }
    }
    for (path, name) in changed {
        put(&mut leaves, path, &name.disk)?;
    }
    objects::tree(algorithm, &leaves)
}

fn put<'a>(leaves: &mut Vec<Leaf<'a>>, path: &'a GitPath, state: &'a State) -> Option<()> {
    match state {
        State::Absent => {}
        State::Known(mode, id) => leaves.push(Leaf {
            path: path.as_bytes(),
            mode: *mode,
            id,
        }),
        State::OnDisk(_) | State::New => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{turned_by_attributes, turned_by_settings};

    #[test]
    fn settings_that_change_how_files_are_taken_in_are_left_to_git() {
        assert_eq!(turned_by_settings(b""), Some(false));
        assert_eq!(turned_by_settings(b"core.filemode\ntrue\0"), Some(false));
        assert_eq!(turned_by_settings(b"core.autocrlf\ninput\0"), Some(true));
        assert_eq!(turned_by_settings(b"core.autocrlf\0"), Some(true));
        let last = b"core.autocrlf\ntrue\0core.autocrlf\nFalse\0";
        assert_eq!(turned_by_settings(last), Some(false));
        for odd in ["filemode\nfalse", "symlinks\nno", "ignorecase\ntrue"] {
            let setting = format!("core.{odd}\0");
            assert_eq!(turned_by_settings(setting.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn attributes_that_change_contents_are_left_to_git() {
        assert!(turned_by_attributes(b"").unwrap().is_empty());
        let text = b"a\0text\0auto\0b\0text\0unset\0b\0diff\0set\0";
        let turned = turned_by_attributes(text).unwrap();
        assert!(turned.contains(&b"a"[..]) && turned.len() == 1);
        assert!(turned_by_attributes(b"a\0filter\0lfs\0").is_none());
        assert!(turned_by_attributes(b"a\0filter\0unset\0").is_some());
        assert!(turned_by_attributes(b"a\0ident\0set\0").is_none());
        assert!(turned_by_attributes(b"a\0working-tree-encoding\0UTF-16\0").is_none());
    }
}
