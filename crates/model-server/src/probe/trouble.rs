//! What stands between us and a judgement: no answer, no key, no API.

use baton_protocol::{ProviderError, ServerKind, ServerState};

use super::answers::{Answers, Reply, is_silence};
use super::kinds;
use crate::errors::{CallError, Clock, ErrorClass, head};

/// A state that needs no further reading of the answers.
pub(crate) struct Trouble {
    pub(crate) state: ServerState,
    pub(crate) kind: &'static str,
    pub(crate) message: String,
}

impl Trouble {
    fn new(state: ServerState, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            state,
            kind,
            message: message.into(),
        }
    }
}

/// Finds what makes reading on useless, if anything does.
///
/// `list` is the address of the model list, as it is named in messages.
pub(crate) fn trouble(answers: &Answers, kind: Option<ServerKind>, list: &str) -> Option<Trouble> {
    no_reply(answers)
        .or_else(|| gateway(answers))
        .or_else(|| key(answers))
        .or_else(|| slow_down(answers))
        .or_else(|| no_api(answers, kind, list))
}

/// Not one route gave a reply.
fn no_reply(answers: &Answers) -> Option<Trouble> {
    let mut errors: Vec<&CallError> = Vec::new();
    for (_, answer) in answers.iter() {
        match &answer.result {
            Ok(_) => return None,
            Err(error) => errors.push(error),
        }
    }
    let first = *errors.first()?;
    if let Some(silent) = errors.iter().find(|e| is_silence(e)) {
        return Some(Trouble::new(
            ServerState::Unknown,
            "timed_out",
            format!(
                "it accepts connections and does not answer: it reads a long prompt, or hangs ({})",
                silent.message
            ),
        ));
    }
    let (state, kind) = match &first.class {
        ErrorClass::Refused => (ServerState::Unreachable, "refused"),
        ErrorClass::NoSuchHost => (ServerState::Unreachable, "dns"),
        ErrorClass::Tls => (ServerState::Unreachable, "tls"),
        ErrorClass::TimedOut(Clock::Connect) => (ServerState::Unreachable, "timed_out"),
        ErrorClass::NotApi if first.message.contains("proxy") => {
            (ServerState::Unreachable, "proxy")
        }
        ErrorClass::NotApi => (ServerState::WrongApi, "not_http"),
        ErrorClass::Cut => (ServerState::Unknown, "closed"),
        ErrorClass::Deterministic => (ServerState::Unknown, "local"),
        _ => (ServerState::Unknown, "no_answer"),
    };
    Some(Trouble::new(state, kind, first.message.clone()))
}

/// A gateway or proxy says that the server behind it is not there. The two routes that decide count:
/// a gateway that passes only some paths on has a 404 of its own for the others.
fn gateway(answers: &Answers) -> Option<Trouble> {
    let decisive: Vec<(&str, &Reply)> = ["/health", "/v1/models"]
        .into_iter()
        .filter_map(|route| Some((route, answers.reply(route)?)))
        .collect();
    if !decisive.iter().all(|(_, reply)| is_gateway(reply)) {
        return None;
    }
    let (route, reply) = decisive.first()?;
    let proxy = if reply.proxy.is_empty() {
        "a gateway".to_owned()
    } else {
        format!("a proxy ({})", reply.proxy)
    };
    let page = head(&reply.text());
    let page = if page.is_empty() {
        String::new()
    } else {
        format!("; its answer begins: {page}")
    };
    Some(Trouble::new(
        ServerState::Unreachable,
        "gateway",
        format!(
            "{proxy} answers {} for {route} in place of the server, which is down or not up yet: \
             check the server and the proxy settings (NO_PROXY){page}",
            reply.status,
        ),
    ))
}

/// Whether this comes from something in front of the server: no model server answers 502 or 504,
/// nor what a content network adds to them; a 503 may be the server's own.
fn is_gateway(reply: &Reply) -> bool {
    match reply.status {
        502 | 504 | 520..=526 => true,
        503 => {
            let text = reply.text().to_lowercase();
            reply.is_html()
                || !reply.proxy.is_empty()
                || ["upstream", "no available server", "no healthy"]
                    .iter()
                    .any(|words| text.contains(words))
        }
        _ => false,
    }
}

/// Routes that want the same key as chat, the one that counts most first. `/metrics` may have a
/// guard of its own.
const GUARDED: [&str; 5] = ["/v1/models", "/props", "/slots", "/api/hardware", "/api/ps"];

