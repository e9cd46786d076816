//! Clusters of real etcd processes (Debian: etcd-server, etcd-client).
//!
//! `BATON_ETCD=DIRECTORY` takes the programs `etcd` and `etcdctl` from there, to try another version.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::wires::{From, Wires};

/// A cluster of real members on loopback.
pub struct Cluster {
    directory: tempfile::TempDir,
    members: Vec<Member>,
    /// Between the members, where they can be cut off from each other.
    wires: Option<Wires>,
    /// Who asks, where users must log in.
    user: Option<String>,
}

struct Member {
    client: u16,
    peer: u16,
    /// Where the others reach it.
    shown: u16,
    process: Child,
}

/// The program to run for `etcd` or `etcdctl`.
pub fn program(name: &str) -> String {
    match std::env::var("BATON_ETCD") {
        Ok(directory) => format!("{directory}/{name}"),
        Err(_) => name.to_owned(),
    }
}

pub fn has(program: &str, word: &str) -> bool {
    let found = Command::new(program).arg(word).output();
    found.is_ok_and(|output| output.status.success())
}

pub fn is_installed() -> bool {
    has(&program("etcd"), "--version") && has(&program("etcdctl"), "version")
}

/// Ports nobody has. Another process could take one before the member does; then it is tried again.
pub fn ports(count: usize) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap())
        .collect();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    listeners.iter().map(port).collect()
}

impl Cluster {
    /// None (said aloud) where etcd is not installed.
    pub fn start(members: usize) -> Option<Self> {
        Self::start_by(|| Self::launch(members, None))
    }

    /// The same, with wires between the members; `m0`, `m1` and so on are their ends.
    pub fn start_wired(members: usize) -> Option<Self> {
        let cluster = Self::start_by(|| Self::launch(members, Some(Wires::new())))?;
        let list = cluster.etcdctl(&["member", "list"]).unwrap();
        for line in list.lines() {
            let fields: Vec<&str> = line.split(", ").collect();
            cluster.wires().name_peer(fields[0], fields[2]);
        }
        Some(cluster)
    }

    fn start_by(launch: impl Fn() -> Self) -> Option<Self> {
        if !is_installed() {
            eprintln!("skipped: needs etcd and etcdctl (Debian: etcd-server, etcd-client)");
            return None;
        }
        for _ in 0..5 {
            let cluster = launch();
            if cluster.is_up() {
                return Some(cluster);
            }
        }
        panic!("etcd does not come up");
    }

    fn launch(members: usize, wires: Option<Wires>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let ports = ports(members * 2);
        let shown = |(index, pair): (usize, &[u16])| match &wires {
            Some(wires) => wires.lay(From::Peer, &format!("m{index}"), pair[1]),
            None => pair[1],
        };
        let shown: Vec<u16> = ports.chunks(2).enumerate().map(shown).collect();
        let all = initial_cluster(&shown);
        let member = |(index, pair): (usize, &[u16])| Member {
            client: pair[0],
            peer: pair[1],
            shown: shown[index],
            process: spawn(
                directory.path(),
                index,
                (pair[0], pair[1], shown[index]),
                &all,
            ),
        };
        let members = ports.chunks(2).enumerate().map(member).collect();
        Self {
            directory,
            members,
            wires,
            user: None,
        }
    }

    /// Whether the cluster answers within some time.
    fn is_up(&self) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(30) {
            if self.etcdctl(&["get", "x"]).is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        false
    }

    /// What etcdctl(1) prints; none when it fails.
    pub fn etcdctl(&self, words: &[&str]) -> Option<String> {
        let endpoint = |m: &Member| format!("127.0.0.1:{}", m.client);
        let endpoints: Vec<String> = self.members.iter().map(endpoint).collect();
        self.ask(&endpoints.join(","), words)
    }

    /// From now on users must log in; this one may do everything.
    pub fn want_users(&mut self, name: &str, password: &str) {
        let user = format!("{name}:{password}");
        for words in [
            &["user", "add", &user][..],
            &["user", "grant-role", name, "root"],
            &["auth", "enable"],
        ] {
            assert!(self.etcdctl(words).is_some(), "{words:?}");
        }
        self.user = Some(user);
    }

