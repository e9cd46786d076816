//! Renames: a name that went and a name that came with the same content are one change.

use std::collections::{HashMap, HashSet};

use crate::id::ObjectId;
use crate::raw::{Change, ChangeKind, Mode};

/// Pairs what went with what came under the very same content, first under the same last segment
/// of the name, as git does. The rest stays as it is.
pub(crate) fn exact(changes: &[Change]) -> Vec<Change> {
    let mut pairs = Pairs::default();
    pairs.find(changes, |c| c.path.last_segment().to_vec());
    pairs.find(changes, |_| Vec::new());
    let paired = changes
        .iter()
        .enumerate()
        .filter(|(i, _)| !pairs.taken.contains(i))
        .map(|(i, change)| match pairs.from.get(&i) {
            None => change.clone(),
            Some(old) => {
                let old = &changes[*old];
                Change {
                    kind: ChangeKind::Renamed,
                    from: Some(old.path.clone()),
                    old_mode: old.old_mode,
                    old_id: old.old_id.clone(),
                    ..change.clone()
                }
            }
        });
    paired.collect()
}

/// Whether a name that went and one that came are left, which may be one changed file.
pub(crate) fn may_be_more(changes: &[Change]) -> bool {
    let any = |kind| changes.iter().any(|c| c.kind == kind);
    any(ChangeKind::Deleted) && any(ChangeKind::Added)
}

/// By place in the list: what came, and from where; and what is not free any more.
#[derive(Default)]
struct Pairs {
    from: HashMap<usize, usize>,
    taken: HashSet<usize>,
}

impl Pairs {
    /// Pairs changes of the same content, kind of file and further mark.
    fn find(&mut self, changes: &[Change], mark: impl Fn(&Change) -> Vec<u8>) {
        let kind = |mode: Mode| if mode.is_file() { Mode::File } else { mode };
        let key = |c: &Change, mode, id: &ObjectId| (id.clone(), kind(mode), mark(c));
        let mut gone: HashMap<_, Vec<usize>> = HashMap::new();
        // Backwards, so that the first one is the first to be taken.
        for (i, change) in changes.iter().enumerate().rev() {
            if let (ChangeKind::Deleted, Some(id)) = (change.kind, &change.old_id)
                && !self.taken.contains(&i)
            {
                let place = gone.entry(key(change, change.old_mode, id));
                place.or_default().push(i);
            }
        }
        for (i, change) in changes.iter().enumerate() {
            if let (ChangeKind::Added, Some(id)) = (change.kind, &change.new_id)
                && !self.from.contains_key(&i)
                && let Some(list) = gone.get_mut(&key(change, change.new_mode, id))
                && let Some(old) = list.pop()
            {
                self.from.insert(i, old);
                self.taken.insert(old);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{exact, may_be_more};
    use crate::id::ObjectId;
    use crate::path::GitPath;
    use crate::raw::{Change, ChangeKind, Mode};

    fn change(kind: ChangeKind, path: &str, digit: &str) -> Change {
        let id = ObjectId::new(&digit.repeat(40));
        let gone = kind == ChangeKind::Deleted;
        let mode = |is| if is { Mode::File } else { Mode::Absent };
        Change {
            kind,
            path: GitPath::from(path),
            from: None,
            old_mode: mode(gone),
            new_mode: mode(!gone),
            old_id: id.clone().filter(|_| gone),
            new_id: id.filter(|_| !gone),
        }
    }

    #[test]
    fn the_same_content_is_a_rename_and_the_same_name_goes_first() {
        use ChangeKind::{Added, Deleted};
        let changes = vec![
            change(Deleted, "a/x", "1"),
            change(Deleted, "a/y", "1"),
            change(Added, "b/y", "1"),
            change(Added, "b/z", "1"),
            change(Added, "c", "2"),
            change(Deleted, "d", "3"),
        ];
        let paired = exact(&changes);
        let shown: Vec<String> = paired
            .iter()
            .map(|c| {
                let from = c.from.as_ref().map_or(String::new(), ToString::to_string);
                format!("{:?} {from} {}", c.kind, c.path)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Renamed a/y b/y",
                "Renamed a/x b/z",
                "Added  c",
                "Deleted  d"
            ]
        );
        assert!(may_be_more(&paired) && !may_be_more(&paired[..3]));
    }

    #[test]
    fn a_link_and_a_file_are_no_pair() {
        let mut link = change(ChangeKind::Added, "b", "1");
        link.new_mode = Mode::Symlink;
        let changes = vec![change(ChangeKind::Deleted, "a", "1"), link];
        assert_eq!(exact(&changes), changes);
    }
}