/// Something in front, or the server itself, counts requests and had enough of ours.
fn slow_down(answers: &Answers) -> Option<Trouble> {
    let reply = answers.reply("/v1/models").filter(|r| r.status == 429)?;
    // A health route that answers well is worth more.
    if answers
        .status("/health")
        .is_some_and(|status| status != 429)
    {
        return None;
    }
    Some(Trouble::new(
        ServerState::Unknown,
        "rate_limited",
        format!(
            "it asks for fewer requests (429); ask again later; its answer begins: {}",
            head(&reply.text())
        ),
    ))
}

fn key(answers: &Answers) -> Option<Trouble> {
    let (route, reply) = GUARDED.iter().find_map(|guarded| {
        replies(answers).find(|(route, reply)| {
            let path = route.split('?').next().unwrap_or(route);
            matches!(reply.status, 401 | 403) && path == *guarded
        })
    })?;
    let page = if reply.is_html() {
        format!(
            "; a login page stands in front of it: {}",
            head(&reply.text())
        )
    } else {
        String::new()
    };
    Some(Trouble::new(
        ServerState::Rejected,
        "key",
        format!(
            "it is up and rejects the key ({route} says {}): set api_key_env, or \
             OPENCODE_VLLM_API_KEY{page}",
            reply.status
        ),
    ))
}

/// Something answers, but it has no model list of any kind.
fn no_api(answers: &Answers, kind: Option<ServerKind>, list: &str) -> Option<Trouble> {
    let wrong = |kind, message: String| Some(Trouble::new(ServerState::WrongApi, kind, message));
    if matches!(kinds::health(answers), kinds::Health::Loading(_)) {
        return None;
    }
    let reply = answers.reply("/v1/models")?;
    if (300..400).contains(&reply.status) {
        let to = &reply.location;
        let message = if to.is_empty() {
            format!(
                "GET {list} answers {} and names no other address; check the base URL",
                reply.status
            )
        } else if to.starts_with('/') {
            format!("GET {list} redirects to {to}, again and again; check the base URL")
        } else {
            format!("GET {list} redirects to {to}, another host or address; set the base URL to it")
        };
        return wrong("redirect", message);
    }
    if kind.is_some_and(|kind| kind != ServerKind::OpenAi) && reply.status != 200 {
        return None;
    }
    if reply.is_html() {
        return wrong(
            "html",
            format!(
                "not an API: GET {list} gives a web page ({}); check the base URL and the \
                 proxy; it begins: {}",
                reply.status,
                head(&reply.text())
            ),
        );
    }
    match reply.status {
        200 => {
            let body = reply.json();
            let begins = match head(&reply.text()) {
                empty if empty.is_empty() => "its answer is empty".to_owned(),
                words => format!("it begins: {words}"),
            };
            if body
                .as_ref()
                .is_some_and(|b| super::list::entries(b).is_some())
            {
                return None;
            }
            wrong(
                if body.is_some() {
                    "no_list"
                } else {
                    "not_json"
                },
                format!(
                    "not an OpenAI-like API: GET {list} gives no model list; check the base \
                     URL; {begins}"
                ),
            )
        }
        404 | 405 | 410 => wrong(
            "http",
            format!(
                "GET {list} answers {}: check the base URL; it begins: {}",
                reply.status,
                head(&reply.text())
            ),
        ),
        _ => None,
    }
}

/// A failed list request is an error that is shown, not an empty list.
pub(crate) fn list_error(answers: &Answers, kind: ServerKind) -> Option<ProviderError> {
    let other_list = match kind {
        ServerKind::Ollama => answers.status("/api/tags") == Some(200),
        ServerKind::LmStudio => {
            answers.status("/api/v0/models") == Some(200)
                || answers.status("/api/v1/models") == Some(200)
        }
        _ => false,
    };
    if other_list {
        return None;
    }
    let error = |kind: &str, message: String| {
        Some(ProviderError {
            kind: kind.to_owned(),
            message,
        })
    };
    match &answers.get("/v1/models")?.result {
        Ok(reply) if reply.status == 200 => None,
        Ok(reply) => error(
            "http",
            format!(
                "the model list could not be read: GET /v1/models answers {}: {}",
                reply.status,
                head(&reply.text())
            ),
        ),
        Err(e) => error(
            "no_answer",
            format!("the model list could not be read: {}", e.message),
        ),
    }
}

fn replies(answers: &Answers) -> impl Iterator<Item = (&str, &Reply)> {
    answers
        .iter()
        .filter_map(|(route, answer)| Some((route, answer.result.as_ref().ok()?)))
}
