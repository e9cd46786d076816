//! Looking for a free slot. Only called inside the gate.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

use super::displaced::is_held_though_removed;
use super::files::{failed, is_same, open};
use super::folder::{Folder, Inside, read_label, write_text};
use crate::admission::{allowed, by_count, by_model, by_tokens};
use crate::flock;
use crate::label::Bearer;
use crate::store::{StoreError, Want};

/// The text of a slot file that was made anew while its removed predecessor was still held.
const DISPLACED: &str = "displaced\n";

/// A slot file whose lock is ours.
#[derive(Debug)]
pub(super) struct LockedSlot {
    pub(super) slot: u32,
    pub(super) file: File,
}

/// What a look at the slots found.
#[derive(Debug)]
pub(super) enum Scan {
    /// A free slot, locked.
    Free(LockedSlot),
    /// The gate's file was removed meanwhile, so somebody else may be looking as well.
    Again,
    /// Nobody more may come in; these are held.
    Busy(Vec<u32>),
}

/// Takes the lowest free slot if the number of holders, the reserve, the foreign load and the tokens
/// allow it.
///
/// Holders above a lowered limit count, so lowering drains and never kills. In the common case (no
/// such files, no reserve) the first free slot proves that fewer than the limit are held, and the
/// look ends there.
pub(super) fn take(
    folder: &Folder,
    inside: &Inside,
    want: &Want,
    bearer: &Bearer,
) -> Result<Scan, StoreError> {
    let entries = &inside.entries;
    let above = entries.slots.iter().copied().filter(|i| *i >= want.slots);
    let mut above = above.peekable();
    let first_is_enough = above.peek().is_none()
        && want.tokens.is_none()
        && want.only_model.is_none()
        && allowed(want, bearer.class) == want.slots;

    let mut free = None;
    let mut held = Vec::new();
    let mut labels = Vec::new();
    for slot in (0..want.slots).chain(above) {
        let exists = entries.slots.binary_search(&slot).is_ok();
        if !exists && (free.is_some() || slot >= want.slots) {
            continue;
        }
        match claim(folder, slot)? {
            Claim::Free(file) if free.is_none() && slot < want.slots => {
                free = Some(LockedSlot { slot, file });
                if first_is_enough {
                    break;
                }
            }
            Claim::Free(_) => {}
            Claim::Held(text) => {
                held.push(slot);
                labels.push(text.as_ref().and_then(read_label));
            }
        }
    }
    let count = u32::try_from(held.len()).unwrap_or(u32::MAX);
    let tokens: Vec<Option<u64>> = labels.iter().map(|l| l.as_ref()?.tokens).collect();
    let models = labels.iter().map(|l| l.as_ref()?.model.as_deref());
    let admitted = by_count(want, bearer.class, count)
        .and_then(|()| match &want.only_model {
            Some(model) => by_model(model, models),
            None => Ok(()),
        })
        .and_then(|()| match want.tokens {
            Some(need) => by_tokens(need, want.slots, &tokens),
            None => Ok(()),
        });
    match (free, admitted) {
        (Some(slot), Ok(())) if folder.is_current(&inside.gate) => Ok(Scan::Free(slot)),
        (Some(_), Ok(())) => Ok(Scan::Again),
        _ => Ok(Scan::Busy(held)),
    }
}

/// The state of one slot, found by trying its lock.
pub(super) enum Claim {
    /// Nobody had it; the lock is ours until the file is dropped.
    Free(File),
    /// Somebody has it; the file, where it can be read.
    Held(Option<File>),
}

/// Tries one slot's lock, making the file where it is missing.
pub(super) fn claim(folder: &Folder, slot: u32) -> Result<Claim, StoreError> {
    let path = folder.slot_path(slot);
    loop {
        let (file, made) = folder.open_slot(slot)?;
        if !flock::try_exclusive(&file).map_err(|e| failed(&path, "cannot lock", e))? {
            return Ok(Claim::Held(Some(file)));
        }
        if !is_same(&file, &path) {
            continue;
        }
        if is_held_elsewhere(folder, slot, &file)? {
            return Ok(Claim::Held(None));
        }
        if (made || is_displaced(&file)) && is_held_though_removed(&path) {
            mark_displaced(&file);
            return Ok(Claim::Held(None));
        }
        return Ok(Claim::Free(file));
    }
}

/// Whether the slot's second name leads to another file than its first, which somebody replaced, and
/// that one is held. Where it is not, the second name follows the first.
fn is_held_elsewhere(folder: &Folder, slot: u32, file: &File) -> Result<bool, StoreError> {
    let spare = folder.spare_path(slot);
    if is_same(file, &spare) {
        return Ok(false);
    }
    match open(&spare) {
        Ok(other) => {
            if !flock::try_exclusive(&other).map_err(|e| failed(&spare, "cannot lock", e))? {
                return Ok(true);
            }
            let _ = fs::remove_file(&spare);
        }
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(failed(&spare, "cannot open", e)),
    }
    let _ = fs::hard_link(folder.slot_path(slot), &spare);
    Ok(false)
}

/// Tries one slot's lock without making its file; none when there is none.
pub(super) fn look(folder: &Folder, slot: u32) -> Result<Option<Claim>, StoreError> {
    let path = folder.slot_path(slot);
    match open(&path) {
        Ok(_) => claim(folder, slot).map(Some),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed(&path, "cannot open", e)),
    }
}

/// Whoever tries this slot next must look for the holder of the removed file again, so the new file
/// says what happened. On a full disk nobody will know; there is no better place to write it.
pub(super) fn mark_displaced(file: &File) {
    let _ = write_text(file, DISPLACED);
}

fn is_displaced(file: &File) -> bool {
    let mut start = [0; DISPLACED.len()];
    matches!(file.read_at(&mut start, 0), Ok(n) if start[..n] == *DISPLACED.as_bytes())
}
