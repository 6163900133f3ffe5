//! `goldgate explain`: one case, graded and told, or what a live agent is asked about it.

use super::cli::ExplainArgs;
use super::plan::Wanted;
use super::plan::plan;
use super::run;
use super::selection;
use super::trouble::Trouble;
use crate::diag::Diagnostics;
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
        cases: selection::patterns(std::slice::from_ref(&args.case))?,
        ..Wanted::default()
    };
    if args.asked {
        return asked(&args.config, Wanted { tiers: Vec::new(), ..wanted }, world);
    }
    world.say(&render::explain(&run::as_recorded(&args.config, wanted, world)?));
    Ok(0)
}

/// Tells what a live agent is asked in each run of the cases.
fn asked(config: &str, wanted: Wanted, world: &World) -> Result<u8, Trouble> {
    let (disk, file) = run::located(config)?;
    let plan = plan(&disk, &file, wanted, &world.clock)?;
    let (mut problems, mut out) = (Diagnostics::default(), String::new());
    for opened in &plan.suites {
        for place in opened.chosen(&plan.wanted) {
            for (run, key) in opened.suite.pairs()[place].runs.iter().enumerate() {
                if let Some(ask) = problems.keep(opened.suite.ask(place, run, &disk)) {
                    out.push_str(&render::asked(key, ask.as_ref()));
                }
            }
        }
    }
    problems.or(())?;
    world.say(&out);
    Ok(0)
}
