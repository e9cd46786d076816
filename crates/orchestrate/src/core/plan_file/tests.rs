use baton_protocol::{TaskId, VerifyCommand};
use proptest::prelude::*;

use super::convert::{Around, plan};
use super::write::{set_status, tick};
use super::{PlanFile, read};

fn parse(text: &str) -> PlanFile {
    read(text, "name").unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn titles(text: &str) -> Vec<String> {
    parse(text).steps.into_iter().map(|s| s.title).collect()
}

fn id(name: &str) -> TaskId {
    TaskId::new(name).unwrap()
}

fn depends(text: &str) -> Result<Vec<(String, String)>, String> {
    let around = Around {
        role: "implementer",
        checks: &[],
        is_command: &|line| line.starts_with("make"),
    };
    let made = plan(&parse(text), &around)?;
    Ok(made
        .depends
        .iter()
        .map(|(a, b)| (a.to_string(), b.to_string()))
        .collect())
}

#[test]
fn outermost_boxes_are_steps_and_inner_ones_their_parts() {
    let text = "# Big plan\n\nWords.\n\n## Phase 1\n- [ ] One\n  - [ ] part\n  more\n- [x] Two\n\n## Phase 2\n\t- [ ] Three\n1. [ ] Four\n";
    let found = parse(text);
    assert_eq!(found.title, "Big plan");
    assert_eq!(titles(text), ["One", "Two", "Three", "Four"]);
    assert_eq!(found.steps[0].body, "- [ ] part\nmore");
    assert_eq!(found.done(), 1);
    assert!(found.preamble.contains("Words."));
}

#[test]
fn headings_called_tasks_own_the_boxes_below_them() {
    let text = "# Plan\n\n### Task 1: Parser\n\n**Files:**\n- Create: `src/p.rs`\n- Test: `tests/p.rs:1-9`\n\n- [ ] **Step 1: write**\n- [ ] run it\n\n### Task 2: Use it\n**Depends on:** Task 1\n\n- [x] a\n- [x] b\n\n## Notes\n- [ ] no step\n";
    let found = parse(text);
    assert_eq!(titles(text), ["Task 1: Parser", "Task 2: Use it"]);
    assert_eq!(found.steps[0].fields.files, ["src/p.rs", "tests/p.rs"]);
    assert_eq!(
        found.steps[1].fields.depends.as_deref().unwrap(),
        ["Task 1"]
    );
    assert!(!found.steps[0].done && found.steps[1].done);
    let ticked = tick(text, &found.steps[0].id, true).unwrap();
    assert!(
        ticked.contains("- [x] **Step 1: write**\n- [x] run it\n"),
        "{ticked}"
    );
    assert!(ticked.contains("- [ ] no step"), "{ticked}");
}

#[test]
fn numbered_headings_and_numbered_lists_are_steps_where_nothing_else_is() {
    assert_eq!(titles("# P\n## 1. A\nx\n## 2) B\n"), ["1. A", "2) B"]);
    let list = "# P\nSteps:\n1. A\n   - detail\n2. B\n";
    assert_eq!(titles(list), ["A", "B"]);
    let ticked = tick(list, &id("b"), true).unwrap();
    assert!(
        ticked.ends_with("1. [ ] A\n   - detail\n2. [x] B\n"),
        "{ticked}"
    );
    assert_eq!(titles(&ticked), ["A", "B"]);
    assert_eq!(
        titles("# P\n### [ ] First thing\n### [x] Second\n"),
        ["First thing", "Second"]
    );
}

#[test]
fn a_plan_without_steps_is_an_error_that_shows_the_form() {
    for text in [
        "",
        "\u{feff}",
        "# P\n\nOnly words.\n",
        "```\n- [ ] in a fence\n```\n",
    ] {
        let error = read(text, "p").unwrap_err();
        assert!(
            error.contains("- [ ] What is to be done"),
            "{text}: {error}"
        );
    }
    assert!(read("---\nstatus: done\n---\n", "p").unwrap().is_complete());
    let long = "- [ ] x\n".repeat(20_000);
    assert!(read(&long, "p").unwrap_err().contains("120000"));
    assert!(
        read("---\norder: odd\n---\n- [ ] x\n", "p")
            .unwrap_err()
            .contains("odd")
    );
}

#[test]
fn complete_is_what_says_so_or_is_ticked() {
    for text in [
        "---\nstatus: \"complete\"\n---\n- [ ] x\n",
        "# P\n## Status\n\ncompleted\n\n- [ ] x\n",
        "- [x] a\n- [X] b\n- [-] dropped\n",
    ] {
        assert!(parse(text).is_complete(), "{text}");
    }
    for text in [
        "- [x] a\n- [~] b\n",
        "---\nstatus: in progress\n---\n- [ ] a\n",
    ] {
        assert!(!parse(text).is_complete(), "{text}");
    }
}

#[test]
fn the_same_title_twice_is_two_steps() {
    let text = "- [ ] Add tests\n- [ ] Add tests\n- [ ] 🚀\n- [ ] 🚀🚀\n- [ ] Add tests 2\n";
    let ids: Vec<String> = parse(text).steps.iter().map(|s| s.id.to_string()).collect();
    assert_eq!(
        ids,
        [
            "add-tests",
            "add-tests-2",
            "step",
            "step-2",
            "add-tests-2-2"
        ]
    );
    let ticked = tick(text, &id("add-tests-2"), true).unwrap();
    assert!(
        ticked.starts_with("- [ ] Add tests\n- [x] Add tests\n"),
        "{ticked}"
    );
    assert_eq!(
        tick(&ticked, &id("add-tests-2"), true),
        None,
        "it stands so already"
    );
    assert_eq!(tick(&ticked, &id("add-tests-2"), false).unwrap(), text);
    assert_eq!(tick(text, &id("gone"), true), None);
}

#[test]
fn the_status_is_written_where_it_stands() {
    for (before, after) in [
        (
            "---\nstatus: 'open' # x\nk: v\n---\n- [ ] a\n",
            "---\nstatus: 'paused' # x\nk: v\n---\n- [ ] a\n",
        ),
        (
            "---\r\nk: v\r\n---\r\n- [ ] a\r\n",
            "---\r\nk: v\r\nstatus: paused\r\n---\r\n- [ ] a\r\n",
        ),
        (
            "---\nstatus:\n---\n- [ ] a\n",
            "---\nstatus: paused\n---\n- [ ] a\n",
        ),
        (
            "# P\n## Status\n\n- open\n\n- [ ] a\n",
            "# P\n## Status\n\n- paused\n\n- [ ] a\n",
        ),
        ("- [ ] a\n## Status\n", "- [ ] a\n## Status\n\npaused\n"),
        ("- [ ] a\n## Status", "- [ ] a\n## Status\n\npaused\n"),
        ("- [ ] a\n", "---\nstatus: paused\n---\n\n- [ ] a\n"),
        (
            "\u{feff}- [ ] a\r\n",
            "\u{feff}---\r\nstatus: paused\r\n---\r\n\r\n- [ ] a\r\n",
        ),
    ] {
        let written = set_status(before, "paused").unwrap();
        assert_eq!(written, after);
        assert_eq!(set_status(&written, "paused"), None);
        assert_eq!(
            parse(&written).status.as_deref(),
            Some("paused"),
            "{written}"
        );
    }
}

#[test]
fn steps_wait_for_what_is_written_for_their_order_and_for_shared_files() {
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        depends("- [ ] a\n- [x] b\n- [ ] c\n").unwrap(),
        [pair("a", "c")]
    );
    let free = "---\norder: any\n---\n";
    let with = |body: &str| depends(&format!("{free}{body}")).unwrap();
    let files = "- [ ] a\n  files: a.rs\n- [ ] b\n  files: b.rs\n- [ ] c\n  files: a.rs\n";
    assert_eq!(with(files), [pair("a", "c")]);
    assert_eq!(
        with("- [ ] a\n- [ ] b\n- [ ] c\n"),
        [pair("a", "b"), pair("b", "c")]
    );
    let named = "- [ ] a (files: a.rs)\n- [ ] b (files: b.rs; depends: 3)\n- [ ] c (files: c.rs; after: none)\n";
    assert_eq!(depends(named).unwrap(), [pair("c", "b")]);
    let all = "- [ ] a (files: a.rs; after: none)\n- [ ] b (files: b.rs; after: none)\n- [ ] c (files: c.rs; after: all)\n";
    assert_eq!(depends(all).unwrap(), [pair("a", "c"), pair("b", "c")]);
    let error = depends("- [ ] a\n- [ ] b (after 7)\n").unwrap_err();
    assert!(
        error.contains("line 2") && error.contains("number 7"),
        "{error}"
    );
    let error = depends("- [ ] a\n- [ ] b (after zebra)\n").unwrap_err();
    assert!(error.contains("`zebra`"), "{error}");
}

