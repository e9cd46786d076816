//! The keeper of a slot that hangs on a lease: it goes on keeping the lease alive when slot-lock is
//! killed or stopped, until the command has ended.
//!
//! While slot-lock is there it says so with every keep-alive, and the keeper only listens.

use std::fs::File;
use std::io::{self, PipeWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::EtcdStore;
use super::client::{Access, Client};
use super::held::{Lost, end_of};
use super::tenure::{Claim, Tenure, millis};
use crate::clock::boot_ms;
use crate::ending;
use crate::keeper::{
    DETACHED, Limit, ORPHAN, Orders, Pipe, Process, keeper_command, open, search, sleep_while_brief,
};

/// The second argument of such a keeper.
pub(crate) const WORD: &str = "etcd";

/// The longest nap: the clock that counts through suspend is looked at this often.
const NAP_MS: u64 = 1_000;

/// Everything a keeper must know; it goes through the pipe, for it holds a password.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Mission {
    access: Access,
    token: String,
    lease: String,
    last_ok_ms: u64,
    claim: Claim,
    on_lost: Lost,
    has_group: bool,
}

impl Mission {
    pub(super) fn new(
        access: &Access,
        token: &str,
        lease: &str,
        last_ok_ms: u64,
        claim: &Claim,
        on_lost: Lost,
        has_group: bool,
    ) -> Self {
        Self {
            access: access.clone(),
            token: token.to_owned(),
            lease: lease.to_owned(),
            last_ok_ms,
            claim: claim.clone(),
            on_lost,
            has_group,
        }
    }
}

/// The keeper as slot-lock sees it.
#[derive(Debug)]
pub(super) struct EtcdKeeper {
    process: Process,
    pipe: PipeWriter,
}

impl EtcdKeeper {
    /// `becomes`: we become the command, which must not have the keeper as its child.
    pub(super) fn start(mission: &Mission, becomes: bool) -> io::Result<Self> {
        if !becomes {
            return Self::split(mission);
        }
        let mut keeper = Self::start_with(&[ORPHAN, WORD], mission)?;
        if let Process::Started(process) = &mut keeper.process {
            process.wait()?;
        }
        Ok(keeper)
    }

    /// Splits off one that becomes a program of its own when the command takes longer: a copy of us
    /// costs a tenth of that, and must not use the connections it has copies of.
    fn split(mission: &Mission) -> io::Result<Self> {
        let (receive, mut pipe) = io::pipe()?;
        let nothing = File::open("/dev/null")?;
        let pid = baton_process::split(nothing.into(), receive.into(), || {
            sleep_while_brief();
            // Descriptors 0 and 1 stay what they are. This returns only when it fails.
            let _ = keeper_command().arg(WORD).exec();
            125
        })?;
        let text = serde_json::to_string(mission)?;
        pipe.write_all(format!("{text}\n").as_bytes())?;
        let process = Process::Split(pid);
        Ok(Self { process, pipe })
    }

    /// One that outlives us.
    pub(super) fn start_detached(mission: &Mission) -> io::Result<Self> {
        Self::start_with(&[WORD, DETACHED], mission)
    }

    fn start_with(words: &[&str], mission: &Mission) -> io::Result<Self> {
        let (receive, mut pipe) = io::pipe()?;
        let text = serde_json::to_string(mission)?;
        writeln!(pipe, "{text}")?;
        let mut command = keeper_command();
        command.args(words).stdin(Stdio::null()).stdout(receive);
        if !words.contains(&DETACHED) {
            // Ctrl-C is meant for the command, not for the keeper.
            command.process_group(0);
        }
        let process = Process::Started(command.spawn()?);
        Ok(Self { process, pipe })
    }

    pub(super) fn order(&mut self, orders: &Orders) -> io::Result<()> {
        self.pipe.write_all(format!("{orders}\n").as_bytes())
    }

    /// Another end to tell it something by. A full pipe blocks nobody.
    pub(super) fn pipe(&self) -> io::Result<PipeWriter> {
        let pipe = self.pipe.try_clone()?;
        rustix::fs::fcntl_setfl(&pipe, rustix::fs::OFlags::NONBLOCK)?;
        Ok(pipe)
    }

    pub(super) fn dismiss(self) {
        self.process.dismiss();
    }
}

/// The main function of such a keeper.
pub(crate) fn main() -> ExitCode {
    let mut pipe = Pipe::default();
    let mission = pipe
        .line()
        .and_then(|line| serde_json::from_str(&line).ok());
    if let Some(mission) = mission {
        run(mission, pipe);
    }
    ExitCode::SUCCESS
}

