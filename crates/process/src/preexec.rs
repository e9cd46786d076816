//! The one place with unsafe code: what happens after a fork, before exec or instead of it, and the
//! system calls that std and rustix offer no safe form of.
//!
//! Only what cannot be done from outside happens in the child: a session of its own, the kernel's
//! promise to end the child when we die, and which descriptors it inherits. What needs more, such
//! as the sandbox, is done by a single-threaded launcher *after* exec.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::sync::Arc;

use rustix::process::{Pid, Signal};

/// What the child does to itself before it becomes the program.
#[derive(Debug, Clone, Default)]
pub(crate) struct BeforeExec {
    /// Start a new session.
    pub(crate) session: bool,
    /// The signal that the kernel sends to the child when the spawning thread ends.
    pub(crate) death_signal: Option<Signal>,
    /// Descriptors that the program inherits under their own numbers.
    pub(crate) inherit: Vec<Arc<OwnedFd>>,
    /// Numbers of descriptors that the program must not inherit.
    pub(crate) close: Vec<i32>,
}

impl BeforeExec {
    pub(crate) fn install(self, command: &mut std::process::Command) {
        let nothing = !self.session && self.death_signal.is_none();
        if nothing && self.inherit.is_empty() && self.close.is_empty() {
            return;
        }
        let parent = rustix::process::getpid();
        install(command, move || self.apply(parent));
    }

    /// Only system calls: no allocation, no lock, no panic.
    fn apply(&self, parent: Pid) -> io::Result<()> {
        if self.session {
            rustix::process::setsid()?;
        }
        #[cfg(target_os = "linux")]
        if let Some(signal) = self.death_signal {
            rustix::process::set_parent_process_death_signal(Some(signal))?;
            // We may have died before the line above took effect. A parent outside our PID
            // namespace shows as none, which is why only another *visible* parent counts.
            if rustix::process::getppid().is_some_and(|now| now != parent) {
                return Err(io::Error::from_raw_os_error(
                    rustix::io::Errno::SRCH.raw_os_error(),
                ));
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = parent;
        for fd in &self.inherit {
            rustix::io::fcntl_setfd(fd.as_ref(), rustix::io::FdFlags::empty())?;
        }
        for number in &self.close {
            close_on_exec(*number);
        }
        Ok(())
    }
}

#[expect(
    unsafe_code,
    reason = "std offers no safe way to call setsid or prctl in the child"
)]
fn install(
    command: &mut std::process::Command,
    hook: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: the hook runs in the forked child of a possibly multi-threaded process, where only
    // async-signal-safe calls are allowed. `BeforeExec::apply` is the only hook there is: it makes
    // the system calls setsid, prctl, getppid and fcntl, reads memory that was allocated before
    // the fork, and allocates, locks and frees nothing (its errors hold plain numbers).
    unsafe {
        command.pre_exec(hook);
    }
}

/// Marks a descriptor to be closed on exec. Numbers that are not open are none of our business.
#[expect(
    unsafe_code,
    reason = "these descriptors were inherited, so no owner of them exists"
)]
fn close_on_exec(number: i32) {
    if number < 0 {
        return;
    }
    // SAFETY: the borrow lasts for one fcntl. If the number is not open (any more), that call
    // fails with EBADF and touches nothing; a number is no pointer.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    let _ = rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC);
}

/// Takes ownership of a descriptor that our parent handed to us by its number.
#[expect(
    unsafe_code,
    reason = "a descriptor that arrives over exec has no Rust owner yet"
)]
pub(crate) fn adopt(number: i32) -> Option<OwnedFd> {
    if number <= 2 {
        return None;
    }
    // SAFETY: the number is not negative. Only `sandbox` calls this, at the start of a launcher's
    // main, with numbers that the tool passed for this purpose and nothing else in this process
    // has touched. It is used only after the next call has found it to be open.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC).ok()?;
    // SAFETY: it is open, as the call above has shown, and has no other owner, see there.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The number under which an inherited descriptor is known to the program.
pub(crate) fn number(fd: &OwnedFd) -> i32 {
    fd.as_raw_fd()
}

/// The numbers of all open descriptors but the standard three.
pub(crate) fn open_numbers() -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse().ok())
        .filter(|n| *n > 2)
        .collect()
}

