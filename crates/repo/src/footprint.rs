//! What the disk tells of a work tree without reading its files: enough to know that nothing has
//! changed since the last look, and so to spare git the looking.
//!
//! Whoever writes to a file, replaces it or changes its mode changes its change time, which no
//! program can set. Only a second change within one tick of that clock shows no new time; so the
//! content of files that are this young is kept and compared, as git does with its index.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// More files than this are git's affair, which does not look into ignored folders.
const MOST_FILES: usize = 20_000;
/// The coarsest clock of a file system in use ticks every two seconds.
const YOUNG: Duration = Duration::from_millis(2500);
/// How much of young files is kept for comparing.
const MOST_CONTENT: usize = 4 << 20;

/// The files of a work tree, ignored ones included, and those that rule what git sees of them.
#[derive(Debug)]
pub(crate) struct Footprint {
    files: Vec<Print>,
    kept: usize,
}

#[derive(Debug)]
struct Print {
    path: PathBuf,
    facts: Option<Facts>,
    content: Option<Vec<u8>>,
}

/// Device, inode, mode, size, time of modification, time of change.
type Facts = (u64, u64, u32, u64, (i64, i64), (i64, i64));

impl Footprint {
    /// Looks at all files below `root` and at the `rulers`. None where that does not tell enough:
    /// too many files, too many young ones, a folder that cannot be read, a repository inside.
    pub(crate) fn take(root: &Path, rulers: &[PathBuf], now: SystemTime) -> Option<Self> {
        let since_epoch = now.duration_since(UNIX_EPOCH).ok()?;
        let young = i64::try_from(since_epoch.saturating_sub(YOUNG).as_secs()).ok()?;
        let mut print = Self {
            files: Vec::new(),
            kept: 0,
        };
        for ruler in rulers {
            match fs::symlink_metadata(ruler) {
                Ok(data) => print.add(ruler.clone(), &data, young)?,
                Err(_) => print.files.push(Print {
                    path: ruler.clone(),
                    facts: None,
                    content: None,
                }),
            }
        }
        print.walk(root, true, young)?;
        Some(print)
    }

    fn walk(&mut self, folder: &Path, is_root: bool, young: i64) -> Option<()> {
        let mut entries = fs::read_dir(folder)
            .ok()?
            .collect::<Result<Vec<_>, _>>()
            .ok()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            if entry.file_name() == ".git" {
                if is_root {
                    continue;
                }
                return None;
            }
            let (path, data) = (entry.path(), entry.metadata().ok()?);
            if data.is_dir() {
                self.walk(&path, false, young)?;
            } else {
                self.add(path, &data, young)?;
            }
        }
        Some(())
    }

    fn add(&mut self, path: PathBuf, data: &Metadata, young: i64) -> Option<()> {
        let content = if data.ctime() >= young {
            let content = content(&path, data, MOST_CONTENT - self.kept)?;
            self.kept += content.len();
            Some(content)
        } else {
            None
        };
        self.files.push(Print {
            path,
            facts: Some(facts(data)),
            content,
        });
        (self.files.len() <= MOST_FILES).then_some(())
    }

    /// Whether a later look finds everything as it was at this one.
    pub(crate) fn is_as(&self, later: &Self) -> bool {
        let same = |(old, new): (&Print, &Print)| {
            old.path == new.path && old.facts == new.facts && old.has_content_of(new)
        };
        self.files.len() == later.files.len() && self.files.iter().zip(&later.files).all(same)
    }
}

impl Print {
    fn has_content_of(&self, new: &Self) -> bool {
        match (&self.content, &new.content) {
            (None, _) => true,
            (Some(old), Some(new)) => old == new,
            (Some(old), None) => fs::symlink_metadata(&new.path)
                .ok()
                .and_then(|data| content(&new.path, &data, MOST_CONTENT))
                .is_some_and(|new| *old == new),
        }
    }
}

