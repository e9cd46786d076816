//! Asking an etcd cluster: its members in turn, with a user and password where it wants them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use baton_model_server::{JsonHost, JsonTls};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::address::Address;
use super::wire::number;

/// The bounds of one request's limit; within them it is a sixth of the lease's time to live, so that
/// a member that does not answer leaves time to ask another.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5);
/// A login costs the member a password hash, made to be slow.
const LOGIN: Duration = Duration::from_secs(10);
/// Members may be choosing a leader; that long they are asked again.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two rounds through all members.
const PAUSE: Duration = Duration::from_millis(200);

/// What is needed to reach the cluster.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Access {
    pub(super) address: Address,
    pub(super) tls: JsonTls,
    /// User and password.
    pub(super) login: Option<(String, String)>,
}

impl Access {
    /// An address with what the environment says for etcdctl(1), so that what works there works here.
    pub(super) fn from_variables(
        address: Address,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let file = |name: &str| variable(name).map(PathBuf::from);
        let identity = match (file("ETCDCTL_CERT"), file("ETCDCTL_KEY")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("ETCDCTL_CERT and ETCDCTL_KEY go together; set both".into()),
        };
        let tls = JsonTls {
            ca_file: file("ETCDCTL_CACERT"),
            identity,
        };
        let login = match variable("ETCDCTL_USER") {
            None => None,
            Some(user) => match (user.split_once(':'), variable("ETCDCTL_PASSWORD")) {
                (Some((name, password)), _) => Some((name.to_owned(), password.to_owned())),
                (None, Some(password)) => Some((user, password)),
                (None, None) => {
                    return Err(
                        "ETCDCTL_USER names no password; set it to NAME:PASSWORD, or set \
                         ETCDCTL_PASSWORD"
                            .into(),
                    );
                }
            },
        };
        Ok(Self {
            address,
            tls,
            login,
        })
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// No member answered, or none could serve. What was asked may have been done all the same.
    #[error("etcd cannot be reached: {0}")]
    Unreachable(String),
    /// The lease is not there (any more).
    #[error("etcd: the lease has expired")]
    LeaseGone,
    /// One of the two does not trust the other's certificate. That does not pass.
    #[error("etcd: {0}")]
    Untrusted(String),
    /// We may not.
    #[error("etcd: {0}")]
    Denied(String),
    /// It was understood and refused.
    #[error("etcd: {0}")]
    Refused(String),
}

/// A cluster.
#[derive(Debug)]
pub(super) struct Client {
    access: Access,
    hosts: Vec<JsonHost>,
    /// The member that answered last.
    preferred: AtomicUsize,
    /// What the login gave; given again when it is refused, never by the clock.
    token: Mutex<Option<String>>,
    limit: Duration,
}

/// What to do about one member's answer.
enum Verdict {
    Answer(Value),
    NextMember(String),
    Login(String),
    Final(Trouble),
}

impl Client {
    pub(super) fn new(access: Access) -> Result<Self, String> {
        let hosts = access.address.roots.iter();
        let hosts = hosts.map(|root| JsonHost::new(root, &access.tls));
        let hosts = hosts.collect::<Result<Vec<_>, _>>();
        let limit = (access.address.ttl / 6).clamp(SHORTEST, LONGEST);
        // Not everybody shall ask the first member first.
        let start = usize::try_from(std::process::id()).unwrap_or(0);
        Ok(Self {
            hosts: hosts.map_err(|e| e.to_string())?,
            preferred: AtomicUsize::new(start),
            token: Mutex::new(None),
            limit,
            access,
        })
    }

    pub(super) fn access(&self) -> &Access {
        &self.access
    }

    pub(super) fn ttl(&self) -> Duration {
        self.access.address.ttl
    }

    /// Tries something until it works, for some seconds while no member can serve; not when all of
    /// them refuse the connection at once, for then nobody is there.
    pub(super) fn patiently<T>(
        mut attempt: impl FnMut() -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let start = Instant::now();
        loop {
            let began = Instant::now();
            match attempt() {
                Err(Trouble::Unreachable(why)) => {
                    let refused_at_once = began.elapsed() < PAUSE && why.contains("refused");
                    if refused_at_once || start.elapsed() >= PATIENCE {
                        return Err(Trouble::Unreachable(why));
                    }
                    std::thread::sleep(PAUSE);
                }
                result => return result,
            }
        }
    }

