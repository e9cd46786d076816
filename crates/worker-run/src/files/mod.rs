//! The files of the work tree: names, containment, safe reading and writing.

pub(crate) mod beneath;
pub(crate) mod path;
pub(crate) mod protect;
