//! The verbs, each from its arguments to its exit code.

pub(crate) mod clean;
pub(crate) mod doctor;
pub(crate) mod ending;
pub(crate) mod halt;
pub(crate) mod init;
pub(crate) mod place;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod trust;
