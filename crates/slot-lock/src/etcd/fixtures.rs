//! What tests of this folder begin with.

use baton_protocol::SlotClass;

use super::names::Names;
use crate::identity::Identity;
use crate::key::Key;
use crate::label::Bearer;

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
