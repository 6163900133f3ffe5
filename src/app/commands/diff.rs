//! `goldgate diff`: compares two reports, baselines or commits, by metric and by case.
//!
//! Of two commits the recordings are graded, where those of both can be: a committed baseline may be older than the recordings.

use std::path::Path;

use crate::app::cli::DiffArgs;
use crate::diag::{Code, Diagnostic, ReadFailure};
use crate::evaluation::live_options::LiveOptions;
use crate::evaluation::live_runs::LiveRuns;
use crate::evaluation::recorded_agents::{NoEvidence, NoMerge};
use crate::evaluation::run_options::{AgentScope, DecidingTiers, RunOptions, UncommittedFiles};
use crate::evaluation::selection::Selection;
use crate::files::{Files, SourceText};
use crate::format::{baseline_v1, report_v1};
use crate::model::{Authority, InputLimit, RepoPath, RunSource, Tier};
use crate::render::side_by_side::{MetricRow, side_by_side};
use crate::render::{CliError, Detail, Screen, Style};
use crate::report::{MeasuredNumbers, NumberScale, case_moves};
use crate::suites::{metric_spec, read_config};
use crate::text::short_commit;
use crate::workspace::grade::{GradeInputs, grade_files};
use crate::world::{BaseTree, Disk, Git, ReadOnce, World};

/// What is compared.
enum DiffSource<'a> {
    /// A report, in a file.
    Report(MeasuredNumbers),
    /// A baseline, in a file.
    Baseline(MeasuredNumbers),
    /// A commit, by its name.
    Commit {
        /// As the user wrote it.
        name: &'a str,
        /// Its id.
        commit: String,
    },
}

/// Whether the numbers of commits are those of their baselines or of their recordings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommitNumbers {
    Graded,
    Committed,
}

/// The repository with the commits.
struct Commits<'a> {
    disk: &'a Disk,
    config: &'a RepoPath,
    git: &'a Git,
    world: &'a World,
}

/// Prints the values that differ. Returns the exit code.
///
/// # Errors
/// A source that is neither a report, a baseline nor a commit with a baseline.
pub fn diff(args: &DiffArgs, world: &World) -> Result<u8, CliError> {
    let (old, new) = both(args, world)?;
    let mut names: Vec<_> = old
        .numbers
        .keys()
        .chain(new.numbers.keys())
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    let mut rows: Vec<MetricRow> = Vec::new();
    for name in names {
        rows.push(MetricRow {
            before: old.numbers.get(&name).copied(),
            after: new.numbers.get(&name).copied(),
            scale: scale_of(&name.2),
            suite: name.0,
            agent: name.1,
            metric: name.2,
        });
    }
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
        &case_moves(&old, &new),
        &scale_of,
        screen,
    ));
    Ok(0)
}

fn scale_of(metric: &str) -> NumberScale {
    NumberScale::of(metric_spec(metric))
}

/// The numbers of both sides; says first what they are.
fn both(args: &DiffArgs, world: &World) -> Result<(MeasuredNumbers, MeasuredNumbers), CliError> {
    let sources = [source(&args.before, args)?, source(&args.after, args)?];
    let has_baseline = sources
        .iter()
        .any(|source| matches!(source, DiffSource::Baseline(_)));
    if !has_baseline {
        match numbers_of(&sources, CommitNumbers::Graded, args, world) {
            Ok(both) => return Ok(both),
            Err(error) => world.tell(&format!(
                "the recordings of both commits cannot be graded, so committed baselines are compared: {}",
                error.lines().first().map_or("", String::as_str)
            )),
        }
    }
    numbers_of(&sources, CommitNumbers::Committed, args, world)
}

