//! `goldgate man`: manual pages, made from the same table as the help.

use std::path::Path;

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;

use crate::app::cli::{ManArgs, command_line};
use crate::diag::{Code, Diagnostic, did_you_mean};
use crate::model::RepoPath;
use crate::render::CliError;
use crate::world::{Disk, World};

/// Prints one page, or writes all of them. Returns the exit code.
///
/// # Errors
/// An unknown command, or a file that cannot be written.
pub fn man(args: &ManArgs, world: &World) -> Result<u8, CliError> {
    let mut whole = command_line().disable_help_subcommand(true);
    whole.build();
    let Some(folder) = &args.out else {
        world.say(&page(named(&whole, args.command.as_deref())?)?);
        return Ok(0);
    };
    let folder = Disk::create(Path::new(folder))?;
    for command in std::iter::once(&whole).chain(shown(&whole)) {
        let file = RepoPath::root().child(&format!("{}.1", page_name(command)));
        folder.replace(&file, page(command)?.as_bytes())?;
    }
    Ok(0)
}

/// The commands that the help lists.
fn shown(whole: &Command) -> impl Iterator<Item = &Command> {
    whole
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
}

/// Returns the command with this name; goldgate itself without a name.
fn named<'a>(whole: &'a Command, name: Option<&str>) -> Result<&'a Command, Diagnostic> {
    let Some(name) = name else { return Ok(whole) };
    if let Some(command) = shown(whole).find(|command| command.get_name() == name) {
        return Ok(command);
    }
    let help = did_you_mean(
        name,
        shown(whole).map(Command::get_name),
        "`goldgate --help` lists the commands",
    );
    Err(Diagnostic::of_command_line(
        Code::UNKNOWN_COMMAND,
        format!("unknown command \"{name}\""),
        help,
    ))
}

/// The name under which `man` finds a command's page, such as `goldgate-run`.
fn page_name(command: &Command) -> String {
    command
        .get_display_name()
        .unwrap_or(command.get_name())
        .to_owned()
}

/// The page of a command in the format of `man`.
fn page(command: &Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone())
        .render(&mut page)
        .context("while writing the manual page")?;
    String::from_utf8(page).context("while writing the manual page")
}
