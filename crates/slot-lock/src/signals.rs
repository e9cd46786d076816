//! The signals slot-lock hears.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Signal, getpgrp};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::procfs;
use crate::waker::Waker;

/// Those that are passed on to the command, or end the wait for a slot.
const HEARD: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// Signals caught from now on; each wakes the waker.
#[derive(Debug)]
pub(crate) struct Signals {
    caught: Vec<(i32, Arc<AtomicBool>)>,
}

impl Signals {
    /// Catches the signals, save those that are ignored (nohup's SIGHUP, SIGINT of a background job):
    /// the command shall inherit that.
    pub(crate) fn catch(waker: &Waker) -> io::Result<Self> {
        let ignored = ignored_set();
        let mut caught = Vec::with_capacity(HEARD.len());
        for signal in HEARD {
            if ignored & (1 << (signal - 1)) != 0 {
                continue;
            }
            let flag = Arc::new(AtomicBool::new(false));
            // First the flag, then the ring: who is woken finds the flag set.
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
            signal_hook::low_level::pipe::register(signal, waker.sender()?)?;
            caught.push((signal, flag));
        }
        Ok(Self { caught })
    }

    /// The signals that came since the last call.
    pub(crate) fn take(&self) -> Vec<i32> {
        self.caught
            .iter()
            .filter(|(_, flag)| flag.swap(false, Ordering::AcqRel))
            .map(|(signal, _)| *signal)
            .collect()
    }

    /// The first signal that ends a wait.
    pub(crate) fn ending(&self) -> Option<i32> {
        self.take()
            .into_iter()
            .find(|signal| ![SIGUSR1, SIGUSR2].contains(signal))
    }
}

/// The set of ignored signals as `/proc` shows it, one bit each.
fn ignored_set() -> u64 {
    let status = procfs::read("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0)
}

/// Whether a terminal sends this signal to the whole foreground group, the command included.
pub(crate) fn is_from_terminal(signal: i32) -> bool {
    let keyboard = [SIGINT, SIGQUIT].contains(&signal);
    keyboard
        && fs::File::open("/dev/tty")
            .is_ok_and(|tty| tcgetpgrp(&tty).is_ok_and(|group| group == getpgrp()))
}

/// The signal of a number.
pub(crate) fn named(signal: i32) -> Option<Signal> {
    Signal::from_named_raw(signal)
}
