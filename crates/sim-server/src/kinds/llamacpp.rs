//! llama-server b11434: the routes and their errors, as recorded from a real server.

use serde_json::{Value, json};

use super::{
    Event, Reply, Route, Server, Stamp, Visit, bearer, llamacpp_chat, llamacpp_probes as probes,
    openai,
};
use crate::chat::{Chat, text_of};
use crate::config::Config;
use crate::engine::Rules;
use crate::http::{Request, Response};
use crate::tokens;

/// The kind itself.
pub(super) struct LlamaCpp;

/// An error with the keys in the order this server writes them.
pub(super) fn refusal(status: u16, kind: &str, message: &str) -> Response {
    Response::json(
        status,
        &json!({"error": {"code": status, "message": message, "type": kind}}),
    )
}

pub(super) fn not_found() -> Response {
    let error = json!({"message": "File Not Found", "type": "not_found_error", "code": 404});
    Response::json(404, &json!({ "error": error }))
}

impl Server for LlamaCpp {
    fn rules(&self, config: &Config) -> Rules {
        Rules {
            abort_when_full: true,
            prefill_blocks: true,
            ..openai::rules(config)
        }
    }

    fn route(&self, visit: &Visit<'_>) -> Route {
        let Visit {
            config,
            request,
            now,
            stamp,
        } = visit;
        let get = matches!(request.method.as_str(), "GET" | "HEAD");
        let response = match (get, request.path.as_str()) {
            (true, "/health" | "/v1/health") => Response::json(200, &json!({"status": "ok"})),
            (true, "/v1/models" | "/models") => Response::json(200, &probes::models(config, stamp)),
            (true, "/props") => Response::json(200, &probes::props(config)),
            (false, "/props") => refusal(
                501,
                "not_supported_error",
                "This server does not support changing global properties. Start it with `--props`",
            ),
            (true, "/slots") => slots(visit),
            (true, "/metrics") => {
                Response::typed(200, "text/plain; version=0.0.4", probes::metrics(now))
                    .with("process-start-time-unix", "1")
            }
            (false, "/tokenize") => with_body(request, tokenize),
            (false, "/apply-template") => {
                with_messages(request, |chat| json!({"prompt": chat.prompt()}))
            }
            (
                false,
                "/v1/chat/completions/input_tokens"
                | "/chat/completions/input_tokens"
                | "/v1/responses/input_tokens",
            ) => with_messages(
                request,
                |chat| json!({"input_tokens": tokens::count(&chat.prompt()), "object": "response.input_tokens"}),
            ),
            (false, "/v1/messages/count_tokens") => with_messages(
                request,
                |chat| json!({"input_tokens": tokens::count(&chat.prompt())}),
            ),
            (false, "/v1/chat/completions" | "/chat/completions") => return Route::Chat,
            _ => not_found(),
        };
        Route::Now(response)
    }

    fn admit(&self, _: &Config, request: &Request) -> Result<Chat, Response> {
        llamacpp_chat::admit(request)
    }

    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        llamacpp_chat::limit(config, chat, prompt)
    }

    fn document(&self, reply: &Reply<'_>) -> Value {
        llamacpp_chat::document(reply)
    }

    fn events(&self, reply: &Reply<'_>) -> Vec<Event> {
        llamacpp_chat::events(reply)
    }

    /// This server never refuses; a queue limit is something a proxy before it might have.
    fn busy(&self) -> Response {
        refusal(503, "unavailable_error", "server busy")
    }

    fn aborted(&self) -> (Value, bool) {
        let message = "Context size has been exceeded.";
        (
            json!({"error": {"code": 500, "message": message, "type": "server_error"}}),
            false,
        )
    }

    fn early_headers(&self) -> bool {
        false
    }

    fn stream_head(&self, _: &Chat) -> Response {
        Response::empty(200)
            .with("X-Accel-Buffering", "no")
            .with("Content-Type", "text/event-stream")
    }

    fn sign(&self, response: &mut Response, _: &Stamp, _: &Request) {
        for (name, value) in &mut response.headers {
            if name == "content-type" && value == "application/json" {
                value.push_str("; charset=utf-8");
            }
        }
        let first = [("Server", "llama.cpp"), ("Access-Control-Allow-Origin", "")];
        let first = first.map(|(name, value)| (name.to_owned(), value.to_owned()));
        response.headers.splice(0..0, first);
        let (name, value) = if response.status < 400 {
            ("Keep-Alive", "timeout=5, max=100")
        } else {
            ("Connection", "close")
        };
        response.headers.push((name.to_owned(), value.to_owned()));
    }

    fn check_key(&self, key: &str, request: &Request) -> Result<(), Response> {
        let open = ["/health", "/v1/health"].contains(&request.path.as_str());
        let sent = bearer(request).or_else(|| request.header("x-api-key"));
        if open || sent == Some(key) {
            return Ok(());
        }
        let error =
            json!({"message": "Invalid API Key", "type": "authentication_error", "code": 401});
        Err(Response::json(401, &json!({ "error": error })))
    }

    /// Whatever model is asked for, the loaded one answers and says so.
    fn answering<'m>(&self, config: &'m Config, _: &'m str) -> &'m str {
        &config.models[0]
    }
}

fn slots(visit: &Visit<'_>) -> Response {
    let fail = visit.request.param("fail_on_no_slot").is_some();
    if fail && visit.now.slots.iter().all(|slot| slot.processing) {
        return refusal(503, "unavailable_error", "no slot available");
    }
    Response::json(200, &probes::slots(visit.config, visit.now))
}

/// Reads a JSON body, with this server's words where it is none.
pub(super) fn body(request: &Request) -> Result<Value, Response> {
    serde_json::from_slice(&request.body).map_err(|e| {
        let (line, column) = (e.line(), e.column() + 1);
        let message = format!(
            "[json.exception.parse_error.101] parse error at line {line}, column {column}: syntax error while \
             parsing value - unexpected end of input; expected '[', '{{', or a literal"
        );
        refusal(400, "invalid_request_error", &message)
    })
}

fn with_body(request: &Request, answer: impl FnOnce(&Value) -> Value) -> Response {
    body(request).map_or_else(
        |refusal| refusal,
        |body| Response::json(200, &answer(&body)),
    )
}

fn with_messages(request: &Request, answer: impl FnOnce(&Chat) -> Value) -> Response {
    let body = match body(request) {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    if !body["messages"].is_array() && !body["input"].is_string() {
        return refusal(400, "invalid_request_error", "'messages' is required");
    }
    let mut chat = Chat::from_body(&body);
    // The other two request forms have the system text or the user's text elsewhere.
    let message = |role: &str, text: String| crate::chat::Message {
        role: role.into(),
        text,
        ..Default::default()
    };
    if let Some(text) = body["input"].as_str() {
        chat.messages.push(message("user", text.to_owned()));
    }
    if !body["system"].is_null() {
        chat.messages
            .insert(0, message("system", text_of(&body["system"])));
    }
    Response::json(200, &answer(&chat))
}

/// A body in vLLM's form has no `content` and gets an empty list, as recorded.
fn tokenize(body: &Value) -> Value {
    let text = text_of(&body["content"]);
    let ids = tokens::ids(&text);
    if body["with_pieces"] != true {
        return json!({ "tokens": ids });
    }
    let piece = |(id, piece): (u32, &str)| json!({"id": id, "piece": piece});
    let pieces: Vec<Value> = ids
        .into_iter()
        .zip(tokens::pieces(&text))
        .map(piece)
        .collect();
    json!({ "tokens": pieces })
}
