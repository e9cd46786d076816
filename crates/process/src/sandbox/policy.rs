//! What a command may do, and how that is told to the launcher.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Level, Surroundings, places};

/// The hidden first argument that makes a tool the launcher.
pub(crate) const OUTER: &str = "__baton-sandbox";

/// Which network a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// None at all, not even its own loopback.
    None,
    /// A loopback of its own: tests that serve and call on localhost work, nothing else is there.
    #[default]
    Loopback,
    /// Ours.
    All,
}

/// What a command may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Files and directories it may change, with everything beneath. What is not there is skipped.
    pub write: Vec<PathBuf>,
    /// Files and directories it may read and execute, with everything beneath (writable ones
    /// included anyway).
    pub read: Vec<PathBuf>,
    /// What it may not read although it lies in a readable place: keys, password files.
    pub hide: Vec<PathBuf>,
    /// What it may not change although it lies in a writable place: git's metadata.
    pub protect: Vec<PathBuf>,
    /// Directories that are emptied from its view but for what `write` and `read` name in them:
    /// homes, `/tmp`, `/run` (where the sockets of other programs lie).
    pub cover: Vec<PathBuf>,
    /// Sockets of programs outside that it may connect to. All others are out of its sight.
    pub reach: Vec<PathBuf>,
    /// Its private temporary directory, shown as `/tmp` too and set as `TMPDIR`. `None`: one in
    /// memory, gone with the command.
    pub tmp: Option<PathBuf>,
    /// Its network.
    pub network: Network,
    /// Below this the command is not run.
    pub minimum: Level,
    /// The program that acts as launcher; the default is this program itself.
    pub launcher: PathBuf,
}

impl Policy {
    /// The usual policy for work in one directory: the directory is writable but for its git
    /// metadata; the system and the toolchains found by `surroundings` are readable, credential
    /// files are not; a loopback of its own; full coverage demanded.
    pub fn for_work_tree(work_tree: impl Into<PathBuf>, surroundings: &Surroundings) -> Self {
        let work_tree = work_tree.into();
        Self {
            protect: vec![work_tree.join(".git")],
            write: vec![work_tree],
            ..Self::read_only(surroundings)
        }
    }

    /// As [`Policy::for_work_tree`] with nothing writable but the temporary directory. What it is
    /// to read besides the system must be added to `read`.
    pub fn read_only(surroundings: &Surroundings) -> Self {
        Self {
            write: Vec::new(),
            read: places::readable(surroundings),
            hide: places::hidden(surroundings),
            protect: Vec::new(),
            cover: places::covered(surroundings),
            reach: Vec::new(),
            tmp: None,
            network: Network::Loopback,
            minimum: Level::Full,
            launcher: PathBuf::from("/proc/self/exe"),
        }
    }

    /// The policy as arguments. Paths may be any bytes but NUL, so they stand alone.
    pub(crate) fn to_args(&self) -> Vec<OsString> {
        let mut args = Vec::new();
        let lists = [
            ("--write", &self.write),
            ("--read", &self.read),
            ("--hide", &self.hide),
            ("--protect", &self.protect),
            ("--cover", &self.cover),
            ("--reach", &self.reach),
        ];
        for (name, paths) in lists {
            for path in paths {
                args.extend([name.into(), path.clone().into_os_string()]);
            }
        }
        if let Some(tmp) = &self.tmp {
            args.extend(["--tmp".into(), tmp.clone().into_os_string()]);
        }
        let network = match self.network {
            Network::None => "none",
            Network::Loopback => "loopback",
            Network::All => "all",
        };
        args.extend(["--network".into(), network.into()]);
        args.extend(["--minimum".into(), self.minimum.name().into()]);
        args
    }
}

/// A launcher's orders: the policy, where to report, and the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) policy: Policy,
    /// The descriptor of the report pipe.
    pub(crate) report: i32,
    /// The program and its arguments.
    pub(crate) command: Vec<OsString>,
}

impl Orders {
    /// The arguments after the hidden first one.
    pub(crate) fn to_args(&self) -> Vec<OsString> {
        let mut args = self.policy.to_args();
        args.extend(["--report".into(), self.report.to_string().into()]);
        args.push("--".into());
        args.extend(self.command.iter().cloned());
        args
    }

    /// Reads them back. `None` for anything that [`Orders::to_args`] cannot have written.
    pub(crate) fn from_args(args: Vec<OsString>) -> Option<Self> {
        let mut orders = Self {
            policy: Policy {
                write: Vec::new(),
                read: Vec::new(),
                hide: Vec::new(),
                protect: Vec::new(),
                cover: Vec::new(),
                reach: Vec::new(),
                tmp: None,
                network: Network::None,
                minimum: Level::Full,
                launcher: PathBuf::from("/proc/self/exe"),
            },
            report: -1,
            command: Vec::new(),
        };
        let mut args = args.into_iter();
        loop {
            let name = args.next()?;
            if name == "--" {
                orders.command = args.collect();
                return (!orders.command.is_empty()).then_some(orders);
            }
            let value = args.next()?;
            let path = || Path::new(&value).to_path_buf();
            match name.to_str()? {
                "--write" => orders.policy.write.push(path()),
                "--read" => orders.policy.read.push(path()),
                "--hide" => orders.policy.hide.push(path()),
                "--protect" => orders.policy.protect.push(path()),
                "--cover" => orders.policy.cover.push(path()),
                "--reach" => orders.policy.reach.push(path()),
                "--tmp" => orders.policy.tmp = Some(path()),
                "--network" => orders.policy.network = network(&value)?,
                "--minimum" => orders.policy.minimum = Level::from_name(value.to_str()?)?,
                "--report" => orders.report = value.to_str()?.parse().ok()?,
                _ => return None,
            }
        }
    }
}

fn network(value: &OsStr) -> Option<Network> {
    match value.to_str()? {
        "none" => Some(Network::None),
        "loopback" => Some(Network::Loopback),
        "all" => Some(Network::All),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStringExt;

    fn paths() -> impl Strategy<Value = Vec<PathBuf>> {
        let path = prop::collection::vec(1_u8..=255, 1..12)
            .prop_map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
        prop::collection::vec(path, 0..4)
    }

    proptest! {
        #[test]
        fn orders_survive_the_way_through_argv(
            write in paths(), read in paths(), hide in paths(), protect in paths(), cover in paths(), reach in paths(),
            tmp in prop::option::of("[a-z/]{1,9}"), network in 0_usize..3, level in 0_usize..3, report in 0..99,
            command in prop::collection::vec("[ -~]{0,8}", 1..4),
        ) {
            let policy = Policy {
                write, read, hide, protect, cover, reach,
                tmp: tmp.map(PathBuf::from),
                network: [Network::None, Network::Loopback, Network::All][network],
                minimum: [Level::Off, Level::Partial, Level::Full][level],
                launcher: PathBuf::from("/proc/self/exe"),
            };
            let command = command.into_iter().map(OsString::from).collect();
            let orders = Orders { policy, report, command };
            prop_assert_eq!(Orders::from_args(orders.to_args()), Some(orders));
        }

        #[test]
        fn other_arguments_are_refused(args in prop::collection::vec("[a-z-]{0,6}", 0..4)) {
            let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
            prop_assume!(!args.contains(&OsString::from("--")));
            prop_assert_eq!(Orders::from_args(args), None);
        }
    }
}
