//! `goldgate run`: plan, grade, judge, show.

mod grading;

use std::path::Path;
use std::sync::Arc;

use self::grading::{RunsFrom, assembled, graded};
use super::base_commit::name_base;
use super::base_judgement::{BaseInputs, GradedHere, TierRuns, base_judgement};
use super::cli::{CacheArg, RunArgs, TierArg};
use super::cli_error::CliError;
use super::evaluate::{Evaluated, ShardResults};
use super::plan::{Plan, Selection, plan_beside};
use super::selection::chosen;
use super::tiers::{DecidingTiers, TierOutcome, not_run};
use super::{baseline, live, merge, show, snapshots};
use crate::diag::{Diagnostic, ReadFailure};
use crate::format::config;
use crate::golden_changes::{BaseFiles, OtherCommit, Sides};
use crate::model::{Authority, Baseline, Config, Interruption, RepoPath, Report, Ruling, RunUsage, Tier};
use crate::render::plural;
use crate::report;
use crate::suites::{Files, sha256_hex};
#[cfg(feature = "models")]
use crate::world::signal_so_far;
use crate::world::{BaseTree, Clock, Disk, Git, Loudness, Objects, ReadOnce, World, head_commit};

/// A run as it was asked for, however it was asked.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The config's path, from the current folder.
    pub config: String,
    /// What is graded.
    pub wanted: Selection,
    /// Whether a failed gate blocks.
    pub authority: Authority,
    /// Whose verdict counts where both tiers are asked for.
    pub deciding: DecidingTiers,
    /// The commit that is graded, where it is known better than from git's files.
    pub commit: Option<String>,
    /// The commit whose baseline is compared with.
    pub base: Option<String>,
    /// How live samples are made.
    pub live: live::LiveOptions,
    /// What other machines graded already.
    pub parts: Option<Arc<ShardResults>>,
}

/// Gives the baseline to compare with: the config's file, or what stands elsewhere. The base commit's files are given where
/// they are known.
pub type ReadBaseline<'a> =
    &'a dyn Fn(&Disk, Option<&BaseTree<'_>>, Option<&RepoPath>) -> Result<Option<Baseline>, CliError>;

/// Where the files of the base commit are asked for.
#[derive(Clone, Copy)]
pub enum BaseSource<'a> {
    /// There is no base commit to compare with.
    None,
    /// There is one, and it cannot be asked for; the text says why.
    #[cfg(feature = "github")]
    Unknown(&'a str),
    /// Here, at this commit.
    Commit(&'a dyn Objects, &'a str),
}

/// What a run came to.
pub struct GradedRun {
    /// The report.
    pub report: Report,
    /// The digest of the config's text.
    pub config_sha256: String,
    /// The baseline that was compared with.
    pub against: Option<Baseline>,
    /// The config.
    pub config: Config,
    /// What the model tier says, where its verdict counts: it is asked once, also where the rest is judged again.
    #[cfg_attr(not(feature = "github"), allow(dead_code, reason = "only an approved result is judged again"))]
    pub model_tier: Option<TierOutcome>,
    /// Agents that were asked for and not run.
    pub not_run: Vec<live::NotRun>,
}

impl GradedRun {
    /// The baseline as it would be with this run's numbers.
    pub fn proposed(&self) -> Baseline {
        baseline::proposed(self.against.as_ref(), &self.report)
    }
}

