//! A slot-lock below another one: the deadlock where a worker that holds the only slot starts a
//! helper that waits for it.

use crate::environment::HELD;
use crate::key::Key;
use crate::store::Listing;

/// One slot an ancestor holds, as the environment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ancestor {
    pub(crate) token: String,
    pub(crate) slot: u32,
    pub(crate) folder: String,
}

/// What to do below an ancestor that holds a slot of the same server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Nested {
    /// Run in the ancestor's slot.
    #[default]
    Share,
    /// Exit 75 at once.
    Refuse,
    /// Take another slot, waiting for it if need be.
    Queue,
}

/// Reads [`HELD`]; what cannot be read is left out.
pub(crate) fn parse(text: &str) -> Vec<Ancestor> {
    let one = |entry: &str| {
        let mut parts = entry.splitn(3, '@');
        Some(Ancestor {
            token: parts.next().filter(|t| !t.is_empty())?.to_owned(),
            slot: parts.next()?.parse().ok()?,
            folder: parts.next()?.to_owned(),
        })
    };
    text.split(',').filter_map(one).collect()
}

/// The value of [`HELD`] for our command: the ancestors' slots and ours.
pub(crate) fn extend(before: &str, token: &str, slot: u32, key: &Key) -> String {
    let ours = format!("{token}@{slot}@{}", key.folder().display());
    if before.is_empty() {
        ours
    } else {
        format!("{before},{ours}")
    }
}

/// The environment variable's text.
pub(crate) fn variable(env: &baton_cli::Environment) -> &str {
    env.get(HELD).unwrap_or_default()
}

/// The ancestor that really holds a slot of this key: the environment names it, the slot is locked
/// and its label carries the same token.
pub(crate) fn holder<'a>(ancestors: &'a [Ancestor], listing: &Listing) -> Option<&'a Ancestor> {
    let folder = listing.key.folder();
    ancestors.iter().rev().find(|ancestor| {
        let same = |token: &str| token == ancestor.token;
        folder.to_str() == Some(&ancestor.folder)
            && listing.held.iter().any(|held| {
                held.slot == ancestor.slot && held.label.as_ref().is_some_and(|l| same(&l.token))
            })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{extend, parse};
    use crate::key::Key;

    #[test]
    fn slots_of_all_ancestors_are_named() {
        let key = Key::parse("a@b,c").unwrap();
        let outer = extend("", "t1", 0, &key);
        let inner = extend(&outer, "t2", 3, &key);
        let read = parse(&inner);
        assert_eq!(read.len(), 2);
        assert_eq!((read[1].token.as_str(), read[1].slot), ("t2", 3));
        assert_eq!(read[1].folder, key.folder().to_str().unwrap());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".{0,100}") {
            let _ = parse(&text);
        }
    }
}