    /// Asks each member once, beginning with the one that answered last.
    pub(super) fn ask(&self, path: &str, body: &Value) -> Result<Value, Trouble> {
        let first = self.preferred.load(Ordering::Relaxed);
        let mut whys = Vec::new();
        for step in 0..self.hosts.len() {
            let index = (first + step) % self.hosts.len();
            match self.ask_member(index, path, body) {
                Ok(value) => {
                    self.preferred.store(index, Ordering::Relaxed);
                    return Ok(value);
                }
                Err(Trouble::Unreachable(why)) => whys.push(why),
                Err(trouble) => return Err(trouble),
            }
        }
        let is_untrusted = |why: &String| why.to_ascii_lowercase().contains("certificate");
        let all = whys.join("; ");
        Err(if whys.iter().all(is_untrusted) {
            Trouble::Untrusted(all)
        } else {
            Trouble::Unreachable(all)
        })
    }

    fn ask_member(&self, index: usize, path: &str, body: &Value) -> Result<Value, Trouble> {
        let mut has_logged_in = false;
        loop {
            let token = self.token(index, false)?;
            match self.once(index, path, body, token.as_deref(), self.limit) {
                Verdict::Answer(value) => return Ok(value),
                Verdict::NextMember(why) => return Err(Trouble::Unreachable(why)),
                Verdict::Final(trouble) => return Err(trouble),
                Verdict::Login(why) if has_logged_in || self.access.login.is_none() => {
                    return Err(Trouble::Denied(why));
                }
                Verdict::Login(_) => {
                    has_logged_in = true;
                    self.token(index, true)?;
                }
            }
        }
    }

    fn once(
        &self,
        index: usize,
        path: &str,
        body: &Value,
        token: Option<&str>,
        limit: Duration,
    ) -> Verdict {
        let headers: Vec<(&str, &str)> = token.map(|t| ("Authorization", t)).into_iter().collect();
        let host = &self.hosts[index];
        match host.post(path, body, &headers, limit) {
            Ok((status, answer)) => judge(host.root(), status, answer),
            Err(failure) => Verdict::NextMember(explained(host.root(), &failure.0)),
        }
    }

    /// The token of our user; none without a user. `anew`: the present one was refused.
    fn token(&self, index: usize, anew: bool) -> Result<Option<String>, Trouble> {
        let Some((name, password)) = &self.access.login else {
            return Ok(None);
        };
        let mut kept = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if anew || kept.is_none() {
            let login = json!({"name": name, "password": password});
            *kept = match self.once(index, "/v3/auth/authenticate", &login, None, LOGIN) {
                Verdict::Answer(answer) => answer["token"].as_str().map(str::to_owned),
                Verdict::NextMember(why) => return Err(Trouble::Unreachable(why)),
                // A cluster without users needs none.
                Verdict::Final(Trouble::Refused(why)) if why.contains("not enabled") => {
                    Some(String::new())
                }
                Verdict::Final(trouble) => return Err(trouble),
                Verdict::Login(why) => {
                    return Err(Trouble::Denied(format!("user {name}: {why}")));
                }
            };
        }
        Ok(kept.clone().filter(|token| !token.is_empty()))
    }

    /// A connection of its own for a stream, to the member that answered last.
    pub(super) fn stream_host(&self) -> Option<(JsonHost, Vec<(String, String)>)> {
        let index = self.preferred.load(Ordering::Relaxed) % self.hosts.len();
        let host = JsonHost::new(self.hosts[index].root(), &self.access.tls).ok()?;
        // Without it a member cut off from the others would stay silent for ever.
        let mut headers = vec![("Grpc-Metadata-hasleader".to_owned(), "true".to_owned())];
        if let Ok(Some(token)) = self.token(index, false) {
            headers.push(("Authorization".to_owned(), token));
        }
        Some((host, headers))
    }

