//! The crate against real repositories, made in temporary folders.

mod acts;
mod changes;
mod clones;
#[cfg(test)]
mod depths;
#[cfg(test)]
mod support;
