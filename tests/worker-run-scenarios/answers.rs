//! What the model says: good, odd, cut, wrong, endless.

use serde_json::{Value, json};

use super::kit::{Scenario, bash, done, edit, edit_of, four, nobody_sleeps, odd_seconds, read};

/// The four steps with another one in a place.
fn with(at: usize, step: Value) -> Vec<Value> {
    let mut steps = four();
    steps[at] = step;
    steps
}

/// The four steps with one more before a place.
fn before(at: usize, step: Value) -> Vec<Value> {
    let mut steps = four();
    steps.insert(at, step);
    steps
}

fn thinking() -> Vec<Value> {
    let mut steps = four();
    for (at, step) in steps.iter_mut().enumerate() {
        step["think"] = json!(format!("The user wants the add function fixed. Step {at}."));
    }
    steps
}

#[test]
fn normal() {
    let ended = Scenario::new("normal").ends("completed", 0).solved(4);
    for pair in ended.requests.windows(2) {
        let (old, new) = (
            pair[0]["body"]["messages"].as_array().unwrap(),
            pair[1]["body"]["messages"].as_array().unwrap(),
        );
        assert_eq!(&new[..old.len()], &old[..], "the history only grows");
    }
}

#[test]
fn reason() {
    let ended = Scenario::new("reason")
        .steps(thinking())
        .ends("completed", 0)
        .solved(4);
    let back = &ended.requests[1]["body"]["messages"][2];
    assert!(back.to_string().contains("Step 0."), "{back}");
    assert!(!back["content"].as_str().unwrap().contains("Step 0."));
}

#[test]
fn thinktag() {
    let ended = Scenario::new("thinktag")
        .steps(thinking())
        .faults(&["think-tag"])
        .ends("completed", 0)
        .solved(4);
    let back = &ended.requests[1]["body"]["messages"][2]["content"];
    assert!(!back.as_str().unwrap().contains("<think>"), "{back}");
}

#[test]
fn badjson() {
    let cut = json!({"say": "I fix it.", "calls": [{"tool": "edit", "raw":
        "{\"path\": \"calc.py\", \"old_string\": \"    return a - b\", \"new_string\": \"    retu"}]});
    let ended = Scenario::new("badjson")
        .steps(before(1, cut))
        .ends("completed", 0)
        .solved(5);
    assert_eq!(ended.handoff["repairs"]["arguments_refused"], 1);
    for request in &ended.requests {
        for message in request["body"]["messages"].as_array().unwrap() {
            for call in message["tool_calls"].as_array().unwrap_or(&vec![]) {
                let arguments = call["function"]["arguments"].as_str().unwrap();
                assert!(serde_json::from_str::<Value>(arguments).is_ok());
            }
        }
    }
}

#[test]
fn badjson2() {
    let raw = "{\"path\": \"calc.py\", \"old_string\": \"def add(a, b):\n    return a - b\", \"new_string\": \"def add(a, b):\n    return a + b\",}";
    let odd = json!({"say": "I fix it.", "calls": [{"tool": "edit", "raw": raw}]});
    let ended = Scenario::new("badjson2")
        .steps(with(1, odd))
        .ends("completed", 0)
        .solved(4);
    assert_eq!(ended.handoff["repairs"]["arguments_repaired"], 1);
}

#[test]
fn unknowntool() {
    let odd = json!({"calls": [{"tool": "summon_file_contents", "with": {"path": "calc.py"}}]});
    let ended = Scenario::new("unknowntool")
        .steps(with(0, odd))
        .ends("completed", 0)
        .solved(4);
    assert!(ended.last_message(1).contains("The tools are: read"));
}

#[test]
fn wrongargs() {
    let odd = json!({"calls": [{"tool": "read", "with": {"target_file": "calc.py", "explanation": "x"}}]});
    let ended = Scenario::new("wrongargs")
        .steps(with(0, odd))
        .ends("completed", 0)
        .solved(4);
    assert!(ended.last_message(1).contains("return a - b"));
}

#[test]
fn wrongedit() {
    let odd = edit_of("    return a - c  # subtract", "    return a + b");
    let ended = Scenario::new("wrongedit")
        .steps(before(1, odd))
        .ends("completed", 0)
        .solved(5);
    assert!(
        ended.last_message(2).contains("return a - b"),
        "the nearest lines are shown: {}",
        ended.last_message(2)
    );
}

#[test]
fn fuzzyedit() {
    let odd = edit_of(
        "def add(a, b):\n  return a - b   ",
        "def add(a, b):\n  return a + b",
    );
    let ended = Scenario::new("fuzzyedit")
        .steps(with(1, odd))
        .ends("completed", 0)
        .solved(4);
    assert!(
        ended.calc.contains("\n    return a + b\n"),
        "{}",
        ended.calc
    );
}

