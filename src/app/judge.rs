//! `goldgate judge`: the suites' judges vote on recorded outputs, and their votes are written into the recordings.

use std::collections::BTreeSet;

use super::cli::JudgeArgs;
use super::cli_error::CliError;
use super::live;
use super::live::{Caching, JudgeRequests, JudgeRunner, LiveOptions, Resume, VoteReuse};
use super::plan::{LoadedSuite, Plan, Selection, plan};
use super::replay::{LiveLayout, Replay, RunReader};
use super::selection::chosen;
use crate::diag::{Diagnostic, Diagnostics};
use crate::format::run_v1;
use crate::model::{Ballot, RepoPath, Run, Tier, Vote};
use crate::render::plural;
use crate::suites::Files;
use crate::world::{Disk, Loudness, World};

/// One recorded output of a suite that has judges.
struct JudgedOutput<'a> {
    opened: &'a LoadedSuite,
    index: usize,
    file: RepoPath,
    run: Run,
}

/// Asks, and writes what was said. The agents are not called.
///
/// # Errors
/// Bad input, found before any call is made, and an outside that failed.
pub fn judge(args: &JudgeArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let wanted = Selection { tiers: vec![Tier::Deterministic], ..chosen(&args.chosen)? };
    let plan = plan(&disk, &file, wanted, &world.clock)?;
    if plan.suites.iter().all(|opened| opened.judges.is_empty()) {
        let help = "add judges: { NAME: { target: NAME, rubric: FILE } } to the suite";
        return Err(Diagnostic::of_file(&file, "no-judges", "no suite that is asked for has a judge", help).into());
    }
    let recorded = recorded(&plan, &disk)?;
    let again = if args.again { VoteReuse::Always } else { VoteReuse::WhereNeeded };
    let (mut problems, mut questions) = (Diagnostics::default(), JudgeRequests::default());
    for one in &recorded {
        problems.keep(questions.add(one.opened, one.index, &one.run, again, &disk));
    }
    problems.or(())?;
    if questions.count() == 0 {
        world.say("every recorded output has its votes; --again asks for them anew\n");
        return Ok(0);
    }
    voted(args, &plan, &questions, &recorded, &disk, world)
}

/// The completed recordings of the chosen pairs.
fn recorded<'a>(plan: &'a Plan, disk: &Disk) -> Result<Vec<JudgedOutput<'a>>, Diagnostics> {
    let layout = LiveLayout::default();
    let runs = Replay::open(disk, plan, Tier::Deterministic, &layout)?;
    let (mut problems, mut recorded) = (Diagnostics::default(), Vec::new());
    for opened in plan.suites.iter().filter(|opened| !opened.judges.is_empty()) {
        for index in opened.chosen(&plan.wanted) {
            let pair = &opened.suite.pairs()[index];
            let (true, [key]) = (runs.has(pair), pair.runs.as_slice()) else { continue };
            let files = problems.keep_all(runs.recorded(key)).unwrap_or_default();
            recorded.extend(files.into_iter().map(|(file, run)| JudgedOutput { opened, index, file, run }));
        }
    }
    problems.or(recorded)
}

fn voted(
    args: &JudgeArgs,
    plan: &Plan,
    questions: &JudgeRequests<'_>,
    recorded: &[JudgedOutput<'_>],
    disk: &Disk,
    world: &World,
) -> Result<u8, CliError> {
    let options = LiveOptions {
        caching: if args.cache { Caching::Usual } else { Caching::Off },
        resume: if args.resume { Resume::Yes } else { Resume::No },
        loudness: if args.quiet { Loudness::Quiet } else { Loudness::Usual },
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
        redactor: &live::redactor(plan, world)?,
        left: live::limits(plan, &options),
        minutes: plan.config.budget.max_minutes,
    };
    let outcome = live::poll(&runner, questions)?;
    outcome.notes.iter().for_each(|note| world.tell(note));
    if let Some(interruption) = outcome.called_off {
        world.tell("nothing was written; what was finished is kept: --resume goes on from there");
        return Ok(interruption.exit_code());
    }
    live::unfinished(plan, disk).clear()?;
    let (mut written, mut missing, mut read) = (0, 0, 0);
    for JudgedOutput { opened, index, file, run } in recorded {
        let asked = outcome.of(opened, *index, run, disk)?;
        let count = |given: bool| {
            asked.iter().flat_map(|ballot| &ballot.votes).filter(|vote| vote.mark().is_some() == given).count()
        };
        missing += count(false);
        read += count(true);
        let ballots: Vec<Ballot> = asked.into_iter().filter_map(|new| kept(new, &run.ballots)).collect();
        if ballots.is_empty() {
            continue;
        }
        disk.replace(file, run_v1::with_ballots(&disk.text(file)?.text, &ballots).as_bytes())?;
        written += 1;
    }
    let outputs = plural(questions.count(), "output", "outputs");
    let lost = plural(missing, "vote is", "votes are");
    world.say(&format!(
        "{outputs} judged in {}; {lost} missing; {} written, and count once they are committed\n",
        plural(usize::try_from(outcome.usage.calls).unwrap_or(usize::MAX), "call", "calls"),
        plural(written, "recording", "recordings")
    ));
    // A judge that could not be asked, or of whom nothing could be read, is work that was not done.
    Ok(if read == 0 { 3 } else { 0 })
}

/// What a recording keeps of new votes: a vote that is missing takes the place of none that was given by the same rubric on the same
/// output. Nothing where no new vote could be read and others are there already.
fn kept(new: Ballot, before: &[Ballot]) -> Option<Ballot> {
    let Some(old) = before.iter().find(|old| old.judge == new.judge) else { return Some(new) };
    let is_given = |vote: &Vote| vote.mark().is_some();
    if !new.votes.iter().any(is_given) && old.votes.iter().any(is_given) {
        return None;
    }
    let same = old.rubric_sha256 == new.rubric_sha256 && old.judged_sha256 == new.judged_sha256;
    if !same || new.votes.iter().all(is_given) {
        return Some(new);
    }
    let standing = |index: usize| old.votes.get(index).filter(|vote| is_given(vote)).cloned();
    let votes = new.votes.iter().enumerate().map(|(index, vote)| match vote {
        Vote::Given { .. } => vote.clone(),
        Vote::Missing(_) => standing(index).unwrap_or_else(|| vote.clone()),
    });
    let names: BTreeSet<&str> =
        [&old.model, &new.model].into_iter().flatten().flat_map(|names| names.split('+')).collect();
    let model = Some(names.into_iter().collect::<Vec<_>>().join("+")).filter(|names| !names.is_empty());
    Some(Ballot { votes: votes.collect(), model, ..new })
}
