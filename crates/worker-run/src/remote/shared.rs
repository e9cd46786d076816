//! The way by files: the launcher's side put `launch.json` into a folder that we see as well.
//!
//! What we write there, in order: `launched.json` (we are here), `alive` (a number that grows),
//! `handoff.json`, and last `landed.json`. A file `stop` in it ends the work: who gave this placement
//! up writes it, so that a worker whose launcher was lost, or that starts late, ends by itself.

use std::fs::File;
use std::io::{BufReader, IsTerminal as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_cli::{Failure, Output};
use baton_process::Cancel;
use baton_protocol::{
    FrameKind, FrameLine, Handoff, Landed, Launch, Noise, Reservation, SchemaTag, next_frame,
    read_payload,
};
use serde::Serialize;

use super::given::{self, Variables};
use super::{child, host, launched, not_begun};

/// How often the folder is looked at.
const LOOK: Duration = Duration::from_millis(300);

/// Every so many looks we say that we live.
const BEATS: u64 = 5;

/// How long stdin is waited for, where variables may come.
const STDIN: Duration = Duration::from_secs(10);

/// Does the task of a folder.
pub(super) fn run(folder: &str, cancel: &Cancel, output: &Output) -> Result<Landed, Failure> {
    let folder = path(folder)?;
    let text = std::fs::read_to_string(folder.join("launch.json")).map_err(|e| {
        Failure::input(format!(
            "{}: cannot read launch.json: {e}; is the folder shared with this host ({})?",
            folder.display(),
            host()
        ))
    })?;
    let launch: Launch = baton_protocol::read(&text)
        .map_err(|e| Failure::input(format!("{}/launch.json: {e}", folder.display())))?;
    let landed = work(&folder, &launch, cancel, output)
        .unwrap_or_else(|failure| not_begun(&launch.token, &failure));
    write(&folder, "landed.json", &landed)?;
    Ok(landed)
}

fn work(
    folder: &Path,
    launch: &Launch,
    cancel: &Cancel,
    output: &Output,
) -> Result<Landed, Failure> {
    if is_to_stop(folder) {
        return Err(given_up());
    }
    let tree = launch
        .folder
        .as_ref()
        .map(PathBuf::from)
        .ok_or_else(|| Failure::input("launch.json: $.folder is null"))?;
    if !tree.is_dir() {
        return Err(Failure::input(format!(
            "the work tree {} is not on this host; share it, or use launcher_io = \"stream\"",
            tree.display()
        )));
    }
    let variables = variables(&launch.token);
    let given = given::write(launch, &folder.join("launch"))?;
    let reservation: Option<Reservation> = match &launch.reservation {
        Some(reservation) => Some(reservation.clone()),
        None => std::fs::read_to_string(folder.join("reservation.json"))
            .ok()
            .and_then(|text| baton_protocol::read(&text).ok()),
    };
    let part = folder.join("handoff.part");
    let stdout = File::create(&part)
        .map_err(|e| Failure::internal(format!("cannot write {}: {e}", part.display())))?;
    let events = folder.join("events.jsonl");
    let command = child::command(
        launch,
        &given,
        &variables,
        reservation.as_ref(),
        child::Ways {
            tree: &tree,
            events: launch.events.then_some(events.as_path()),
            report: &folder.join("reservation.json"),
            stdout: baton_process::Output::File(Arc::new(stdout)),
        },
    )?;
    write(
        folder,
        "launched.json",
        &launched(&launch.token, Vec::new()),
    )?;
    let stop = cancel.child();
    let mut worker = child::start(&command)?;
    let over = Cancel::new();
    let watch = watch(folder.to_owned(), stop.clone(), over.clone());
    let seen = child::see_off(&mut worker, launch, &stop);
    over.cancel();
    // It only looks at files, and ends at its next look.
    let _ = watch.join();
    let (exit, _) = seen?;
    if is_given_up(folder) {
        output.note("this placement was given up; its result is not handed over");
        return Err(given_up());
    }
    let text = std::fs::read_to_string(&part).unwrap_or_default();
    let handoff = baton_protocol::read::<Handoff>(&text);
    let error = super::why_not(&text, handoff.as_ref().err());
    // An error/1 in its place is handed over as well: its kind and words are the reason.
    if !text.trim().is_empty() {
        whole(folder, "handoff.json", text.as_bytes())?;
    }
    Ok(Landed {
        schema: SchemaTag::new(),
        token: launch.token.clone(),
        exit,
        handoff: handoff.is_ok(),
        commit: None,
        tree: None,
        error,
    })
}

fn given_up() -> Failure {
    Failure::interrupted(15).at("this placement was given up by the one who made it")
}

/// Whether the work is to end, and whether what came of it is wanted.
fn is_to_stop(folder: &Path) -> bool {
    folder.join("stop").exists()
}

fn is_given_up(folder: &Path) -> bool {
    let text = std::fs::read_to_string(folder.join("stop"));
    text.is_ok_and(|text| text.trim() == "given up")
}

/// Says that we live, and looks whether we shall stop.
fn watch(folder: PathBuf, stop: Cancel, over: Cancel) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut count: u64 = 0;
        loop {
            if count.is_multiple_of(BEATS) {
                // Where it cannot be written, the other side gives us up: nothing to add to that.
                let _ = whole(&folder, "alive", (count / BEATS).to_string().as_bytes());
            }
            count += 1;
            if over.wait(LOOK) {
                return;
            }
            if is_to_stop(&folder) {
                stop.cancel();
                return;
            }
        }
    })
}