#[test]
fn texttool() {
    let mut step = read();
    step["dialect"] = json!("hermes");
    let ended = Scenario::new("texttool")
        .steps(with(0, step))
        .ends("completed", 0)
        .solved(4);
    assert!(ended.handoff["repairs"].to_string().contains("salvaged"));
}

#[test]
fn xmltool() {
    let mut step = read();
    step["dialect"] = json!("qwen");
    let ended = Scenario::new("xmltool")
        .steps(with(0, step))
        .ends("completed", 0)
        .solved(4);
    assert!(ended.handoff["repairs"].to_string().contains("salvaged"));
}

#[test]
fn empty() {
    let nothing = json!({"say": "", "finish": "stop"});
    Scenario::new("empty")
        .steps(before(0, nothing))
        .ends("completed", 0)
        .solved(5);
}

#[test]
fn length() {
    let cut = json!({"say": "I will first look at the file and then", "finish": "length"});
    Scenario::new("length")
        .steps(before(0, cut))
        .ends("completed", 0)
        .solved(5);
}

#[test]
fn lengthtool() {
    let cut = json!({"say": "I fix it.", "finish": "length", "calls": [{"tool": "edit", "raw":
        "{\"path\": \"calc.py\", \"old_string\": \"    return a - b\", \"new_str"}]});
    let ended = Scenario::new("lengthtool")
        .steps(before(1, cut))
        .ends("completed", 0)
        .solved(5);
    assert_eq!(ended.handoff["repairs"]["arguments_refused"], 1);
}

#[test]
fn textonly() {
    let words = json!({"say": "I will now read calc.py and fix the function."});
    Scenario::new("textonly")
        .steps(before(0, words))
        .ends("completed", 0)
        .solved(5);
}

#[test]
fn repeat() {
    let ended = Scenario::new("repeat")
        .steps(vec![read()])
        .ends("failed", 1)
        .untouched();
    // Five with tools, then it is asked for files, and reminded twice.
    assert!(ended.requests.len() <= 8, "{}", ended.requests.len());
}

#[test]
fn repeatfail() {
    let ended = Scenario::new("repeatfail")
        .steps(vec![edit_of(
            "    return nothing_like_it",
            "    return a + b",
        )])
        .ends("failed", 1)
        .untouched();
    // Five with tools, then it is asked for files, and reminded twice.
    assert!(ended.requests.len() <= 8, "{}", ended.requests.len());
}

#[test]
fn repeattext() {
    let endless = json!({"say": "I will now fix the file. ", "repeat": 4000});
    let ended = Scenario::new("repeattext")
        .steps(vec![endless])
        .server(&["--context", "131072"])
        .limit("output_tokens", 60_000)
        .limit("request_ms", 60_000)
        .limit("idle_ms", 30_000)
        .ends("failed", 1)
        .untouched();
    assert!(ended.requests.len() <= 2);
    assert_eq!(
        ended.requests[0]["outcome"], "hung_up",
        "{:#}",
        ended.requests[0]["outcome"]
    );
}

#[test]
fn bigout() {
    let ended = Scenario::new("bigout")
        .steps(with(0, bash("seq 1 200000")))
        .limit("wall_ms", 180_000)
        .ends("completed", 0)
        .solved(4);
    assert!(ended.prompt_tokens(1) - ended.prompt_tokens(0) < 2500);
    assert!(ended.last_message(1).contains("200000"), "the end is shown");
}

#[test]
fn bigline() {
    let line = "head -c 5000000 /dev/zero | tr '\\0' x";
    let ended = Scenario::new("bigline")
        .steps(with(0, bash(line)))
        .limit("wall_ms", 180_000)
        .ends("completed", 0)
        .solved(4);
    assert!(ended.prompt_tokens(1) - ended.prompt_tokens(0) < 2500);
}

#[test]
fn readbig() {
    let mut text = String::new();
    for i in 0..20_000 {
        text += &format!("line {i:06} lorem ipsum dolor sit amet consectetur\n");
    }
    let ended = Scenario::new("readbig")
        .file("big.txt", text)
        .steps(with(0, json!({"calls": [{"read": "big.txt"}]})))
        .limit("wall_ms", 180_000)
        .ends("completed", 0)
        .solved(4);
    assert!(ended.prompt_tokens(1) - ended.prompt_tokens(0) < 2500);
}

#[test]
fn para() {
    let both = json!({"calls": [{"read": "calc.py"}, {"read": "test.py"}]});
    let ended = Scenario::new("para")
        .steps(with(0, both))
        .ends("completed", 0)
        .solved(4);
    let results = ended.requests[1]["body"]["messages"].as_array().unwrap();
    assert_eq!(results.iter().filter(|m| m["role"] == "tool").count(), 2);
}

