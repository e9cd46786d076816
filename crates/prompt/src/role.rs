//! Who does the task, and how it talks to the harness.

use baton_protocol::Access;

/// What a role is for; a configured role maps onto one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Changes files: `implementer`, `worker` and every configured role with write access.
    Implementer,
    /// Answers a question about the repository: `explore` and configured roles without write access.
    Explore,
    /// Splits a goal into tasks.
    Planner,
    /// Judges a change.
    Reviewer,
}

impl Role {
    /// The role of that name; `access` decides for names that are not built in.
    pub fn from_name(name: &str, access: Option<Access>) -> Self {
        match (name, access) {
            ("planner", None | Some(Access::Read)) => Self::Planner,
            ("reviewer", None | Some(Access::Read)) => Self::Reviewer,
            ("explore", None) | (_, Some(Access::Read)) => Self::Explore,
            _ => Self::Implementer,
        }
    }

    /// Whether it may change files.
    pub const fn access(self) -> Access {
        match self {
            Self::Implementer => Access::Write,
            Self::Explore | Self::Planner | Self::Reviewer => Access::Read,
        }
    }

    /// Whether it may change files, as a yes or no.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Implementer)
    }
}

/// How the model acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By tool calls.
    Tools,
    /// By replying with whole files in fenced blocks; for models that cannot call tools.
    WholeFile,
    /// By replying with search/replace blocks; for such models and files too long to repeat.
    Blocks,
}

impl Mode {
    /// Whether the model gets tools at all.
    pub const fn has_tools(self) -> bool {
        matches!(self, Self::Tools)
    }
}

#[cfg(test)]
mod tests {
    use super::Role;
    use baton_protocol::Access;

    #[test]
    fn a_configured_access_wins_over_the_name() {
        assert_eq!(Role::from_name("explore", None), Role::Explore);
        assert_eq!(Role::from_name("worker", None), Role::Implementer);
        assert_eq!(
            Role::from_name("explore", Some(Access::Write)),
            Role::Implementer
        );
        assert_eq!(
            Role::from_name("auditor", Some(Access::Read)),
            Role::Explore
        );
        assert_eq!(
            Role::from_name("planner", Some(Access::Read)),
            Role::Planner
        );
        assert!(!Role::Reviewer.writes());
    }
}
