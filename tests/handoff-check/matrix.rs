//! Twelve kinds of false hand-off and twelve honest ones, each in three forms of report.

use serde_json::{Value, json};

use crate::kit::{Case, envelope, handoff, markdown};
use crate::support::git;

/// How a report is written.
#[derive(Debug, Clone, Copy)]
enum Form {
    Handoff,
    Envelope,
    Headings,
}

const FORMS: [Form; 3] = [Form::Handoff, Form::Envelope, Form::Headings];

/// A report with these files and, if any, another outcome.
fn report(form: Form, files: &[&str], outcome: Option<&str>) -> String {
    const OUTCOME: &str = "The bound is inclusive now.";
    match form {
        Form::Handoff => with_outcome(handoff(files), outcome),
        Form::Envelope => with_outcome(envelope(files), outcome),
        Form::Headings => markdown(files).replace(OUTCOME, outcome.unwrap_or(OUTCOME)),
    }
}

fn with_outcome(mut report: Value, outcome: Option<&str>) -> String {
    if let Some(outcome) = outcome {
        report["outcome"] = json!(outcome);
    }
    report.to_string()
}

const TEST: &str = "import unittest, sys\nsys.path.insert(0, 'src')\nimport a\n\n\
    class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(a.last([1, 2]), 2)\n";
const WRONG: &str = "def last(x):\n    return x[0]\n";
const RIGHT: &str = "def last(x):\n    return x[-1]\n";
const CHECK: &str = "PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s checks";

/// A repository with a bug, a test that shows it, and the task to mend it.
fn case() -> Case {
    let files = [
        ("src/a.py", WRONG),
        ("src/b.py", "B = 1\n"),
        ("checks/test_a.py", TEST),
        ("README.md", "r\n"),
    ];
    Case::new(&files).verify(&[CHECK]).flags(&["--rerun"])
}

/// One kind: what is done to the repository, what is claimed, what the outcome says.
struct Kind {
    name: &'static str,
    act: fn(&Case),
    claims: &'static [&'static str],
    outcome: Option<&'static str>,
    /// What must be wrong: the id of a check. None: nothing is.
    fault: Option<&'static str>,
}

const fn lie(
    name: &'static str,
    act: fn(&Case),
    claims: &'static [&'static str],
    fault: &'static str,
) -> Kind {
    Kind {
        name,
        act,
        claims,
        outcome: None,
        fault: Some(fault),
    }
}

