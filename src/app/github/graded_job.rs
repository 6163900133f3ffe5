//! Grades the checkout of a job, looks for an approval, and publishes the result.

use super::approval_query::ApprovalQuery;
use super::current_pull_request::{CheckoutMerge, TestMerge};
use super::environment::{event_of, github};
use super::gained_cases::name_gained_cases;
use super::inputs::{ActionInputs, ActionMode, inside, path_of_input};
use super::other_pull_requests::judge_others;
use super::published_run::{PublishPlace, learn_identity, publish_result};
use super::pull_request_context::needs;
use super::{current_pull_request, pushed_commits, recorded_approval};
use crate::app::cli_error::CliError;
use crate::app::live;
use crate::app::pipeline::baseline;
use crate::app::pipeline::baseline::{Need, load};
use crate::app::pipeline::graded_run::GradedRun;
use crate::app::pipeline::run_options::RunOptions;
use crate::app::pipeline::selection::Selection;
use crate::app::worktree::{BaseSource, grade_worktree, own_history};
use crate::diag::Diagnostic;
use crate::files::SourceText;
use crate::format::baseline_v1;
use crate::format::event::Event;
use crate::model::{Baseline, RepoPath, Report, Tier};
use crate::text::short_commit;
use crate::world::{BaseTree, CheckoutObjects, Disk, GitHub, World, head_commit};

/// The context of a job that grades a checkout.
pub(super) struct JobContext<'a> {
    pub(super) world: &'a World,
    pub(super) inputs: &'a ActionInputs,
    pub(super) workspace: String,
    pub(super) github: Option<GitHub>,
    pub(super) event: Event,
    /// Why nothing is compared, if a reader has to know it.
    remark: Option<&'static str>,
    /// The test merge to read as data, because the checkout is another commit.
    pub(super) merge: Option<TestMerge>,
}

