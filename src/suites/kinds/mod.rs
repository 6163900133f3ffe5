//! The kinds of suites, one folder each.

pub mod cross_agent;
pub mod custom;
pub mod evidence;
pub mod findings;
pub mod interview;
pub mod property;
pub mod reconciliation;
pub mod revision;
pub mod stochastic;
pub mod tool_use;
pub mod triggers;
