//! Everything one call that takes a slot needs: who asks, of whom, where, and how it is told.

use std::time::Duration;

use baton_cli::{Failure, Output};
use baton_protocol::{Reservation, SlotClass};

use crate::answer::refused;
use crate::candidate::Candidate;
use crate::cli::{OnUnavailable, Place, Target, Waiting};
use crate::clock::boot_ms;
use crate::etcd::{EtcdStore, Lost};
use crate::identity::Identity;
use crate::label::Bearer;
use crate::local::{LocalStore, Root};
use crate::offer::Offer;
use crate::procfs;
use crate::report;
use crate::signals::Signals;
use crate::store::{Listing, Store, StoreError};
use crate::target::Settings;
use crate::waker::Waker;

/// One call that takes a slot.
pub(crate) struct Session<'a> {
    pub(crate) target: &'a Target,
    pub(crate) waiting: &'a Waiting,
    pub(crate) output: &'a Output,
    pub(crate) settings: Settings,
    pub(crate) store: Box<dyn Store>,
    pub(crate) waker: Waker,
    pub(crate) signals: Signals,
    /// When we started, in milliseconds since boot.
    pub(crate) start_ms: u64,
    /// The document of candidates; none when a flag or the configuration names the one server.
    pub(crate) offer: Option<Offer>,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) notes: Vec<String>,
}

/// A store that was opened.
pub(crate) struct Opened {
    pub(crate) store: Box<dyn Store>,
    /// What every document shall say of it.
    pub(crate) notes: Vec<String>,
}

/// Opens the store the flags, the environment or the configuration name.
pub(crate) fn open_store(
    settings: &Settings,
    place: &Place,
    on_lost: Lost,
    output: &Output,
) -> Result<Opened, Failure> {
    for note in settings.notes() {
        output.note(note);
    }
    let mut notes = Vec::new();
    if let Some(address) = settings.store(place.store.as_ref())? {
        let variable = |name: &str| settings.env().get(name).map(str::to_owned);
        let store = EtcdStore::new(address, variable, on_lost).map_err(Failure::config)?;
        // Otherwise the first thing that is asked of it tells.
        let may_be_local = place.on_unavailable == OnUnavailable::Local;
        match if may_be_local { store.check() } else { Ok(()) } {
            Ok(()) => {
                let store = Box::new(store);
                return Ok(Opened { store, notes });
            }
            Err(StoreError::Unavailable(why)) => {
                let note =
                    format!("{why}; slots are counted on this host alone (--on-unavailable local)");
                output.note(&note);
                notes.push(note);
            }
            Err(error) => return Err(error.into()),
        }
    }
    let root = Root::open(settings.directory()?, place.allow_network_fs)?;
    let store = Box::new(LocalStore::new(root));
    Ok(Opened { store, notes })
}

impl<'a> Session<'a> {
    /// Opens the store and finds the candidates.
    pub(crate) fn open(
        target: &'a Target,
        waiting: &'a Waiting,
        place: &Place,
        on_lost: Lost,
        output: &'a Output,
        settings: Settings,
    ) -> Result<Self, Failure> {
        let start_ms = boot_ms();
        let Opened { store, notes } = open_store(&settings, place, on_lost, output)?;
        let waker =
            Waker::new().map_err(|e| Failure::internal(format!("cannot make a socket: {e}")))?;
        let signals = Signals::catch(&waker)
            .map_err(|e| Failure::internal(format!("cannot catch signals: {e}")))?;
        let mut session = Self {
            target,
            waiting,
            output,
            settings,
            store,
            waker,
            signals,
            start_ms,
            offer: None,
            candidates: Vec::new(),
            notes,
        };
        session.find_candidates()?;
        Ok(session)
    }

    /// How long we have waited, suspend included.
    pub(crate) fn waited(&self) -> Duration {
        Duration::from_millis(boot_ms().saturating_sub(self.start_ms))
    }

    /// Who asks.
    pub(crate) fn bearer(&self, command: &str) -> Bearer {
        Bearer {
            owner: Identity::of_self(),
            host: procfs::host(),
            uid: rustix::process::getuid().as_raw(),
            command: self.output.redactor().text(command).into_owned(),
            class: self.class(),
            tokens: None,
            expires_at: None,
            is_lease: false,
        }
    }

    pub(crate) const fn class(&self) -> SlotClass {
        self.waiting.class
    }

    /// The document of a slot that was not had.
    pub(crate) fn refusal(&self, listings: &[Listing]) -> Reservation {
        refused(
            &self.candidates,
            listings,
            self.class(),
            self.waited(),
            &self.store.place(),
            self.notes.clone(),
        )
    }

    /// Writes a report of a slot that was not had.
    pub(crate) fn write_refusal(&self, listings: &[Listing]) {
        let document = self.refusal(listings);
        // The refusal itself is the failure to tell; a report that cannot be written comes second.
        if let Err(failure) = self.write_report(&document) {
            self.output.error(&failure.message);
        }
    }

    pub(crate) fn write_report(&self, document: &Reservation) -> Result<(), Failure> {
        match &self.waiting.report {
            Some(file) => report::write(file, &self.output.redacted_json(document)?),
            None => Ok(()),
        }
    }
}
