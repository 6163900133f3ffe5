//! `goldgate run`: plans, grades, judges and prints the result.

mod grading;

use std::path::Path;
use std::sync::Arc;

use self::grading::{RunsFrom, assemble_report, grade_tier};
use super::merge;
use crate::app::cli::{CacheArg, RunArgs, TierArg};
use crate::app::cli_error::CliError;
use crate::app::live;
use crate::app::pipeline::base_commit::name_base;
use crate::app::pipeline::base_judgement::{BaseInputs, GradedHere, TierRuns, base_judgement};
use crate::app::pipeline::evaluate::{Evaluated, ShardResults};
use crate::app::pipeline::plan::{Plan, Selection, plan_with_reads};
use crate::app::pipeline::selection::chosen;
use crate::app::pipeline::tiers::{DecidingTiers, TierOutcome, not_run};
use crate::app::pipeline::{baseline, show, snapshots};
use crate::diag::{Diagnostic, ReadFailure};
use crate::files::{BaseFiles, Files, OtherCommit, sha256_hex};
use crate::golden_changes::Sides;
use crate::model::{Authority, Baseline, Config, Interruption, RepoPath, Report, Ruling, RunUsage, Tier};
use crate::render::plural;
use crate::report;
use crate::suites::read_config;
#[cfg(feature = "models")]
use crate::world::signal_so_far;
use crate::world::{BaseTree, Clock, Disk, Git, Loudness, Objects, ReadOnce, World, head_commit};

/// The options of a run, from the command line or the action.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The config's path, relative to the current folder.
    pub config: String,
    /// Which suites, agents and cases are graded.
    pub wanted: Selection,
    /// Whether a failed gate blocks.
    pub authority: Authority,
    /// Which tiers decide the verdict if both are requested.
    pub deciding: DecidingTiers,
    /// The graded commit; `None` to read it from git.
    pub commit: Option<String>,
    /// The base commit to compare with.
    pub base: Option<String>,
    /// Options for live samples.
    pub live: live::LiveOptions,
    /// Results that other machines graded.
    pub parts: Option<Arc<ShardResults>>,
}

/// Reads the baseline to compare with, given the disk, the base commit's files (if known) and the config's baseline file.
pub type ReadBaseline<'a> =
    &'a dyn Fn(&Disk, Option<&BaseTree<'_>>, Option<&RepoPath>) -> Result<Option<Baseline>, CliError>;

/// The source of the base commit's files.
#[derive(Clone, Copy)]
pub enum BaseSource<'a> {
    /// Without a base commit.
    None,
    /// The base commit exists but cannot be read, for this reason.
    #[cfg(feature = "github")]
    Unknown(&'a str),
    /// These objects, at this commit.
    Commit(&'a dyn Objects, &'a str),
}

/// The result of a run.
pub struct GradedRun {
    /// The report.
    pub report: Report,
    /// The digest of the config's text.
    pub config_sha256: String,
    /// The baseline of the comparison.
    pub against: Option<Baseline>,
    /// The config.
    pub config: Config,
    /// The model tier's result, if its verdict counts. It is kept when the rest is judged again.
    #[cfg_attr(not(feature = "github"), allow(dead_code, reason = "only an approved result is judged again"))]
    pub model_tier: Option<TierOutcome>,
    /// Selected agents that were not run.
    pub not_run: Vec<live::NotRun>,
}

impl GradedRun {
    /// Returns the baseline with this run's numbers.
    pub fn proposed(&self) -> Baseline {
        baseline::proposed(self.against.as_ref(), &self.report)
    }
}

