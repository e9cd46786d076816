//! The Landlock ruleset.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use super::{Network, Policy};

/// The newest version whose rights we know. Older kernels enforce what they know of it, and
/// [`version`] says how much that is.
const NEWEST: ABI = ABI::V9;

/// Devices that programs write to without doing harm, and terminals of their own.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// Applies the border to this process and all it starts. Returns Landlock's version, 0 for none.
///
/// `memory_backed` are writable places of our own making (a private `/tmp`, `/dev/shm`).
pub(crate) fn apply(
    policy: &Policy,
    own_network: bool,
    memory_backed: &[&str],
    hide: bool,
) -> Result<u8, RulesetError> {
    let everything = AccessFs::from_all(NEWEST);
    let reading = AccessFs::from_read(NEWEST);
    // A device node would be a door to the disk behind it.
    let writing = everything & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let devices: BitFlags<AccessFs> =
        AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;

    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?
        .scope(Scope::Signal)?
        .scope(Scope::AbstractUnixSocket)?;
    if policy.network == Network::None && !own_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let readable: Vec<PathBuf> = if hide {
        policy
            .read
            .iter()
            .flat_map(|root| without(root, &policy.hide))
            .collect()
    } else {
        policy.read.clone()
    };
    let status = ruleset
        .create()?
        .add_rules(path_beneath_rules(readable, reading))?
        .add_rules(path_beneath_rules(DEVICES, devices))?
        .add_rules(path_beneath_rules(memory_backed, writing))?
        .add_rules(path_beneath_rules(&policy.tmp, writing))?
        .add_rules(path_beneath_rules(&policy.write, writing))?
        .restrict_self()?;
    Ok(version(status.landlock))
}

fn version(status: LandlockStatus) -> u8 {
    match status {
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u8,
    }
}

/// `root` as a list of paths that leaves out the hidden ones: Landlock can only grant, so a
/// folder with a secret in it is granted entry by entry. (With mounts of our own the secret is
/// covered instead, and this is not needed.)
fn without(root: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    if hidden.iter().any(|h| root.starts_with(h)) {
        return Vec::new();
    }
    if !hidden.iter().any(|h| h.starts_with(root)) {
        return vec![root.to_path_buf()];
    }
    let Ok(entries) = std::fs::read_dir(root) else {
        return Vec::new();
    };
    entries
        .flatten()
        .flat_map(|entry| without(&entry.path(), hidden))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_a_secret_is_granted_entry_by_entry() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir(root.join("deep")).unwrap();
        for name in ["open", "secret", "deep/open", "deep/secret"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let hidden = vec![root.join("secret"), root.join("deep/secret")];
        let mut granted = without(root, &hidden);
        granted.sort();
        assert_eq!(granted, vec![root.join("deep/open"), root.join("open")]);
        assert_eq!(
            without(&root.join("open"), &hidden),
            vec![root.join("open")]
        );
        assert!(without(&root.join("secret"), &hidden).is_empty());
    }
}
