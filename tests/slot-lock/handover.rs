//! The instant in which a slot goes from one command to the next: whoever is next has its keeper
//! ready, and no moment is left in which nobody holds what is used.

use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{Holder, SOON, Slots, children, is_alive};
use crate::support::eventually;

const ONE: [&str; 4] = ["--key", "k", "--slots", "1"];

/// One who waits, and whose command says its number when it runs.
fn waiter(slots: &Slots) -> Holder {
    let run = slots.run(&ONE);
    Holder::launch(run.args(["--", "sh", "-c", "echo $$; read x"]).command())
}

/// The keeper a waiter got ready.
fn keeper_of(waiter: &Holder) -> Pid {
    eventually("the keeper", SOON, || {
        let keeper = children(waiter.child.id()).into_iter().next()?;
        Pid::from_raw(i32::try_from(keeper).unwrap())
    })
}

/// Kills the slot-lock whose command has just started; the slot must be held on.
#[track_caller]
fn must_hold_when_killed(slots: &Slots, waiting: &mut Holder) {
    let command = waiting.line();
    waiting.signal(Signal::KILL);
    waiting.wait();
    let command = Pid::from_raw(command.parse().unwrap()).unwrap();
    assert!(is_alive(command));
    assert_eq!(slots.try_once("1"), 75);
    assert!(is_alive(command));
    waiting.close();
    eventually("the slot is free", SOON, || {
        (slots.try_once("1") == 0).then_some(())
    });
}

#[test]
fn killing_slot_lock_right_after_its_wait_frees_nothing() {
    for _ in 0..5 {
        let slots = Slots::new();
        let holder = slots.hold(&ONE);
        let mut waiting = waiter(&slots);
        slots.until(1, 1);
        let keeper = keeper_of(&waiting);
        holder.finish();
        must_hold_when_killed(&slots, &mut waiting);
        eventually("the keeper ends", SOON, || {
            (!is_alive(keeper)).then_some(())
        });
    }
}

#[test]
fn only_who_is_next_has_a_keeper_ready_and_it_ends_with_a_wait_in_vain() {
    let slots = Slots::new();
    let holder = slots.hold(&ONE);
    let mut first = waiter(&slots);
    slots.until(1, 1);
    let keeper = keeper_of(&first);
    let mut second = waiter(&slots);
    slots.until(1, 2);
    assert_eq!(children(second.child.id()), Vec::<u32>::new());
    first.signal(Signal::KILL);
    first.wait();
    eventually("the keeper ends", SOON, || {
        (!is_alive(keeper)).then_some(())
    });
    let keeper = keeper_of(&second);
    second.signal(Signal::TERM);
    assert_eq!(second.wait().code(), Some(143));
    assert!(!is_alive(keeper), "it is reaped");
    assert_eq!(holder.finish().code(), Some(5));
}

#[test]
fn a_keeper_that_was_killed_or_stopped_beforehand_costs_no_slot() {
    for signal in [Signal::KILL, Signal::STOP] {
        let slots = Slots::new();
        let holder = slots.hold(&ONE);
        let mut waiting = waiter(&slots);
        slots.until(1, 1);
        let keeper = keeper_of(&waiting);
        kill_process(keeper, signal).unwrap();
        holder.finish();
        if signal == Signal::STOP {
            // It holds what it was sent without having run since.
            let command = waiting.line();
            waiting.signal(Signal::KILL);
            waiting.wait();
            assert_eq!(slots.try_once("1"), 75);
            waiting.close();
            let command = Pid::from_raw(command.parse().unwrap()).unwrap();
            eventually("the command ends", SOON, || {
                (!is_alive(command)).then_some(())
            });
            kill_process(keeper, Signal::CONT).unwrap();
            eventually("the slot is free", SOON, || {
                (slots.try_once("1") == 0).then_some(())
            });
        } else {
            must_hold_when_killed(&slots, &mut waiting);
        }
    }
}