/// Grades and judges the files of the working tree.
///
/// # Errors
/// Bad input, or an outside that failed; a failed gate is no error.
pub fn done(
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
    let opened = match before {
        BaseSource::Commit(objects, commit) => {
            // What is wrong in the config is said before anything is asked outside.
            config::read_config(&disk.text(&file)?)?;
            Some(BaseTree::open(objects, commit, &files)?)
        }
        BaseSource::None => None,
        #[cfg(feature = "github")]
        BaseSource::Unknown(_) => None,
    };
    let base = opened.as_ref();
    // A part guards nothing: who merges sees the whole.
    let guards = job.is_compared() && job.wanted.shard.is_none();
    // A sample that can change no verdict by the head's rules might change one by the base's.
    let sparing = if base.is_some() { live::EarlyStopping::Off } else { job.live.sparing };
    let live = live::LiveOptions { sparing, keys: keys(&job, before, &disk, &file), ..job.live.clone() };
    let ground = GradeInputs {
        // Both judgements and the comparison are of the same bytes.
        files: if base.is_some() { &files } else { &disk },
        config: &file,
        make: &|plan, tier| match &job.parts {
            None => {
                let earlier = job.earlier_answers(tier);
                live::make(plan, tier, &disk, world, &live::LiveOptions { earlier, ..live.clone() })
            }
            // What other machines graded is not made again.
            Some(parts) => Ok(live::LiveRuns { not_run: parts.not_run(tier), ..live::LiveRuns::default() }),
        },
        baseline: &|configured| read_baseline(&disk, base, configured),
        base: base.filter(|_| guards).map(|base| base as &dyn BaseFiles),
    };
    let mut done = graded_on(&job, &world.clock, &ground)?;
    #[cfg(feature = "models")]
    if let (None, Some(interruption)) = (done.report.called_off, signal_so_far()) {
        report::call_off(&mut done.report, interruption);
    }
    #[cfg(feature = "github")]
    if let BaseSource::Unknown(why) = before {
        done.report.notes.insert(0, format!("the golden set is not compared with the base commit: {why}"));
    }
    if let Some(error) = base.and_then(BaseTree::trouble) {
        return Err(error.context("while comparing the golden set with the base commit").into());
    }
    if let Some(shard) = job.wanted.shard {
        report::part(&mut done.report, shard);
    }
    Ok(done)
}

/// Refuses a base commit where the history that would be asked is that of a submodule.
///
/// # Errors
/// That the config is in a submodule of another repository.
fn own_history(disk: &Disk, config: &str) -> Result<(), Diagnostic> {
    let Some(outer) = disk.superproject() else { return Ok(()) };
    let what = format!("this config is in a submodule of {}, which has no base commit of its own", outer.display());
    let help = "keep the config in the repository itself, or run goldgate on a clone of the submodule";
    Err(Diagnostic::of_file(config, "config-in-submodule", what, help))
}

/// Where keys may go: where there is a base commit, its config says so.
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

/// Gives the baseline to compare with, where the config's stands.
pub type BaselineProvider<'a> = &'a dyn Fn(Option<&RepoPath>) -> Result<Option<Baseline>, CliError>;

/// What a run is handed.
pub struct GradeInputs<'a> {
    /// The files, wherever they came from.
    pub files: &'a dyn Files,
    /// The config among them.
    pub config: &'a RepoPath,
    /// Makes the live samples of a tier.
    pub make: &'a dyn Fn(&Plan, Tier) -> Result<live::LiveRuns, CliError>,
    /// Gives the baseline to compare with, where the config's stands.
    pub baseline: BaselineProvider<'a>,
    /// The base commit, where the runs are judged by its rules, too.
    pub base: Option<&'a dyn BaseFiles>,
}

/// Grades and judges what it is handed.
///
/// # Errors
/// Bad input, or an outside that failed; a failed gate is no error.
pub fn graded_on(job: &RunOptions, clock: &Clock, ground: &GradeInputs<'_>) -> Result<GradedRun, CliError> {
    let (started_at, files) = (clock.now(), ground.files);
    let other = ground.base.map(|base| base as &dyn OtherCommit);
    let plan = plan_beside(files, other, ground.config, job.wanted.clone(), clock)?;
    let config_sha256 = sha256_hex(&files.bytes(ground.config)?);
    let against = (ground.baseline)(plan.config.baseline.as_ref())?;
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
        let mut made = (ground.make)(&plan, *tier)?;
        called_off = called_off.max(made.called_off);
        let from = RunsFrom { made: &made, parts: job.parts.as_deref(), other };
        let tiered = graded(&plan, *tier, files, from, against.as_ref())?;
        let mut refusals = not_run(*tier, tiers, &made.not_run, &tiered.suites);
        refusals.extend(tiered.not_gateable);
        // Where its verdict counts, it stands among the reasons why there is none.
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
    // A tier that decides nothing by the head's rules decides nothing by the base's.
    let deciding: Vec<&TierRuns> = runs.iter().filter(|runs| job.decides(runs.tier)).collect();
    let judged = ground.base.map(|base| {
        base_judgement(&BaseInputs {
            sides: Sides { base, head: files },
            head: &plan,
            tiers: &deciding,
            deciding: &job.guarded_tiers(),
            baseline: against.as_ref(),
            graded_here: if job.parts.is_none() { GradedHere::Yes } else { GradedHere::No },
            clock,
        })
    });
    drop(deciding);
    let suites = runs.into_iter().flat_map(|runs| runs.suites).collect();
    let mut report = assembled(job, clock, started_at, Evaluated { suites, not_gateable }, notes);
    report.config = Some(ground.config.clone());
    report.usage = RunUsage { wall_ms: report.usage.wall_ms, ..usage };
    report.base = report.base.or_else(|| against.as_ref().and_then(|baseline| baseline.commit.clone()));
    if let Some((changes, refusals)) = judged {
        report::refuse(&mut report, refusals);
        report::govern(&mut report, changes, None);
    }
    snapshots::compare(files, &plan.config, &mut report)?;
    let Plan { config, suites, .. } = plan;
    // The process ends with this run: to free what was read, piece by piece, would only cost time.
    std::mem::forget(suites);
    if let Some(interruption) = called_off {
        report::call_off(&mut report, interruption);
    }
    Ok(GradedRun { report, config_sha256, against, config, model_tier, not_run: agents_not_run })
}

