//! The commit of an approved baseline: what it is computed from, the approvals that move on to it, and how they are found again if the
//! job was stopped between the commit and its status.

use super::measured_run::{MeasuredRun, RunQuery, evidence};
use super::pull_request_context::{PullRequestContext, baseline_of, log, needs};
use crate::app::cli_error::CliError;
use crate::app::pipeline::baseline;
use crate::files::sha256_hex;
use crate::format::baseline_v1;
use crate::model::{
    Approval, Baseline, BranchOrigin, PullRequestDetails, PullState, RepoPath, StatusState,
};
use crate::publish::approval::{ApprovalScope, NoResult};
use crate::publish::bump::{BumpInput, BumpPlan, MeasuredBaseline};
use crate::publish::{ConfigKey, approval, bump};
use crate::text::short_commit;
use crate::world::{GitHubError, Tree};
use crate::{publish, report};

/// The baseline file on both sides.
pub struct BaselineFiles {
    /// Its path.
    pub file: RepoPath,
    before: Option<Baseline>,
    before_sha256: Option<String>,
    committed: Option<Baseline>,
}

impl BaselineFiles {
    /// Reads the baseline at the tip of the base branch, and at a head. `None` if the config names no baseline.
    ///
    /// # Errors
    /// An invalid config or baseline of the base branch, or a failed request.
    pub fn read(context: &PullRequestContext<'_>, head: &str) -> Result<Option<Self>, CliError> {
        context
            .baseline_file()?
            .map(|file| Self::at(context, file, head))
            .transpose()
    }

    fn at(context: &PullRequestContext<'_>, file: RepoPath, head: &str) -> Result<Self, CliError> {
        let before = context.file(&file, &context.base)?;
        let committed = context.file(&file, head)?;
        Ok(Self {
            before: baseline_of(&file, before.as_ref())?,
            before_sha256: before.as_ref().map(|bytes| sha256_hex(bytes)),
            // An invalid file counts as missing and is replaced.
            committed: baseline_of(&file, committed.as_ref()).ok().flatten(),
            file,
        })
    }

    /// Plans the commit for a result and its approval.
    pub fn plan(
        &self,
        context: &PullRequestContext<'_>,
        pull: &PullRequestDetails,
        standing: Option<&Approval>,
        found: Result<MeasuredRun, NoResult>,
    ) -> BumpPlan {
        bump::plan(&BumpInput {
            pull,
            head: &context.seen.head,
            standing,
            result: found.map(|found| self.computed(found)),
            before: self.before.as_ref(),
            before_sha256: self.before_sha256.clone(),
            committed: self.committed.as_ref(),
            reason: publish::reason(&pull.description),
        })
    }

    fn computed(&self, found: MeasuredRun) -> MeasuredBaseline {
        let MeasuredRun {
            report,
            written,
            run: _,
            at: _,
            artifact: _,
        } = found;
        let before = self.before.as_ref();
        MeasuredBaseline {
            digest: report::result_digest(&report, Some(&self.file)),
            proposed: baseline::proposed(before, &report),
            written,
            moves: publish::moves(before, &report),
        }
    }
}

/// Moves the approvals of a commit on to the commit of a baseline on top of it: first those of other configs, whose results it does not
/// change, then this config's. While the last one is missing, a later run finds all of them again.
///
/// # Errors
/// A failed request.
pub fn carry_on(
    context: &PullRequestContext<'_>,
    from: &str,
    to: &str,
    own: &str,
) -> Result<(), CliError> {
    carry_others(context, &context.key, from, to)?;
    context.record(to, StatusState::Success, own)
}

/// Moves the approvals of all configs but one.
fn carry_others(
    context: &PullRequestContext<'_>,
    last: &ConfigKey,
    from: &str,
    to: &str,
) -> Result<(), CliError> {
    let statuses = context.statuses(from)?;
    let identity = context.github.identity().unwrap_or_default();
    let mut keys: Vec<ConfigKey> = Vec::new();
    for key in statuses
        .iter()
        .filter_map(|status| ConfigKey::of_status(&status.context))
    {
        if key != *last && !keys.contains(&key) {
            keys.push(key);
        }
    }
    for key in keys {
        let scope = ApprovalScope {
            key: &key,
            identity,
            pull: Some(context.pull.number),
        };
        if let Some(other) = approval::standing(&statuses, scope, from) {
            let description = approval::description(&other.by, &other.digest, context.pull.number);
            context.record_for(&key, to, StatusState::Success, &description)?;
        }
    }
    Ok(())
}