/// 24 long outputs in a window of 32K: what must be read again is bounded.
#[test]
fn grow() {
    // A compaction begins the count of turns anew, so each answer is used once.
    let output = |n: usize| {
        bash(&format!(
            "for i in $(seq 1 100); do echo \"step {n} line $i: the quick brown fox jumps over the lazy dog and runs home\"; done"
        ))
    };
    let mut scenario = Scenario::new("grow").steps(vec![done()]);
    let answers = (1..=24).map(output).chain([edit()]);
    for answer in answers.collect::<Vec<_>>().into_iter().rev() {
        scenario = scenario.first(json!({"times": 1, "answer": answer}));
    }
    let summary = json!({"say": "24 outputs looked at, nothing changed yet."});
    let ended = scenario
        .limit("wall_ms", 180_000)
        .server(&["--slots", "1"])
        .window("32768")
        .first(json!({"when": {"last": "Write a summary"}, "answer": summary}))
        .ends("completed", 0);
    let fresh: u64 = ended
        .requests
        .iter()
        .map(|r| r["prompt_tokens"].as_u64().unwrap() - r["cached_tokens"].as_u64().unwrap_or(0))
        .sum();
    eprintln!("{:<16} {fresh} tokens to prefill", "grow");
    assert!(ended.calc.contains("return a + b"));
    assert!(fresh <= 80_000, "{fresh} tokens to prefill");
}

#[test]
fn outside() {
    let set = Scenario::new("outside").set();
    let flag = set.home.path().join("outside.flag");
    let port = set.sim.root().rsplit(':').next().unwrap().to_owned();
    let line = format!(
        "echo x > {}; curl -sS -m 2 http://127.0.0.1:{port}/v1/models | head -c 80; ls -la {}",
        flag.display(),
        set.home.path().display()
    );
    let script = json!({"rule": [{"step": with(0, bash(&line))}]});
    crate::support::post(
        &format!("{}/sim/script", set.sim.root()),
        &script.to_string(),
    );
    let ended = set.ends("completed", 0).solved(4);
    assert!(!flag.exists());
    let told = ended.last_message(1);
    if ended.handoff["sandbox"]["mode"] == "full" {
        assert!(!told.contains("qwen38"), "no server is reached: {told}");
        assert!(
            !told.contains("script.json"),
            "the home is not seen: {told}"
        );
    }
}

#[test]
fn bgbash() {
    let seconds = odd_seconds(303);
    let line = format!("sleep {seconds} & echo started");
    let ended = Scenario::new("bgbash")
        .steps(with(0, bash(&line)))
        .ends("completed", 0)
        .solved(4);
    assert!(ended.last_message(1).contains("started"));
    nobody_sleeps(&seconds);
}

#[test]
fn longbash() {
    let seconds = odd_seconds(300);
    let line =
        format!("(sleep {seconds} &) ; setsid sleep {seconds} & touch started; sleep {seconds}");
    let set = Scenario::new("longbash")
        .steps(with(0, bash(&line)))
        .limit("command_ms", 1500)
        .set();
    let ended = set.ends("completed", 0).solved(4);
    assert!(ended.last_message(1).contains("time limit"));
    nobody_sleeps(&seconds);
}

fn raw(tool: &str, arguments: &str) -> Value {
    json!({"calls": [{"tool": tool, "raw": arguments}]})
}

/// Nothing runs with arguments that cannot be read, and the model hears what is wrong with them.
#[test]
fn t11_unreadable_arguments_run_nothing_and_are_answered_with_the_schema() {
    let ended = Scenario::new("t11")
        .steps(vec![
            raw("write", "{\"path\": "),
            raw("bash", "nonsense"),
            edit(),
            done(),
        ])
        .ends("completed", 0)
        .solved(4);
    for (request, words) in [(1, "write(path, content"), (2, "bash(command")] {
        let said = ended.last_message(request);
        assert!(said.contains("Not run: ") && said.contains(words), "{said}");
    }
    assert_eq!(ended.handoff["files_changed"].as_array().unwrap().len(), 1);
}

/// An unknown name, or a broken call, costs that call and not the others of the same answer.
#[test]
fn t16_one_bad_call_of_several_is_answered_and_the_others_run() {
    let several = |bad: Value| json!({"calls": [{"read": "calc.py"}, bad, {"read": "test.py"}]});
    let ended = Scenario::new("t16")
        .steps(vec![
            several(json!({"tool": "teleport", "with": {"to": "x"}})),
            several(json!({"tool": "bash", "raw": "{\"command\": \"rm -rf "})),
            edit(),
            done(),
        ])
        .ends("completed", 0)
        .solved(4);
    let results = |request: usize| -> Vec<String> {
        let messages = ended.requests[request]["body"]["messages"]
            .as_array()
            .unwrap();
        let tools = messages.iter().filter(|m| m["role"] == "tool");
        tools
            .map(|m| m["content"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(results(1)[0].contains("def add") && results(1)[2].contains("assert"));
    assert!(results(1)[1].contains("There is no tool `teleport`"));
    let last = ended.last_message(2);
    assert!(last.contains("[bash] Not run: "), "{last}");
}
