//! The process between the border and an agent.
//!
//! Behind the border there is another network, so the gateway's socket is reached through a file.
//! Agents want an address: this process (our own program with a hidden first argument) listens at
//! one inside, passes bytes to the file's socket, and runs the agent with that address in its
//! arguments and environment.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use baton_process::{Cancel, Command, ExitStatus, Output, Placement, Stdin};

/// The hidden first argument.
pub(crate) const RELAY: &str = "__baton-relay";
/// What stands for the address in arguments and variables, until it is known.
pub(crate) const BASE_URL: &str = "@@baton-base-url@@";

/// How long an agent may take to end after TERM; the one outside waits a little longer.
const GRACE: Duration = Duration::from_millis(1500);

/// Becomes the relay if this process was started as one.
pub(crate) fn relay_main_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != RELAY {
        return None;
    }
    let socket = PathBuf::from(args.next()?);
    let stdin = PathBuf::from(args.next()?);
    let command: Vec<OsString> = args.collect();
    Some(match run(&socket, &stdin, &command) {
        Ok(code) => ExitCode::from(code),
        Err((code, why)) => {
            let _ = writeln!(io::stderr(), "{why}");
            ExitCode::from(code)
        }
    })
}

fn run(socket: &Path, stdin: &Path, command: &[OsString]) -> Result<u8, (u8, String)> {
    let ours = |what: &str| {
        let what = what.to_string();
        move |error: io::Error| (125, format!("{what}: {error}"))
    };
    let cancel = Cancel::install().map_err(ours("cannot watch for signals"))?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(ours("cannot listen"))?;
    let address = listener.local_addr().map_err(ours("cannot listen"))?;
    let base_url = format!("http://{address}/v1");
    let socket = socket.to_path_buf();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let socket = socket.clone();
            std::thread::spawn(move || {
                if let Ok(gateway) = UnixStream::connect(&socket) {
                    pass(stream, gateway);
                }
            });
        }
    });
    let (program, args) = command
        .split_first()
        .ok_or((125, "there is no command".to_string()))?;
    let input = if stdin.as_os_str().is_empty() {
        Stdin::Null
    } else {
        Stdin::File(Arc::new(
            File::open(stdin).map_err(ours("cannot read the prompt"))?,
        ))
    };
    let mut agent = Command::new(program)
        .args(args.iter().map(|arg| filled(arg, &base_url)))
        .stdin(input)
        .stdout(Output::Inherit)
        .stderr(Output::Inherit)
        .placement(Placement::Caller)
        .grace(GRACE);
    for (name, value) in std::env::vars_os() {
        let new = filled(&value, &base_url);
        if new != value {
            agent = agent.env(name, new);
        }
    }
    match agent.run(&cancel) {
        Ok(outcome) => Ok(match outcome.exit {
            ExitStatus::Code(code) => u8::try_from(code).unwrap_or(1),
            ExitStatus::Signal(signal) => 128_u8.saturating_add(u8::try_from(signal).unwrap_or(0)),
        }),
        Err(error) => Err((error.exit_code(), error.to_string())),
    }
}

/// Copies both ways until both sides are done.
fn pass(agent: TcpStream, gateway: UnixStream) {
    let _ = agent.set_nodelay(true);
    let (Ok(mut from_agent), Ok(mut to_gateway)) = (agent.try_clone(), gateway.try_clone()) else {
        return;
    };
    let up = std::thread::spawn(move || {
        let _ = io::copy(&mut from_agent, &mut to_gateway);
        let _ = to_gateway.shutdown(Shutdown::Write);
    });
    let (mut from_gateway, mut to_agent) = (gateway, agent);
    let _ = io::copy(&mut from_gateway, &mut to_agent);
    // The gateway ends a connection with its answer.
    let _ = to_agent.shutdown(Shutdown::Both);
    let _ = from_gateway.shutdown(Shutdown::Both);
    let _ = up.join();
}

/// A word with the address in the place that is kept for it.
fn filled(word: &OsStr, base_url: &str) -> OsString {
    let bytes = word.as_bytes();
    let mark = BASE_URL.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(mark) {
            out.extend_from_slice(base_url.as_bytes());
            at += mark.len();
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::{BASE_URL, filled};

    #[test]
    fn the_address_is_put_where_it_is_wanted() {
        let url = "http://127.0.0.1:1/v1";
        assert_eq!(
            filled(format!("--url={BASE_URL} {BASE_URL}").as_ref(), url),
            "--url=http://127.0.0.1:1/v1 http://127.0.0.1:1/v1"
        );
        assert_eq!(filled("{base_url}".as_ref(), url), "{base_url}");
    }
}
