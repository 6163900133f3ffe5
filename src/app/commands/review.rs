//! `goldgate review`: shows drafts, newly failing and moved cases one by one, and takes decisions on the drafts.

mod decision;
mod items;

use std::collections::BTreeSet;

use self::decision::{Decision, DraftCase, drafts};
use self::items::{ReviewReason, ReviewTable};
use crate::app::cli::ReviewArgs;
use crate::diag::{Code, Diagnostic, nearest};
use crate::evaluation::plan::plan;
use crate::evaluation::selection::{Selection, patterns};
use crate::files::Files;
use crate::model::{AgentName, Config, RepoPath, Tier};
use crate::render::{CliError, plural};
use crate::text::config_option;
use crate::world::{Disk, World, edit_file};

/// Takes the decisions of the command line, asks a person on a terminal, or lists what there is to review. Returns the exit code.
///
/// # Errors
/// Bad input, a name that fits no draft, or a file that cannot be written.
pub fn review(args: &ReviewArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let wanted = Selection {
        tiers: vec![Tier::Deterministic],
        ..args.chosen.chosen()?
    };
    if !args.accept.is_empty() || !args.reject.is_empty() {
        return decide(args, (&disk, &file), wanted, world);
    }
    let table = ReviewTable::open(&args.config, (&disk, &file), wanted, world)?;
    if table.items.is_empty() {
        world.say("Nothing to review: there are no drafts, and no case failed or moved since the baseline.\n");
    } else if world.is_interactive() {
        walk(&table, &disk, world)?;
    } else {
        world.say(&table.list(&disk)?);
    }
    Ok(0)
}

/// Takes the decisions of the command line: all of them, or none if a name fits no draft.
fn decide(
    args: &ReviewArgs,
    (disk, file): (&Disk, &RepoPath),
    wanted: Selection,
    world: &World,
) -> Result<u8, CliError> {
    let plan = plan(disk, file, wanted, &world.clock.days())?;
    let drafts = drafts(&plan);
    let mut decisions: Vec<(&DraftCase, Decision)> = Vec::new();
    for (names, decision) in [
        (&args.accept, Decision::Accepted),
        (&args.reject, Decision::Rejected),
    ] {
        for (name, pattern) in names.iter().zip(patterns(names)?) {
            let named: Vec<&DraftCase> = drafts
                .iter()
                .filter(|draft| draft.is_named(&pattern))
                .collect();
            if named.is_empty() {
                return Err(unknown(name, &drafts).into());
            }
            decisions.extend(named.into_iter().map(|draft| (draft, decision)));
        }
    }
    let mut seen: BTreeSet<(&RepoPath, &[AgentName], String)> = BTreeSet::new();
    decisions.retain(|(draft, decision)| {
        seen.insert((
            &draft.golden,
            &draft.agents,
            format!("{} {}", draft.name(), decision.as_str()),
        ))
    });
    for (draft, decision) in &decisions {
        let is_contradicted = decisions
            .iter()
            .filter(|(drafted, _)| (&drafted.golden, &drafted.case) == (&draft.golden, &draft.case))
            .any(|(drafted, taken)| taken != decision && drafted.agents == draft.agents);
        if is_contradicted {
            let message = format!("{} is both accepted and rejected", draft.name());
            return Err(
                Diagnostic::of_command_line(Code::CONTRADICTION, message, "name it once").into(),
            );
        }
    }
    for (draft, decision) in &decisions {
        draft.decide(*decision, disk)?;
        world.say(&format!(
            "{} {} in {}\n",
            decision.as_str(),
            draft.name(),
            draft.golden
        ));
    }
    let accepted = decisions
        .iter()
        .filter(|(_, decision)| *decision == Decision::Accepted)
        .count();
    world.say(&next(accepted, &plan.config, disk));
    Ok(0)
}

