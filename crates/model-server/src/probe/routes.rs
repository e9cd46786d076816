//! Which routes to ask, and when. Nothing here may wake a sleeping model or load one.

use baton_protocol::ServerKind;

use super::answers::Answers;
use super::kinds;
use super::list;

/// Asked of every server first.
pub(crate) const FIRST: [&str; 2] = ["/health", "/v1/models"];

/// Asked when the first answers do not tell the kind.
const SNIFF: [&str; 9] = [
    "/version",
    "/props",
    "/metrics",
    "/",
    "/api/ps",
    "/api/v0/models",
    "/running",
    "/info",
    "/health/readiness",
];

/// Children of a router, or models of llama-swap, that are asked one by one.
const MOST_CHILDREN: usize = 8;

/// What to ask next, by what is known. Routes that were asked already are left out.
pub(crate) fn next(kind: Option<ServerKind>, answers: &Answers) -> Vec<String> {
    let wanted: Vec<String> = match kind {
        None => owned(&SNIFF),
        Some(ServerKind::Vllm) => owned(&["/version", "/metrics", "/load"]),
        Some(ServerKind::LlamaCpp) => llama(answers),
        Some(ServerKind::LlamaCppRouter) => router(answers),
        Some(ServerKind::Ollama) => owned(&["/api/version", "/api/ps", "/api/tags"]),
        Some(ServerKind::LmStudio) => owned(&["/api/v1/models", "/api/v0/models"]),
        Some(ServerKind::SgLang) => sglang(answers),
        Some(ServerKind::Tgi) => owned(&["/info", "/metrics"]),
        Some(ServerKind::LlamaSwap) => swap(answers),
        Some(ServerKind::Skein) => owned(&["/api/hardware", "/api/fit"]),
        Some(ServerKind::LiteLlm) => owned(&["/health/readiness", "/model/info"]),
        Some(ServerKind::OpenAi | ServerKind::Unknown) => Vec::new(),
    };
    wanted
        .into_iter()
        .filter(|route| answers.get(route).is_none())
        .collect()
}

/// What to ask again for another sample: only what changes from moment to moment.
pub(crate) fn again(answers: &Answers) -> Vec<String> {
    let moving = [
        "/health",
        "/metrics",
        "/load",
        "/slots",
        "/get_load",
        "/loads",
        "/api/hardware",
    ];
    answers
        .iter()
        .map(|(route, _)| route)
        .filter(|route| {
            let path = route.split('?').next().unwrap_or(route);
            moving.iter().any(|m| path.ends_with(m))
        })
        .map(ToOwned::to_owned)
        .collect()
}

/// Whether a route of such a server tells nothing but how busy it is. (vLLM's metrics tell the size
/// of its cache too, and so what one request may use.)
pub(crate) fn only_load(kind: Option<ServerKind>, route: &str) -> bool {
    match kind {
        Some(ServerKind::Vllm) => route == "/load",
        Some(ServerKind::LlamaCpp) => matches!(route, "/slots" | "/metrics"),
        Some(ServerKind::SgLang) => matches!(route, "/get_load" | "/metrics"),
        Some(ServerKind::Tgi) => route == "/metrics",
        _ => false,
    }
}

fn owned(routes: &[&str]) -> Vec<String> {
    routes.iter().map(|route| (*route).to_owned()).collect()
}

/// Newer versions have the routes without `get_`, and drop the old names.
fn sglang(answers: &Answers) -> Vec<String> {
    let mut routes = owned(&["/get_server_info", "/get_load", "/metrics"]);
    let is_gone = |route: &str| answers.status(route).is_some_and(|status| status != 200);
    if is_gone("/get_server_info") {
        routes.push("/server_info".to_owned());
    }
    if is_gone("/get_load") {
        routes.push("/v1/loads".to_owned());
    }
    routes
}

/// `/slots` wakes a server that sleeps, so `/props` is asked first.
fn llama(answers: &Answers) -> Vec<String> {
    let Some(props) = answers.get("/props") else {
        return owned(&["/props", "/metrics"]);
    };
    let asleep = answers
        .json("/props")
        .and_then(|p| p.get("is_sleeping")?.as_bool());
    let told = props.result.is_ok();
    // A build that does not tell whether it sleeps cannot sleep.
    if told && asleep != Some(true) {
        owned(&["/slots"])
    } else {
        Vec::new()
    }
}

fn router(answers: &Answers) -> Vec<String> {
    let mut routes = owned(&["/props"]);
    let body = answers.json("/v1/models").unwrap_or_default();
    for model in kinds::loaded_children(&body).iter().take(MOST_CHILDREN) {
        for route in ["/slots", "/metrics"] {
            routes.push(kinds::child_route(route, model));
        }
    }
    routes
}

fn swap(answers: &Answers) -> Vec<String> {
    let Some(body) = answers.json("/running") else {
        return owned(&["/running"]);
    };
    let listed = answers.json("/v1/models").unwrap_or_default();
    let models = list::models(&listed);
    kinds::running(&body)
        .into_iter()
        .filter(|(id, state)| state == "ready" && list::find(&models, id).is_some())
        .take(MOST_CHILDREN)
        .flat_map(|(id, _)| ["/props", "/slots"].map(|route| kinds::upstream(&id, route)))
        .collect()
}