/// Grades and judges the files of the working tree.
///
/// # Errors
/// Bad input, or a failed call. A failed gate is not an error.
pub fn grade_worktree(
    job: &RunOptions,
    world: &World,
    before: BaseSource<'_>,
    read_baseline: ReadBaseline<'_>,
) -> Result<GradedRun, CliError> {
    let (disk, file) = Disk::of_config(&job.config)?;
    if !matches!(before, BaseSource::None) {
        own_history(&disk, &job.config)?;
    }
    let job = RunOptions { commit: job.commit.clone().or_else(|| head_commit(&disk)), ..job.clone() };
    let files = ReadOnce::of(&disk);
    let loaded = match before {
        BaseSource::Commit(objects, commit) => {
            // Errors in the config are reported before any request.
            read_config(&disk.text(&file)?)?;
            Some(BaseTree::open(objects, commit, &files)?)
        }
        BaseSource::None => None,
        #[cfg(feature = "github")]
        BaseSource::Unknown(_) => None,
    };
    let base = loaded.as_ref();
    // Golden changes are not computed for a shard: `merge` does that for all cases.
    let guards = job.is_compared() && job.wanted.shard.is_none();
    // A sample that cannot change a verdict by the head's rules might change one by the base's.
    let sparing = if base.is_some() { live::EarlyStopping::Off } else { job.live.sparing };
    let live = live::LiveOptions { sparing, keys: keys(&job, before, &disk, &file), ..job.live.clone() };
    let inputs = GradeInputs {
        // Both judgements and the comparison read the same bytes.
        files: if base.is_some() { &files } else { &disk },
        config: &file,
        make: &|plan, tier| match &job.parts {
            None => {
                let earlier = job.earlier_answers(tier);
                live::make(plan, tier, &disk, world, &live::LiveOptions { earlier, ..live.clone() })
            }
            // Runs that other machines graded are not made again.
            Some(parts) => Ok(live::LiveRuns { not_run: parts.not_run(tier), ..live::LiveRuns::default() }),
        },
        baseline: &|configured| read_baseline(&disk, base, configured),
        base: base.filter(|_| guards).map(|base| base as &dyn BaseFiles),
    };
    let mut done = grade_files(&job, &world.clock, &inputs)?;
    #[cfg(feature = "models")]
    if let (None, Some(interruption)) = (done.report.called_off, signal_so_far()) {
        report::call_off(&mut done.report, interruption);
    }
    #[cfg(feature = "github")]
    if let BaseSource::Unknown(why) = before {
        done.report.notes.insert(0, format!("the golden set was not compared with the base commit: {why}"));
    }
    if let Some(error) = base.and_then(BaseTree::trouble) {
        return Err(error.context("while comparing the golden set with the base commit").into());
    }
    if let Some(shard) = job.wanted.shard {
        report::part(&mut done.report, shard);
    }
    Ok(done)
}

/// Refuses to compare with a base commit if the config is in a submodule, because the commit would be searched in its history.
///
/// # Errors
/// The config is in a submodule.
fn own_history(disk: &Disk, config: &str) -> Result<(), Diagnostic> {
    let Some(outer) = disk.superproject() else { return Ok(()) };
    let what = format!("this config is in a submodule of {}, so the base commit cannot be read", outer.display());
    let help = "move the config into the repository itself, or run goldgate in a clone of the submodule";
    Err(Diagnostic::of_file(config, "config-in-submodule", what, help))
}

/// Returns the hosts that may receive API keys. With a base commit, its config decides.
fn keys(job: &RunOptions, before: BaseSource<'_>, disk: &Disk, file: &RepoPath) -> live::KeyHosts {
    match before {
        BaseSource::Commit(objects, commit) if job.wanted.tiers.contains(&Tier::Model) => {
            live::keys_of_base(objects, commit, disk, file)
        }
        BaseSource::Commit(..) | BaseSource::None => job.live.keys.clone(),
        #[cfg(feature = "github")]
        BaseSource::Unknown(_) => live::named_by(None),
    }
}

/// Reads the baseline to compare with, given the config's baseline file.
pub type BaselineProvider<'a> = &'a dyn Fn(Option<&RepoPath>) -> Result<Option<Baseline>, CliError>;

/// The inputs of grading.
pub struct GradeInputs<'a> {
    /// The files to grade.
    pub files: &'a dyn Files,
    /// The config's path in them.
    pub config: &'a RepoPath,
    /// Makes the live samples of a tier.
    pub make: &'a dyn Fn(&Plan, Tier) -> Result<live::LiveRuns, CliError>,
    /// Reads the baseline to compare with, given the config's baseline file.
    pub baseline: BaselineProvider<'a>,
    /// The base commit, if the runs are also judged by its rules.
    pub base: Option<&'a dyn BaseFiles>,
}