/// Moves the approvals on to the head if that is the commit of `mode: bump` on top of the approved one, and its job was stopped before
/// the statuses were set. It may be the commit of another config than this step's. Nothing of the commit is believed: it has to be, byte for
/// byte, what is computed here, and nothing else.
///
/// # Errors
/// A failed request.
pub fn recover_approval(context: &PullRequestContext<'_>) -> Result<(), CliError> {
    let pull = &context.pull;
    let is_asked = pull.state == PullState::Open
        && pull.origin == BranchOrigin::Same
        && context.set_label(&context.inputs.approving.label).is_some();
    if !is_asked || context.current_approval(&pull.head)?.is_some() {
        return Ok(());
    }
    let parents = context.github.parents(&pull.head).map_err(unread())?;
    let [parent] = parents.as_slice() else {
        return Ok(());
    };
    let statuses = context.statuses(parent)?;
    let mut keys: Vec<ConfigKey> = vec![context.key.clone()];
    for key in statuses
        .iter()
        .filter_map(|status| ConfigKey::of_status(&status.context))
    {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let identity = context.github.identity().unwrap_or_default();
    for key in keys {
        let scope = ApprovalScope {
            key: &key,
            identity,
            pull: Some(pull.number),
        };
        let Some(approval) = approval::standing(&statuses, scope, parent) else {
            continue;
        };
        let Some(description) = bumped_by(context, &key, &approval, parent)? else {
            continue;
        };
        log(
            context.world,
            &format!(
                "{} is the commit of the approved baseline",
                short_commit(&pull.head)
            ),
        );
        carry_others(context, &key, parent, &pull.head)?;
        // While this one is missing, a later run finds all of them again.
        return context.record_for(&key, &pull.head, StatusState::Success, &description);
    }
    Ok(())
}

fn unread() -> impl Fn(GitHubError) -> CliError {
    needs("the head's parent cannot be read", "contents: read")
}

/// Returns the description of the approval's status, if the head is the commit of an approved baseline of this config.
fn bumped_by(
    context: &PullRequestContext<'_>,
    key: &ConfigKey,
    approval: &Approval,
    parent: &str,
) -> Result<Option<String>, CliError> {
    let pull = &context.pull;
    let found = |config: &RepoPath| {
        let query = RunQuery {
            number: Some(pull.number),
            commit: parent,
            config,
            key,
            before: None,
            result: None,
        };
        evidence(&context.github, &query)
            .map_err(needs("the run's artifact cannot be read", "actions: read"))
    };
    let (config, found) = match found(&context.config)? {
        // The report of another config names it; the digest of the approval contains that name.
        Err(NoResult::OtherConfig(Some(other))) if *key != context.key => {
            match RepoPath::root().join(&other) {
                Ok(config) => (config.clone(), found(&config)?),
                Err(_) => return Ok(None),
            }
        }
        found => (context.config.clone(), found),
    };
    let file = match *key == context.key {
        true => context.baseline_file()?,
        false => context.baseline_file_of(&config)?,
    };
    let Some(file) = file else { return Ok(None) };
    let files = BaselineFiles::at(context, file, parent)?;
    let approved = PullRequestDetails {
        head: parent.to_owned(),
        ..pull.clone()
    };
    let plan = files.plan(context, &approved, Some(approval), found);
    let BumpPlan::Commit {
        baseline,
        by,
        digest,
        ..
    } = plan
    else {
        return Ok(None);
    };
    let committed = context.file(&files.file, &pull.head)?;
    if committed.as_deref() != Some(baseline_v1::written(&baseline).as_bytes()) {
        return Ok(None);
    }
    let tree = |commit: &str| context.github.tree(commit).map_err(unread());
    let (Some(before), Some(after)) = (tree(parent)?, tree(&pull.head)?) else {
        return Ok(None);
    };
    let is_alone = without(before, &files.file) == without(after, &files.file);
    Ok(is_alone.then(|| approval::description(&by, &digest, pull.number)))
}

fn without(mut tree: Tree, file: &RepoPath) -> Tree {
    tree.remove(file);
    tree
}
