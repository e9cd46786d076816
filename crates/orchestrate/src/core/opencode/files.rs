//! opencode's agents and commands, as Markdown files with frontmatter.
//!
//! The agents call our tools, so that what they start waits for a slot like everything else.

/// A file to be put below opencode's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub name: &'static str,
    pub text: String,
}

struct Agent {
    name: &'static str,
    description: &'static str,
    primary: bool,
    bash: &'static [&'static str],
    body: &'static str,
}

const TOOLS: &[&str] = &[
    "orchestrate *",
    "worker-run *",
    "slot-lock *",
    "vllm-health*",
    "ctx-estimate *",
    "handoff-check *",
    "git status*",
    "git log*",
    "git diff*",
];

const AGENTS: [Agent; 6] = [
    Agent {
        name: "orchestrator",
        description: "Takes a goal, has it planned, done, checked and reviewed by orchestrate, and reports",
        primary: true,
        bash: TOOLS,
        body: "\
You conduct; you do not edit files yourself. Answer a question or a one-line request directly. For \
everything else run one command with the bash tool and wait for it (give it a timeout of 3600000 ms):

    orchestrate run --text \"THE GOAL, COMPLETE, IN ONE ARGUMENT\"

It asks the model server itself, keeps to its slots, gives every worker its own work tree, runs the checks \
again and moves the branch only when they pass. Do not start subagents for the same work beside it.

- Before: `vllm-health --text`. When the server is not ready, say so and stop.
- While it runs: `orchestrate status --text`. To stop it: `orchestrate halt`.
- Exit 0: report what was done, from its report. Exit 1: report its gaps. Exit 3: a person must decide; ask.
- Exit 69 or 75: no server or no slot; say so, do not try in a loop. `orchestrate resume` goes on.
",
    },
    Agent {
        name: "qwen-worker",
        description: "Does one well-scoped task to its end, under a slot of the model server",
        primary: false,
        bash: TOOLS,
        body: "\
You get one task. Have it done by one command and report what it says:

    worker-run --text --prompt \"THE WHOLE TASK\" --write 'GLOB' --verify 'COMMAND'

Repeat --write for every file or glob the task may change and --verify for every command that must pass. \
It waits for a slot by itself. Report in four parts: Summary, Files changed, Verification, Open issues, \
each from its output. Start no other agent.
",
    },
    Agent {
        name: "planner",
        description: "Breaks a goal into tasks that can be checked; changes nothing",
        primary: false,
        bash: TOOLS,
        body: "\
Run `orchestrate run --plan-only --text \"THE GOAL\"` and explain the plan it prints: which tasks, which \
files each owns, which check shows that it is done, what waits for what. For a plan that is kept as a \
file: `orchestrate stress-plan --text \"THE GOAL\"`.
",
    },
    Agent {
        name: "explore",
        description: "Looks things up in the repository; changes nothing",
        primary: false,
        bash: &["git log*", "git show*", "git grep*", "git diff*"],
        body: "\
Find what was asked with the read, grep and glob tools. Answer with paths and lines, and nothing that you \
did not see.
",
    },
    Agent {
        name: "implementer",
        description: "Makes one focused change with its test, under a slot of the model server",
        primary: false,
        bash: TOOLS,
        body: "\
Have the change made by one command and report what it says:

    worker-run --text --role implementer --prompt \"THE WHOLE TASK\" --write 'GLOB' --verify 'COMMAND'

Name only files that the task owns. When it ends with 1, say what is missing; do not widen the scope.
",
    },
    Agent {
        name: "reviewer",
        description: "Judges a change against its task; changes nothing",
        primary: false,
        bash: &["git diff*", "git log*", "git show*", "handoff-check *"],
        body: "\
Look at the diff yourself (`git diff`), at the task and at what the checks say. Judge three things, each \
with its evidence: the diff does what was asked; it touches nothing else; the verification ran and means \
something. Say approve or changes, and for changes each finding with its path and line. No answer is not \
an approval.
",
    },
];

/// A model with the effort it is asked for.
pub(crate) type Chosen = (String, Option<String>);

