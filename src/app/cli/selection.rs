//! The filters of several commands.

use clap::Args;

use crate::diag::Diagnostics;
use crate::evaluation::selection::{Selection, patterns};

/// Filters for suites and agents; without filters all are selected.
#[derive(Args, Debug, Clone)]
pub struct AgentSelectionArgs {
    /// Only this suite; may be repeated
    #[arg(long, value_name = "ID")]
    pub suite: Vec<String>,
    /// Only this agent; may be repeated
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
}

/// Filters for suites, agents and cases; without filters all are selected.
#[derive(Args, Debug, Clone)]
pub struct SelectionArgs {
    /// Which suites and agents.
    #[command(flatten)]
    pub agents: AgentSelectionArgs,
    /// Only cases whose id matches; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub case: Vec<String>,
    /// Only cases with this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
}

impl SelectionArgs {
    /// The filters for suites, agents and cases, without tiers.
    pub fn chosen(&self) -> Result<Selection, Diagnostics> {
        Ok(Selection {
            suites: self.agents.suite.clone(),
            agents: self.agents.agent.clone(),
            cases: patterns(&self.case)?,
            tags: self.tag.clone(),
            ..Selection::default()
        })
    }
}
