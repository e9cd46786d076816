//! Before the first request: the baseline, and what the first message shows.

use baton_prompt::{
    Baseline, FirstRequest, Gathered, Inputs, Mode, PackPlan, RULE_TOKENS, TREE_LINES,
    first_request, gather, mentions, pack_budget, plan_pack, render_tree,
};
use baton_tokens::Family;
use serde_json::json;

use super::calibration::prefill_rate;
use super::{Conversation, End, Job, Session, tokens};
use crate::cli::ModeFlag;
use crate::harness::stop::Colour;

/// What the first message shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pack {
    /// What fits of the scope's files.
    Auto,
    /// No file, no list.
    None,
    /// These files.
    List(Vec<String>),
}

impl Pack {
    /// Reads the flag's value.
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "auto" => Self::Auto,
            "none" => Self::None,
            list => Self::List(list.split(',').map(|p| p.trim().to_string()).collect()),
        }
    }
}

/// The first request of a job.
pub(crate) fn first(
    job: &Job,
    cwd: &str,
    found: &Gathered,
    baseline: &[Baseline],
    way: ModeFlag,
    forced: Option<Mode>,
    window: Option<u64>,
) -> (FirstRequest, PackPlan) {
    let plan = plan(job, found, baseline, window);
    let mode = forced.unwrap_or_else(|| mode(way, &plan));
    let rules = found
        .rules
        .as_deref()
        .filter(|text| job.pack == Pack::Auto && tokens(text) <= RULE_TOKENS);
    let tree = (job.pack != Pack::None).then(|| render_tree(&found.paths, TREE_LINES));
    let request = first_request(
        &Inputs {
            task: &job.task,
            role: job.role,
            mode,
            cwd,
            system: job.system.as_deref(),
            rules,
            tree: tree.as_deref(),
            pack: &plan,
            baseline,
        },
        &tokens,
    );
    (request, plan)
}

/// The mode of the first request.
pub(crate) fn mode(way: ModeFlag, plan: &PackPlan) -> Mode {
    match way {
        ModeFlag::Auto | ModeFlag::Tools => Mode::Tools,
        // A file that was too long to show is too long to repeat.
        ModeFlag::Whole if plan.left_out.is_empty() => Mode::WholeFile,
        ModeFlag::Whole | ModeFlag::Blocks => Mode::Blocks,
    }
}

fn plan(job: &Job, found: &Gathered, baseline: &[Baseline], window: Option<u64>) -> PackPlan {
    let budget = pack_budget(window);
    match &job.pack {
        Pack::None => PackPlan::default(),
        Pack::Auto => plan_pack(
            &found.candidates,
            &mentions(&job.task, job.role, baseline),
            budget,
            &tokens,
        ),
        Pack::List(paths) => {
            let mut chosen: Vec<_> = found
                .candidates
                .iter()
                .filter(|file| paths.contains(&file.path))
                .cloned()
                .collect();
            for file in &mut chosen {
                file.asked = true;
            }
            plan_pack(&chosen, "", budget, &tokens)
        }
    }
}

impl Session<'_> {
    /// Runs the baseline and begins the conversation.
    pub(crate) fn prepare(&mut self) -> Result<(), End> {
        self.within_bounds()?;
        self.events.emit(
            self.output,
            "start",
            json!({"role": self.job.task.role, "base": self.tree.base, "provider": self.job.provider.id,
                   "model": self.job.provider.model, "context_tokens": self.job.provider.context}),
        );
        self.known = gather(self.tree.root(), &self.job.task).paths;
        if self.job.role.writes() {
            let start = self.tree.snapshot().map_err(End::failed)?;
            if !self.job.task.verify.is_empty() {
                self.run_baseline(&start)?;
            }
            self.start = Some(start);
        }
        self.listen();
        self.begin(None);
        Ok(())
    }

    /// Takes in what the server told of itself, and what is known of it from earlier tasks.
    pub(crate) fn listen(&mut self) {
        // A thread that panicked told nothing.
        self.served = self
            .looking
            .take()
            .and_then(|looking| looking.join().ok())
            .unwrap_or_default();
        if self.served.others > 0 && self.job.provider.model.is_none() {
            self.ledger.note(format!(
                "no model was chosen; {} of {} was taken (--model)",
                self.served.model.as_deref().unwrap_or_default(),
                self.served.others + 1
            ));
        }
        let lines = std::fs::read_to_string(&self.job.calibration).unwrap_or_default();
        self.prefill_rate = prefill_rate(&lines, self.model());
        self.events.emit(
            self.output,
            "server",
            json!({"kind": self.served.kind, "model": self.model(), "context_tokens": self.window(),
                   "parameters": self.served.parameters, "prefill_tokens_per_s": self.prefill_rate}),
        );
        self.choose_way(&lines);
    }

    /// Begins the conversation with the files and the failing checks as they are now.
    pub(crate) fn begin(&mut self, forced: Option<Mode>) {
        let mut found = gather(self.tree.root(), &self.job.task);
        found.paths.retain(|path| !self.tree.is_own(path));
        found
            .candidates
            .retain(|file| !self.tree.is_own(&file.path));
        self.known.clone_from(&found.paths);
        let baseline = self.red_checks();
        let cwd = self.tree.shown().display().to_string();
        let (request, plan) = first(
            self.job,
            &cwd,
            &found,
            &baseline,
            self.way,
            forced,
            self.window(),
        );
        self.own_files = plan.shown.iter().filter(|file| file.writable).count();
        for file in &plan.shown {
            self.seen.note(&file.path, file.text.as_bytes());
            self.ledger.files_read.insert(file.path.clone());
        }
        self.events.emit(
            self.output,
            "prompt",
            json!({"parts": request.parts, "tokens": request.tokens()}),
        );
        let mode = forced.unwrap_or_else(|| mode(self.way, &plan));
        let family = self.model().map_or(Family::Unknown, Family::of_model);
        self.talk = Conversation::new(request.messages, request.tools, mode, family);
    }

    /// The checks that fail, as the first message shows them.
    pub(crate) fn red_checks(&self) -> Vec<Baseline> {
        self.checks
            .now()
            .iter()
            .filter(|run| run.colour == Colour::Red)
            .map(|run| Baseline {
                command: run.command.clone(),
                result: run.result.clone(),
                output: run.output.clone(),
            })
            .collect()
    }
}
