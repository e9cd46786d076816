//! Everything the connections of one server share.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::config::Config;
use crate::engine::{Engine, Pace};
use crate::fault::Switchboard;
use crate::http::Request;
use crate::kinds::Stamp;
use crate::record::Record;
use crate::script::{Model, Script};

/// The shared state of one server.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) config: Config,
    pub(crate) engine: Engine,
    pub(crate) model: Mutex<Model>,
    pub(crate) faults: Mutex<Switchboard>,
    log: Mutex<Log>,
    started: Instant,
}

#[derive(Debug, Default)]
struct Log {
    requests: u64,
    chats: u64,
    records: Vec<Record>,
}

impl World {
    pub(crate) fn new(config: Config, script: Script, faults: Switchboard, pace: Pace) -> Self {
        let engine = Engine::new(config.kind.server().rules(&config), pace);
        let model = Mutex::new(Model::new(script));
        Self {
            config,
            engine,
            model,
            faults: Mutex::new(faults),
            log: Mutex::default(),
            started: Instant::now(),
        }
    }

    /// Milliseconds since the server started.
    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Numbers and notes a request; returns its number and, for a chat, that of the chat.
    pub(crate) fn note(&self, request: &Request, is_chat: bool) -> (u64, u64) {
        let mut log = lock(&self.log);
        log.requests += 1;
        log.chats += u64::from(is_chat);
        let (n, chat) = (log.requests, log.chats);
        let record = Record::new(n, is_chat.then_some(chat), request, self.now_ms());
        log.records.push(record);
        (n, chat)
    }

    /// Changes the record of the `n`-th request.
    pub(crate) fn amend(&self, n: u64, change: impl FnOnce(&mut Record)) {
        let mut log = lock(&self.log);
        if let Some(record) = log.records.iter_mut().rev().find(|record| record.n == n) {
            change(record);
        }
    }

    /// Closes the record of the `n`-th request.
    pub(crate) fn close(&self, n: u64, outcome: &str, status: Option<u16>) {
        let now = self.now_ms();
        self.amend(n, |record| {
            outcome.clone_into(&mut record.outcome);
            record.status = record.status.or(status);
            record.ended_ms = Some(now);
        });
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        lock(&self.log).records.clone()
    }

    /// Forgets the records, not the numbers.
    pub(crate) fn forget(&self) {
        lock(&self.log).records.clear();
    }

    /// Identification of the `n`-th answer.
    pub(crate) fn stamp(n: u64) -> Stamp {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        // A mixed counter looks like the random ids of real servers and still never repeats.
        let id = format!(
            "{:016x}",
            (n + u64::from(now.subsec_nanos())).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ n
        );
        Stamp {
            id,
            created: now.as_secs(),
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
