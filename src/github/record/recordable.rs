//! What of a pull request can be recorded: its agents and cases, with the targets that the base commit's config names.
//!
//! The head's config says which agents exist, where their prompts and recordings are, and by which name they call a target. What a
//! target is, what it may cost and what is removed from recordings comes from the base commit: no path of the head's config can send
//! a key or a request elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::base_requests::BaseRequests;
use super::outdated::{OutdatedPairs, outdated_pairs};
use crate::evaluation::plan::{Plan, plan};
use crate::evaluation::recorded_agents::{NoEvidence, NoMerge, RecordedAgents, RecordingsBase};
use crate::evaluation::selection::Selection;
use crate::github::commit_files::BaseView;
use crate::github::graded_data::CommitPair;
use crate::golden_changes::{BaseName, Sides};
use crate::model::{
    Config, LiveSource, RecordPolicy, RepoPath, RunDays, RunKey, RunSource, Tier, Transport,
};
use crate::render::CliError;

/// The plan with which a pull request is recorded.
pub struct Recordable {
    /// The outdated pairs of the head, with the base commit's targets.
    pub plan: Plan,
    /// The number of samples of each run.
    pub samples: BTreeMap<RunKey, u32>,
    /// Outdated agents that cannot be recorded, with the reason.
    pub left_out: Vec<String>,
}

/// Returns what can be recorded.
///
/// # Errors
/// Files of the head that cannot be read, or a folder of recordings that must not be written.
pub fn recordable(
    commits: &CommitPair,
    view: &BaseView<'_>,
    wanted: Selection,
    days: &RunDays,
) -> Result<Recordable, CliError> {
    let mut plan = plan(&commits.head, &commits.file, wanted, days)?;
    let recordings_base = RecordingsBase {
        sides: Sides {
            base: view,
            head: &commits.head,
        },
        config: &commits.base_config,
        branch: &NoMerge,
        evidence: &NoEvidence,
        name: BaseName {
            revision: commits.file.to_string(),
            branch: None,
        },
    };
    let tiers = [Tier::Deterministic];
    let recorded = RecordedAgents::read(&plan, &commits.head, &tiers, Some(&recordings_base))?;
    let requests = BaseRequests::of(commits, view, days);
    let mut samples = BTreeMap::new();
    let mut left_out = Vec::new();
    let mut known = Vec::new();
    for loaded in &plan.suites {
        let OutdatedPairs {
            mut pairs,
            samples: counts,
        } = outdated_pairs(&plan, loaded, &commits.head, &recorded)?;
        for (name, agent) in &loaded.config.agents {
            if !pairs.iter().any(|(_, agent)| agent == name) {
                continue;
            }
            let why = match &agent.model {
                Some(RunSource::Live(live)) => refusal(&plan.config, &commits.base_config, live),
                Some(RunSource::Replay(_)) | None => {
                    Some("it has no target in the model tier".to_owned())
                }
            };
            let why = why.or_else(|| requests.as_ref()?.refusal(loaded, name, &pairs));
            if let Some(why) = why {
                left_out.push(format!("{}/{name}: {why}", loaded.config.id));
                pairs.retain(|(_, agent)| agent != name);
            }
        }
        samples.extend(counts);
        known.push(pairs);
    }
    for (loaded, pairs) in plan.suites.iter_mut().zip(known) {
        loaded.known = Some(pairs);
        // Recordings of a deterministic suite are made by the target of the model tier.
        loaded.config.tiers = vec![Tier::Deterministic, Tier::Model];
        for agent in loaded.config.agents.values_mut() {
            if let Some(RunSource::Live(live)) = &mut agent.model {
                live.record = false;
            }
        }
        loaded.judges.retain(|judge| {
            refusal(&plan.config, &commits.base_config, &judge.config.source).is_none()
        });
    }
    plan.suites
        .retain(|loaded| loaded.known.as_ref().is_some_and(|pairs| !pairs.is_empty()));
    let Config {
        targets,
        budget,
        prices,
        redact,
        ..
    } = commits.base_config.clone();
    plan.config = Config {
        targets,
        budget,
        prices,
        redact,
        results: RepoPath::root().child("results"),
        ..plan.config
    };
    Ok(Recordable {
        plan,
        samples,
        left_out,
    })
}

/// Returns why a target must not be asked about this pull request.
fn refusal(head: &Config, base: &Config, live: &LiveSource) -> Option<String> {
    let names: BTreeSet<&String> = live.targets().collect();
    for name in names {
        let Some(target) = base.targets.get(name) else {
            return Some(format!(
                "the config of the base branch has no target \"{name}\"; merge the target first"
            ));
        };
        if head
            .targets
            .get(name)
            .is_none_or(|head_target| head_target.transport != target.transport)
        {
            return Some(format!(
                "this change defines the target \"{name}\" otherwise than the base branch; merge the target first"
            ));
        }
        match (&target.transport, target.record) {
            (Transport::Model(_), _) | (_, RecordPolicy::Trusted) => {}
            (Transport::Command { .. } | Transport::Http(_), RecordPolicy::Models) => {
                return Some(format!(
                    "the target \"{name}\" is not a model, and the config of the base branch does not say `record: trusted`"
                ));
            }
        }
    }
    None
}
