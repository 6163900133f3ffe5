//! Joins the shards that several machines graded.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::shard_part::FILE;
use crate::diag::{Code, Diagnostic, ReadFailure};
use crate::evaluation::evaluate::ShardResults;
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::live_options::LiveOptions;
use crate::evaluation::live_runs::NotRun;
use crate::evaluation::run_options::{AgentScope, DecidingTiers, RunOptions, UncommittedFiles};
use crate::evaluation::selection;
use crate::evaluation::selection::Selection;
use crate::files::{Files, SourceText, sha256_hex};
use crate::format::shard_v1;
use crate::format::shard_v1::{ShardPart, ShardScope};
use crate::model::{Authority, InputLimit, RepoPath, Report, RunUsage};
use crate::render::words::short;
use crate::render::{CliError, plural};
use crate::report;
use crate::world::{Disk, head_commit};

pub struct JoinedShards {
    parts: Vec<ShardPart>,
    /// The job that judges all cases; its base commit and its base branch are those of the shards.
    pub job: RunOptions,
}

impl JoinedShards {
    /// Reads the folders of shards that were graded with this config.
    ///
    /// # Errors
    /// Shards that do not belong together, or to this config.
    pub fn read(folders: &[String], config: &str) -> Result<Self, CliError> {
        let parts = folders
            .iter()
            .map(|folder| read_part(folder))
            .collect::<Result<Vec<ShardPart>, CliError>>()?;
        let first = together(&parts)?;
        let (disk, file) = Disk::of_config(config)?;
        if sha256_hex(&disk.bytes(&file)?) != first.asked.config_sha256
            || first.report.config.as_ref() != Some(&file)
        {
            let message = "the shards were graded with another config";
            return Err(Diagnostic::of_file(
                &file,
                Code::OTHER_CONFIG,
                message,
                "merge on the commit of the shards",
            )
            .into());
        }
        let job = job(config, first, &parts)?;
        Ok(Self { parts, job })
    }

    /// Refuses shards that were graded on another commit than the checkout, because their runs belong to other files. If one of the
    /// commits is unknown, only the config and the golden files are compared.
    pub fn is_of_checkout(&self, disk: &Disk) -> Result<(), Diagnostic> {
        let Some((parts, here)) = self
            .job
            .commit
            .clone()
            .zip(head_commit(disk))
            .filter(|(graded, checked_out)| graded != checked_out)
        else {
            return Ok(());
        };
        let message = format!("the shards are of the commit {parts}, but {here} is checked out");
        Err(Diagnostic::of_command_line(
            Code::BAD_PARTS,
            message,
            "merge on the commit of the shards",
        ))
    }

    /// Refuses shards that were not graded against this base commit: what they were compared with is not what the result would say.
    ///
    /// # Errors
    /// Another base commit than that of the shards.
    pub fn is_of_base(&self, named: &str, base: Option<&str>) -> Result<(), Diagnostic> {
        let graded_base = self.job.base.as_deref();
        if graded_base == base {
            return Ok(());
        }
        let graded = graded_base.map_or("without a base commit".to_owned(), |commit| {
            format!("against {}", short(Some(commit)))
        });
        let message = format!(
            "the shards were graded {graded}, but --base {named} is {}",
            short(base)
        );
        let help = format!("grade all shards with --base {named}, or merge without --base");
        Err(Diagnostic::of_command_line(Code::BAD_PARTS, message, help))
    }

    /// Checks the joined result against the shards, and adds their times and costs.
    ///
    /// # Errors
    /// Shards that were graded with other golden files than those of this checkout.
    pub fn complete(&self, done: &mut GradedRun) -> Result<(), Diagnostic> {
        belong(
            &self.parts,
            &done.report,
            self.job.parts.as_deref().map_or(0, ShardResults::count),
        )?;
        times(&self.parts, &mut done.report);
        Ok(())
    }
}

/// Returns the folders of the shards below a folder, sorted by name.
#[cfg(feature = "github")]
pub fn folders(below: &str) -> Result<Vec<String>, CliError> {
    let Ok(disk) = Disk::open(Path::new(below)) else {
        let missing = Diagnostic::of_read(
            below,
            ReadFailure::MissingFolder,
            "the folder does not exist",
            "download the folder of each shard into its own folder below this one",
        );
        return Err(missing.into());
    };
    let entries = disk.list(&RepoPath::root())?;
    Ok(entries
        .iter()
        .map(|entry| format!("{below}/{}", entry.name))
        .collect())
}

pub(super) fn read_part(folder: &str) -> Result<ShardPart, CliError> {
    let shown = RepoPath::root().child(&format!("{}/{FILE}", folder.trim_end_matches('/')));
    let part = Disk::open(Path::new(folder))
        .map_err(|_| no_shard(&shown))?
        .own_text(&RepoPath::root().child(FILE), &InputLimit::REPORT);
    let SourceText { text, .. } = part.map_err(|problem| match problem.read_failure {
        Some(ReadFailure::MissingFile) => no_shard(&shown),
        _ => Diagnostic {
            file: shown.to_string(),
            ..problem
        },
    })?;
    Ok(shard_v1::read_shard(&SourceText::from_text(shown, text))?)
}

fn no_shard(shown: &RepoPath) -> Diagnostic {
    Diagnostic::of_read(
        shown,
        ReadFailure::MissingFile,
        "this folder has no shard",
        "use a folder that goldgate run --shard i/n --out DIR wrote",
    )
}

