//! What `/health` says, shared by the kinds that answer it in the usual way.

use serde_json::Value;

use super::super::answers::Answers;
use super::super::finding::Readiness;

/// What `/health` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    Ok,
    Loading(String),
    Down(u16),
    /// A body that says that all is not well.
    Unwell(String),
    /// Something that tells neither, in words.
    Open(String),
    Mute,
    /// There is no such route.
    Unknown,
}

/// Words by which servers say that they are on their way.
const STARTING: [&str; 9] = [
    "starting",
    "initializ",
    "initialis",
    "warming",
    "warmup",
    "warm-up",
    "not ready",
    "not_ready",
    "pending",
];

/// Words by which servers say that all is not well.
const UNWELL: [&str; 9] = [
    "unhealthy",
    "error",
    "fail",
    "down",
    "dead",
    "unavailable",
    "draining",
    "stopping",
    "terminating",
];

/// Words by which servers say that some of it works, without saying what.
const IN_PART: [&str; 2] = ["degraded", "partial"];

/// The longest text without JSON that is taken for a word about the state.
const LONGEST_WORD: usize = 60;

impl Health {
    /// What this means where the kind adds nothing: none for a good or a bad status, which each kind
    /// reads in its own way.
    pub(crate) fn settled(&self) -> Option<Readiness> {
        match self {
            Self::Ok | Self::Down(_) => None,
            Self::Loading(words) => Some(Readiness::Loading(words.clone())),
            Self::Unwell(said) => Some(Readiness::Failed(format!("/health says: {said}"))),
            Self::Open(words) => Some(Readiness::Unknown(format!("{words}; --probe settles it"))),
            Self::Mute => Some(Readiness::Unknown(
                "/health does not answer, other routes do".to_owned(),
            )),
            Self::Unknown => Some(Readiness::Unknown(
                "there is no health route, other routes answer; --probe settles it".to_owned(),
            )),
        }
    }
}

/// Reads `/health`. A body that says "loading" counts more than a status of 200.
pub(crate) fn health(answers: &Answers) -> Health {
    if answers.is_mute("/health") {
        return Health::Mute;
    }
    let Some(reply) = answers.reply("/health") else {
        return Health::Unknown;
    };
    let text = reply.text();
    let lower = text.to_lowercase();
    if lower.contains("loading") {
        let words = reply
            .json()
            .map(|body| crate::errors::message_of(body.get("error").unwrap_or(&body)))
            .filter(|words| !words.is_empty())
            .unwrap_or(text);
        let said = crate::errors::head(&words);
        return Health::Loading(format!("the model is being loaded (/health says: {said})"));
    }
    // llama.cpp before 2025: ready, and every slot is at work.
    if lower.contains("no slot available") {
        return Health::Ok;
    }
    let told = || match reply.json() {
        Some(Value::String(word)) => word_of(&word, &word),
        Some(body) => told(&body),
        None if text.len() <= LONGEST_WORD => word_of(&text, &text),
        None => None,
    };
    match reply.status {
        200..=299 if lower.contains("unexpected endpoint") => Health::Unknown,
        200..=299 if reply.is_html() => {
            Health::Open("/health gives a web page, other routes answer".to_owned())
        }
        200..=299 => told().unwrap_or(Health::Ok),
        // Only a clear word about its own state outweighs what the kind makes of the status.
        503 => match reply.json().as_ref().and_then(self::told) {
            Some(unwell @ Health::Unwell(_)) if has_status(reply.json().as_ref()) => unwell,
            Some(loading @ Health::Loading(_)) => loading,
            _ => Health::Down(503),
        },
        404 | 405 | 501 => Health::Unknown,
        500..=599 => Health::Down(reply.status),
        status => Health::Open(format!("/health says {status}, other routes answer")),
    }
}

/// Whether a body names its own state, as `{"status": "unhealthy"}` does and an error does not.
fn has_status(body: Option<&Value>) -> bool {
    body.is_some_and(|body| {
        let says = |key: &str| body.get(key).and_then(Value::as_str);
        says("status").is_some_and(|word| word.eq_ignore_ascii_case("unhealthy"))
    })
}

