//! Whether opencode is here and knows us.

use std::path::Path;

use baton_process::Cancel;

use super::ask;
use crate::core::doctor::Check;

/// opencode is a guest, not a need: its absence is fine.
pub(crate) fn opencode(root: &Path, cancel: &Cancel) -> Check {
    let name = "opencode";
    let Some(said) = ask(name, &["--version"], root, cancel).filter(|s| s.code == 0) else {
        return Check::pass(name, "not installed, and not needed");
    };
    Check::pass(name, said.stdout.trim().to_owned())
}
