//! Wires that can be cut: TCP proxies between hosts and members of a cluster, and between members.
//!
//! A wire that is cut is silent, as a network is that lost its way: what was sent stays under way and
//! arrives when the wire is whole again, and new connections are taken without an answer.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often a silent wire looks whether it is whole again, and an idle one whether it is over.
const LOOK: Duration = Duration::from_millis(20);

/// All wires. They are over with this.
pub struct Wires(Arc<State>);

#[derive(Default)]
struct State {
    /// Pairs of ends between which nothing goes, in both directions.
    cut: Mutex<HashSet<(String, String)>>,
    /// The ends that members name themselves by towards each other.
    peers: Mutex<HashMap<String, String>>,
    is_over: AtomicBool,
}

/// Who connects to a wire.
#[derive(Clone)]
pub enum From {
    /// This end and no other.
    End(String),
    /// A member, which tells in its first request who it is.
    Peer,
}

impl Wires {
    pub fn new() -> Self {
        Self(Arc::default())
    }

    /// A wire to a port of this end; the port where it begins.
    pub fn lay(&self, from: From, to: &str, port: u16) -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let begins = listener.local_addr().unwrap().port();
        let (state, to) = (Arc::clone(&self.0), to.to_owned());
        std::thread::spawn(move || {
            listener.set_nonblocking(true).unwrap();
            while !state.is_over.load(Ordering::Relaxed) {
                let Ok((stream, _)) = listener.accept() else {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                };
                let (state, from, to) = (Arc::clone(&state), from.clone(), to.clone());
                std::thread::spawn(move || state.carry(&stream, &from, &to, port));
            }
        });
        begins
    }

    /// A member calls itself this towards the others.
    pub fn name_peer(&self, id: &str, end: &str) {
        let mut peers = self.0.peers.lock().unwrap();
        peers.insert(id.to_owned(), end.to_owned());
    }

    pub fn cut(&self, one: &str, other: &str) {
        let mut cut = self.0.cut.lock().unwrap();
        cut.insert((one.to_owned(), other.to_owned()));
        cut.insert((other.to_owned(), one.to_owned()));
    }

    /// All wires are whole again.
    pub fn mend(&self) {
        self.0.cut.lock().unwrap().clear();
    }
}

impl State {
    fn is_cut(&self, from: &str, to: &str) -> bool {
        let cut = self.cut.lock().unwrap();
        cut.contains(&(from.to_owned(), to.to_owned()))
    }

    fn carry(self: &Arc<Self>, near: &TcpStream, from: &From, to: &str, port: u16) {
        near.set_nonblocking(false).unwrap();
        let mut first = Vec::new();
        let from = match from {
            From::End(end) => end.clone(),
            From::Peer => match self.introduction(near, &mut first) {
                Some(end) => end,
                None => return,
            },
        };
        while self.is_cut(&from, to) {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        let Ok(mut far) = TcpStream::connect(("127.0.0.1", port)) else {
            return;
        };
        if far.write_all(&first).is_err() {
            return;
        }
        let (other_near, other_far) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        let (state, ends) = (Arc::clone(self), (from.clone(), to.to_owned()));
        let back = std::thread::spawn(move || state.copy(&other_far, &other_near, &ends));
        self.copy(near, &far, &(from, to.to_owned()));
        back.join().unwrap();
    }

    /// Copies one direction, unless the wire is cut just then.
    fn copy(&self, mut from: &TcpStream, mut to: &TcpStream, ends: &(String, String)) {
        from.set_read_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        let mut piece = [0; 16 << 10];
        loop {
            let read = match from.read(&mut piece) {
                Err(e) if is_pause(&e) => {
                    if self.is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    continue;
                }
                Ok(n @ 1..) => n,
                _ => 0,
            };
            // Also the end of a connection is not told through a wire that is cut.
            while self.is_cut(&ends.0, &ends.1) && !self.is_over.load(Ordering::Relaxed) {
                std::thread::sleep(LOOK);
            }
            if read == 0 || to.write_all(&piece[..read]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
        let _ = from.shutdown(Shutdown::Read);
    }

    /// Which member connects: its first request names it.
    fn introduction(&self, mut near: &TcpStream, first: &mut Vec<u8>) -> Option<String> {
        near.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        let mut piece = [0; 4096];
        while !first.windows(4).any(|w| w == b"\r\n\r\n") {
            match near.read(&mut piece) {
                Ok(n @ 1..) => first.extend_from_slice(&piece[..n]),
                _ => return None,
            }
        }
        let text = String::from_utf8_lossy(first).to_ascii_lowercase();
        let id = text
            .split("x-server-from:")
            .nth(1)?
            .lines()
            .next()?
            .trim()
            .to_owned();
        let peers = self.peers.lock().unwrap();
        Some(peers.get(&id).cloned().unwrap_or(id))
    }
}

fn is_pause(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
    )
}

impl Drop for Wires {
    fn drop(&mut self) {
        // The threads hold the state, and look at this.
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}
