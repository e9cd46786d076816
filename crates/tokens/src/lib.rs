//! How many tokens a text or a chat request needs, and how sure that is.
