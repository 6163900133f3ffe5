//! `goldgate judge`: runs the suites' LLM judges on recorded outputs and saves their votes in the recordings.

use std::collections::BTreeSet;

use crate::app::cli::JudgeArgs;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::evaluation::live_layout::LiveLayout;
use crate::evaluation::plan::{LoadedSuite, Plan, plan};
use crate::evaluation::replay::{Replay, RunReader};
use crate::evaluation::selection::Selection;
use crate::files::Files;
use crate::format::run_v1;
use crate::live;
use crate::live::{Caching, JudgeRequests, JudgeRunner, LiveOptions, Resume, VoteReuse};
use crate::model::{Ballot, Loudness, RepoPath, Run, Tier, Vote};
use crate::render::{CliError, plural};
use crate::suites::Pair;
use crate::world::{Disk, World};

/// One recorded output of a suite with judges.
struct JudgedOutput<'a> {
    loaded: &'a LoadedSuite,
    pair: &'a Pair,
    file: RepoPath,
    run: Run,
}

/// Asks the judges and saves their votes. The agents are not called. Returns the exit code.
///
/// # Errors
/// Bad input, found before any call, or a failed call.
pub fn judge(args: &JudgeArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let wanted = Selection {
        tiers: vec![Tier::Deterministic],
        ..args.chosen.chosen()?
    };
    let plan = plan(&disk, &file, wanted, &world.clock.days())?;
    if plan.suites.iter().all(|loaded| loaded.judges.is_empty()) {
        let help = "add judges: { NAME: { target: NAME, rubric: FILE } } to the suite";
        return Err(Diagnostic::of_file(
            &file,
            Code::NO_JUDGES,
            "no selected suite has a judge",
            help,
        )
        .into());
    }
    let recorded = recorded(&plan, &disk)?;
    let again = if args.again {
        VoteReuse::Never
    } else {
        VoteReuse::WhereNeeded
    };
    let (mut problems, mut requests) = (Diagnostics::default(), JudgeRequests::default());
    for output in &recorded {
        problems.keep(requests.add(output.loaded, output.pair, &output.run, again, &disk));
    }
    problems.or(())?;
    if requests.count() == 0 {
        world.say("every recorded output already has its votes; use --again to ask again\n");
        return Ok(0);
    }
    ask_judges(args, &plan, &requests, &recorded, &disk, world)
}

/// Returns the completed recordings of the selected pairs.
fn recorded<'a>(plan: &'a Plan, disk: &Disk) -> Result<Vec<JudgedOutput<'a>>, Diagnostics> {
    let layout = LiveLayout::default();
    let runs = Replay::open(disk, plan, Tier::Deterministic, &layout)?;
    let (mut problems, mut recorded) = (Diagnostics::default(), Vec::new());
    for loaded in plan
        .suites
        .iter()
        .filter(|loaded| !loaded.judges.is_empty())
    {
        for pair in loaded.chosen(&plan.wanted) {
            let (true, [key]) = (runs.has(pair), pair.runs.as_slice()) else {
                continue;
            };
            let files = problems.keep_all(runs.recorded(key)).unwrap_or_default();
            recorded.extend(files.into_iter().map(|(file, run)| JudgedOutput {
                loaded,
                pair,
                file,
                run,
            }));
        }
    }
    problems.or(recorded)
}

fn ask_judges(
    args: &JudgeArgs,
    plan: &Plan,
    requests: &JudgeRequests<'_>,
    recorded: &[JudgedOutput<'_>],
    disk: &Disk,
    world: &World,
) -> Result<u8, CliError> {
    let options = LiveOptions {
        caching: if args.cache {
            Caching::Usual
        } else {
            Caching::Off
        },
        resume: if args.resume { Resume::Yes } else { Resume::No },
        loudness: if args.quiet {
            Loudness::Quiet
        } else {
            Loudness::Usual
        },
        max_cost_usd: args.max_cost_usd,
        ..LiveOptions::NONE
    };
    if options.resume == Resume::No {
        live::unfinished(plan, disk).clear()?;
    }
    let runner = JudgeRunner {
        plan,
        disk,
        world,
        options: &options,
        redactor: &world.redactor_by(&plan.config, &plan.config),
        left: live::limits(plan, &options),
        minutes: plan.config.budget.max_minutes,
    };
    let outcome = live::poll(&runner, requests)?;
    for note in &outcome.notes {
        world.tell(note);
    }
    if let Some(interruption) = outcome.called_off {
        world.tell("no recording was written; use --resume to continue with the finished votes");
        return Ok(interruption.exit_code());
    }
    live::unfinished(plan, disk).clear()?;
    let (mut written, mut missing, mut read) = (0, 0, 0);
    for JudgedOutput {
        loaded,
        pair,
        file,
        run,
    } in recorded
    {
        let answered = outcome.of(loaded, pair, run, disk)?;
        for vote in answered.iter().flat_map(|ballot| &ballot.votes) {
            if is_given(vote) {
                read += 1;
            } else {
                missing += 1;
            }
        }
        let ballots: Vec<Ballot> = answered
            .into_iter()
            .filter_map(|new| merge_votes(new, &run.ballots))
            .collect();
        if ballots.is_empty() {
            continue;
        }
        let record = run_v1::with_ballots(&disk.text(file)?.text, &ballots);
        disk.replace_input(file, record.as_bytes())?;
        written += 1;
    }
    let outputs = plural(requests.count(), "output", "outputs");
    match (outcome.usage.calls, written) {
        (0, 0) => world.say("no output was judged; no recording was written\n"),
        (calls, written) => world.say(&format!(
            "{outputs} judged in {}; {} missing; {} written. Commit the recordings to use the votes.\n",
            plural(usize::try_from(calls).unwrap_or(usize::MAX), "call", "calls"),
            plural(missing, "vote", "votes"),
            plural(written, "recording", "recordings")
        )),
    }
    // If no vote could be read, the work was not done.
    Ok(if read == 0 { 3 } else { 0 })
}

/// Merges new votes into a recording's old ones: a missing vote does not replace a vote by the same rubric on the same output.
/// Returns `None` if no new vote could be read and old votes exist.
fn merge_votes(new: Ballot, recorded: &[Ballot]) -> Option<Ballot> {
    let Some(old) = recorded.iter().find(|old| old.judge == new.judge) else {
        return Some(new);
    };
    if !new.votes.iter().any(is_given) && old.votes.iter().any(is_given) {
        return None;
    }
    let same = old.rubric_sha256 == new.rubric_sha256 && old.judged_sha256 == new.judged_sha256;
    if !same || new.votes.iter().all(is_given) {
        return Some(new);
    }
    let mut votes = Vec::new();
    for (index, vote) in new.votes.iter().enumerate() {
        let old_vote = old.votes.get(index).filter(|vote| is_given(vote));
        votes.push(match (vote, old_vote) {
            (Vote::Missing(_), Some(old_vote)) => old_vote.clone(),
            (Vote::Given { .. } | Vote::Missing(_), _) => vote.clone(),
        });
    }
    let names: BTreeSet<&str> = [&old.model, &new.model]
        .into_iter()
        .flatten()
        .flat_map(|names| names.split('+'))
        .collect();
    let model =
        Some(names.into_iter().collect::<Vec<_>>().join("+")).filter(|names| !names.is_empty());
    Some(Ballot {
        votes,
        model,
        ..new
    })
}

fn is_given(vote: &Vote) -> bool {
    vote.mark().is_some()
}
