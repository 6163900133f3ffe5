//! `goldgate explain`: grades one case and shows the request, the expectation and the output, or explains the code of a problem.

use crate::app::cli::ExplainArgs;
use crate::diag::{Code, Diagnostic, Diagnostics, nearest};
use crate::evaluation::plan::{LoadedSuite, Plan, plan};
use crate::evaluation::replay::{Replay, RunReader};
use crate::evaluation::sample_count::SampleCount;
use crate::evaluation::selection;
use crate::evaluation::selection::Selection;
use crate::files::Files;
use crate::fold::mean;
use crate::format::redact::{redacted_ask, redacted_samples};
use crate::model::{
    AgentName, Ask, Baseline, CaseId, Config, PASSED, RepoPath, RunKey, SuiteId, Tier,
};
use crate::render::explain::{EarlierOutput, ExplainedCase};
use crate::render::explained_code::{explained_code, listed_codes};
use crate::render::{CliError, explain as render};
use crate::suites::{Pair, read_config};
use crate::text::Redactor;
use crate::workspace::past_baselines::past_baselines;
use crate::workspace::past_outputs::{PastCommit, PastOutputs, past_outputs};
use crate::workspace::worktree::shown_recordings;
use crate::world::{Disk, Git, World};

/// The most results that are shown in full; if there are more, only the checks are shown.
const WHOLE: usize = 4;

/// Explains a case or the code of a problem; a case comes first. Returns the exit code.
///
/// # Errors
/// Bad input, or neither a case nor a code.
pub fn explain(args: &ExplainArgs, world: &World) -> Result<u8, CliError> {
    let Some(name) = &args.case else {
        world.say(&listed_codes());
        return Ok(0);
    };
    match (Code::of_word(name), args.codes) {
        (Some(code), true) => world.say(&explained_code(code)),
        // Whoever asks for a code often has a config that cannot be read.
        (Some(code), false) if !is_case(args, name, world) => world.say(&explained_code(code)),
        (Some(_), false) => {
            explain_case(args, name, world)?;
            world.say(&format!(
                "note: {name} is also the code of a problem: `goldgate explain --codes {name}` explains it\n"
            ));
        }
        (None, true) => {
            let help = "`goldgate explain --codes` lists the codes".to_owned();
            let problem = similar_code(name).unwrap_or_else(|| unknown_code(name, help));
            return Err(problem.into());
        }
        (None, false) => {
            return explain_case(args, name, world).map_err(|error| {
                match (error, similar_code(name)) {
                    (CliError::Input(mut problems), Some(similar)) => {
                        problems.push(similar);
                        CliError::Input(problems)
                    }
                    (error, _) => error,
                }
            });
        }
    }
    Ok(0)
}

/// Whether the config has a case with this name.
fn is_case(args: &ExplainArgs, name: &str, world: &World) -> bool {
    let Ok((disk, file)) = Disk::of_config(&args.config) else {
        return false;
    };
    select_case(args, name, &disk, &file)
        .is_ok_and(|wanted| plan(&disk, &file, wanted, &world.clock.days()).is_ok())
}

fn similar_code(name: &str) -> Option<Diagnostic> {
    let near = nearest(name, Code::all().map(Code::as_str))?;
    Some(unknown_code(name, format!("did you mean \"{near}\"?")))
}

fn unknown_code(name: &str, help: String) -> Diagnostic {
    let message = format!("\"{name}\" is not the code of a problem");
    Diagnostic::of_command_line(Code::UNKNOWN_CODE, message, help)
}

