//! `goldgate diff`: compares two reports, baselines or commits, by metric and by case.

use std::path::Path;

use crate::app::cli::DiffArgs;
use crate::diag::{Code, Diagnostic, ReadFailure};
use crate::files::{Files, SourceText};
use crate::format::{baseline_v1, report_v1};
use crate::model::InputLimit;
use crate::render::side_by_side::{MetricRow, side_by_side};
use crate::render::{CliError, Detail, Screen, Style};
use crate::report::{MeasuredNumbers, NumberScale, case_moves};
use crate::suites::{metric_spec, read_config};
use crate::text::short_commit;
use crate::world::{Disk, Git, World};

/// Prints the values that differ. Returns the exit code.
///
/// # Errors
/// A source that is neither a report, a baseline nor a commit with a baseline.
pub fn diff(args: &DiffArgs, world: &World) -> Result<u8, CliError> {
    let (before, after) = (measured(&args.before, args)?, measured(&args.after, args)?);
    let mut names: Vec<_> = before
        .numbers
        .keys()
        .chain(after.numbers.keys())
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    let scale = |metric: &str| NumberScale::of(metric_spec(metric));
    let rows: Vec<MetricRow> = names
        .into_iter()
        .map(|name| MetricRow {
            before: before.numbers.get(&name).copied(),
            after: after.numbers.get(&name).copied(),
            scale: scale(&name.2),
            suite: name.0,
            agent: name.1,
            metric: name.2,
        })
        .collect();
    let detail = if args.verbose {
        Detail::Everything
    } else {
        Detail::Changes
    };
    let screen = Screen {
        style: Style::Plain,
        columns: world.columns(),
        detail,
    };
    world.say(&side_by_side(
        &rows,
        &case_moves(&before, &after),
        &scale,
        screen,
    ));
    Ok(0)
}

/// Reads a folder of `--out`, a report, a baseline, or the baseline of a commit. A path comes before a commit of the same name.
fn measured(source: &str, args: &DiffArgs) -> Result<MeasuredNumbers, CliError> {
    let path = Path::new(source);
    if path.is_dir() {
        return of_file(&path.join("report.json").to_string_lossy());
    }
    // What looks like a file gets the errors of a file.
    if path.exists() || source.ends_with(".json") {
        return of_file(source);
    }
    of_commit(source, args)
}

fn of_file(path: &str) -> Result<MeasuredNumbers, CliError> {
    let (disk, file) = Disk::of_file(path)?;
    let source: SourceText = disk.own_text(&file, &InputLimit::REPORT)?;
    // The schema name decides. A file with neither schema gets the errors of an invalid baseline.
    if source.text.contains("\"goldgate.report/") {
        return Ok(MeasuredNumbers::from(&report_v1::read_report(&source)?));
    }
    Ok(MeasuredNumbers::from(&baseline_v1::read_baseline(&source)?))
}

fn of_commit(name: &str, args: &DiffArgs) -> Result<MeasuredNumbers, CliError> {
    let unknown = |why: String| {
        let what = format!("this is neither a file, a folder of --out nor a commit: {why}");
        let help = "pass a folder, report.json, a baseline, or a revision such as main";
        Diagnostic::of_read(name, ReadFailure::MissingFile, what, help)
    };
    let (disk, config) = Disk::of_config(&args.config).map_err(|problem| unknown(problem.what))?;
    let git = Git::of(&disk);
    let commit = git
        .commit(name)
        .map_err(|error| unknown(format!("{error:#}")))?;
    let Some(file) = read_config(&disk.text(&config)?)?.baseline else {
        let (what, help) = (
            "the config has no baseline",
            "add baseline: baselines/latest.json",
        );
        return Err(Diagnostic::of_file(&args.config, Code::NO_BASELINE, what, help).into());
    };
    let Some(bytes) = git.file_at(&commit, &file)? else {
        let what = format!(
            "the commit {} has no baseline {file}",
            short_commit(&commit)
        );
        let help = "name a commit with a baseline; `goldgate history` lists them";
        return Err(Diagnostic::of_file(name, Code::NO_BASELINE, what, help).into());
    };
    Ok(MeasuredNumbers::from(&baseline_v1::read_baseline(
        &SourceText::new(file, bytes)?,
    )?))
}
