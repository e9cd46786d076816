//! The one place that owns this process's signals.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::{Cancel, procfs};

/// ctrlc can be set up once per process, so the token is kept for later callers.
static INSTALLED: Mutex<Option<Cancel>> = Mutex::new(None);

/// Ctrl-C comes through ctrlc. TERM and HUP come through signal-hook, because there the number
/// matters for the exit code and an inherited "ignore" must be seen before it is replaced.
pub(crate) fn install() -> io::Result<Cancel> {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cancel) = installed.as_ref() {
        return Ok(cancel.clone());
    }
    let cancel = Cancel::new();
    let on_interrupt = cancel.clone();
    ctrlc::set_handler(move || on_interrupt.cancel_by_signal(Signal::INT.as_raw()))
        .map_err(io::Error::other)?;

    let mut wanted = vec![SIGTERM];
    if !procfs::ignores_signal(SIGHUP) {
        wanted.push(SIGHUP);
    }
    // A file over the size limit is then an error of that write, and no sudden death without a
    // word. A handler and not "ignore", which our children would inherit.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let mut signals = Signals::new(wanted)?;
    let on_signal = cancel.clone();
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                on_signal.cancel_by_signal(signal);
            }
        })?;
    *installed = Some(cancel.clone());
    Ok(cancel)
}