/// Grades and judges the given files.
///
/// # Errors
/// Bad input, or a failed call. A failed gate is not an error.
pub fn grade_files(job: &RunOptions, clock: &Clock, inputs: &GradeInputs<'_>) -> Result<GradedRun, CliError> {
    let (started_at, files) = (clock.now(), inputs.files);
    let other = inputs.base.map(|base| base as &dyn OtherCommit);
    let plan = plan_with_reads(files, other, inputs.config, job.wanted.clone(), clock)?;
    let config_sha256 = sha256_hex(&files.bytes(inputs.config)?);
    let against = (inputs.baseline)(plan.config.baseline.as_ref())?;
    let mut notes = Vec::new();
    let tiers = &plan.wanted.tiers;
    let mut not_gateable = Vec::new();
    let mut usage = RunUsage::default();
    let (mut called_off, mut model_tier, mut agents_not_run) = (None::<Interruption>, None, Vec::new());
    let mut runs = Vec::new();
    for tier in tiers {
        if called_off.is_some_and(Interruption::is_signal) {
            break;
        }
        let mut made = (inputs.make)(&plan, *tier)?;
        called_off = called_off.max(made.called_off);
        let from = RunsFrom { made: &made, parts: job.parts.as_deref(), other };
        let tiered = grade_tier(&plan, *tier, files, from, against.as_ref())?;
        let mut refusals = not_run(*tier, tiers, &made.not_run, &tiered.suites);
        refusals.extend(tiered.not_gateable);
        // If the tier decides, the message is already one of the reasons for a missing verdict.
        if !job.decides(*tier) {
            notes.extend(made.not_run.iter().map(|one| one.message.clone()));
        }
        agents_not_run.append(&mut made.not_run);
        notes.append(&mut made.notes);
        usage = usage.and(made.usage);
        if job.decides(*tier) {
            if *tier == Tier::Model {
                let verdict = Ruling::of_all(tiered.suites.iter().map(|suite| &suite.verdict));
                model_tier = Some(TierOutcome { verdict, not_gateable: refusals.clone() });
            }
            not_gateable.extend(refusals);
        }
        runs.push(TierRuns { tier: *tier, made, suites: tiered.suites });
    }
    // A tier that does not decide by the head's rules does not decide by the base's either.
    let deciding: Vec<&TierRuns> = runs.iter().filter(|runs| job.decides(runs.tier)).collect();
    let judged = inputs.base.map(|base| {
        base_judgement(&BaseInputs {
            sides: Sides { base, head: files },
            head: &plan,
            tiers: &deciding,
            deciding: &job.compared_tiers(),
            baseline: against.as_ref(),
            graded_here: if job.parts.is_none() { GradedHere::Yes } else { GradedHere::No },
            clock,
        })
    });
    drop(deciding);
    let suites = runs.into_iter().flat_map(|runs| runs.suites).collect();
    let mut report = assemble_report(job, clock, started_at, Evaluated { suites, not_gateable }, notes);
    report.config = Some(inputs.config.clone());
    report.usage = RunUsage { wall_ms: report.usage.wall_ms, ..usage };
    report.base = report.base.or_else(|| against.as_ref().and_then(|baseline| baseline.commit.clone()));
    if let Some((changes, refusals)) = judged {
        report::refuse(&mut report, refusals);
        report::govern(&mut report, changes, None);
    }
    snapshots::compare(files, &plan.config, &mut report)?;
    let Plan { config, suites, .. } = plan;
    // The process ends after this run, so freeing the memory would only cost time.
    std::mem::forget(suites);
    if let Some(interruption) = called_off {
        report::call_off(&mut report, interruption);
    }
    Ok(GradedRun { report, config_sha256, against, config, model_tier, not_run: agents_not_run })
}

/// Grades recordings against the baseline of the working tree, for commands that only show results.
///
/// # Errors
/// Bad input, or a failed call.
pub fn grade_recordings(config: &str, wanted: Selection, world: &World) -> Result<Report, CliError> {
    let job = RunOptions {
        config: config.to_owned(),
        wanted,
        authority: Authority::Advisory,
        deciding: DecidingTiers::Deterministic,
        commit: None,
        base: None,
        live: live::LiveOptions::NONE,
        parts: None,
    };
    let report =
        grade_worktree(&job, world, BaseSource::None, &|disk, _, configured| baseline::here(None, disk, configured))?
            .report;
    match report.called_off {
        None => Ok(report),
        Some(interruption) => Err(CliError::CalledOff(interruption)),
    }
}

