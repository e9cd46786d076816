//! `slot-lock acquire`, `renew`, `release`: a slot without a command of ours.

use std::io::Read;
use std::os::fd::AsFd;
use std::time::Duration;

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, HolderLife, Reservation, SchemaTag, SlotClass, Timestamp};

use crate::answer::{granted, line};
use crate::cli::{Acquire, HolderPid, Place, Release, Renew};
use crate::clock::boot_ms;
use crate::etcd::Lost;
use crate::identity::Identity;
use crate::session::Session;
use crate::store::{Ask, Held, Released, Store, Terms};
use crate::target::Settings;

/// Without an end of its own a lease ends after this.
const DEFAULT_TTL: Duration = Duration::from_secs(3600);

/// How often a slot that may be lost is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// `slot-lock acquire`.
pub(crate) fn acquire(
    options: &Acquire,
    place: &Place,
    output: &Output,
    settings: Settings,
) -> Result<Exit, Failure> {
    let holder = options.holder_pid.map(HolderPid::resolve).transpose();
    let holder = holder.map_err(Failure::usage)?;
    let mut session = Session::open(
        &options.target,
        &options.waiting,
        place,
        Lost::default(),
        output,
        settings,
    )?;
    session.acquire(options, holder)
}

impl Session<'_> {
    /// Takes a slot and leaves it to a keeper, or holds it until stdin ends.
    fn acquire(&mut self, options: &Acquire, holder: Option<i32>) -> Result<Exit, Failure> {
        let ttl = match (options.ttl, options.until_eof) {
            (None, true) => None,
            (ttl, _) => Some(ttl.unwrap_or(DEFAULT_TTL)),
        };
        let mut bearer = self.bearer(if options.until_eof {
            "slot-lock acquire --until-eof"
        } else {
            "slot-lock acquire"
        });
        bearer.is_lease = true;
        let ask = Ask {
            wants: self.candidates.iter().map(|c| c.want.clone()).collect(),
            bearer: bearer.clone(),
            runs_child: false,
        };
        let Some(mut held) = self.obtain(ask)? else {
            let refusal = self.refusal(&self.listings());
            let failure = self.no_slot();
            self.output.note(&failure.message);
            self.output.document(&refusal, || failure.message.clone())?;
            return Ok(Exit::TryAgain);
        };
        let expires_ms = ttl.map(|ttl| boot_ms().saturating_add(millis(ttl)));
        let until = ttl.and_then(|ttl| Timestamp::now().system_time().checked_add(ttl));
        bearer.expires_at = until.map(Timestamp::new);
        if let (false, Some(expires_ms)) = (options.until_eof, expires_ms) {
            // The keeper shall not keep our caller's pipes and locks open.
            baton_process::close_descriptors_on_exec();
            held.lend(&bearer, &Terms { expires_ms, holder })?;
        }
        let candidate = &self.candidates[held.grant().want];
        let document = granted(
            candidate,
            held.grant(),
            &bearer,
            self.waited(),
            &self.store.place(),
            self.notes.clone(),
        );
        self.write_report(&document)?;
        if !(options.until_eof && self.waiting.report.is_some()) {
            self.output.document(&document, || line(&document))?;
        }
        if options.until_eof {
            return self.hold_until_eof(held, expires_ms);
        }
        Ok(Exit::Yes)
    }

    fn hold_until_eof(
        &self,
        held: Box<dyn Held>,
        expires_ms: Option<u64>,
    ) -> Result<Exit, Failure> {
        let mut piece = [0; 4096];
        loop {
            let left = expires_ms.map(|at| Duration::from_millis(at.saturating_sub(boot_ms())));
            let stdin = std::io::stdin();
            let care = held.care();
            for note in &care.notes {
                self.output.note(note);
            }
            let pause = care.look_again.then_some(LOOK_AGAIN);
            let pause = left.into_iter().chain(pause).min();
            self.waker.sleep(Some(stdin.as_fd()), pause);
            if let Some(signal) = self.signals.ending() {
                held.release();
                return Err(Failure::interrupted(signal));
            }
            if left == Some(Duration::ZERO) {
                held.release();
                return Err(Failure::time_limit(
                    "the time to live is over; the slot is given back",
                )
                .with_exit(Exit::TimeLimit));
            }
            if is_readable(&stdin) && matches!(stdin.lock().read(&mut piece), Ok(0) | Err(_)) {
                for note in held.release() {
                    self.output.note(&note);
                }
                return Ok(Exit::Yes);
            }
        }
    }
}

fn is_readable(stdin: &std::io::Stdin) -> bool {
    let mut fds = [rustix::event::PollFd::new(
        stdin,
        rustix::event::PollFlags::IN,
    )];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    matches!(rustix::event::poll(&mut fds, Some(&now)), Ok(1..))
}

/// `slot-lock renew`.
pub(crate) fn renew(options: &Renew, store: &dyn Store, output: &Output) -> Result<Exit, Failure> {
    let ttl = options.ttl.unwrap_or(DEFAULT_TTL);
    let Some(renewed) = store.renew(&options.token, ttl)? else {
        let document = blank(
            &options.token,
            store,
            "lost: nobody holds a slot by this token",
        );
        output.document(&document, || {
            "lost: nobody holds a slot by this token".into()
        })?;
        output.note("the slot is lost: its time was over, or it was given back; acquire a new one");
        return Ok(Exit::No);
    };
    let mut document = blank(&options.token, store, "renewed");
    document.acquired = true;
    document.slot = Some(renewed.slot);
    document.class = renewed.label.class;
    document.holder = Some(renewed.label.holder());
    document.acquired_at = Some(renewed.label.since);
    document.expires_at = renewed.label.expires_at;
    let key = renewed.key;
    output.document(&document, || {
        format!("{key}: slot {} renewed", renewed.slot)
    })?;
    Ok(Exit::Yes)
}

/// `slot-lock release`: also a slot nobody holds any more is given back.
pub(crate) fn release(
    options: &Release,
    store: &dyn Store,
    output: &Output,
) -> Result<Exit, Failure> {
    let (text, exit) = match store.release(&options.token)? {
        Released::Freed(key, slot) => (format!("{key}: slot {slot} given back"), Exit::Yes),
        Released::Unknown => ("nobody holds a slot by this token".into(), Exit::Yes),
        Released::Lives(key, label) => {
            let life = match label.owner.life(&Identity::of_self()) {
                crate::identity::Life::Gone => HolderLife::Ended,
                _ => HolderLife::Running,
            };
            let who = if life == HolderLife::Ended {
                "its command still runs".to_owned()
            } else {
                format!("end pid {} ({})", label.owner.pid, label.command)
            };
            (
                format!("{key}: a living command holds this slot; {who}"),
                Exit::No,
            )
        }
    };
    if exit == Exit::No {
        output.note(&text);
    }
    output.document(&blank(&options.token, store, &text), || text.clone())?;
    Ok(exit)
}

fn blank(token: &str, store: &dyn Store, note: &str) -> Reservation {
    Reservation {
        schema: SchemaTag::new(),
        acquired: false,
        provider: None,
        model: None,
        base_url: None,
        slot: None,
        slots: None,
        class: SlotClass::default(),
        tokens: None,
        holder: None,
        token: Some(token.to_owned()),
        waited_ms: 0,
        acquired_at: None,
        expires_at: None,
        directory: Some(store.place()),
        notes: vec![note.to_owned()],
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
