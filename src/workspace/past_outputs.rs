//! The outputs of cases at an earlier commit, from the recordings in git.

use std::collections::BTreeMap;

use anyhow::Context;

use crate::diag::Code;
use crate::evaluation::live_layout::LiveLayout;
use crate::evaluation::plan::plan;
use crate::evaluation::replay::{Replay, RunReader};
use crate::evaluation::sample_count::SampleCount;
use crate::evaluation::selection::Selection;
use crate::model::{AgentName, CaseId, RepoPath, Sample, SuiteId, Tier};
use crate::text::short_commit;
use crate::world::{BaseTree, Disk, Git, ReadOnce, World};

pub struct PastOutputs {
    /// The short id of the commit.
    pub commit: String,
    /// The samples, by suite, agent and case; a case that the commit does not have is absent.
    pub samples: BTreeMap<(SuiteId, AgentName, CaseId), Vec<Sample>>,
}

#[derive(Clone, Copy)]
pub enum PastCommit<'a> {
    Named(&'a str),
    /// The last one that changed this baseline.
    OfBaseline(&'a RepoPath),
}

/// Reads the outputs of the selected cases; `None` if the baseline was never committed, or git has no history here.
///
/// # Errors
/// A commit that git does not know, or files in it that cannot be read.
pub fn past_outputs(
    disk: &Disk,
    config: &RepoPath,
    wanted: Selection,
    from: PastCommit<'_>,
    world: &World,
) -> anyhow::Result<Option<PastOutputs>> {
    let git = Git::of(disk);
    let commit = match from {
        PastCommit::Named(name) => git
            .commit(name)
            .map_err(|error| anyhow::anyhow!("--base {error:#}"))?,
        PastCommit::OfBaseline(file) => {
            let versions = git
                .versions(file, 1)
                .map(|history| history.versions)
                .unwrap_or_default();
            let Some(version) = versions.into_iter().find(|version| version.blob.is_some()) else {
                return Ok(None);
            };
            version.commit
        }
    };
    let commit_name = short_commit(&commit).to_owned();
    let action = format!("while reading the recordings of commit {commit_name}");
    let head = ReadOnce::of(disk);
    let tree = BaseTree::open(&git, &commit, &head).with_context(|| action.clone())?;
    let plan = match plan(&tree, config, wanted, &world.clock.days()) {
        Ok(plan) => plan,
        // The suite, the agent or the case is newer than the commit.
        Err(problems) if problems.are_all(Code::NOTHING_SELECTED) => {
            return Ok(Some(PastOutputs {
                commit: commit_name,
                samples: BTreeMap::new(),
            }));
        }
        Err(problems) => anyhow::bail!("{action}: {}", problems.first_line()),
    };
    let layout = LiveLayout::of_exchanges(&plan.config, Tier::Deterministic);
    let runs = Replay::open(&tree, &plan, Tier::Deterministic, &layout)
        .map_err(|problems| anyhow::anyhow!("{action}: {}", problems.first_line()))?;
    let mut samples = BTreeMap::new();
    for loaded in &plan.suites {
        // The runs of a program that needs no recordings are not stored.
        for pair in loaded
            .chosen_to_run(&plan.wanted)
            .filter(|pair| runs.has(pair))
        {
            let name = (
                loaded.config.id.clone(),
                pair.agent.clone(),
                pair.case.clone(),
            );
            let of_pair = runs
                .samples(pair, SampleCount::AtLeast(1))
                .map_err(|problems| anyhow::anyhow!("{action}: {}", problems.first_line()))?;
            samples.insert(name, of_pair);
        }
    }
    Ok(Some(PastOutputs {
        commit: commit_name,
        samples,
    }))
}
