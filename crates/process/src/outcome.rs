//! How a command ended, or why it could not be run.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::sandbox::Coverage;
use crate::{Captured, ExitStatus, Leftover};

/// How a command ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its exit code or signal.
    pub exit: ExitStatus,
    /// We ended it because its time was up.
    pub timed_out: bool,
    /// We ended it because the run was cancelled.
    pub cancelled: bool,
    /// We ended it because the disk filled up: how it stood.
    pub no_space: Option<String>,
    /// Its output.
    pub stdout: Captured,
    /// Its error output (empty when merged).
    pub stderr: Captured,
    /// From the start of the process to its end.
    pub duration: Duration,
    /// Processes it left behind. They are dead by now.
    pub leftovers: Vec<Leftover>,
    /// Which borders stood around it; `None` if no sandbox was asked for.
    pub sandbox: Option<Coverage>,
}

impl Outcome {
    /// It ended by itself, with code 0.
    pub fn success(&self) -> bool {
        self.exit.success() && !self.timed_out && !self.cancelled && self.no_space.is_none()
    }
}

/// Why a command could not be run.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("{program}: command not found")]
    NotFound {
        /// The program as it was asked for.
        program: String,
    },
    /// It is there but cannot be executed.
    #[error("{program}: cannot execute: {source}")]
    NotExecutable {
        /// The program as it was asked for.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The working directory is not there.
    #[error("cannot run {program} in {}: {source}", dir.display())]
    WorkingDirectory {
        /// The program as it was asked for.
        program: String,
        /// The directory.
        dir: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Something else in starting or watching it failed.
    #[error("cannot {action} for {program}: {source}")]
    Io {
        /// The program as it was asked for.
        program: String,
        /// What failed, fitting "cannot …".
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The sandbox could not be made, or covers less than was demanded.
    #[error("{program}: not run: {reason}")]
    Sandbox {
        /// The program as it was asked for.
        program: String,
        /// What failed and, if it got that far, what would have stood.
        reason: String,
    },
    /// KILL did not end it (it hangs inside the kernel, as on a dead network file system).
    #[error("{program}: process {pid} does not end even after KILL")]
    Stuck {
        /// The program as it was asked for.
        program: String,
        /// The process that hangs.
        pid: u32,
    },
}

impl SpawnError {
    /// The exit code that a shell, `env` or `timeout` would give: 127 not found, 126 cannot be
    /// executed, 125 our own failure.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotFound { .. } => 127,
            Self::NotExecutable { .. } => 126,
            Self::WorkingDirectory { .. }
            | Self::Io { .. }
            | Self::Sandbox { .. }
            | Self::Stuck { .. } => 125,
        }
    }
}
