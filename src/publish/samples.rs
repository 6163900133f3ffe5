//! Test data of pull requests and baselines.

use std::collections::BTreeMap;

use super::BaselineMove;
use super::moves::MoveDirection;
use crate::model::{
    AgentName, Baseline, BaselineEntry, BranchOrigin, PullRequestDetails, PullState, SuiteId, Unit,
};

fn suite() -> SuiteId {
    SuiteId::new("contracts").expect("a word of letters is an id")
}

fn agent() -> AgentName {
    AgentName::new("legal").expect("a word of letters is a name")
}

/// An open pull request from a branch of the repository.
pub fn pull() -> PullRequestDetails {
    PullRequestDetails {
        number: 2,
        state: PullState::Open,
        author: "author".to_owned(),
        head: "a".repeat(40),
        branch: "changes".to_owned(),
        label: Some("acme:changes".to_owned()),
        head_repository: Some("acme/agents".to_owned()),
        into: "main".to_owned(),
        origin: BranchOrigin::Same,
        base: "b".repeat(40),
        labels: Vec::new(),
        description: String::new(),
    }
}

/// A baseline of one agent, with this recall.
pub fn baseline(recall: f64) -> Baseline {
    let entry = BaselineEntry {
        metrics: BTreeMap::from([("recall".to_owned(), recall)]),
        ..BaselineEntry::default()
    };
    let agents = BTreeMap::from([(agent(), entry)]);
    Baseline {
        suites: BTreeMap::from([(suite(), agents)]),
        ..Baseline::default()
    }
}

/// Its recall, moved from 0.9 to 0.8.
pub fn moved(turn: MoveDirection) -> Vec<BaselineMove> {
    vec![BaselineMove {
        suite: suite(),
        agent: agent(),
        metric: "recall".to_owned(),
        unit: Unit::Share,
        before: Some(0.9),
        after: Some(0.8),
        turn,
    }]
}