/// The numbers of both sources, of commits in one way.
fn numbers_of(
    sources: &[DiffSource<'_>; 2],
    way: CommitNumbers,
    args: &DiffArgs,
    world: &World,
) -> Result<(MeasuredNumbers, MeasuredNumbers), CliError> {
    let [old_source, new_source] = sources;
    let (old, old_name) = numbers(old_source, way, &args.before, args, world)?;
    let (new, new_name) = numbers(new_source, way, &args.after, args, world)?;
    world.say(&format!("{old_name} -> {new_name}\n"));
    Ok((old, new))
}

/// The numbers of a source, and what they are.
fn numbers(
    source: &DiffSource<'_>,
    way: CommitNumbers,
    stated: &str,
    args: &DiffArgs,
    world: &World,
) -> Result<(MeasuredNumbers, String), CliError> {
    let (name, commit) = match source {
        DiffSource::Report(numbers) => return Ok((numbers.clone(), format!("{stated} (report)"))),
        DiffSource::Baseline(numbers) => {
            return Ok((numbers.clone(), format!("{stated} (baseline)")));
        }
        DiffSource::Commit { name, commit } => (name, commit),
    };
    let (disk, config) = Disk::of_config(&args.config)?;
    let commits = Commits {
        git: &Git::of(&disk),
        disk: &disk,
        config: &config,
        world,
    };
    let short = short_commit(commit);
    match way {
        CommitNumbers::Graded => Ok((
            commits.graded(commit)?,
            format!("{name} (recordings of {short}, graded now)"),
        )),
        CommitNumbers::Committed => Ok((
            commits.committed(name, commit, &args.config)?,
            format!("{name} (baseline committed in {short})"),
        )),
    }
}

/// Reads a folder of `--out`, a report or a baseline, or finds a commit. A path comes before a commit of the same name.
fn source<'a>(source: &'a str, args: &DiffArgs) -> Result<DiffSource<'a>, CliError> {
    let path = Path::new(source);
    if path.is_dir() {
        return of_file(&path.join("report.json").to_string_lossy());
    }
    // What looks like a file gets the errors of a file.
    if path.exists() || source.ends_with(".json") {
        return of_file(source);
    }
    let (disk, _) =
        Disk::of_config(&args.config).map_err(|problem| unknown_source(source, &problem.what))?;
    let commit = Git::of(&disk)
        .commit(source)
        .map_err(|error| unknown_source(source, &format!("{error:#}")))?;
    Ok(DiffSource::Commit {
        name: source,
        commit,
    })
}

fn unknown_source(source: &str, why: &str) -> Diagnostic {
    let message = format!("this is neither a file, a folder of --out nor a commit: {why}");
    let help = "pass a folder, report.json, a baseline, or a revision such as main";
    Diagnostic::of_read(source, ReadFailure::MissingFile, message, help)
}

fn of_file<'a>(path: &str) -> Result<DiffSource<'a>, CliError> {
    let (disk, file) = Disk::of_file(path)?;
    let source: SourceText = disk.own_text(&file, &InputLimit::REPORT)?;
    // The schema name decides. A file with neither schema gets the errors of an invalid baseline.
    if source.text.contains("\"goldgate.report/") {
        let report = report_v1::read_report(&source)?;
        return Ok(DiffSource::Report(MeasuredNumbers::from(&report)));
    }
    let baseline = baseline_v1::read_baseline(&source)?;
    Ok(DiffSource::Baseline(MeasuredNumbers::from(&baseline)))
}

impl Commits<'_> {
    /// The numbers of the committed baseline.
    fn committed(
        &self,
        name: &str,
        commit: &str,
        config: &str,
    ) -> Result<MeasuredNumbers, CliError> {
        let Some(file) = read_config(&self.disk.text(self.config)?)?.baseline else {
            let (message, help) = (
                "the config has no baseline",
                "add baseline: baselines/latest.json",
            );
            return Err(Diagnostic::of_file(config, Code::NO_BASELINE, message, help).into());
        };
        let Some(bytes) = self.git.file_at(commit, &file)? else {
            let message = format!("the commit {} has no baseline {file}", short_commit(commit));
            let help = "name a commit with a baseline; `goldgate history` lists them";
            return Err(Diagnostic::of_file(name, Code::NO_BASELINE, message, help).into());
        };
        Ok(MeasuredNumbers::from(&baseline_v1::read_baseline(
            &SourceText::new(file, bytes)?,
        )?))
    }

    /// The numbers of the recordings of the deterministic tier, by the rules of the commit.
    fn graded(&self, commit: &str) -> Result<MeasuredNumbers, CliError> {
        let read = ReadOnce::of(self.disk);
        let tree = BaseTree::open(self.git, commit, &read)?;
        let config = read_config(&tree.text(self.config)?)?;
        for suite in &config.suites {
            for (name, agent) in &suite.agents {
                if let Some(RunSource::Live(_)) = agent.deterministic {
                    return Err(Diagnostic::of_file(
                        self.config,
                        Code::NO_RECORDING,
                        format!(
                            "the code of {}/{name} runs, which is not there for a commit",
                            suite.id
                        ),
                        "compare folders that `goldgate run --out DIR` wrote on both commits",
                    )
                    .into());
                }
            }
        }
        let job = RunOptions {
            config: self.config.to_string(),
            wanted: Selection {
                tiers: vec![Tier::Deterministic],
                ..Selection::default()
            },
            scope: AgentScope::All,
            authority: Authority::Advisory,
            deciding: DecidingTiers::Deterministic,
            commit: Some(commit.to_owned()),
            base: None,
            base_branch: None,
            uncommitted: UncommittedFiles::Refused,
            live: LiveOptions::NONE,
            parts: None,
        };
        let inputs = GradeInputs {
            files: &tree,
            config: self.config,
            make: &|_, _| Ok(LiveRuns::default()),
            baseline: &|_| Ok(None),
            base: None,
            branch: &NoMerge,
            evidence: &NoEvidence,
        };
        let graded = grade_files(&job, self.world, &inputs)?;
        Ok(MeasuredNumbers::from(&graded.report))
    }
}