/// What a file holds or a link names; nothing for what git does not track. None: more than `most`.
fn content(path: &Path, data: &Metadata, most: usize) -> Option<Vec<u8>> {
    let bytes = if data.is_file() {
        let enough = u64::try_from(most).ok()?.saturating_add(1);
        if data.len() >= enough {
            return None;
        }
        // A log may grow while it is read, and need never end.
        let mut bytes = Vec::new();
        let file = fs::File::open(path).ok()?;
        file.take(enough).read_to_end(&mut bytes).ok()?;
        bytes
    } else if data.is_symlink() {
        fs::read_link(path).map(OsString::from).ok()?.into_vec()
    } else {
        Vec::new()
    };
    (bytes.len() <= most).then_some(bytes)
}

fn facts(data: &Metadata) -> Facts {
    (
        data.dev(),
        data.ino(),
        data.mode(),
        data.size(),
        (data.mtime(), data.mtime_nsec()),
        (data.ctime(), data.ctime_nsec()),
    )
}

#[cfg(test)]
mod tests {
    use super::Footprint;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    fn take(root: &Path) -> Footprint {
        Footprint::take(root, &[root.join("../ruler")], SystemTime::now()).unwrap()
    }

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("tree");
        fs::create_dir_all(root.join("sub")).unwrap();
        for (name, text) in [("a", "1\n"), ("sub/b", "2\n")] {
            fs::write(root.join(name), text).unwrap();
        }
        symlink("a", root.join("link")).unwrap();
        fs::write(dir.path().join("ruler"), "x").unwrap();
        (dir, root)
    }

    #[test]
    fn every_kind_of_change_shows_even_within_one_tick() {
        type Act = fn(&Path);
        let changes: [(&str, Act); 8] = [
            ("content", |t| fs::write(t.join("a"), "3\n").unwrap()),
            ("size", |t| fs::write(t.join("sub/b"), "22\n").unwrap()),
            ("new", |t| fs::write(t.join("sub/c"), "").unwrap()),
            ("gone", |t| fs::remove_file(t.join("a")).unwrap()),
            ("moved", |t| fs::rename(t.join("a"), t.join("z")).unwrap()),
            ("mode", |t| {
                fs::set_permissions(t.join("a"), fs::Permissions::from_mode(0o755)).unwrap();
            }),
            ("link", |t| {
                fs::remove_file(t.join("link")).unwrap();
                symlink("b", t.join("link")).unwrap();
            }),
            ("ruler", |t| fs::write(t.join("../ruler"), "y").unwrap()),
        ];
        for (name, change) in changes {
            let (_dir, root) = tree();
            let before = take(&root);
            assert!(before.is_as(&take(&root)), "{name}");
            change(&root);
            assert!(!before.is_as(&take(&root)), "{name}");
        }
    }

    #[test]
    fn an_old_time_of_modification_hides_nothing() {
        let (_dir, root) = tree();
        let file = root.join("a");
        let old = SystemTime::now() - Duration::from_secs(3600);
        let set = |path: &Path| {
            let file = fs::File::options().append(true).open(path).unwrap();
            file.set_modified(old).unwrap();
        };
        set(&file);
        let before = take(&root);
        fs::write(&file, "3\n").unwrap();
        set(&file);
        assert!(!before.is_as(&take(&root)));
    }

    #[test]
    fn files_that_are_no_longer_young_are_read_once_more() {
        let (_dir, root) = tree();
        let later = SystemTime::now() + Duration::from_secs(60);
        let before = take(&root);
        let after = Footprint::take(&root, &[root.join("../ruler")], later).unwrap();
        assert!(after.files.iter().all(|f| f.content.is_none()));
        assert!(before.is_as(&after) && after.is_as(&before));
    }

    #[test]
    fn a_repository_inside_is_left_to_git() {
        let (_dir, root) = tree();
        fs::create_dir(root.join(".git")).unwrap();
        assert!(Footprint::take(&root, &[], SystemTime::now()).is_some());
        fs::create_dir(root.join("sub/.git")).unwrap();
        assert!(Footprint::take(&root, &[], SystemTime::now()).is_none());
    }
}
