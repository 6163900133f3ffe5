//! `goldgate run`: plan, grade, judge, show.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use globset::Glob;
use globset::GlobMatcher;

use super::baseline;
use super::cli::CacheArg;
use super::cli::Chosen;
use super::cli::RunArgs;
use super::cli::TierArg;
use super::evaluate::Evaluated;
use super::evaluate::Origin;
use super::evaluate::Parts;
use super::evaluate::evaluate;
use super::live;
use super::merge;
use super::plan::Plan;
use super::plan::Wanted;
use super::plan::plan;
use super::replay::Replay;
use super::show;
use super::snapshots;
use super::trouble::Trouble;
use crate::diag::Diagnostic;
use crate::diag::Diagnostics;
use crate::format::baseline_v1;
use crate::guard;
use crate::guard::Sides;
use crate::model::Authority;
use crate::model::Baseline;
use crate::model::Config;
use crate::model::NotGateable;
use crate::model::RepoPath;
use crate::model::Report;
use crate::model::Ruling;
use crate::model::SuiteReport;
use crate::model::Tier;
use crate::model::Usage;
use crate::render::plural;
use crate::report;
use crate::suites::Shelf;
use crate::suites::sha256_hex;
use crate::world::BaseTree;
use crate::world::Clock;
use crate::world::Disk;
use crate::world::Git;
use crate::world::Loudness;
use crate::world::Objects;
use crate::world::World;
use crate::world::head_commit;

/// A run as it was asked for, however it was asked.
#[derive(Debug, Clone)]
pub struct Job {
    /// The config's path, from the current folder.
    pub config: String,
    /// What is graded.
    pub wanted: Wanted,
    /// Whether a failed gate blocks.
    pub authority: Authority,
    /// The commit that is graded, where it is known better than from git's files.
    pub commit: Option<String>,
    /// The commit whose baseline is compared with.
    pub base: Option<String>,
    /// How live samples are made.
    pub live: live::Options,
    /// What other machines graded already.
    pub parts: Option<Arc<Parts>>,
}

/// Gives the baseline to compare with: the config's file, or what stands elsewhere. The base commit's files are given where
/// they are known.
pub type ReadBaseline<'a> =
    &'a dyn Fn(&Disk, Option<&BaseTree<'_>>, Option<&RepoPath>) -> Result<Option<Baseline>, Trouble>;

/// Where the files of the base commit are asked for.
#[derive(Clone, Copy)]
pub enum Before<'a> {
    /// There is no base commit to compare with.
    None,
    /// There is one, and it cannot be asked for; the text says why.
    #[cfg(feature = "github")]
    Unknown(&'a str),
    /// Here, at this commit.
    Commit(&'a dyn Objects, &'a str),
}

/// What a run came to.
pub struct Done {
    /// The report.
    pub report: Report,
    /// The digest of the config's text.
    pub config_sha256: String,
    /// The baseline that was compared with.
    pub against: Option<Baseline>,
    /// The config.
    pub config: Config,
}

impl Done {
    /// The baseline as it would be with this run's numbers.
    pub fn proposed(&self) -> Baseline {
        baseline::proposed(self.against.as_ref(), &self.report)
    }
}

/// Grades and judges the files of the working tree.
///
/// # Errors
/// Bad input, or an outside that failed; a failed gate is no error.
pub fn done(job: &Job, world: &World, before: Before<'_>, read_baseline: ReadBaseline<'_>) -> Result<Done, Trouble> {
    let (disk, file) = located(&job.config)?;
    let job = Job { commit: job.commit.clone().or_else(|| head_commit(&disk)), ..job.clone() };
    // It is opened once the config has been read: what is wrong there is said first.
    let base: OnceCell<BaseTree<'_>> = OnceCell::new();
    let ground = Ground {
        shelf: &disk,
        config: &file,
        make: &|plan, tier| match &job.parts {
            None => live::make(plan, tier, &disk, world, &job.live),
            // What other machines graded is not made again.
            Some(_) => Ok(live::Made::default()),
        },
        baseline: &|configured| {
            if let Before::Commit(objects, commit) = before {
                let opened = BaseTree::open(objects, commit, &disk)?;
                return read_baseline(&disk, Some(base.get_or_init(|| opened)), configured);
            }
            read_baseline(&disk, None, configured)
        },
    };
    let mut done = graded_on(&job, &world.clock, &ground)?;
    #[cfg(feature = "github")]
    if let Before::Unknown(why) = before {
        done.report.notes.insert(0, format!("the golden set is not compared with the base commit: {why}"));
    }
    // The deterministic tier is the one that blocks, so it is the one that guards.
    // A part guards nothing: who merges sees the whole.
    let guards = job.wanted.tiers.contains(&Tier::Deterministic) && job.wanted.shard.is_none();
    if let Some(base) = base.get().filter(|_| guards) {
        let changes = guard::changes(&Sides { base, head: &disk }, &done.config);
        if let Some(error) = base.trouble() {
            return Err(error.context("while comparing the golden set with the base commit").into());
        }
        report::govern(&mut done.report, changes, None);
    }
    if let Some(shard) = job.wanted.shard {
        report::part(&mut done.report, shard);
    }
    Ok(done)
}

