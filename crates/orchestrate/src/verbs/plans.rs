//! The written plans of a repository, in a line each.

use crate::shell::goal_facts::plan_files;
use crate::shell::layout::Layout;

/// The plans' names.
pub(crate) fn lines(layout: &Layout) -> Vec<String> {
    let names = plan_files(&layout.plans()).into_iter();
    names
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect()
}
