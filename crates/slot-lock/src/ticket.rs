//! The queue's order: one ticket a waiter, named so that the order can be read from the names.

use std::cmp::Ordering;
use std::time::Duration;

use baton_protocol::SlotClass;

/// A waiter of a lower class rises by one class each time it has waited this long, so that batch
/// work is late but never starved.
pub(crate) const AGEING: Duration = Duration::from_secs(120);

/// A place in the queue of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// The class it was asked for with.
    pub(crate) class: SlotClass,
    /// Larger for those who came later.
    pub(crate) number: u64,
    /// When it came, in milliseconds since boot (suspend included).
    pub(crate) since_ms: u64,
}

const PREFIX: &str = "wait-";

impl Ticket {
    /// The name of its file.
    pub(crate) fn file_name(self) -> String {
        let Self {
            number, since_ms, ..
        } = self;
        format!("{PREFIX}{}-{number:020}-{since_ms}", rank(self.class))
    }

    /// The ticket a file name stands for.
    pub(crate) fn from_file_name(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        let class = match parts.next()? {
            "0" => SlotClass::Interactive,
            "1" => SlotClass::Worker,
            "2" => SlotClass::Batch,
            _ => return None,
        };
        let number = parts.next()?.parse().ok()?;
        let since_ms = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some(Self {
            class,
            number,
            since_ms,
        })
    }

    /// The order of service at `now_ms`: by class, raised by age, then first come first served.
    pub(crate) fn order(self, other: Self, now_ms: u64) -> Ordering {
        let place = |t: Self| (t.aged_rank(now_ms), t.number, rank(t.class));
        place(self).cmp(&place(other))
    }

    fn aged_rank(self, now_ms: u64) -> u64 {
        let age = u128::from(now_ms.saturating_sub(self.since_ms));
        let risen = u64::try_from(age / AGEING.as_millis()).unwrap_or(u64::MAX);
        rank(self.class).saturating_sub(risen)
    }
}

const fn rank(class: SlotClass) -> u64 {
    match class {
        SlotClass::Interactive => 0,
        SlotClass::Worker => 1,
        SlotClass::Batch => 2,
    }
}

/// The ticket of a newcomer: behind all of its class.
pub(crate) fn next(present: &[Ticket], class: SlotClass, now_ms: u64) -> Ticket {
    let last = present.iter().map(|t| t.number).max().unwrap_or(0);
    Ticket {
        class,
        number: last.saturating_add(1),
        since_ms: now_ms,
    }
}

/// Those served before `mine`, the nearest first.
pub(crate) fn before(present: &[Ticket], mine: Ticket, now_ms: u64) -> Vec<Ticket> {
    let mut earlier: Vec<Ticket> = present
        .iter()
        .copied()
        .filter(|t| t.order(mine, now_ms) == Ordering::Less)
        .collect();
    earlier.sort_by(|a, b| b.order(*a, now_ms));
    earlier
}

#[cfg(test)]
mod tests {
    use baton_protocol::SlotClass::{Batch, Interactive, Worker};
    use proptest::prelude::*;

    use super::{AGEING, Ticket, before, next};

    fn ticket(class: baton_protocol::SlotClass, number: u64, since_ms: u64) -> Ticket {
        Ticket {
            class,
            number,
            since_ms,
        }
    }

    #[test]
    fn within_a_class_first_come_is_first_served() {
        let (a, b) = (ticket(Worker, 1, 0), ticket(Worker, 2, 0));
        let mine = next(&[a, b], Worker, 5);
        assert_eq!(mine.number, 3);
        assert_eq!(before(&[a, b, mine], mine, 5), [b, a]);
    }

    #[test]
    fn interactive_goes_before_worker_before_batch() {
        let (batch, worker) = (ticket(Batch, 1, 0), ticket(Worker, 2, 0));
        let mine = next(&[batch, worker], Interactive, 10);
        let all = [batch, worker, mine];
        assert_eq!(before(&all, mine, 10), []);
        assert_eq!(before(&all, batch, 10), [worker, mine]);
    }

    #[test]
    fn batch_that_waited_long_goes_before_new_interactive_work() {
        let long = u64::try_from(AGEING.as_millis()).unwrap() * 2;
        let old = ticket(Batch, 1, 0);
        let new = ticket(Interactive, 2, long);
        assert_eq!(before(&[old, new], new, long), [old]);
        assert_eq!(before(&[old, new], new, long - 1), []);
    }

    proptest! {
        #[test]
        fn a_name_comes_back(class in 0..3, number: u64, since_ms: u64) {
            let class = [Interactive, Worker, Batch][usize::try_from(class).unwrap()];
            let t = ticket(class, number, since_ms);
            prop_assert_eq!(Ticket::from_file_name(&t.file_name()), Some(t));
        }

        #[test]
        fn any_name_is_read_without_panic(name in ".{0,60}") {
            let _ = Ticket::from_file_name(&name);
        }
    }
}
