//! With `recordings: { trust: ci }`, a recording proves by its digests which agent answered which input. What a request contains beyond
//! that has to be the base branch's: else answers to an easier request would pass for answers to its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::plan::{LoadedSuite, Plan, plan};
use crate::evaluation::selection::Selection;
use crate::github::commit_files::BaseView;
use crate::github::graded_data::CommitPair;
use crate::model::{
    Agent, AgentName, Ask, CaseId, RecordingTrust, RunDays, RunKey, RunSource, Toolbox,
};
use crate::suites::{Pair, input_digest};

/// The requests of the base branch.
pub struct BaseRequests<'a> {
    commits: &'a CommitPair,
    view: &'a BaseView<'a>,
    /// The base branch's plan, if it can be read.
    plan: Option<Plan>,
}

impl<'a> BaseRequests<'a> {
    /// Reads them; `None` if the base branch trusts recordings of others as well.
    pub fn of(commits: &'a CommitPair, view: &'a BaseView<'a>, days: &RunDays) -> Option<Self> {
        if commits.base_config.recordings != RecordingTrust::Ci {
            return None;
        }
        let plan = plan(view, &commits.file, Selection::default(), days).ok();
        Some(Self {
            commits,
            view,
            plan,
        })
    }

    /// Why an agent of the head must not be recorded on these pairs: one that the base branch also has gets another request there.
    pub fn refusal(
        &self,
        loaded: &LoadedSuite,
        name: &AgentName,
        pairs: &BTreeSet<(CaseId, AgentName)>,
    ) -> Option<String> {
        let base_suite = self.plan.as_ref()?.suite(&loaded.config.id)?;
        let (old, new) = (
            base_suite.config.agents.get(name)?,
            loaded.config.agents.get(name)?,
        );
        if callees(old) != callees(new) {
            return Some("this change lets another target answer; merge that first".to_owned());
        }
        if old.prompt.is_some() != new.prompt.is_some() {
            return Some("this change adds or removes its `prompt`; merge that first".to_owned());
        }
        let known: BTreeMap<&CaseId, &Pair> = base_suite
            .suite
            .pairs_to_run()
            .filter(|pair| pair.agent == *name)
            .map(|pair| (&pair.case, pair))
            .collect();
        for pair in loaded.suite.pairs_to_run() {
            if pair.agent != *name || !pairs.contains(&(pair.case.clone(), pair.agent.clone())) {
                continue;
            }
            let Some(old) = known.get(&pair.case).copied() else {
                continue;
            };
            let is_altered = pair
                .runs
                .iter()
                .any(|key| self.asks_otherwise((base_suite, old), (loaded, pair), key));
            if is_altered {
                return Some(format!(
                    "this change alters the request of the case \"{}\" beyond its input, such as its tools; merge that first",
                    pair.case
                ));
            }
        }
        None
    }

    /// Whether a run has the same input on both commits, and another request.
    fn asks_otherwise(
        &self,
        base: (&LoadedSuite, &Pair),
        after: (&LoadedSuite, &Pair),
        key: &RunKey,
    ) -> bool {
        let old = base.0.suite.ask(base.1, key, self.view).ok().flatten();
        let new = after
            .0
            .suite
            .ask(after.1, key, &self.commits.head)
            .ok()
            .flatten();
        let Some((old, new)) = old.zip(new) else {
            return false;
        };
        let digests = input_digest(&old, self.view)
            .ok()
            .zip(input_digest(&new, &self.commits.head).ok());
        digests.is_none_or(|(old, new)| old == new) && !is_same_request(&old, &new)
    }
}

/// Whether two requests with the same input are the same. The folder of a repository may have moved.
fn is_same_request(old: &Ask, new: &Ask) -> bool {
    let tools = match (&old.tools, &new.tools) {
        (Toolbox::Folder { .. }, Toolbox::Folder { .. }) => true,
        (old, new) => old == new,
    };
    tools && old.prompt == new.prompt && old.answer == new.answer
}

/// The targets that answer.
fn callees(agent: &Agent) -> Option<Vec<&String>> {
    agent
        .model
        .as_ref()
        .and_then(RunSource::live)
        .map(|live| live.targets().collect())
}
