//! From the bytes of a chat answer to what the model said. Pure: no clock, no socket.

mod answer;
mod assembly;
mod calls;
mod sse;
mod thinking;
mod usage;
mod whole;

#[cfg(test)]
mod tests;

pub use answer::{ChatAnswer, Finish, StreamEvent, Timing, ToolCall};
pub use assembly::{Assembly, Step};
pub use calls::{CallAssembler, CallDelta};
pub use sse::{LineTooLong, SseCounts, SseDecoder, SseEvent};
pub(crate) use usage::number;
pub use usage::{Shortfall, Usage, shortfall};
pub use whole::whole_answer;
