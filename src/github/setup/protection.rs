//! Who is stopped by a required check: the rows of the table in docs/branch-protection.md that the settings show.

use super::gate_step::GateStep;
use crate::files::Files;
use crate::github::client::{BranchRules, OwnerReview};
use crate::model::RepoPath;
use crate::world::Disk;

/// Where GitHub looks for the code owners (docs, "About code owners").
const OWNERS: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/// The patterns that name the folder of the workflows, or all of what it is in.
const WORKFLOWS: [&str; 6] = [
    "*",
    ".github",
    ".github/",
    ".github/**",
    ".github/workflows/",
    ".github/workflows/**",
];

/// Says of each kind of person whether the gate stops one, as far as the settings show it.
pub fn stopped(disk: &Disk, gates: &[GateStep<'_>], rules: &BranchRules) -> Vec<String> {
    let is_trusted = gates.iter().filter(|gate| gate.decides()).all(|gate| {
        gate.pull_request_triggers()
            .all(|(_, event, _)| event == "pull_request_target")
    });
    let author = match (is_trusted, rules.owners) {
        (true, _) => "stopped, by pull_request_target",
        (false, OwnerReview::Required) if has_owners(disk) => {
            "stopped, by the review of code owners"
        }
        (false, OwnerReview::Required | OwnerReview::NotSeen) => "not stopped",
    };
    vec![
        "a mistake: stopped, by the required check".to_owned(),
        format!("an author who edits the workflow in the pull request: {author}"),
        "a collaborator whose workflow has checks: write: not seen to be stopped; docs/branch-protection.md says what does".to_owned(),
    ]
}

/// Whether the workflows have code owners in the file that counts, which is the first one. The last line that matches counts.
fn has_owners(disk: &Disk) -> bool {
    let file = OWNERS.iter().find_map(|place| {
        let path = RepoPath::root().join(place).ok()?;
        disk.text(&path).ok()
    });
    let owners = file.and_then(|file| {
        file.text
            .lines()
            .filter_map(owners_of_workflows)
            .next_back()
    });
    owners.is_some_and(|owners| owners > 0)
}

/// The number of owners that a line gives to the workflows; `None` if it is about other files.
fn owners_of_workflows(line: &str) -> Option<usize> {
    let mut words = line.split_whitespace();
    let pattern = words.next()?.trim_start_matches('/');
    let owners = words.take_while(|word| !word.starts_with('#')).count();
    WORKFLOWS.contains(&pattern).then_some(owners)
}
