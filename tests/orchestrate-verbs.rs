//! The verbs of `orchestrate` that live long or prepare work, end to end.

mod support;

#[path = "orchestrate/stage.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod stage;

#[path = "orchestrate-verbs/doctor.rs"]
mod doctor;
#[path = "orchestrate-verbs/external.rs"]
mod external;
#[path = "orchestrate-verbs/goal.rs"]
mod goal;
#[path = "orchestrate-verbs/handover.rs"]
mod handover;
#[path = "orchestrate-verbs/init.rs"]
mod init;
#[path = "orchestrate-verbs/killed.rs"]
mod killed;
#[path = "orchestrate-verbs/opencode.rs"]
mod opencode;
#[path = "orchestrate-verbs/opencode_real.rs"]
mod opencode_real;
#[path = "orchestrate-verbs/run_plan.rs"]
mod run_plan;
#[path = "orchestrate-verbs/stress_plan.rs"]
mod stress_plan;
#[path = "orchestrate-verbs/upkeep.rs"]
mod upkeep;