fn run(mission: Mission, mut pipe: Pipe) {
    let Ok(client) = Client::new(mission.access.clone()) else {
        return;
    };
    let client = Arc::new(client);
    let tenure = Tenure::resume(
        Arc::clone(&client),
        mission.lease.clone(),
        mission.last_ok_ms,
        Some(mission.claim.clone()),
    );
    let ttl_ms = millis(client.ttl());
    let mut keeping = Keeping {
        mission,
        tenure,
        ttl_ms,
        command: None,
        is_alone: false,
        limit: None,
        signalled: 0,
    };
    loop {
        // Lines that came together ring only once.
        while pipe.has_line() {
            if keeping.obey(pipe.line()) {
                return;
            }
        }
        let pause = keeping.pause();
        let stdout = rustix::stdio::stdout();
        let mut fds = Vec::with_capacity(2);
        if let Some((_, process)) = &keeping.command {
            fds.push(PollFd::new(process, PollFlags::IN));
        }
        let watched = fds.len();
        if !keeping.is_alone {
            fds.push(PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::IN));
        }
        let limit = Timespec::try_from(Duration::from_millis(pause)).ok();
        let _ = poll(&mut fds, limit.as_ref());
        let is_ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let (ended, told) = (watched == 1 && is_ready(0), is_ready(watched));
        drop(fds);
        if ended {
            // Where slot-lock is there, it gives the slot back itself.
            if keeping.is_alone {
                keeping.tenure.end();
            }
            return;
        }
        if told && keeping.obey(pipe.line()) {
            return;
        }
        keeping.care();
    }
}

struct Keeping {
    mission: Mission,
    tenure: Tenure,
    ttl_ms: u64,
    command: Option<(i32, OwnedFd)>,
    /// slot-lock is gone.
    is_alone: bool,
    limit: Option<Limit>,
    /// How many signals to end the command were sent.
    signalled: usize,
}

impl Keeping {
    /// Follows one order; none: slot-lock is gone. True: there is nothing to keep.
    fn obey(&mut self, line: Option<String>) -> bool {
        let Some(line) = line else {
            self.is_alone = true;
            if self.command.is_none() {
                let found = search(&self.mission.token);
                self.command = found.and_then(|pid| Some((pid, open(pid)?)));
            }
            if self.command.is_none() {
                // The command never started, or has ended.
                self.tenure.end();
                return true;
            }
            return false;
        };
        if let Some(alive) = line.strip_prefix("alive ") {
            if let Some((at_ms, lease)) = alive.split_once(' ')
                && let Ok(at_ms) = at_ms.parse()
            {
                self.tenure.kept(lease, at_ms);
            }
            return false;
        }
        match Orders::parse(&line) {
            Some(Orders::Limit(limit)) => self.limit = Some(limit),
            Some(Orders::Watch { pid }) => match open(pid) {
                Some(process) => self.command = Some((pid, process)),
                // It has ended already; whoever is there gives the slot back.
                None => return true,
            },
            Some(Orders::Lease { expires_ms, holder }) => {
                self.outlive(expires_ms, holder);
                return true;
            }
            None => {}
        }
        false
    }

    /// Waits for the end of a holder that is not our child, and gives its slot back.
    fn outlive(&self, expires_ms: u64, holder: Option<i32>) {
        let _ = rustix::process::setsid();
        let process = holder.and_then(open);
        while let Some(process) = &process {
            let left = expires_ms.saturating_sub(boot_ms()).min(60_000);
            let mut fds = [PollFd::new(process, PollFlags::IN)];
            let limit = Timespec::try_from(Duration::from_millis(left)).ok();
            if matches!(poll(&mut fds, limit.as_ref()), Ok(1..)) {
                break;
            }
            let store = EtcdStore::of(self.mission.access.clone());
            let is_held = store.is_ok_and(|s| !matches!(s.is_held(&self.mission.token), Ok(false)));
            if !is_held {
                // Its time is over (as the cluster measures it, renewals included).
                return;
            }
        }
        if let Ok(store) = EtcdStore::of(self.mission.access.clone()) {
            let _ = crate::store::Store::release(&store, &self.mission.token);
        }
    }

    /// Whether slot-lock, though it is there, does nothing (it is stopped).
    fn is_left_alone(&self) -> bool {
        self.is_alone || boot_ms() > self.tenure.last_ok_ms + self.ttl_ms / 2
    }

    fn pause(&self) -> u64 {
        let at = if self.is_alone {
            self.tenure.next_ms()
        } else {
            self.tenure.last_ok_ms + self.ttl_ms / 2
        };
        at.max(self.tenure.next_ms())
            .saturating_sub(boot_ms())
            .clamp(1, NAP_MS)
    }

    fn care(&mut self) {
        // Also where slot-lock was stopped before it could name the command.
        if self.is_left_alone() && boot_ms() >= self.tenure.next_ms() {
            // There is nobody left to tell.
            let _ = self.tenure.beat();
        }
        let (Some((pid, _)), now) = (&self.command, boot_ms()) else {
            return;
        };
        let mut has_group = self.mission.has_group;
        let mut ends = Vec::new();
        if self.mission.on_lost == Lost::End {
            let end = end_of(self.tenure.last_ok_ms, self.ttl_ms);
            ends.push((end.term_ms, end.kill_ms));
        }
        if let Some(limit) = self.limit {
            has_group |= limit.has_group;
            // slot-lock goes first, so that the two do not signal at once.
            let term = limit.deadline_ms.saturating_add(1_000);
            ends.push((term, term.saturating_add(millis(ending::GRACE))));
        }
        for (term_ms, kill_ms) in ends {
            if now >= kill_ms && self.signalled < 2 {
                self.signalled = 2;
                ending::send(*pid, has_group, true);
            } else if now >= term_ms && self.signalled < 1 {
                self.signalled = 1;
                ending::send(*pid, has_group, false);
            }
        }
    }
}
