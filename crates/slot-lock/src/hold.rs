//! `slot-lock … -- COMMAND`: choose, take or wait, hold, run, give back.

use std::path::Path;
use std::time::Duration;

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, Reservation};

use crate::answer::{granted, refused};
use crate::candidate::Candidate;
use crate::cli::Cli;
use crate::clock::boot_ms;
use crate::command::{prepare, replace, start_failure, supervise};
use crate::environment::{Change, Chosen, changes};
use crate::identity::Identity;
use crate::label::{Bearer, shorten};
use crate::local::{LocalStore, Root};
use crate::nested::{self, Nested};
use crate::offer::Offer;
use crate::report;
use crate::signals::Signals;
use crate::store::{Ask, Held, Listing, Store};
use crate::target::Settings;
use crate::waker::Waker;

/// Everything one run of the command needs.
pub(crate) struct Run<'a> {
    pub(crate) cli: &'a Cli,
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

/// Runs the command in a slot.
pub(crate) fn hold(cli: &Cli, output: &Output, settings: Settings) -> Result<Exit, Failure> {
    let root = Root::open(settings.directory(), cli.place.allow_network_fs)?;
    let waker =
        Waker::new().map_err(|e| Failure::internal(format!("cannot make a socket: {e}")))?;
    let signals = Signals::catch(&waker)
        .map_err(|e| Failure::internal(format!("cannot catch signals: {e}")))?;
    for note in settings.notes() {
        output.note(note);
    }
    let mut run = Run {
        cli,
        output,
        settings,
        store: Box::new(LocalStore::new(root)),
        waker,
        signals,
        start_ms: boot_ms(),
        offer: None,
        candidates: Vec::new(),
        notes: Vec::new(),
    };
    run.find_candidates()?;
    if let Some(exit) = run.below_an_ancestor()? {
        return Ok(exit);
    }
    run.take_and_run()
}

impl Run<'_> {
    /// Below a slot-lock that holds a slot of one of the candidates, waiting for another could be a
    /// deadlock: the ancestor waits for us.
    fn below_an_ancestor(&mut self) -> Result<Option<Exit>, Failure> {
        let ancestors = nested::parse(nested::variable(self.settings.env()));
        if ancestors.is_empty() || self.cli.hold.nested == Nested::Queue {
            return Ok(None);
        }
        for candidate in &self.candidates {
            let listing = self.store.list(&candidate.want.key)?;
            let Some(ancestor) = nested::holder(&ancestors, &listing) else {
                continue;
            };
            let key = &candidate.want.key;
            if self.cli.hold.nested == Nested::Refuse {
                self.write_refusal(&[listing]);
                return Err(Failure::try_again(format!(
                    "{key}: a slot-lock above this one holds slot {} already (--nested refuse)",
                    ancestor.slot
                )));
            }
            self.output.detail(&format!(
                "{key}: runs in slot {} of the slot-lock above",
                ancestor.slot
            ));
            // There is nothing to hold, so the command simply takes our place.
            let variables = self.variables(candidate, ancestor.slot, &ancestor.token, None)?;
            return self.replace_by_command(variables).map(Some);
        }
        Ok(None)
    }

    fn replace_by_command(&self, variables: Vec<Change>) -> Result<Exit, Failure> {
        let words = &self.cli.command;
        let command = prepare(words, variables).ok_or_else(|| Failure::usage("no command"))?;
        let (exit, message) = start_failure(words, &replace(command));
        Err(Failure::internal(message).with_exit(exit))
    }

    fn take_and_run(&mut self) -> Result<Exit, Failure> {
        let ask = Ask {
            wants: self.candidates.iter().map(|c| c.want.clone()).collect(),
            bearer: self.bearer(),
        };
        let Some(held) = self.obtain(ask.clone())? else {
            return Err(self.no_slot());
        };
        let candidate = &self.candidates[held.grant().want];
        let document = granted(
            candidate,
            held.grant(),
            &ask.bearer,
            self.waited(),
            &self.store.place(),
            self.notes.clone(),
        );
        self.write_report(&document)?;
        self.run_command(held)
    }

    fn run_command(&self, mut held: Box<dyn Held>) -> Result<Exit, Failure> {
        let grant = held.grant();
        let candidate = &self.candidates[grant.want];
        let variables =
            self.variables(candidate, grant.slot, &grant.token, Some(&grant.flag_file))?;
        let words = &self.cli.command;
        let mut command = prepare(words, variables).ok_or_else(|| Failure::usage("no command"))?;
        held.keep()?;
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(e) => {
                held.release();
                let (exit, message) = start_failure(words, &e);
                return Err(Failure::internal(message).with_exit(exit));
            }
        };
        // Should the keeper be gone, we still hold the slot ourselves.
        if let Err(e) = held.watch(child.id()) {
            self.output.detail(&format!("{e}"));
        }
        let exit = supervise(&mut child, &self.waker, &self.signals);
        held.release();
        exit.map_err(|e| Failure::internal(format!("cannot wait for the command: {e}")))
    }

    fn variables(
        &self,
        candidate: &Candidate,
        slot: u32,
        token: &str,
        flag_file: Option<&Path>,
    ) -> Result<Vec<Change>, Failure> {
        let is_environments = self.settings.is_environments(candidate);
        let key = if is_environments {
            None
        } else {
            self.settings.api_key(candidate)?
        };
        let chosen = Chosen {
            provider: candidate.provider.as_deref(),
            model: candidate.model.as_deref(),
            context: candidate.context,
            base_url: candidate.base_url.as_ref(),
            key: key.as_ref(),
            is_environments,
        };
        let before = nested::variable(self.settings.env());
        let held = match flag_file {
            Some(_) => nested::extend(before, token, slot, &candidate.want.key),
            None => before.to_owned(),
        };
        Ok(changes(&chosen, slot, token, flag_file, &held))
    }

    /// How long we have waited, suspend included.
    pub(crate) fn waited(&self) -> Duration {
        Duration::from_millis(boot_ms().saturating_sub(self.start_ms))
    }

    fn bearer(&self) -> Bearer {
        let words: Vec<String> = self
            .cli
            .command
            .iter()
            .map(|w| w.to_string_lossy().into_owned())
            .collect();
        let command = self.output.redactor().text(&shorten(&words)).into_owned();
        bearer(command, self.cli.hold.class)
    }

    pub(crate) fn write_refusal(&self, listings: &[Listing]) {
        let document = refused(
            &self.candidates,
            listings,
            self.cli.hold.class,
            self.waited(),
            &self.store.place(),
            self.notes.clone(),
        );
        // The refusal itself is the failure to tell; a report that cannot be written comes second.
        if let Err(failure) = self.write_report(&document) {
            self.output.error(&failure.message);
        }
    }

    fn write_report(&self, document: &Reservation) -> Result<(), Failure> {
        match &self.cli.hold.report {
            Some(file) => report::write(file, &self.output.redacted_json(document)?),
            None => Ok(()),
        }
    }
}

/// Who asks.
pub(crate) fn bearer(command: String, class: baton_protocol::SlotClass) -> Bearer {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Bearer {
        owner: Identity::of_self(),
        host: host.trim_end().to_owned(),
        uid: rustix::process::getuid().as_raw(),
        command,
        class,
        tokens: None,
        provider: None,
        expires_at: None,
    }
}
