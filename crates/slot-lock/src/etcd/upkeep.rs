//! The thread that keeps a lease alive, also while its owner waits.

use std::io::{PipeWriter, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::tenure::{Claim, Tenure};
use crate::clock::boot_ms;

/// The clock that counts through suspend is looked at this often; sleeping does not count through it.
const LOOK: Duration = Duration::from_secs(1);

/// So long the end of what is being asked is waited for.
const LONGEST: Duration = Duration::from_secs(10);

/// What the owner sees of the thread's work.
#[derive(Debug, Default)]
struct State {
    lease: String,
    last_ok_ms: u64,
    is_lost: bool,
    notes: Vec<String>,
    /// To be taken over by the thread.
    claim: Option<Claim>,
    /// Told of every keep-alive, so that it knows that we are there.
    keeper: Option<PipeWriter>,
    is_over: bool,
    /// The thread is asking the cluster something.
    is_asking: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread, which ends with this.
#[derive(Debug)]
pub(super) struct Upkeep(Arc<Shared>);

impl Upkeep {
    pub(super) fn start(tenure: Tenure) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        publish(&mut shared.lock(), &tenure);
        let theirs = Arc::clone(&shared);
        let builder = std::thread::Builder::new().name("lease".into());
        builder.spawn(move || keep_alive(tenure, &theirs))?;
        Ok(Self(shared))
    }

    /// The lease; another one than before when the first was lost.
    pub(super) fn lease(&self) -> String {
        self.0.lock().lease.clone()
    }

    pub(super) fn last_ok_ms(&self) -> u64 {
        self.0.lock().last_ok_ms
    }

    pub(super) fn is_lost(&self) -> bool {
        self.0.lock().is_lost
    }

    /// What happened since the last call.
    pub(super) fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().notes)
    }

    /// From now on this slot hangs on the lease.
    pub(super) fn hold(&self, claim: Claim) {
        self.0.lock().claim = Some(claim);
        self.0.changed.notify_all();
    }

    /// Ends the keeping alive, and waits until nothing of it is under way: a lease that is ended now
    /// must not be found lost, and the slot not be taken again.
    pub(super) fn stop(&self) {
        let mut state = self.0.lock();
        state.is_over = true;
        self.0.changed.notify_all();
        let until = Instant::now() + LONGEST;
        while state.is_asking {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.0.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn tell(&self, keeper: PipeWriter) {
        self.0.lock().keeper = Some(keeper);
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

fn publish(state: &mut State, tenure: &Tenure) {
    state.lease.clone_from(&tenure.lease);
    state.last_ok_ms = tenure.last_ok_ms;
    state.is_lost = tenure.is_lost;
}

fn keep_alive(mut tenure: Tenure, shared: &Shared) {
    let mut state = shared.lock();
    loop {
        if state.is_over {
            return;
        }
        if let Some(claim) = state.claim.take() {
            tenure.claim = Some(claim);
        }
        let left = tenure.next_ms().saturating_sub(boot_ms());
        if left > 0 {
            let pause = LOOK.min(Duration::from_millis(left));
            let waited = shared.changed.wait_timeout(state, pause);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        state.is_asking = true;
        drop(state);
        let note = tenure.beat();
        state = shared.lock();
        state.is_asking = false;
        shared.changed.notify_all();
        publish(&mut state, &tenure);
        state.notes.extend(note);
        if let Some(keeper) = &mut state.keeper
            && !tenure.is_lost
        {
            // A keeper that does not read is none of our business, nor one that is gone.
            let _ =
                keeper.write(format!("alive {} {}\n", tenure.last_ok_ms, tenure.lease).as_bytes());
        }
    }
}
