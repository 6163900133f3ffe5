//! `mode: record`: records a pull request again after a label, and commits the recordings or leaves them to be uploaded.
//!
//! The data flow: the label is judged from state ([`crate::publish::record`]); both commits are read as data; the outdated pairs of the
//! head meet the targets of the base ([`recordable`]); they are asked within the base's budget; what completed becomes files
//! ([`new_recordings`]) and is delivered ([`delivery`]). Nothing of the pull request is executed.

mod base_requests;
mod base_targets;
mod context;
mod delivery;
mod new_recordings;
mod outcome;
mod outdated;
mod recordable;
mod scratch;
mod spending;
mod words;

use std::path::{Path, PathBuf};

use self::context::RecordContext;
use self::delivery::{Delivery, deliver};
use self::new_recordings::NewRecordings;
use self::outcome::{RecordOutcome, Recording, Unrecorded};
use self::recordable::{Recordable, recordable};
use self::scratch::ScratchFolder;
use self::spending::check_budget;
use super::approval_label::{LabelPurpose, ensure_label};
use super::commit_files::BaseView;
use super::graded_data::{CommitPair, HeadFiles};
use super::inputs::ActionInputs;
use super::job_output::{log, write_outputs};
use crate::diag::{Code, Diagnostic};
use crate::evaluation::plan::Plan;
use crate::evaluation::selection::Selection;
use crate::live;
use crate::model::{LabelChange, LiveSource, Loudness, PullState, Tier, Transport};
use crate::publish::approval;
use crate::publish::record::{LabelStanding, RecordInput, RecordPlan, RecordRefusal};
use crate::render::CliError;
use crate::world::{Disk, World, head_commit};

/// The exit code of a recording that was asked for and not made.
const NOT_RECORDED: u8 = 3;

/// Reads the pull request, records it if the label says so, and removes the label. Returns the exit code.
///
/// # Errors
/// Bad input or files, or a failed request.
pub fn record(world: &World, inputs: &ActionInputs) -> Result<u8, CliError> {
    let Some(context) = RecordContext::open(world, inputs)? else {
        return Ok(0);
    };
    if context.pull.state == PullState::Open
        && context.set_label(&context.policy.record_label).is_none()
    {
        ensure_label(
            world,
            &context.github,
            LabelPurpose::Record,
            &context.policy.record_label,
        );
    }
    let plan = planned(&context)?;
    log(world, &plan.to_string());
    match plan {
        RecordPlan::Nothing(_) => delivered(&context, None).map(|()| 0),
        RecordPlan::Refuse(why) => refused(&context, &why).map(|()| 0),
        RecordPlan::Record { by } => {
            let recorded = recorded(&context, &by);
            // After a failed request the label stays, so that the job can be started again.
            if let Err(CliError::Work(_) | CliError::CalledOff(_)) = &recorded {
                return recorded.map(|_| NOT_RECORDED);
            }
            // What was paid for is named before the next request, which can fail: the workflow uploads what the outputs name.
            delivered(
                &context,
                recorded.as_ref().ok().and_then(Recording::delivery),
            )?;
            let removed = remove_label(&context);
            match recorded {
                Ok(recording) => {
                    let code = finished(&context, &recording);
                    removed.map(|()| code)
                }
                Err(error) => {
                    removed?;
                    words::not_recordable(&context, &error);
                    Err(error)
                }
            }
        }
    }
}

fn planned(context: &RecordContext<'_>) -> Result<RecordPlan, CliError> {
    let label = &context.policy.record_label;
    let events = match context.added() {
        Some(_) if context.pull.state == PullState::Open => context.label_events()?,
        Some(_) | None => Vec::new(),
    };
    let newest = events
        .iter()
        .rfind(|event| approval::is_label(&event.label, label));
    let account = context.github.identity();
    // Of several configs, an earlier step of this job has taken it off.
    let by_this_job = newest.is_some_and(|event| {
        event.change == LabelChange::Removed && Some(event.by.as_str()) == account
    });
    let added = events.iter().rfind(|event| {
        event.change == LabelChange::Added && approval::is_label(&event.label, label)
    });
    let plan = crate::publish::record::plan(&RecordInput {
        added: context.added(),
        standing: if context.set_label(label).is_some() || by_this_job {
            LabelStanding::Counts
        } else {
            LabelStanding::Gone
        },
        giver: added.map(|event| event.by.as_str()),
        permission: context.permission_of(added)?,
        required: context.policy.approvers,
        label,
        head: &context.seen.head,
        pull: &context.pull,
    });
    match plan {
        RecordPlan::Record { .. } if !base_targets::are_trusted(context)? => {
            Ok(RecordPlan::Refuse(RecordRefusal::OpenBase {
                branch: context.pull.into.clone(),
            }))
        }
        plan => Ok(plan),
    }
}

