//! HTTP to model servers: probes, chat streams, token counts, error classes.
