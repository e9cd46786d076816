//! The shell of the program: sockets, threads, signals.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use clap::Parser;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cli::Cli;
use crate::connection;
use crate::engine::Pace;
use crate::fault::{self, Switchboard};
use crate::script::{Script, ScriptError};
use crate::transport::Tls;
use crate::world::World;

/// Why the simulator cannot run.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("{0}")]
    Script(#[from] ScriptError),
    #[error("cannot listen on {address}: {source}; choose another --port, or 0 for a free one")]
    Listen { address: String, source: io::Error },
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Runs the program until something tells it to end.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.list_faults {
        let _ = write!(io::stdout(), "{}", fault::list());
        return ExitCode::SUCCESS;
    }
    match run(&cli) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "sim-server: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, RunError> {
    // The first message ends the program; there is nothing to save, so nothing else is joined.
    let (end, ended) = mpsc::channel();
    end_on_signal(end.clone())?;
    let script = cli
        .script
        .as_deref()
        .map_or(Ok(Script::default()), Script::load)?;
    let world = Arc::new(World::new(
        cli.config(),
        script,
        Switchboard::new(cli.faults.clone()),
        Pace {
            scale: cli.time_scale.max(0.0),
        },
    ));
    let (host, port) = cli.address();
    let listener = TcpListener::bind((host, port)).map_err(|source| RunError::Listen {
        address: format!("{host}:{port}"),
        source,
    })?;
    let tls = cli.tls.as_deref().map(certify).transpose()?.map(Arc::new);
    announce(&listener, &world, tls.is_some())?;
    if cli.until_eof {
        let end = end.clone();
        thread::spawn(move || end_on_eof(&end));
    }
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            spawn(stream, &world, tls.as_ref());
        }
        let _ = end.send(ExitCode::FAILURE);
    });
    Ok(ended.recv().unwrap_or(ExitCode::FAILURE))
}

/// Makes a certificate and writes it where a client can read it.
fn certify(file: &Path) -> io::Result<Tls> {
    let tls = Tls::self_signed()?;
    std::fs::write(file, &tls.pem)?;
    Ok(tls)
}

/// Says on standard output where the server is: one line, before any request can come.
fn announce(listener: &TcpListener, world: &World, tls: bool) -> io::Result<()> {
    let scheme = if tls { "https" } else { "http" };
    let address = listener.local_addr()?;
    let root = format!("{scheme}://{address}{}", world.config.prefix);
    let line = json!({
        "base_url": format!("{root}/v1"), "root": root, "kind": world.config.kind.name(),
        "models": world.config.models, "pid": std::process::id(),
    });
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn spawn(stream: TcpStream, world: &Arc<World>, tls: Option<&Arc<Tls>>) {
    let world = Arc::clone(world);
    let tls = tls.cloned();
    // A connection that gets no thread is dropped, as an overloaded server drops it.
    let _ = thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(move || connection::serve(stream, &world, tls.as_deref()));
}

fn end_on_signal(end: Sender<ExitCode>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            // TERM is how one asks a server to end, so ending is success.
            let code = if signal == SIGTERM { 0 } else { 128 + signal };
            let _ = end.send(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from));
        }
    });
    Ok(())
}

fn end_on_eof(end: &Sender<ExitCode>) {
    let mut sink = [0; 4096];
    let mut input = io::stdin().lock();
    while input.read(&mut sink).is_ok_and(|count| count > 0) {}
    let _ = end.send(ExitCode::SUCCESS);
}
