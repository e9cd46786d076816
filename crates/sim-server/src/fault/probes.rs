//! Faults of the probe routes: section R of the bug log.

#![expect(
    clippy::unnecessary_wraps,
    reason = "all have the one signature the table wants"
)]

use serde_json::{Value, json};

use super::Act;
use crate::http::Response;
use crate::kinds::{Visit, error};

fn is(visit: &Visit<'_>, paths: &[&str]) -> bool {
    paths.contains(&visit.request.path.as_str())
}

const HEALTH: [&str; 2] = ["/health", "/v1/health"];
const MODELS: [&str; 3] = ["/v1/models", "/models", "/api/v0/models"];

fn send(response: Response) -> Option<Act> {
    Some(Act::Send(response, true))
}

fn loading_answer() -> Response {
    let body = json!({"message": "Loading model", "type": "unavailable_error", "code": 503});
    Response::json(503, &json!({ "error": body }))
}

pub(super) fn loading(_: &Visit<'_>) -> Option<Act> {
    send(loading_answer())
}

pub(super) fn health_503(visit: &Visit<'_>) -> Option<Act> {
    is(visit, &HEALTH).then(|| Act::Send(loading_answer(), true))
}

pub(super) fn loading_with_200(visit: &Visit<'_>) -> Option<Act> {
    is(visit, &HEALTH).then(|| {
        Act::Send(
            Response::json(200, &json!({"status": "loading model"})),
            true,
        )
    })
}

pub(super) fn chat_503(visit: &Visit<'_>) -> Option<Act> {
    visit
        .request
        .path
        .ends_with("/chat/completions")
        .then(|| Act::Send(loading_answer(), true))
}

pub(super) fn mute(_: &Visit<'_>) -> Option<Act> {
    Some(Act::Silence("mute"))
}

pub(super) fn mute_while_busy(visit: &Visit<'_>) -> Option<Act> {
    (visit.request.method == "GET" && visit.now.running > 0).then_some(Act::Silence("mute"))
}

pub(super) fn html(_: &Visit<'_>) -> Option<Act> {
    let page = "<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><div id=\"root\"></div></body></html>\n";
    Some(Act::Send(
        Response::typed(200, "text/html; charset=utf-8", page),
        false,
    ))
}

pub(super) fn proxy_503(_: &Visit<'_>) -> Option<Act> {
    let page = "<!DOCTYPE html><html><head><title>ERROR: The requested URL could not be retrieved</title></head>\
                <body><p>Connection to 127.0.0.1 failed.</p></body></html>";
    let response = Response::typed(503, "text/html;charset=utf-8", page)
        .with("X-Squid-Error", "ERR_CONNECT_FAIL 111")
        .with("Via", "1.1 proxy (squid/5.7)");
    Some(Act::Send(response, false))
}

pub(super) fn bad_gateway(_: &Visit<'_>) -> Option<Act> {
    let page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1>\
                </center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n";
    Some(Act::Send(
        Response::typed(502, "text/html", page).with("Server", "nginx"),
        false,
    ))
}

pub(super) fn key_rejected(visit: &Visit<'_>) -> Option<Act> {
    if is(visit, &HEALTH) {
        return None;
    }
    let body = json!({"message": "Invalid API Key", "type": "authentication_error", "code": 401});
    send(Response::json(401, &json!({ "error": body })))
}

pub(super) fn forbidden(visit: &Visit<'_>) -> Option<Act> {
    if is(visit, &HEALTH) {
        None
    } else {
        send(error(403, "permission_error", "Forbidden", None))
    }
}

pub(super) fn redirect(visit: &Visit<'_>) -> Option<Act> {
    let moved = visit.request.path.strip_prefix("/moved");
    // The target itself answers, so that a client that follows arrives.
    if moved.is_some() || visit.request.param("moved").is_some() {
        return None;
    }
    let target = format!("{}?moved=1", visit.request.path);
    Some(Act::Send(
        Response::empty(307).with("location", target),
        false,
    ))
}

