//! Escapes 1 to 21: changing and reading files elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use baton_process::sandbox::{Border, Level, Policy, Surroundings};

use crate::world::{World, launcher};

// ---- 1 to 12: changing files elsewhere ------------------------------------------------------

#[test]
fn escape_01_writing_by_an_absolute_path() {
    World::new().refused(Border::Writes, "echo bad > $OUTSIDE/new");
}

#[test]
fn escape_02_writing_by_dots() {
    World::new().refused(Border::Writes, "echo bad > ../outside/new");
}

#[test]
fn escape_03_overwriting_the_task_file() {
    World::new().refused(Border::Writes, "echo bad > $OUTSIDE/task.json");
}

#[test]
fn escape_04_truncating() {
    World::new().refused(Border::Writes, ": > $OUTSIDE/task.json");
}

#[test]
fn escape_05_deleting() {
    World::new().refused(
        Border::Writes,
        "rm -f $OUTSIDE/secret && test ! -e $OUTSIDE/secret && false",
    );
}

#[test]
fn escape_06_renaming_out() {
    World::new().refused(Border::Writes, "mv src/a.txt $OUTSIDE/a.txt");
}

#[test]
fn escape_07_through_a_link_that_was_there() {
    let world = World::new();
    symlink(world.path("outside"), world.path("work/link")).unwrap();
    world.refused(Border::Writes, "echo bad > link/new");
}

#[test]
fn escape_08_through_a_link_made_meanwhile() {
    World::new().refused(Border::Writes, "ln -s $OUTSIDE link && echo bad > link/new");
}

#[test]
fn escape_09_through_a_hard_link() {
    World::new().refused(
        Border::Writes,
        "ln $OUTSIDE/task.json here && echo bad > here",
    );
}

#[test]
fn escape_10_through_proc_self_root() {
    World::new().refused(Border::Writes, "echo bad > /proc/self/root$OUTSIDE/new");
}

#[test]
fn escape_11_through_the_directory_of_another_process() {
    let script = "for p in /proc/[0-9]*; do echo bad > $p/root$OUTSIDE/new; \
                  echo bad > $p/cwd/../outside/new; done 2>/dev/null; exit 1";
    World::new().refused(Border::Writes, script);
}

#[test]
fn escape_12_into_the_home_and_the_system() {
    let script = "for d in $HOME /etc /usr /var /opt /boot /var/tmp/.. /; do \
                  echo bad > $d/baton-escape-test && echo wrote $d; done 2>/dev/null; exit 1";
    let world = World::new();
    let Some(outcome) = world.attempt(Border::Writes, script) else {
        return;
    };
    assert_eq!(outcome.stdout.text(), "");
    assert!(!Path::new("/etc/baton-escape-test").exists());
}

// ---- 13 to 17: attributes -------------------------------------------------------------------

#[test]
fn escape_13_chmod_elsewhere() {
    World::new().refused(Border::Attributes, "chmod 777 $OUTSIDE/task.json");
}

#[test]
fn escape_14_chown_elsewhere() {
    World::new().refused(Border::Attributes, "chown 65534 $OUTSIDE/task.json");
}

#[test]
fn escape_15_times_elsewhere() {
    World::new().refused(Border::Attributes, "touch -d 2001-01-01 $OUTSIDE/task.json");
}

#[test]
fn escape_16_chmod_through_a_link() {
    World::new().refused(
        Border::Attributes,
        "ln -s $OUTSIDE/task.json l && chmod 777 l",
    );
}

#[test]
fn escape_17_making_a_system_file_run_as_root() {
    World::new().refused(Border::Attributes, "chmod u+s /bin/sh");
}

// ---- 18 to 21: reading ----------------------------------------------------------------------

#[test]
fn escape_18_reading_a_neighbour() {
    let world = World::new();
    world.refused(Border::Reads, "cat $OUTSIDE/secret");
}

#[test]
fn escape_19_reading_password_files() {
    let script = "cat /etc/shadow /etc/gshadow 2>/dev/null | grep . && exit 0; exit 1";
    World::new().refused(Border::Reads, script);
}

#[test]
fn escape_20_reading_keys_in_the_home() {
    let home = tempfile::tempdir().unwrap();
    for name in [".ssh", ".aws", ".cargo/bin"] {
        fs::create_dir_all(home.path().join(name)).unwrap();
    }
    for name in [
        ".ssh/id_rsa",
        ".aws/credentials",
        ".netrc",
        ".cargo/credentials.toml",
    ] {
        fs::write(home.path().join(name), "the key\n").unwrap();
    }
    fs::write(home.path().join(".cargo/bin/tool"), "the tool\n").unwrap();
    let mut world = World::new();
    let path = std::env::var_os("PATH");
    let surroundings = Surroundings::new(Some(home.path().as_os_str()), path.as_deref());
    world.policy = Policy {
        tmp: world.policy.tmp.clone(),
        minimum: Level::Off,
        launcher: launcher(),
        ..Policy::for_work_tree(world.path("work"), &surroundings)
    };
    let h = home.path().display();
    let script = format!(
        "cat {h}/.cargo/bin/tool; cat {h}/.ssh/id_rsa {h}/.aws/credentials {h}/.netrc {h}/.cargo/credentials.toml; true"
    );
    let Some(outcome) = world.attempt(Border::Reads, &script) else {
        return;
    };
    assert_eq!(outcome.stdout.text(), "the tool\n");
}

#[test]
fn escape_21_reading_by_a_hard_link_or_a_copy() {
    let script = "ln $OUTSIDE/secret s 2>/dev/null; cp $OUTSIDE/secret c 2>/dev/null; \
                  cat s c 2>/dev/null | grep secret";
    World::new().refused(Border::Reads, script);
}
