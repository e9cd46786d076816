//! `.orchestrator/goal.json`: read, and changed by one process of ours at a time. What a person writes
//! into it by hand is found at the next look and never overwritten unread.

use std::path::PathBuf;

use baton_cli::Failure;
use baton_protocol::Timestamp;

use super::{files, layout::Layout, loops};
use crate::core::goal::Goal;

/// Where a repository's goal is kept.
#[derive(Debug, Clone)]
pub(crate) struct GoalStore {
    file: PathBuf,
    git_dir: PathBuf,
}

impl GoalStore {
    pub(crate) fn new(layout: &Layout, git_dir: &std::path::Path) -> Self {
        Self {
            file: layout.folder().join("goal.json"),
            git_dir: git_dir.to_owned(),
        }
    }

    /// The goal, if there is one. A file that cannot be read is an error, never "no goal".
    pub(crate) fn read(&self) -> Result<Option<Goal>, Failure> {
        let text = match std::fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => {
                return Err(Failure::input(format!(
                    "cannot read {}: {e}; mend it, or: orchestrate goal clear",
                    self.file.display()
                )));
            }
        };
        Goal::read(&text)
            .map(Some)
            .map_err(|e| Failure::input(e).at(self.file.display()))
    }

    /// Reads, changes and writes in one go. `change` gets what stands there now and says what is to
    /// stand there (none: no goal); what is the same is not written.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(Option<Goal>) -> Result<(Option<Goal>, T), Failure>,
    ) -> Result<T, Failure> {
        loops::exclusively(&self.git_dir, "goal-file", || {
            let before = self.read()?;
            let (after, answer) = change(before.clone())?;
            if after != before {
                self.write(after)?;
            }
            Ok(answer)
        })
    }

    /// Takes the goal away, also one that cannot be read. Says whether there was one.
    pub(crate) fn clear(&self) -> Result<bool, Failure> {
        loops::exclusively(&self.git_dir, "goal-file", || {
            match std::fs::remove_file(&self.file) {
                Ok(()) => Ok(true),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
                Err(e) => Err(Failure::internal(format!(
                    "cannot remove {}: {e}",
                    self.file.display()
                ))),
            }
        })
    }

    fn write(&self, goal: Option<Goal>) -> Result<(), Failure> {
        let Some(mut goal) = goal else {
            return match std::fs::remove_file(&self.file) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Failure::internal(
                    format!("cannot remove {}: {e}", self.file.display()),
                )),
                _ => Ok(()),
            };
        };
        goal.updated_at = Timestamp::now();
        let text = serde_json::to_string_pretty(&goal)
            .map_err(|e| Failure::internal(format!("cannot write the goal: {e}")))?;
        files::replace(&self.file, (text + "\n").as_bytes())
    }
}
