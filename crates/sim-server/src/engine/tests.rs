//! The engine under pressure: memory that runs out, models that exclude each other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::{Engine, Pace, Rules, Stop};

const RULES: Rules = Rules {
    slots: 4,
    pool: 64,
    block: 1,
    own_prefix: false,
    abort_when_full: false,
    queue_limit: None,
    cancel_lag: Duration::ZERO,
    one_model: false,
    prefill_blocks: false,
    load_time: Duration::ZERO,
    keep_alive: None,
};

fn engine(rules: Rules) -> Engine {
    Engine::new(rules, Pace { scale: 0.0 })
}

/// Runs a request of that many prompt and answer tokens to its end.
fn run(
    engine: &Engine,
    model: &str,
    prompt: u32,
    answer: u64,
    gate: Option<&str>,
) -> Result<(), Stop> {
    let mut stay = || false;
    let mut ticket = engine.enqueue((0..prompt).collect(), model).unwrap();
    ticket.start(answer, &mut stay)?;
    ticket.prefill(&mut stay)?;
    if let Some(gate) = gate {
        ticket.hold(gate, &mut stay)?;
    }
    ticket.tokens(answer, Duration::ZERO, &mut stay)?;
    ticket.finish(false);
    Ok(())
}

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn when_the_pool_runs_over_the_youngest_waits_and_both_end() {
    let engine = engine(RULES);
    thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| run(&engine, "m", 20, 25, Some("gate"))));
        assert!(engine.wait_until(PATIENCE, |now| now.held == 2));
        engine.release("gate");
        engine.release("gate");
        for end in both {
            assert_eq!(end.join().unwrap(), Ok(()));
        }
    });
    let now = engine.snapshot();
    assert_eq!((now.running, now.waiting, now.pool_used), (0, 0, 0));
    assert!(now.totals.generated >= 50);
}

#[test]
fn a_pool_that_aborts_takes_all_requests_with_it() {
    let engine = engine(Rules {
        abort_when_full: true,
        ..RULES
    });
    let aborted = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                if run(&engine, "m", 30, 25, Some("gate")) == Err(Stop::Aborted) {
                    aborted.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        assert!(engine.wait_until(PATIENCE, |now| now.held == 2));
        engine.release("gate");
        assert!(engine.wait_until(PATIENCE, |now| now.running == 0));
    });
    assert_eq!(aborted.into_inner(), 2);
}

#[test]
fn models_that_exclude_each_other_take_turns() {
    let engine = engine(Rules {
        one_model: true,
        ..RULES
    });
    thread::scope(|scope| {
        let first = scope.spawn(|| run(&engine, "a", 5, 5, Some("gate")));
        assert!(engine.wait_until(PATIENCE, |now| now.held == 1));
        let second = scope.spawn(|| run(&engine, "b", 5, 5, None));
        assert!(engine.wait_until(PATIENCE, |now| now.waiting == 1));
        assert_eq!(engine.snapshot().resident.as_deref(), Some("a"));
        engine.release("gate");
        assert_eq!(
            (first.join().unwrap(), second.join().unwrap()),
            (Ok(()), Ok(()))
        );
    });
    assert_eq!(engine.snapshot().resident.as_deref(), Some("b"));
}

#[test]
fn a_full_queue_refuses_and_counts() {
    let engine = engine(Rules {
        slots: 1,
        queue_limit: Some(0),
        ..RULES
    });
    thread::scope(|scope| {
        let first = scope.spawn(|| run(&engine, "m", 5, 5, Some("gate")));
        assert!(engine.wait_until(PATIENCE, |now| now.held == 1));
        assert!(engine.enqueue(vec![1], "m").is_none());
        engine.release("gate");
        assert_eq!(first.join().unwrap(), Ok(()));
    });
    assert_eq!(engine.snapshot().totals.rejected, 1);
}

#[test]
fn a_request_that_is_dropped_anywhere_leaves_nothing_behind() {
    let engine = engine(RULES);
    let queued = engine.enqueue(vec![1, 2], "m").unwrap();
    drop(queued);
    let mut started = engine.enqueue(vec![1, 2], "m").unwrap();
    started.start(5, &mut || false).unwrap();
    drop(started);
    let now = engine.snapshot();
    assert_eq!((now.running, now.waiting, now.pool_used), (0, 0, 0));
}
