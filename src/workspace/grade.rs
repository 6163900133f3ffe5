//! Grades and judges files, and assembles the report.

use super::snapshots;
use super::weighed_baseline::{committed_baseline, weighed};
use crate::diag::{Code, Diagnostic};
use crate::evaluation::base_judgement::{BaseInputs, GradedHere, TierRuns, base_judgement};
use crate::evaluation::base_runs::BaseRecordings;
use crate::evaluation::evaluate::Evaluated;
use crate::evaluation::grade_tier::{
    CallableAgents, RunTimes, RunsFrom, assemble_report, grade_tier,
};
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::live_runs::{LiveRuns, NotRun};
use crate::evaluation::plan::{Plan, config_text, plan_with_reads};
use crate::evaluation::read_runs::ReadRuns;
use crate::evaluation::recorded_agents::{
    BranchDigest, RecordedAgents, RecorderEvidence, RecordingsBase,
};
use crate::evaluation::run_options::RunOptions;
use crate::evaluation::since_base::{BothCommits, add_since_base, failing_on_base};
use crate::evaluation::tiers::not_run;
use crate::files::{BaseFiles, Files, OtherCommit, RenamedFiles, sha256_hex};
use crate::golden_changes::{BaseConfig, BaseName, RenamedBase, Sides, base_config};
use crate::model::{
    AgentName, ApprovalPolicy, Baseline, BaselineRule, BaselineUse, Config, GoldenChange,
    Interruption, NotGateable, RepoPath, Report, RunUsage, SuiteId, SuiteReport, Tier, Weight,
};
use crate::render::CliError;
use crate::report;
use crate::suites::read_config;
use crate::text::short_commit;
use crate::world::World;

/// Reads the baseline to compare with, given the config's baseline file.
pub type BaselineProvider<'a> = &'a dyn Fn(Option<&RepoPath>) -> Result<Option<Baseline>, CliError>;

pub struct GradeInputs<'a> {
    pub files: &'a dyn Files,
    pub config: &'a RepoPath,
    /// Makes the live samples of a tier.
    pub make: &'a dyn Fn(&Plan, Tier) -> Result<LiveRuns, CliError>,
    /// Reads the baseline to compare with, given the config's baseline file.
    pub baseline: BaselineProvider<'a>,
    /// The base commit, if the runs are also judged by its rules.
    pub base: Option<&'a dyn BaseFiles>,
    /// The branch without the base branch, where a merge of both is graded.
    pub branch: &'a dyn BranchDigest,
    /// What shows that the recording workflow wrote a recording.
    pub evidence: &'a dyn RecorderEvidence,
}

/// Grades and judges the given files.
///
/// # Errors
/// Bad input, or a failed call. A failed gate is not an error.
pub fn grade_files(
    job: &RunOptions,
    world: &World,
    inputs: &GradeInputs<'_>,
) -> Result<GradedRun, CliError> {
    let clock = &world.clock;
    let (started_at, days, files) = (clock.now(), clock.days(), inputs.files);
    let source = config_text(files, inputs.config)?;
    let config = read_config(&source)?;
    let named = inputs.base.map(|base| NamedBase::read(base, &config));
    let base = named.as_ref();
    let commit = base.map(|base| &base.files as &dyn OtherCommit);
    let plan = plan_with_reads(files, commit, (&source, config), job.wanted.clone(), &days)?;
    let known_base = base.and_then(NamedBase::known);
    // A pull request cannot hide anything of its report by patterns of its own.
    let redacting = known_base.map_or(&plan.config, |(_, config)| config);
    world.redact_by(&plan.config, redacting);
    let config_sha256 = sha256_hex(&files.bytes(inputs.config)?);
    refuse_linked_baseline(files, plan.config.baseline.as_ref())?;
    let (against, names) = named_today(
        (inputs.baseline)(plan.config.baseline.as_ref())?,
        &plan.config,
    );
    let recordings_base = known_base.map(|(base, config)| RecordingsBase {
        sides: Sides { base, head: files },
        config,
        branch: inputs.branch,
        evidence: inputs.evidence,
        name: BaseName {
            revision: short_commit(job.base.as_deref().unwrap_or_default()).to_owned(),
            branch: job.base_branch.clone(),
        },
    });
    let recordings =
        RecordedAgents::read(&plan, files, &plan.wanted.tiers, recordings_base.as_ref())?;
    let branch = job.base_branch.as_deref();
    let base_runs = known_base.map(|(base, config)| BaseRecordings::new(base, config, branch));
    let compared = ComparedNumbers {
        baseline: against.as_ref(),
        base_runs: base_runs.as_ref(),
        recordings: &recordings,
    };
    let graded = grade_tiers(job, &plan, inputs, commit, compared)?;
    // A tier that does not decide by the head's rules does not decide by the base's either.
    let deciding: Vec<&TierRuns> = graded
        .runs
        .iter()
        .filter(|runs| job.decides(runs.tier))
        .collect();
    let judged = base.map(|base| {
        base_judgement(&BaseInputs {
            sides: Sides {
                base: &base.files,
                head: files,
            },
            config: &base.config,
            renamed: &base.renamed,
            head: &plan,
            tiers: &deciding,
            deciding: &job.compared_tiers(),
            baseline: against.as_ref(),
            base_runs: base_runs.as_ref(),
            graded_here: graded_here(job),
            recordings: &recordings,
            days: &days,
        })
    });
    drop(deciding);
    let GradedTiers {
        runs,
        notes,
        not_gateable,
        usage,
        called_off,
        not_run,
    } = graded;
    let (suites, live) = both_tiers(runs);
    let mut report = assemble_report(
        job,
        RunTimes {
            started_at,
            finished_at: clock.now(),
            wall_ms: clock.elapsed_ms(),
        },
        Evaluated {
            suites,
            not_gateable,
        },
        notes,
        callable_agents(&not_run),
    );
    report.config = Some(inputs.config.clone());
    report.usage = RunUsage {
        wall_ms: report.usage.wall_ms,
        ..usage
    };
    report.baseline_use = baseline_use(against.as_ref(), plan.config.baseline.as_ref(), files);
    report.base = report.base.or_else(|| against.as_ref()?.commit.clone());
    let policy = known_base.map_or_else(ApprovalPolicy::default, |(_, config)| {
        config.approval.clone()
    });
    if let (Some(judged), Some(base)) = (judged, base) {
        let numbers = (&plan.config, against.as_ref(), policy.baseline);
        add_base_commit_findings(&mut report, judged, (&base.files, files), numbers);
    }
    if let Some((base, base_config)) = known_base {
        let commits = BothCommits {
            base,
            before: base_config,
            head: files,
        };
        add_since_base(&mut report, &plan, commits);
    }
    if let Some(base) = base {
        report.notes.extend(failing_on_base(&report, &plan));
        report.notes.extend(base.idle_names(names));
    }
    snapshots::compare(files, &plan.config, &mut report)?;
    if let Some(interruption) = called_off {
        report::call_off(&mut report, interruption);
    }
    let Plan { config, suites, .. } = plan;
    let committed = committed_baseline(files, against.as_ref(), &config, &report);
    report::redact(&mut report, &world.redactor());
    Ok(GradedRun {
        report,
        config_sha256,
        against,
        config,
        suites,
        live,
        policy,
        committed,
        not_run,
    })
}

