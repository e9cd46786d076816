//! Giving up privileges.

use rustix::thread::{CapabilitySet, CapabilitySets};

/// What root may keep: with these it handles files *inside* the border as it would outside, for
/// instance in a work tree that belongs to another user. Everything that reaches past files
/// (mounts, devices, tracing, other users' identities, the network's configuration) goes.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// Gives up everything that the command must not have, for good: later programs cannot regain it.
pub(crate) fn drop_all() -> std::io::Result<()> {
    let _ = rustix::thread::clear_ambient_capability_set();
    for bit in 0..64 {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        if KEPT.contains(capability) {
            continue;
        }
        // Refused without SETPCAP; then the no-new-privileges flag still keeps later programs from
        // gaining anything.
        let dropped = rustix::thread::remove_capability_from_bounding_set(capability);
        if dropped == Err(rustix::io::Errno::INVAL) {
            // Past the last capability that this kernel knows.
            break;
        }
    }
    let now = rustix::thread::capabilities(None)?;
    let kept = now.permitted & KEPT;
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, sets)?;
    rustix::thread::set_no_new_privs(true)?;
    Ok(())
}