pub(super) fn redirect_away(_: &Visit<'_>) -> Option<Act> {
    let target = "https://login.example.invalid/sso?next=%2Fv1";
    Some(Act::Send(
        Response::empty(302).with("location", target),
        false,
    ))
}

pub(super) fn slots_404(visit: &Visit<'_>) -> Option<Act> {
    is(visit, &["/slots"]).then(|| {
        let body = json!({"message": "File Not Found", "type": "not_found_error", "code": 404});
        Act::Send(Response::json(404, &json!({ "error": body })), true)
    })
}

pub(super) fn slots_501(visit: &Visit<'_>) -> Option<Act> {
    is(visit, &["/slots"]).then(|| Act::Send(disabled("slots"), true))
}

pub(super) fn metrics_501(visit: &Visit<'_>) -> Option<Act> {
    is(visit, &["/metrics"]).then(|| Act::Send(disabled("metrics"), true))
}

fn disabled(what: &str) -> Response {
    let message = format!("This server does not support {what} endpoint. Start it with `--{what}`");
    Response::json(
        501,
        &json!({"error": {"code": 501, "message": message, "type": "not_supported_error"}}),
    )
}

pub(super) fn close_probes(visit: &Visit<'_>) -> Option<Act> {
    (visit.request.method == "GET").then_some(Act::Close)
}

/// Changes the JSON of a response on some paths.
fn edit(
    visit: &Visit<'_>,
    response: &mut Response,
    paths: &[&str],
    change: impl FnOnce(&mut Value),
) {
    if !is(visit, paths) {
        return;
    }
    if let Ok(mut body) = serde_json::from_slice::<Value>(&response.body) {
        change(&mut body);
        response.body = body.to_string().into_bytes();
    }
}

/// Changes every entry of the model list.
fn each_model(visit: &Visit<'_>, response: &mut Response, mut change: impl FnMut(&mut Value)) {
    edit(visit, response, &MODELS, |body| {
        if let Some(entries) = body["data"].as_array_mut() {
            entries.iter_mut().for_each(&mut change);
        }
    });
}

pub(super) fn no_models(visit: &Visit<'_>, response: &mut Response) {
    edit(visit, response, &MODELS, |body| body["data"] = json!([]));
}

pub(super) fn meta_null(visit: &Visit<'_>, response: &mut Response) {
    each_model(visit, response, |entry| entry["meta"] = Value::Null);
    if is(visit, &HEALTH) {
        *response = loading_answer();
    }
}

pub(super) fn sleeping(visit: &Visit<'_>, response: &mut Response) {
    edit(visit, response, &["/props", "/is_sleeping"], |body| {
        body["is_sleeping"] = json!(true);
    });
    if is(visit, &["/metrics"]) {
        let text = String::from_utf8_lossy(&response.body)
            .replace("sleep_state=\"awake\"} 1.0", "sleep_state=\"awake\"} 0.0")
            .replace(
                "sleep_state=\"weights_offloaded\"} 0.0",
                "sleep_state=\"weights_offloaded\"} 1.0",
            );
        response.body = text.into_bytes();
    }
}

pub(super) fn id_is_path(visit: &Visit<'_>, response: &mut Response) {
    each_model(visit, response, |entry| {
        entry["id"] = json!(format!(
            "/models/{}.gguf",
            entry["id"].as_str().unwrap_or_default()
        ));
    });
}

pub(super) fn metadata_context(visit: &Visit<'_>, response: &mut Response) {
    each_model(visit, response, |entry| {
        let served = visit.config.context;
        if let Some(entry) = entry.as_object_mut() {
            entry.shift_remove("max_model_len");
            entry.shift_remove("meta");
        }
        entry["context_length"] = json!(served * 16);
        entry["metadata"] = json!({ "context_length": served });
    });
}

