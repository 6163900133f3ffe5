//! The command line: the only place where all other modules meet.
//!
//! `cli` has the arguments, `commands` a file for each command, `demo` runs one of them on an example. A command parses its
//! arguments, asks `workspace` or `github` for the work, prints and returns an exit code. What two commands do alike is in `workspace`.

mod base_commit;
mod cli;
mod commands;
mod demo;

use std::ffi::OsString;

use clap::FromArgMatches;

use self::cli::{Cli, ColorArg, Command, command_line};
use self::commands::{
    baseline, calibrate, check, completions, diff, explain, history, import, init, label, man,
    merge, names, repair, report, review, run, schema, selftest, stamp,
};
#[cfg(feature = "models")]
use self::commands::{judge, record};
#[cfg(feature = "github")]
use crate::github;
use crate::world::{Colours, Disk, World};

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code of the process.
    pub code: u8,
    /// Why the command failed, one line per problem; not yet printed.
    pub problems: Vec<String>,
    /// The config that the command was about; `None` if it was about none.
    pub config: Option<String>,
}

/// Runs the command line of the process and returns its exit code.
pub fn main(world: &mut World) -> u8 {
    let ended = execute(std::env::args_os(), world);
    ended.problems.iter().for_each(|line| world.tell(line));
    // Looked for only where a message names a command.
    let config = ended.config.filter(|_| world.has_named_command());
    let way_to_root = config.and_then(|config| Disk::of_config(&config).ok()?.0.way_to_root());
    if let Some(root) = way_to_root {
        world.tell(&format!(
            "the commands above are for the root of the repository: `cd {}`",
            root.display()
        ));
    }
    final_code(world, ended.code)
}

/// Runs a command line, whose first argument is the name of the program.
pub fn execute(arguments: impl IntoIterator<Item = OsString>, world: &mut World) -> Ended {
    let parsed = command_line()
        .try_get_matches_from(arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version were requested; everything else is bad usage.
            world.printed(usage.print());
            return Ended {
                code: if usage.use_stderr() { 2 } else { 0 },
                problems: Vec::new(),
                config: None,
            };
        }
    };
    world.colours = match cli.color {
        ColorArg::Auto => Colours::Auto,
        ColorArg::Always => Colours::Always,
        ColorArg::Never => Colours::Never,
    };
    let world = &*world;
    let outcome = match &cli.command {
        Command::Run(args) => run::run(args, world),
        Command::Demo(args) => demo::demo(args, world),
        Command::Init(args) => init::init(args, world),
        Command::Merge(args) => merge::merge(args, world),
        #[cfg(feature = "github")]
        Command::Check(args) if args.github => github::check_setup(&args.config, world),
        #[cfg(feature = "github")]
        Command::Check(args) => check::check(args, world, github::check_workflows),
        #[cfg(not(feature = "github"))]
        Command::Check(args) => check::check(args, world, |_| Ok(Default::default())),
        Command::Selftest(args) => selftest::selftest(args, world),
        Command::Diff(args) => diff::diff(args, world),
        Command::History(args) => history::history(args, world),
        Command::Report(args) => report::report(args, world),
        Command::Explain(args) => explain::explain(args, world),
        Command::Review(args) => review::review(args, world),
        Command::Stamp(args) => stamp::stamp(args, world),
        Command::Import(args) => import::import(args, world),
        Command::Baseline(args) => baseline::baseline(args, world),
        Command::Calibrate(args) => calibrate::calibrate(args, world),
        Command::Label(args) => label::label(args, world),
        #[cfg(feature = "models")]
        Command::Judge(args) => judge::judge(args, world),
        #[cfg(feature = "models")]
        Command::Record(args) => record::record(args, world),
        Command::Repair => repair::repair(world),
        Command::Schema(args) => schema::schema(args, world),
        Command::Completions(args) => completions::completions(args, world),
        Command::Names(args) => names::names(args, world),
        Command::Man(args) => man::man(args, world),
        #[cfg(feature = "github")]
        Command::Action => github::action(world),
    };
    let config = config_of(&cli.command).map(str::to_owned);
    match outcome {
        Ok(code) => Ended {
            code,
            problems: Vec::new(),
            config,
        },
        Err(error) => Ended {
            code: error.exit_code(),
            problems: error.lines(),
            config,
        },
    }
}

/// The config that a command is about; `None` if it is about none.
fn config_of(command: &Command) -> Option<&str> {
    match command {
        Command::Run(args) => Some(&args.config),
        Command::Check(args) => Some(&args.config),
        Command::Selftest(args) => Some(&args.config),
        Command::Explain(args) => Some(&args.config),
        Command::Review(args) => Some(&args.config),
        #[cfg(feature = "models")]
        Command::Record(args) => Some(&args.config),
        Command::Stamp(args) => Some(&args.config),
        Command::Calibrate(args) => Some(&args.config),
        #[cfg(feature = "models")]
        Command::Judge(args) => Some(&args.config),
        _ => None,
    }
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
