//! Grades what a job is about: the files of the checkout, or those of a commit that is read as data.

use super::graded_data::grade_as_data;
use super::inputs::{ActionInputs, inside, path_of_input};
use super::recorder_evidence::ListedRecordings;
use super::resolve::{Context, Source, commit_of};
use crate::diag::{Code, Diagnostic};
use crate::evaluation::graded_run::GradedRun;
use crate::evaluation::run_options::{RunOptions, UncommittedFiles};
use crate::evaluation::selection::Selection;
use crate::files::SourceText;
use crate::format::baseline_v1;
use crate::format::event::Event;
use crate::github::client::GitHub;
use crate::live;
use crate::model::{Baseline, Loudness, RepoPath, Tier};
use crate::render::CliError;
use crate::workspace::baseline;
use crate::workspace::baseline::{Need, load};
use crate::workspace::joined_shards::{JoinedShards, folders};
use crate::workspace::worktree::{BaseSource, grade_worktree};
use crate::world::{BaseTree, CheckoutObjects, Disk, World};

/// Grades what a job is about.
///
/// # Errors
/// Bad inputs or files, or a failed request.
pub fn evaluate(
    world: &World,
    inputs: &ActionInputs,
    github: Option<&GitHub>,
    context: &Context,
) -> Result<(RunOptions, GradedRun), CliError> {
    match (&context.source, github) {
        (Source::Data(merge), Some(github)) => {
            grade_as_data(world, inputs, github, &context.event, merge)
        }
        (Source::Data(_) | Source::Checkout, _) => {
            let checkout = Checkout {
                world,
                inputs,
                workspace: world.env.get("GITHUB_WORKSPACE").unwrap_or("."),
                github,
                event: &context.event,
            };
            checkout.graded()
        }
    }
}

/// A job that grades its checkout.
struct Checkout<'a> {
    world: &'a World,
    inputs: &'a ActionInputs,
    workspace: &'a str,
    github: Option<&'a GitHub>,
    event: &'a Event,
}

impl Checkout<'_> {
    fn graded(&self) -> Result<(RunOptions, GradedRun), CliError> {
        let Some(parts) = &self.inputs.parts else {
            let job = self.options();
            let done = self.graded_with(&job)?;
            return Ok((job, done));
        };
        let joined = self.joined(parts)?;
        let job = RunOptions {
            commit: self.commit(),
            base: self.event.base.clone(),
            base_branch: self.event.base_branch(),
            ..joined.job.clone()
        };
        let mut done = self.graded_with(&job)?;
        joined.complete(&mut done)?;
        Ok((job, done))
    }

    /// The shards that the jobs of a matrix graded, if they are of this commit and this base commit.
    fn joined(&self, parts: &str) -> Result<JoinedShards, CliError> {
        let folders = folders(&inside(self.workspace, parts))?;
        let joined = JoinedShards::read(&folders, &inside(self.workspace, &self.inputs.config))?;
        for (role, parts, here) in [
            ("commit", &joined.job.commit, &self.commit()),
            ("base commit", &joined.job.base, &self.event.base),
        ] {
            if parts != here {
                let refusal = Diagnostic::of_file(
                    "action input",
                    Code::BAD_PARTS,
                    format!(
                        "the shards have the {role} {}, but this job has {}",
                        parts.as_deref().unwrap_or("none"),
                        here.as_deref().unwrap_or("none")
                    ),
                    "join the shards in the workflow run that graded them",
                );
                return Err(refusal.into());
            }
        }
        Ok(joined)
    }

    fn commit(&self) -> Option<String> {
        commit_of(self.event, &self.world.env)
    }

    fn options(&self) -> RunOptions {
        let inputs = self.inputs;
        RunOptions {
            config: inside(self.workspace, &inputs.config),
            wanted: Selection {
                tiers: inputs.tiers.clone(),
                suites: inputs.suites.clone(),
                samples: inputs.samples,
                shard: inputs.shard,
                target: self.world.env.get("GOLDGATE_TARGET").map(str::to_owned),
                ..Selection::default()
            },
            scope: inputs.scope,
            authority: inputs.authority,
            deciding: inputs.deciding,
            commit: self.commit(),
            base: self.event.base.clone(),
            base_branch: self.event.base_branch(),
            uncommitted: UncommittedFiles::Refused,
            live: live::LiveOptions {
                caching: live::Caching::Off,
                loudness: Loudness::Usual,
                max_cost_usd: inputs.max_cost_usd,
                sparing: if inputs.shard.is_some() {
                    live::EarlyStopping::Off
                } else {
                    live::EarlyStopping::Exact
                },
                ..live::LiveOptions::NONE
            },
            parts: None,
        }
    }

    fn graded_with(&self, job: &RunOptions) -> Result<GradedRun, CliError> {
        let (disk, _) = Disk::of_config(&job.config)?;
        let objects = self
            .github
            .map(|github| CheckoutObjects::new(&disk, github));
        let base_source = match (&self.event.base, &objects) {
            (Some(commit), Some(objects)) if job.is_compared() => {
                BaseSource::Commit(objects, commit)
            }
            (Some(_), _) | (None, _) => BaseSource::None,
        };
        let job = &RunOptions {
            live: live::LiveOptions {
                keys: keys(job, self.event, objects.as_ref())?,
                ..job.live.clone()
            },
            ..job.clone()
        };
        let evidence = ListedRecordings::of(&self.world.env, self.github, self.event);
        grade_worktree(
            job,
            self.world,
            base_source,
            &evidence,
            &|disk, base, configured| {
                let Some(commit) = self.event.base.as_ref() else {
                    return baseline_here(self.inputs, self.workspace, disk, configured);
                };
                let source = match (base, self.github) {
                    (Some(tree), _) => BaselineSource::Tree(tree),
                    (None, Some(github)) => BaselineSource::Commit(github, commit),
                    // Without GitHub only the checkout is available: a local trial, never the job of a pull request.
                    (None, None) => BaselineSource::Checkout(disk),
                };
                source.read(self.inputs, configured)
            },
        )
    }
}

/// Returns the hosts that may receive API keys: on a pull request only those in the base commit's config.
fn keys(
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
                    let message = format!("the baseline {file} of the base commit cannot be read");
                    Err(error.explained(&message, "contents: read").into())
                }
            },
        }
    }
}
