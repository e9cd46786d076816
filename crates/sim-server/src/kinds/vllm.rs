//! vLLM 0.32: the routes beside the chat, as recorded from a real server.

use serde_json::{Value, json};

use super::{
    Event, Reply, Route, Server, Stamp, Visit, bearer, error, openai, vllm_chat, vllm_metrics,
};
use crate::chat::Chat;
use crate::config::Config;
use crate::engine::Rules;
use crate::http::{Request, Response};
use crate::{template, tokens};

/// Tokens in a KV block, as on a GPU.
const BLOCK: u64 = 16;
const VERSION: &str = "0.32.0";

/// The routes and the methods they take.
const ROUTES: [(&str, &str); 10] = [
    ("/health", "GET"),
    ("/ping", "GET, POST"),
    ("/version", "GET"),
    ("/load", "GET"),
    ("/metrics", "GET"),
    ("/v1/models", "GET"),
    ("/tokenize", "POST"),
    ("/v1/messages/count_tokens", "POST"),
    ("/is_sleeping", "GET"),
    ("/v1/chat/completions", "POST"),
];

/// The kind itself.
pub(super) struct Vllm;

impl Server for Vllm {
    fn rules(&self, config: &Config) -> Rules {
        Rules {
            block: BLOCK,
            own_prefix: false,
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
        let Some((_, allowed)) = ROUTES.iter().find(|(path, _)| *path == request.path) else {
            return Route::Now(Response::json(404, &json!({"detail": "Not Found"})));
        };
        if !allowed.split(", ").any(|method| method == request.method) {
            let refusal = Response::json(405, &json!({"detail": "Method Not Allowed"}));
            return Route::Now(refusal.with("allow", *allowed));
        }
        let load = if config.load_tracking {
            now.running + now.waiting
        } else {
            0
        };
        Route::Now(match request.path.as_str() {
            "/health" | "/ping" => Response::empty(200),
            "/version" => Response::json(200, &json!({ "version": VERSION })),
            "/load" => Response::json(200, &json!({ "server_load": load })),
            "/is_sleeping" => Response::json(200, &json!({"is_sleeping": false})),
            "/metrics" => Response::typed(
                200,
                "text/plain; version=1.0.0; charset=utf-8",
                vllm_metrics::render(config, now, BLOCK),
            ),
            "/v1/models" => Response::json(200, &models(config, stamp)),
            "/tokenize" => tokenize(config, request),
            "/v1/messages/count_tokens" => count(request),
            _ => return Route::Chat,
        })
    }

    fn admit(&self, config: &Config, request: &Request) -> Result<Chat, Response> {
        vllm_chat::admit(config, request)
    }

    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        vllm_chat::limit(config, chat, prompt)
    }

    fn document(&self, reply: &Reply<'_>) -> Value {
        vllm_chat::document(reply)
    }

    fn events(&self, reply: &Reply<'_>) -> Vec<Event> {
        vllm_chat::events(reply)
    }

    fn busy(&self) -> Response {
        let message = "The engine is currently busy and cannot accept new requests. Please try again \
                       later or on a different instance.";
        error(503, "Service Unavailable", message, None)
    }

    fn aborted(&self) -> (Value, bool) {
        let message =
            "EngineCore encountered an issue. See stack trace (above) for the root cause.";
        let error =
            json!({"message": message, "type": "InternalServerError", "param": null, "code": 500});
        (json!({ "error": error }), true)
    }

    fn early_headers(&self) -> bool {
        true
    }

    fn stream_head(&self, _: &Chat) -> Response {
        Response::empty(200).with("content-type", "text/event-stream; charset=utf-8")
    }

    fn sign(&self, response: &mut Response, stamp: &Stamp, request: &Request) {
        let mut add =
            |name: &str, value: &str| response.headers.push((name.to_owned(), value.to_owned()));
        add("server", "uvicorn");
        if response.status != 401 {
            add("vary", "Origin");
        }
        add(
            "x-request-id",
            request.header("x-request-id").unwrap_or(&stamp.id),
        );
    }

    fn check_key(&self, key: &str, request: &Request) -> Result<(), Response> {
        // Only the API routes are guarded; probes and /tokenize are open.
        if !request.path.starts_with("/v1") || bearer(request) == Some(key) {
            return Ok(());
        }
        Err(Response::json(401, &json!({"error": "Unauthorized"})))
    }
}

