//! The network: the one place of this crate that opens sockets.

mod endpoint;
mod exchange;
mod failure;
mod proxy;
mod resolver;
pub(crate) mod tls;

pub use endpoint::Endpoint;
pub(crate) use exchange::{Exchange, Head, Order, Piece, Wire};
pub use proxy::ProxyRules;
