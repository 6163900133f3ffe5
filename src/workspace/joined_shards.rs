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
        let one = together(&parts)?;
        let (disk, file) = Disk::of_config(config)?;
        if sha256_hex(&disk.bytes(&file)?) != one.asked.config_sha256
            || one.report.config.as_ref() != Some(&file)
        {
            let what = "the shards were graded with another config";
            return Err(Diagnostic::of_file(
                &file,
                Code::OTHER_CONFIG,
                what,
                "merge on the commit of the shards",
            )
            .into());
        }
        let job = job(config, one, &parts)?;
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
            .filter(|(one, other)| one != other)
        else {
            return Ok(());
        };
        let what = format!("the shards are of the commit {parts}, but {here} is checked out");
        Err(Diagnostic::of_command_line(
            Code::BAD_PARTS,
            what,
            "merge on the commit of the shards",
        ))
    }

    /// Refuses shards that were not graded against this base commit: what they were compared with is not what the result would say.
    ///
    /// # Errors
    /// Another base commit than that of the shards.
    pub fn is_of_base(&self, named: &str, base: Option<&str>) -> Result<(), Diagnostic> {
        let own = self.job.base.as_deref();
        if own == base {
            return Ok(());
        }
        let graded = own.map_or("without a base commit".to_owned(), |own| {
            format!("against {}", short(Some(own)))
        });
        let what = format!(
            "the shards were graded {graded}, but --base {named} is {}",
            short(base)
        );
        let help = format!("grade all shards with --base {named}, or merge without --base");
        Err(Diagnostic::of_command_line(Code::BAD_PARTS, what, help))
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
    let missing = |_| {
        let help = "download the folder of each shard into its own folder below this one";
        Diagnostic::of_read(
            below,
            ReadFailure::MissingFolder,
            "the folder does not exist",
            help,
        )
    };
    let names = Disk::open(Path::new(below))
        .map_err(missing)?
        .list(&RepoPath::root())?;
    Ok(names
        .iter()
        .map(|entry| format!("{below}/{}", entry.name))
        .collect())
}

pub(super) fn read_part(folder: &str) -> Result<ShardPart, CliError> {
    let shown = RepoPath::root().child(&format!("{}/{FILE}", folder.trim_end_matches('/')));
    let missing = || {
        let help = "use a folder that goldgate run --shard i/n --out DIR wrote";
        Diagnostic::of_read(
            &shown,
            ReadFailure::MissingFile,
            "this folder has no shard",
            help,
        )
    };
    let part = Disk::open(Path::new(folder))
        .map_err(|_| missing())?
        .own_text(&RepoPath::root().child(FILE), &InputLimit::REPORT);
    let SourceText { text, .. } = part.map_err(|problem| match problem.read_failure {
        Some(ReadFailure::MissingFile) => missing(),
        _ => Diagnostic {
            file: shown.to_string(),
            ..problem
        },
    })?;
    Ok(shard_v1::read_shard(&SourceText::from_text(shown, text))?)
}

