//! `slot-lock … -- COMMAND`: choose, take or wait, hold, run, give back.

use std::path::Path;
use std::time::Duration;

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, Reservation};

use crate::answer::{granted, in_the_way, refused};
use crate::candidate::{Candidate, Rejection};
use crate::cli::Cli;
use crate::clock::boot_ms;
use crate::command::{prepare, replace, start_failure, supervise};
use crate::environment::{Change, Chosen, changes};
use crate::identity::Identity;
use crate::label::{Bearer, shorten};
use crate::local::{LocalStore, Root};
use crate::nested::{self, Nested};
use crate::report;
use crate::signals::Signals;
use crate::store::{Ask, Attempt, Held, Listing, Store, Waited};
use crate::target::{self, Settings};
use crate::waker::Waker;

/// A waiter says what it waits for after this long, and again after each [`REMINDER`].
const PATIENCE: Duration = Duration::from_secs(1);
const REMINDER: Duration = Duration::from_secs(60);

/// Everything one run of the command needs.
struct Run<'a> {
    cli: &'a Cli,
    output: &'a Output,
    settings: Settings,
    store: LocalStore,
    candidates: Vec<Candidate>,
    notes: Vec<String>,
}

/// Runs the command in a slot.
pub(crate) fn hold(cli: &Cli, output: &Output, settings: Settings) -> Result<Exit, Failure> {
    let root = Root::open(settings.directory(), cli.place.allow_network_fs)?;
    let store = LocalStore::new(root);
    for note in settings.notes() {
        output.note(note);
    }
    let mut run = Run {
        cli,
        output,
        settings,
        store,
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
    fn find_candidates(&mut self) -> Result<(), Failure> {
        let target = &self.cli.target;
        self.candidates = match &target.candidates {
            None => {
                let last = |key: &_| self.store.list(key).ok().and_then(|l| l.slots);
                vec![target::named(target, &self.settings, last)?]
            }
            Some(file) => {
                let text = target::read_candidates(file).map_err(|f| f.at("--candidates"))?;
                let choice = target::choose(&text, target, &self.settings)
                    .map_err(|f| f.at(format!("--candidates {}", file.display())))?;
                for rejection in &choice.rejected {
                    self.output
                        .detail(&format!("left out: {}", rejection.reason()));
                    self.notes.push(format!("left out: {}", rejection.reason()));
                }
                if choice.usable.is_empty() {
                    return Err(self.no_candidate(&choice.rejected));
                }
                choice.usable
            }
        };
        for candidate in &self.candidates {
            if candidate.is_assumed {
                let note = format!(
                    "{}: nobody says how many slots there are; assuming {} (give --slots, or set `slots` in the configuration)",
                    candidate.want.key, candidate.want.slots
                );
                self.output.note(&note);
                self.notes.push(note);
            }
        }
        Ok(())
    }

    /// Nobody may be used: the exit code says why, the report and the line name each.
    fn no_candidate(&self, rejected: &[Rejection]) -> Failure {
        let reasons: Vec<&str> = rejected.iter().map(Rejection::reason).collect();
        let all = if reasons.is_empty() {
            "the document names no provider".into()
        } else {
            reasons.join("; ")
        };
        self.write_refusal(&[], Duration::ZERO);
        let unknown = rejected.iter().any(|r| matches!(r, Rejection::Unknown(_)));
        let unavailable = rejected
            .iter()
            .any(|r| matches!(r, Rejection::Unavailable(_)));
        if unknown {
            Failure::internal(format!("no candidate is known to do: {all}"))
                .with_exit(Exit::Unknown)
        } else if unavailable || rejected.is_empty() {
            Failure::unavailable(format!("no candidate is available: {all}"))
        } else {
            Failure::internal(format!("no candidate can hold the request: {all}"))
                .with_exit(Exit::No)
        }
    }

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
                self.write_refusal(&[listing], Duration::ZERO);
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
        let start = boot_ms();
        let waited = || Duration::from_millis(boot_ms().saturating_sub(start));
        let bearer = self.bearer();
        let ask = Ask {
            wants: self.candidates.iter().map(|c| c.want.clone()).collect(),
            bearer,
        };
        let waker =
            Waker::new().map_err(|e| Failure::internal(format!("cannot make a socket: {e}")))?;
        let signals = Signals::catch(&waker)
            .map_err(|e| Failure::internal(format!("cannot catch signals: {e}")))?;
        let Some(held) = self.obtain(&ask, start, &waker, &signals)? else {
            return Err(self.no_slot(waited()));
        };
        let candidate = &self.candidates[held.grant().want];
        let directory = self.store.place();
        let document = granted(
            candidate,
            held.grant(),
            &ask.bearer,
            waited(),
            &directory,
            self.notes.clone(),
        );
        self.write_report(&document)?;
        self.run_command(held, &waker, &signals)
    }

    /// A slot; none when the time passed. A signal that ends the wait is a failure.
    fn obtain(
        &self,
        ask: &Ask,
        start: u64,
        waker: &Waker,
        signals: &Signals,
    ) -> Result<Option<Box<dyn Held>>, Failure> {
        let wait = self.cli.hold.wait;
        let mut place = match self.store.take_or_queue(ask, !wait.is_zero())? {
            Attempt::Taken(held) => return Ok(Some(held)),
            Attempt::Busy => return Ok(None),
            Attempt::Queued(place) => place,
        };
        let mut remind_at = PATIENCE;
        loop {
            if let Some(signal) = signals.ending() {
                return Err(Failure::interrupted(signal));
            }
            let waited = Duration::from_millis(boot_ms().saturating_sub(start));
            let left = wait.saturating_sub(waited);
            if left.is_zero() {
                return Ok(None);
            }
            let slice = left.min(remind_at.saturating_sub(waited));
            match place.wait(ask, slice, waker)? {
                Waited::Taken(held) => return Ok(Some(held)),
                Waited::NotYet => {}
            }
            let waited = Duration::from_millis(boot_ms().saturating_sub(start));
            if waited >= remind_at && waited < wait {
                remind_at = waited + REMINDER;
                self.say_what_is_waited_for(wait.saturating_sub(waited));
            }
        }
    }

    fn say_what_is_waited_for(&self, left: Duration) {
        let left = Duration::from_secs(left.as_secs());
        let ways: Vec<String> = self.listings().iter().map(in_the_way).collect();
        self.output.note(&format!(
            "waiting for a slot, {} left: {}",
            humantime::format_duration(left),
            ways.join("; ")
        ));
    }

    fn listings(&self) -> Vec<Listing> {
        let list = |c: &Candidate| self.store.list(&c.want.key).ok();
        self.candidates.iter().filter_map(list).collect()
    }

    fn no_slot(&self, waited: Duration) -> Failure {
        let listings = self.listings();
        self.write_refusal(&listings, waited);
        let ways: Vec<String> = listings.iter().map(in_the_way).collect();
        let wait = self.cli.hold.wait;
        let within = if wait.is_zero() {
            "no slot is free".to_owned()
        } else {
            format!("no slot within {}", humantime::format_duration(wait))
        };
        Failure::try_again(format!(
            "{within}: {}; slots are in {}",
            ways.join("; "),
            self.store.place()
        ))
    }

    fn run_command(
        &self,
        mut held: Box<dyn Held>,
        waker: &Waker,
        signals: &Signals,
    ) -> Result<Exit, Failure> {
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
        let exit = supervise(&mut child, waker, signals);
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

    fn write_refusal(&self, listings: &[Listing], waited: Duration) {
        let document = refused(
            &self.candidates,
            listings,
            self.cli.hold.class,
            waited,
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
