//! The `/sim/…` routes by which a test looks at the simulator and steers it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::engine::{Freeze, Snapshot};
use crate::fault::Active;
use crate::http::{Request, Response};
use crate::script::{Model, Script, ScriptError};
use crate::world::{World, lock};

/// The longest a client may wait for a state.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Answers a control request.
pub(crate) fn answer(world: &World, request: &Request) -> Response {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/sim/requests") => requests(world, request),
        ("DELETE", "/sim/requests") => {
            world.forget();
            Response::empty(204)
        }
        ("GET", "/sim/state") => Response::json(200, &state(&world.engine.snapshot())),
        ("GET", "/sim/wait") => wait(world, request),
        ("POST", "/sim/release") => release(world, request),
        ("GET", "/sim/faults") => {
            Response::json(200, &json!({"active": lock(&world.faults).list()}))
        }
        ("POST", "/sim/faults") => faults(world, request),
        ("DELETE", "/sim/faults") => {
            lock(&world.faults).switch_off(request.param("fault").as_deref());
            world.engine.freeze(Freeze::No);
            Response::empty(204)
        }
        ("POST", "/sim/script") => script(world, request),
        _ => wrong(404, ROUTES),
    }
}

const ROUTES: &str = "there are GET and DELETE /sim/requests, GET, POST and DELETE /sim/faults, \
                      GET /sim/state, GET /sim/wait, POST /sim/release and POST /sim/script";

fn wrong(status: u16, message: &str) -> Response {
    Response::json(status, &json!({ "error": message }))
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap_or_default()
}

/// All requests, or those of `?path=…` (a part of it is enough).
fn requests(world: &World, request: &Request) -> Response {
    let wanted = request.param("path").unwrap_or_default();
    let records: Vec<_> = world
        .records()
        .into_iter()
        .filter(|record| record.path.contains(&wanted))
        .collect();
    Response::json(200, &json!({ "requests": records }))
}

fn state(now: &Snapshot) -> Value {
    json!({
        "running": now.running, "waiting": now.waiting, "held": now.held, "frozen": now.frozen,
        "resident": now.resident, "loading": now.loading,
        "slots": now.slots.len(), "pool_used": now.pool_used, "generated": now.totals.generated,
    })
}

/// `GET /sim/wait?running=2&waiting=1&held=0&loading=1&timeout_ms=5000`: returns once all of it holds.
fn wait(world: &World, request: &Request) -> Response {
    let number = |name: &str| {
        request
            .param(name)
            .and_then(|text| text.parse::<u64>().ok())
    };
    let limit = Duration::from_millis(number("timeout_ms").unwrap_or(5000)).min(LONGEST_WAIT);
    let wanted = ["running", "waiting", "held", "loading"].map(number);
    let reached = world.engine.wait_until(limit, |now| {
        let is = [
            now.running as u64,
            now.waiting as u64,
            now.held,
            u64::from(now.loading.is_some()),
        ];
        wanted
            .iter()
            .zip(is)
            .all(|(wanted, is)| wanted.is_none_or(|wanted| wanted == is))
    });
    Response::json(
        if reached { 200 } else { 408 },
        &state(&world.engine.snapshot()),
    )
}

fn release(world: &World, request: &Request) -> Response {
    match body(request)["gate"].as_str() {
        Some(gate) => {
            world.engine.release(gate);
            Response::empty(204)
        }
        None => wrong(400, "say which gate: {\"gate\": \"name\"}"),
    }
}

/// Switches on one fault, or each of a list: `{"fault": "name", "at": "2..4", "times": 1}`.
fn faults(world: &World, request: &Request) -> Response {
    let body = body(request);
    let wanted = body.as_array().cloned().unwrap_or_else(|| vec![body]);
    let active: Result<Vec<Active>, String> = wanted.iter().map(Active::from_json).collect();
    match active {
        Ok(active) => {
            let mut board = lock(&world.faults);
            for active in active {
                board.switch_on(active);
            }
            Response::empty(204)
        }
        Err(message) => wrong(400, &message),
    }
}

fn script(world: &World, request: &Request) -> Response {
    let text = String::from_utf8_lossy(&request.body);
    let no_files = |path: &str| {
        let message = "a script sent over HTTP cannot name files".to_owned();
        Err(ScriptError::Rule {
            rule: path.to_owned(),
            problem: message,
        })
    };
    match Script::parse(&text, "of the request", &no_files) {
        Ok(script) => {
            *lock(&world.model) = Model::new(script);
            Response::empty(204)
        }
        Err(error) => wrong(400, &error.to_string()),
    }
}
