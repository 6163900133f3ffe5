//! The approval of a push or a merge group: that of the pull requests whose changes it contains.
//!
//! An approval belongs to the head of a pull request, and nobody saw the commit of a push or of a merge group. So it counts only for what
//! its giver saw. The files that the pull request changed have to be here as they are at its head. Either the whole result is the
//! approved one, or every part of it that needs an approval is part of an approved result: an agent with all of its samples and
//! numbers, a golden change in the same words.

use std::collections::BTreeSet;

use super::approval_query::ApprovalQuery;
use super::approved_results::{approved_result_of, named_parts, unread};
use super::changed_files::changed_files;
use super::contained_pulls::{ContainedPull, contained_pulls};
use super::measured_run::RunQuery;
use super::merged_approvals::approval_of_merges;
use super::read_paths::wanted_by;
use crate::app::cli_error::CliError;
use crate::app::pipeline::graded_run::GradedRun;
use crate::format::event::Event;
use crate::model::{Approval, RepoPath, Report, Ruling, Verdict, Weight};
use crate::publish::approval::ApprovalScope;
use crate::publish::{ConfigKey, approval};
use crate::render::line;
use crate::report;
use crate::world::{Blob, ComparedFile, GitHub, GitHubError, Tree};

/// The permissions that the approvals of other commits need.
const PERMISSION: &str = "pull-requests: read`, `statuses: read` and `actions: read";
/// The longest name of a file in a note, in characters.
const LONGEST: usize = 120;

/// Returns the approval that the pull requests of a push or a merge group give to its result. Without the permission to read it, adds a
/// note and returns `None`.
///
/// # Errors
/// A failed request.
pub fn approval_of_contained(
    github: &GitHub,
    query: &ApprovalQuery<'_>,
    done: &mut GradedRun,
) -> Result<Option<Approval>, CliError> {
    if passes(&done.report) {
        return Ok(None);
    }
    let ApprovalQuery { key, event, .. } = *query;
    let pulls = match contained_pulls(github, event) {
        Ok(pulls) => pulls,
        Err(error) => return unread(error, PERMISSION, done),
    };
    let found = match (JointApproval {
        github,
        key,
        event,
        done,
    })
    .find(&pulls)
    {
        Ok(found) => found,
        Err(error) => return unread(error, PERMISSION, done),
    };
    match found {
        Ok(approval) => return Ok(Some(approval)),
        Err(notes) => done.report.notes.extend(notes),
    }
    Ok(pulls
        .iter()
        .find_map(|pull| approval_of_merges(github, query, pull.number, done)))
}

/// Whether nothing has to be approved.
fn passes(report: &Report) -> bool {
    report.verdict == Ruling::Judged(Verdict::Pass) && report.unapproved().next().is_none()
}

struct JointApproval<'a> {
    github: &'a GitHub,
    key: &'a ConfigKey,
    event: &'a Event,
    done: &'a GradedRun,
}

/// A pull request with the approval of its head.
struct ApprovedPull<'a> {
    pull: &'a ContainedPull,
    approval: Approval,
    /// The files that it changed.
    files: BTreeSet<String>,
}

/// The approval, or the notes that say why there is none.
type FoundApproval = Result<Approval, Vec<String>>;

