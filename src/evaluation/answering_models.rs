//! The models and prompt packages that answered a set of runs.

use std::collections::BTreeSet;

use crate::model::{AnsweredBy, Run};

/// The models and prompt packages that answered; several are joined by `+`.
#[derive(Default)]
pub struct AnsweringModels {
    models: BTreeSet<String>,
    prompts: BTreeSet<String>,
}

impl AnsweringModels {
    pub fn add_run(&mut self, run: &Run) {
        self.models.extend(run.provenance.model.clone());
        self.prompts.extend(run.provenance.agent_sha256.clone());
    }

    pub fn add(&mut self, pair: &AnsweredBy) {
        self.models.extend(pair.model.clone());
        self.prompts.extend(pair.agent_sha256.clone());
    }

    pub fn together(self) -> AnsweredBy {
        AnsweredBy {
            model: joined(self.models),
            agent_sha256: joined(self.prompts),
        }
    }
}

fn joined(names: BTreeSet<String>) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    Some(names.into_iter().collect::<Vec<_>>().join("+"))
}
