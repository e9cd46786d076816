//! The verbs of `orchestrate` that live long or prepare work, end to end.

mod support;

#[path = "orchestrate/stage.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod stage;

#[path = "orchestrate-verbs/doctor.rs"]
mod doctor;
#[path = "orchestrate-verbs/goal.rs"]
mod goal;
#[path = "orchestrate-verbs/init.rs"]
mod init;