const fn truth(name: &'static str, act: fn(&Case), claims: &'static [&'static str]) -> Kind {
    Kind {
        name,
        act,
        claims,
        outcome: None,
        fault: None,
    }
}

fn mend(case: &Case) {
    case.write("src/a.py", RIGHT);
}

fn remove(case: &Case, name: &str) {
    std::fs::remove_file(case.path().join(name)).unwrap();
}

const FALSE: [Kind; 12] = [
    lie(
        "an unchanged file is claimed",
        mend,
        &["src/a.py", "src/b.py"],
        "files",
    ),
    lie(
        "a file that is not there is claimed",
        mend,
        &["src/a.py", "src/new.py"],
        "files",
    ),
    lie(
        "a changed file is kept back",
        |c| {
            mend(c);
            c.write("src/b.py", "B = 2\n");
        },
        &["src/a.py"],
        "files",
    ),
    lie(
        "a file outside the scope is changed",
        |c| {
            mend(c);
            c.write("README.md", "mine\n");
        },
        &["src/a.py", "README.md"],
        "scope",
    ),
    lie(
        "a new file outside the scope",
        |c| {
            mend(c);
            c.write("notes.txt", "x\n");
        },
        &["src/a.py", "notes.txt"],
        "scope",
    ),
    lie(
        "a file is moved into the scope",
        |c| {
            mend(c);
            git(c.path(), &["mv", "README.md", "src/README.md"]);
        },
        &["src/a.py", "src/README.md"],
        "scope",
    ),
    lie(
        "a commit outside the scope, undone in the work tree",
        |c| {
            mend(c);
            c.write("README.md", "mine\n").commit("x");
            c.write("README.md", "r\n");
        },
        &["src/a.py"],
        "scope",
    ),
    lie(
        "the tests do not pass",
        |c| {
            c.write("src/a.py", "def last(x):\n    return 7\n");
        },
        &["src/a.py"],
        "verification",
    ),
    lie(
        "the tests were removed, so none fails",
        |c| {
            mend(c);
            c.write("checks/test_a.py", "");
        },
        &["src/a.py", "checks/test_a.py"],
        "verification",
    ),
    lie("nothing was done", |_| {}, &["src/a.py"], "verification"),
    Kind {
        outcome: Some("See the final message above."),
        ..lie("the outcome is a pointer", mend, &["src/a.py"], "content")
    },
    Kind {
        outcome: Some("Mended with ghp_0123456789abcdefghijABCDEFGHIJ as key."),
        ..lie("a key is in the report", mend, &["src/a.py"], "secrets")
    },
];

const HONEST: [Kind; 12] = [
    truth("an edit", mend, &["src/a.py"]),
    truth(
        "an edit, committed",
        |c| {
            mend(c);
            c.commit("x");
        },
        &["src/a.py"],
    ),
    truth(
        "an edit, staged",
        |c| {
            mend(c);
            git(c.path(), &["add", "-A"]);
        },
        &["src/a.py"],
    ),
    truth(
        "a new file",
        |c| {
            mend(c);
            c.write("src/new.py", "N = 1\n");
        },
        &["src/a.py", "src/new.py"],
    ),
    truth(
        "a deletion",
        |c| {
            mend(c);
            remove(c, "src/b.py");
        },
        &["src/a.py", "src/b.py"],
    ),
    truth(
        "a rename under both names",
        |c| {
            mend(c);
            git(c.path(), &["mv", "src/b.py", "src/c.py"]);
        },
        &["src/a.py", "src/b.py", "src/c.py"],
    ),
    truth(
        "a rename under its new name",
        |c| {
            mend(c);
            git(c.path(), &["mv", "src/b.py", "src/c.py"]);
        },
        &["src/a.py", "src/c.py"],
    ),
    truth(
        "odd names",
        |c| {
            mend(c);
            c.write("src/a -> b é.py", "X = 1\n");
        },
        &["src/a.py", "src/a -> b é.py"],
    ),
    truth(
        "a mode",
        |c| {
            use std::os::unix::fs::PermissionsExt as _;
            mend(c);
            std::fs::set_permissions(
                c.path().join("src/b.py"),
                std::fs::Permissions::from_mode(0o755),
            )
            .unwrap();
        },
        &["src/a.py", "src/b.py"],
    ),
    truth(
        "committed in part",
        |c| {
            mend(c);
            c.commit("x");
            c.write("src/b.py", "B = 2\n");
        },
        &["src/a.py", "src/b.py"],
    ),
    truth(
        "a change made and undone before the end",
        |c| {
            c.write("src/b.py", "B = 9\n");
            mend(c);
            c.write("src/b.py", "B = 1\n");
        },
        &["src/a.py"],
    ),
    Kind {
        outcome: Some(
            "Mended last(); see the test that was there. No key such as sk-learn is involved.",
        ),
        ..truth(
            "an outcome with words that look like more",
            mend,
            &["src/a.py"],
        )
    },
];

/// Judges one kind in one form; the answer is a line of the matrix.
fn judge(kind: &Kind, form: Form) -> Result<String, String> {
    // The scope names the tests too, so that only the fault under test is one.
    let case = if kind.name.starts_with("the tests were removed") {
        case().owns(&["src/**", "checks/**"])
    } else {
        case()
    };
    (kind.act)(&case);
    let judged = case.judge(report(form, kind.claims, kind.outcome));
    let document = judged.document();
    let line = format!(
        "{:<55} {form:?}: {} (exit {:?})",
        kind.name, document["verdict"], judged.0.code
    );
    let found = document["checks"].as_array().unwrap().iter();
    let faults: Vec<&str> = found
        .filter(|c| c["verdict"] == "fail" || c["verdict"] == "unknown")
        .map(|c| c["id"].as_str().unwrap())
        .collect();
    let right = match kind.fault {
        Some(fault) => judged.0.code != Some(0) && faults.contains(&fault),
        None => judged.0.code == Some(0) && faults.is_empty(),
    };
    if right {
        Ok(line)
    } else {
        Err(format!("{line}: {document:#}"))
    }
}

fn matrix(kinds: &[Kind]) {
    let mut wrong = Vec::new();
    for (kind, form) in kinds.iter().flat_map(|k| FORMS.map(|f| (k, f))) {
        match judge(kind, form) {
            Ok(line) => println!("{line}"),
            Err(line) => wrong.push(line),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {}",
        wrong.len(),
        kinds.len() * FORMS.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_kind_of_false_hand_off_is_caught_in_every_form() {
    matrix(&FALSE);
}

#[test]
fn no_honest_hand_off_is_accused_in_any_form() {
    matrix(&HONEST);
}
