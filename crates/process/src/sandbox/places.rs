//! Which places are readable by default. The lists are data; finding toolchains is pure.

use std::path::{Path, PathBuf};

/// What of the environment decides where toolchains and credentials lie.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The entries of PATH.
    pub path: Vec<PathBuf>,
}

impl Surroundings {
    /// From the values of HOME and PATH.
    pub fn new(home: Option<&std::ffi::OsStr>, path: Option<&std::ffi::OsStr>) -> Self {
        let home = home.map(PathBuf::from).filter(|home| home.is_absolute());
        let path = path
            .map(|p| std::env::split_paths(p).collect())
            .unwrap_or_default();
        Self { home, path }
    }
}

pub(super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/proc",
    "/sys",
    "/dev",
    "/nix",
    "/gnu",
    "/snap",
    "/var/lib/dpkg",
    "/var/lib/alternatives",
    "/var/lib/rpm",
    "/run/current-system",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/home/linuxbrew",
];

/// Toolchains that live in a home. None of these keeps credentials, save what `HIDDEN_HOME` names.
const HOME: &[&str] = &[
    ".cargo",
    ".rustup",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/uv",
    ".local/share/pnpm",
    ".local/share/mise",
    ".local/share/fnm",
    ".local/share/rtx",
    ".local/share/virtualenvs",
    ".nvm",
    ".volta",
    ".fnm",
    ".nodenv",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".sdkman",
    ".jenv",
    ".deno",
    ".bun",
    ".ghcup",
    ".opam",
    ".elan",
    ".juliaup",
    ".dotnet",
    ".npm-global",
    ".yarn",
    "go",
    ".go",
    ".goenv",
    ".m2",
    ".gradle",
];

const HIDDEN: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/krb5.keytab",
    "/etc/letsencrypt",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/ipsec.secrets",
    "/etc/ppp",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/docker",
    "/etc/NetworkManager/system-connections",
    "/etc/wpa_supplicant",
    "/etc/netplan",
    "/etc/security/opasswd",
];

const HIDDEN_HOME: &[&str] = &[
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".yarn/.npmrc",
    ".deno/.npmrc",
    ".bun/.npmrc",
];

pub(super) const COVERED: &[&str] = &["/home", "/root", "/tmp", "/var/tmp", "/run", "/dev/shm"];

pub(crate) fn readable(surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    if let Some(home) = &surroundings.home {
        paths.extend(HOME.iter().map(|name| home.join(name)));
    }
    for entry in &surroundings.path {
        paths.extend(toolchain(entry, surroundings.home.as_deref()));
    }
    paths
}

pub(crate) fn hidden(surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = HIDDEN.iter().map(PathBuf::from).collect();
    if let Some(home) = &surroundings.home {
        paths.extend(HIDDEN_HOME.iter().map(|name| home.join(name)));
    }
    paths
}

pub(crate) fn covered(surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = COVERED.iter().map(PathBuf::from).collect();
    paths.extend(
        surroundings
            .home
            .clone()
            .filter(|home| home.parent().is_some()),
    );
    paths
}

/// The toolchain an entry of PATH belongs to: the folder above a `bin` (its libraries lie beside
/// it), unless that would open a home, the root, or a folder that everything lies in.
fn toolchain(entry: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let too_wide = |path: &Path| {
        path.components().count() < 3
            || home.is_some_and(|home| home.starts_with(path))
            || COVERED
                .iter()
                .any(|covered| Path::new(covered).starts_with(path))
    };
    if !entry.is_absolute() || home.is_some_and(|home| home.starts_with(entry)) {
        return None;
    }
    let is_bin = entry
        .file_name()
        .is_some_and(|n| n == "bin" || n == "sbin" || n == "shims");
    match entry.parent() {
        Some(parent) if is_bin && !too_wide(parent) => Some(parent.to_path_buf()),
        _ if too_wide(entry) => None,
        _ => Some(entry.to_path_buf()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entry: &str) -> Option<PathBuf> {
        toolchain(Path::new(entry), Some(Path::new("/home/me")))
    }

    #[test]
    fn a_bin_folder_brings_its_toolchain() {
        assert_eq!(of("/data/rust/bin"), Some(PathBuf::from("/data/rust")));
        assert_eq!(
            of("/home/me/tool/bin"),
            Some(PathBuf::from("/home/me/tool"))
        );
    }

    #[test]
    fn no_entry_of_path_opens_a_home_or_the_root() {
        assert_eq!(of("/home/me/bin"), Some(PathBuf::from("/home/me/bin")));
        assert_eq!(of("/home/me"), None);
        assert_eq!(of("/home"), None);
        assert_eq!(of("/"), None);
        assert_eq!(of("."), None);
        assert_eq!(of("/tmp"), None);
    }

    #[test]
    fn credentials_of_a_readable_toolchain_are_hidden() {
        let surroundings = Surroundings {
            home: Some("/home/me".into()),
            path: Vec::new(),
        };
        assert!(readable(&surroundings).contains(&"/home/me/.cargo".into()));
        assert!(hidden(&surroundings).contains(&"/home/me/.cargo/credentials.toml".into()));
        assert!(!readable(&surroundings).contains(&"/home/me/.ssh".into()));
    }
}