/// What the status in a health body says, where it is a word or a flag: `{"status": "starting"}`,
/// `{"ready": false}`. Unknown words say nothing against the status code.
fn told(body: &Value) -> Option<Health> {
    let flag = |keys: &[&str]| {
        keys.iter()
            .any(|key| body.get(*key).and_then(Value::as_bool) == Some(false))
    };
    let word = ["status", "state", "health"]
        .iter()
        .find_map(|key| body.get(*key)?.as_str())
        .unwrap_or_default();
    let said = crate::errors::head(&body.to_string());
    let has_error = match body.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(_) => true,
    };
    if flag(&["healthy", "ok", "alive", "success"]) || has_error {
        return Some(Health::Unwell(said));
    }
    word_of(word, &said).or_else(|| {
        let not_yet = flag(&["ready", "is_ready", "model_loaded", "loaded", "initialized"]);
        not_yet.then(|| starting(&said))
    })
}

/// What one word says about the state.
fn word_of(word: &str, said: &str) -> Option<Health> {
    let lower = word.to_lowercase();
    let is = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    let said = crate::errors::head(said);
    if is(&UNWELL) {
        return Some(Health::Unwell(said));
    }
    if is(&STARTING) {
        return Some(starting(&said));
    }
    is(&IN_PART).then(|| Health::Open(format!("/health says: {said}")))
}

fn starting(said: &str) -> Health {
    Health::Loading(format!("it is starting (/health says: {said})"))
}

#[cfg(test)]
mod tests {
    use super::super::super::answers::Answers;
    use super::{Health, health};

    fn of(status: u16, body: &str) -> Health {
        health(&Answers::of(&[("/health", status, body)]))
    }

    #[test]
    fn r06_a_200_whose_body_says_otherwise_is_not_ok() {
        for body in [
            r#"{"error":"engine dead"}"#,
            r#"{"error":{"message":"CUDA error"}}"#,
            r#"{"success":false}"#,
            r#"{"status":"error"}"#,
            "unhealthy",
            "\"unhealthy\"",
            "engine is down",
        ] {
            assert!(matches!(of(200, body), Health::Unwell(_)), "{body}");
        }
        for body in [
            r#"{"status":"ok","model_loaded":false}"#,
            r#"{"is_ready":false}"#,
            r#"{"initialized":false}"#,
            "starting",
            "\"warming up\"",
        ] {
            assert!(matches!(of(200, body), Health::Loading(_)), "{body}");
        }
        let open = of(200, r#"{"status":"DEGRADED"}"#);
        assert!(matches!(open, Health::Open(_)), "{open:?}");
        for body in [
            "",
            "OK",
            "true",
            "{}",
            r#"{"status":"healthy","issues":[]}"#,
            r#"{"status":"ok","error":null,"errors":[]}"#,
            r#"{"error":""}"#,
            "\"I'm alive!\"",
            "a long page about what to do when a server that is down shows an error, in sixty characters and more",
        ] {
            assert_eq!(of(200, body), Health::Ok, "{body}");
        }
    }

    #[test]
    fn r01_a_503_with_a_word_about_its_state_is_read_and_an_error_is_left_to_the_kind() {
        let unwell = of(503, r#"{"status":"unhealthy","issues":["CUDA error"]}"#);
        assert!(matches!(unwell, Health::Unwell(_)), "{unwell:?}");
        let starting = of(503, r#"{"status":"starting"}"#);
        assert!(matches!(starting, Health::Loading(_)), "{starting:?}");
        assert_eq!(of(503, ""), Health::Down(503));
        let error = r#"{"error":{"message":"Service Unavailable","type":"unavailable"}}"#;
        assert_eq!(of(503, error), Health::Down(503));
    }

    #[test]
    fn what_health_answers_is_said_and_never_called_silence() {
        for status in [400, 401, 403, 425, 429] {
            let Health::Open(words) = of(status, "") else {
                panic!("{status}");
            };
            assert!(words.contains(&status.to_string()), "{words}");
        }
        assert_eq!(of(404, ""), Health::Unknown);
    }
}
