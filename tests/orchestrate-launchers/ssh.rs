//! The real ssh, to an sshd of this test's own: keys and configuration in a temporary folder, a port
//! of the kernel's choice. Each connection gets an `sshd -i` on its socket.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::kit::Yard;
use crate::real::{Sample, program};
use crate::support::{eventually, tools_dir};

/// An sshd on the loopback.
struct Sshd {
    dir: tempfile::TempDir,
    /// The servers of the connections that were made.
    sessions: Arc<Mutex<Vec<std::process::Child>>>,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        for session in self.sessions.lock().unwrap().iter_mut() {
            let _ = session.kill();
            let _ = session.wait();
        }
    }
}

impl Sshd {
    /// None, said aloud: it cannot run here.
    fn start(test: &str) -> Option<Self> {
        let (Some(sshd), Some(_), Some(keygen)) =
            (program("sshd"), program("ssh"), program("ssh-keygen"))
        else {
            eprintln!("{test}: skipped: openssh-server and openssh-client are not installed");
            return None;
        };
        let is_root = rustix::process::getuid().is_root();
        if is_root {
            // sshd's own empty folder, made by its service otherwise.
            let _ = std::fs::create_dir_all("/run/sshd");
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["host_key", "user_key"] {
            let made = Command::new(&keygen)
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(at(name))
                .status();
            assert!(made.unwrap().success());
        }
        std::fs::copy(at("user_key.pub"), at("authorized_keys")).unwrap();
        std::fs::write(at("banner"), "Authorized use only!\n").unwrap();
        let shown = dir.path().display();
        let config = format!(
            "HostKey {shown}/host_key\nAuthorizedKeysFile {shown}/authorized_keys\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n\
             PidFile none\nLogLevel ERROR\nBanner {shown}/banner\nPermitUserRC no\n"
        );
        std::fs::write(at("sshd_config"), config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = format!(
            "Host box2\nHostName 127.0.0.1\nPort {port}\nIdentityFile {shown}/user_key\n\
             IdentitiesOnly yes\nUserKnownHostsFile /dev/null\nGlobalKnownHostsFile /dev/null\n\
             StrictHostKeyChecking no\nBatchMode yes\nLogLevel ERROR\nControlMaster no\n"
        );
        std::fs::write(at("ssh_config"), client).unwrap();
        let sessions = Arc::new(Mutex::new(Vec::new()));
        let made = Arc::clone(&sessions);
        let config = at("sshd_config");
        std::thread::spawn(move || serve(&listener, &sshd, &config, &made));
        let sshd = Self { dir, sessions };
        let tried = Command::new("ssh")
            .args(["-F", &sshd.config(), "box2", "true"])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        if !tried.status.success() {
            let said = String::from_utf8_lossy(&tried.stderr).into_owned();
            let _ = writeln!(
                std::io::stderr(),
                "{test}: skipped: ssh to this host does not work here: {said}"
            );
            return None;
        }
        Some(sshd)
    }

    fn config(&self) -> String {
        self.dir.path().join("ssh_config").display().to_string()
    }

    /// The launcher: a login with a home and tools of its own.
    fn launcher(&self) -> String {
        let there = self.dir.path().join("home");
        std::fs::create_dir_all(&there).unwrap();
        format!(
            "ssh -F {} box2 env HOME={} PATH={}:/usr/bin:/bin",
            self.config(),
            there.display(),
            tools_dir().display()
        )
    }

    /// Cuts every connection that is open.
    fn cut(&self) {
        for session in self.sessions.lock().unwrap().iter_mut() {
            // Its children hold the socket as well.
            let _ = Command::new("pkill")
                .args(["-KILL", "-P", &session.id().to_string()])
                .status();
            let _ = session.kill();
        }
    }
}

fn serve(
    listener: &TcpListener,
    sshd: &Path,
    config: &PathBuf,
    made: &Mutex<Vec<std::process::Child>>,
) {
    for socket in listener.incoming() {
        let Ok(socket) = socket else { return };
        let Ok(again) = socket.try_clone() else {
            return;
        };
        let session = Command::new(sshd)
            .args(["-i", "-e", "-f"])
            .arg(config)
            .stdin(OwnedFd::from(socket))
            .stdout(OwnedFd::from(again))
            .stderr(Stdio::null())
            .spawn();
        made.lock().unwrap().extend(session);
    }
}

#[test]
fn the_quickstart_s_goal_completes_through_ssh() {
    for io in crate::kit::WAYS {
        let Some(sshd) = Sshd::start("ssh") else {
            return;
        };
        // The keys' folder is also the far home; sshd wants it so.
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(sshd.dir.path(), mode).unwrap();
        let sample = Sample::new();
        let report = sample.run(&sshd.launcher(), io).run().code(0).json();
        sample.is_done(&report);
        let placed = sample.records("placed");
        assert!(placed.len() >= 8, "{io}: {placed:?}");
        assert_eq!(sample.records("replaced").len(), 0, "{io}");
    }
}

#[test]
fn a_cut_ssh_connection_is_another_placement() {
    for io in crate::kit::WAYS {
        let Some(sshd) = Sshd::start("ssh, cut") else {
            return;
        };
        let yard = Yard::new(
            &[("README.md", "x\n")],
            &[crate::kit::slow("a", "a.txt", "2s")],
        );
        let run = yard.one(sshd.launcher(), io);
        let mut child = Yard::start(&run);
        eventually("the worker has reported", Duration::from_secs(60), || {
            (yard.records("placed").len() >= 2).then_some(())
        });
        sshd.cut();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{io}: {}", yard.journal());
        yard.is_done();
        let replaced = yard.records("replaced");
        assert_eq!(replaced.len(), 1, "{io}: {}", yard.journal());
        let reason = replaced[0]["reason"].as_str().unwrap();
        assert!(
            reason.contains("lost") && reason.contains("255"),
            "{reason}"
        );
    }
}
