//! Which borders stand: the judgement from what could be set up. Pure.

use super::{Network, Policy};

/// How much of a policy the kernel enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Not even writes are held back.
    #[default]
    Off,
    /// Writes are, something else is not.
    Partial,
    /// All of it.
    Full,
}

impl Level {
    /// `off`, `partial` or `full`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Partial => "partial",
            Self::Full => "full",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Off, Self::Partial, Self::Full]
            .into_iter()
            .find(|level| level.name() == name)
    }
}

/// One thing that a sandbox holds back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Border {
    /// Changing the content of files elsewhere, creating, deleting, renaming.
    Writes,
    /// Reading files elsewhere.
    Reads,
    /// Changing modes, owners and times of files elsewhere.
    Attributes,
    /// Changing protected files in writable places (git metadata).
    Protected,
    /// Network beyond the allowed.
    Network,
    /// Sockets of other programs in the file system, and abstract ones.
    Sockets,
    /// Signals to, and looking into, other processes.
    Processes,
    /// Outliving the command.
    Survivors,
}

impl Border {
    const ALL: [Self; 8] = [
        Self::Writes,
        Self::Reads,
        Self::Attributes,
        Self::Protected,
        Self::Network,
        Self::Sockets,
        Self::Processes,
        Self::Survivors,
    ];

    /// One word for documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::Reads => "reads",
            Self::Attributes => "attributes",
            Self::Protected => "protected",
            Self::Network => "network",
            Self::Sockets => "sockets",
            Self::Processes => "processes",
            Self::Survivors => "survivors",
        }
    }
}

/// What stands and what does not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    /// All in one word.
    pub level: Level,
    /// The borders that stand.
    pub covered: Vec<Border>,
    /// The borders that do not, each with the reason and what that means.
    pub not_covered: Vec<(Border, String)>,
}

impl Coverage {
    /// One sentence for people.
    pub fn describe(&self) -> String {
        if self.not_covered.is_empty() && self.level == Level::Full {
            return "sandbox: full".to_owned();
        }
        let reasons: Vec<String> = self
            .not_covered
            .iter()
            .map(|(b, why)| format!("{} ({why})", b.name()))
            .collect();
        format!(
            "sandbox: {}; not covered: {}",
            self.level.name(),
            reasons.join(", ")
        )
    }

    /// Judges what was set up against what was asked for.
    pub(crate) fn judge(facts: Facts, policy: &Policy) -> Self {
        let mut coverage = Self::default();
        for border in Border::ALL {
            match gap(border, facts, policy) {
                None => coverage.covered.push(border),
                Some(reason) => coverage.not_covered.push((border, reason.to_owned())),
            }
        }
        coverage.level = if coverage.not_covered.is_empty() {
            Level::Full
        } else if coverage.covered.contains(&Border::Writes) {
            Level::Partial
        } else {
            Level::Off
        };
        coverage
    }
}

/// What could be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// Landlock's version in this kernel; 0 for none.
    pub(crate) landlock: u8,
    /// A PID namespace of its own.
    pub(crate) pid: bool,
    /// A mount namespace in which all but the writable places is read-only.
    pub(crate) mounts: bool,
    /// A network namespace of its own.
    pub(crate) net: bool,
    /// Its loopback is up.
    pub(crate) loopback: bool,
    /// A protected path lies inside a writable one.
    pub(crate) protected_inside: bool,
}

/// Why a border does not stand; `None` when it does.
fn gap(border: Border, facts: Facts, policy: &Policy) -> Option<&'static str> {
    let landlock = facts.landlock;
    match border {
        Border::Writes if facts.mounts || landlock >= 3 => None,
        Border::Writes if landlock > 0 => {
            Some("this kernel's Landlock does not hold back truncating (needs Linux 6.2)")
        }
        Border::Writes => Some("no Landlock and no mount namespace: it can write anywhere we can"),
        Border::Reads if landlock > 0 => None,
        Border::Reads => Some("no Landlock: it can read what we can"),
        Border::Attributes if facts.mounts => None,
        Border::Attributes => Some("no mount namespace: chmod, chown and touch work elsewhere"),
        Border::Protected if facts.mounts || !facts.protected_inside => None,
        Border::Protected => Some("no mount namespace: git metadata in the work tree is writable"),
        Border::Network => network_gap(facts, policy.network),
        Border::Sockets if policy.network == Network::All && landlock < 6 => {
            Some("shared network: abstract sockets of other programs can be reached")
        }
        Border::Sockets if facts.mounts && (facts.net || landlock >= 6) => None,
        Border::Sockets if landlock >= 9 => None,
        Border::Sockets => Some("no mount namespace: sockets of other programs can be reached"),
        Border::Processes if facts.pid || landlock >= 6 => None,
        Border::Processes => Some("no PID namespace: it can signal our other processes"),
        Border::Survivors if facts.pid => None,
        Border::Survivors => {
            Some("no PID namespace: a daemon it starts lives on if we are killed with SIGKILL")
        }
    }
}

fn network_gap(facts: Facts, network: Network) -> Option<&'static str> {
    match network {
        Network::All => None,
        Network::Loopback if facts.net && facts.loopback => None,
        Network::Loopback if facts.net => Some("its loopback could not be brought up: no network"),
        Network::None if facts.net => None,
        Network::None if facts.landlock >= 4 => {
            Some("no network namespace: TCP is held back, UDP is not")
        }
        Network::None | Network::Loopback => Some("no network namespace: it has our network"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Surroundings;

    fn policy(network: Network) -> Policy {
        let surroundings = Surroundings {
            home: None,
            path: Vec::new(),
        };
        Policy {
            network,
            ..Policy::for_work_tree("/w", &surroundings)
        }
    }

    const ALL: Facts = Facts {
        landlock: 7,
        pid: true,
        mounts: true,
        net: true,
        loopback: true,
        protected_inside: true,
    };

    #[test]
    fn everything_set_up_is_full() {
        for network in [Network::None, Network::Loopback, Network::All] {
            let coverage = Coverage::judge(ALL, &policy(network));
            assert_eq!(
                (coverage.level, coverage.not_covered),
                (Level::Full, Vec::new())
            );
        }
    }

    #[test]
    fn landlock_alone_is_partial_and_names_the_gaps() {
        let facts = Facts {
            landlock: 7,
            protected_inside: true,
            ..Facts::default()
        };
        let coverage = Coverage::judge(facts, &policy(Network::None));
        assert_eq!(coverage.level, Level::Partial);
        let gaps: Vec<Border> = coverage.not_covered.iter().map(|(b, _)| *b).collect();
        let want = [
            Border::Attributes,
            Border::Protected,
            Border::Network,
            Border::Sockets,
            Border::Survivors,
        ];
        assert_eq!(gaps, want);
    }

    #[test]
    fn nothing_is_off_and_an_old_landlock_that_lets_truncate_is_off_too() {
        let nothing = Coverage::judge(Facts::default(), &policy(Network::Loopback));
        assert_eq!(nothing.level, Level::Off);
        let old = Facts {
            landlock: 2,
            ..Facts::default()
        };
        assert_eq!(
            Coverage::judge(old, &policy(Network::Loopback)).level,
            Level::Off
        );
    }

    #[test]
    fn the_sentence_names_what_is_missing() {
        let facts = Facts { net: false, ..ALL };
        let text = Coverage::judge(facts, &policy(Network::Loopback)).describe();
        assert!(
            text.starts_with("sandbox: partial; not covered: network ("),
            "{text}"
        );
    }
}
