//! The line among a commit's checks: `neutral` where a tier that does not block got worse.

use crate::model::{Authority, Report, Ruling, Verdict};
use crate::publish;
use crate::render::markdown::Links;
use crate::render::words;
use crate::world::{CheckRun, Conclusion, GitHub, GitHubError, World};

/// GitHub's limit of a check run's summary, in bytes.
const LIMIT: usize = 65_535;

/// Writes the check run. A run that blocks has the job itself for that; one that does not would leave a regression in a
/// comment that nobody has to open.
pub fn check_run(world: &World, github: Option<&GitHub>, report: &Report, links: &Links) {
    let (Some(github), Some(head), Authority::Advisory) = (github, &report.commit, report.authority) else { return };
    match written(github, head, report, links) {
        Ok(()) => {}
        Err(GitHubError::Forbidden | GitHubError::Missing) if worse(report) => world.say(
            "::notice title=goldgate::the regression is in no check run: that needs the permission `checks: write`\n",
        ),
        Err(GitHubError::Forbidden | GitHubError::Missing) => {}
        Err(GitHubError::Failed(error)) => {
            let text = format!("the check run could not be written: {error:#}; the verdict stands");
            world.say(&format!("::warning title=goldgate::{}\n", text.replace(['\r', '\n'], " ")));
        }
    }
}

fn worse(report: &Report) -> bool {
    report.verdict == Ruling::Judged(Verdict::Fail)
}

fn written(github: &GitHub, head: &str, report: &Report, links: &Links) -> Result<(), GitHubError> {
    let tier = report.tiers.first().map_or("deterministic", |tier| tier.as_str());
    let name = format!("goldgate ({tier})");
    let standing = github.check_run(head, &name)?;
    let conclusion = match (worse(report), standing) {
        (true, _) => Conclusion::Neutral,
        // A repeated run on the same commit takes back what the first one said.
        (false, Some(_)) if report.called_off.is_none() => Conclusion::Success,
        // A run that was called off takes nothing back.
        (false, Some(_) | None) => return Ok(()),
    };
    let (title, summary) = (words::headline(report), publish::summary_within(report, links, LIMIT));
    github.write_check_run(standing, &CheckRun { name: &name, head, conclusion, title: &title, summary: &summary })
}
