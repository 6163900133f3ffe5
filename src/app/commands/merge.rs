//! `goldgate merge`: joins the shards that several machines graded into one report.

use std::path::Path;

use crate::app::base_commit::name_base;
use crate::app::cli::MergeArgs;
use crate::render::CliError;
use crate::workspace::joined_shards::JoinedShards;
use crate::workspace::show;
use crate::workspace::worktree::locally;
use crate::world::{Disk, Git, World};

/// Joins the shards, judges, and prints the result. Returns the exit code.
///
/// # Errors
/// Shards that do not belong together or to this checkout, or an error of a run.
pub fn merge(args: &MergeArgs, world: &World) -> Result<u8, CliError> {
    let joined = JoinedShards::read(&args.folders, &args.config)?;
    let (disk, _) = Disk::of_config(&args.config)?;
    joined.is_of_checkout(&disk)?;
    let git = Git::of(&disk);
    let mut job = joined.job.clone();
    // Without the option, the base is what the shards were compared with.
    let note = name_base(&mut job, args.base.as_deref(), &args.base_options, &git)?;
    if let Some(named) = &args.base {
        joined.is_of_base(named, job.base.as_deref())?;
    }
    let mut done = locally(&job, &git, args.baseline.as_deref(), world)?;
    joined.complete(&mut done)?;
    // The shards' notes say it already, where they were graded with the same option.
    let new_note = note.filter(|note| !done.report.notes.contains(note));
    done.report.notes.extend(new_note);
    if let Some(folder) = &args.out {
        show::write_all(
            &Disk::create(Path::new(folder))?,
            &done.report,
            &done.proposed(),
        )?;
    }
    world.say(&show::render_report(
        &done.report,
        args.view.format,
        args.view.detail(),
        world,
    ));
    let code = done.report.exit_code();
    world.keep(done);
    Ok(code)
}
