//! The file that a shard leaves for `goldgate merge`.

use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::run_options::{DecidingTiers, RunOptions};
use crate::format::shard_v1;
use crate::format::shard_v1::{ShardPart, ShardScope};
use crate::model::{Authority, InputLimit, RepoPath};
use crate::world::Disk;

/// The name of a shard's file in its folder.
pub(super) const FILE: &str = "shard.json";

/// Writes the file that `goldgate merge` needs in addition to a shard's report. Writes nothing if all cases were graded.
pub fn write_part(folder: &Disk, job: &RunOptions, done: &GradedRun) -> anyhow::Result<()> {
    let Some(shard) = job.wanted.shard else {
        return Ok(());
    };
    let part = ShardPart {
        shard,
        asked: ShardScope {
            config_sha256: done.config_sha256.clone(),
            blocking: job.authority == Authority::Blocking,
            every_tier: job.deciding == DecidingTiers::Every,
            suites: job.wanted.suites.clone(),
            agents: job.wanted.agents.clone(),
            cases: job
                .wanted
                .cases
                .iter()
                .map(|glob| glob.glob().glob().to_owned())
                .collect(),
            samples: job.wanted.samples,
            base: job.base.clone(),
            base_branch: job.base_branch.clone(),
        },
        not_run: done
            .not_run
            .iter()
            .map(|not_run| (not_run.tier, not_run.message.clone()))
            .collect(),
        report: done.report.clone(),
    };
    folder.replace_own(&RepoPath::root().child(FILE), &InputLimit::REPORT, &|out| {
        shard_v1::write_shard(&part, out)
    })
}
