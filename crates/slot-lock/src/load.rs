//! Foreign load: what a server works on for clients that hold no slot.

use baton_protocol::Slots;

use crate::store::{HeldSlot, Listing};

/// What a server said of its slots, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) slots: Slots,
    /// When, in milliseconds since boot.
    pub(crate) at_ms: u64,
}

impl Reading {
    /// How old it is.
    pub(crate) const fn age_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.at_ms)
    }
}

/// Requests of others at the server: all it has, less those of our holders. None: it does not say.
///
/// A holder that flags its requests counts when its flag is up; one that does not flag counts as in
/// flight. So a request that goes on at the server after its client is gone counts as foreign.
/// `own` is the slot of the one who asks, who has sent nothing yet.
pub(crate) fn foreign(reading: &Slots, listing: &Listing, own: Option<u32>) -> Option<u32> {
    let busy = |held: &&HeldSlot| Some(held.slot) != own && held.in_flight != Some(false);
    let ours = listing.held.iter().filter(busy).count();
    let all = reading
        .in_flight?
        .saturating_add(reading.waiting.unwrap_or(0));
    Some(all.saturating_sub(u32::try_from(ours).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use baton_protocol::{SignalSource, Slots};

    use super::foreign;
    use crate::identity::Identity;
    use crate::key::Key;
    use crate::store::{HeldSlot, Listing};

    fn listing(flags: &[Option<bool>]) -> Listing {
        let held = flags.iter().zip(0..).map(|(in_flight, slot)| HeldSlot {
            slot,
            label: None,
            in_flight: *in_flight,
        });
        Listing {
            key: Key::parse("k").unwrap(),
            slots: Some(4),
            held: held.collect(),
            waiting: Vec::new(),
            here: Identity::of_self(),
        }
    }

    fn reading(in_flight: Option<u32>, waiting: Option<u32>) -> Slots {
        Slots {
            total: Some(4),
            in_flight,
            waiting,
            free: None,
            source: SignalSource::Exact,
        }
    }

    #[test]
    fn what_our_holders_have_in_flight_is_not_foreign() {
        // Two in flight, one holder that does not flag: one is foreign.
        assert_eq!(
            foreign(&reading(Some(2), None), &listing(&[None]), None),
            Some(1)
        );
        // A holder whose flag is down has nothing in flight: both are foreign.
        assert_eq!(
            foreign(&reading(Some(2), None), &listing(&[Some(false)]), None),
            Some(2)
        );
        assert_eq!(
            foreign(&reading(Some(2), None), &listing(&[Some(true)]), None),
            Some(1)
        );
        // Ours has sent nothing yet.
        assert_eq!(
            foreign(&reading(Some(1), None), &listing(&[None]), Some(0)),
            Some(1)
        );
        // More holders than requests: nothing is foreign, and nothing is gained.
        assert_eq!(
            foreign(&reading(Some(0), None), &listing(&[None, None]), None),
            Some(0)
        );
    }

    #[test]
    fn q05_a_request_that_outlives_its_client_is_foreign() {
        assert_eq!(
            foreign(&reading(Some(1), None), &listing(&[]), None),
            Some(1)
        );
    }

    #[test]
    fn the_servers_own_queue_counts_and_silence_is_unknown() {
        assert_eq!(
            foreign(&reading(Some(1), Some(3)), &listing(&[]), None),
            Some(4)
        );
        assert_eq!(foreign(&reading(None, Some(3)), &listing(&[]), None), None);
    }
}
