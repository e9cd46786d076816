//! Both ends of a launcher's pipes: frames are written by a thread and read by another, so that a
//! stuck launcher holds up nobody else.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};

use baton_protocol::{
    FrameHead, FrameKind, FrameLine, Landed, Launched, Noise, copy_payload, frame_head, next_frame,
    read_payload, write_frame,
};

/// What came back.
#[derive(Debug)]
pub(super) enum Back {
    Launched(Launched),
    Event(Vec<u8>),
    Reservation(Vec<u8>),
    Handoff(Vec<u8>),
    /// A bundle, which stands in the file that was named for it.
    Bundle,
    Landed(Landed),
    Alive,
    /// It cannot be understood, and will not be later.
    Refused(String),
    /// Nothing more comes; with what stood before the first frame.
    End(Noise),
}

/// Reads frames of one placement until the stream ends. Frames of another are passed over: they come
/// from a placement that was given up.
pub(super) fn listen(from: File, token: String, bundle: PathBuf) -> Receiver<Back> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut noise = Noise::default();
        loop {
            let back = match next_frame(&mut from, &mut noise) {
                Ok(Some(FrameLine::Head(begun))) => {
                    match frame(&mut from, &begun, &token, &bundle) {
                        Ok(Some(back)) => back,
                        Ok(None) => continue,
                        // Cut off within a frame, or it cannot be kept here.
                        Err(_) => Back::End(std::mem::take(&mut noise)),
                    }
                }
                Ok(Some(FrameLine::OtherVersion(version))) => Back::Refused(format!(
                    "worker-run there speaks {version} and this is another version ({}); install \
                     the same on both hosts",
                    env!("CARGO_PKG_VERSION")
                )),
                Ok(Some(FrameLine::Terminal)) => Back::Refused(
                    "a terminal stands between the two hosts and changes what is sent; start it \
                     without one (ssh -T, kubectl exec -i without -t)"
                        .into(),
                ),
                Ok(Some(FrameLine::Noise)) => continue,
                Ok(None) | Err(_) => Back::End(std::mem::take(&mut noise)),
            };
            let ends = matches!(back, Back::End(_) | Back::Refused(_));
            if sender.send(back).is_err() || ends {
                return;
            }
        }
    });
    receiver
}

fn frame(
    from: &mut BufReader<File>,
    begun: &FrameHead,
    token: &str,
    bundle: &PathBuf,
) -> std::io::Result<Option<Back>> {
    if begun.token != token {
        copy_payload(from, begun.bytes, &mut std::io::sink())?;
        return Ok(None);
    }
    if begun.kind == FrameKind::Bundle {
        copy_payload(from, begun.bytes, &mut File::create(bundle)?)?;
        return Ok(Some(Back::Bundle));
    }
    let payload = read_payload(from, begun.bytes)?;
    let text = String::from_utf8_lossy(&payload);
    Ok(match begun.kind {
        FrameKind::Launched => Some(match baton_protocol::read(&text) {
            Ok(launched) => Back::Launched(launched),
            Err(e) => Back::Refused(format!("launched/1: {e}")),
        }),
        FrameKind::Landed => Some(match baton_protocol::read(&text) {
            Ok(landed) => Back::Landed(landed),
            Err(e) => Back::Refused(format!("landed/1: {e}")),
        }),
        FrameKind::Event => Some(Back::Event(payload)),
        FrameKind::Reservation => Some(Back::Reservation(payload)),
        FrameKind::Handoff => Some(Back::Handoff(payload)),
        FrameKind::Alive => Some(Back::Alive),
        _ => None,
    })
}

/// What goes there.
enum There {
    Frame(FrameKind, Vec<u8>),
    File(FrameKind, PathBuf),
}

/// The launcher's stdin. Dropping it closes stdin once all that was given has been written.
pub(super) struct Speaker(SyncSender<There>);

impl Speaker {
    pub(super) fn new(mut to: impl std::io::Write + Send + 'static, token: String) -> Self {
        let (sender, receiver) = sync_channel(8);
        std::thread::spawn(move || {
            while let Ok(there) = receiver.recv() {
                let written = match there {
                    There::Frame(kind, payload) => write_frame(&mut to, kind, &token, &payload),
                    There::File(kind, path) => file(&mut to, kind, &token, &path),
                };
                // Who does not read any more has ended, or is about to: the other pipe tells.
                if written.is_err() {
                    return;
                }
            }
        });
        Self(sender)
    }

    pub(super) fn frame(&self, kind: FrameKind, payload: Vec<u8>) {
        // The thread has gone when the launcher has.
        let _ = self.0.send(There::Frame(kind, payload));
    }

    pub(super) fn file(&self, kind: FrameKind, path: PathBuf) {
        let _ = self.0.send(There::File(kind, path));
    }

    /// Says that we live, unless there is so much to say already that it is plain.
    pub(super) fn alive(&self) {
        match self.0.try_send(There::Frame(FrameKind::Alive, Vec::new())) {
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }
}

fn file(
    to: &mut impl std::io::Write,
    kind: FrameKind,
    token: &str,
    path: &PathBuf,
) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    to.write_all(frame_head(kind, token, bytes).as_bytes())?;
    std::io::copy(&mut file, to)?;
    to.write_all(b"\n")?;
    to.flush()
}

/// A pipe of which one end is for a child.
pub(super) fn pipe() -> std::io::Result<(std::io::PipeReader, std::io::PipeWriter)> {
    std::io::pipe()
}

/// A pipe's end as a file that a command can be given.
pub(super) fn end(fd: impl Into<std::os::fd::OwnedFd>) -> Arc<File> {
    Arc::new(File::from(fd.into()))
}

/// Appends a line to a file.
pub(super) fn append(path: &std::path::Path, line: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)?;
    let mut whole = line.to_vec();
    whole.push(b'\n');
    file.write_all(&whole)
}
