//! The cancellation token: one per run, cloned into everything that waits.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::signals;

type Callback = Arc<dyn Fn() + Send + Sync>;

/// A request to stop, shared by clones.
///
/// It is set once and never unset. A second request makes it *urgent*: whoever is waiting out a
/// grace period then stops waiting.
#[derive(Clone, Default)]
pub struct Cancel {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: u32,
    signal: Option<i32>,
    next_id: u64,
    callbacks: BTreeMap<u64, Callback>,
    /// Keeps a child token registered with its parent for as long as the child lives.
    parent: Option<CancelGuard>,
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.lock();
        f.debug_struct("Cancel")
            .field("requests", &state.requests)
            .field("signal", &state.signal)
            .finish_non_exhaustive()
    }
}

impl Cancel {
    /// A token that nothing but [`Cancel::cancel`] sets.
    pub fn new() -> Self {
        Self::default()
    }

    /// The process-wide token, set by SIGINT, SIGTERM and SIGHUP.
    ///
    /// Calling it again returns the same token. A SIGHUP that was ignored when we started (`nohup`)
    /// stays ignored. A SIGINT does not: a shell starts `tool &` with SIGINT ignored, and a Ctrl-C
    /// that ends the script must not leave agents running.
    pub fn install() -> std::io::Result<Self> {
        signals::install()
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.lock().requests > 0
    }

    /// Whether somebody asked twice: skip the grace periods.
    pub fn is_urgent(&self) -> bool {
        self.lock().requests > 1
    }

    /// The first signal that asked, if it was a signal: the exit code is then 128 + this number.
    pub fn signal(&self) -> Option<i32> {
        self.lock().signal
    }

    /// Asks to stop.
    pub fn cancel(&self) {
        self.request(None);
    }

    /// Asks to stop as if this signal had arrived.
    pub fn cancel_by_signal(&self, signal: i32) {
        self.request(Some(signal));
    }

    /// Waits until cancelled, at most this long; `true` means cancelled. Wakes at once.
    pub fn wait(&self, limit: Duration) -> bool {
        let deadline = Instant::now().checked_add(limit);
        let mut state = self.lock();
        while state.requests == 0 {
            // A limit too large for the clock is waited out in long pieces.
            let left = match deadline {
                Some(deadline) => deadline.saturating_duration_since(Instant::now()),
                None => Duration::from_secs(3600),
            };
            if left.is_zero() {
                return false;
            }
            state = self
                .inner
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    /// Runs `callback` at each request to stop (at once, if there was one already) until the guard
    /// is dropped. It runs on the thread that cancels, so it must be short: shut a socket, write a
    /// byte to a pipe.
    #[must_use = "dropping the guard takes the callback back"]
    pub fn on_cancel(&self, callback: Box<dyn Fn() + Send + Sync>) -> CancelGuard {
        let callback: Callback = Arc::from(callback);
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.callbacks.insert(id, Arc::clone(&callback));
        let already = state.requests > 0;
        drop(state);
        if already {
            callback();
        }
        CancelGuard {
            inner: Arc::downgrade(&self.inner),
            id,
        }
    }

    /// A token of its own that is also set whenever this one is: for stopping one worker of several.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::new();
        let weak = Arc::downgrade(&child.inner);
        let parent = Arc::downgrade(&self.inner);
        let guard = self.on_cancel(Box::new(move || {
            if let Some(inner) = weak.upgrade() {
                let signal = parent.upgrade().and_then(|p| Self { inner: p }.signal());
                Self { inner }.request(signal);
            }
        }));
        child.lock().parent = Some(guard);
        child
    }

    fn request(&self, signal: Option<i32>) {
        let mut state = self.lock();
        state.requests = state.requests.saturating_add(1);
        if state.signal.is_none() {
            state.signal = signal;
        }
        let callbacks: Vec<Callback> = state.callbacks.values().cloned().collect();
        drop(state);
        self.inner.changed.notify_all();
        for callback in callbacks {
            callback();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panicking callback leaves counters, not half-made structures: the state is still good.
        self.inner
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes an [`Cancel::on_cancel`] callback back when dropped.
pub struct CancelGuard {
    inner: Weak<Inner>,
    id: u64,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.upgrade() {
            let mut state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
            let callback = state.callbacks.remove(&self.id);
            drop(state);
            drop(callback);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn wait_returns_false_at_its_limit() {
        assert!(!Cancel::new().wait(Duration::from_millis(5)));
    }

    #[test]
    fn wait_wakes_when_another_thread_cancels() {
        let cancel = Cancel::new();
        let other = cancel.clone();
        let started = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(move || other.cancel());
            assert!(cancel.wait(Duration::from_secs(60)));
        });
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn the_first_signal_is_the_one_reported_and_a_second_is_urgent() {
        let cancel = Cancel::new();
        cancel.cancel_by_signal(15);
        assert!(!cancel.is_urgent());
        cancel.cancel_by_signal(2);
        assert_eq!(cancel.signal(), Some(15));
        assert!(cancel.is_urgent());
    }

    #[test]
    fn a_callback_runs_once_per_request_and_not_after_its_guard() {
        let count = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&count);
        let cancel = Cancel::new();
        let guard = cancel.on_cancel(Box::new(move || {
            seen.fetch_add(1, Ordering::SeqCst);
        }));
        cancel.cancel();
        drop(guard);
        cancel.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_late_callback_runs_at_once() {
        let cancel = Cancel::new();
        cancel.cancel();
        let count = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&count);
        let _guard = cancel.on_cancel(Box::new(move || {
            seen.fetch_add(1, Ordering::SeqCst);
        }));
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_child_follows_its_parent_and_not_the_other_way() {
        let parent = Cancel::new();
        let (one, two) = (parent.child(), parent.child());
        one.cancel();
        assert!(!parent.is_cancelled() && !two.is_cancelled());
        parent.cancel_by_signal(2);
        assert_eq!(two.signal(), Some(2));
        assert!(
            parent.child().is_cancelled(),
            "a child of a cancelled token is born cancelled"
        );
    }
}
