//! The exit codes of all tools, in one place.

use std::process::ExitCode;

/// How a tool ends. The meaning of 0 and 1 depends on the kind of tool (see the man pages).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: yes (question tools), completed (doers).
    Yes,
    /// 1: a well-founded no, or finished but not completed.
    No,
    /// 2: wrong usage or bad input.
    Usage,
    /// 3: could not judge (question tools), needs a person (doers).
    Unknown,
    /// 69: the server is unavailable (`EX_UNAVAILABLE`).
    Unavailable,
    /// 75: no slot in time, try again (`EX_TEMPFAIL`).
    TryAgain,
    /// 78: the configuration is wrong (`EX_CONFIG`).
    Config,
    /// 124: a time limit passed.
    TimeLimit,
    /// 125: a chain loader itself failed, its usage errors included.
    Internal,
    /// 126: the command was found but cannot be executed.
    CannotExecute,
    /// 127: the command was not found.
    NotFound,
    /// 128 + n: ended by signal n.
    Signal(u8),
    /// The code of the command a chain loader ran, passed through.
    Command(u8),
}

impl Exit {
    /// The process's exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Unknown => 3,
            Self::Unavailable => 69,
            Self::TryAgain => 75,
            Self::Config => 78,
            Self::TimeLimit => 124,
            Self::Internal => 125,
            Self::CannotExecute => 126,
            Self::NotFound => 127,
            Self::Signal(signal) => 128u8.wrapping_add(signal),
            Self::Command(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn codes_are_those_of_the_contract() {
        let table = [
            (Exit::Yes, 0),
            (Exit::No, 1),
            (Exit::Usage, 2),
            (Exit::Unknown, 3),
            (Exit::Unavailable, 69),
            (Exit::TryAgain, 75),
            (Exit::Config, 78),
            (Exit::TimeLimit, 124),
            (Exit::Internal, 125),
            (Exit::CannotExecute, 126),
            (Exit::NotFound, 127),
            (Exit::Signal(2), 130),
            (Exit::Signal(15), 143),
            (Exit::Command(42), 42),
        ];
        for (exit, code) in table {
            assert_eq!(exit.code(), code, "{exit:?}");
        }
    }
}
