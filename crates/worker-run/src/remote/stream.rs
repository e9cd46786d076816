//! The way by stdin and stdout: order, variables and a bundle come in, events, hand-off and a bundle
//! go out, and nothing else is shared. The end of stdin, or silence there, ends the work: whoever gave
//! this placement up has closed it, or is gone.

use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use baton_cli::{Environment, Failure, Output};
use baton_process::{Cancel, Lines, NextLine};
use baton_protocol::{
    Event, FrameKind, FrameLine, Handoff, Landed, Launch, Noise, SchemaTag, copy_payload,
    frame_head, next_frame, read_payload, write_frame,
};
use baton_repo::{ObjectId, Repo};
use serde::Serialize;

use super::given::{self, Variables};
use super::place::Place;
use super::{child, git_failure, launched, not_begun};

/// How long the first frame may take.
const FIRST: Duration = Duration::from_secs(120);

/// How long a signal may take that has ended a program beside us.
const SIGNAL: Duration = Duration::from_millis(200);

/// How often we say that we live.
const BEAT: Duration = Duration::from_secs(5);

/// How often the other side is looked after.
const LOOK: Duration = Duration::from_millis(500);

/// How long the last lines may take once the worker has ended.
const DRAIN: Duration = Duration::from_secs(10);

/// What came on stdin.
enum Came {
    Launch(Box<Launch>),
    Variables(Variables),
    Bundle(PathBuf),
    /// It cannot be understood.
    Wrong(String),
    End,
}

/// Does the task that comes on stdin.
pub(super) fn run(dir: Option<&Path>, cancel: &Cancel, output: &Output) -> Result<Landed, Failure> {
    let env = Environment::from_process();
    let place = Place::make(dir, &env)?;
    let (sender, receiver) = channel();
    let heard = Arc::new(AtomicU64::new(0));
    listen(sender, place.join("in.bundle"), Arc::clone(&heard));
    let launch = order(&receiver, cancel)?;
    let wire = Wire {
        token: launch.token.clone(),
        out: Arc::new(Mutex::new(())),
    };
    let stop = cancel.child();
    let over = Cancel::new();
    if launch.ends_with_stdin {
        beat(wire.clone(), stop.clone(), over.clone());
        hear(heard, launch.silence_ms, stop.clone(), over.clone());
    }
    let work = Work {
        place: &place,
        launch: &launch,
        wire: &wire,
        stop: &stop,
    };
    let landed = work.run(receiver).unwrap_or_else(|failure| {
        // A signal to all that runs here may reach git before us.
        let failure = if cancel.wait(SIGNAL) {
            Failure::interrupted(cancel.signal().unwrap_or(15))
        } else {
            failure
        };
        not_begun(&launch.token, &failure)
    });
    if wire.document(FrameKind::Landed, &landed).is_err() {
        output.note("nobody listens any more; the result is lost");
    }
    over.cancel();
    Ok(landed)
}

/// Reads stdin to its end on a thread of its own. A bundle goes to a file.
fn listen(sender: Sender<Came>, bundle: PathBuf, heard: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let mut from = Counted(BufReader::new(std::io::stdin()), heard);
        let mut token = None;
        let mut noise = Noise::default();
        loop {
            let came = match next_frame(&mut from, &mut noise) {
                Ok(Some(FrameLine::Head(begun))) => {
                    if token.as_ref().is_some_and(|t| *t != begun.token) {
                        Some(Came::Wrong("frames of two placements came".into()))
                    } else {
                        token = Some(begun.token.clone());
                        frame(&mut from, begun.kind, begun.bytes, &bundle)
                    }
                }
                Ok(Some(FrameLine::OtherVersion(version))) => Some(Came::Wrong(format!(
                    "the order is of another version ({version}); install the same version on both hosts"
                ))),
                Ok(Some(FrameLine::Terminal)) => Some(Came::Wrong(
                    "a terminal stands between the two hosts and changes what is sent; start the \
                     launcher without one (ssh -T, no -t)"
                        .into(),
                )),
                Ok(Some(FrameLine::Noise)) => None,
                Ok(None) | Err(_) => Some(Came::End),
            };
            let ends = matches!(came, Some(Came::End | Came::Wrong(_)));
            if came.is_some_and(|came| sender.send(came).is_err()) || ends {
                return;
            }
        }
    });
}

