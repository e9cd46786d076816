//! Which border the kernel puts around commands, and the environment they get behind it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use baton_cli::Environment;
use baton_process::sandbox::{Coverage, Level, Network, Policy, Surroundings};
use baton_protocol::{Confinement, Network as TaskNetwork, Sandbox};

use crate::cli::SandboxFlag;

/// The policy for a task's commands; none where the sandbox is switched off.
pub(crate) fn policy(
    flag: SandboxFlag,
    root: &Path,
    writes: bool,
    task: &Sandbox,
    tmp: &Path,
    env: &Environment,
) -> Option<Policy> {
    let minimum = match flag {
        SandboxFlag::Off => return None,
        // Not to hold back even writes is no sandbox; anything above is taken and told.
        SandboxFlag::BestEffort => Level::Partial,
        SandboxFlag::Full => Level::Full,
    };
    let surroundings = Surroundings::new(
        env.get("HOME").map(OsStr::new),
        env.get("PATH").map(OsStr::new),
    );
    let mut policy = if writes {
        Policy::for_work_tree(root, &surroundings)
    } else {
        let mut policy = Policy::read_only(&surroundings);
        policy.read.push(root.to_path_buf());
        policy
    };
    let places = |all: &[String]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
    policy.read.extend(places(&task.read));
    if writes {
        policy.write.extend(places(&task.caches));
    } else {
        policy.read.extend(places(&task.caches));
    }
    policy.tmp = Some(tmp.to_path_buf());
    policy.minimum = minimum;
    policy.network = reach(task.network);
    Some(policy)
}

/// What a task's commands may reach.
pub(crate) fn reach(network: TaskNetwork) -> Network {
    match network {
        TaskNetwork::None => Network::None,
        TaskNetwork::Loopback => Network::Loopback,
        TaskNetwork::All => Network::All,
    }
}

/// Where toolchains keep themselves under the home, and the variable that says so. Behind the
/// border the home is another folder, so the real places must be named.
const PINNED: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("NVM_DIR", ".nvm"),
    ("RBENV_ROOT", ".rbenv"),
    ("VOLTA_HOME", ".volta"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("GOPATH", "go"),
];

/// Variables for a command behind the border: a home of its own and caches inside it.
pub(crate) fn variables(env: &Environment, tmp: &Path) -> Vec<(String, String)> {
    let inside = |name: &str| tmp.join(name).display().to_string();
    let mut out = vec![
        ("HOME".to_string(), inside("home")),
        ("XDG_CACHE_HOME".to_string(), inside("home/.cache")),
        ("PIP_CACHE_DIR".to_string(), inside("home/.cache/pip")),
        ("npm_config_cache".to_string(), inside("home/.npm")),
        ("GOCACHE".to_string(), inside("home/.cache/go-build")),
    ];
    let Some(home) = env.get("HOME").map(Path::new) else {
        return out;
    };
    for (name, folder) in PINNED {
        let place = home.join(folder);
        if env.get(name).is_none() && place.is_dir() {
            out.push(((*name).to_string(), place.display().to_string()));
        }
    }
    out
}

/// What the hand-off says about it.
pub(crate) fn confinement(coverage: Option<&Coverage>) -> Confinement {
    let Some(coverage) = coverage else {
        return Confinement {
            mode: "off".into(),
            covered: Vec::new(),
            not_covered: vec!["everything: no sandbox was asked for".into()],
        };
    };
    Confinement {
        mode: coverage.level.name().into(),
        covered: coverage
            .covered
            .iter()
            .map(|b| b.name().to_string())
            .collect(),
        not_covered: coverage
            .not_covered
            .iter()
            .map(|(border, why)| format!("{}: {why}", border.name()))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{confinement, policy};
    use crate::cli::SandboxFlag;
    use baton_cli::Environment;
    use baton_process::sandbox::{Level, Network};
    use baton_protocol::{Network as TaskNetwork, Sandbox};
    use std::path::Path;

    #[test]
    fn a_reading_role_writes_only_in_its_temporary_folder() {
        let task = Sandbox {
            network: TaskNetwork::None,
            ..Sandbox::default()
        };
        let env = Environment::from_process();
        let of = |writes| {
            policy(
                SandboxFlag::Full,
                Path::new("/w"),
                writes,
                &task,
                Path::new("/t"),
                &env,
            )
            .unwrap()
        };
        assert!(of(false).write.is_empty() && of(false).read.contains(&"/w".into()));
        assert_eq!(of(true).write, [Path::new("/w")]);
        assert_eq!(of(true).protect, [Path::new("/w/.git")]);
        assert_eq!(
            (of(true).network, of(true).minimum),
            (Network::None, Level::Full)
        );
    }

    #[test]
    fn off_is_said() {
        let env = Environment::from_process();
        let off = policy(
            SandboxFlag::Off,
            Path::new("/w"),
            true,
            &Sandbox::default(),
            Path::new("/t"),
            &env,
        );
        assert!(off.is_none());
        assert_eq!(confinement(None).mode, "off");
    }
}
