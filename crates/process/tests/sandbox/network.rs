//! Escapes 27 to 33: network and sockets.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;

use baton_process::sandbox::{Border, Network, Policy};

use crate::world::{World, covers, has};

#[test]
fn escape_27_tcp_to_our_loopback() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    if has("bash") {
        let script = format!("bash -c 'echo bad > /dev/tcp/127.0.0.1/{port}'");
        World::new().refused(Border::Network, &script);
    }
}

#[test]
fn escape_28_udp_to_our_loopback() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let port = socket.local_addr().unwrap().port();
    let world = World::new();
    if !has("bash") || !covers(&world.policy, Border::Network) {
        return;
    }
    world.run(&format!("bash -c 'echo bad > /dev/udp/127.0.0.1/{port}'"));
    assert!(socket.recv(&mut [0; 16]).is_err(), "nothing must arrive");
}

#[test]
fn escape_29_no_route_to_the_world() {
    if has("bash") {
        World::new().refused(
            Border::Network,
            "bash -c 'echo bad > /dev/tcp/192.0.2.1/80'",
        );
    }
}

#[test]
fn escape_30_network_none_has_no_loopback_either() {
    let mut world = World::new();
    world.policy.network = Network::None;
    if has("python3") {
        let serve = "import socket; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); \
                     c=socket.create_connection(s.getsockname(), 2)";
        world.refused(Border::Network, &format!("python3 -c \"{serve}\""));
    }
}

#[test]
fn a_loopback_of_its_own_works() {
    let world = World::new();
    if has("python3") && covers(&world.policy, Border::Network) {
        let serve = "import socket; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); \
                     c=socket.create_connection(s.getsockname(), 2); print('met')";
        let outcome = world.run(&format!("python3 -c \"{serve}\""));
        assert_eq!(outcome.stdout.text(), "met\n", "{outcome:?}");
    }
}

fn connects(world: &World, address: &str) -> Option<bool> {
    let client = "import socket,sys,time; s=socket.socket(socket.AF_UNIX); s.settimeout(2); \
                  a=sys.argv[1]; s.connect('\\0'+a[1:] if a[0]=='@' else a); s.send(b'bad')";
    if !has("python3") || !covers(&world.policy, Border::Sockets) {
        return None;
    }
    Some(
        world
            .run(&format!("python3 -c \"{client}\" {address}"))
            .success(),
    )
}

#[test]
fn escape_31_a_unix_socket_in_tmp() {
    let world = World::new();
    let path = world.path("outside/socket");
    let _listener = UnixListener::bind(&path).unwrap();
    if let Some(connected) = connects(&world, path.to_str().unwrap()) {
        assert!(!connected);
    }
}

#[test]
fn escape_31_a_unix_socket_in_the_work_tree_or_in_a_readable_place() {
    let mut world = World::new();
    std::fs::create_dir(world.path("readable")).unwrap();
    world.policy.read.push(world.path("readable"));
    let paths = ["work/src/db.sock", "readable/my db.sock"].map(|name| world.path(name));
    let _listeners = paths
        .each_ref()
        .map(|path| UnixListener::bind(path).unwrap());
    for path in &paths {
        if let Some(connected) = connects(&world, &format!("'{}'", path.display())) {
            assert!(!connected, "{}", path.display());
        }
    }
    // A socket of its own is no secret to it.
    if has("python3") && covers(&world.policy, Border::Sockets) {
        let own = "import socket; s=socket.socket(socket.AF_UNIX); s.bind('own.sock'); s.listen(); \
                   c=socket.socket(socket.AF_UNIX); c.connect('own.sock'); print('met')";
        let outcome = world.run(&format!("python3 -c \"{own}\""));
        assert_eq!(outcome.stdout.text(), "met\n", "{outcome:?}");
    }
}

#[test]
fn escape_32_an_abstract_socket() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("baton-escape-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let world = World::new();
    if let Some(connected) = connects(&world, &format!("@{name}")) {
        assert!(!connected);
    }
    let shared = World {
        policy: Policy {
            network: Network::All,
            ..world.policy
        },
        dir: world.dir,
    };
    if let Some(connected) = connects(&shared, &format!("@{name}")) {
        assert!(!connected, "with our network too");
    }
}

#[test]
fn escape_33_sockets_in_run_are_not_there() {
    let world = World::new();
    let Some(outcome) = world.attempt(Border::Sockets, "find /run -type s 2>/dev/null") else {
        return;
    };
    assert_eq!(outcome.stdout.text(), "");
}
