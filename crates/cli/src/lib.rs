//! What all of Baton's tools share at their edge: output, errors, configuration.
