//! Check runs of a commit: `neutral` if an advisory tier got worse.

use crate::github::client::{CheckRun, Conclusion, GitHub, GitHubError};
use crate::model::{Authority, Report};
use crate::publish;
use crate::publish::ConfigKey;
use crate::render::markdown::Links;
use crate::render::words;
use crate::world::World;

/// GitHub's limit for the summary of a check run, in bytes.
const LIMIT: usize = 65_535;
/// The permission that a check run needs.
const PERMISSION: &str = "checks: write";

/// Writes the check run of an advisory run. A blocking run reports by the job's own status; without a check run, the regression
/// of an advisory run would only be in the comment.
pub fn check_run(
    world: &World,
    github: Option<&GitHub>,
    key: &ConfigKey,
    report: &Report,
    links: &Links,
) {
    let (Some(github), Some(head), Authority::Advisory) =
        (github, &report.commit, report.authority)
    else {
        return;
    };

    match written(github, head, key, report, links) {
        Ok(()) => {}
        Err(error) if error.is_denied() => {
            if worse(report) {
                let why = error.explained("the regression is not shown as a check run", PERMISSION);
                world.command(&format!("::notice title=goldgate::{why:#}\n"));
            }
        }
        Err(error) => {
            let error = error.explained("the check run could not be written", PERMISSION);
            let text = format!("{error:#}; the verdict does not change");
            world.command(&format!(
                "::warning title=goldgate::{}\n",
                text.replace(['\r', '\n'], " ")
            ));
        }
    }
}

fn worse(report: &Report) -> bool {
    report.verdict.fails()
}

fn written(
    github: &GitHub,
    head: &str,
    key: &ConfigKey,
    report: &Report,
    links: &Links,
) -> Result<(), GitHubError> {
    let tier = report
        .tiers
        .first()
        .map_or("deterministic", |tier| tier.as_str());
    let name = key.check(tier);
    let existing = github.check_run(head, &name)?;
    let conclusion = match (worse(report), existing) {
        (true, _) => Conclusion::Neutral,
        // A repeated run on the same commit replaces the conclusion of the first one.
        (false, Some(_)) if report.called_off.is_none() => Conclusion::Success,
        // An interrupted run replaces nothing.
        (false, Some(_) | None) => return Ok(()),
    };
    let (title, summary) = (
        words::headline(report),
        publish::summary_within(report, links, LIMIT),
    );
    github.write_check_run(
        existing,
        &CheckRun {
            name: &name,
            head,
            conclusion,
            title: &title,
            summary: &summary,
        },
    )
}
