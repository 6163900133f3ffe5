//! `goldgate completions`: the completion script of a shell.

use clap::CommandFactory;

use crate::app::cli::{Cli, CompletionsArgs};
use crate::render::CliError;
use crate::world::World;

/// Prints the script. Returns the exit code.
pub fn completions(args: &CompletionsArgs, world: &World) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "goldgate", &mut script);
    world.say(&String::from_utf8_lossy(&script));
    Ok(0)
}