fn frame(
    from: &mut impl std::io::BufRead,
    kind: FrameKind,
    bytes: u64,
    bundle: &Path,
) -> Option<Came> {
    if kind == FrameKind::Bundle {
        let copied =
            std::fs::File::create(bundle).and_then(|mut file| copy_payload(from, bytes, &mut file));
        return Some(match copied {
            Ok(()) => Came::Bundle(bundle.to_owned()),
            Err(e) => Came::Wrong(format!("the bundle did not come whole: {e}")),
        });
    }
    let payload = match read_payload(from, bytes) {
        Ok(payload) => payload,
        Err(e) => return Some(Came::Wrong(e.to_string())),
    };
    match kind {
        FrameKind::Launch => {
            let text = String::from_utf8_lossy(&payload);
            Some(match baton_protocol::read::<Launch>(&text) {
                Ok(launch) => Came::Launch(Box::new(launch)),
                Err(e) => Came::Wrong(format!("launch/1: {e}")),
            })
        }
        FrameKind::Variables => Some(match serde_json::from_slice(&payload) {
            Ok(variables) => Came::Variables(variables),
            Err(e) => Came::Wrong(format!("variables: {e}")),
        }),
        _ => None,
    }
}

/// Counts what is read, so that silence is seen.
struct Counted<R>(R, Arc<AtomicU64>);

impl<R: std::io::Read> std::io::Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(count)
    }
}

impl<R: std::io::BufRead> std::io::BufRead for Counted<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.0.consume(count);
    }
}

/// Waits for the order.
fn order(receiver: &Receiver<Came>, cancel: &Cancel) -> Result<Launch, Failure> {
    match next(receiver, cancel, Instant::now() + FIRST)? {
        Some(Came::Launch(launch)) => Ok(*launch),
        Some(Came::Wrong(why)) => Err(Failure::input(why)),
        Some(Came::End) => Err(Failure::input(
            "stdin ended without a task; a launcher feeds frames here, see worker-run(1), REMOTE",
        )),
        Some(_) => Err(Failure::input("the first frame is no launch/1")),
        None => Err(Failure::time_limit("no task came on stdin in time")),
    }
}

