//! Which offered tool a model means.

use baton_prompt::Tool;

/// Names that other agents give to the same tools.
const ALIASES: &[(&str, Tool)] = &[
    ("read_file", Tool::Read),
    ("readfile", Tool::Read),
    ("view", Tool::Read),
    ("view_file", Tool::Read),
    ("open_file", Tool::Read),
    ("cat", Tool::Read),
    ("get_file_contents", Tool::Read),
    ("read_file_content", Tool::Read),
    ("list_files", Tool::List),
    ("list_dir", Tool::List),
    ("list_directory", Tool::List),
    ("ls", Tool::List),
    ("glob", Tool::List),
    ("find_files", Tool::List),
    ("find", Tool::List),
    ("grep", Tool::Search),
    ("grep_search", Tool::Search),
    ("search_files", Tool::Search),
    ("search_file_content", Tool::Search),
    ("ripgrep", Tool::Search),
    ("rg", Tool::Search),
    ("edit_file", Tool::Edit),
    ("str_replace", Tool::Edit),
    ("replace", Tool::Edit),
    ("replace_in_file", Tool::Edit),
    ("search_replace", Tool::Edit),
    ("write_file", Tool::Write),
    ("create_file", Tool::Write),
    ("write_to_file", Tool::Write),
    ("save_file", Tool::Write),
    ("create", Tool::Write),
    ("shell", Tool::Bash),
    ("sh", Tool::Bash),
    ("run", Tool::Bash),
    ("run_command", Tool::Bash),
    ("run_shell_command", Tool::Bash),
    ("execute_command", Tool::Bash),
    ("execute_terminal", Tool::Bash),
    ("exec_command", Tool::Bash),
    ("shell_command", Tool::Bash),
    ("local_shell", Tool::Bash),
    ("terminal", Tool::Bash),
    ("run_terminal_cmd", Tool::Bash),
    ("finish", Tool::Done),
    ("complete", Tool::Done),
    ("submit", Tool::Done),
    ("attempt_completion", Tool::Done),
    ("task_done", Tool::Done),
];

/// The offered tool of that name, and whether the name had to be repaired.
///
/// Exact, then without what a template left behind it (`read<|channel|>…`, `read:0`), in another
/// case, without a name space (`functions.read`, `tool:bash`), then by the alias list; none if it was
/// not offered under any of these.
pub(crate) fn resolve(name: &str, offered: &[Tool]) -> Option<(Tool, bool)> {
    let name = name.trim();
    let exact = |name: &str| offered.iter().copied().find(|tool| tool.name() == name);
    if let Some(tool) = exact(name) {
        return Some((tool, false));
    }
    let lower = without_leftovers(name).to_ascii_lowercase();
    let bare = lower
        .rsplit(['.', ':', '/'])
        .next()
        .unwrap_or_default()
        .trim();
    let alias = || {
        ALIASES
            .iter()
            .find(|(alias, tool)| *alias == bare && offered.contains(tool))
            .map(|(_, tool)| *tool)
    };
    exact(&lower)
        .or_else(|| exact(bare))
        .or_else(alias)
        .map(|tool| (tool, true))
}

fn without_leftovers(name: &str) -> &str {
    let name = name.split("<|").next().unwrap_or(name).trim();
    match name.rsplit_once(':') {
        Some((bare, number)) if number.bytes().all(|b| b.is_ascii_digit()) => bare,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::{ALIASES, resolve};
    use baton_prompt::{Mode, Role, Tool};

    fn offered() -> &'static [Tool] {
        Tool::offered(Role::Implementer, Mode::Tools)
    }

    #[test]
    fn what_a_template_left_behind_a_name_is_no_part_of_it() {
        for name in [
            "functions.read:0",
            "read<|channel|>commentary",
            "read<|constrain|>json",
            "READ:12",
        ] {
            assert_eq!(resolve(name, offered()), Some((Tool::Read, true)), "{name}");
        }
    }

    #[test]
    fn t15_other_spellings_of_the_same_tool() {
        for (name, tool) in [
            ("Read", Tool::Read),
            ("read_file", Tool::Read),
            ("repo_browser.read", Tool::Read),
            ("tool:execute_terminal", Tool::Bash),
            ("functions.Bash", Tool::Bash),
            (" edit ", Tool::Edit),
            ("grep", Tool::Search),
        ] {
            let repaired = name.trim() != tool.name();
            assert_eq!(resolve(name, offered()), Some((tool, repaired)), "{name}");
        }
    }

    #[test]
    fn a_tool_that_was_not_offered_is_not_found_by_any_name() {
        let reader = Tool::offered(Role::Explore, Mode::Tools);
        for name in [
            "write",
            "Write",
            "write_file",
            "edit",
            "view_file_contents",
            "",
        ] {
            assert_eq!(resolve(name, reader), None, "{name}");
        }
    }

    #[test]
    fn no_alias_is_listed_twice() {
        for (at, (name, _)) in ALIASES.iter().enumerate() {
            assert!(
                ALIASES[at + 1..].iter().all(|(other, _)| other != name),
                "{name}"
            );
        }
    }
}
