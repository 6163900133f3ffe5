//! The commands: the only place where things meet.

mod baseline;
mod cli;
mod evaluate;
mod plan;
mod replay;
mod run;
mod show;
mod trouble;

use clap::Parser;

use self::cli::Cli;
use self::cli::Command;
use crate::world::World;

/// Does what the command line asks for and gives the process's exit code.
pub fn main(world: &World) -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version are what was asked for; everything else is bad usage.
            let _ = usage.print();
            return if usage.use_stderr() { 2 } else { 0 };
        }
    };
    let outcome = match &cli.command {
        Command::Run(args) => run::run(args, world),
        _ => Ok(0),
    };
    outcome.unwrap_or_else(|trouble| {
        world.tell(&trouble.to_string());
        trouble.exit_code()
    })
}
