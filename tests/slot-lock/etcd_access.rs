//! Users, passwords and certificates of an etcd cluster.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::etcd::WAIT;
use crate::kit::{Holder, Slots};
use crate::members::{Cluster, has, is_installed, ports, program};
use crate::support::eventually;

#[test]
fn a_user_and_password_are_used_and_used_again_when_the_token_is_refused() {
    let Some(mut cluster) = Cluster::start(1) else {
        return;
    };
    for words in [
        &["user", "add", "root:rootpw"][..],
        &["user", "add", "agent:agentpw"],
        &["role", "add", "slots"],
        &[
            "role",
            "grant-permission",
            "slots",
            "--prefix=true",
            "readwrite",
            "u/",
        ],
        &["user", "grant-role", "agent", "slots"],
        &["user", "grant-role", "root", "root"],
        &["auth", "enable"],
    ] {
        assert!(cluster.etcdctl(words).is_some(), "{words:?}");
    }
    let slots = Slots::on(&cluster.store("u", 6));
    let words = ["--key", "k", "--slots", "1", "--", "true"];
    slots.run(&words).run().code(78).stderr_has("ETCDCTL_USER");
    let wrong = slots.run(&words).env("ETCDCTL_USER", "agent:no").run();
    wrong.code(78).stderr_has("agent");
    let ours = |slots: &Slots| {
        slots
            .run(&words)
            .env("ETCDCTL_USER", "agent")
            .env("ETCDCTL_PASSWORD", "agentpw")
    };
    ours(&slots).run().code(0);
    let other = Slots::on(&cluster.store("elsewhere", 6));
    ours(&other).run().code(78).stderr_has("permission denied");

    // A member that was restarted has forgotten its tokens; the holder's lease lives on.
    let run = slots
        .run(&["--key", "k", "--slots", "1"])
        .env("ETCDCTL_USER", "agent:agentpw");
    let holder = Holder::start(&run.args(["--", "sh", "-c", WAIT]));
    cluster.restart(0);
    eventually("the member is back", Duration::from_secs(60), || {
        let ended = slots
            .run(&["status", "k"])
            .env("ETCDCTL_USER", "agent:agentpw")
            .run();
        (ended.code == Some(1)).then_some(())
    });
    assert_eq!(holder.finish().code(), Some(5));
    ours(&slots).run().code(0);
}

/// A certificate authority, and certificates of it for the server and a client.
const CERTIFICATES: &str = r#"cd "$1" && exec 2> openssl.log || exit 1
new="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
openssl req -x509 $new -keyout ca.key -out ca.pem -subj /CN=ca -days 30 || exit 1
printf 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n' > ext
for name in server client; do
    openssl req $new -keyout $name.key -out $name.csr -subj /CN=$name || exit 1
    openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $name.pem \
        -days 30 -extfile ext || exit 1
done"#;

/// A process that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_cluster_that_wants_certificates_is_spoken_to_with_ours() {
    if !is_installed() || !has("openssl", "version") {
        eprintln!("skipped: needs etcd and openssl");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let made = Command::new("sh")
        .args(["-c", CERTIFICATES, "sh"])
        .arg(directory.path())
        .status();
    assert!(made.unwrap().success());
    let file = |name: &str| directory.path().join(name);
    let [client, peer] = ports(2)[..] else {
        panic!("two ports")
    };
    let (client, peer) = (
        format!("https://127.0.0.1:{client}"),
        format!("http://127.0.0.1:{peer}"),
    );
    let member = Command::new(program("etcd"))
        .arg("--data-dir")
        .arg(file("data"))
        .args([
            "--listen-client-urls",
            &client,
            "--advertise-client-urls",
            &client,
        ])
        .args([
            "--listen-peer-urls",
            &peer,
            "--initial-advertise-peer-urls",
            &peer,
        ])
        .args(["--initial-cluster", &format!("default={peer}")])
        .args([
            "--client-cert-auth",
            "--logger",
            "zap",
            "--log-level",
            "error",
        ])
        .arg("--cert-file")
        .arg(file("server.pem"))
        .arg("--key-file")
        .arg(file("server.key"))
        .arg("--trusted-ca-file")
        .arg(file("ca.pem"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let member = Running(member);
    let slots = Slots::on(&format!("etcds{}/t", client.strip_prefix("https").unwrap()));
    let run = |identity: bool| {
        let words = [
            "--key",
            "k",
            "--slots",
            "1",
            "--",
            "sh",
            "-c",
            "echo $BATON_FENCE",
        ];
        let run = slots.run(&words).env("ETCDCTL_CACERT", file("ca.pem"));
        if !identity {
            return run.run();
        }
        run.env("ETCDCTL_CERT", file("client.pem"))
            .env("ETCDCTL_KEY", file("client.key"))
            .run()
    };
    let ended = eventually("the member is up", Duration::from_secs(60), || {
        let ended = run(true);
        (ended.code == Some(0)).then_some(ended)
    });
    assert!(ended.stdout.trim().parse::<u64>().unwrap() > 0);
    run(false).code(78).stderr_has("ETCDCTL_CERT");
    let words = ["--key", "k", "--slots", "1", "--", "true"];
    let wrong = slots.run(&words).env("ETCDCTL_CACERT", file("client.pem"));
    wrong.run().code(78).stderr_has("ETCDCTL_CACERT");
    drop(member);
}
