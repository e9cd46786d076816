//! What tests of this folder begin with.

use baton_protocol::SlotClass;

use super::names::Names;
use crate::identity::Identity;
use crate::key::Key;
use crate::label::Bearer;
use crate::store::Want;

/// The names of one server's entries.
pub(super) fn names() -> Names {
    Names::new("b/", &Key::parse("k").unwrap(), "h")
}

/// Somebody who asks for a slot.
pub(super) fn bearer(class: SlotClass) -> Bearer {
    Bearer {
        owner: Identity::of_self(),
        host: "h".into(),
        uid: 0,
        command: "c".into(),
        class,
        tokens: None,
        expires_at: None,
        is_lease: false,
    }
}

/// So many slots of that server, and nothing else.
pub(super) fn want(slots: u32) -> Want {
    Want {
        key: Key::parse("k").unwrap(),
        slots,
        is_assumed: false,
        reserve_interactive: 0,
        foreign: 0,
        tokens: None,
        only_model: None,
    }
}
