//! `goldgate stamp`: writes today's digests into recordings. It says that they were made with the present files.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::cli::StampArgs;
use crate::app::cli_error::CliError;
use crate::app::pipeline::plan::plan;
use crate::app::pipeline::recorded_agents::{RecordingDigests, StampedAgent};
use crate::app::pipeline::selection::chosen;
use crate::files::Files;
use crate::format::run_v1;
use crate::model::RepoPath;
use crate::render::plural;
use crate::text::first_of;
use crate::world::{Disk, World};

/// The exit code if recordings keep digests of other files.
const NOT_STAMPED: u8 = 3;

/// Writes today's digests into the recordings of the chosen agents and cases: those that they lack, and with `--stale` in place of
/// others. Returns the exit code.
///
/// # Errors
/// Bad input, or files that cannot be written. Nothing is written before everything was read.
pub fn stamp(args: &StampArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let plan = plan(&disk, &file, chosen(&args.chosen)?, &world.clock)?;
    let mut texts: BTreeMap<RepoPath, String> = BTreeMap::new();
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for agent in StampedAgent::all(&plan) {
        for (recording, digests) in agent.recordings(&plan, &disk)? {
            // A folder that two suites share is stamped once.
            if texts.contains_key(&recording) {
                continue;
            }
            let text = disk.text(&recording)?.text;
            match stamped(&text, &digests, args.stale) {
                Stamped::Written(text) => {
                    *counts.entry(agent.name.clone()).or_default() += 1;
                    texts.insert(recording, text);
                }
                Stamped::Current => {}
                Stamped::Other => drop(kept.insert(recording.to_string())),
            }
        }
    }
    for (file, text) in &texts {
        disk.replace_input(file, text.as_bytes())?;
    }
    for (agent, count) in &counts {
        let subject = plural(*count, "recording has", "recordings have");
        let them = if *count == 1 { "it" } else { "them" };
        world.say(&format!(
            "{agent}: {subject} today's digests now; commit {them}\n"
        ));
    }
    if !kept.is_empty() {
        let subject = plural(
            kept.len(),
            "recording states digests of other files or inputs, or was edited",
            "recordings state digests of other files or inputs, or were edited",
        );
        let names: Vec<&String> = kept.iter().collect();
        world.say(&format!(
            "{subject} ({}): record again, or add --stale if the change cannot alter an answer\n",
            first_of(&names)
        ));
        return Ok(NOT_STAMPED);
    }
    if texts.is_empty() {
        world.say("nothing to do: every recording states today's digests\n");
    }
    Ok(0)
}

/// What becomes of a recording.
enum Stamped {
    /// Its new text.
    Written(String),
    /// It states all of today's digests.
    Current,
    /// It states another digest, which only `--stale` replaces.
    Other,
}

fn stamped(text: &str, digests: &RecordingDigests, replaces_stale: bool) -> Stamped {
    let stated = run_v1::stated_origin(text);
    let content = run_v1::content_sha256(text);
    let today = [
        ("agent_sha256", &stated.agent_sha256, &digests.agent),
        ("input_sha256", &stated.input_sha256, &digests.input),
        ("target_sha256", &stated.target_sha256, &digests.target),
        ("content_sha256", &stated.content_sha256, &content),
    ];
    let mut values: Vec<(&str, &str)> = Vec::new();
    for (key, stated, now) in today {
        let Some(now) = now else { continue };
        match stated {
            Some(stated) if stated == now => {}
            Some(_) if !replaces_stale => return Stamped::Other,
            Some(_) | None => values.push((key, now)),
        }
    }
    if values.is_empty() {
        return Stamped::Current;
    }
    values.push(("by", run_v1::STAMPED));
    Stamped::Written(run_v1::with_origin(text, &values))
}
