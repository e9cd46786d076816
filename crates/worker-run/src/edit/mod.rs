//! Changing text files: tolerant in finding the place, strict in what is written.
//!
//! Bytes outside the matched region are never touched: byte order mark, line ends and everything
//! else stay as they are.

pub(crate) mod apply;
pub(crate) mod find;
pub(crate) mod indent;
pub(crate) mod text;
