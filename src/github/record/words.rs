//! What the comment and the log say of a recording.

use super::context::RecordContext;
use super::delivery::Delivery;
use super::outcome::{RecordOutcome, Recording, Unrecorded};
use crate::github::job_output::{log, redacted_messages};
use crate::publish::NoteSubject;
use crate::publish::record::RecordRefusal;
use crate::render::{CliError, inline, plural};
use crate::text::short_commit;

/// The account of a workflow's own token.
const OWN_ACCOUNT: &str = "github-actions[bot]";

/// How many agents or runs that were left out are named.
const NAMED: usize = 10;

/// Returns the address of this run, for the provenance of recordings.
pub fn run_address(context: &RecordContext<'_>) -> String {
    let env = &context.world.env;
    let run = env.get("GITHUB_RUN_ID").unwrap_or("0");
    let attempt = env.get("GITHUB_RUN_ATTEMPT").unwrap_or("0");
    let server = env.get("GITHUB_SERVER_URL").unwrap_or("https://github.com");
    format!(
        "{server}/{}/actions/runs/{run}/attempts/{attempt}",
        context.github.repository()
    )
}

/// Returns the text of the commit with recordings.
pub fn commit_body(context: &RecordContext<'_>, by: &str) -> String {
    let by: String = by
        .chars()
        .filter(|char| !char.is_control())
        .take(60)
        .collect();
    format!(
        "Recorded by {}\nfrom {}, as {by} asked.",
        run_address(context),
        context.pull.head
    )
}

/// Says why the label does not count.
pub fn refused(context: &RecordContext<'_>, why: &RecordRefusal) {
    let label = inline(&context.policy.record_label, 60);
    let sentence = inline(&why.to_string(), 400);
    let text = format!(
        "### Recordings\n\n**Not recorded**: the label {label} was removed, because {sentence}."
    );
    context.note(
        NoteSubject::Record,
        "WARNING",
        "The pull request was not recorded.",
        &text,
    );
}

/// Says why the files of a pull request cannot be recorded.
pub fn not_recordable(context: &RecordContext<'_>, error: &CliError) {
    let first = redacted_messages(context.world, error)
        .into_iter()
        .next()
        .unwrap_or_default();
    let text = format!(
        "### Recordings\n\n**Not recorded**: {}.\n\nThe recordings are unchanged.",
        inline(&first, 600)
    );
    context.note(
        NoteSubject::Record,
        "WARNING",
        "The pull request was not recorded.",
        &text,
    );
}

/// Says what became of a recording.
pub fn note(context: &RecordContext<'_>, recording: &Recording) {
    let (alert, headline, mut text) = match &recording.outcome {
        RecordOutcome::Current => (
            "NOTE",
            "All recordings are up to date.",
            "**Nothing to record**: every recording is up to date.".to_owned(),
        ),
        RecordOutcome::Nothing(why) => {
            let why = match why {
                Unrecorded::CalledOff(why) => why.message(),
                Unrecorded::NoAnswer => "no run completed",
            };
            let text = format!(
                "**Not recorded**: {why}. The recordings are unchanged; set the label again to try again."
            );
            ("WARNING", "The pull request was not recorded.", text)
        }
        RecordOutcome::Delivered { delivery, files } => {
            let count = plural(files.additions.len(), "recording", "recordings");
            delivered(context, delivery, &count)
        }
    };
    log(context.world, &text);
    if !recording.left_out.is_empty() {
        let named = recording
            .left_out
            .iter()
            .take(NAMED)
            .map(|message| format!("\n- {}", inline(message, 300)));
        text.push_str("\n\nNot recorded:\n");
        text.extend(named);
        if let Some(more) = recording
            .left_out
            .len()
            .checked_sub(NAMED)
            .filter(|more| *more > 0)
        {
            text.push_str(&format!("\n- and {more} more"));
        }
        for message in &recording.left_out {
            log(context.world, &format!("not recorded: {message}"));
        }
    }
    let text = format!("### Recordings\n\n{text}");
    match &recording.outcome {
        RecordOutcome::Delivered {
            delivery: Delivery::Committed { commit, .. },
            ..
        } => {
            context.note_on(commit, NoteSubject::Record, alert, headline, &text);
        }
        RecordOutcome::Current | RecordOutcome::Nothing(_) | RecordOutcome::Delivered { .. } => {
            context.note(NoteSubject::Record, alert, headline, &text);
        }
    }
}

fn delivered(
    context: &RecordContext<'_>,
    delivery: &Delivery,
    count: &str,
) -> (&'static str, &'static str, String) {
    match delivery {
        Delivery::Committed { commit, .. } => {
            let next = if context.github.identity() == Some(OWN_ACCOUNT) {
                " A push with the workflow's own token starts no checks: set any label."
            } else {
                ""
            };
            let text = format!(
                "**Recorded**: {count} of `{}` in commit `{}`.{next}",
                short_commit(&context.pull.head),
                short_commit(commit)
            );
            ("TIP", "The agents were recorded again.", text)
        }
        Delivery::Left { command, why, .. } => {
            let text = format!(
                "**Recorded**: {count} of `{}`, not committed, because {why}. This command adds them to a checkout of the branch; \
                 then commit and push them:\n\n    {}",
                short_commit(&context.pull.head),
                command.replace(['\r', '\n'], " ")
            );
            (
                "TIP",
                "The agents were recorded; the recordings have to be committed.",
                text,
            )
        }
        Delivery::Moved(new_head) => {
            let text = format!(
                "**Not committed**: the head moved from `{}` to `{}` while it was recorded. Set the label again.",
                short_commit(&context.pull.head),
                short_commit(new_head)
            );
            ("WARNING", "The head moved while it was recorded.", text)
        }
    }
}
