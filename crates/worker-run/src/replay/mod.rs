//! A run written down so that it can be taken again: every request and response, every command.
//!
//! Recording and replaying stand at the two borders of the loop, its server and its shell, and the
//! loop itself is the same in both. A replay works on a tree of its own, made from the recorded
//! base; commands are not run again, their recorded effects are applied. So the loop must come to
//! the same requests, byte for byte, and the first one that differs is named.

mod differ;
mod effects;
mod fault;
mod folder;
mod player;
mod recorder;
mod shell;
mod tape;

pub(crate) use folder::{RecordedEnd, RecordedRun};
pub(crate) use player::Player;
pub(crate) use recorder::Recorder;
pub(crate) use shell::replay;
pub(crate) use tape::{Place, Tape};