fn unknown(name: &str, drafts: &[DraftCase]) -> Diagnostic {
    let names: Vec<String> = drafts
        .iter()
        .flat_map(|draft| [draft.name(), draft.case.to_string()])
        .collect();
    let help = match (
        nearest(name, names.iter().map(String::as_str)),
        names.first(),
    ) {
        (Some(near), _) => format!("did you mean \"{near}\"?"),
        (None, Some(_)) => "`goldgate review` lists the drafts".to_owned(),
        (None, None) => "there are no drafts".to_owned(),
    };
    Diagnostic::of_command_line(
        Code::NOTHING_SELECTED,
        format!("no draft is called \"{name}\""),
        help,
    )
}

/// What to do after decisions. Only the first baseline is written with the cases: later ones after the merge.
fn next(accepted: usize, config: &Config, disk: &Disk) -> String {
    if accepted == 0 {
        return String::new();
    }
    let option = config_option(config.file.as_str());
    let is_first = config
        .baseline
        .as_ref()
        .is_none_or(|file| disk.baseline_bytes(file).is_err());
    let baseline = if is_first {
        format!(", then goldgate run{option} --update-baseline")
    } else {
        ", then commit; the next baseline includes these cases".to_owned()
    };
    let count = plural(accepted, "case counts", "cases count");
    format!("{count} from now on. Next: goldgate run{option}{baseline}\n")
}

/// A person's answer for one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReviewAnswer {
    Decided(Decision),
    Edit,
    Skip,
    Quit,
}

/// Shows the cases one by one. Each decision takes effect at once.
fn walk(table: &ReviewTable, disk: &Disk, world: &World) -> Result<(), CliError> {
    let (mut accepted, mut rejected, mut skipped) = (0, 0, 0);
    'cases: for number in 0..table.items.len() {
        let item = &table.items[number];
        world.say(&table.shown(number, disk, world.columns())?);
        loop {
            match (ask_person(&item.reason, world)?, &item.reason) {
                (ReviewAnswer::Decided(decision), ReviewReason::Draft(draft)) => {
                    draft.decide(decision, disk)?;
                    match decision {
                        Decision::Accepted => accepted += 1,
                        Decision::Rejected => rejected += 1,
                    }
                    break;
                }
                (ReviewAnswer::Edit, _) => {
                    let (path, line) = table.place(number, disk)?;
                    match world.env.get("VISUAL").or_else(|| world.env.get("EDITOR")) {
                        Some(editor) => edit_file(editor, &disk.place().join(path.as_str()))?,
                        None => {
                            world.say(&format!("EDITOR is not set: edit {path}, line {line}.\n"))
                        }
                    }
                }
                (ReviewAnswer::Skip | ReviewAnswer::Decided(_), _) => {
                    skipped += 1;
                    break;
                }
                (ReviewAnswer::Quit, _) => break 'cases,
            }
        }
    }
    world.say(&format!(
        "\n{accepted} accepted, {rejected} rejected, {skipped} skipped.\n{}",
        next(accepted, &table.plan.config, disk)
    ));
    Ok(())
}

/// Asks until there is an answer; the end of input ends the review.
fn ask_person(reason: &ReviewReason, world: &World) -> Result<ReviewAnswer, CliError> {
    let is_draft = matches!(reason, ReviewReason::Draft(_));
    let question = if is_draft {
        "a accept, r reject, e edit, s skip, q quit > "
    } else {
        "e edit the case, s skip, q quit > "
    };
    loop {
        let Some(word) = world.ask(question)? else {
            return Ok(ReviewAnswer::Quit);
        };
        return Ok(match word.to_lowercase().as_str() {
            "a" | "accept" if is_draft => ReviewAnswer::Decided(Decision::Accepted),
            "r" | "reject" if is_draft => ReviewAnswer::Decided(Decision::Rejected),
            "e" | "edit" => ReviewAnswer::Edit,
            "s" | "skip" => ReviewAnswer::Skip,
            "q" | "quit" => ReviewAnswer::Quit,
            _ => continue,
        });
    }
}