/// The variables that come on stdin, if any do. A stdin that stays open and says nothing is no
/// reason to wait for ever.
fn variables(token: &str) -> Variables {
    if std::io::stdin().is_terminal() {
        return Variables::new();
    }
    let token = token.to_owned();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut from = BufReader::new(std::io::stdin());
        let mut noise = Noise::default();
        while let Ok(Some(line)) = next_frame(&mut from, &mut noise) {
            let FrameLine::Head(head) = line else {
                continue;
            };
            let Ok(payload) = read_payload(&mut from, head.bytes) else {
                break;
            };
            if head.kind == FrameKind::Variables && head.token == token {
                let found: Option<Variables> = serde_json::from_slice(&payload).ok();
                let _ = sender.send(found.unwrap_or_default());
                return;
            }
        }
        let _ = sender.send(Variables::new());
    });
    receiver.recv_timeout(STDIN).unwrap_or_default()
}

fn write<T: Serialize>(folder: &Path, name: &str, document: &T) -> Result<(), Failure> {
    let text = serde_json::to_string(document)
        .map_err(|e| Failure::internal(format!("cannot write {name}: {e}")))?;
    whole(folder, name, text.as_bytes())
}

/// Writes a file so that nobody sees half of it.
fn whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let fail = |e: std::io::Error| {
        Failure::internal(format!("cannot write {}/{name}: {e}", folder.display()))
    };
    let mut fresh = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
    fresh.write_all(bytes).map_err(fail)?;
    fresh.as_file().sync_data().map_err(fail)?;
    fresh
        .persist(folder.join(name))
        .map_err(|e| fail(e.error))?;
    Ok(())
}

/// A path, or a `file://` address of one: an address holds nothing that a shell on the way changes.
fn path(text: &str) -> Result<PathBuf, Failure> {
    let Some(rest) = text.strip_prefix("file://") else {
        return Ok(PathBuf::from(text));
    };
    let wrong = || Failure::usage(format!("--folder {text}: not an address of a folder"));
    let mut bytes = Vec::with_capacity(rest.len());
    let mut from = rest.bytes();
    while let Some(byte) = from.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || {
            let byte = from.next().ok_or_else(wrong)?;
            char::from(byte).to_digit(16).ok_or_else(wrong)
        };
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).map_err(|_| wrong())?);
    }
    let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::path;

    #[test]
    fn a_folder_is_a_path_or_an_address() {
        assert_eq!(path("/a b").unwrap(), Path::new("/a b"));
        assert_eq!(path("file:///a%20b/%C3%A4").unwrap(), Path::new("/a b/ä"));
        for wrong in [
            "file://a",
            "file:///%",
            "file:///%4",
            "file:///%zz",
            "file://",
        ] {
            assert!(path(wrong).is_err(), "{wrong}");
        }
    }
}