/// What comes next; none when the deadline comes first.
fn next(
    receiver: &Receiver<Came>,
    cancel: &Cancel,
    deadline: Instant,
) -> Result<Option<Came>, Failure> {
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(came) => return Ok(Some(came)),
            Err(RecvTimeoutError::Disconnected) => return Ok(Some(Came::End)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if cancel.is_cancelled() {
            return Err(Failure::interrupted(cancel.signal().unwrap_or(15)));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
    }
}

/// Says that we live. When nobody can be told, nobody wants the work.
fn beat(wire: Wire, stop: Cancel, over: Cancel) {
    std::thread::spawn(move || {
        while !over.wait(BEAT) {
            if wire.frame(FrameKind::Alive, b"").is_err() {
                stop.cancel();
                return;
            }
        }
    });
}

/// How long the worker's end may take once nothing was heard for too long.
const LAST: Duration = Duration::from_secs(60);

/// Ends the work when the other side has said nothing for too long.
fn hear(heard: Arc<AtomicU64>, silence_ms: u64, stop: Cancel, over: Cancel) {
    let longest = Duration::from_millis(silence_ms.max(1_000));
    std::thread::spawn(move || {
        let mut last = (heard.load(Ordering::Relaxed), Instant::now());
        while !over.wait(LOOK) {
            let count = heard.load(Ordering::Relaxed);
            if count != last.0 {
                last = (count, Instant::now());
            } else if last.1.elapsed() >= longest {
                stop.cancel();
                // Who says nothing need not read either: a full pipe must not keep us for ever.
                if !over.wait(LAST) {
                    give_in();
                }
                return;
            }
        }
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "main is stuck in a write that nobody reads; a later task tidies up the place"
)]
fn give_in() -> ! {
    std::process::exit(125)
}

/// Our end of the stream.
#[derive(Clone)]
struct Wire {
    token: String,
    out: Arc<Mutex<()>>,
}

impl Wire {
    fn frame(&self, kind: FrameKind, payload: &[u8]) -> std::io::Result<()> {
        let _one = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        write_frame(&mut std::io::stdout(), kind, &self.token, payload)
    }

    fn document<T: Serialize>(&self, kind: FrameKind, document: &T) -> std::io::Result<()> {
        self.frame(kind, &serde_json::to_vec(document)?)
    }

    fn file(&self, kind: FrameKind, path: &Path) -> std::io::Result<()> {
        let _one = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = std::fs::File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut out = std::io::stdout();
        out.write_all(frame_head(kind, &self.token, bytes).as_bytes())?;
        std::io::copy(&mut file, &mut out)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

/// One task on its way through this host.
struct Work<'a> {
    place: &'a Place,
    launch: &'a Launch,
    wire: &'a Wire,
    stop: &'a Cancel,
}

impl Work<'_> {
    fn run(&self, receiver: Receiver<Came>) -> Result<Landed, Failure> {
        let launch = self.launch;
        let tree = launch.tree.as_ref().ok_or_else(|| {
            Failure::input("launch/1: $.tree is null, and this host shares no folder")
        })?;
        let have = self.place.depot(tree)?.have().map_err(git_failure)?;
        let have = have.iter().map(|id| id.as_str().to_owned()).collect();
        let launched = launched(&launch.token, have);
        self.wire
            .document(FrameKind::Launched, &launched)
            .map_err(|e| Failure::internal(format!("cannot answer: {e}")))?;
        let mut variables = Variables::new();
        let bundle = loop {
            // Silence ends the wait: `hear` cancels.
            let far = Instant::now() + Duration::from_secs(24 * 3600);
            match next(&receiver, self.stop, far)? {
                Some(Came::Variables(found)) => variables = found,
                Some(Came::Bundle(bundle)) => break Some(bundle),
                Some(Came::Wrong(why)) => return Err(Failure::input(why)),
                // By hand: all of it may be here from an earlier task.
                Some(Came::End) if !launch.ends_with_stdin => break None,
                Some(Came::End) | None => {
                    return Err(Failure::input("stdin ended before the files came"));
                }
                Some(Came::Launch(_)) => return Err(Failure::input("two orders came")),
            }
        };
        self.follow(receiver);
        let repo = self
            .place
            .tree(launch, tree, bundle.as_deref(), self.stop)?;
        let start = repo.snapshot().map_err(git_failure)?;
        let (exit, text) = self.work(&repo, &variables)?;
        self.give_back(&repo, &start, exit, &text)
    }

    /// From here on the end of stdin ends the work.
    fn follow(&self, receiver: Receiver<Came>) {
        if !self.launch.ends_with_stdin {
            return;
        }
        let stop = self.stop.clone();
        std::thread::spawn(move || {
            while let Ok(came) = receiver.recv() {
                if matches!(came, Came::End | Came::Wrong(_)) {
                    break;
                }
            }
            stop.cancel();
        });
    }

    /// Runs the worker; its exit code and the hand-off's text.
    fn work(&self, repo: &Repo, variables: &Variables) -> Result<(i32, String), Failure> {
        let launch = self.launch;
        let given = given::write(launch, &self.place.join("launch"))?;
        let report = self.place.join("reservation.json");
        let command = child::command(
            launch,
            &given,
            variables,
            launch.reservation.as_ref(),
            child::Ways {
                tree: repo.root(),
                events: Some(Path::new("-")),
                report: &report,
                stdout: baton_process::Output::Capture(baton_process::Capture::default()),
            },
        )?;
        let mut worker = child::start(&command)?;
        let lines = worker
            .lines()
            .ok_or_else(|| Failure::internal("the worker has no stdout"))?;
        let ended = Cancel::new();
        let relay = {
            let (wire, stop) = (self.wire.clone(), self.stop.clone());
            let (ended, report) = (ended.clone(), report.clone());
            let events = launch.events;
            std::thread::spawn(move || relay(lines, &wire, events, &report, &stop, &ended))
        };
        let seen = child::see_off(&mut worker, launch, self.stop);
        ended.cancel();
        let text = relay.join().unwrap_or_default();
        Ok((seen?.0, text))
    }

    /// Sends what came of it: files, then the hand-off. The caller sends the end.
    fn give_back(
        &self,
        repo: &Repo,
        start: &ObjectId,
        exit: i32,
        text: &str,
    ) -> Result<Landed, Failure> {
        let lost = |e: std::io::Error| Failure::internal(format!("the result is lost: {e}"));
        let now = repo.snapshot().map_err(git_failure)?;
        let mut made = None;
        if now != *start {
            let recorded = repo.record_base().map_err(git_failure)?;
            let commit = recorded.name;
            let file = self.place.join("out.bundle");
            let have = self
                .launch
                .tree
                .iter()
                .flat_map(|t| [Some(&t.commit), t.head.as_ref()])
                .flatten()
                .filter_map(|id| ObjectId::new(id))
                .collect::<Vec<_>>();
            repo.bundle(&file, std::slice::from_ref(&commit), &have)
                .map_err(git_failure)?;
            self.wire.file(FrameKind::Bundle, &file).map_err(lost)?;
            made = Some((commit, recorded.tree));
        }
        let handoff = baton_protocol::read::<Handoff>(text);
        let error = super::why_not(text, handoff.as_ref().err());
        if !text.trim().is_empty() {
            self.wire
                .frame(FrameKind::Handoff, text.as_bytes())
                .map_err(lost)?;
        }
        Ok(Landed {
            schema: SchemaTag::new(),
            token: self.launch.token.clone(),
            exit,
            handoff: handoff.is_ok(),
            commit: made.as_ref().map(|(c, _)| c.as_str().to_owned()),
            tree: made.map(|(_, t)| t.as_str().to_owned()),
            error,
        })
    }
}

/// Passes the worker's events on, line by line; what is no event is its hand-off. The slot it got is
/// told as soon as there is a line.
fn relay(
    mut lines: Lines,
    wire: &Wire,
    events: bool,
    report: &Path,
    stop: &Cancel,
    ended: &Cancel,
) -> String {
    let mut text = String::new();
    let mut told = false;
    let never = Cancel::new();
    let mut last = None;
    loop {
        if ended.is_cancelled() && last.is_none() {
            last = Some(Instant::now() + DRAIN);
        }
        let look = Instant::now() + LOOK;
        let line = match lines.next_line(Some(last.map_or(look, |l| l.min(look))), &never) {
            Ok(NextLine::Line(line)) => line,
            Ok(NextLine::TimedOut) if last.is_none_or(|l| Instant::now() < l) => continue,
            _ => return text,
        };
        if !told && let Ok(reservation) = std::fs::read(report) {
            told = wire.frame(FrameKind::Reservation, &reservation).is_ok();
        }
        let shown = String::from_utf8_lossy(&line);
        if baton_protocol::read::<Event>(&shown).is_ok() {
            if events && wire.frame(FrameKind::Event, &line).is_err() {
                stop.cancel();
            }
        } else {
            text.push_str(&shown);
            text.push('\n');
        }
    }
}
