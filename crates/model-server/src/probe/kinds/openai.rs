//! A server of which only the OpenAI API is known.

use baton_protocol::{ModelState, ServerKind};

use super::super::answers::Answers;
use super::super::finding::{Finding, Readiness};
use super::super::list;
use super::{Health, health};

pub(super) fn read(answers: &Answers) -> Finding {
    let models = answers
        .json("/v1/models")
        .map(|body| list::models(&body))
        .unwrap_or_default();
    let readiness = readiness(answers, models.is_empty());
    let mut finding = Finding::new(ServerKind::OpenAi, readiness);
    finding.models = models;
    for model in &mut finding.models {
        model.state = ModelState::Unknown;
    }
    finding
}

/// A list alone proves nothing: servers list models they are still loading, or will load.
pub(super) fn readiness(answers: &Answers, no_models: bool) -> Readiness {
    let listed = answers.status("/v1/models") == Some(200);
    let body = answers.json("/v1/models").unwrap_or_default();
    let is_empty = no_models && list::entries(&body).is_none_or(Vec::is_empty);
    match health(answers) {
        Health::Down(503) => Readiness::Loading("/health says 503".to_owned()),
        Health::Down(status) => Readiness::Failed(format!("/health says {status}")),
        Health::Loading(words) => Readiness::Loading(words),
        Health::Unwell(said) => Readiness::Failed(format!("/health says: {said}")),
        _ if is_empty && listed => {
            Readiness::Loading("no model is loaded (yet): the model list is empty".to_owned())
        }
        Health::Ok => Readiness::Ready("/health says ok".to_owned()),
        Health::Unknown if !listed => Readiness::Unknown(
            "neither a health route nor a model list answers; --probe settles it".to_owned(),
        ),
        Health::Unknown => Readiness::Unknown(
            "models are listed, which proves nothing, and there is no health route; --probe settles it"
                .to_owned(),
        ),
        Health::Open(words) => Readiness::Unknown(format!("{words}; --probe settles it")),
        Health::Mute => Readiness::Unknown("/health does not answer, other routes do".to_owned()),
    }
}
