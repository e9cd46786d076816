//! The gate: eight facts decide how much machinery a goal gets. Trivial asks never fan out.

use baton_protocol::{Gate, ParallelismValue};

/// How a goal is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// A fact is missing.
    CollectFacts,
    /// One worker is enough.
    OneWorker,
    /// Several tasks may run side by side.
    Parallel,
    /// Several tasks, one after the other.
    Serial,
    /// Several tasks, and a review whatever the configuration says.
    WithReview,
}

/// The route the facts ask for, in the order of the plugin's table: unknown, risk, shared state,
/// size. A fact that is not known never makes the route bigger or smaller than `CollectFacts`.
pub(crate) fn route(gate: &Gate) -> Route {
    let Gate {
        independent_subtasks: Some(subtasks),
        dependent_stages: Some(stages),
        files_modules: Some(files),
        independent_review: Some(review),
        external_side_effects: Some(external),
        shared_mutable_state: Some(shared),
        security_compliance_risk: Some(risk),
        expected_parallelism_value: Some(value),
    } = gate
    else {
        return Route::CollectFacts;
    };
    if *risk || *external || *review {
        Route::WithReview
    } else if *shared {
        Route::Serial
    } else if *stages > 1 || *subtasks > 1 || *files > 2 {
        if *value == ParallelismValue::None {
            Route::Serial
        } else {
            Route::Parallel
        }
    } else {
        Route::OneWorker
    }
}

/// The facts that are not known, by name.
pub(crate) fn unknown_facts(gate: &Gate) -> Vec<&'static str> {
    [
        ("independent_subtasks", gate.independent_subtasks.is_none()),
        ("dependent_stages", gate.dependent_stages.is_none()),
        ("files_modules", gate.files_modules.is_none()),
        ("independent_review", gate.independent_review.is_none()),
        (
            "external_side_effects",
            gate.external_side_effects.is_none(),
        ),
        ("shared_mutable_state", gate.shared_mutable_state.is_none()),
        (
            "security_compliance_risk",
            gate.security_compliance_risk.is_none(),
        ),
        (
            "expected_parallelism_value",
            gate.expected_parallelism_value.is_none(),
        ),
    ]
    .into_iter()
    .filter_map(|(name, unknown)| unknown.then_some(name))
    .collect()
}

#[cfg(test)]
mod tests {
    use baton_protocol::{Gate, ParallelismValue};

    use super::{Route, route, unknown_facts};

    fn small() -> Gate {
        Gate {
            independent_subtasks: Some(1),
            dependent_stages: Some(1),
            files_modules: Some(1),
            independent_review: Some(false),
            external_side_effects: Some(false),
            shared_mutable_state: Some(false),
            security_compliance_risk: Some(false),
            expected_parallelism_value: Some(ParallelismValue::None),
        }
    }

    #[test]
    fn one_local_file_is_one_worker() {
        assert_eq!(route(&small()), Route::OneWorker);
    }

    #[test]
    fn any_unknown_fact_asks_for_facts() {
        for forget in [
            (|g: &mut Gate| g.files_modules = None) as fn(&mut Gate),
            |g| g.security_compliance_risk = None,
            |g| g.expected_parallelism_value = None,
        ] {
            let mut gate = Gate {
                security_compliance_risk: Some(true),
                ..small()
            };
            forget(&mut gate);
            assert_eq!(route(&gate), Route::CollectFacts);
            assert_eq!(unknown_facts(&gate).len(), 1);
        }
        assert_eq!(route(&Gate::default()), Route::CollectFacts);
        assert_eq!(unknown_facts(&Gate::default()).len(), 8);
    }

    #[test]
    fn risk_goes_before_shared_state_and_size() {
        let gate = Gate {
            security_compliance_risk: Some(true),
            shared_mutable_state: Some(true),
            independent_subtasks: Some(4),
            ..small()
        };
        assert_eq!(route(&gate), Route::WithReview);
    }

    #[test]
    fn shared_state_is_serial_and_size_is_parallel() {
        let shared = Gate {
            shared_mutable_state: Some(true),
            independent_subtasks: Some(4),
            ..small()
        };
        assert_eq!(route(&shared), Route::Serial);
        let big = Gate {
            independent_subtasks: Some(2),
            expected_parallelism_value: Some(ParallelismValue::High),
            ..small()
        };
        assert_eq!(route(&big), Route::Parallel);
    }
}
