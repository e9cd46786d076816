//! An observer outside: every command that holds a slot keeps a connection to it, which the kernel
//! closes when the command dies, before anybody can learn of its death.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What was seen.
#[derive(Debug, Default)]
pub struct Seen {
    /// Commands that came.
    pub jobs: usize,
    /// The most at once of each group.
    pub most: BTreeMap<String, usize>,
    /// Commands that met more than their limit allows.
    pub violations: Vec<String>,
    /// Beside each violation: the names of all who were there, and how many were too many.
    pub meetings: Vec<(Vec<String>, usize)>,
}

/// The observer, in a thread.
pub struct Observer {
    pub port: u16,
    stop: Sender<()>,
    thread: JoinHandle<Seen>,
}

struct Job {
    stream: TcpStream,
    group: String,
    limit: usize,
    name: String,
}

impl Observer {
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || watch(&listener, &stopped));
        Self { port, stop, thread }
    }

    /// A shell command that tells the observer `GROUP LIMIT` and stays connected for some time.
    /// `group` and `limit` may be shell expressions.
    pub fn job(&self, group: &str, limit: &str, seconds: &str) -> String {
        self.named_job(group, limit, "-", seconds)
    }

    /// The same, with a name of its own.
    pub fn named_job(&self, group: &str, limit: &str, name: &str, seconds: &str) -> String {
        format!(
            "exec 3<>/dev/tcp/127.0.0.1/{}; echo \"{group} {limit} {name}\" >&3; read -t {seconds} x <&3; true",
            self.port
        )
    }

    pub fn finish(self) -> Seen {
        self.stop.send(()).unwrap();
        self.thread.join().unwrap()
    }
}

fn watch(listener: &TcpListener, stopped: &Receiver<()>) -> Seen {
    let mut seen = Seen::default();
    let mut jobs: Vec<Job> = Vec::new();
    while stopped.try_recv().is_err() {
        let mut fds = vec![PollFd::new(listener, PollFlags::IN)];
        fds.extend(
            jobs.iter()
                .map(|job| PollFd::new(&job.stream, PollFlags::IN)),
        );
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: 20_000_000,
        };
        let _ = poll(&mut fds, Some(&pause));
        drop(fds);
        while let Ok((stream, _)) = listener.accept() {
            let Some((group, limit, name)) = introduction(&stream) else {
                continue;
            };
            // Whoever was before it and is dead has closed its connection by now.
            jobs.retain(is_open);
            jobs.push(Job {
                stream,
                group: group.clone(),
                limit,
                name,
            });
            seen.jobs += 1;
            let here = || jobs.iter().filter(|job| job.group == group);
            let now = here().count();
            let most = seen.most.entry(group.clone()).or_default();
            *most = (*most).max(now);
            // The one of those present who got its slot last had all others counted, by its own
            // limit. (They need not come here in that order.)
            let allowed = here().map(|job| job.limit).max().unwrap_or(0);
            if now > allowed {
                seen.violations
                    .push(format!("{now} of {allowed} in {group}"));
                let names = here().map(|job| job.name.clone()).collect();
                seen.meetings.push((names, now - allowed));
            }
        }
        jobs.retain(is_open);
    }
    seen
}

/// What a command says of itself; none when it died before.
fn introduction(stream: &TcpStream) -> Option<(String, usize, String)> {
    stream.set_nonblocking(false).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    let mut text = String::new();
    let start = Instant::now();
    while !text.ends_with('\n') && start.elapsed() < Duration::from_secs(5) {
        let mut piece = [0; 64];
        match (&mut &*stream).read(&mut piece) {
            Ok(n @ 1..) => text.push_str(std::str::from_utf8(&piece[..n]).unwrap()),
            _ => return None,
        }
    }
    stream.set_nonblocking(true).unwrap();
    let mut words = text.split_whitespace();
    let group = words.next()?.to_owned();
    let limit = words.next()?.parse().unwrap();
    Some((group, limit, words.next()?.to_owned()))
}

fn is_open(job: &Job) -> bool {
    let mut piece = [0; 8];
    match (&mut &job.stream).read(&mut piece) {
        Ok(0) => false,
        Ok(_) => true,
        Err(e) => e.kind() == std::io::ErrorKind::WouldBlock,
    }
}