    /// The next stream goes to another member.
    pub(super) fn distrust_member(&self) {
        self.preferred.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) const fn limit(&self) -> Duration {
        self.limit
    }
}

/// What may be behind a failure that says little.
fn explained(root: &str, why: &str) -> String {
    let hint = if why.contains("is not JSON") {
        "; is it the port for clients of an etcd since 3.4?"
    } else if root.starts_with("http://") && why.contains("disconnected") {
        "; if it wants TLS, write etcds://"
    } else if root.starts_with("https://") && why.contains("unexpected end of file") {
        "; if it has no TLS, write etcd://"
    } else {
        ""
    };
    format!("{why}{hint}")
}

/// By the HTTP status, the gRPC code and the message; `error` is missing in newer versions.
fn judge(root: &str, status: u16, answer: Value) -> Verdict {
    if status == 200 {
        return Verdict::Answer(answer);
    }
    let said = answer["message"].as_str().or(answer["error"].as_str());
    let said = said.unwrap_or("no reason given").to_owned();
    let told = format!("{root}: {said}");
    match number(&answer["code"]) {
        _ if said.contains("database space exceeded") => Verdict::Final(Trouble::Refused(format!(
            "{told}; make room (etcdctl compact, etcdctl defrag), then: etcdctl alarm disarm"
        ))),
        5 if said.contains("lease") => Verdict::Final(Trouble::LeaseGone),
        16 => Verdict::Login(told),
        _ if said.contains("user name is empty")
            || said.contains("authentication failed")
            || said.contains("revision of auth store is old")
            || said.contains("invalid auth token") =>
        {
            Verdict::Login(told)
        }
        7 => Verdict::Final(Trouble::Denied(told)),
        // Deadline exceeded, internal, unavailable, unknown: another member may do better.
        2 | 4 | 13 | 14 => Verdict::NextMember(told),
        _ if status >= 500 => Verdict::NextMember(told),
        _ => Verdict::Final(Trouble::Refused(told)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Trouble, Verdict, explained, judge};

    #[test]
    fn what_says_little_is_explained() {
        let plain = explained("http://h:1", "http://h:1: io: Peer disconnected");
        assert!(plain.ends_with("etcds://"), "{plain}");
        let tls = explained("https://h:1", "https://h:1: io: unexpected end of file");
        assert!(tls.ends_with("etcd://"), "{tls}");
        let other = explained("http://h:1", "HTTP 404, and the answer is not JSON");
        assert!(other.contains("port for clients"), "{other}");
        assert_eq!(explained("http://h:1", "refused"), "refused");
    }

    #[test]
    fn recorded_refusals_are_told_apart_in_both_dialects() {
        let gone = [
            json!({"error": "etcdserver: requested lease not found", "message": "etcdserver: requested lease not found", "code": 5}),
            json!({"code": 5, "message": "etcdserver: requested lease not found"}),
        ];
        for answer in gone {
            let verdict = judge("r", 404, answer);
            assert!(matches!(verdict, Verdict::Final(Trouble::LeaseGone)));
        }
        for (status, message, code) in [
            (401, "etcdserver: invalid auth token", 16),
            (400, "etcdserver: user name is empty", 3),
            (400, "etcdserver: revision of auth store is old", 3),
        ] {
            let verdict = judge("r", status, json!({"message": message, "code": code}));
            assert!(matches!(verdict, Verdict::Login(_)), "{message}");
        }
        let denied = json!({"message": "etcdserver: permission denied", "code": 7});
        let verdict = judge("r", 403, denied);
        assert!(matches!(verdict, Verdict::Final(Trouble::Denied(_))));
        let away = json!({"message": "etcdserver: request timed out", "code": 14});
        assert!(matches!(judge("r", 503, away), Verdict::NextMember(_)));
        let full = json!({"message": "etcdserver: mvcc: database space exceeded", "code": 8});
        let Verdict::Final(Trouble::Refused(told)) = judge("r", 429, full) else {
            panic!("a full database stays full")
        };
        assert!(told.contains("alarm disarm"), "{told}");
        let wrong = json!({"message": "etcdserver: too many operations in txn request", "code": 3});
        let verdict = judge("r", 400, wrong);
        assert!(matches!(verdict, Verdict::Final(Trouble::Refused(_))));
    }
}
