//! The generated files are up to date: man pages and shell completions.
//!
//! `SNAPSHOTS=overwrite cargo test --test generated` rewrites them. The JSON Schemas are guarded in
//! `crates/protocol`, where the types are.

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use clap::Command;
use clap_complete::Shell;
use clap_complete::aot::generate;
use snapbox::{Data, assert_data_eq};

mod manual;

/// The six commands as their users meet them.
fn tools() -> [Command; 6] {
    [
        baton_vllm_health::command(),
        baton_ctx_estimate::command(),
        baton_slot_lock::command(),
        baton_worker_run::command(),
        baton_handoff_check::command(),
        baton_orchestrate::command(),
    ]
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares with the committed file, or rewrites it on demand.
fn guard(generated: Vec<u8>, path: &str) {
    let generated = String::from_utf8(generated).unwrap();
    assert_data_eq!(generated, Data::read_from(&root(path), None).raw());
}

#[test]
fn man_pages_are_what_the_commands_say() {
    for command in tools() {
        let name = command.get_name().to_owned();
        let sections = std::fs::read_to_string(root(&format!("man/sections/{name}.roff")))
            .unwrap_or_else(|e| panic!("man/sections/{name}.roff: {e}"));
        let page = manual::page(command, &sections);
        guard(page.into_bytes(), &format!("man/{name}.1"));
    }
}

#[test]
fn every_man_page_has_the_sections_people_look_for() {
    for command in tools() {
        let name = command.get_name();
        let page = std::fs::read_to_string(root(&format!("man/{name}.1"))).unwrap();
        let wanted = [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "EXIT STATUS",
            "DOCUMENTS",
            "ENVIRONMENT",
            "FILES",
            "EXAMPLES",
            "SEE ALSO",
        ];
        let mut last = 0;
        for section in wanted {
            let at = page
                .find(&format!("\n.SH \"{section}\"\n"))
                .or_else(|| page.find(&format!("\n.SH {section}\n")));
            let at = at.unwrap_or_else(|| panic!("man/{name}.1 has no section {section}"));
            assert!(at > last, "man/{name}.1: section {section} is out of order");
            last = at;
        }
    }
}

#[test]
fn man_pages_pass_mandoc_lint() {
    if Process::new("mandoc").arg("-V").output().is_err()
        && Process::new("mandoc").output().is_err()
    {
        eprintln!("man_pages_pass_mandoc_lint: skipped, mandoc is not installed");
        return;
    }
    for command in tools() {
        let page = root(&format!("man/{}.1", command.get_name()));
        let output = Process::new("mandoc")
            .args(["-Tlint", "-W", "warning"])
            .arg(&page)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

#[test]
fn completions_are_what_the_commands_say() {
    for command in tools() {
        let name = command.get_name().to_owned();
        let files = [
            (Shell::Bash, format!("completions/{name}.bash")),
            (Shell::Zsh, format!("completions/_{name}")),
            (Shell::Fish, format!("completions/{name}.fish")),
        ];
        for (shell, path) in files {
            let mut script = Vec::new();
            generate(shell, &mut command.clone(), &name, &mut script);
            guard(script, &path);
        }
    }
}

#[test]
fn completions_are_read_by_their_shells() {
    for command in tools() {
        let name = command.get_name();
        let shells = [
            (
                "bash",
                vec!["-n".to_owned()],
                format!("completions/{name}.bash"),
            ),
            ("zsh", vec!["-n".to_owned()], format!("completions/_{name}")),
            (
                "fish",
                vec!["--no-execute".to_owned()],
                format!("completions/{name}.fish"),
            ),
        ];
        for (shell, arguments, path) in shells {
            let Ok(output) = Process::new(shell)
                .args(arguments)
                .arg(root(&path))
                .output()
            else {
                eprintln!(
                    "completions_are_read_by_their_shells: {shell} is not installed, skipped"
                );
                continue;
            };
            assert!(
                output.status.success(),
                "{path}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

#[test]
fn hand_wrapped_help_is_not_wrapped_again() {
    for command in tools() {
        let name = command.get_name().to_owned();
        let text = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        for line in text.lines() {
            assert!(
                line.chars().count() <= 98,
                "{name} --help: too long: {line}"
            );
        }
    }
}

#[test]
fn help_fits_two_screens_and_shows_examples() {
    for mut command in tools() {
        let name = command.get_name().to_owned();
        let help = command.render_help().to_string();
        let lines = help.lines().count();
        assert!(lines <= 80, "{name} --help has {lines} lines");
        assert!(
            help.contains("Examples:"),
            "{name} --help shows no examples"
        );
        for subcommand in command.get_subcommands_mut() {
            let sub = subcommand.get_name().to_owned();
            let help = subcommand.render_help().to_string();
            let lines = help.lines().count();
            assert!(lines <= 80, "{name} {sub} --help has {lines} lines");
            let flag = subcommand.get_arguments().find(|a| a.get_id() == "help");
            // (`help` itself has none.)
            if let Some(flag) = flag {
                let heading = flag.get_help_heading();
                assert_eq!(heading, Some("Common options"), "{name} {sub}: --help");
            }
        }
    }
}
