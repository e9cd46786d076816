//! The verbs, each from its arguments to its exit code.

pub(crate) mod clean;
pub(crate) mod doctor;
pub(crate) mod ending;
pub(crate) mod github;
pub(crate) mod goal;
pub(crate) mod goal_run;
pub(crate) mod halt;
pub(crate) mod handover;
pub(crate) mod init;
mod init_opencode;
pub(crate) mod place;
pub(crate) mod plan_report;
pub(crate) mod plans;
pub(crate) mod polish;
pub(crate) mod pull_request;
pub(crate) mod restructure;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod run_plan;
pub(crate) mod settings;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod stress_plan;
pub(crate) mod trust;
pub(crate) mod upkeep;
pub(crate) mod worktree;
mod worktree_text;