fn callable_agents(not_run: &[NotRun]) -> CallableAgents {
    if not_run.is_empty() {
        CallableAgents::All
    } else {
        CallableAgents::Some
    }
}

/// The names in a baseline.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BaselineNames {
    Todays,
    /// Some suites or agents have the names that `was:` states.
    Old,
}

/// The baseline under the names of a config.
fn named_today(stated: Option<Baseline>, config: &Config) -> (Option<Baseline>, BaselineNames) {
    let old_agents = stated.as_ref().map(agents_of);
    let renamed = stated.map(|stated| stated.renamed(config));
    if renamed.as_ref().map(agents_of) == old_agents {
        return (renamed, BaselineNames::Todays);
    }
    (renamed, BaselineNames::Old)
}

/// The names of the suites and agents in a baseline.
fn agents_of(baseline: &Baseline) -> Vec<(SuiteId, Vec<AgentName>)> {
    let suites = baseline.suites.iter();
    suites
        .map(|(suite, agents)| (suite.clone(), agents.keys().cloned().collect()))
        .collect()
}

/// The suites of all tiers, and the runs that the deterministic one made.
fn both_tiers(runs: Vec<TierRuns>) -> (Vec<SuiteReport>, LiveRuns) {
    let (mut suites, mut live) = (Vec::new(), LiveRuns::default());
    for runs in runs {
        suites.extend(runs.suites);
        if runs.tier == Tier::Deterministic {
            live = runs.made;
        }
    }
    (suites, live)
}

fn graded_here(job: &RunOptions) -> GradedHere {
    match job.parts {
        None => GradedHere::Yes,
        Some(_) => GradedHere::No,
    }
}

/// The base commit under the names of the head.
struct NamedBase<'a> {
    config: BaseConfig,
    files: RenamedFiles<'a>,
    /// What has another name or place on the head.
    renamed: Vec<GoldenChange>,
    /// Notes on `was:` that has no effect any more.
    idle: Vec<String>,
}

impl<'a> NamedBase<'a> {
    /// The notes on `was:` that has no effect any more. As long as the baseline has old names, it has one.
    fn idle_names(&self, names: BaselineNames) -> impl Iterator<Item = String> {
        let idle = self
            .idle
            .iter()
            .filter(move |_| names == BaselineNames::Todays);
        idle.cloned()
    }

    /// Its files and its config, if this version can read it.
    fn known(&self) -> Option<(&dyn BaseFiles, &Config)> {
        match &self.config {
            BaseConfig::Known(config) => Some((&self.files, config)),
            BaseConfig::Absent(_) | BaseConfig::Unreadable(_) => None,
        }
    }

