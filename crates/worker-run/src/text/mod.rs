//! Texts on their way into the model's context, and out of it.

pub(crate) mod blocks;
pub(crate) mod clean;
pub(crate) mod expected;
pub(crate) mod feedback;
pub(crate) mod repetition;
pub(crate) mod shape;
pub(crate) mod splice;
pub(crate) mod wreck;