pub(super) fn context_zero(visit: &Visit<'_>, response: &mut Response) {
    each_model(visit, response, |entry| {
        for key in [
            "max_model_len",
            "context_length",
            "max_context_length",
            "loaded_context_length",
        ] {
            if !entry[key].is_null() {
                entry[key] = json!(0);
            }
        }
        if entry["meta"].is_object() {
            entry["meta"]["n_ctx"] = json!(0);
        }
    });
    edit(visit, response, &["/props"], |body| {
        body["default_generation_settings"]["n_ctx"] = json!(0);
    });
}

pub(super) fn no_context(visit: &Visit<'_>, response: &mut Response) {
    each_model(visit, response, |entry| {
        if let Some(entry) = entry.as_object_mut() {
            for key in [
                "max_model_len",
                "context_length",
                "max_context_length",
                "meta",
            ] {
                entry.shift_remove(key);
            }
        }
    });
}

pub(super) fn lora(visit: &Visit<'_>, response: &mut Response) {
    edit(visit, response, &MODELS, |body| {
        let base = body["data"][0].clone();
        let mut entry = base.clone();
        entry["id"] = json!("lora_1");
        entry["parent"] = base["id"].clone();
        entry["max_model_len"] = Value::Null;
        if let Some(entries) = body["data"].as_array_mut() {
            entries.push(entry);
        }
    });
}

pub(super) fn not_listed(visit: &Visit<'_>, response: &mut Response) {
    each_model(visit, response, |entry| {
        entry["id"] = json!("some-other-model");
    });
}

pub(super) fn embedding_listed(visit: &Visit<'_>, response: &mut Response) {
    edit(visit, response, &MODELS, |body| {
        if let Some(entries) = body["data"].as_array_mut() {
            entries.insert(
                0,
                json!({"id": "text-embedding-nomic", "object": "model", "type": "embeddings",
                                     "state": "loaded", "max_context_length": 2048}),
            );
        }
    });
}

pub(super) fn none_loaded(visit: &Visit<'_>, response: &mut Response) {
    each_model(visit, response, |entry| {
        if entry["state"].is_string() {
            entry["state"] = json!("not-loaded");
        }
        if let Some(entry) = entry.as_object_mut() {
            entry.shift_remove("loaded_context_length");
        }
    });
    edit(visit, response, &["/api/v1/models"], |body| {
        for entry in body["models"].as_array_mut().into_iter().flatten() {
            entry["loaded_instances"] = json!([]);
        }
    });
}

pub(super) fn old_slots(visit: &Visit<'_>, response: &mut Response) {
    edit(visit, response, &["/slots"], |body| {
        for slot in body.as_array_mut().into_iter().flatten() {
            let busy = slot["is_processing"] == true;
            if let Some(slot) = slot.as_object_mut() {
                slot.shift_remove("is_processing");
                slot.insert("state".to_owned(), json!(u8::from(busy)));
            }
        }
    });
}

pub(super) fn props_total(visit: &Visit<'_>, response: &mut Response) {
    let total = visit.config.context * visit.config.slots as u64;
    edit(visit, response, &["/props"], |body| {
        body["default_generation_settings"]["n_ctx"] = json!(total);
    });
}

pub(super) fn kv_old_name(visit: &Visit<'_>, response: &mut Response) {
    if is(visit, &["/metrics"]) {
        let text = String::from_utf8_lossy(&response.body)
            .replace("kv_cache_usage_perc", "gpu_cache_usage_perc");
        response.body = text.into_bytes();
    }
}

pub(super) fn list_fails(visit: &Visit<'_>, response: &mut Response) {
    if is(visit, &MODELS) {
        *response = error(500, "InternalServerError", "Internal Server Error", None);
    }
}

pub(super) fn list_cut(visit: &Visit<'_>, response: &mut Response) {
    if is(visit, &MODELS) {
        response.body.truncate(response.body.len() / 2);
    }
}
