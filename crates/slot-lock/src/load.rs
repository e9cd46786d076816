//! Foreign load: what a server works on for clients that hold no slot.

use baton_protocol::Slots;

use crate::store::{HeldSlot, Listing};

/// Requests of others at the server: all it has, less one for each of our `busy` slots. None: it does
/// not say. A request that goes on at the server after its client is gone counts as foreign. `own` is
/// the slot of the one who asks, who has sent nothing yet.
pub(crate) fn foreign(reading: &Slots, busy: &[u32], own: Option<u32>) -> Option<u32> {
    let ours = busy.iter().filter(|slot| Some(**slot) != own).count();
    let all = reading
        .in_flight?
        .saturating_add(reading.waiting.unwrap_or(0));
    Some(all.saturating_sub(u32::try_from(ours).unwrap_or(u32::MAX)))
}

/// The slots whose holders had a request in flight before and after the server was read.
///
/// A holder that flags its requests is busy when its flag is up; one that does not flag is taken for
/// busy. One that began or ended in between may or may not be in the server's number: it is not
/// counted, so that it hides nobody; the number is then too high for a moment, never too low.
pub(crate) fn busy_all_along(before: &Listing, after: &Listing) -> Vec<u32> {
    let is_busy = |held: &&HeldSlot| held.in_flight != Some(false);
    let token = |held: &HeldSlot| held.label.as_ref().map(|l| l.token.clone());
    let was_busy = |now: &&HeldSlot| {
        let mut busy = before.held.iter().filter(is_busy);
        busy.any(|then| then.slot == now.slot && token(then) == token(now))
    };
    let busy = after.held.iter().filter(is_busy).filter(was_busy);
    busy.map(|held| held.slot).collect()
}

#[cfg(test)]
mod tests {
    use baton_protocol::{SignalSource, Slots};

    use super::{busy_all_along, foreign};
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

    /// What is foreign when nothing changed while the server was asked.
    fn seen(reading: &Slots, listing: &Listing, own: Option<u32>) -> Option<u32> {
        foreign(reading, &busy_all_along(listing, listing), own)
    }

    #[test]
    fn who_begins_or_ends_while_the_server_is_asked_hides_nobody() {
        let (up, down) = (listing(&[Some(true)]), listing(&[Some(false)]));
        let all = |before, after| {
            foreign(
                &reading(Some(1), None),
                &busy_all_along(before, after),
                None,
            )
        };
        assert_eq!(all(&up, &up), Some(0));
        assert_eq!(all(&down, &up), Some(1));
        assert_eq!(all(&up, &down), Some(1));
        assert_eq!(all(&listing(&[]), &up), Some(1));
    }

    #[test]
    fn what_our_holders_have_in_flight_is_not_foreign() {
        // Two in flight, one holder that does not flag: one is foreign.
        assert_eq!(
            seen(&reading(Some(2), None), &listing(&[None]), None),
            Some(1)
        );
        // A holder whose flag is down has nothing in flight: both are foreign.
        assert_eq!(
            seen(&reading(Some(2), None), &listing(&[Some(false)]), None),
            Some(2)
        );
        assert_eq!(
            seen(&reading(Some(2), None), &listing(&[Some(true)]), None),
            Some(1)
        );
        // Ours has sent nothing yet.
        assert_eq!(
            seen(&reading(Some(1), None), &listing(&[None]), Some(0)),
            Some(1)
        );
        // More holders than requests: nothing is foreign, and nothing is gained.
        assert_eq!(
            seen(&reading(Some(0), None), &listing(&[None, None]), None),
            Some(0)
        );
    }

    #[test]
    fn q05_a_request_that_outlives_its_client_is_foreign() {
        assert_eq!(seen(&reading(Some(1), None), &listing(&[]), None), Some(1));
    }

    #[test]
    fn the_servers_own_queue_counts_and_silence_is_unknown() {
        assert_eq!(
            seen(&reading(Some(1), Some(3)), &listing(&[]), None),
            Some(4)
        );
        assert_eq!(seen(&reading(None, Some(3)), &listing(&[]), None), None);
    }
}
