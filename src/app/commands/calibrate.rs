//! `goldgate calibrate`: what the recorded cases and samples can tell.

use crate::app::cli::CalibrateArgs;
use crate::diag::{Code, Diagnostic};
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::selection::Selection;
use crate::model::Tier;
use crate::render::CliError;
use crate::render::sensitivity::agent_sensitivity;
use crate::workspace::worktree::graded_recordings;
use crate::world::World;

/// Prints, for each agent, where its pass rate lies, what a loss in it would look like, and what more samples would do.
///
/// # Errors
/// Recordings that cannot be read, or no agent with a case that counts.
pub fn calibrate(args: &CalibrateArgs, world: &World) -> Result<u8, CliError> {
    let wanted = Selection {
        tiers: vec![Tier::Deterministic],
        suites: args.agents.suite.clone(),
        agents: args.agents.agent.clone(),
        ..Selection::default()
    };
    let GradedRun { report, suites, .. } = graded_recordings(&args.config, wanted, world)?;
    let mut text = String::new();
    for (suite, agent) in report.suite_agents() {
        if !agent.cases.is_empty() {
            text.push_str(&agent_sensitivity(suite, agent));
        }
    }
    if text.is_empty() {
        let message = "no selected agent has a case that counts";
        let help = "accept drafts with `goldgate review`, or correct --suite or --agent";
        return Err(Diagnostic::of_command_line(Code::NOTHING_SELECTED, message, help).into());
    }
    world.say(&text);
    world.keep(suites);
    Ok(0)
}