    fn read(base: &'a dyn BaseFiles, head: &Config) -> Self {
        match base_config(base, &head.file) {
            BaseConfig::Known(base_config) => {
                let RenamedBase {
                    config,
                    moved,
                    agents,
                    changes,
                    idle,
                } = RenamedBase::of(&base_config, head, base);
                Self {
                    config: BaseConfig::Known(Box::new(config)),
                    files: RenamedFiles::new(base, moved, agents),
                    renamed: changes,
                    idle,
                }
            }
            config => Self {
                config,
                files: RenamedFiles::new(base, Vec::new(), Vec::new()),
                renamed: Vec::new(),
                idle: Vec::new(),
            },
        }
    }
}

/// Adds what the base commit says of a run: its golden changes, and the reasons for a missing verdict.
fn add_base_commit_findings(
    report: &mut Report,
    (changes, refusals): (Vec<GoldenChange>, Vec<NotGateable>),
    (base, head): (&dyn Files, &dyn Files),
    (config, against, rule): (&Config, Option<&Baseline>, BaselineRule),
) {
    report::refuse(report, refusals);
    let mut changes = weighed(changes, head, against, (config, rule), report);
    bind_contents(&mut changes, base, head);
    report::add_golden_changes(report, changes, None);
}

/// Gives each change that needs an approval, and is not of a part of a file alone, the digest of the files that it is about, as both commits
/// have them.
fn bind_contents(changes: &mut [GoldenChange], base: &dyn Files, head: &dyn Files) {
    let needing = changes
        .iter_mut()
        .filter(|change| change.weight == Weight::NeedsApproval && change.content.is_empty());
    for change in needing {
        let mut digests = String::new();
        for file in &change.files {
            for side in [base, head] {
                let bytes = side.baseline_bytes(file).ok();
                digests.push_str(&bytes.map_or("-".to_owned(), |bytes| sha256_hex(&bytes)));
            }
        }
        change.content = sha256_hex(digests.as_bytes());
    }
}

/// Refuses a link in place of the head's own baseline. With a base commit it is not read, but the next change is compared with it.
fn refuse_linked_baseline(
    files: &dyn Files,
    baseline: Option<&RepoPath>,
) -> Result<(), Diagnostic> {
    match baseline.map(|file| files.baseline_bytes(file)) {
        Some(Err(problem)) if problem.code == Code::BAD_LINK => Err(problem),
        Some(_) | None => Ok(()),
    }
}

fn baseline_use(
    against: Option<&Baseline>,
    baseline: Option<&RepoPath>,
    files: &dyn Files,
) -> BaselineUse {
    match against {
        Some(_) => BaselineUse::Existing,
        None if baseline.is_some_and(|file| files.baseline_bytes(file).is_ok()) => {
            BaselineUse::Added
        }
        None => BaselineUse::Compared,
    }
}

/// What the numbers of a run are compared with, and what its recordings mean.
#[derive(Clone, Copy)]
struct ComparedNumbers<'a> {
    baseline: Option<&'a Baseline>,
    base_runs: Option<&'a BaseRecordings<'a>>,
    recordings: &'a RecordedAgents,
}

#[derive(Default)]
struct GradedTiers {
    runs: Vec<TierRuns>,
    notes: Vec<String>,
    not_gateable: Vec<NotGateable>,
    usage: RunUsage,
    called_off: Option<Interruption>,
    not_run: Vec<NotRun>,
}

/// Grades the tiers in their order; a signal ends the run before the next one.
fn grade_tiers(
    job: &RunOptions,
    plan: &Plan,
    inputs: &GradeInputs<'_>,
    base_files: Option<&dyn OtherCommit>,
    compared: ComparedNumbers<'_>,
) -> Result<GradedTiers, CliError> {
    let tiers = &plan.wanted.tiers;
    let mut graded = GradedTiers::default();
    for tier in tiers {
        if graded.called_off.is_some_and(Interruption::is_signal) {
            break;
        }
        let mut made = (inputs.make)(plan, *tier)?;
        graded.called_off = graded.called_off.max(made.called_off);
        let read = ReadRuns::default();
        let kept = base_files.map(|_| &read);
        let from = RunsFrom {
            made: &made,
            parts: job.parts.as_deref(),
            other: base_files,
            base: compared.base_runs,
            read: kept,
            recordings: compared.recordings,
        };
        let tiered = grade_tier(plan, *tier, inputs.files, from, compared.baseline)?;
        let mut refusals = not_run(*tier, tiers, &made.not_run, &tiered.suites);
        refusals.extend(tiered.not_gateable);
        // If the tier decides, the message is already one of the reasons for a missing verdict.
        if !job.decides(*tier) {
            graded
                .notes
                .extend(made.not_run.iter().map(|run| run.message.clone()));
        }
        graded.not_run.append(&mut made.not_run);
        graded.notes.append(&mut made.notes);
        graded.usage = graded.usage.and(made.usage);
        if job.decides(*tier) {
            graded.not_gateable.extend(refusals);
        }
        graded.runs.push(TierRuns {
            tier: *tier,
            made,
            suites: tiered.suites,
            read,
        });
    }
    Ok(graded)
}