/// Grades recordings against the baseline of the working tree, for a command that shows what it finds and blocks nothing.
///
/// # Errors
/// Bad input, or an outside that failed.
pub fn as_recorded(config: &str, wanted: Selection, world: &World) -> Result<Report, CliError> {
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
        done(&job, world, BaseSource::None, &|disk, _, configured| baseline::here(None, disk, configured))?.report;
    match report.called_off {
        None => Ok(report),
        Some(interruption) => Err(CliError::CalledOff(interruption)),
    }
}

/// The folder of a path, from the current one.
pub fn folder_of(path: &str) -> &Path {
    Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file by its path from the current folder, inside the repository around it.
pub fn located(path: &str) -> Result<(Disk, RepoPath), CliError> {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    let folder = folder_of(path);
    let named = if path.is_empty() { "command line" } else { path };
    let missing = |what: &str| Diagnostic::of_read(named, ReadFailure::MissingFile, what, "correct the path");
    let name = name.ok_or_else(|| missing("this names no file"))?;
    let (disk, inside) = Disk::around(folder).map_err(|_| missing("there is no such folder"))?;
    Ok((disk, inside.child(name)))
}

/// The exit code of a run that was to write what it could not measure.
const NO_VERDICT: u8 = 3;

/// The run that the command line asks for.
///
/// # Errors
/// Options that contradict each other, and patterns that are none.
pub fn job(args: &RunArgs) -> Result<RunOptions, CliError> {
    if args.update_baseline && !args.chosen.case.is_empty() {
        let what = "--update-baseline with --case would write numbers of a part of the cases";
        return Err(Diagnostic::of_file("command line", "contradiction", what, "leave --case out").into());
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
            // Which samples can change no verdict is seen by who has all cases.
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

/// Grades on this machine: the base commit, where one is named, comes from its git, and the baseline with it.
///
/// # Errors
/// As [`done`].
pub fn locally(job: &RunOptions, git: &Git, baseline: Option<&str>, world: &World) -> Result<GradedRun, CliError> {
    let before = job.base.as_deref().map_or(BaseSource::None, |commit| BaseSource::Commit(git, commit));
    done(job, world, before, &|disk, base, configured| match (base, baseline, configured) {
        (Some(base), None, Some(file)) => baseline::of_commit(base, file),
        _ => baseline::here(baseline, disk, configured),
    })
}

/// `goldgate run`.
///
/// # Errors
/// Bad input, or an outside that failed; a failed gate is an exit code.
pub fn run(args: &RunArgs, world: &World) -> Result<u8, CliError> {
    let mut job = job(args)?;
    let (disk, _) = Disk::of_config(&args.config)?;
    let git = Git::of(&disk);
    let note = name_base(&mut job, args.base.as_deref(), &git, world)?;
    // What is to be written need not be there yet.
    let is_new = |path: &&str| args.update_baseline && located(path).is_ok_and(|(disk, file)| !disk.holds(&file));
    let named = args.baseline.as_deref();
    let mut done = match named.filter(is_new) {
        None => locally(&job, &git, named, world)?,
        Some(_) => {
            let before = job.base.as_deref().map_or(BaseSource::None, |commit| BaseSource::Commit(&git, commit));
            done(&job, world, before, &|_, _, _| Ok(None))?
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
    let no_numbers = if args.update_baseline { baseline::no_numbers(&done.report) } else { Vec::new() };
    if !no_numbers.is_empty() {
        world.tell(&format!("no baseline was written: {}", no_numbers.join("; ")));
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
    std::mem::forget(done); // As above: nothing comes after it.
    Ok(code)
}
