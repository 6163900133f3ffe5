//! `goldgate names`: the names of suites, agents and cases, one a line, for the completion scripts.

use std::collections::BTreeSet;

use crate::app::cli::{NameKind, NamesArgs};
use crate::evaluation::plan::{LoadedSuite, plan};
use crate::evaluation::selection::Selection;
use crate::render::CliError;
use crate::world::{Disk, World};

/// Prints the names. Returns the exit code.
///
/// # Errors
/// A config or a golden set that cannot be read.
pub fn names(args: &NamesArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let plan = plan(&disk, &file, Selection::default(), &world.clock.days())?;
    let suites = plan.suites.iter();
    let names: BTreeSet<String> = match args.kind {
        NameKind::Suites => suites.map(|suite| suite.config.id.to_string()).collect(),
        NameKind::Agents => suites
            .flat_map(|suite| suite.config.agents.keys())
            .map(ToString::to_string)
            .collect(),
        NameKind::Cases => suites.flat_map(cases).collect(),
    };
    let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
    world.say(&lines);
    Ok(0)
}

fn cases(suite: &LoadedSuite) -> impl Iterator<Item = String> {
    suite.suite.pairs().iter().map(|pair| pair.case.to_string())
}
