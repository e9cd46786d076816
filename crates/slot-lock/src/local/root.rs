//! The directory of all slot files: made if missing, refused if it cannot protect anything.

use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::statfs;

use super::files::failed;
use crate::store::StoreError;

/// A directory that is fit for slot files.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    path: PathBuf,
    sharing: Sharing,
}

/// Who else uses the directory; decides the modes of what is made in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Only its owner.
    Private,
    /// A group (mode 2770).
    Group,
    /// Everybody (mode 1777).
    Everybody,
}

impl Sharing {
    const fn of(mode: u32) -> Self {
        if mode & 0o002 != 0 {
            Self::Everybody
        } else if mode & 0o020 != 0 {
            Self::Group
        } else {
            Self::Private
        }
    }

    pub(super) const fn file_mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Group => 0o660,
            Self::Everybody => 0o666,
        }
    }

    const fn folder_mode(self) -> u32 {
        match self {
            Self::Private => 0o700,
            Self::Group => 0o2770,
            Self::Everybody => 0o1777,
        }
    }
}

impl Root {
    /// Opens the directory, making it (private) where it is missing.
    pub(crate) fn open(path: PathBuf, allow_network: bool) -> Result<Self, StoreError> {
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                // Nothing is made where it would be refused.
                let parent = path.ancestors().find(|a| a.exists());
                check_file_system(parent.unwrap_or(&path), &path, allow_network)?;
                let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
                made.map_err(|e| failed(&path, "cannot make the directory of slot files", e))?;
                fs::metadata(&path).map_err(|e| failed(&path, "cannot read", e))?
            }
            Err(e) => return Err(failed(&path, "cannot read the directory of slot files", e)),
        };
        let unsuitable = |why: String| StoreError::Unsuitable {
            path: path.clone(),
            why,
        };
        if !metadata.is_dir() {
            return Err(unsuitable(
                "is not a directory; set BATON_LOCK_DIR to one".into(),
            ));
        }
        let mode = metadata.mode();
        let sharing = Sharing::of(mode);
        if sharing == Sharing::Everybody && mode & 0o1000 == 0 {
            return Err(unsuitable(
                "everybody may remove slot files there, so they would protect nothing; \
                 set the sticky bit (chmod +t) or use a directory of mode 2770"
                    .into(),
            ));
        }
        check_file_system(&path, &path, allow_network)?;
        Ok(Self { path, sharing })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) const fn file_mode(&self) -> u32 {
        self.sharing.file_mode()
    }

    /// Makes one key's folder (and the directory itself, should somebody have removed it).
    pub(super) fn make_folder(&self, folder: &Path) -> Result<(), StoreError> {
        let rights = self.sharing.folder_mode();
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.path);
        let made = made.and_then(|()| match DirBuilder::new().mode(rights).create(folder) {
            Ok(()) => fs::set_permissions(folder, Permissions::from_mode(rights)),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(e) => Err(e),
        });
        made.map_err(|e| failed(folder, "cannot make the folder of this server's slots", e))
    }
}

fn check_file_system(at: &Path, path: &Path, allow_network: bool) -> Result<(), StoreError> {
    match network_file_system(at) {
        Some(name) if !allow_network => Err(StoreError::Unsuitable {
            path: path.to_owned(),
            why: format!(
                "is on a network file system ({name}), whose locks may hold on one host only; \
                 set BATON_LOCK_DIR to a local directory, or give --allow-network-fs"
            ),
        }),
        _ => Ok(()),
    }
}

/// The name of the network file system a path lies on; none for a local one.
fn network_file_system(path: &Path) -> Option<&'static str> {
    let kind = statfs(path).ok()?.f_type;
    // The field's type differs between platforms; the magic numbers are 32 bits on all.
    network_name(u32::try_from(kind & 0xffff_ffff).ok()?)
}

/// File systems whose flock(2) is local, emulated or absent (`include/uapi/linux/magic.h`, and the
/// numbers of those outside the kernel as coreutils' stat(1) knows them).
const fn network_name(magic: u32) -> Option<&'static str> {
    match magic {
        0x6969 => Some("NFS"),
        0x517b => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0xfe53_4d42 => Some("SMB 2"),
        0x0102_1997 => Some("9P"),
        0x6573_5546 => Some("FUSE or virtiofs"),
        0x00c3_6400 => Some("Ceph"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        0x0bd0_0bd0 => Some("Lustre"),
        0x1983_0326 => Some("BeeGFS"),
        0x4750_4653 => Some("GPFS"),
        0x564c => Some("NCP"),
        0x0116_1970 => Some("GFS2"),
        0x7461_636f => Some("OCFS2"),
        0x2003_0528 => Some("OrangeFS"),
        0xaad7_aaea => Some("PanFS"),
        0xbeef_dead => Some("StorNext"),
        0x0131_11a8 => Some("IBRIX"),
        0x6163_6673 => Some("ACFS"),
        0x786f_4256 => Some("VirtualBox shared folder"),
        0xbacb_acbc => Some("VMware shared folder"),
        0x7c7c_6673 => Some("Parallels shared folder"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Sharing, network_name};

    #[test]
    fn l15_network_file_systems_are_recognised_and_local_ones_are_not() {
        assert_eq!(network_name(0x6969), Some("NFS"));
        assert_eq!(network_name(0xff53_4d42), Some("CIFS"));
        for local in [0xef53, 0x0102_1994, 0x9123_683e, 0x5846_5342, 0x794c_7630] {
            assert_eq!(network_name(local), None, "{local:x}");
        }
    }

    #[test]
    fn l13_the_directory_says_who_may_share() {
        assert_eq!(Sharing::of(0o40_700).file_mode(), 0o600);
        assert_eq!(Sharing::of(0o42_770).file_mode(), 0o660);
        assert_eq!(Sharing::of(0o41_777).folder_mode(), 0o1777);
    }
}
