//! `goldgate calibrate`: what the recorded cases and samples can tell.

use crate::app::cli::CalibrateArgs;
use crate::diag::{Code, Diagnostic};
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::selection::Selection;
use crate::model::{AgentReport, Tier};
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
    let has_cases = |agent: &AgentReport| !agent.cases.is_empty();
    let shown = report.suite_agents().filter(|(_, agent)| has_cases(agent));
    let text: String = shown
        .map(|(suite, agent)| agent_sensitivity(suite, agent))
        .collect();
    if text.is_empty() {
        let what = "no selected agent has a case that counts";
        let help = "accept drafts with `goldgate review`, or correct --suite or --agent";
        return Err(Diagnostic::of_command_line(Code::NOTHING_SELECTED, what, help).into());
    }
    world.say(&text);
    world.keep(suites);
    Ok(0)
}
