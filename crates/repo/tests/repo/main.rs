//! The crate against real repositories, made in temporary folders.

mod acts;
mod changes;
#[cfg(test)]
mod support;