impl<'a> JobContext<'a> {
    pub(super) fn open(world: &'a World, inputs: &'a ActionInputs) -> Result<Self, CliError> {
        let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".").to_owned();
        let github = github(&world.env)?;
        let event = event_of(&world.env)?;
        let context = Self {
            world,
            inputs,
            workspace,
            github,
            event,
            remark: None,
            merge: None,
        };
        let Some(github) = &context.github else {
            return context.without_token();
        };
        if let Some(push) = context.event.push.clone().filter(|_| inputs.is_compared()) {
            let (event, remark) = pushed_commits::pushed(context.event.clone(), &push, github)?;
            return Self {
                event,
                remark,
                ..context
            }
            .of_its_commit();
        }
        let is_by_hand = context.event.pull_request.is_none() && context.event.base.is_none();
        if is_by_hand && inputs.is_compared() {
            return match current_pull_request::dispatched_merge(&world.env, github)? {
                Some((event, merge)) => context.of_merge(event, merge),
                None => {
                    let event =
                        pushed_commits::unattached(&world.env, context.event.clone(), github)?;
                    Self { event, ..context }.of_its_commit()
                }
            };
        }
        let config = inside(&context.workspace, &inputs.config);
        let (disk, _) = Disk::of_config(&config)?;
        own_history(&disk, &config)?;
        let here = head_commit(&disk);
        if !disk.is_repository()
            && context.event.pull_request.is_some()
            && inputs.tiers.contains(&Tier::Deterministic)
        {
            let (event, merge) = context.merge_of_unknown_checkout(github)?;
            return Ok(Self {
                event,
                merge: Some(merge),
                ..context
            });
        }
        let found = current_pull_request::checked_out(
            &world.env,
            context.event.clone(),
            github,
            here.as_deref(),
        )?;
        match found {
            CheckoutMerge::Current(event)
                if event.pull_request.is_none() && inputs.is_compared() =>
            {
                Self {
                    event: *event,
                    ..context
                }
                .of_its_commit()
            }
            CheckoutMerge::Current(event) => Ok(Self {
                event: *event,
                ..context
            }),
            CheckoutMerge::Outdated(outdated) if context.can_read_data() => {
                let (event, merge) = outdated.current(github)?;
                Ok(Self {
                    event,
                    merge: Some(merge),
                    ..context
                })
            }
            CheckoutMerge::Outdated(outdated) => Err(outdated.refusal()),
        }
    }

    /// The same with the base commit of the shards of a merge group, if that is still one: since they were graded, the queue may have merged the
    /// group in front, which moves the base commit on.
    ///
    /// # Errors
    /// A failed request.
    pub(super) fn with_base_of_shards(self, base: Option<&str>) -> Result<Self, CliError> {
        let Event {
            into: Some(into),
            head: Some(head),
            queued: Some(_),
            ..
        } = &self.event
        else {
            return Ok(self);
        };
        let (Some(base), Some(github)) = (base, &self.github) else {
            return Ok(self);
        };
        let unread = needs(
            "the base commit of the shards cannot be read",
            "contents: read",
        );
        let has_base = || Ok(github.branch_has(into, base)? && github.has_commit(head, base)?);
        if self.event.base.as_deref() == Some(base) || !has_base().map_err(unread)? {
            return Ok(self);
        }
        let event = Event {
            base: Some(base.to_owned()),
            ..self.event.clone()
        };
        Ok(Self { event, ..self })
    }

    /// Without a token the base commit of a pull request, a merge group or a push cannot be read.
    fn without_token(self) -> Result<Self, CliError> {
        let has_base = self.event.base.is_some() || self.event.push.is_some();
        if has_base && self.inputs.is_compared() {
            let what = "no verdict: the token is missing or empty, so the base commit, whose rules and baseline count, cannot be read; set the \
                        input token (a secret is empty in the runs of forks and of Dependabot, github.token is not)";
            return Err(anyhow::anyhow!(what).into());
        }
        Ok(self)
    }

    /// Whether this job can read another commit than the checkout as data: only recordings of the deterministic tier can be.
    fn can_read_data(&self) -> bool {
        let is_data = self.inputs.tiers == [Tier::Deterministic] && self.inputs.shard.is_none();
        is_data && self.inputs.mode == ActionMode::Run
    }

    /// Without git, actions/checkout unpacks an archive, and nothing says of which commit: the test merge is read as data.
    fn merge_of_unknown_checkout(&self, github: &GitHub) -> Result<(Event, TestMerge), CliError> {
        let merged = match self.can_read_data() {
            true => current_pull_request::merged(&self.world.env, self.event.clone(), github)?,
            false => None,
        };
        merged.ok_or_else(|| {
            let what = "no verdict: the checkout has no .git folder, so it is not known which commit it is; install git before \
                        actions/checkout";
            anyhow::anyhow!(what).into()
        })
    }

    /// A run that was started by hand judges the test merge. A workflow that started on the branch checks out its head, so the merge is
    /// read as data.
    fn of_merge(self, event: Event, merge: TestMerge) -> Result<Self, CliError> {
        let (disk, _) = Disk::of_config(&inside(&self.workspace, &self.inputs.config))?;
        let here = head_commit(&disk);
        if here.as_deref() == Some(merge.merge.as_str()) {
            return Ok(Self { event, ..self });
        }
        if self.can_read_data() {
            return Ok(Self {
                event,
                merge: Some(merge),
                ..self
            });
        }
        let number = event
            .pull_request
            .map_or(0, |pull_request| pull_request.number);
        let here = here.map_or("no commit".to_owned(), |here| {
            short_commit(&here).to_owned()
        });
        let what = format!(
            "no verdict: this run was started by hand, so it judges the merge of pull request {number}, {}, but the checkout is {here}: \
             check out refs/pull/{number}/merge",
            short_commit(&merge.merge)
        );
        Err(anyhow::anyhow!(what).into())
    }

    /// A push, a merge group or a run without a pull request is about one commit, and its result counts for that commit. With a `ref`, the
    /// checkout can be another one, so the commit is read as data.
    fn of_its_commit(self) -> Result<Self, CliError> {
        let (disk, _) = Disk::of_config(&inside(&self.workspace, &self.inputs.config))?;
        let (Some(commit), Some(here)) = (self.commit(), head_commit(&disk)) else {
            return Ok(self);
        };
        // Of another event, GitHub names the default branch, and the workflow may mean what it checks out, such as a pull request.
        let is_about_its_commit = self
            .world
            .env
            .get("GITHUB_EVENT_NAME")
            .is_none_or(|name| !OF_DEFAULT_BRANCH.contains(&name));
        match self.event.base.clone() {
            _ if here == commit => Ok(self),
            Some(base) if self.can_read_data() && is_about_its_commit => Ok(Self {
                merge: Some(TestMerge {
                    base,
                    merge: commit,
                }),
                ..self
            }),
            Some(_) | None => {
                let what = format!(
                    "no verdict: this run is about {}, but the checkout is {}: leave out `ref` in actions/checkout",
                    short_commit(&commit),
                    short_commit(&here)
                );
                Err(anyhow::anyhow!(what).into())
            }
        }
    }

    /// The graded commit, if the event or the runner names it.
    pub(super) fn commit(&self) -> Option<String> {
        self.event
            .head
            .clone()
            .or_else(|| self.world.env.get("GITHUB_SHA").map(str::to_owned))
    }
}

