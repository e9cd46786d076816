//! How a process ended.

use std::os::unix::process::ExitStatusExt;

/// An exit code or the signal that killed the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitStatus {
    /// It exited by itself.
    Code(i32),
    /// A signal killed it.
    Signal(i32),
}

impl ExitStatus {
    /// Exit code 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }

    /// The exit code, if it exited by itself.
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) => None,
        }
    }

    /// The one number a shell would show: the code, or 128 plus the signal.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

impl From<std::process::ExitStatus> for ExitStatus {
    fn from(status: std::process::ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            // wait() without WUNTRACED only reports the two kinds above.
            (None, None) => Self::Code(-1),
        }
    }
}

impl std::fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_process_shows_128_plus_the_signal() {
        let status = ExitStatus::from(std::process::ExitStatus::from_raw(9));
        assert_eq!(status, ExitStatus::Signal(9));
        assert_eq!(status.shell_code(), 137);
        assert!(!status.success());
    }

    #[test]
    fn an_exit_code_is_itself() {
        let status = ExitStatus::from(std::process::ExitStatus::from_raw(3 << 8));
        assert_eq!((status.code(), status.shell_code()), (Some(3), 3));
    }
}
