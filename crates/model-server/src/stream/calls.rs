//! Joins the pieces of tool calls.
//!
//! By the protocol every piece carries an `index`, and `id` and `name` come once. Real servers leave
//! the index out, give every call index 0, repeat the name in every piece, blank it later, or send
//! the arguments as an object. No piece is ever dropped, and two calls are never merged into one:
//! the rules are at [`CallAssembler::target`].

use serde::de::IgnoredAny;
use serde_json::Value;

use super::answer::ToolCall;
use super::usage::number;

/// What one piece did, for whoever watches the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallDelta {
    /// The position of the call among the calls of this answer.
    pub position: usize,
    /// The name, when this piece named the call.
    pub name: Option<String>,
    /// The text it added to the arguments.
    pub arguments: String,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// The chunk that touched it last.
    chunk: u64,
}

/// Joins pieces to calls.
#[derive(Debug, Default)]
pub struct CallAssembler {
    calls: Vec<OpenCall>,
    chunk: u64,
    repairs: Vec<&'static str>,
}

impl CallAssembler {
    /// Takes the `tool_calls` array of one chunk.
    pub fn push(&mut self, pieces: &[Value]) -> Vec<CallDelta> {
        self.chunk += 1;
        pieces
            .iter()
            .filter_map(|piece| self.piece(piece))
            .collect()
    }

    /// Takes the old `function_call` object.
    pub fn push_legacy(&mut self, function: &Value) -> Option<CallDelta> {
        self.repaired("legacy_function_call");
        self.chunk += 1;
        let piece = serde_json::json!({"index": 0, "function": function});
        self.piece(&piece)
    }

    /// Whether any piece has come.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// What was repaired since the last time, one entry each time.
    pub fn take_repairs(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.repairs)
    }

    /// The calls, in order of appearance. `whole` says that the stream was not cut off, `length`
    /// that the limit of tokens ended it: then only a call whose arguments are a whole JSON value
    /// is complete, since a whole value cannot be the beginning of a longer one.
    pub fn finish(mut self, whole: bool, length: bool) -> (Vec<ToolCall>, Vec<&'static str>) {
        let calls = std::mem::take(&mut self.calls)
            .into_iter()
            .enumerate()
            .map(|(position, call)| self.close(position, call, whole, length))
            .collect();
        (calls, self.repairs)
    }

    fn close(
        &mut self,
        position: usize,
        mut call: OpenCall,
        whole: bool,
        length: bool,
    ) -> ToolCall {
        if call.id.is_empty() {
            self.repaired("call_without_id");
            call.id = format!("call_{position}");
        }
        if whole && !length && call.arguments.trim().is_empty() {
            self.repaired("empty_arguments");
            "{}".clone_into(&mut call.arguments);
        }
        let cut_off = match serde_json::from_str::<IgnoredAny>(&call.arguments) {
            Ok(_) => false,
            Err(error) => length || error.is_eof(),
        };
        ToolCall {
            complete: whole && !cut_off && !call.name.is_empty(),
            id: call.id,
            name: call.name,
            arguments: call.arguments,
        }
    }

    fn repaired(&mut self, what: &'static str) {
        self.repairs.push(what);
    }

    fn piece(&mut self, piece: &Value) -> Option<CallDelta> {
        if !piece.is_object() {
            self.repaired("call_piece_not_an_object");
            return None;
        }
        let function = piece.get("function").unwrap_or(piece);
        let text = |value: Option<&Value>| {
            value
                .and_then(Value::as_str)
                .map(str::trim)
                .unwrap_or_default()
                .to_owned()
        };
        let id = text(piece.get("id"));
        let name = text(function.get("name"));
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => {
                self.repaired("arguments_as_object");
                other.to_string()
            }
        };
        let index = piece.get("index").and_then(number);
        let position = self.target(index, &id, &name, &arguments);
        let chunk = self.chunk;
        let call = self.calls.get_mut(position)?;
        call.chunk = chunk;
        let first_name = call.name.is_empty() && !name.is_empty();
        if first_name {
            call.name.clone_from(&name);
        }
        if call.id.is_empty() {
            call.id = id;
        }
        call.arguments.push_str(&arguments);
        Some(CallDelta {
            position,
            name: first_name.then_some(name),
            arguments,
        })
    }

    /// Finds the call a piece belongs to, or opens a new one.
    ///
    /// 1. A known index (without one: a known id) continues that call, unless the piece starts a
    ///    call of its own: a name together with another id, or a name together with arguments
    ///    although the call's arguments are already a whole object.
    /// 2. An unknown index opens a call.
    /// 3. Without index and known id, a piece with a name opens a call, unless it repeats the name
    ///    of the unfinished last call in a later chunk; a piece without a name continues the last.
    fn target(&mut self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> usize {
        let known = if index.is_some() {
            self.calls.iter().rposition(|c| c.index == index)
        } else {
            self.repaired("call_without_index");
            let by_id = |c: &OpenCall| !id.is_empty() && c.id == id;
            self.calls.iter().rposition(by_id)
        };
        let continues = match (known, index) {
            (Some(position), _) => {
                let starts_anew = self
                    .calls
                    .get(position)
                    .is_some_and(|call| starts_anew(call, id, name, arguments));
                if starts_anew && index.is_some() {
                    self.repaired("call_index_reused");
                }
                (!starts_anew).then_some(position)
            }
            (None, Some(_)) => None,
            (None, None) => {
                let last = self.calls.len().checked_sub(1);
                last.filter(|position| {
                    self.calls.get(*position).is_some_and(|call| {
                        name.is_empty()
                            || (call.name == name
                                && call.chunk != self.chunk
                                && (id.is_empty() || call.id.is_empty())
                                && !starts_anew(call, id, name, arguments))
                    })
                })
            }
        };
        continues.unwrap_or_else(|| {
            self.calls.push(OpenCall {
                index,
                ..OpenCall::default()
            });
            self.calls.len() - 1
        })
    }
}

fn starts_anew(call: &OpenCall, id: &str, name: &str, arguments: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
    // The ends are looked at first: a server that repeats the name sends it with every piece.
    let already_whole = call.arguments.trim_start().starts_with('{')
        && call.arguments.trim_end().ends_with('}')
        && serde_json::from_str::<IgnoredAny>(&call.arguments).is_ok();
    other_id || (already_whole && (call.name != name || !arguments.trim().is_empty()))
}
