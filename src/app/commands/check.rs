//! `goldgate check`: validates config, cases and recordings, and shows how often the gates would fail by chance.

use std::collections::BTreeSet;

use crate::app::cli::CheckArgs;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::live_layout::LiveLayout;
use crate::evaluation::plan::{Plan, plan};
use crate::evaluation::recorded_agents::RecordedAgents;
use crate::evaluation::replay::{Replay, unrecorded};
use crate::evaluation::selection::Selection;
use crate::files::Files;
use crate::format::recording_layout::RecordingPaths;
use crate::golden_changes::{RecordCommand, idle_name};
use crate::model::{Baseline, Config, RecordingPlace, RunSource, Tier};
use crate::render::sensitivity::policy_line;
use crate::render::{CliError, plural};
use crate::text::config_option;
use crate::workspace::baseline;
use crate::workspace::worktree::graded_recordings;
use crate::world::{Disk, ReadOnce, World};

/// Finds the problems of the workflows in a repository, and notes on them.
pub type CheckWorkflows = fn(&Disk) -> Result<(Diagnostics, Vec<Diagnostic>), CliError>;

/// Reads all files and prints suites, baseline and notes. Returns the exit code.
pub fn check(args: &CheckArgs, world: &World, workflows: CheckWorkflows) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let files = ReadOnce::uncached(&disk);
    let plan = plan(&files, &file, Selection::default(), &world.clock.days())?;
    let mut problems = Diagnostics::default();
    let mut notes = Vec::new();
    recordings(&plan, &files, &mut problems, &mut notes);
    unrecorded_answers(&plan, &files, &mut problems);
    for loaded in &plan.suites {
        let audit = loaded.suite.audit(&files);
        problems.extend(audit.problems);
        notes.extend(audit.notes);
    }
    let configured = plan.config.baseline.as_ref();
    let baseline = match baseline::here(None, &disk, configured) {
        Ok(baseline) => baseline,
        Err(CliError::Input(unreadable)) => {
            problems.extend(unreadable);
            None
        }
        Err(error) => return Err(error),
    };
    notes.extend(idle_names(&plan.config, baseline.as_ref()));
    let (of_workflows, open) = workflows(&disk)?;
    problems.extend(of_workflows);
    notes.extend(open);
    notes.sort();
    let mut lines: Vec<String> = Vec::new();
    for loaded in &plan.suites {
        let drafts = match loaded.suite.drafts().len() {
            0 => String::new(),
            drafts => {
                let config = config_option(plan.config.file.as_str());
                format!(
                    ", {} for `goldgate review{config}`",
                    plural(drafts, "draft waits", "drafts wait")
                )
            }
        };
        lines.push(format!(
            "{}: kind {}, {}{drafts}",
            loaded.config.id,
            loaded.kind.name,
            plural(
                loaded.suite.pairs().len(),
                "pair of agent and case",
                "pairs of agent and case"
            )
        ));
    }
    problems.or(())?;
    let known = if baseline.is_some() {
        "read"
    } else {
        "none yet"
    };
    let mut retired = String::new();
    for loaded in &plan.suites {
        for (case, why) in loaded.suite.retired() {
            retired.push_str(&format!("retired: {}/{case} ({why})\n", loaded.config.id));
        }
    }
    let rates = rates(args, world)?;
    let noted: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
    world.say(&format!(
        "{}\nbaseline: {known}\n{rates}{retired}{noted}no problem found\n",
        lines.join("\n")
    ));
    Ok(0)
}

/// Notes on old names that the baseline does not have any more.
fn idle_names(config: &Config, baseline: Option<&Baseline>) -> Vec<Diagnostic> {
    let Some(baseline) = baseline else {
        return Vec::new();
    };
    let mut idle = Vec::new();
    for suite in &config.suites {
        let Some(entries) = baseline.suites.get(&suite.id) else {
            continue;
        };
        idle.extend(
            suite
                .was
                .iter()
                .map(|was| idle_name(suite.id.as_str(), was.as_str())),
        );
        for (name, agent) in &suite.agents {
            let was = agent.was.iter().filter(|_| entries.contains_key(name));
            idle.extend(was.map(|was| idle_name(&format!("{}/{name}", suite.id), was.as_str())));
        }
    }
    idle.into_iter()
        .map(|message| Diagnostic::of_file(&config.file, Code::NO_EFFECT, message, "remove it"))
        .collect()
}

/// The policy of each agent, and what its recordings can see.
fn rates(args: &CheckArgs, world: &World) -> Result<String, CliError> {
    let wanted = Selection {
        tiers: vec![Tier::Deterministic],
        ..Selection::default()
    };
    let GradedRun { report, suites, .. } = graded_recordings(&args.config, wanted, world)?;
    let shown = report
        .suite_agents()
        .filter(|(_, agent)| !agent.cases.is_empty());
    let text = shown
        .map(|(suite, agent)| policy_line(suite, agent))
        .collect();
    world.keep(suites);
    Ok(text)
}

/// Checks the recordings of the deterministic tier: each is readable, belongs to a case, and is not older than its agent.
fn recordings(
    plan: &Plan,
    files: &dyn Files,
    problems: &mut Diagnostics,
    notes: &mut Vec<Diagnostic>,
) {
    let layout = LiveLayout::default();
    let Some(runs) = problems.keep_all(Replay::open(files, plan, Tier::Deterministic, &layout))
    else {
        return;
    };
    problems.extend(runs.foreign(plan));
    let tiers = [Tier::Deterministic];
    let Some(recorded) = problems.keep_all(RecordedAgents::read(plan, files, &tiers, None)) else {
        return;
    };
    for (suite, agent, report) in recorded.reports() {
        for note in &report.notes {
            let message = format!("{suite}/{agent}: {note}");
            notes.push(stale_recording(plan, message));
        }
        if let Some(why) = &report.refused {
            let message = format!("{suite}/{agent}: {why}");
            problems.push(stale_recording(plan, message));
        }
    }
}

/// What to do is part of `what`.
fn stale_recording(plan: &Plan, message: String) -> Diagnostic {
    let help = "`goldgate explain stale-recording` tells more";
    Diagnostic::of_file(&plan.config.file, Code::STALE_RECORDING, message, help)
}

/// Checks that each case has a recording that answers the calls of its agent's code in the deterministic tier.
fn unrecorded_answers(plan: &Plan, files: &dyn Files, problems: &mut Diagnostics) {
    for loaded in &plan.suites {
        for key in loaded
            .suite
            .pairs()
            .iter()
            .flat_map(|pair| &pair.runs)
            .filter(|key| key.suite == loaded.config.id)
        {
            let agent = loaded.config.agents.get(&key.agent);
            let source = agent.and_then(|agent| agent.deterministic.as_ref());
            let Some(folder) = source
                .and_then(RunSource::live)
                .and_then(|live| live.exchanges.as_ref())
            else {
                continue;
            };
            let paths = RecordingPaths::new(folder, &key.agent, &key.case);
            if problems
                .keep(paths.list(files))
                .is_some_and(|recorded| recorded.is_empty())
            {
                let command = RecordCommand {
                    config: &plan.config,
                    suite: &key.suite,
                    agent: &key.agent,
                    makers: &BTreeSet::new(),
                };
                let record = command.record_missing_hint(&RecordingPlace::Folder(folder.clone()));
                problems.push(unrecorded(key, &paths.single(), &record));
            }
        }
    }
}
