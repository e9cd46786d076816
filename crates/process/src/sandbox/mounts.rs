//! The command's view of the file system: everything read-only but the writable places, homes and
//! run directories emptied, secrets covered.
//!
//! Landlock decides what may be opened. The mounts add what Landlock cannot: no chmod or chown
//! elsewhere, no sockets of other programs, nothing beneath a writable folder that must stay as it is.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change,
    mount_remount, move_mount, open_tree,
};

use super::Policy;
use super::mount_plan::{self, MountPoint, is_in, parents_first};

/// A place that will be attached at a path of the new view.
struct Attachment {
    tree: OwnedFd,
    at: PathBuf,
}

/// Places in memory that replace the host's: always there, always writable.
const SHARED_MEMORY: &str = "/dev/shm";

/// Arranges everything. On an error the view may be half made, so the caller must not count on it.
pub(crate) fn arrange(policy: &Policy, sockets: &[PathBuf]) -> io::Result<()> {
    // Nothing we do may travel back to the host.
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;

    let mut covers = parents_first(existing(&policy.cover));
    // A place inside a covered one goes with it.
    covers.dedup_by(|inner, outer| inner.starts_with(outer));
    let tmp = policy.tmp.as_deref().map(real).transpose()?;
    let writable = parents_first(existing(&policy.write).chain(tmp.clone()));
    // What stays visible of the covered places is taken hold of before they are covered.
    let readable: Vec<Attachment> = parents_first(shown_at(&policy.read))
        .into_iter()
        .filter(|path| is_in(path, &covers))
        .filter_map(hold)
        .collect();
    let written: Vec<Attachment> = writable.iter().cloned().filter_map(hold).collect();
    let temporary = match &tmp {
        Some(tmp) => Some(clone_tree(tmp)?),
        None => None,
    };
    let hidden: Vec<PathBuf> = existing(&policy.hide).collect();
    let nothing = clone_tree(Path::new("/dev/null"))?;

    let mut private = Vec::new();
    for cover in &covers {
        let is_tmp = cover == Path::new("/tmp") || cover == Path::new("/var/tmp");
        match &temporary {
            Some(tree) if is_tmp => attach(&clone_of(tree)?, cover)?,
            _ => {
                let open = is_tmp || cover == Path::new(SHARED_MEMORY);
                empty(cover, if open { c"mode=1777" } else { c"mode=0755" })?;
            }
        }
        if is_tmp || cover == Path::new(SHARED_MEMORY) {
            private.push(cover.clone());
        }
    }
    for place in &readable {
        make_mount_point(&place.at, &place.tree)?;
        attach(&place.tree, &place.at)?;
    }
    for secret in &hidden {
        // Gone by now if it lay in a covered place.
        match fs::symlink_metadata(secret) {
            Ok(data) if data.is_dir() => empty(secret, c"mode=0700")?,
            Ok(data) if data.is_file() => attach(&clone_of(&nothing)?, secret)?,
            _ => {}
        }
    }
    for place in &written {
        make_mount_point(&place.at, &place.tree)?;
    }

    make_read_only(|point| private.contains(&point.path))?;

    for place in &written {
        attach(&place.tree, &place.at)?;
    }
    for path in parents_first(existing(&policy.protect)) {
        attach(&clone_tree(&path)?, &path)?;
        mount_remount(
            &path,
            MountFlags::BIND | MountFlags::RDONLY | flags_at(&path)?,
            c"",
        )?;
    }
    for socket in sockets {
        let is_there = |data: fs::Metadata| data.file_type().is_socket();
        if fs::symlink_metadata(socket).is_ok_and(is_there) {
            attach(&clone_of(&nothing)?, socket)?;
        }
    }
    Ok(())
}

/// A fresh `/proc`, which shows the processes of this PID namespace only.
pub(crate) fn mount_proc() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Where a path leads, as [`fs::canonicalize`] says it. That asks the kernel about each folder on
/// the way, which is most of what arranging the mounts would cost.
pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    match fs::read_link(link) {
        Ok(found) if found.is_absolute() && !is_marked(&found) => Ok(found),
        // No /proc here, or a name that the kernel has added words to.
        _ => fs::canonicalize(path),
    }
}

fn is_marked(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b" (deleted)")
}

pub(crate) fn existing(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    paths.iter().filter_map(|path| real(path).ok())
}

/// Where a readable path must appear: at its own place, and, if a link is part of it, also where
/// the link leads.
fn shown_at(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    paths
        .iter()
        .filter_map(|path| Some([path.clone(), real(path).ok()?]))
        .flatten()
}

fn hold(at: PathBuf) -> Option<Attachment> {
    clone_tree(&at).ok().map(|tree| Attachment { tree, at })
}

/// A copy of the mounts at a path. Recursive, because in a user namespace the kernel does not let
/// us see what lies beneath an inherited mount.
fn clone_tree(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

/// A copy of a copy: a tree can be attached only once.
fn clone_of(tree: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    Ok(open_tree(tree, c"", flags)?)
}

fn attach(tree: &OwnedFd, at: &Path) -> io::Result<()> {
    Ok(move_mount(
        tree,
        c"",
        CWD,
        at,
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
    )?)
}

fn empty(at: &Path, mode: &std::ffi::CStr) -> io::Result<()> {
    Ok(mount(
        "tmpfs",
        at,
        "tmpfs",
        MountFlags::NOSUID | MountFlags::NODEV,
        mode,
    )?)
}

/// Makes what a tree can be attached to, where a cover has taken it away.
fn make_mount_point(at: &Path, tree: &OwnedFd) -> io::Result<()> {
    if at.exists() {
        return Ok(());
    }
    if let Some(parent) = at.parent() {
        fs::create_dir_all(parent)?;
    }
    let is_dir = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(tree)?.st_mode).is_dir();
    if is_dir {
        fs::create_dir(at)
    } else {
        fs::File::create(at).map(drop)
    }
}

fn mount_points() -> io::Result<Vec<MountPoint>> {
    Ok(mount_plan::parse(&fs::read("/proc/self/mountinfo")?))
}

/// Makes every mount that can be reached read-only, save those named, and checks that it worked.
fn make_read_only(keep: impl Fn(&MountPoint) -> bool) -> io::Result<()> {
    for point in mount_points()? {
        if point.read_only || keep(&point) {
            continue;
        }
        let flags = MountFlags::BIND | MountFlags::RDONLY | point.flags;
        match mount_remount(&point.path, flags, c"") {
            // Not there, or no mount at that path any more: it lies beneath one of our covers.
            Ok(()) | Err(rustix::io::Errno::NOENT | rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn flags_at(path: &Path) -> io::Result<MountFlags> {
    Ok(mount_points()?
        .into_iter()
        .find(|point| point.path == path)
        .map_or(MountFlags::empty(), |point| point.flags))
}
