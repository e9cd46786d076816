//! The pure core: events in the journal give a state, a state gives the next steps.
//!
//! Nothing here touches a file, a clock, the environment or a process. The shell performs the steps
//! and writes what came of them into the journal; after a crash the same fold gives the same state.

pub(crate) mod activity;
pub(crate) mod advice;
pub(crate) mod api_surface;
pub(crate) mod budget;
pub(crate) mod closing;
pub(crate) mod commit_message;
pub(crate) mod decide;
pub(crate) mod doctor;
pub(crate) mod failure;
pub(crate) mod fallback;
pub(crate) mod gate;
pub(crate) mod github;
pub(crate) mod glob_overlap;
pub(crate) mod goal;
pub(crate) mod grouping;
pub(crate) mod handover;
pub(crate) mod html;
pub(crate) mod init_file;
pub(crate) mod job;
pub(crate) mod launch;
pub(crate) mod lock_files;
pub(crate) mod markdown;
pub(crate) mod names;
pub(crate) mod open_issues;
pub(crate) mod opencode;
pub(crate) mod outcome;
pub(crate) mod placing;
pub(crate) mod plan_check;
pub(crate) mod plan_file;
pub(crate) mod planner_answer;
pub(crate) mod questions;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod review;
pub(crate) mod role_model;
pub(crate) mod state;
pub(crate) mod status_text;
pub(crate) mod stress;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod trace;
pub(crate) mod urgency;
pub(crate) mod verify_check;
pub(crate) mod worktree_state;