/// Records the head and delivers what completed.
fn recorded(context: &RecordContext<'_>, by: &str) -> Result<Recording, CliError> {
    let RecordContext {
        world,
        inputs,
        github,
        pull,
        base,
        ..
    } = context;
    let commits = CommitPair::read(
        github,
        &context.config,
        None,
        ([base, &pull.head], HeadFiles::AsCommitted),
    )?;
    let view = BaseView::of(&commits.base, &commits.head);
    let wanted = Selection {
        suites: inputs.suites.clone(),
        samples: inputs.samples,
        ..Selection::default()
    };
    let Recordable {
        plan,
        samples,
        mut left_out,
    } = recordable(&commits, &view, wanted, &world.clock.days())?;
    if plan.suites.is_empty() {
        let outcome = if left_out.is_empty() {
            RecordOutcome::Current
        } else {
            RecordOutcome::Nothing(Unrecorded::NoAnswer)
        };
        return Ok(Recording { outcome, left_out });
    }
    check_budget(&plan, inputs.max_cost_usd, &samples, &commits.head)?;
    let workspace = world.env.get("GITHUB_WORKSPACE").unwrap_or(".");
    require_base_checkout(context, &plan, workspace)?;
    let options = live::LiveOptions {
        earlier: live::EarlierAnswers::None,
        sparing: live::EarlyStopping::Off,
        loudness: Loudness::Usual,
        max_cost_usd: inputs.max_cost_usd,
        keys: live::named_by(Some(&commits.base_config)),
        recorder: Some(live::Recorder {
            commit: pull.head.clone(),
            run: words::run_address(context),
            programs: PathBuf::from(workspace),
            samples,
        }),
        ..live::LiveOptions::NONE
    };
    let scratch = ScratchFolder::create(workspace, &commits.head)?;
    let made = live::make(&plan, Tier::Model, &scratch.disk, world, &options)?;
    drop(scratch);
    made.notes.iter().for_each(|note| log(world, note));
    left_out.extend(made.not_run.iter().map(|run| run.message.clone()));
    if let Some(why) = made.called_off {
        return Ok(Recording {
            outcome: RecordOutcome::Nothing(Unrecorded::CalledOff(why)),
            left_out,
        });
    }
    let files = NewRecordings::of(&plan, &made, &commits.head)?;
    left_out.extend(files.failed.iter().cloned());
    if files.is_empty() {
        return Ok(Recording {
            outcome: RecordOutcome::Nothing(Unrecorded::NoAnswer),
            left_out,
        });
    }
    let delivery = deliver(context, &files, &words::commit_body(context, by))?;
    Ok(Recording {
        outcome: RecordOutcome::Delivered { delivery, files },
        left_out,
    })
}

/// Refuses to start a command anywhere but in a checkout of the base branch: elsewhere it would run files of the pull request, or none.
fn require_base_checkout(
    context: &RecordContext<'_>,
    plan: &Plan,
    workspace: &str,
) -> Result<(), CliError> {
    let mut names = plan
        .suites
        .iter()
        .flat_map(|loaded| loaded.config.agents.values())
        .filter_map(|agent| agent.source(Tier::Model)?.live())
        .flat_map(LiveSource::targets);
    let starts_command = names.any(|name| {
        plan.config
            .targets
            .get(name)
            .is_some_and(|target| matches!(target.transport, Transport::Command { .. }))
    });
    if !starts_command {
        return Ok(());
    }
    let checked_out = Disk::open(Path::new(workspace))
        .ok()
        .and_then(|disk| head_commit(&disk));
    let of_base = [
        Some(context.base.as_str()),
        context.world.env.get("GITHUB_SHA"),
    ];
    if checked_out.is_some() && of_base.contains(&checked_out.as_deref()) {
        return Ok(());
    }
    let message = "this is not a checkout of the base branch, so no command is started";
    let help = "add actions/checkout without ref before this step";
    Err(Diagnostic::of_file("workspace", Code::NO_BASE_CHECKOUT, message, help).into())
}

fn remove_label(context: &RecordContext<'_>) -> Result<(), CliError> {
    context.remove_label(&context.policy.record_label)
}

fn refused(context: &RecordContext<'_>, why: &RecordRefusal) -> Result<(), CliError> {
    words::refused(context, why);
    remove_label(context)?;
    delivered(context, None)
}

/// Writes the comment of a recording. Returns the exit code.
fn finished(context: &RecordContext<'_>, recording: &Recording) -> u8 {
    let is_served = context.set_label(&context.policy.record_label).is_none();
    match &recording.outcome {
        // A repeated run of a label that was served before says nothing over what the first one said.
        RecordOutcome::Current if is_served => log(context.world, "every recording is up to date"),
        RecordOutcome::Current | RecordOutcome::Nothing(_) | RecordOutcome::Delivered { .. } => {
            words::note(context, recording);
        }
    }
    match &recording.outcome {
        RecordOutcome::Current => 0,
        RecordOutcome::Nothing(_)
        | RecordOutcome::Delivered {
            delivery: Delivery::Moved(_),
            ..
        } => NOT_RECORDED,
        RecordOutcome::Delivered { .. } if recording.left_out.is_empty() => 0,
        RecordOutcome::Delivered { .. } => NOT_RECORDED,
    }
}

/// Writes the step's outputs.
fn delivered(context: &RecordContext<'_>, delivery: Option<&Delivery>) -> Result<(), CliError> {
    let (folder, artifact) = match delivery {
        Some(Delivery::Left { artifact, .. } | Delivery::Committed { artifact, .. }) => {
            (delivery::FOLDER, artifact.as_str())
        }
        Some(Delivery::Moved(_)) | None => ("", ""),
    };
    write_outputs(context.world, &[("report", folder), ("artifact", artifact)])
}
