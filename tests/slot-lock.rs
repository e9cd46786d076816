//! slot-lock end to end. Tests are named after the rows of the bug log where they cover one.

mod support;

#[path = "slot-lock/choosing.rs"]
mod choosing;
#[path = "slot-lock/cluster.rs"]
mod cluster;
#[path = "slot-lock/etcd.rs"]
mod etcd;
#[path = "slot-lock/etcd_access.rs"]
mod etcd_access;
#[path = "slot-lock/flags.rs"]
mod flags;
#[path = "slot-lock/foreign.rs"]
mod foreign;
#[path = "slot-lock/handover.rs"]
mod handover;
#[path = "slot-lock/holding.rs"]
mod holding;
#[path = "slot-lock/kit.rs"]
mod kit;
#[path = "slot-lock/leases.rs"]
mod leases;
#[path = "slot-lock/members.rs"]
mod members;
#[path = "slot-lock/observer.rs"]
mod observer;
#[path = "slot-lock/places.rs"]
mod places;
#[path = "slot-lock/signals.rs"]
mod signals;
#[path = "slot-lock/stress.rs"]
mod stress;
#[path = "slot-lock/waiting.rs"]
mod waiting;
#[path = "slot-lock/wires.rs"]
mod wires;