/// Grades the cases with one id and shows the results.
fn explain_case(args: &ExplainArgs, name: &str, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let mut wanted = select_case(args, name, &disk, &file)?;
    if !is_case(args, name, world)
        && let Some(all) = select_all(args, name, &disk, &file)?
    {
        wanted = all;
    }
    if args.asked {
        return show_prompts(
            &disk,
            &file,
            Selection {
                tiers: Vec::new(),
                ..wanted
            },
            world,
        );
    }
    let lists = wanted.cases.is_empty();
    let (report, live) = shown_recordings(&args.config, wanted.clone(), world)?;
    let count: usize = report.agents().map(|agent| agent.shown().count()).sum();
    if lists || count > WHOLE {
        world.say(&if lists {
            render::list(&report)
        } else {
            render::overview(&report)
        });
        return Ok(0);
    }
    let redactor = world.redactor();
    let mut past = read_past(args, &disk, &file, wanted.clone(), world)?;
    for samples in past.iter_mut().flat_map(|past| past.samples.values_mut()) {
        *samples = redacted_samples(std::mem::take(samples), &redactor);
    }
    let plan = plan(&disk, &file, wanted, &world.clock.days())?;
    let baselines = plan
        .config
        .baseline
        .as_ref()
        .map(|file| past_baselines(&Git::of(&disk), file))
        .unwrap_or_default();
    let files = live.overlay(&disk);
    let runs = Replay::open(&files, &plan, Tier::Deterministic, &live.layout)?;
    let (mut problems, mut out) = (Diagnostics::default(), String::new());
    for suite in &report.suites {
        let Some(loaded) = plan.suite(&suite.id) else {
            continue;
        };
        for (agent, case) in suite
            .agents
            .iter()
            .flat_map(|agent| agent.shown().map(move |case| (agent, case)))
        {
            let mut pairs = loaded.suite.pairs_to_run();
            let planned = pairs.find(|pair| pair.case == case.case && pair.agent == case.agent);
            let Some(pair) = planned else { continue };
            let golden = problems.keep(disk.text(&case.golden));
            let samples = problems.keep_all(runs.samples(pair, SampleCount::Exactly(case.planned)));
            if let (Some(golden), Some(samples)) = (golden, samples) {
                let samples = redacted_samples(samples, &redactor);
                let asked = requests(loaded, pair, &disk, &mut problems, &redactor);
                let (golden, samples, asked) = (&golden, samples.as_slice(), asked.as_slice());
                let name = (suite.id.clone(), agent.agent.clone(), case.case.clone());
                let earlier = past.as_ref().map(|past| EarlierOutput {
                    commit: &past.commit,
                    samples: past
                        .samples
                        .get(&name)
                        .map(Vec::as_slice)
                        .unwrap_or_default(),
                });
                let past: Vec<Option<f64>> = baselines
                    .iter()
                    .map(|baseline| passed_in(baseline, &name))
                    .collect();
                let past = past.as_slice();
                out.push_str(&render::explain(&ExplainedCase {
                    config: &plan.config.file,
                    suite,
                    agent,
                    case,
                    asked,
                    golden,
                    samples,
                    before: earlier,
                    past,
                    redactor: &redactor,
                }));
            }
        }
    }
    problems.or(())?;
    world.say(&out);
    Ok(0)
}

/// The share of samples of a case that passed in a baseline.
fn passed_in(
    baseline: &Baseline,
    (suite, agent, case): &(SuiteId, AgentName, CaseId),
) -> Option<f64> {
    let samples = baseline.entry(suite, agent)?.cases.get(case)?.get(PASSED)?;
    let known: Vec<f64> = samples.iter().copied().flatten().collect();
    mean(&known)
}

/// Reads the outputs to compare with. Without `--base` they are only additional, so a problem with them is a message.
fn read_past(
    args: &ExplainArgs,
    disk: &Disk,
    file: &RepoPath,
    wanted: Selection,
    world: &World,
) -> Result<Option<PastOutputs>, CliError> {
    if let Some(name) = &args.base {
        return Ok(past_outputs(
            disk,
            file,
            wanted,
            PastCommit::Named(name),
            world,
        )?);
    }
    let Some(baseline) = read_config(&disk.text(file)?)?.baseline else {
        return Ok(None);
    };
    let past = past_outputs(disk, file, wanted, PastCommit::OfBaseline(&baseline), world);
    match past {
        Ok(past) => Ok(past),
        Err(error) => {
            world.tell(&format!(
                "the output at the baseline is not shown: {error:#}"
            ));
            Ok(None)
        }
    }
}