/// The agents. `models` names the model of an agent where it is not the usual one.
pub(crate) fn agents(models: &dyn Fn(&str) -> Option<Chosen>) -> Vec<File> {
    let text = |agent: &Agent| {
        let mode = if agent.primary { "primary" } else { "subagent" };
        let mut head = vec![
            format!("description: {}", agent.description),
            format!("mode: {mode}"),
        ];
        if let Some((model, effort)) = models(agent.name) {
            head.push(format!("model: {model}"));
            head.extend(effort.map(|effort| format!("reasoningEffort: {effort}")));
        }
        head.extend(
            [
                "permission:",
                "  edit: deny",
                "  task: deny",
                "  bash:",
                "    \"*\": deny",
            ]
            .map(str::to_owned),
        );
        let allowed = agent.bash.iter().map(|p| format!("    \"{p}\": allow"));
        head.extend(allowed);
        format!("---\n{}\n---\n\n{}", head.join("\n"), agent.body)
    };
    AGENTS
        .iter()
        .map(|agent| File {
            name: agent.name,
            text: text(agent),
        })
        .collect()
}

/// The commands: what people type after a slash, and the command line it becomes.
const COMMANDS: [(&str, &str, &str); 9] = [
    (
        "orchestrate",
        "From a goal to checked work",
        "orchestrate run --text \"GOAL\"",
    ),
    (
        "goal",
        "Set, show, pause, resume or clear a long-lived goal",
        "orchestrate goal --text ARGUMENTS",
    ),
    (
        "run-plan",
        "Work through a written plan",
        "orchestrate run-plan --text NAME",
    ),
    (
        "stress-plan",
        "Draft a plan and have it criticised",
        "orchestrate stress-plan --text \"GOAL\"",
    ),
    (
        "restructure",
        "Another form, the same behaviour",
        "orchestrate restructure --text ARGUMENTS",
    ),
    (
        "polish",
        "Clean up what changed on this branch",
        "orchestrate polish --text PATHS",
    ),
    (
        "halt",
        "Stop what works here at the next safe point",
        "orchestrate halt WHAT",
    ),
    (
        "handover",
        "A brief for whoever takes over",
        "orchestrate handover --text FOCUS",
    ),
    (
        "doctor",
        "What is in order and what mends the rest",
        "orchestrate doctor --text",
    ),
];

/// The commands' files.
pub(crate) fn commands() -> Vec<File> {
    COMMANDS
        .iter()
        .map(|(name, description, line)| File {
            name,
            text: format!(
                "---\ndescription: {description}\nagent: orchestrator\n---\n\n\
                 Run this one command with the bash tool, with a timeout of 3600000 ms, putting what \
                 follows in its place as one properly quoted argument where it is words, and report what \
                 it prints:\n\n    {line}\n\nWhat the user wrote behind /{name}: $ARGUMENTS\n"
            ),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{agents, commands};

    #[test]
    fn every_agent_has_a_head_that_opencode_reads_and_only_one_talks_to_people() {
        let made = agents(&|name| {
            (name == "reviewer").then(|| ("arc/q".to_owned(), Some("high".to_owned())))
        });
        let names: Vec<&str> = made.iter().map(|f| f.name).collect();
        assert_eq!(
            names,
            [
                "orchestrator",
                "qwen-worker",
                "planner",
                "explore",
                "implementer",
                "reviewer"
            ]
        );
        let primary = made.iter().filter(|f| f.text.contains("mode: primary"));
        assert_eq!(primary.count(), 1);
        for file in &made {
            assert!(file.text.starts_with("---\ndescription: "), "{}", file.text);
            assert!(file.text.contains("task: deny"), "no agent starts another");
            assert_eq!(
                file.text.contains("model: arc/q\nreasoningEffort: high\n"),
                file.name == "reviewer"
            );
        }
    }

    #[test]
    fn every_verb_has_its_command() {
        for file in commands() {
            assert!(
                file.text.contains("$ARGUMENTS") && file.text.contains("orchestrate"),
                "{}",
                file.name
            );
        }
    }
}
