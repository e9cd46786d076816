//! Waiting until ready: `/health` often, everything else rarely.

use std::time::{Duration, Instant};

use baton_cli::{Failure, Output};
use baton_model_server::probe::knock;
use baton_process::Cancel;
use baton_protocol::{Provider, ServerState};

use crate::ask::{How, Target, ask};
use crate::plan::Wants;
use crate::run::interrupted;
use crate::verdict::{Verdict, judge, overall};

/// Between two knocks at `/health`, which is cheap on every server.
const KNOCK_PAUSE: Duration = Duration::from_millis(150);
/// How long one knock may take.
const KNOCK_LIMIT: Duration = Duration::from_secs(1);
/// Between two full looks at a server that answers and is not ready. `/slots` and `/metrics` asked
/// too often keep llama-server from noticing that clients have gone.
const LOOK_PAUSE: Duration = Duration::from_secs(2);

/// Asks until the answer is yes, cannot change any more, or the limit passes.
pub(crate) fn until_ready(
    targets: &[Target],
    how: &How,
    wants: &Wants,
    limit: Duration,
    output: &Output,
    cancel: &Cancel,
) -> Result<Vec<Provider>, Failure> {
    let deadline = Instant::now() + limit;
    let mut told = String::new();
    loop {
        let providers = ask(targets, how, Instant::now(), cancel)?;
        interrupted(cancel)?;
        let verdicts: Vec<Verdict> = providers.iter().map(|p| judge(p, wants)).collect();
        let hopeless = |v: &Verdict| v.ready == Some(false) && !v.may_change;
        let decided = if wants.all {
            verdicts.iter().any(hopeless)
        } else {
            verdicts.iter().all(hopeless)
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if overall(&verdicts, wants.all) == Some(true) || decided || left.is_zero() {
            return Ok(providers);
        }
        tell(&providers, &verdicts, left, &mut told, output);
        let waiting: Vec<(&Target, &Provider)> = targets
            .iter()
            .zip(&providers)
            .zip(&verdicts)
            .filter(|(_, verdict)| verdict.ready != Some(true) && verdict.may_change)
            .map(|(pair, _)| pair)
            .collect();
        wait_for_change(&waiting, deadline, output, cancel);
        interrupted(cancel)?;
    }
}

/// Returns when a look is worth its price: someone's `/health` changed, or enough time passed for
/// those who answer already.
fn wait_for_change(
    waiting: &[(&Target, &Provider)],
    deadline: Instant,
    output: &Output,
    cancel: &Cancel,
) {
    let look_at = Instant::now() + LOOK_PAUSE;
    let before: Vec<Option<u16>> = waiting.iter().map(|(_, p)| health_of(p)).collect();
    // A server that answers as it did before may have changed elsewhere: look again after a while.
    let any_answers = waiting.iter().any(|(_, p)| answers(p));
    loop {
        let now = Instant::now();
        if now >= deadline || (any_answers && now >= look_at) {
            return;
        }
        let left = deadline.saturating_duration_since(now);
        output.progress(&format!("waiting, {} s left", left.as_secs()));
        if cancel.wait(KNOCK_PAUSE.min(left)) {
            return;
        }
        if knock_at_all(waiting, KNOCK_LIMIT.min(left), cancel)
            .iter()
            .zip(&before)
            .any(|(status, old)| status.is_some() && status != old)
        {
            return;
        }
    }
}

/// Knocks side by side, so that one that is silent delays nobody. Those that were silent are left
/// to the next full look.
fn knock_at_all(
    waiting: &[(&Target, &Provider)],
    limit: Duration,
    cancel: &Cancel,
) -> Vec<Option<u16>> {
    let is_silent = |p: &Provider| p.state == ServerState::Unknown;
    if let [(only, _)] = waiting {
        return vec![knock(&only.endpoint, limit, cancel)];
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = waiting
            .iter()
            .map(|(target, provider)| {
                (!is_silent(provider))
                    .then(|| scope.spawn(|| knock(&target.endpoint, limit, cancel)))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.and_then(|t| t.join().ok().flatten()))
            .collect()
    })
}

/// Whether a full look would find more than `/health` alone: it answers, and is not just loading.
fn answers(provider: &Provider) -> bool {
    !matches!(
        provider.state,
        ServerState::Unreachable | ServerState::Loading
    ) || health_of(provider) == Some(200)
}

fn health_of(provider: &Provider) -> Option<u16> {
    let signal = provider.signals.iter().find(|s| s.name == "GET /health")?;
    u16::try_from(signal.value.as_u64()?).ok()
}

/// Says what is waited for, once for every new reason.
fn tell(
    providers: &[Provider],
    verdicts: &[Verdict],
    left: Duration,
    told: &mut String,
    output: &Output,
) {
    let reasons: Vec<String> = providers
        .iter()
        .zip(verdicts)
        .filter(|(_, v)| v.ready != Some(true))
        .take(3)
        .map(|(p, v)| format!("{} ({}): {}", p.id, p.base_url, v.reason))
        .collect();
    let text = reasons.join("; ");
    if text != *told {
        // Rounded up: "0 s" would say that nothing is waited for.
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        output.note(&format!("waiting up to {seconds} s for {text}"));
        *told = text;
    }
}