/// Marks every open descriptor but the standard three to be closed on exec, also those that this
/// process was handed by whoever started it.
///
/// For a program that leaves a long-lived process behind: without this, that process would keep
/// its ancestors' pipes open and their locks held.
pub fn close_descriptors_on_exec() {
    for number in open_numbers() {
        close_on_exec(number);
    }
}

/// Makes sure that this process learns how its children end.
///
/// Whoever started us may ignore SIGCHLD (a shell's `trap '' CHLD`, some daemons), and that is
/// inherited: the kernel would reap our children itself, and every wait for one would fail.
#[expect(
    unsafe_code,
    reason = "neither std nor rustix sets a signal's disposition"
)]
pub fn wait_for_own_children() {
    // SAFETY: no handler is installed; this is the disposition every process begins with.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Splits a helper off this process: a child with a copy of our memory that runs `body`, leads a
/// process group of its own and ends with what `body` returns. It has these two descriptors as its
/// stdin and stdout, `/dev/null` as its stderr, and no other one.
///
/// A fork without exec costs a fifth of starting a program. The price is that the child can use only
/// what it copied: of this process's threads it has the calling one alone.
pub fn split(stdin: OwnedFd, stdout: OwnedFd, body: impl FnOnce() -> u8) -> io::Result<Pid> {
    let null = OwnedFd::from(std::fs::File::open("/dev/null")?);
    if let Some(pid) = fork()? {
        return Ok(pid);
    }
    // Nothing of the caller's may run in the child, so a panic ends here as well.
    let run = std::panic::AssertUnwindSafe(|| {
        let _ = rustix::process::setpgid(None, None);
        let moved = rustix::stdio::dup2_stdin(&stdin)
            .and_then(|()| rustix::stdio::dup2_stdout(&stdout))
            .and_then(|()| rustix::stdio::dup2_stderr(&null));
        drop((stdin, stdout, null));
        close_above_standard();
        if moved.is_ok() { body() } else { 125 }
    });
    exit_now(std::panic::catch_unwind(run).unwrap_or(125))
}

/// Splits the init of a sandbox off its launcher, which must be single-threaded: a child that the
/// kernel kills with us, and that ends with what `body` returns. `held` stays open in us alone.
#[cfg(target_os = "linux")]
pub(crate) fn split_init(
    held: OwnedFd,
    body: impl FnOnce(OwnedFd) -> u8,
) -> io::Result<(Pid, OwnedFd)> {
    if let Some(pid) = fork()? {
        return Ok((pid, held));
    }
    let run =
        std::panic::AssertUnwindSafe(|| {
            match rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
                Ok(()) => body(held),
                Err(_) => 125,
            }
        });
    exit_now(std::panic::catch_unwind(run).unwrap_or(125))
}

#[expect(unsafe_code, reason = "neither std nor rustix forks without exec")]
fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the call itself touches nothing of ours. The C library takes care of its own state
    // (the allocator's among it) in the child. Locks of other threads stay locked there for ever,
    // but the callers are `split`, whose child never returns to the code that holds any, and
    // `split_init`, whose process has no other threads.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => Ok(Pid::from_raw(pid)),
    }
}

#[expect(unsafe_code, reason = "exit handlers belong to the parent")]
fn exit_now(code: u8) -> ! {
    // SAFETY: ends the process at once; nothing runs afterwards.
    unsafe { libc::_exit(i32::from(code)) }
}

/// Closes every descriptor but the standard three.
#[expect(
    unsafe_code,
    reason = "the copies of the parent's descriptors have their owners in the parent"
)]
fn close_above_standard() {
    #[cfg(target_os = "linux")]
    // SAFETY: this process is a fork that uses none of its copies: their owners are never dropped,
    // because it ends without returning to them.
    if unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) } == 0 {
        return;
    }
    for number in open_numbers() {
        // SAFETY: as above. The number of the folder that was listed is closed already.
        let _ = unsafe { libc::close(number) };
    }
}

/// Leaves a namespace of the host.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "rustix has this call only as unsafe, because of CLONE_FILES"
)]
pub(crate) fn unshare(flags: rustix::thread::UnshareFlags) -> io::Result<()> {
    let flags = flags - rustix::thread::UnshareFlags::FILES;
    // SAFETY: the call is unsafe only for CLONE_FILES, which has just been taken out.
    unsafe { rustix::thread::unshare_unsafe(flags)? };
    Ok(())
}
