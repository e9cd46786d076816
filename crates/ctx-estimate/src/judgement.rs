//! From counts and candidates to the answer.

use baton_protocol::{
    Estimate, Exit, Fit, FitVerdict, Method, Model, Provider, Reserve, SchemaTag, ServerState,
};
use baton_tokens::{Admission, Count, better, judge, required};

use crate::subject::Subject;

/// A count and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sourced {
    /// The count.
    pub(crate) count: Count,
    /// Where it comes from, in words.
    pub(crate) source: String,
}

/// Whether a provider in this state could take a request, now or soon.
const fn can_serve(state: ServerState) -> bool {
    !matches!(
        state,
        ServerState::Unreachable
            | ServerState::Failed
            | ServerState::Rejected
            | ServerState::WrongApi
    )
}

/// Adds to each provider how its best model fits; `count` gives the count for one of its models, or
/// none where it cannot be told. Returns the count behind the best verdict of all.
///
/// Models are tried in the provider's order; the first with the best verdict is the one named.
pub(crate) fn judge_providers(
    providers: &mut [Provider],
    only_model: Option<&str>,
    reserve: &Reserve,
    complete: bool,
    mut count: impl FnMut(&Provider, &Model) -> Option<Sourced>,
) -> Option<Sourced> {
    let mut best_of_all: Option<(FitVerdict, Sourced)> = None;
    for provider in providers {
        let mut best: Option<(Fit, Option<Sourced>)> = None;
        let wanted = |model: &&Model| only_model.is_none_or(|name| name == model.id);
        for model in provider.models.iter().filter(wanted) {
            let sourced = count(provider, model);
            let fit = match &sourced {
                Some(sourced) => {
                    let usable = model.usable_context;
                    judge_one(sourced, reserve, usable, Some(&model.id), complete)
                }
                None => not_counted(model),
            };
            if best
                .as_ref()
                .is_none_or(|(old, _)| beats(fit.verdict, old.verdict))
            {
                best = Some((fit, sourced));
            }
        }
        let (fit, sourced) = best.unzip();
        if let (Some(fit), Some(Some(sourced))) = (&fit, sourced)
            && best_of_all
                .as_ref()
                .is_none_or(|(old, _)| beats(fit.verdict, *old))
        {
            best_of_all = Some((fit.verdict, sourced));
        }
        provider.fit = fit;
    }
    best_of_all.map(|(_, sourced)| sourced)
}

fn beats(new: FitVerdict, old: FitVerdict) -> bool {
    new != old && better(new, old) == new
}

/// The fit of a model nobody counted for.
fn not_counted(model: &Model) -> Fit {
    Fit {
        model: Some(model.id.clone()),
        usable_context: model.usable_context,
        verdict: FitVerdict::Unknown,
        headroom_tokens: None,
        largest_output_tokens: None,
        prompt_tokens: None,
        upper_bound_tokens: None,
        method: None,
        source: None,
    }
}

/// Judges one window.
pub(crate) fn judge_one(
    sourced: &Sourced,
    reserve: &Reserve,
    usable: Option<u64>,
    model: Option<&str>,
    complete: bool,
) -> Fit {
    let mut fit = judge(&sourced.count, reserve, usable, model.map(Into::into));
    if !complete && fit.verdict != FitVerdict::No {
        // What was not counted cannot make it smaller, so a no stands.
        fit.verdict = FitVerdict::Unknown;
    }
    fit.source = Some(sourced.source.clone());
    fit
}

/// What is asked of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Only how many tokens.
    Count,
    /// Whether it fits one window.
    Window(u64),
    /// Which provider can hold it.
    Candidates,
}

/// Puts the document together.
pub(crate) fn document(
    subject: &Subject,
    sourced: &Sourced,
    reserve: Reserve,
    question: Question,
    providers: Vec<Provider>,
) -> Estimate {
    let complete = subject.incomplete.is_none();
    let mut notes = subject.notes.clone();
    notes.extend(subject.incomplete.clone());
    if sourced.count.method == Method::Server && subject.parts.len() > 1 {
        notes.push("the parts are counted here, only the total is the server's own count".into());
    }
    let verdict = match question {
        Question::Count => FitVerdict::Unknown,
        Question::Window(usable) => {
            judge_one(sourced, &reserve, Some(usable), None, complete).verdict
        }
        Question::Candidates => over_all(&providers),
    };
    notes.extend(
        providers
            .iter()
            .filter_map(|provider| advice(provider, &reserve)),
    );
    Estimate {
        schema: SchemaTag::new(),
        fits: match verdict {
            FitVerdict::Fits | FitVerdict::Tight => Some(true),
            FitVerdict::No => Some(false),
            FitVerdict::Unknown => None,
        },
        verdict,
        prompt_tokens: sourced.count.tokens,
        upper_bound_tokens: sourced.count.upper_bound,
        method: sourced.count.method,
        source: Some(sourced.source.clone()),
        error_band: sourced.count.error_band,
        required_tokens: required(&sourced.count, &reserve),
        reserve,
        breakdown: subject.breakdown(0),
        providers,
        notes,
    }
}

/// The best verdict of the providers that could take a request. None that could: cannot tell.
fn over_all(providers: &[Provider]) -> FitVerdict {
    let verdicts = providers.iter().map(|provider| match &provider.fit {
        Some(fit) if can_serve(provider.state) => fit.verdict,
        _ => FitVerdict::Unknown,
    });
    verdicts.reduce(better).unwrap_or(FitVerdict::Unknown)
}

/// What to do about a provider that is not a plain yes.
fn advice(provider: &Provider, reserve: &Reserve) -> Option<String> {
    let id = &provider.id;
    let Some(fit) = &provider.fit else {
        return Some(format!("{id}: names no such model, so nothing was judged"));
    };
    let model = fit.model.as_deref().unwrap_or("its model");
    match (fit.verdict, fit.usable_context, fit.largest_output_tokens) {
        (FitVerdict::Tight, _, Some(largest)) => Some(match Admission::of(provider.server.kind) {
            Admission::PromptAndOutput => format!(
                "{id}: {model} holds it with max_tokens of at most {}",
                largest.saturating_add(reserve.thinking_tokens)
            ),
            Admission::PromptOnly => format!(
                "{id}: {model} takes it, but cuts the answer off after about {} tokens",
                largest.saturating_add(reserve.thinking_tokens)
            ),
        }),
        (FitVerdict::Unknown, None, _) => Some(format!(
            "{id}: the usable context of {model} is not known; set `context` of the provider in the configuration"
        )),
        _ => None,
    }
}

/// The exit code of an answer.
pub(crate) const fn exit(question: Question, verdict: FitVerdict) -> Exit {
    match (question, verdict) {
        (Question::Count, _) | (_, FitVerdict::Fits | FitVerdict::Tight) => Exit::Yes,
        (_, FitVerdict::No) => Exit::No,
        (_, FitVerdict::Unknown) => Exit::Unknown,
    }
}
