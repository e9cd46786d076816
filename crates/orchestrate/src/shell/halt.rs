//! The halt file: how one process asks another to stop.

use std::path::Path;

use baton_cli::Failure;
use serde::{Deserialize, Serialize};

/// What a halt asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Halt {
    /// End the workers at once rather than let them finish.
    pub now: bool,
    /// The run it is meant for; none: whichever runs.
    #[serde(default)]
    pub run: Option<String>,
}

/// Asks for a halt. The file appears whole or not at all.
pub(crate) fn ask(file: &Path, halt: &Halt) -> Result<(), Failure> {
    let fail = |e: &dyn std::fmt::Display| {
        Failure::internal(format!("cannot write {}: {e}", file.display()))
    };
    let text = serde_json::to_string(halt).map_err(|e| fail(&e))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let draft = tempfile::NamedTempFile::new_in(folder).map_err(|e| fail(&e))?;
    std::fs::write(draft.path(), text).map_err(|e| fail(&e))?;
    draft.persist(file).map_err(|e| fail(&e.error))?;
    Ok(())
}

/// The halt that is asked for, if one is meant for this run. A file that cannot be read is a halt:
/// somebody wanted something to stop.
pub(crate) fn asked(file: &Path, run: &str) -> Option<Halt> {
    let text = std::fs::read_to_string(file).ok()?;
    let halt: Halt = serde_json::from_str(&text).unwrap_or(Halt {
        now: false,
        run: None,
    });
    halt.run
        .as_deref()
        .is_none_or(|name| name == run)
        .then_some(halt)
}

/// Takes a halt back: it was obeyed, or the run begins anew.
pub(crate) fn clear(file: &Path) {
    // A file that is not there needs no removing, and one that cannot be removed halts again.
    let _ = std::fs::remove_file(file);
}
