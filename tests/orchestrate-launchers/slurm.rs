//! The real Slurm: one node, its three daemons started by this test with everything in a temporary
//! folder. Nothing outside of it is touched.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::kit::{WAYS, Yard, slow};
use crate::real::{Sample, program};
use crate::support::eventually;

/// A cluster of one node.
struct Cluster {
    dir: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The node first, so that its jobs end with it; the key's keeper last.
        for daemon in self.daemons.iter_mut().rev() {
            let pid = daemon.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &pid]).status();
            let end = Instant::now() + Duration::from_secs(10);
            while Instant::now() < end && matches!(daemon.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Cluster {
    /// None, said aloud: it cannot run here.
    fn start(test: &str) -> Option<Self> {
        let programs = ["munged", "slurmctld", "slurmd", "srun", "scancel", "squeue"];
        let missing: Vec<&str> = programs
            .into_iter()
            .filter(|name| program(name).is_none())
            .collect();
        if !missing.is_empty() {
            eprintln!("{test}: skipped: not installed: {}", missing.join(", "));
            return None;
        }
        if !rustix::process::getuid().is_root() {
            eprintln!("{test}: skipped: slurmd starts jobs only for root");
            return None;
        }
        // A port may be taken between its choice and its use.
        for _ in 0..3 {
            let cluster = Self::begin();
            if cluster.is_up() {
                return Some(cluster);
            }
            eprintln!("{test}: the cluster did not come up: {}", cluster.logs());
        }
        eprintln!("{test}: skipped: see above");
        None
    }

    fn begin() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["state", "spool"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        let mut key = [0u8; 64];
        std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom").unwrap(), &mut key)
            .unwrap();
        std::fs::write(at("munge.key"), key).unwrap();
        std::fs::set_permissions(at("munge.key"), PermissionsExt::from_mode(0o400)).unwrap();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap().to_owned();
        let d = dir.path().display();
        let config = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={d}/munge.socket\nCredType=cred/munge\n\
             SlurmctldPort={}\nSlurmdPort={}\n\
             StateSaveLocation={d}/state\nSlurmdSpoolDir={d}/spool\n\
             SlurmctldPidFile={d}/ctld.pid\nSlurmdPidFile={d}/slurmd.pid\n\
             SlurmctldLogFile={d}/ctld.log\nSlurmdLogFile={d}/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nMpiDefault=none\n\
             ReturnToService=2\nSlurmdParameters=config_overrides\nSwitchType=switch/none\n\
             KillWait=5\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n\
             PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            free_port(),
            free_port(),
        );
        std::fs::write(at("slurm.conf"), config).unwrap();
        let mut cluster = Self {
            daemons: Vec::new(),
            dir,
        };
        let place = |name: &str| cluster.dir.path().join(name).display().to_string();
        let munge = [
            "--force".to_owned(),
            "--foreground".into(),
            format!("--socket={}", place("munge.socket")),
            format!("--key-file={}", place("munge.key")),
            format!("--pid-file={}", place("munged.pid")),
            format!("--log-file={}", place("munged.log")),
            format!("--seed-file={}", place("munge.seed")),
        ];
        cluster.daemon("munged", &munge);
        let socket = cluster.dir.path().join("munge.socket");
        let end = Instant::now() + Duration::from_secs(20);
        while !socket.exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        cluster.daemon("slurmctld", &["-D".into(), "-i".into()]);
        cluster.daemon("slurmd", &["-D".into(), "-N".into(), host]);
        cluster
    }

    fn daemon(&mut self, name: &str, args: &[String]) {
        let out = std::fs::File::create(self.dir.path().join(format!("{name}.out"))).unwrap();
        let child = Command::new(program(name).unwrap())
            .args(args)
            .env("SLURM_CONF", self.config())
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .spawn()
            .unwrap();
        self.daemons.push(child);
    }

    fn config(&self) -> PathBuf {
        self.dir.path().join("slurm.conf")
    }

    fn said(&self, program: &str, args: &[&str]) -> String {
        let output = Command::new(program)
            .args(args)
            .env("SLURM_CONF", self.config())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn is_up(&self) -> bool {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            if self.said("sinfo", &["-h", "-o", "%t"]).contains("idle") {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        false
    }

    fn logs(&self) -> String {
        let last = |name: &str| {
            let text = std::fs::read_to_string(self.dir.path().join(name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().rev().take(3).collect();
            format!("{name}: {}", lines.join(" | "))
        };
        ["munged.out", "ctld.log", "slurmctld.out", "slurmd.log"]
            .map(last)
            .join("; ")
    }

    /// A home of its own there, and no variable of ours: srun passes the environment on otherwise.
    fn launcher(there: &Path, io: &str) -> String {
        if io == "shared" {
            return "srun -N1 --chdir=.".into();
        }
        format!(
            "srun -N1 --quiet --chdir=/ env -i HOME={} PATH={}:/usr/bin:/bin",
            there.display(),
            crate::support::tools_dir().display()
        )
    }
}

#[test]
fn the_quickstart_s_goal_completes_through_slurm_and_a_cancelled_job_is_placed_anew() {
    let Some(cluster) = Cluster::start("slurm") else {
        return;
    };
    for io in WAYS {
        let sample = Sample::new();
        let there = tempfile::tempdir().unwrap();
        let report = sample
            .run(&Cluster::launcher(there.path(), io), io)
            .env("SLURM_CONF", cluster.config())
            .run()
            .code(0)
            .json();
        sample.is_done(&report);
        assert!(sample.records("placed").len() >= 8, "{}", sample.journal());
    }
    for io in WAYS {
        let yard = Yard::new(&[("README.md", "x\n")], &[slow("a", "a.txt", "2s")]);
        let run = yard
            .one(Cluster::launcher(yard.there.path(), io), io)
            .env("SLURM_CONF", cluster.config());
        let mut child = Yard::start(&run);
        eventually("the worker has reported", Duration::from_secs(60), || {
            (yard.records("placed").len() >= 2).then_some(())
        });
        let job = cluster.said("squeue", &["-h", "-o", "%i"]);
        assert!(!job.is_empty() && !job.contains('\n'), "{job}");
        cluster.said("scancel", &[&job]);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{io}: {}", yard.journal());
        yard.is_done();
        assert_eq!(
            yard.records("replaced").len(),
            1,
            "{io}: {}",
            yard.journal()
        );
        assert_eq!(yard.records("retry").len(), 0, "{io}");
        assert_eq!(cluster.said("squeue", &["-h"]), "");
    }
}
