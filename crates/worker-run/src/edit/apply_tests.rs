use super::{Applied, Edit, Refused, apply};
use crate::edit::find::How;
use crate::edit::text::TextFile;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

fn file(bytes: &[u8]) -> TextFile {
    TextFile::decode(bytes).unwrap()
}

fn edit(old: &str, new: &str) -> Edit {
    Edit {
        old: old.into(),
        new: new.into(),
        ..Edit::default()
    }
}

fn one(bytes: &[u8], old: &str, new: &str) -> Result<Applied, Refused> {
    apply(&file(bytes), &[edit(old, new)])
}

#[test]
fn e01_crlf_is_matched_and_written_back() {
    let done = one(
        b"def a():\r\n    pass\r\nx = 1\n",
        "def a():\n    pass\n",
        "def a():\n    return 1\n",
    )
    .unwrap();
    assert_eq!(done.file.encode(), b"def a():\r\n    return 1\r\nx = 1\n");
    // Behind other lines, where a place in the text is not the place in the file.
    let done = one(b"a\r\nb\r\nc\r\nd\r\n", "c\n", "x\ny\n").unwrap();
    assert_eq!(done.file.encode(), b"a\r\nb\r\nx\r\ny\r\nd\r\n");
}

#[test]
fn e02_crlf_with_tabs_over_several_lines() {
    let text = b"\t\tif (!f) {\r\n\t\t\tthrow e;\r\n\t\t}\r\n";
    let done = one(
        text,
        "\t\tif (!f) {\n\t\t\tthrow e;\n",
        "\t\tif (f) {\n\t\t\treturn;\n",
    )
    .unwrap();
    assert_eq!(
        done.file.encode(),
        b"\t\tif (f) {\r\n\t\t\treturn;\r\n\t\t}\r\n"
    );
}

#[test]
fn e03_a_similar_block_is_no_match() {
    let text = b"struct A {\r\n    name: String,\r\n    size: u64,\r\n}\r\n";
    let refused = one(text, "struct A {\n    nam: String,\n    size: u64,\n}", "x").unwrap_err();
    assert!(matches!(refused, Refused::NotFound { .. }));
}

#[test]
fn e04_no_place_and_several_places_are_errors_with_the_count() {
    let refused = one(b"x\ny\nx\nx\n", "x", "z").unwrap_err();
    assert!(refused.to_string().contains("3 places"), "{refused}");
    assert!(refused.to_string().contains("lines 1, 3, 4"), "{refused}");
    assert!(matches!(
        one(b"a\n", "q", "z"),
        Err(Refused::NotFound { .. })
    ));
}

#[test]
fn e05_a_batch_is_atomic_and_says_what_came_before() {
    let edits = [edit("b", "a"), edit("a", "c")];
    let refused = apply(&file(b"a\nb\n"), &edits).unwrap_err();
    assert!(
        refused.to_string().contains("after the earlier edits"),
        "{refused}"
    );
    let done = apply(&file(b"a\nb\n"), &[edit("a", "1"), edit("b", "2")]).unwrap();
    assert_eq!(done.file.raw, "1\n2\n");
    assert_eq!(done.replaced, 2);
}

#[test]
fn e06_a_tolerant_match_must_be_unique_as_well() {
    let refused = one(b"if a: \n  go\nif a:  \n  go\n", "if a:\n  go", "x").unwrap_err();
    assert!(matches!(refused, Refused::Ambiguous { count: 2, .. }));
}

#[test]
fn e07_the_result_says_how_it_matched_and_the_new_text_is_moved_along() {
    let text = b"class A:\n    def f(self):\n        return a - b\n";
    let done = one(
        text,
        "def f(self):\n    return a - b",
        "def f(self):\n    return a + b",
    )
    .unwrap();
    assert_eq!(done.how, How::Indentation);
    assert_eq!(
        done.file.raw,
        "class A:\n    def f(self):\n        return a + b\n"
    );
}

#[test]
fn e07_a_narrower_indentation_unit_is_widened() {
    let text = b"def add(a, b):\n    return a - b\n";
    let done = one(
        text,
        "def add(a, b):\n  return a - b   ",
        "def add(a, b):\n  return a + b",
    )
    .unwrap();
    assert_eq!(done.file.raw, "def add(a, b):\n    return a + b\n");
}

#[test]
fn e08_one_of_two_equal_lines_can_be_named() {
    let text = b"import io\nimport io\n";
    let at = |line| Edit {
        line: Some(line),
        ..edit("import io\n", "")
    };
    let done = apply(&file(text), &[at(2)]).unwrap();
    assert_eq!(done.file.raw, "import io\n");
    let refused = apply(&file(text), &[at(7)]).unwrap_err();
    assert!(
        refused.to_string().contains("it starts at 1, 2"),
        "{refused}"
    );
    let refused = one(text, "import io\n", "").unwrap_err();
    assert!(refused.to_string().contains("give line"), "{refused}");
}

#[test]
fn e11_the_byte_order_mark_stays() {
    let done = one(b"\xEF\xBB\xBFhello\n", "hello", "bye").unwrap();
    assert_eq!(done.file.encode(), b"\xEF\xBB\xBFbye\n");
}

#[test]
fn an_edit_that_was_done_already_says_so() {
    let refused = one(
        b"def add(a, b):\n    return a + b\n",
        "return a - b",
        "return a + b",
    )
    .unwrap_err();
    assert_eq!(refused, Refused::AlreadyApplied { line: 2 });
}

#[test]
fn what_is_not_found_shows_the_nearest_lines_with_numbers() {
    let refused = one(
        b"a = 1\n\ndef total(rows):\n    return 0\n",
        "def total(row):\n    return 1",
        "x",
    )
    .unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("3\tdef total(rows):"), "{text}");
}

#[test]
fn every_place_is_replaced_when_asked() {
    let all = Edit {
        all: true,
        ..edit("x", "yy")
    };
    let done = apply(&file(b"x x\nx\n"), &[all]).unwrap();
    assert_eq!((done.file.raw.as_str(), done.replaced), ("yy yy\nyy\n", 3));
}

#[test]
fn nothing_to_change_is_an_error() {
    assert_eq!(one(b"a\n", "a", "a").unwrap_err(), Refused::NoChange);
    assert_eq!(one(b"a\n", "", "b").unwrap_err(), Refused::EmptyOld);
}

proptest! {
    #[test]
    fn a_unique_line_is_replaced_and_nothing_else(before in "[a-c \n\r]{0,20}", after in "[a-c \n]{0,20}") {
        let text = format!("{before}\nUNIQUE\n{after}");
        let done = one(text.as_bytes(), "UNIQUE", "new").unwrap();
        prop_assert_eq!(done.file.raw, text.replace("UNIQUE", "new"));
    }

    #[test]
    fn no_input_panics(text in "[ab \n\r\té]{0,30}", old in "[ab \n\r\té]{0,8}", new in "[ab\n]{0,5}", line in 0u64..4) {
        let edit = Edit { line: Some(line), all: line == 3, ..edit(&old, &new) };
        if let Ok(done) = apply(&file(text.as_bytes()), &[edit]) {
            prop_assert!(done.replaced > 0);
        }
    }
}
