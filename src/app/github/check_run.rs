//! Check runs of a commit: `neutral` if an advisory tier got worse, and the verdict of the trusted gate where the workflow asks for it.

use super::pull_request_context::needs;
use crate::app::cli_error::CliError;
use crate::model::{Authority, Report};
use crate::publish;
use crate::publish::ConfigKey;
use crate::render::markdown::Links;
use crate::render::words;
use crate::world::{CheckRun, Conclusion, GitHub, GitHubError, World};

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

/// The check run that has the verdict of the trusted gate. It is in progress from the start, so that a job that is stopped leaves no
/// older verdict of another base branch as the newest.
pub struct VerdictCheck<'a> {
    github: &'a GitHub,
    head: String,
    name: String,
    id: u64,
}

impl<'a> VerdictCheck<'a> {
    /// Starts the check run of this name on a commit.
    ///
    /// # Errors
    /// A failed request.
    pub fn start(github: &'a GitHub, name: String, head: String) -> Result<Self, CliError> {
        let id = github
            .start_check_run(&head, &name)
            .map_err(needs("the check run cannot be written", PERMISSION))?;
        Ok(Self {
            github,
            head,
            name,
            id,
        })
    }

    /// Ends the check run with the verdict. Everything but a pass blocks.
    ///
    /// # Errors
    /// A failed request.
    pub fn finish(
        &self,
        outcome: &Result<(u8, Report), CliError>,
        links: &dyn Fn(&Report) -> Links,
    ) -> Result<(), CliError> {
        let (conclusion, title, summary) = match outcome {
            Ok((code, report)) => {
                let conclusion = if *code == 0 {
                    Conclusion::Success
                } else {
                    Conclusion::Failure
                };
                (
                    conclusion,
                    words::headline(report),
                    publish::summary_within(report, &links(report), LIMIT),
                )
            }
            Err(error) => {
                let said: String = error
                    .messages()
                    .join("\n\n")
                    .chars()
                    .take(LIMIT / 4)
                    .collect();
                (Conclusion::Failure, "No verdict".to_owned(), said)
            }
        };
        let run = CheckRun {
            name: &self.name,
            head: &self.head,
            conclusion,
            title: &title,
            summary: &summary,
        };
        let written = self.github.write_check_run(Some(self.id), &run);
        written.map_err(needs("the check run cannot be written", PERMISSION))
    }
}