/// Returns the parent folder of a path, `.` if it has none.
pub fn folder_of(path: &str) -> &Path {
    Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Finds a file by its path relative to the current folder, inside its repository.
pub fn located(path: &str) -> Result<(Disk, RepoPath), CliError> {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    let folder = folder_of(path);
    let named = if path.is_empty() { "command line" } else { path };
    let missing = |what: &str| Diagnostic::of_read(named, ReadFailure::MissingFile, what, "correct the path");
    let name = name.ok_or_else(|| missing("this path does not name a file"))?;
    let (disk, inside) = Disk::around(folder).map_err(|_| missing("the folder does not exist"))?;
    Ok((disk, inside.child(name)))
}

/// The exit code if the baseline could not be updated because numbers are missing.
const NO_VERDICT: u8 = 3;

/// Returns the options of a run from the command line.
///
/// # Errors
/// Options that contradict each other, or invalid patterns.
pub fn job(args: &RunArgs) -> Result<RunOptions, CliError> {
    if args.update_baseline && !args.chosen.case.is_empty() {
        let what = "--update-baseline with --case would save numbers of only some cases";
        return Err(Diagnostic::of_file("command line", "contradiction", what, "omit --case").into());
    }
    let tiers = match args.tier {
        TierArg::Deterministic => vec![Tier::Deterministic],
        TierArg::Model => vec![Tier::Model],
        TierArg::All => vec![Tier::Deterministic, Tier::Model],
    };
    let blocking = args.blocking || (!args.non_blocking && tiers.contains(&Tier::Deterministic));
    Ok(RunOptions {
        config: args.config.clone(),
        wanted: Selection {
            tiers,
            samples: args.samples.and_then(|stated| stated.0),
            shard: args.shard,
            target: args.target.clone(),
            ..chosen(&args.chosen)?
        },
        authority: if blocking { Authority::Blocking } else { Authority::Advisory },
        deciding: if args.blocking { DecidingTiers::Every } else { DecidingTiers::Deterministic },
        commit: None,
        base: None,
        live: live::LiveOptions {
            record: args.record.clone(),
            caching: match args.cache {
                None => live::Caching::Off,
                Some(CacheArg::Usual) => live::Caching::Usual,
                Some(CacheArg::All) => live::Caching::All,
            },
            resume: if args.resume { live::Resume::Yes } else { live::Resume::No },
            earlier: live::EarlierAnswers::All,
            // Samples can only be skipped if all cases are known and no file is written from the results.
            sparing: match args.update_baseline || args.record.is_some() || args.shard.is_some() {
                true => live::EarlyStopping::Off,
                false => live::EarlyStopping::Exact,
            },
            loudness: if args.quiet { Loudness::Quiet } else { Loudness::Usual },
            max_cost_usd: args.max_cost_usd,
            keys: live::KeyHosts::Any,
        },
        parts: None,
    })
}

/// Grades on this machine. A base commit and its baseline are read from git.
///
/// # Errors
/// See [`grade_worktree`].
pub fn locally(job: &RunOptions, git: &Git, baseline: Option<&str>, world: &World) -> Result<GradedRun, CliError> {
    let before = job.base.as_deref().map_or(BaseSource::None, |commit| BaseSource::Commit(git, commit));
    grade_worktree(job, world, before, &|disk, base, configured| match (base, baseline, configured) {
        (Some(base), None, Some(file)) => baseline::of_commit(base, file),
        _ => baseline::here(baseline, disk, configured),
    })
}

/// `goldgate run`.
///
/// # Errors
/// Bad input, or a failed call. A failed gate is reported by the exit code.
pub fn run(args: &RunArgs, world: &World) -> Result<u8, CliError> {
    let mut job = job(args)?;
    let (disk, _) = Disk::of_config(&args.config)?;
    let git = Git::of(&disk);
    let note = name_base(&mut job, args.base.as_deref(), &git, world)?;
    // A baseline that will be written need not exist yet.
    let is_new = |path: &&str| args.update_baseline && located(path).is_ok_and(|(disk, file)| !disk.holds(&file));
    let named = args.baseline.as_deref();
    let mut done = match named.filter(is_new) {
        None => locally(&job, &git, named, world)?,
        Some(_) => {
            let before = job.base.as_deref().map_or(BaseSource::None, |commit| BaseSource::Commit(&git, commit));
            grade_worktree(&job, world, before, &|_, _, _| Ok(None))?
        }
    };
    done.report.notes.extend(note);
    if let Some(folder) = &args.out {
        let folder = Disk::create(Path::new(folder))?;
        show::write_all(&folder, &done.report, &done.proposed())?;
        merge::write_part(&folder, &job, &done)?;
    }
    world.say(&show::render_report(&done.report, args.format, world));
    let writes = args.update_baseline || args.update_snapshots;
    if let Some(interruption) = done.report.called_off.filter(|_| writes) {
        let what = if args.update_baseline { "baseline was" } else { "snapshots were" };
        world.tell(&format!("no {what} written, because samples are missing: {}", interruption.message()));
        return Ok(done.report.exit_code());
    }
    let unusable = if args.update_baseline { baseline::unusable_numbers(&done.report) } else { Vec::new() };
    if !unusable.is_empty() {
        world.tell(&format!("no baseline was written: {}", unusable.join("; ")));
        return Ok(NO_VERDICT);
    }
    if args.update_baseline {
        baseline::update(&done, args, world)?;
    }
    if args.update_snapshots {
        let written = snapshots::write(&disk, &done.config, &done.report)?;
        if !args.quiet {
            world.tell(&format!("wrote {}", plural(written, "snapshot", "snapshots")));
        }
    }
    let code = done.report.exit_code();
    std::mem::forget(done); // As above: the process ends here.
    Ok(code)
}