/// Returns the first shard if each shard of one run is given exactly once.
pub(super) fn together(parts: &[ShardPart]) -> Result<&ShardPart, Diagnostic> {
    let refuse =
        |what: String, help: &str| Diagnostic::of_command_line(Code::BAD_PARTS, what, help);
    let Some(first) = parts.first() else {
        return Err(refuse(
            "no shard is given".to_owned(),
            "name the shards' folders",
        ));
    };
    let of = first.shard.of();
    if let Some(other) = parts.iter().find(|part| part.shard.of() != of) {
        let what = format!(
            "{} and {} are shards of different runs",
            first.shard, other.shard
        );
        return Err(refuse(what, "merge the shards of one run"));
    }
    for number in 1..=of {
        let what = match parts
            .iter()
            .filter(|part| part.shard.number() == number)
            .count()
        {
            0 => format!("the shard {number}/{of} is missing"),
            1 => continue,
            count => format!("the shard {number}/{of} is given {count} times"),
        };
        return Err(refuse(what, "name the folder of each shard once"));
    }
    if let Some((part, why)) = parts
        .iter()
        .find_map(|part| Some((part, part.report.called_off?)))
    {
        let what = format!("the shard {} is incomplete: {}", part.shard, why.message());
        return Err(refuse(what, "grade it again completely"));
    }
    for part in parts {
        let (report, other) = (&first.report, &part.report);
        let differs = [
            ("commit", report.commit != other.commit),
            (
                "version of goldgate",
                report.tool.version != other.tool.version,
            ),
            ("config file", report.config != other.config),
            ("tier", report.tiers != other.tiers),
            (
                "config",
                first.asked.config_sha256 != part.asked.config_sha256,
            ),
            (
                "selection of cases, samples, base or authority",
                first.asked != part.asked,
            ),
        ];
        if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            let what = format!(
                "the shards {} and {} differ in their {what}",
                first.shard, part.shard
            );
            return Err(refuse(
                what,
                "grade all shards with the same options on one commit",
            ));
        }
    }
    if first.report.tool.version != env!("CARGO_PKG_VERSION") {
        let what = format!("the shards are of goldgate {}", first.report.tool.version);
        return Err(refuse(
            what,
            concat!(
                "merge with that version, not with ",
                env!("CARGO_PKG_VERSION")
            ),
        ));
    }
    Ok(first)
}

pub(super) fn job(
    config: &str,
    one: &ShardPart,
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
    } = one.asked.clone();
    Ok(RunOptions {
        config: config.to_owned(),
        wanted: Selection {
            tiers: one.report.tiers.clone(),
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
        commit: one.report.commit.clone(),
        base,
        base_branch,
        uncommitted: UncommittedFiles::Refused,
        live: LiveOptions::NONE,
        parts: Some(Arc::new(joined)),
    })
}

/// Checks that the shards were graded with the golden files of this checkout, and that all their results were used.
pub(super) fn belong(parts: &[ShardPart], whole: &Report, count: usize) -> Result<(), Diagnostic> {
    let refuse = |what: String| {
        Diagnostic::of_command_line(
            Code::BAD_PARTS,
            what,
            "grade all shards on the same checkout and merge there",
        )
    };
    let agents = |report: &Report| -> Vec<_> {
        report
            .suite_agents()
            .map(|(suite, agent)| {
                (
                    (suite.tier, suite.id.clone(), agent.agent.clone()),
                    agent.identity.suite_digest.clone(),
                )
            })
            .collect()
    };
    let known = agents(whole);
    for (shard, one) in parts.iter().flat_map(|part| {
        agents(&part.report)
            .into_iter()
            .map(|one| (part.shard, one))
    }) {
        if !known.contains(&one) {
            let (_, suite, agent) = one.0;
            return Err(refuse(format!(
                "the shard {shard} has other golden files for {suite}/{agent} than this checkout"
            )));
        }
    }
    let graded: usize = whole.agents().map(|agent| agent.cases.len()).sum();
    match graded == count {
        true => Ok(()),
        false => Err(refuse(format!(
            "the shards have {}, but the config has {graded}",
            plural(count, "pair of agent and case", "pairs of agent and case")
        ))),
    }
}

/// Sets the first start, the last end and the total usage.
pub(super) fn times(parts: &[ShardPart], report: &mut Report) {
    let reports = || parts.iter().map(|part| &part.report);
    report.started_at = reports()
        .map(|part| part.started_at.clone())
        .min()
        .unwrap_or_default();
    report.finished_at = reports()
        .map(|part| part.finished_at.clone())
        .max()
        .unwrap_or_default();
    report.usage = reports()
        .map(|part| part.usage)
        .fold(RunUsage::default(), RunUsage::and);
    // Notes of live runs are only in the shards' reports.
    let notes = parts.iter().flat_map(|part| {
        let own = report::shard_note(part.shard);
        part.report.notes.iter().filter(move |note| **note != own)
    });
    let notes: BTreeSet<&String> = notes.collect();
    let new: Vec<String> = notes
        .into_iter()
        .filter(|note| !report.notes.contains(note))
        .cloned()
        .collect();
    report.notes.extend(new);
}
