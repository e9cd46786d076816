//! HTTP to model servers.
//!
//! The heart is pure: bytes to events to an answer ([`stream`]), a reply to an error class
//! ([`errors`]), routes' answers to a provider entry ([`mod@probe`]). The shell around it
//! ([`Client`], [`probe::probe`]) opens sockets, looks at the clock and can be cancelled at any
//! moment.

mod client;
mod clocks;
mod count;
mod document;
pub mod errors;
mod json_host;
mod net;
mod origin;
pub mod probe;
mod replay;
pub mod stream;
mod tap;

pub use client::{Client, OnEvent};
pub use clocks::Clocks;
pub use errors::{CallError, Clock, ErrorClass};
pub use json_host::{JsonFailure, JsonHost, JsonTls};
pub use net::{Endpoint, ProxyRules};
pub use replay::{history_message, prepare};
pub use stream::{ChatAnswer, Finish, StreamEvent, Timing, ToolCall, Usage};
pub use tap::{RawReply, Tap};
