//! The base commit's own recordings. They are graded by the rules of the judgement that compares with them, and only if it needs them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::live_layout::LiveLayout;
use super::plan::Plan;
use super::replay::Replay;
use crate::diag::Diagnostics;
use crate::files::Files;
use crate::model::{AgentName, Config, PairResult, Tier};
use crate::render::line;

/// The longest reason in a note, in characters.
const REASON: usize = 300;

/// Where the base commit's own recordings are.
pub struct BaseRecordings<'a> {
    files: &'a dyn Files,
    config: &'a Config,
    branch: Option<&'a str>,
    layout: LiveLayout,
}

impl<'a> BaseRecordings<'a> {
    /// `branch` is the name of the base branch, for messages.
    pub fn new(files: &'a dyn Files, config: &'a Config, branch: Option<&'a str>) -> Self {
        Self {
            files,
            config,
            branch,
            layout: LiveLayout::default(),
        }
    }

    /// The name of the base branch, for messages.
    pub fn branch(&self) -> Option<&str> {
        self.branch
    }

    /// The recordings of a plan's pairs.
    ///
    /// # Errors
    /// Folders that cannot be listed.
    pub fn replay(&self, plan: &Plan, tier: Tier) -> Result<Replay<'_>, Diagnostics> {
        let replay = Replay::of(self.files, plan, self.config, tier, &self.layout)?;
        Ok(replay.of_base_commit())
    }
}

/// The results of the base commit's own runs of a suite, by agent.
#[derive(Default)]
pub struct BaseResults(OnceLock<Result<BTreeMap<AgentName, Vec<PairResult>>, String>>);

impl BaseResults {
    /// The results of an agent, which `grade` makes for the whole suite the first time.
    ///
    /// # Errors
    /// A note on why there are none.
    pub fn of(
        &self,
        agent: &AgentName,
        base: &BaseRecordings<'_>,
        grade: impl FnOnce() -> Result<BTreeMap<AgentName, Vec<PairResult>>, Diagnostics>,
    ) -> Result<&[PairResult], String> {
        let graded = self.0.get_or_init(|| {
            grade().map_err(|problems| {
                let branch = base.branch.unwrap_or("the base commit");
                let why = line(&problems.first_line(), REASON);
                format!("nothing is compared with the own runs of {branch}, because its recordings cannot be graded: {why}")
            })
        });
        match graded {
            Ok(agents) => Ok(agents.get(agent).map_or(&[], Vec::as_slice)),
            Err(note) => Err(note.clone()),
        }
    }
}
