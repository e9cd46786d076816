//! Somebody who sees the exchanges of a client: to write them down, to pass them on, or to answer
//! in the server's place.

use std::ops::ControlFlow;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use crate::errors::CallError;
use crate::net::{Head, Piece, Wire};

/// An answer as it came, or as it is to come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawReply {
    /// The HTTP status; 0 if there was no answer.
    pub status: u16,
    /// Its content type.
    pub content_type: String,
    /// The body, as far as it was read.
    pub body: Vec<u8>,
    /// Why the call failed, if it did. It is given back as it is, whatever the body says.
    pub error: Option<CallError>,
}

/// Sees each chat exchange of a [`crate::Client`].
pub trait Tap: Send + Sync + std::fmt::Debug {
    /// A request is about to be sent. A reply given here is taken in place of the server's.
    fn request(&self, _body: &[u8]) -> Option<RawReply> {
        None
    }

    /// The server's head came.
    fn head(&self, _status: u16, _content_type: &str) {}

    /// A piece of the body came; `Break` gives the call up.
    fn bytes(&self, _bytes: &[u8]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The exchange is over.
    fn end(&self, _error: Option<&CallError>) {}
}

/// Puts a reply that was there already on the wire. It never fills the channel.
pub(crate) fn serve(reply: RawReply, wire: &SyncSender<Wire>) {
    let head = Head {
        status: reply.status,
        content_type: reply.content_type,
        ..Head::default()
    };
    for piece in [Piece::Head(head), Piece::Bytes(reply.body), Piece::End] {
        let _ = wire.try_send((0, piece, Instant::now()));
    }
}
