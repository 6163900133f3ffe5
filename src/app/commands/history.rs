//! `goldgate history`: how the numbers moved over the committed baselines, and over stored reports.

use std::path::Path;

use crate::app::cli::HistoryArgs;
use crate::diag::{Code, Diagnostic};
use crate::files::{Files, HistoryExtent};
use crate::format::report_v1;
use crate::model::{InputLimit, RepoPath};
use crate::render::history::history as to_text;
use crate::render::html_history::html_history;
use crate::render::{CliError, Detail, Screen, Style};
use crate::report::{
    Measurement, NumberScale, history as history_of, numbers_of_baseline, numbers_of_report,
};
use crate::suites::{metric_spec, read_config};
use crate::text::short_commit;
use crate::workspace::past_baselines::committed_baseline;
use crate::world::{Disk, FileVersion, Git, World};

/// What was measured, and notes on what is missing.
type Measured = (Vec<Measurement>, Vec<String>);

/// Prints the history, and writes the page. Returns the exit code.
///
/// # Errors
/// No baseline and no report, or a file that cannot be read or written.
pub fn history(args: &HistoryArgs, world: &World) -> Result<u8, CliError> {
    let (mut measured, mut notes) = committed(args)?;
    measured.extend(stored(&args.reports)?);
    for measurement in &mut measured {
        measurement.numbers.retain(|(suite, agent, metric), _| {
            fits(&args.agents.suite, suite)
                && fits(&args.agents.agent, agent)
                && fits(&args.metric, metric)
        });
    }
    if measured
        .iter()
        .all(|measurement| measurement.numbers.is_empty())
    {
        let message = "no committed baseline and no report has a number under the options";
        let help = "check --suite, --agent and --metric; `goldgate run --update-baseline` writes a baseline to commit";
        return Err(
            Diagnostic::of_file(&args.config, Code::NOTHING_SELECTED, message, help).into(),
        );
    }
    if measured.len() == 1 {
        notes.push(
            "one measurement has no history yet: every committed baseline adds one".to_owned(),
        );
    }
    let history = history_of(measured, notes, |(_, _, metric)| {
        NumberScale::of(metric_spec(metric))
    });
    let detail = if args.verbose {
        Detail::Everything
    } else {
        Detail::Changes
    };
    let style = if world.shows_colours() {
        Style::Coloured
    } else {
        Style::Plain
    };
    if let Some(file) = &args.html {
        let (disk, path) = Disk::of_file(file)?;
        disk.replace(&path, html_history(&history).as_bytes())?;
    }
    world.say(&to_text(
        &history,
        Screen {
            style,
            columns: world.columns(),
            detail,
        },
    ));
    Ok(0)
}

/// Whether an option names it, or nothing.
fn fits(wanted: &[String], name: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|wanted| wanted == name)
}

/// The committed baselines, oldest first.
fn committed(args: &HistoryArgs) -> Result<Measured, CliError> {
    let (disk, config) = Disk::of_config(&args.config)?;
    let Some(file) = read_config(&disk.text(&config)?)?.baseline else {
        let (message, help) = (
            "the config has no baseline",
            "add baseline: baselines/latest.json",
        );
        return Err(Diagnostic::of_file(&args.config, Code::NO_BASELINE, message, help).into());
    };
    let git = Git::of(&disk);
    let versions = match git.versions(&file, args.limit) {
        Ok(versions) => versions,
        // Reports alone have a history as well.
        Err(error) if !args.reports.is_empty() => {
            return Ok((Vec::new(), vec![format!("{error:#}")]));
        }
        Err(error) => return Err(error.into()),
    };
    let mut notes = Vec::new();
    if versions.extent == HistoryExtent::Shallow {
        notes.push(
            "this clone is shallow, so older baselines are missing: `git fetch --unshallow` gets them".to_owned(),
        );
    }
    if versions.versions.len() == args.limit as usize {
        notes.push(format!(
            "only the last {} commits of the baseline are shown; --limit shows more",
            args.limit
        ));
    }
    let mut measured = Vec::new();
    for version in versions.versions.into_iter().rev() {
        let commit = short_commit(&version.commit).to_owned();
        match measurement(&git, &version) {
            Ok(Some(measurement)) => measured.push(measurement),
            Ok(None) => notes.push(format!("{commit} removed {}", version.path)),
            Err(why) => notes.push(format!("{commit} is left out: {why}")),
        }
        if version.path != file
            && !notes
                .iter()
                .any(|note| note.ends_with(version.path.as_str()))
        {
            notes.push(format!("before a rename the baseline was {}", version.path));
        }
    }
    Ok((measured, notes))
}

/// The numbers of a committed baseline; `None` if the commit removed the file.
fn measurement(git: &Git, version: &FileVersion) -> Result<Option<Measurement>, String> {
    let Some(baseline) = committed_baseline(git, version)? else {
        return Ok(None);
    };
    Ok(Some(Measurement {
        name: short_commit(&version.commit).to_owned(),
        at: version.date.clone(),
        title: version.title.clone(),
        numbers: numbers_of_baseline(&baseline),
    }))
}

/// The stored reports, oldest first.
fn stored(folders: &[String]) -> Result<Vec<Measurement>, CliError> {
    let mut measured = Vec::new();
    for folder in folders {
        let disk = Disk::open(Path::new(folder))?;
        let file = RepoPath::root().child("report.json");
        let report = report_v1::read_report(&disk.own_text(&file, &InputLimit::REPORT)?)?;
        measured.push(Measurement {
            name: folder.clone(),
            at: report.started_at.clone(),
            title: format!("report: {}", report.verdict.as_str()),
            numbers: numbers_of_report(&report),
        });
    }
    measured.sort_by(|left, right| left.at.cmp(&right.at));
    Ok(measured)
}