fn models(config: &Config, stamp: &Stamp) -> Value {
    let entry = |model: &String| {
        json!({
            "id": model, "object": "model", "created": stamp.created, "owned_by": "vllm",
            "root": config.models[0], "parent": null, "max_model_len": config.context,
            "permission": [{
                "id": format!("modelperm-{}", stamp.id), "object": "model_permission",
                "created": stamp.created, "allow_create_engine": false, "allow_sampling": true,
                "allow_logprobs": true, "allow_search_indices": false, "allow_view": true,
                "allow_fine_tuning": false, "organization": "*", "group": null, "is_blocking": false,
            }],
        })
    };
    json!({"object": "list", "data": config.models.iter().map(entry).collect::<Vec<_>>()})
}

/// Reads a JSON body, with vLLM's own words where it is none.
pub(super) fn body(request: &Request) -> Result<Value, Response> {
    let is_json = request
        .header("content-type")
        .is_none_or(|v| v.starts_with("application/json"));
    if !is_json {
        let message =
            "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed";
        return Err(error(400, "Bad Request", message, None));
    }
    if request.body.is_empty() {
        return Err(invalid("missing", "body", "Field required", "None"));
    }
    serde_json::from_slice(&request.body).map_err(|e| {
        let place = format!("body.{}", e.column());
        invalid(
            "json_invalid",
            &place,
            "JSON decode error",
            "<dict of 0 items>",
        )
    })
}

/// A validation error of the request model.
pub(super) fn invalid(kind: &str, place: &str, message: &str, input: &str) -> Response {
    let input = if input.starts_with('<') {
        input.to_owned()
    } else {
        format!("'{input}'")
    };
    let text = format!(
        "1 validation error:\n  {{'type': '{kind}', 'loc': '{place}', 'msg': '{message}', 'input': {input}}}"
    );
    error(400, "Bad Request", &text, Some(place))
}

/// Refuses a model name that is not served; a missing one means the only model.
pub(super) fn known_model(config: &Config, body: &Value) -> Result<(), Response> {
    let Some(model) = body["model"].as_str() else {
        return Ok(());
    };
    if config.models.iter().any(|known| known == model) {
        return Ok(());
    }
    let message = format!(
        "The model `{model}` does not exist. Valid aliases: {}.",
        config.models.join(", ")
    );
    Err(error(404, "NotFoundError", &message, Some("model")))
}

fn tokenize(config: &Config, request: &Request) -> Response {
    tokenized(config, request).unwrap_or_else(|refusal| refusal)
}

fn tokenized(config: &Config, request: &Request) -> Result<Response, Response> {
    let body = body(request)?;
    known_model(config, &body)?;
    let text = if let Some(prompt) = body["prompt"].as_str() {
        prompt.to_owned()
    } else if body["messages"].is_array() {
        let generation = body["add_generation_prompt"].as_bool().unwrap_or(true);
        if generation && body["continue_final_message"] == true {
            let both =
                "Cannot set both `continue_final_message` and `add_generation_prompt` to True.";
            return Err(error(400, "BadRequestError", both, None));
        }
        let chat = Chat::from_body(&body);
        template::render(&chat.messages, &chat.tools, generation)
    } else {
        let size = body.as_object().map_or(0, serde_json::Map::len);
        let line = |place: &str| {
            format!(
                "  {{'type': 'missing', 'loc': '{place}', 'msg': 'Field required', 'input': '<dict of {size} items>'}}"
            )
        };
        let text = format!(
            "2 validation errors:\n{}\n{}",
            line("body.prompt"),
            line("body.messages")
        );
        return Err(error(400, "Bad Request", &text, Some("body.prompt")));
    };
    let ids = tokens::ids(&text);
    let strings = (body["return_token_strs"] == true).then(|| tokens::pieces(&text));
    Ok(Response::json(
        200,
        &json!({"count": ids.len(), "max_model_len": config.context, "tokens": ids, "token_strs": strings}),
    ))
}

fn count(request: &Request) -> Response {
    match body(request) {
        Ok(body) => {
            let chat = Chat::from_body(&body);
            let count = tokens::count(&chat.prompt());
            let body = json!({"input_tokens": count, "context_management": {"original_input_tokens": count}});
            Response::json(200, &body)
        }
        Err(refusal) => refusal,
    }
}
