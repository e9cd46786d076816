//! How urgent a worker is to the others that want the same slots.

use baton_protocol::SlotClass;

use super::record::JobKind;

/// The class a worker asks for its slot with. A person who sits at the terminal waits for the plan
/// or the answer; the work itself, which they watch, must not keep other people waiting. A run that
/// nobody waits for stays behind everybody.
pub(crate) const fn class(run: SlotClass, kind: JobKind) -> SlotClass {
    match (run, kind) {
        (SlotClass::Interactive, JobKind::Plan | JobKind::Explore | JobKind::Answer) => {
            SlotClass::Interactive
        }
        (SlotClass::Batch, _) => SlotClass::Batch,
        _ => SlotClass::Worker,
    }
}

/// The class's name on slot-lock's command line.
pub(crate) const fn name(class: SlotClass) -> &'static str {
    match class {
        SlotClass::Interactive => "interactive",
        SlotClass::Worker => "worker",
        SlotClass::Batch => "batch",
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::SlotClass::{Batch, Interactive, Worker};

    use super::class;
    use crate::core::record::JobKind;

    #[test]
    fn only_what_a_person_waits_for_is_interactive() {
        assert_eq!(class(Interactive, JobKind::Plan), Interactive);
        assert_eq!(class(Interactive, JobKind::Answer), Interactive);
        assert_eq!(class(Interactive, JobKind::Work), Worker);
        assert_eq!(class(Interactive, JobKind::Review), Worker);
        assert_eq!(class(Worker, JobKind::Plan), Worker);
        assert_eq!(class(Batch, JobKind::Plan), Batch);
        assert_eq!(class(Batch, JobKind::Work), Batch);
    }
}