    fn ask(&self, endpoints: &str, words: &[&str]) -> Option<String> {
        let user: Vec<String> = self.user.iter().map(|u| format!("--user={u}")).collect();
        let user = user.iter().map(String::as_str);
        let words: Vec<&str> = user.chain(words.iter().copied()).collect();
        etcdctl(endpoints, &words)
    }

    /// The address of a store in it, with leases that live so many seconds.
    pub fn store(&self, prefix: &str, ttl: u32) -> String {
        let members: Vec<String> = self
            .members
            .iter()
            .map(|m| format!("127.0.0.1:{}", m.client))
            .collect();
        format!("etcd://{}/{prefix}?ttl={ttl}s", members.join(","))
    }

    pub fn wires(&self) -> &Wires {
        self.wires.as_ref().unwrap()
    }

    /// The address of the store for one host, which reaches every member by a wire of its own.
    pub fn wired_store(&self, host: &str, prefix: &str, ttl: u32) -> String {
        let wire = |(index, member): (usize, &Member)| {
            let from = From::End(host.to_owned());
            let port = self.wires().lay(from, &format!("m{index}"), member.client);
            format!("127.0.0.1:{port}")
        };
        let members: Vec<String> = self.members.iter().enumerate().map(wire).collect();
        format!("etcd://{}/{prefix}?ttl={ttl}s", members.join(","))
    }

    /// The number of the member that leads.
    pub fn leader(&self) -> Option<usize> {
        let is_leader = |member: &Member| {
            let endpoint = format!("127.0.0.1:{}", member.client);
            let status = self.ask(&endpoint, &["endpoint", "status"]);
            status.is_some_and(|line| line.split(", ").nth(4) == Some("true"))
        };
        self.members.iter().position(is_leader)
    }

    pub fn signal(&self, member: usize, signal: Signal) {
        kill_process(Pid::from_child(&self.members[member].process), signal).unwrap();
    }

    /// Kills a member and starts it again with its data.
    pub fn restart(&mut self, index: usize) {
        let shown: Vec<u16> = self.members.iter().map(|m| m.shown).collect();
        let all = initial_cluster(&shown);
        let member = &mut self.members[index];
        member.process.kill().unwrap();
        member.process.wait().unwrap();
        let ports = (member.client, member.peer, member.shown);
        member.process = spawn(self.directory.path(), index, ports, &all);
    }

    /// Takes away the leases of everybody.
    pub fn revoke_all_leases(&self) {
        let list = self.etcdctl(&["lease", "list"]).unwrap();
        for lease in list.lines().skip(1) {
            self.etcdctl(&["lease", "revoke", lease]);
        }
    }
}

fn initial_cluster(shown: &[u16]) -> String {
    let member = |(index, port)| format!("m{index}=http://127.0.0.1:{port}");
    let members: Vec<String> = shown.iter().enumerate().map(member).collect();
    members.join(",")
}

fn etcdctl(endpoints: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program("etcdctl"))
        .env("ETCDCTL_API", "3")
        .args(["--endpoints", endpoints, "--command-timeout=3s"])
        .args(words)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    output.status.success().then_some(text)
}

/// Starts a member: the ports it listens at, and the one where others reach it.
fn spawn(root: &Path, index: usize, ports: (u16, u16, u16), all: &str) -> Child {
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let (client, peer, shown) = (url(ports.0), url(ports.1), url(ports.2));
    let name = format!("m{index}");
    Command::new(program("etcd"))
        .arg("--data-dir")
        .arg(root.join(&name))
        .args(["--name", &name, "--initial-cluster", all])
        .args(["--listen-client-urls", &client])
        .args(["--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer])
        .args(["--initial-advertise-peer-urls", &shown])
        // A login costs a hash made to be slow; here it is one that is not.
        .args(["--bcrypt-cost", "4"])
        .args(["--logger", "zap", "--log-level", "error"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for member in &mut self.members {
            let _ = member.process.kill();
            let _ = member.process.wait();
        }
    }
}