/// The events whose commit is not what happened: the head of the default branch, or of the branch that somebody chose (docs, "Events that
/// trigger workflows").
const OF_DEFAULT_BRANCH: [&str; 5] = [
    "issue_comment",
    "repository_dispatch",
    "schedule",
    "workflow_dispatch",
    "workflow_run",
];

/// Grades, judges, looks for an approval and publishes the result. `complete` adds what only the caller knows.
pub(super) fn grade_and_publish(
    context: &JobContext<'_>,
    job: &RunOptions,
    complete: &dyn Fn(&mut GradedRun) -> Result<(), Diagnostic>,
) -> Result<u8, CliError> {
    let JobContext {
        world,
        inputs,
        workspace,
        github,
        event,
        remark,
        merge: _,
    } = context;
    let guards = job.is_compared();
    let (disk, _) = Disk::of_config(&job.config)?;
    let objects = github
        .as_ref()
        .map(|github| CheckoutObjects::new(&disk, github));
    let before = match (&event.base, &objects) {
        (Some(commit), Some(objects)) if guards => BaseSource::Commit(objects, commit),
        (Some(_), _) | (None, _) => BaseSource::None,
    };
    let job = &RunOptions {
        live: live::LiveOptions {
            keys: keys(job, event, objects.as_ref())?,
            ..job.live.clone()
        },
        ..job.clone()
    };
    let mut done = grade_worktree(job, world, before, &|disk, base, configured| {
        let Some(commit) = event.base.as_ref() else {
            return baseline_here(inputs, workspace, disk, configured);
        };
        let source = match (base, github) {
            (Some(tree), _) => BaselineSource::Tree(tree),
            (None, Some(github)) => BaselineSource::Commit(github, commit),
            // Without GitHub only the checkout is available: a local trial, never the job of a pull request.
            (None, None) => BaselineSource::Checkout(disk),
        };
        source.read(inputs, configured)
    })?;
    complete(&mut done)?;
    done.report.notes.extend(remark.map(str::to_owned));
    let mut done = match (github, &event.base, &event.head) {
        (Some(github), Some(_), Some(_)) => apply_approval(context, job, github, done)?,
        _ => done,
    };
    let mut current_head = None;
    if let Some(github) = github {
        name_gained_cases(github, event, &mut done);
        current_head = judge_others(world, inputs, github, event, &mut done)?;
    }
    let place = PublishPlace {
        event,
        github: github.as_ref(),
        current_head: current_head.as_deref(),
    };
    let code = publish_result(world, inputs, &place, job, &done);
    world.keep(done);
    code
}

/// Returns the hosts that may receive API keys: on a pull request only those in the base commit's config.
pub(super) fn keys(
    job: &RunOptions,
    event: &Event,
    objects: Option<&CheckoutObjects<'_>>,
) -> Result<live::KeyHosts, CliError> {
    if !job.wanted.tiers.contains(&Tier::Model) {
        return Ok(live::KeyHosts::Any);
    }
    let (disk, file) = Disk::of_config(&job.config)?;
    Ok(match (&event.base, objects) {
        (None, _) => live::KeyHosts::Any,
        (Some(_), None) => live::named_by(None),
        (Some(commit), Some(objects)) => live::keys_of_base(objects, commit, &disk, &file),
    })
}