/// Gives the baseline to compare with, where the config's stands.
pub type GiveBaseline<'a> = &'a dyn Fn(Option<&RepoPath>) -> Result<Option<Baseline>, Trouble>;

/// What a run is handed.
pub struct Ground<'a> {
    /// The files, wherever they came from.
    pub shelf: &'a dyn Shelf,
    /// The config among them.
    pub config: &'a RepoPath,
    /// Makes the live samples of a tier.
    pub make: &'a dyn Fn(&Plan, Tier) -> Result<live::Made, Trouble>,
    /// Gives the baseline to compare with, where the config's stands.
    pub baseline: GiveBaseline<'a>,
}

/// Grades and judges what it is handed.
///
/// # Errors
/// Bad input, or an outside that failed; a failed gate is no error.
pub fn graded_on(job: &Job, clock: &Clock, ground: &Ground<'_>) -> Result<Done, Trouble> {
    let started_at = clock.now();
    let shelf = ground.shelf;
    let plan = plan(shelf, ground.config, job.wanted.clone(), clock)?;
    let config_sha256 = sha256_hex(&shelf.bytes(ground.config)?);
    let against = (ground.baseline)(plan.config.baseline.as_ref())?;
    let mut notes = Vec::new();
    let tiers = &plan.wanted.tiers;
    let mut evaluated = Evaluated { suites: Vec::new(), not_gateable: Vec::new() };
    let mut usage = Usage::default();
    for tier in tiers {
        let made = (ground.make)(&plan, *tier)?;
        let tiered = graded(&plan, *tier, shelf, &made, job.parts.as_deref(), against.as_ref())?;
        notes.extend(made.notes);
        usage = usage.and(made.usage);
        let decides = decides(*tier, tiers);
        evaluated.suites.extend(tiered.suites);
        evaluated.not_gateable.extend(tiered.not_gateable.into_iter().filter(|_| decides));
    }
    let mut report = assembled(job, clock, started_at, evaluated, notes);
    report.usage = Usage { wall_ms: report.usage.wall_ms, ..usage };
    report.base = report.base.or_else(|| against.as_ref().and_then(|baseline| baseline.commit.clone()));
    snapshots::compare(shelf, &plan.config, &mut report)?;
    let Plan { config, suites, .. } = plan;
    // The process ends with this run: to free what was read, piece by piece, would only cost time.
    std::mem::forget(suites);
    Ok(Done { report, config_sha256, against, config })
}

/// Grades recordings against the baseline of the working tree, for a command that shows what it finds and blocks nothing.
///
/// # Errors
/// Bad input, or an outside that failed.
pub fn as_recorded(config: &str, wanted: Wanted, world: &World) -> Result<Report, Trouble> {
    let job = Job {
        config: config.to_owned(),
        wanted,
        authority: Authority::Advisory,
        commit: None,
        base: None,
        live: live::Options::NONE,
        parts: None,
    };
    Ok(done(&job, world, Before::None, &|disk, _, configured| baseline::here(None, disk, configured))?.report)
}

/// With two tiers asked for, the deterministic one decides.
fn decides(tier: Tier, asked: &[Tier]) -> bool {
    tier == Tier::Deterministic || !asked.contains(&Tier::Deterministic)
}

