//! `goldgate explain`: one case, graded and told.

use super::cli::ExplainArgs;
use super::live;
use super::plan::Wanted;
use super::run;
use super::run::Job;
use super::trouble::Trouble;
use crate::model::Authority;
use crate::model::Tier;
use crate::render::explain as render;
use crate::world::World;

/// Grades the cases of one id and tells what happened.
///
/// # Errors
/// Bad input, or a case that does not exist.
pub fn explain(args: &ExplainArgs, world: &World) -> Result<u8, Trouble> {
    let wanted = Wanted {
        tiers: vec![Tier::Deterministic],
        suites: args.suite.clone(),
        agents: args.agent.clone(),
        cases: run::patterns(std::slice::from_ref(&args.case))?,
        samples: None,
    };
    let job = Job {
        config: args.config.clone(),
        wanted,
        authority: Authority::Advisory,
        commit: None,
        base: None,
        live: live::Options::NONE,
    };
    let done = run::done(&job, world, &|disk, configured| run::baseline_here(None, disk, configured))?;
    world.say(&render::explain(&done.report));
    Ok(0)
}
