//! `goldgate stamp`: writes today's digests into recordings. It says that they were made with the present files.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;

use crate::app::cli::StampArgs;
use crate::diag::Diagnostics;
use crate::evaluation::plan::plan;
use crate::evaluation::recorded_agents::{OtherDigests, Stamped, StampedSuite, with_other_digests};
use crate::format::json;
use crate::format::recorded_attempts::{recording_text, stamped_file};
use crate::model::RepoPath;
use crate::render::{CliError, plural};
use crate::world::{Disk, ReadOnce, World};

/// The exit code if recordings keep digests of other files.
const NOT_STAMPED: u8 = 3;

/// Writes today's digests into the recordings of the chosen agents and cases: those that they lack, and with `--stale` in place of
/// others. Returns the exit code.
///
/// # Errors
/// Bad input, or files that cannot be written. Nothing is written before everything was read.
pub fn stamp(args: &StampArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let files = ReadOnce::of(&disk);
    let plan = plan(&files, &file, args.chosen.chosen()?, &world.clock.days())?;
    let over = if args.stale {
        OtherDigests::Replaced
    } else {
        OtherDigests::Kept
    };
    let mut texts: BTreeMap<RepoPath, String> = BTreeMap::new();
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut problems = Diagnostics::default();
    for suite in StampedSuite::all(&plan) {
        let recordings = problems.keep_all(suite.recordings(&plan, &files));
        for recording in recordings.unwrap_or_default() {
            // A folder that two suites share is stamped once.
            if texts.contains_key(&recording.file) {
                continue;
            }
            let source = recording_text(&files, &recording.file)?;
            // A digest is written into the text, which has to be whole.
            if problems.keep(json::whole::<IgnoredAny>(&source)).is_none() {
                continue;
            }
            match recording.digests.stamped(&source.text, over) {
                Stamped::Written(text) => {
                    *counts.entry(recording.agent).or_default() += 1;
                    texts.insert(recording.file, text);
                }
                Stamped::Current => {}
                Stamped::Other => drop(kept.insert(recording.file.to_string())),
            }
        }
    }
    problems.or(())?;
    let is_current = texts.is_empty();
    for (recording, text) in texts {
        let (file, text) = stamped_file(recording, text);
        disk.replace_input(&file, text.as_bytes())?;
    }
    for (agent, count) in &counts {
        let subject = plural(*count, "recording has", "recordings have");
        let them = if *count == 1 { "it" } else { "them" };
        world.say(&format!(
            "{agent}: {subject} today's digests now; commit {them}\n"
        ));
    }
    if !kept.is_empty() {
        world.say(&format!(
            "{}: record again, or add --stale if the change cannot alter an answer\n",
            with_other_digests(&kept)
        ));
        return Ok(NOT_STAMPED);
    }
    if is_current {
        world.say("nothing to do: every recording states today's digests\n");
    }
    Ok(0)
}