/// Returns the first shard if each shard of one run is given exactly once.
pub(super) fn together(parts: &[ShardPart]) -> Result<&ShardPart, Diagnostic> {
    let Some(first) = parts.first() else {
        return Err(bad_parts("no shard is given", "name the shards' folders"));
    };
    let total = first.shard.of();
    if let Some(part) = parts.iter().find(|part| part.shard.of() != total) {
        let message = format!(
            "{} and {} are shards of different runs",
            first.shard, part.shard
        );
        return Err(bad_parts(message, "merge the shards of one run"));
    }
    for number in 1..=total {
        let message = match parts
            .iter()
            .filter(|part| part.shard.number() == number)
            .count()
        {
            0 => format!("the shard {number}/{total} is missing"),
            1 => continue,
            count => format!("the shard {number}/{total} is given {count} times"),
        };
        return Err(bad_parts(message, "name the folder of each shard once"));
    }
    if let Some((part, why)) = parts
        .iter()
        .find_map(|part| Some((part, part.report.called_off?)))
    {
        let message = format!("the shard {} is incomplete: {}", part.shard, why.message());
        return Err(bad_parts(message, "grade it again completely"));
    }
    for part in parts {
        let (report, part_report) = (&first.report, &part.report);
        let differs = [
            ("commit", report.commit != part_report.commit),
            (
                "version of goldgate",
                report.tool.version != part_report.tool.version,
            ),
            ("config file", report.config != part_report.config),
            ("tier", report.tiers != part_report.tiers),
            (
                "config",
                first.asked.config_sha256 != part.asked.config_sha256,
            ),
            (
                "selection of cases, samples, base or authority",
                first.asked != part.asked,
            ),
        ];
        if let Some((subject, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            let message = format!(
                "the shards {} and {} differ in their {subject}",
                first.shard, part.shard
            );
            return Err(bad_parts(
                message,
                "grade all shards with the same options on one commit",
            ));
        }
    }
    if first.report.tool.version != env!("CARGO_PKG_VERSION") {
        let message = format!("the shards are of goldgate {}", first.report.tool.version);
        return Err(bad_parts(
            message,
            concat!(
                "merge with that version, not with ",
                env!("CARGO_PKG_VERSION")
            ),
        ));
    }
    Ok(first)
}

fn bad_parts(message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::of_command_line(Code::BAD_PARTS, message, help)
}

pub(super) fn job(
    config: &str,
    first: &ShardPart,
    parts: &[ShardPart],
) -> Result<RunOptions, CliError> {
    let mut joined = ShardResults::default();
    for suite in parts.iter().flat_map(|part| &part.report.suites) {
        for case in suite.agents.iter().flat_map(|agent| &agent.cases) {
            joined.add(suite.tier, &suite.id, case.clone());
        }
    }
    for (tier, message) in parts.iter().flat_map(|part| part.not_run.clone()) {
        joined.add_not_run(NotRun { tier, message });
    }
    let ShardScope {
        config_sha256: _,
        blocking,
        every_tier,
        suites,
        agents,
        cases,
        samples,
        base,
        base_branch,
    } = first.asked.clone();
    Ok(RunOptions {
        config: config.to_owned(),
        wanted: Selection {
            tiers: first.report.tiers.clone(),
            suites,
            agents,
            cases: selection::patterns(&cases)?,
            samples,
            ..Selection::default()
        },
        scope: AgentScope::All,
        authority: if blocking {
            Authority::Blocking
        } else {
            Authority::Advisory
        },
        deciding: if every_tier {
            DecidingTiers::Every
        } else {
            DecidingTiers::Deterministic
        },
        commit: first.report.commit.clone(),
        base,
        base_branch,
        uncommitted: UncommittedFiles::Refused,
        live: LiveOptions::NONE,
        parts: Some(Arc::new(joined)),
    })
}

/// Checks that the shards were graded with the golden files of this checkout, and that all their results were used.
pub(super) fn belong(parts: &[ShardPart], whole: &Report, count: usize) -> Result<(), Diagnostic> {
    let help = "grade all shards on the same checkout and merge there";
    let mut known = BTreeSet::new();
    for (suite, agent) in whole.suite_agents() {
        known.insert((
            suite.tier,
            &suite.id,
            &agent.agent,
            &agent.identity.suite_digest,
        ));
    }
    for part in parts {
        for (suite, agent) in part.report.suite_agents() {
            let digest = &agent.identity.suite_digest;
            if !known.contains(&(suite.tier, &suite.id, &agent.agent, digest)) {
                let message = format!(
                    "the shard {} has other golden files for {}/{} than this checkout",
                    part.shard, suite.id, agent.agent
                );
                return Err(bad_parts(message, help));
            }
        }
    }
    let graded: usize = whole.agents().map(|agent| agent.cases.len()).sum();
    if graded != count {
        let message = format!(
            "the shards have {}, but the config has {graded}",
            plural(count, "pair of agent and case", "pairs of agent and case")
        );
        return Err(bad_parts(message, help));
    }
    Ok(())
}

/// Sets the first start, the last end and the total usage.
pub(super) fn times(parts: &[ShardPart], report: &mut Report) {
    let starts = parts.iter().map(|part| &part.report.started_at);
    report.started_at = starts.min().cloned().unwrap_or_default();
    let ends = parts.iter().map(|part| &part.report.finished_at);
    report.finished_at = ends.max().cloned().unwrap_or_default();
    report.usage = RunUsage::default();
    for part in parts {
        report.usage = report.usage.and(part.report.usage);
    }
    // Notes of live runs are only in the shards' reports.
    let mut new: BTreeSet<&String> = BTreeSet::new();
    for part in parts {
        let shard_note = report::shard_note(part.shard);
        for note in &part.report.notes {
            if *note != shard_note && !report.notes.contains(note) {
                new.insert(note);
            }
        }
    }
    report.notes.extend(new.into_iter().cloned());
}
