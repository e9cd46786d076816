//! The verbs, each from its arguments to its exit code.

pub(crate) mod clean;
pub(crate) mod doctor;
pub(crate) mod ending;
pub(crate) mod goal;
pub(crate) mod goal_run;
pub(crate) mod halt;
pub(crate) mod init;
pub(crate) mod place;
pub(crate) mod plans;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod settings;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod trust;