/// The folder of a path, from the current one.
pub fn folder_of(path: &str) -> &Path {
    Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file by its path from the current folder, inside the repository around it.
pub fn located(path: &str) -> Result<(Disk, RepoPath), Trouble> {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    let folder = folder_of(path);
    let missing = |what: &str| Diagnostic::of_file(path, "missing-file", what, "correct the path");
    let name = name.ok_or_else(|| missing("this names no file"))?;
    let (disk, inside) = Disk::around(folder).map_err(|_| missing("there is no such folder"))?;
    Ok((disk, inside.child(name)))
}

/// One tier's suites.
fn graded(
    plan: &Plan,
    tier: Tier,
    below: &dyn Shelf,
    made: &live::Made,
    parts: Option<&Parts>,
    baseline: Option<&Baseline>,
) -> Result<Evaluated, Diagnostics> {
    let drawer = made.drawer(below);
    // Without live runs there is nothing in the drawer, and it is not looked into.
    let shelf: &dyn Shelf = if made.files.is_empty() { below } else { &drawer };
    let runs = Replay::open(shelf, plan, tier, &made.laid)?;
    let origin = Origin { runs: &runs, parts };
    let (foreign, evaluated) = rayon::join(|| runs.foreign(plan), || evaluate(plan, tier, origin, below, baseline));
    match (foreign.is_empty(), evaluated) {
        (true, outcome) => outcome,
        (false, Ok(_)) => Err(foreign),
        (false, Err(mut problems)) => {
            problems.extend(foreign);
            Err(problems)
        }
    }
}

fn assembled(job: &Job, clock: &Clock, started_at: String, evaluated: Evaluated, notes: Vec<String>) -> Report {
    let Evaluated { suites, mut not_gateable } = evaluated;
    let deciding = |suite: &&SuiteReport| decides(suite.tier, &job.wanted.tiers);
    let verdict = match suites.iter().any(|suite| deciding(&suite)) {
        true => {
            let verdict = Ruling::of_all(suites.iter().filter(deciding).map(|suite| &suite.verdict));
            // One agent without a judged gate is shown as skipped; a whole run without any is not green.
            not_gateable.extend(verdict.reason().map(|why| NotGateable(format!("no gate could be judged: {why}"))));
            verdict
        }
        false => {
            not_gateable.push(NotGateable("nothing ran".to_owned()));
            Ruling::Skipped("nothing ran".to_owned())
        }
    };
    not_gateable.sort();
    let pairs = suites.iter().flat_map(|suite| &suite.agents).flat_map(|agent| &agent.cases);
    Report {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: job.commit.clone(),
        base: job.base.clone(),
        tiers: job.wanted.tiers.clone(),
        authority: job.authority,
        samples: pairs.map(|case| case.pair.planned).max().unwrap_or(0),
        started_at,
        finished_at: clock.now(),
        suites,
        verdict,
        not_gateable,
        golden_changes: Vec::new(),
        approval: None,
        notes,
        usage: Usage { wall_ms: clock.elapsed_ms(), ..Usage::default() },
    }
}

/// The run that the command line asks for.
///
/// # Errors
/// Options that contradict each other, and patterns that are none.
pub fn job(args: &RunArgs) -> Result<Job, Trouble> {
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
    Ok(Job {
        config: args.config.clone(),
        wanted: Wanted {
            tiers,
            samples: args.samples.and_then(|stated| stated.0),
            shard: args.shard,
            target: args.target.clone(),
            ..chosen(&args.chosen)?
        },
        authority: if blocking { Authority::Blocking } else { Authority::Advisory },
        commit: None,
        base: None,
        live: live::Options {
            record: args.record.clone(),
            caching: match args.cache {
                None => live::Caching::Off,
                Some(CacheArg::Usual) => live::Caching::Usual,
                Some(CacheArg::All) => live::Caching::All,
            },
            resume: if args.resume { live::Resume::Yes } else { live::Resume::No },
            // Which samples can change no verdict is seen by who has all cases.
            sparing: match args.update_baseline || args.record.is_some() || args.shard.is_some() {
                true => live::Sparing::Off,
                false => live::Sparing::Exact,
            },
            loudness: if args.quiet { Loudness::Quiet } else { Loudness::Usual },
            max_cost_usd: args.max_cost_usd,
        },
        parts: None,
    })
}

/// The suites, agents and cases that the command line asks for, in no tier yet.
///
/// # Errors
/// A pattern that is none.
pub fn chosen(args: &Chosen) -> Result<Wanted, Diagnostics> {
    Ok(Wanted {
        suites: args.suite.clone(),
        agents: args.agent.clone(),
        cases: patterns(&args.case)?,
        ..Wanted::default()
    })
}

/// Patterns of case ids.
///
/// # Errors
/// A text that is no pattern.
pub fn patterns(texts: &[String]) -> Result<Vec<GlobMatcher>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let globs = texts.iter().filter_map(|text| match Glob::new(text) {
        Ok(glob) => Some(glob.compile_matcher()),
        Err(error) => {
            let what = format!("--case {text}: {}", error.kind());
            problems.push(Diagnostic::of_file("command line", "bad-glob", what, "write a pattern such as 'lease-*'"));
            None
        }
    });
    let globs = globs.collect();
    problems.or(globs)
}

