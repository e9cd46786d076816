//! Whether one more may come in: slots, slots kept free for people, tokens, foreign load.

use baton_protocol::SlotClass;

use crate::store::{TokenNeed, Want};

/// Why nobody more may come in now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Every slot is held.
    Slots,
    /// The rest is kept for interactive work.
    Reserved,
    /// The server works for clients that hold no slot.
    Foreign,
    /// The server has another model in memory, and its holders need it.
    Model,
    /// The slots' tokens and these do not fit the server's pool together.
    Tokens,
}

/// How many may hold a slot of `want` at once, before tokens are looked at.
pub(crate) fn allowed(want: &Want, class: SlotClass) -> u32 {
    let reserve = reserve(want, class);
    want.slots
        .saturating_sub(want.foreign)
        .saturating_sub(reserve)
}

fn reserve(want: &Want, class: SlotClass) -> u32 {
    match class {
        SlotClass::Interactive => 0,
        SlotClass::Worker | SlotClass::Batch => want.reserve_interactive,
    }
}

/// Judges by the number of held slots (those above a lowered limit included).
pub(crate) fn by_count(want: &Want, class: SlotClass, held: u32) -> Result<(), Refusal> {
    if held < allowed(want, class) {
        Ok(())
    } else if held >= want.slots {
        Err(Refusal::Slots)
    } else if held < want.slots.saturating_sub(want.foreign) {
        Err(Refusal::Reserved)
    } else {
        Err(Refusal::Foreign)
    }
}

/// Judges by the models of the holders: a server that has one model in memory at a time would drop
/// theirs, in the middle of an answer, for ours. A holder that names none may want any.
pub(crate) fn by_model<'a>(
    mine: &str,
    held: impl Iterator<Item = Option<&'a str>>,
) -> Result<(), Refusal> {
    let mut others = held.flatten();
    if others.all(|model| model == mine) {
        Ok(())
    } else {
        Err(Refusal::Model)
    }
}

/// Judges by tokens. `held` has one entry a holder; a holder that did not say counts for its share
/// of the pool, for unknown is not nothing.
pub(crate) fn by_tokens(need: TokenNeed, slots: u32, held: &[Option<u64>]) -> Result<(), Refusal> {
    let share = need.pool / u64::from(slots.max(1));
    let used = held
        .iter()
        .map(|tokens| tokens.unwrap_or(share))
        .fold(0u64, u64::saturating_add);
    // Alone it may always start: whether it fits at all was judged before.
    if held.is_empty() || used.saturating_add(need.tokens) <= need.pool {
        Ok(())
    } else {
        Err(Refusal::Tokens)
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::SlotClass::{Batch, Interactive, Worker};

    use super::{Refusal, by_count, by_model, by_tokens};
    use crate::key::Key;
    use crate::store::{TokenNeed, Want};

    fn want(slots: u32, reserve_interactive: u32, foreign: u32) -> Want {
        Want {
            key: Key::parse("k").unwrap(),
            slots,
            is_assumed: false,
            reserve_interactive,
            foreign,
            tokens: None,
            only_model: None,
        }
    }

    #[test]
    fn q12_one_model_at_a_time_on_a_server_that_swaps() {
        let judge = |held: &[Option<&str>]| by_model("a", held.iter().copied());
        assert_eq!(judge(&[]), Ok(()));
        assert_eq!(judge(&[Some("a"), None]), Ok(()));
        assert_eq!(judge(&[Some("a"), Some("b")]), Err(Refusal::Model));
    }

    #[test]
    fn a_lowered_limit_drains() {
        // Three still hold a slot after the limit went from 4 to 2.
        assert_eq!(by_count(&want(2, 0, 0), Worker, 3), Err(Refusal::Slots));
        assert_eq!(by_count(&want(2, 0, 0), Worker, 2), Err(Refusal::Slots));
        assert_eq!(by_count(&want(2, 0, 0), Worker, 1), Ok(()));
    }

    #[test]
    fn slots_kept_for_people_are_theirs() {
        assert_eq!(by_count(&want(2, 1, 0), Batch, 1), Err(Refusal::Reserved));
        assert_eq!(by_count(&want(2, 1, 0), Interactive, 1), Ok(()));
        assert_eq!(by_count(&want(1, 5, 0), Worker, 0), Err(Refusal::Reserved));
    }

    #[test]
    fn foreign_load_only_lowers() {
        assert_eq!(by_count(&want(4, 0, 3), Worker, 1), Err(Refusal::Foreign));
        assert_eq!(by_count(&want(4, 0, 3), Worker, 0), Ok(()));
        assert_eq!(by_count(&want(4, 0, 9), Worker, 0), Err(Refusal::Foreign));
    }

    #[test]
    fn tokens_must_fit_the_pool_together() {
        let need = TokenNeed {
            tokens: 6_000,
            pool: 10_000,
        };
        assert_eq!(by_tokens(need, 2, &[]), Ok(()));
        assert_eq!(by_tokens(need, 2, &[Some(4_000)]), Ok(()));
        assert_eq!(by_tokens(need, 2, &[Some(4_001)]), Err(Refusal::Tokens));
        assert_eq!(by_tokens(need, 2, &[None]), Err(Refusal::Tokens));
        let huge = TokenNeed {
            tokens: u64::MAX,
            pool: 1,
        };
        assert_eq!(by_tokens(huge, 0, &[Some(u64::MAX)]), Err(Refusal::Tokens));
    }
}
