//! In which order jobs that are ready get seats, so that a server which holds one model at a time is
//! not made to swap more often than the work needs.

use super::job::{Job, Phase};
use super::state::State;

/// A place, as far as it is known before a worker is placed: a provider, and a model where the role
/// names one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wish<'a> {
    provider: &'a str,
    model: Option<&'a str>,
}

/// The jobs in the order they get seats: first those that use what is in use, then those that use
/// other servers, and last those that would make a server swap. Otherwise as they came.
pub(crate) fn order<'a>(state: &State, mut ready: Vec<&'a Job>) -> Vec<&'a Job> {
    let used = in_use(state);
    if !used.is_empty() {
        ready.sort_by_key(|job| rank(&used, wish(state, job).as_ref()));
    }
    ready
}

fn rank(used: &[Wish<'_>], wish: Option<&Wish<'_>>) -> u8 {
    let Some(wish) = wish else {
        return 1;
    };
    let at: Vec<&Wish<'_>> = used
        .iter()
        .filter(|u| u.provider == wish.provider)
        .collect();
    if at.is_empty() {
        1
    } else if at
        .iter()
        .any(|u| u.model == wish.model || u.model.is_none() || wish.model.is_none())
    {
        0
    } else {
        2
    }
}

/// What the role of a job names first.
fn wish<'a>(state: &'a State, job: &Job) -> Option<Wish<'a>> {
    let first = state.settings.models.get(&job.task.role)?.first()?;
    Some(match first.split_once('/') {
        Some((provider, model)) => Wish {
            provider,
            model: Some(model),
        },
        None => Wish {
            provider: first,
            model: None,
        },
    })
}

/// What runs now; when nothing runs, what ran last, because its model is still in memory.
fn in_use(state: &State) -> Vec<Wish<'_>> {
    let running: Vec<Wish<'_>> = state
        .jobs
        .iter()
        .filter(|job| job.phase() == Phase::Running)
        .filter_map(|job| wish(state, job))
        .collect();
    if !running.is_empty() {
        return running;
    }
    state.last_place.iter().filter_map(placed).collect()
}

fn placed((provider, model): &(String, Option<String>)) -> Option<Wish<'_>> {
    Some(Wish {
        provider,
        model: Some(model.as_deref()?),
    })
}

/// The model the run has used at a provider already. A role that names none stays with it: one
/// model a run is the rule, another only where somebody asks for it.
pub(crate) fn model_in_use<'a>(state: &'a State, provider: &str) -> Option<&'a str> {
    // The model of a role that chose it says nothing about those that did not.
    let free = |job: &&Job| !state.settings.models.contains_key(&job.task.role);
    state.jobs.iter().filter(free).find_map(|job| {
        let ends = job.attempts.iter().filter_map(|a| a.end.as_ref());
        let mut here = ends.filter(|end| end.provider.as_deref() == Some(provider));
        here.find_map(|end| end.model.as_deref())
    })
}

#[cfg(test)]
mod tests {
    use super::{model_in_use, order};
    use crate::core::job::Job;
    use crate::core::record::{JobKind, Record};
    use crate::core::state::State;
    use crate::core::testing::{ended, feed, run_started, settings, started, task};

    fn state(jobs: &[(&str, &str)]) -> State {
        let mut state = State::empty();
        let mut settings = settings();
        for (role, models) in [("small", "sw/m1"), ("big", "sw/m2"), ("far", "other/m3")] {
            settings.models.insert(role.into(), vec![models.to_owned()]);
        }
        feed(&mut state, vec![("", run_started(settings))]);
        for (id, role) in jobs {
            let mut task = task(id, &[id]);
            task.role = (*role).into();
            feed(
                &mut state,
                vec![(
                    "",
                    Record::JobAdded {
                        kind: JobKind::Work,
                        round: 1,
                        document: Box::new(task),
                    },
                )],
            );
        }
        state
    }

    fn ordered(state: &State) -> Vec<&str> {
        let ready: Vec<&Job> = state
            .jobs
            .iter()
            .filter(|j| j.attempt().start.is_none())
            .collect();
        order(state, ready)
            .iter()
            .map(|j| j.id().as_str())
            .collect()
    }

    #[test]
    fn o31_what_is_in_memory_goes_first_and_a_swap_last() {
        let mut state = state(&[
            ("a", "small"),
            ("b", "big"),
            ("c", "small"),
            ("d", "far"),
            ("e", "none"),
        ]);
        assert_eq!(
            ordered(&state),
            ["a", "b", "c", "d", "e"],
            "nothing is known yet"
        );
        feed(&mut state, vec![("a", started(1, 1))]);
        assert_eq!(ordered(&state), ["c", "d", "e", "b"]);
        // The other model came first: then it is that one that stays.
        feed(
            &mut state,
            vec![("a", ended(1, 0, None)), ("b", started(1, 1))],
        );
        assert_eq!(ordered(&state), ["d", "e", "c"]);
    }

    #[test]
    fn o31_when_nothing_runs_the_model_that_ran_last_is_still_in_memory() {
        let mut state = state(&[("a", "big"), ("b", "small"), ("c", "big")]);
        let mut end = ended(1, 0, None);
        if let Record::Ended {
            provider, model, ..
        } = &mut end
        {
            *provider = Some("sw".into());
            *model = Some("m2".into());
        }
        feed(&mut state, vec![("a", started(1, 1)), ("a", end)]);
        assert_eq!(ordered(&state), ["c", "b"]);
    }

    #[test]
    fn o31_a_role_that_names_no_model_stays_with_the_run_s() {
        let mut state = state(&[("a", "none"), ("b", "big")]);
        assert_eq!(model_in_use(&state, "p1"), None);
        feed(
            &mut state,
            vec![("a", started(1, 1)), ("a", ended(1, 0, None))],
        );
        assert_eq!(model_in_use(&state, "p1"), Some("m"));
        assert_eq!(model_in_use(&state, "p2"), None);
    }
}
