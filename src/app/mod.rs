//! The commands, which connect all other modules.

#[cfg(feature = "github")]
mod action;
mod base_commit;
mod base_judgement;
mod baseline;
mod calibrate;
mod check;
mod cli;
mod cli_error;
mod diff;
mod evaluate;
mod explain;
mod fingerprint;
mod freshness;
mod import;
#[cfg(feature = "models")]
mod judge;
mod judged;
mod label;
mod legacy_output;
mod live;
mod merge;
mod plan;
mod prompts;
mod remarks;
mod repair;
mod replay;
mod run;
mod sample_count;
mod schema;
mod selection;
mod selftest;
mod show;
mod snapshots;
mod stored;
mod tiers;

use clap::Parser;

use self::cli::{Cli, Command};
use crate::world::World;

/// Runs the command line and returns the exit code of the process.
pub fn main(world: &World) -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version were requested; everything else is bad usage.
            world.printed(usage.print());
            return final_code(world, if usage.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = match &cli.command {
        Command::Run(args) => run::run(args, world),
        Command::Merge(args) => merge::merge(args, world),
        Command::Check(args) => check::check(args, world),
        Command::Selftest(args) => selftest::selftest(args, world),
        Command::Diff(args) => diff::diff(args, world),
        Command::Report(args) => stored::report(args, world),
        Command::Explain(args) => explain::explain(args, world),
        Command::Import(args) => import::import(args, world),
        Command::Calibrate(args) => calibrate::calibrate(args, world),
        Command::Label(args) => label::label(args, world),
        #[cfg(feature = "models")]
        Command::Judge(args) => judge::judge(args, world),
        Command::Repair => repair::repair(world),
        Command::Schema(args) => schema::schema(args, world),
        #[cfg(feature = "github")]
        Command::Action => action::action(world),
    };
    let code = outcome.unwrap_or_else(|error| {
        error.lines().iter().for_each(|line| world.tell(line));
        error.exit_code()
    });
    final_code(world, code)
}

/// Returns the exit code, or 3 if the result of a pass could not be printed.
fn final_code(world: &World, code: u8) -> u8 {
    // A signal after the last sample: the output may be complete, but the run was interrupted.
    #[cfg(feature = "models")]
    let code = crate::world::signal_so_far().map_or(code, crate::model::Interruption::exit_code);
    match world.unprinted() {
        None => code,
        Some(why) => {
            world.tell(&format!("error: the result could not be printed: {why}"));
            if code == 0 { 3 } else { code }
        }
    }
}