/// Returns the result with the approval that applies to it.
pub(super) fn apply_approval(
    context: &JobContext<'_>,
    job: &RunOptions,
    github: &GitHub,
    mut done: GradedRun,
) -> Result<GradedRun, CliError> {
    let JobContext {
        world,
        inputs,
        workspace,
        github: _,
        event,
        remark: _,
        merge: _,
    } = context;
    // Without a comparison there is nothing to approve, and the result of one shard cannot be approved.
    let decides = job.is_compared() && job.wanted.shard.is_none();
    let is_whole = done.report.called_off.is_none();
    let Some(head) = job.commit.as_deref().filter(|_| decides && is_whole) else {
        return Ok(done);
    };
    let key = inputs.key(&done.report);
    let (disk, _) = Disk::of_config(&job.config)?;
    let committed = done
        .config
        .baseline
        .as_ref()
        .and_then(|file| disk.read(file).ok());
    let learn = |report: &Report| learn_identity(world, inputs, event, github, report);
    let query = ApprovalQuery {
        key: &key,
        event,
        commit: head,
        committed: committed.as_deref(),
        learn: &learn,
    };
    let approval = recorded_approval::find_approval(github, &query, &mut done)?;
    let Some(approval) = approval else {
        return Ok(done);
    };
    if !job.wanted.tiers.contains(&Tier::Deterministic) {
        return Ok(recorded_approval::approved_as_measured(done, approval));
    }
    let named = inputs
        .baseline
        .as_deref()
        .map(|path| inside(workspace, path));
    let committed = baseline::here(named.as_deref(), &disk, done.config.baseline.as_ref())?;
    // The models are not called a second time.
    let wanted = Selection {
        tiers: vec![Tier::Deterministic],
        ..job.wanted.clone()
    };
    let again = RunOptions {
        wanted,
        ..job.clone()
    };
    recorded_approval::apply_approval(done, approval, committed.as_ref(), |accepted| {
        // The golden changes are approved, so they are not computed again.
        grade_worktree(&again, world, BaseSource::None, &|_, _, _| {
            Ok(Some(accepted.clone()))
        })
    })
}

/// Reads the baseline of the checkout, as on a push.
fn baseline_here(
    inputs: &ActionInputs,
    workspace: &str,
    disk: &Disk,
    configured: Option<&RepoPath>,
) -> Result<Option<Baseline>, CliError> {
    let named = inputs
        .baseline
        .as_deref()
        .map(|path| inside(workspace, path));
    baseline::here(named.as_deref(), disk, configured)
}

/// Where the baseline of the base commit is read.
enum BaselineSource<'a> {
    /// In the commit's files, which are listed already.
    Tree(&'a BaseTree<'a>),
    /// On GitHub, at this commit.
    Commit(&'a GitHub, &'a str),
    /// In the checkout.
    Checkout(&'a Disk),
}

impl BaselineSource<'_> {
    /// Reads the file that the input or else the config names; `None` if there is none.
    fn read(
        &self,
        inputs: &ActionInputs,
        configured: Option<&RepoPath>,
    ) -> Result<Option<Baseline>, CliError> {
        let named = inputs
            .baseline
            .as_deref()
            .map(|path| path_of_input("baseline", path))
            .transpose()?;
        let Some(file) = named.as_ref().or(configured) else {
            return Ok(None);
        };
        match self {
            Self::Tree(tree) => baseline::of_commit(tree, file),
            Self::Checkout(disk) => load(disk, file, Need::Configured),
            Self::Commit(github, commit) => match github.file(file, commit) {
                Ok(None) => Ok(None),
                Ok(Some(bytes)) => Ok(Some(baseline_v1::read_baseline(&SourceText::new(
                    file.clone(),
                    bytes,
                )?)?)),
                Err(error) => {
                    let what = format!("the baseline {file} of the base commit cannot be read");
                    Err(error.explained(&what, "contents: read").into())
                }
            },
        }
    }
}
