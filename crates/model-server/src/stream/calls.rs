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
    /// The newest piece of the arguments, as long as each piece repeats the ones before it.
    whole_so_far: Option<String>,
    pieces: u32,
    /// The chunk that touched it last.
    chunk: u64,
}

impl OpenCall {
    fn add(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let repeats = match &self.whole_so_far {
            Some(before) => piece.starts_with(before.as_str()),
            None => self.pieces == 0,
        };
        self.whole_so_far = repeats.then(|| piece.to_owned());
        self.pieces += 1;
        self.arguments.push_str(piece);
    }

    /// The last piece, where all of them together are no JSON and each repeats the one before.
    fn repeated_whole(&self) -> Option<&str> {
        let last = self.whole_so_far.as_deref()?;
        let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
        (self.pieces > 1 && last.starts_with('{') && !is_json(&self.arguments) && is_json(last))
            .then_some(last)
    }
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
        if let Some(last) = call.repeated_whole().map(str::to_owned) {
            self.repaired("arguments_repeated_in_each_piece");
            call.arguments = last;
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
        // A name that goes on before any argument came is sent in pieces.
        let goes_on = !name.is_empty() && call.arguments.is_empty() && call.name != name;
        if first_name {
            call.name.clone_from(&name);
        } else if goes_on {
            call.name.push_str(&name);
        }
        if call.id.is_empty() {
            call.id = id;
        }
        call.add(&arguments);
        if goes_on && !first_name {
            self.repairs.push("name_in_pieces");
        }
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

#[cfg(test)]
mod tests {
    use super::CallAssembler;
    use serde_json::{Value, json};

    /// The one call of these pieces, and what was repaired.
    #[track_caller]
    fn one(pieces: &[Value]) -> (String, String, bool, Vec<&'static str>) {
        let mut assembler = CallAssembler::default();
        for piece in pieces {
            assembler.push(std::slice::from_ref(piece));
        }
        let (mut calls, repairs) = assembler.finish(true, false);
        assert_eq!(calls.len(), 1, "{calls:?}");
        let call = calls.remove(0);
        (call.name, call.arguments, call.complete, repairs)
    }

    fn piece(name: &str, arguments: &str) -> Value {
        json!({"index": 0, "id": "c", "function": {"name": name, "arguments": arguments}})
    }

    #[test]
    fn a_name_in_pieces_is_put_together() {
        let pieces = [
            piece("re", ""),
            piece("ad", ""),
            piece("", "{\"path\":"),
            piece("", "1}"),
        ];
        let (name, arguments, complete, repairs) = one(&pieces);
        assert_eq!(
            (name.as_str(), arguments.as_str(), complete),
            ("read", "{\"path\":1}", true)
        );
        assert_eq!(repairs, ["name_in_pieces"]);
    }

    #[test]
    fn arguments_that_each_piece_repeats_from_the_start_are_the_last_ones() {
        let pieces =
            ["{\"pa", "{\"path\": \"a", "{\"path\": \"a\"}"].map(|text| piece("read", text));
        let (_, arguments, complete, repairs) = one(&pieces);
        assert_eq!((arguments.as_str(), complete), ("{\"path\": \"a\"}", true));
        assert_eq!(repairs, ["arguments_repeated_in_each_piece"]);
        // Cut off before the whole one came, it stays what it is: no JSON, which nobody runs.
        let (_, arguments, ..) = one(&pieces[..2]);
        assert!(serde_json::from_str::<Value>(&arguments).is_err());
    }

    #[test]
    fn a_piece_that_only_looks_like_the_ones_before_is_added() {
        let pieces = [
            piece("read", "{\"a\":"),
            piece("", "{\"a\":1}"),
            piece("", "}"),
        ];
        let (_, arguments, complete, repairs) = one(&pieces);
        assert_eq!((arguments.as_str(), complete), ("{\"a\":{\"a\":1}}", true));
        assert!(repairs.is_empty());
    }
}