/// Parses an id in any form that goldgate prints: `CASE`, `AGENT/CASE`, `SUITE/CASE` or `SUITE/AGENT/CASE`, also followed by a
/// check. `SUITE`, `AGENT` and `SUITE/AGENT` select all their cases, unless a case has this name.
fn select_case(
    args: &ExplainArgs,
    name: &str,
    disk: &Disk,
    file: &RepoPath,
) -> Result<Selection, CliError> {
    let (mut suites, mut agents) = (args.agents.suite.clone(), args.agents.agent.clone());
    let name = name
        .split_whitespace()
        .next()
        .unwrap_or(name)
        .trim_end_matches(':');
    let parts: Vec<&str> = name.split('/').collect();
    let config = read_config(&disk.text(file)?)?;
    let case = match parts.as_slice() {
        [parent, case] => {
            if has_suite(&config, parent) {
                suites.push((*parent).to_owned())
            } else {
                agents.push((*parent).to_owned())
            }
            (*case).to_owned()
        }
        [suite, agent, case] => {
            suites.push((*suite).to_owned());
            agents.push((*agent).to_owned());
            (*case).to_owned()
        }
        _ => name.to_owned(),
    };
    let cases = selection::patterns(std::slice::from_ref(&case))?;
    Ok(Selection {
        tiers: vec![Tier::Deterministic],
        suites,
        agents,
        cases,
        ..Selection::default()
    })
}

/// Returns the selection of all cases of a suite or an agent; `None` if the name is neither.
fn select_all(
    args: &ExplainArgs,
    name: &str,
    disk: &Disk,
    file: &RepoPath,
) -> Result<Option<Selection>, CliError> {
    let config = read_config(&disk.text(file)?)?;
    let (mut suites, mut agents) = (args.agents.suite.clone(), args.agents.agent.clone());
    match *name.trim_end_matches(':').split('/').collect::<Vec<_>>() {
        [id] if has_suite(&config, id) => suites.push(id.to_owned()),
        [id] if has_agent(&config, id) => agents.push(id.to_owned()),
        [suite, agent] if has_suite(&config, suite) && has_agent(&config, agent) => {
            suites.push(suite.to_owned());
            agents.push(agent.to_owned());
        }
        _ => return Ok(None),
    }
    Ok(Some(Selection {
        tiers: vec![Tier::Deterministic],
        suites,
        agents,
        ..Selection::default()
    }))
}

fn has_suite(config: &Config, id: &str) -> bool {
    config.suites.iter().any(|suite| suite.id.as_str() == id)
}

fn has_agent(config: &Config, name: &str) -> bool {
    let mut agents = config.suites.iter().flat_map(|suite| suite.agents.keys());
    agents.any(|agent| agent.as_str() == name)
}

/// Returns the request to the agent in each run of a pair.
fn requests(
    loaded: &LoadedSuite,
    pair: &Pair,
    files: &dyn Files,
    problems: &mut Diagnostics,
    redactor: &Redactor,
) -> Vec<(RunKey, Ask)> {
    let mut asks = Vec::new();
    for key in &pair.runs {
        if let Some(Some(ask)) = problems.keep(loaded.suite.ask(pair, key, files)) {
            asks.push((key.clone(), redacted_ask(&ask, redactor)));
        }
    }
    asks
}

/// Prints the request to a live agent in each run of the cases.
fn show_prompts(
    disk: &Disk,
    file: &RepoPath,
    wanted: Selection,
    world: &World,
) -> Result<u8, CliError> {
    let plan: Plan = plan(disk, file, wanted, &world.clock.days())?;
    world.redact_by(&plan.config, &plan.config);
    let redactor = world.redactor();
    let (mut problems, mut out) = (Diagnostics::default(), String::new());
    for loaded in &plan.suites {
        for pair in loaded.chosen_to_run(&plan.wanted) {
            for key in &pair.runs {
                if let Some(ask) = problems.keep(loaded.suite.ask(pair, key, disk)) {
                    let ask = ask.map(|ask| redacted_ask(&ask, &redactor));
                    out.push_str(&render::render_prompt(key, ask.as_ref()));
                }
            }
        }
    }
    problems.or(())?;
    world.say(&out);
    Ok(0)
}