impl JointApproval<'_> {
    fn find(&self, pulls: &[ContainedPull]) -> Result<FoundApproval, GitHubError> {
        let Some(identity) = self.github.identity() else {
            let note = "approvals cannot be checked, because GitHub does not say which account the token belongs to";
            return Ok(Err(vec![note.to_owned()]));
        };
        let baseline = self.done.config.baseline.as_ref();
        let digest = report::result_digest(&self.done.report, baseline);
        let (mut approved, mut notes) = (Vec::new(), Vec::new());
        for pull in pulls {
            let statuses = self.github.statuses(&pull.head)?;
            let scope = ApprovalScope {
                key: self.key,
                identity,
                pull: Some(pull.number),
            };
            let standing = approval::all_standing(&statuses, scope, &pull.head);
            let of_result = standing.iter().find(|approval| approval.digest == digest);
            let Some(approval) = of_result.or(standing.first()).cloned() else {
                continue;
            };
            match self.whole(pull)? {
                Ok(files) => approved.push(ApprovedPull {
                    pull,
                    approval,
                    files,
                }),
                Err(why) => notes.push(why),
            }
        }
        let whole = approved
            .iter()
            .find(|one| one.approval.digest == digest && self.has_baseline(one));
        if let Some(ApprovedPull { approval, .. }) = whole {
            return Ok(Ok(approval.clone()));
        }
        let mut results: Vec<Report> = Vec::new();
        for one in &approved {
            results.extend(self.approved_result(one)?);
        }
        let left = report::uncovered(&self.done.report, &results);
        if left.is_empty() && !results.is_empty() {
            return Ok(Ok(joint(&approved, digest)));
        }
        if !approved.is_empty() || (self.event.push.is_some() && notes.is_empty()) {
            notes.push(self.refusal(&approved, &left));
        }
        Ok(Err(notes))
    }

    /// The files that a pull request changed, if all of them that grading may read are here as they are at its head. Otherwise the
    /// reason, as a note.
    fn whole(&self, pull: &ContainedPull) -> Result<Result<BTreeSet<String>, String>, GitHubError> {
        let (Some(base), Some(head)) = (&self.event.base, &self.event.head) else {
            return Ok(Ok(BTreeSet::new()));
        };
        let refuse = |why: &str| {
            let advice = match self.event.push {
                Some(_) => "",
                None => ": update its branch and add the label again",
            };
            Ok(Err(format!(
                "the approval of pull request {} does not count, because {why}{advice}",
                pull.number
            )))
        };
        let Some(files) = changed_files(self.github, base, &pull.head)? else {
            return refuse("it changes more files than GitHub lists");
        };
        if files.is_empty() {
            return Ok(Ok(BTreeSet::new()));
        }
        let Some(tree) = self.github.tree(head)? else {
            return refuse("the commit has more files than GitHub lists in one response");
        };
        let configs = [&self.done.config];
        let is_read = wanted_by(&configs, None);
        let changed = |file: &&ComparedFile| path(&file.path).is_none_or(|path| is_read(&path));
        match files
            .iter()
            .filter(changed)
            .find(|file| !is_here(file, &tree))
        {
            Some(other) => refuse(&format!(
                "another change touched {} as well",
                line(&other.path, LONGEST)
            )),
            None => Ok(Ok(files.into_iter().map(|file| file.path).collect())),
        }
    }

    /// Whether a changed baseline file is the pull request's own: the digest of a result does not contain that file.
    fn has_baseline(&self, one: &ApprovedPull<'_>) -> bool {
        let Some(file) = &self.done.config.baseline else {
            return true;
        };
        let changes = self.done.report.golden_changes.iter();
        let mut of_baseline = changes.filter(|change| change.file.as_ref() == Some(file));
        of_baseline.all(|change| change.weight == Weight::Listed)
            || one.files.contains(file.as_str())
    }

    /// The result that was approved, from the artifact of its run.
    fn approved_result(&self, one: &ApprovedPull<'_>) -> Result<Option<Report>, GitHubError> {
        let Some(config) = &self.done.report.config else {
            return Ok(None);
        };
        let number = Some(one.pull.number);
        let query = RunQuery {
            number,
            commit: &one.pull.head,
            config,
            key: self.key,
            before: None,
            result: None,
        };
        approved_result_of(self.github, &query, &one.approval, self.done)
    }

    fn refusal(&self, approved: &[ApprovedPull<'_>], left: &[String]) -> String {
        let left = named_parts(left);
        match (self.event.push.is_some(), approved.first()) {
            (true, None) => {
                format!("no pull request merged with this commit was approved for this: {left}")
            }
            (true, Some(_)) => {
                format!(
                    "the approvals of the pull requests merged with this commit do not cover this: {left}"
                )
            }
            (false, first) => format!(
                "the approval of pull request {} does not count, because it is for another result than this merge group's. No approval in the \
                 queue covers this: {left}. Update its branch and add the label again",
                first.map_or(0, |one| one.pull.number)
            ),
        }
    }
}

/// The approvals as one. The newest says the commit and the time.
fn joint(approved: &[ApprovedPull<'_>], digest: String) -> Approval {
    let by = approved
        .iter()
        .map(|one| format!("{} on pull request {}", one.approval.by, one.pull.number));
    let by = by.collect::<Vec<_>>().join(", ");
    let newest = approved
        .iter()
        .map(|one| &one.approval)
        .max_by(|one, other| one.at.cmp(&other.at));
    let (at, head) = newest.map_or_else(Default::default, |one| (one.at.clone(), one.head.clone()));
    Approval {
        by,
        at,
        head,
        digest,
        reason: None,
    }
}

fn path(text: &str) -> Option<RepoPath> {
    RepoPath::root().join(text).ok()
}

/// Whether a commit has a changed file with the content of the pull request's head.
fn is_here(file: &ComparedFile, tree: &Tree) -> bool {
    let has = |name: &str| path(name).and_then(|path| tree.get(&path));
    let is_moved = file
        .previous
        .as_deref()
        .is_none_or(|previous| has(previous).is_none());
    is_moved
        && match (has(&file.path), &file.blob) {
            (None, None) => true,
            (Some(Blob::File(here)), Some(blob)) => here == blob,
            (Some(Blob::Link), Some(_)) | (Some(_), None) | (None, Some(_)) => false,
        }
}
