use super::{Change, begins_foreign_block, parse_reply};
use proptest::prelude::{any, proptest};

fn whole(path: &str, text: &str) -> Change {
    Change::Whole {
        path: path.into(),
        text: text.into(),
    }
}

#[test]
fn the_path_stands_before_in_the_fence_or_in_the_first_line() {
    for reply in [
        "src/a.py\n```python\nx = 1\n```",
        "Here it is:\n\n### `src/a.py`\n\n```python\nx = 1\n```\nThat fixes it.",
        "**src/a.py**:\n```\nx = 1\n```",
        "File: src/a.py\n```python\nx = 1\n```",
        "```python src/a.py\nx = 1\n```",
        "```python:src/a.py\nx = 1\n```",
        "```python\n# src/a.py\nx = 1\n```",
        "The fix for `src/a.py` is this:\n~~~python\nx = 1\n~~~",
    ] {
        let parsed = parse_reply(reply, None);
        assert_eq!(parsed.changes, [whole("src/a.py", "x = 1\n")], "{reply}");
        assert!(parsed.problems.is_empty(), "{reply}");
    }
}

#[test]
fn without_a_path_the_only_file_is_meant() {
    let reply = "Fixed:\n```python\nx = 1\n```";
    assert_eq!(
        parse_reply(reply, Some("a.py")).changes,
        [whole("a.py", "x = 1\n")]
    );
    let long = "Fixed:\n```python\na\nb\nc\nd\n```";
    let parsed = parse_reply(long, None);
    assert!(parsed.changes.is_empty() && parsed.problems[0].contains("no path"));
}

#[test]
fn a_block_that_does_not_end_is_never_applied() {
    let parsed = parse_reply("a.py\n```python\nx = 1\nif x", None);
    assert!(parsed.changes.is_empty());
    assert!(
        parsed.problems[0].contains("a.py does not end"),
        "{:?}",
        parsed.problems
    );
}

#[test]
fn search_and_replace_blocks() {
    let reply = "a.py\n```\n<<<<<<< SEARCH\nold 1\n=======\nnew 1\nnew 2\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nold 2\n=======\n>>>>>>> REPLACE\n```";
    let parsed = parse_reply(reply, None);
    let [Change::Edits { path, edits }] = parsed.changes.as_slice() else {
        panic!("{parsed:?}");
    };
    assert_eq!(path, "a.py");
    assert_eq!(
        (edits[0].old.as_str(), edits[0].new.as_str()),
        ("old 1\n", "new 1\nnew 2\n")
    );
    assert_eq!(
        (edits[1].old.as_str(), edits[1].new.as_str()),
        ("old 2\n", "")
    );
}

#[test]
fn a_cut_search_block_is_refused_whole() {
    let reply = "a.py\n```\n<<<<<<< SEARCH\nold 1\n=======\nnew\n```";
    let parsed = parse_reply(reply, None);
    assert!(parsed.changes.is_empty() && parsed.problems[0].contains("not complete"));
}

#[test]
fn commands_for_people_are_no_files() {
    let parsed = parse_reply("Run it:\n```bash\npython3 test.py\n```", Some("a.py"));
    assert!(parsed.changes.is_empty() && parsed.problems.is_empty());
}

#[test]
fn the_last_of_several_versions_counts() {
    let reply = "a.py\n```\nx = 1\n```\nOr better:\na.py\n```\nx = 2\n```";
    assert_eq!(parse_reply(reply, None).changes, [whole("a.py", "x = 2\n")]);
}

#[test]
fn a_block_for_a_file_of_others_after_a_whole_one_is_noticed_as_it_begins() {
    let own = |path: &str| path == "a.py";
    let reply = "a.py\n```python\nx = 1\n```\n\ntest_a.py\n```python\nassert";
    assert!(begins_foreign_block(reply, &own));
    assert!(!begins_foreign_block(
        "a.py\n```python\nx = 1\n```\n\ntest_a.py\n",
        &own
    ));
    assert!(!begins_foreign_block("test_a.py\n```python\nassert", &own));
    assert!(!begins_foreign_block("a.py\n```python\nx = 1\n", &own));
}

#[test]
fn a_markdown_file_with_fences_inside() {
    let reply = "README.md\n```markdown\n# T\n```sh\nmake\n```\nend\n```";
    assert_eq!(
        parse_reply(reply, None).changes,
        [whole("README.md", "# T\n```sh\nmake\n```\nend\n")]
    );
}

#[test]
fn done_is_the_word_alone() {
    assert!(parse_reply("DONE", None).done);
    assert!(parse_reply("All fine.\n**DONE.**", None).done);
    assert!(!parse_reply("I am not DONE yet", None).done);
    assert!(!parse_reply("DONE\na.py\n```\nx\n```", None).done);
}

#[test]
fn e18_a_language_is_no_file_name() {
    let parsed = parse_reply("php\n```php\na\nb\nc\nd\n```", None);
    assert!(parsed.changes.is_empty());
}

proptest! {
    #[test]
    fn any_reply_is_read_without_panic(reply in any::<String>()) {
        let _ = parse_reply(&reply, Some("a.py"));
    }

    #[test]
    fn pieces_in_any_order_do_not_panic(parts in proptest::collection::vec(proptest::sample::select(vec![
        "```", "```py\n", "\n", "a.py\n", "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "x\n", "é", "~~~\n",
    ]), 0..14)) {
        let _ = parse_reply(&parts.concat(), None);
    }
}
