//! `goldgate completions`: the completion script of a shell.

use clap_complete::Shell;

use crate::app::cli::{CompletionsArgs, command_line};
use crate::render::CliError;
use crate::world::World;

/// Completes the names of suites, agents and cases in bash, and everything else by the script before it.
const BASH: &str = include_str!("completions/names.bash");

/// The same in zsh.
const ZSH: &str = include_str!("completions/names.zsh");

/// The same in fish.
const FISH: &str = include_str!("completions/names.fish");

/// Prints the script. Returns the exit code.
pub fn completions(args: &CompletionsArgs, world: &World) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "goldgate", &mut script);
    world.say(&String::from_utf8_lossy(&script));
    world.say(match args.shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        _ => "",
    });
    Ok(0)
}
