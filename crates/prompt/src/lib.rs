//! A role's first request: system text, tools, packed files.
