//! Git facts and worktrees, by driving the git program.
