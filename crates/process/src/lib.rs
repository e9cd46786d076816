//! Child processes in bounds: groups, deadlines, reaping, cancellation, the sandbox.
