//! The keys of one server's slots.
//!
//! ```text
//! PREFIX/<key>/slot/<i>          exists = the slot is taken, under its holder's lease; value = its label
//! PREFIX/<key>/q/<rank>/<lease>  one a waiter, under its lease; in the order of creation
//! PREFIX/<key>/g/<lease>         the slot one who waited was given by another, under its lease
//! PREFIX/<key>/slots             how many slots the last taker counted with
//! ```

use baton_protocol::{BaseUrl, SlotClass};

use super::wire::Entry;
use crate::key::Key;

/// How many classes there are.
pub(super) const RANKS: u8 = 3;

/// The keys of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    folder: String,
}

impl Names {
    pub(super) fn new(prefix: &str, key: &Key, host: &str) -> Self {
        let name = key.folder();
        let name = name.to_string_lossy();
        // What every host calls by its own name is another server on every host.
        let is_local = BaseUrl::parse(&key.to_string()).is_ok_and(|url| url.is_loopback());
        let at = if is_local {
            format!("@{host}")
        } else {
            String::new()
        };
        Self {
            folder: format!("{prefix}{name}{at}/"),
        }
    }

    /// Those a slot belongs to.
    pub(super) fn of_slot(name: &str) -> Option<Self> {
        let (folder, _) = name.rsplit_once("slot/")?;
        let folder = folder.to_owned();
        folder.ends_with('/').then_some(Self { folder })
    }

    pub(super) fn all(&self) -> &str {
        &self.folder
    }

    pub(super) fn slots(&self) -> String {
        format!("{}slot/", self.folder)
    }

    pub(super) fn slot(&self, index: u32) -> String {
        format!("{}slot/{index:04}", self.folder)
    }

    pub(super) fn queue(&self, rank: u8) -> String {
        format!("{}q/{rank}/", self.folder)
    }

    pub(super) fn queues(&self) -> String {
        format!("{}q/", self.folder)
    }

    pub(super) fn ticket(&self, rank: u8, lease: &str) -> String {
        format!("{}q/{rank}/{lease}", self.folder)
    }

    pub(super) fn grant(&self, lease: &str) -> String {
        format!("{}g/{lease}", self.folder)
    }

    pub(super) fn record(&self) -> String {
        format!("{}slots", self.folder)
    }
}

/// The index of a slot's entry.
pub(super) fn slot_index(entry: &Entry) -> Option<u32> {
    entry.key.rsplit_once("/slot/")?.1.parse().ok()
}

/// The rank of a ticket's entry.
pub(super) fn ticket_rank(entry: &Entry) -> Option<u8> {
    let (rest, _) = entry.key.rsplit_once('/')?;
    rest.rsplit_once("/q/")?.1.parse().ok()
}

/// The server an entry belongs to, where it is one that this host can name.
pub(super) fn key_of(prefix: &str, entry: &str, host: &str) -> Option<Key> {
    let (folder, part) = entry.strip_prefix(prefix)?.split_once('/')?;
    // What lies deeper is of a store whose prefix begins with ours.
    let depth = match part.split('/').next() {
        Some("slots") => 1,
        Some("slot" | "g") => 2,
        Some("q") => 3,
        _ => return None,
    };
    if part.split('/').count() != depth {
        return None;
    }
    match folder.split_once('@') {
        None => Key::from_folder(folder),
        Some((folder, at)) if at == host => Key::from_folder(folder),
        Some(_) => None,
    }
}

/// The rank a class starts at; a lower rank is served first.
pub(super) const fn rank_of(class: SlotClass) -> u8 {
    match class {
        SlotClass::Interactive => 0,
        SlotClass::Worker => 1,
        SlotClass::Batch => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, key_of, slot_index, ticket_rank};
    use crate::etcd::wire::Entry;
    use crate::key::Key;

    fn entry(key: String) -> Entry {
        Entry {
            key,
            value: String::new(),
            lease: String::new(),
            created: 1,
            modified: 1,
        }
    }

    #[test]
    fn names_lead_back_to_what_they_name() {
        let key = Key::parse("http://box:8000/v1").unwrap();
        let names = Names::new("baton/", &key, "here");
        assert_eq!(names.slot(7), "baton/http%3A%2F%2Fbox%3A8000/slot/0007");
        assert_eq!(Names::of_slot(&names.slot(7)).as_ref(), Some(&names));
        assert_eq!(slot_index(&entry(names.slot(7))), Some(7));
        assert_eq!(ticket_rank(&entry(names.ticket(2, "41"))), Some(2));
        assert_eq!(slot_index(&entry(names.record())), None);
        assert_eq!(ticket_rank(&entry(names.grant("41"))), None);
        assert_eq!(key_of("baton/", &names.slot(0), "there"), Some(key));
    }

    #[test]
    fn a_store_below_ours_is_none_of_our_servers() {
        let key = Key::parse("k").unwrap();
        let (ours, deeper) = (Names::new("a/", &key, "h"), Names::new("a/b/c/", &key, "h"));
        for of in [
            Names::record,
            |n: &Names| n.slot(0),
            |n: &Names| n.ticket(1, "4"),
        ] {
            assert_eq!(key_of("a/", &of(&ours), "h"), Some(key.clone()));
            assert_eq!(key_of("a/", &of(&deeper), "h"), None);
            assert_eq!(key_of("a/b/c/", &of(&deeper), "h"), Some(key.clone()));
        }
    }

    #[test]
    fn a_server_on_this_machine_is_another_on_every_machine() {
        let key = Key::parse("http://localhost:8000").unwrap();
        let here = Names::new("b/", &key, "here");
        assert_ne!(here, Names::new("b/", &key, "there"));
        assert_eq!(key_of("b/", &here.slot(0), "here"), Some(key));
        assert_eq!(key_of("b/", &here.slot(0), "there"), None);
    }
}
