//! Which places outside the work tree may be opened to foreign code at all, whoever asks for it.

use std::path::{Component, Path, PathBuf};

use super::places::{COVERED, SYSTEM, Surroundings};

/// Folders of a home that hold keys, tokens or what its owner's programs run.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config",
    ".netrc",
    ".password-store",
    ".pki",
    ".mozilla",
    ".thunderbird",
    ".local/share/keyrings",
    ".local/state",
    "Library/Keychains",
];

/// Hidden folders of a home that hold nothing but what can be fetched again.
const CACHES: &[&str] = &[
    ".cache",
    ".ccache",
    ".sccache",
    ".npm",
    ".pnpm-store",
    ".local/share/pnpm/store",
    ".yarn/cache",
    ".yarn/berry/cache",
    ".bun/install/cache",
    ".m2/repository",
    ".gradle/caches",
    ".ivy2",
    ".nuget",
    ".cargo/registry",
    ".cargo/git",
    ".conda/pkgs",
    ".terraform.d/plugin-cache",
];

/// Places that decide what runs later, besides those every command may read.
const STARTS_THINGS: &[&str] = &["/boot", "/efi", "/var/spool", "/usr/local"];

/// What a place may be opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// Finds a place outside the work tree that a command may be given, as it really lies, or says why it
/// is never opened. `own` are places that must neither hold it nor lie in it: the repository, git's
/// data, our state. A place that is not there is judged by its name.
pub fn open_outside(
    place: &Path,
    opening: Opening,
    surroundings: &Surroundings,
    own: &[PathBuf],
) -> Result<PathBuf, String> {
    judge(place, opening, surroundings, own)?;
    let Ok(real) = place.canonicalize() else {
        return Ok(place.to_owned());
    };
    let own: Vec<PathBuf> = own
        .iter()
        .map(|p| p.canonicalize().unwrap_or_else(|_| p.clone()))
        .collect();
    judge(&real, opening, surroundings, &own)?;
    Ok(real)
}

fn judge(
    place: &Path,
    opening: Opening,
    surroundings: &Surroundings,
    own: &[PathBuf],
) -> Result<(), String> {
    let refused = |why: &str| Err(format!("{} {why}", place.display()));
    if !place.is_absolute() {
        return refused("is no absolute path");
    }
    if place.components().any(|c| c == Component::ParentDir) {
        return refused("has `..` in it");
    }
    if place.components().any(|c| c.as_os_str() == ".git") {
        return refused("lies in git's own data, which decides what git runs");
    }
    let meets = |other: &Path| place.starts_with(other) || other.starts_with(place);
    if place.parent().is_none() {
        return refused("is everything");
    }
    if COVERED.iter().any(|c| Path::new(c).starts_with(place)) {
        return refused("is a place of all users and programs; name a folder in it");
    }
    if let Some(home) = &surroundings.home {
        if home.starts_with(place) {
            return refused("holds your home, with your keys; name a folder in it");
        }
        if SECRETS.iter().any(|name| meets(&home.join(name))) {
            return refused("holds keys or settings of yours");
        }
        let hidden = place.strip_prefix(home).is_ok_and(|inside| {
            inside
                .components()
                .next()
                .is_some_and(|c| c.as_os_str().as_encoded_bytes().starts_with(b"."))
        });
        let cache = CACHES.iter().any(|name| place.starts_with(home.join(name)));
        if opening == Opening::Write && hidden && !cache {
            return refused("is a hidden place of your home, where programs keep what they run");
        }
    }
    if opening == Opening::Write {
        let mut system = SYSTEM.iter().chain(STARTS_THINGS).map(Path::new);
        // Programs of one's own lie below /opt, and data too: there a folder may be named.
        if system.any(|s| {
            if s == Path::new("/opt") {
                s.starts_with(place)
            } else {
                meets(s)
            }
        }) {
            return refused("belongs to the system");
        }
    }
    for mine in own {
        if meets(mine) {
            return Err(format!(
                "{} and {} lie in one another, and what is written there is for us or for the task's \
                 scope to decide",
                place.display(),
                mine.display()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(place: &str, opening: Opening) -> Result<PathBuf, String> {
        let surroundings = Surroundings {
            home: Some("/home/me".into()),
            path: Vec::new(),
        };
        let own = [
            PathBuf::from("/data/repo"),
            PathBuf::from("/data/state/baton"),
        ];
        open_outside(Path::new(place), opening, &surroundings, &own)
    }

    #[test]
    fn what_would_open_everything_is_never_opened() {
        for place in [
            "/",
            "/home",
            "/home/me",
            "/tmp",
            "/run",
            "/var",
            "/dev/shm",
            "/home/me/.ssh",
            "/home/me/.ssh/keys",
            "/home/me/.config/gh",
            "/home/me/.local",
            "/srv/x/.git",
            "/srv/x/.git/hooks",
            "/data",
            "/data/repo",
            "/data/repo/src",
            "/data/state",
            "data/x",
            "/srv/../home/me",
        ] {
            for opening in [Opening::Read, Opening::Write] {
                assert!(said(place, opening).is_err(), "{place} {opening:?}");
            }
        }
    }

    #[test]
    fn what_decides_what_runs_later_is_not_written() {
        for place in [
            "/usr/share/x",
            "/etc",
            "/etc/profile.d",
            "/opt",
            "/boot",
            "/var/spool/cron",
            "/home/me/.local/bin",
            "/home/me/.cargo",
            "/home/me/.cargo/bin",
            "/home/me/.bashrc",
        ] {
            assert!(said(place, Opening::Write).is_err(), "{place}");
        }
        for place in ["/usr/share/x", "/etc/profile.d", "/home/me/.cargo/bin"] {
            assert!(said(place, Opening::Read).is_ok(), "{place}");
        }
    }

    #[test]
    fn a_folder_with_data_is_opened() {
        for place in [
            "/srv/datasets",
            "/srv",
            "/mnt/big/x",
            "/opt/homebrew/var",
            "/tmp/build",
            "/var/cache/x",
            "/home/me/datasets",
            "/home/me/.cache/x",
            "/home/me/.cargo/registry",
            "/data/repository",
            "/home/me.old/x",
        ] {
            let opened = said(place, Opening::Write);
            assert_eq!(opened, Ok(PathBuf::from(place)));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("home/.ssh")).unwrap();
        std::fs::create_dir_all(root.join("big")).unwrap();
        std::os::unix::fs::symlink(root.join("home/.ssh"), root.join("innocent")).unwrap();
        std::os::unix::fs::symlink(root.join("big"), root.join("data")).unwrap();
        let surroundings = Surroundings {
            home: Some(root.join("home")),
            path: Vec::new(),
        };
        let open = |name: &str| open_outside(&root.join(name), Opening::Read, &surroundings, &[]);
        assert!(open("innocent").unwrap_err().contains(".ssh"));
        assert_eq!(open("data"), Ok(root.join("big")));
    }
}