/// Grades on this machine: the base commit, where one is named, comes from its git, and the baseline with it.
///
/// # Errors
/// As [`done`].
pub fn locally(job: &Job, git: &Git, baseline: Option<&str>, world: &World) -> Result<Done, Trouble> {
    let before = job.base.as_deref().map_or(Before::None, |commit| Before::Commit(git, commit));
    done(job, world, before, &|disk, base, configured| match (base, baseline, configured) {
        (Some(base), None, Some(file)) => baseline::of_commit(base, file),
        _ => baseline::here(baseline, disk, configured),
    })
}

/// `goldgate run`.
///
/// # Errors
/// Bad input, or an outside that failed; a failed gate is an exit code.
pub fn run(args: &RunArgs, world: &World) -> Result<u8, Trouble> {
    let mut job = job(args)?;
    let git = Git::around(folder_of(&args.config));
    job.base = args.base.as_deref().map(|name| git.commit(name)).transpose()?;
    let done = locally(&job, &git, args.baseline.as_deref(), world)?;
    if let Some(folder) = &args.out {
        let folder = Disk::create(Path::new(folder))?;
        show::write_all(&folder, &done.report, &done.proposed())?;
        merge::write_part(&folder, &job, &done)?;
    }
    world.say(&show::shown(&done.report, args.format, world));
    if args.update_baseline {
        update(&done, args, world)?;
    }
    if args.update_snapshots {
        let written = snapshots::write(&Disk::around(folder_of(&args.config))?.0, &done.config, &done.report)?;
        if !args.quiet {
            world.tell(&format!("wrote {}", plural(written, "snapshot", "snapshots")));
        }
    }
    let code = done.report.exit_code();
    // As above: nothing comes after it.
    std::mem::forget(done);
    Ok(code)
}

fn update(done: &Done, args: &RunArgs, world: &World) -> Result<(), Trouble> {
    let refuse = |what: &str, help: &str| Trouble::from(Diagnostic::of_file(&args.config, "no-baseline", what, help));
    if !done.report.suites.iter().any(|suite| !suite.agents.is_empty()) {
        return Err(refuse("nothing ran, so there is nothing to write into the baseline", "run a suite"));
    }
    let (disk, file) = match (&args.baseline, &done.config.baseline) {
        (Some(path), _) => located(path)?,
        (None, Some(file)) => (Disk::around(folder_of(&args.config))?.0, file.clone()),
        (None, None) => return Err(refuse("the config names no baseline", "add baseline: baselines/latest.json")),
    };
    disk.replace(&file, baseline_v1::written(&done.proposed()).as_bytes())?;
    if !args.quiet {
        for suite in &done.report.suites {
            for agent in suite.agents.iter().filter(|agent| baseline::is_unmeasured(agent)) {
                let who = format!("{}/{}", suite.id, agent.agent);
                world.tell(&format!("{who}: nothing was measured, so the baseline's numbers of it stay as they were"));
            }
        }
        world.tell(&format!("wrote {file}; it counts once it is committed on the base branch"));
    }
    Ok(())
}
