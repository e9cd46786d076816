//! The crate against real repositories, made in temporary folders.

mod acts;
#[cfg(test)]
mod bundles;
mod changes;
mod clones;
#[cfg(test)]
mod depths;
#[cfg(test)]
mod support;
