//! How a work tree is, from what was recorded when it was made and what git and the disk say now.

use serde::{Deserialize, Serialize};

/// What `worktree create` records before it makes anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Made {
    /// Its name.
    pub name: String,
    /// Where it was made.
    pub path: String,
    /// The branch it was made for.
    pub branch: String,
    /// The commit it began at.
    pub base: String,
    /// When.
    pub created_at: String,
    /// How far that is.
    pub phase: Phase,
    /// git's folder of it, once it has one.
    #[serde(default)]
    pub git_dir: Option<String>,
    /// Why a removal failed.
    #[serde(default)]
    pub trouble: Option<String>,
}

/// How far a work tree's making or removing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Phase {
    /// It is being made.
    Pending,
    /// It was made.
    Made,
    /// Its removal failed.
    CleanupFailed,
}

/// Who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The repository's own.
    Main,
    /// `worktree create`.
    Ours,
    /// A run, with its name.
    Run(String),
    /// Somebody else.
    Foreign,
}

/// What is known of one now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// git lists it at the path it was made at.
    pub listed: bool,
    /// Where git lists it instead.
    pub listed_at: Option<String>,
    /// Where its folder lies now, though git does not know.
    pub moved_to: Option<String>,
    /// Its folder is there.
    pub exists: bool,
    /// The branch checked out there; none when detached.
    pub branch: Option<String>,
    /// Uncommitted changes, submodules included.
    pub dirty: Vec<String>,
    /// A rebase or merge is half done.
    pub operation: Option<String>,
    /// git cannot read it, and why.
    pub unreadable: Option<String>,
}

/// The states of the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    Pending,
    Ready,
    Dirty,
    Moved,
    Orphaned,
    CleanupFailed,
}

/// The state and, in words, why.
pub(crate) fn state(made: Option<&Made>, seen: &Seen) -> (State, String) {
    if let Some(path) = &seen.listed_at {
        return (State::Moved, format!("it is at {path} now"));
    }
    if let Some(path) = &seen.moved_to {
        return (
            State::Moved,
            format!(
                "it was moved to {path}, and git does not know; write: git worktree repair {path}"
            ),
        );
    }
    if !seen.exists {
        let pending = made.is_some_and(|m| m.phase == Phase::Pending);
        return if pending && !seen.listed {
            (
                State::Pending,
                "it was about to be made; make it again, or clean it up".into(),
            )
        } else {
            (State::Orphaned, "its folder is gone".into())
        };
    }
    if !seen.listed {
        return (
            State::Orphaned,
            "its folder is there, but git does not know it; look at it, then: git worktree repair"
                .into(),
        );
    }
    if let Some(why) = &seen.unreadable {
        return (State::Orphaned, why.clone());
    }
    if let Some(operation) = &seen.operation {
        return (State::Dirty, format!("in the middle of a {operation}"));
    }
    if !seen.dirty.is_empty() {
        let shown: Vec<&str> = seen.dirty.iter().take(5).map(String::as_str).collect();
        let more = seen.dirty.len().saturating_sub(shown.len());
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        return (
            State::Dirty,
            format!("uncommitted: {}{more}", shown.join(", ")),
        );
    }
    if let Some(made) = made {
        if made.phase == Phase::CleanupFailed {
            let why = made.trouble.clone().unwrap_or_default();
            return (State::CleanupFailed, why);
        }
        if made.phase == Phase::Pending {
            return (
                State::Pending,
                "its making has not ended; make it again, or clean it up".into(),
            );
        }
        if seen.branch.as_deref() != Some(made.branch.as_str()) {
            let now = seen.branch.as_deref().unwrap_or("no branch");
            return (
                State::Moved,
                format!("it was made for `{}` and is on {now}", made.branch),
            );
        }
    }
    (State::Ready, String::new())
}

/// Why a work tree may not be removed; none when it may.
pub(crate) fn kept(owner: &Owner, state: State, why: &str, locked: Option<&str>) -> Option<String> {
    match owner {
        Owner::Main => return Some("it is the repository's own work tree".into()),
        Owner::Run(run) => {
            return Some(format!("it belongs to run {run}; see: orchestrate clean"));
        }
        Owner::Foreign => {
            return Some(
                "`worktree create` did not make it; remove it yourself: git worktree remove".into(),
            );
        }
        Owner::Ours => {}
    }
    if let Some(reason) = locked {
        let because = if reason.is_empty() {
            String::new()
        } else {
            format!(" ({reason})")
        };
        return Some(format!("it is locked{because}; git worktree unlock"));
    }
    match state {
        State::Ready | State::CleanupFailed | State::Pending => None,
        State::Orphaned if why == "its folder is gone" => None,
        State::Dirty | State::Moved | State::Orphaned => Some(why.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Made, Owner, Phase, Seen, State, kept, state};

    fn made(phase: Phase) -> Made {
        Made {
            name: "a".into(),
            path: "/w/a".into(),
            branch: "baton/a".into(),
            base: "0".repeat(40),
            created_at: String::new(),
            phase,
            git_dir: None,
            trouble: Some("busy".into()),
        }
    }

    fn there() -> Seen {
        Seen {
            listed: true,
            exists: true,
            branch: Some("baton/a".into()),
            ..Seen::default()
        }
    }

    #[test]
    fn every_state_of_the_plugin() {
        let with = |phase, seen: &Seen| state(Some(&made(phase)), seen).0;
        assert_eq!(with(Phase::Made, &there()), State::Ready);
        let dirty = Seen {
            dirty: vec!["x".into()],
            ..there()
        };
        assert_eq!(with(Phase::Made, &dirty), State::Dirty);
        let half = Seen {
            operation: Some("rebase".into()),
            ..there()
        };
        assert_eq!(with(Phase::Made, &half), State::Dirty);
        let other = Seen {
            branch: None,
            ..there()
        };
        assert_eq!(with(Phase::Made, &other), State::Moved);
        let elsewhere = Seen {
            listed_at: Some("/x".into()),
            exists: false,
            ..Seen::default()
        };
        assert_eq!(with(Phase::Made, &elsewhere), State::Moved);
        assert_eq!(with(Phase::Made, &Seen::default()), State::Orphaned);
        assert_eq!(with(Phase::Pending, &Seen::default()), State::Pending);
        assert_eq!(with(Phase::Pending, &there()), State::Pending);
        let unknown = Seen {
            listed: false,
            ..there()
        };
        assert_eq!(with(Phase::Made, &unknown), State::Orphaned);
        assert_eq!(with(Phase::CleanupFailed, &there()), State::CleanupFailed);
        assert_eq!(state(None, &there()).0, State::Ready);
    }

    #[test]
    fn only_what_is_ours_and_holds_nothing_may_go() {
        let may = |owner: &Owner, state, why| kept(owner, state, why, None).is_none();
        assert!(may(&Owner::Ours, State::Ready, ""));
        assert!(may(&Owner::Ours, State::Orphaned, "its folder is gone"));
        assert!(!may(&Owner::Ours, State::Orphaned, "git does not know it"));
        assert!(!may(&Owner::Ours, State::Dirty, "x") && !may(&Owner::Ours, State::Moved, "x"));
        for owner in [Owner::Main, Owner::Foreign, Owner::Run("r".into())] {
            assert!(!may(&owner, State::Ready, ""));
        }
        assert!(
            kept(&Owner::Ours, State::Ready, "", Some("usb")).is_some_and(|w| w.contains("(usb)"))
        );
    }
}
