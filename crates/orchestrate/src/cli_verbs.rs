//! The command lines of the verbs that live long or prepare work.

use clap::Args;

use crate::core::role_model::{self, RoleModel};

/// `orchestrate init`.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// A model for a role, with the effort it is asked for, as in reviewer=arc/qwen38#high (repeatable).
    #[arg(long = "model", value_name = "ROLE=PROVIDER/MODEL[#EFFORT]", value_parser = role_model::parse)]
    pub(crate) models: Vec<RoleModel>,
}
