//! Escapes 22 to 26: changing what git on the host will believe.

use std::fs;
use std::os::unix::fs::symlink;

use baton_process::sandbox::Border;

use crate::world::{World, covers};

#[test]
fn escape_22_a_git_hook() {
    let world = World::new();
    world.refused(Border::Protected, "echo bad > .git/hooks/post-checkout");
    assert!(!world.path("work/.git/hooks/post-checkout").exists());
}

#[test]
fn escape_23_git_configuration() {
    let world = World::new();
    world.refused(
        Border::Protected,
        "echo '[core] fsmonitor = ./bad' >> .git/config",
    );
    assert_eq!(
        fs::read_to_string(world.path("work/.git/config")).unwrap(),
        "[core]\n"
    );
}

#[test]
fn escape_24_another_git_folder_in_its_place() {
    let world = World::new();
    world.refused(
        Border::Protected,
        "mv .git old && mkdir .git && echo bad > .git/config",
    );
    assert!(world.path("work/.git/hooks").is_dir());
}

#[test]
fn escape_25_git_through_another_name_of_it() {
    world_with_link_to_git().refused(Border::Protected, "echo bad > src/g/config");
}

fn world_with_link_to_git() -> World {
    let world = World::new();
    symlink("../.git", world.path("work/src/g")).unwrap();
    world
}

#[test]
fn escape_26_a_git_file_that_points_elsewhere() {
    let world = World::new();
    fs::remove_dir_all(world.path("work/.git")).unwrap();
    fs::write(world.path("work/.git"), "gitdir: /somewhere\n").unwrap();
    // A plain file does not count against the coverage, so the mounts are asked for.
    if !covers(&world.policy, Border::Attributes) {
        return;
    }
    world.refused(Border::Writes, "echo 'gitdir: /bad' > .git");
    world.refused(Border::Writes, "rm -f .git; echo 'gitdir: /bad' > .git");
    assert_eq!(
        fs::read_to_string(world.path("work/.git")).unwrap(),
        "gitdir: /somewhere\n"
    );
}