#[test]
fn a_step_becomes_a_task_that_stands_by_itself() {
    let text = "---\nverify: make check\n---\n# Ship\n\nUse tabs.\n\n- [x] First\n- [ ] Second\n  Do it well.\n  - verification: looks right\n- [ ] Third\n  verify: make third\n  role: reviewer\n";
    let around = Around {
        role: "implementer",
        checks: &[VerifyCommand {
            command: "never".into(),
            timeout_ms: None,
        }],
        is_command: &|line| line.starts_with("make"),
    };
    let made = plan(&parse(text), &around).unwrap();
    assert_eq!(made.tasks.len(), 2);
    let second = &made.tasks[0];
    for words in ["Second\n\nDo it well.", "\"Ship\"", "- First", "Use tabs."] {
        assert!(second.prompt.contains(words), "{words}: {}", second.prompt);
    }
    assert_eq!(second.verify[0].command, "make check");
    assert_eq!(second.done_when, ["looks right"]);
    assert_eq!(second.write_scope(), Some(&["**".to_owned()][..]));
    let third = &made.tasks[1];
    assert_eq!(third.verify[0].command, "make third");
    assert_eq!(
        (third.role.as_str(), third.write_scope()),
        ("reviewer", Some(&[][..]))
    );
}

proptest! {
    /// Whatever the file looks like: ticking a step changes its marks and nothing else, and every
    /// other step stays what it was.
    #[test]
    fn ticking_changes_one_step_and_keeps_every_other_byte(
        text in "(- \\[[ x]\\] [abc]{1,2}|  - \\[ \\] d|\t- \\[ \\] e|### Task [1-3]: f|```|words|1\\. g|## Status|)(\n(- \\[[ x]\\] [abc]{1,2}|  - \\[ \\] d|\t- \\[ \\] e|### Task [1-3]: f|```|words|1\\. g|)\r?){0,12}"
    ) {
        let Ok(before) = read(&text, "p") else { return Ok(()) };
        for step in &before.steps {
            let Some(ticked) = tick(&text, &step.id, !step.done) else {
                return Err(TestCaseError::fail("a step that is there cannot be ticked"));
            };
            let after = read(&ticked, "p").unwrap();
            prop_assert_eq!(after.steps.len(), before.steps.len());
            for (old, new) in before.steps.iter().zip(&after.steps) {
                prop_assert_eq!(&old.id, &new.id);
                prop_assert_eq!(new.done, if old.id == step.id { !old.done } else { old.done });
            }
            let bare = |t: &str| t.replace("[x] ", "").replace("[ ] ", "");
            prop_assert_eq!(bare(&ticked), bare(&text));
        }
    }
}
