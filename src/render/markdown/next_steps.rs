//! What to do now: how to reproduce the result, and how to accept it.

use super::{Acceptance, Links};
use crate::model::{Report, Tier};
use crate::render::plain::put;
use crate::render::{evidence, words};
use crate::text::config_option;

pub fn next_steps(report: &Report, links: &Links) -> String {
    let mut out = String::new();
    put(
        &mut out,
        &format!(
            "Reproduce it: `goldgate run{}` · inspect a case: `goldgate explain{} {}`",
            arguments(report),
            plain_config(report),
            case(report)
        ),
    );
    match &links.acceptance {
        Acceptance::Unasked => {}
        Acceptance::PushedFirst => {
            if let Some(next) = words::next_of_changes(report, words::PUSH_FIRST) {
                put(&mut out, &format!("\n{next}."));
            }
        }
        Acceptance::Label { name, reason } => {
            put(&mut out, &format!("\n{}", by_label(report, name)));
            if let Some(reason) = reason {
                let ask = "A worse number needs a reason. Copy this line into the description, and complete it:";
                put(&mut out, &format!("{ask}\n\n    {reason}"));
            }
        }
    }
    out
}

/// How a reader of the log accepts the result, in plain text; `None` if no label does.
pub fn acceptance_line(report: &Report, links: &Links) -> Option<String> {
    let Acceptance::Label { name, reason } = &links.acceptance else {
        return None;
    };
    let reason = match reason {
        Some(_) => " A worse number needs a line \"Goldgate-Reason: ...\" in the description.",
        None => "",
    };
    let accepts = by_label(report, name);
    let text = format!("{accepts}{reason}").replace('`', "");
    (!accepts.is_empty()).then_some(text)
}

/// What the label accepts, and what stays.
fn by_label(report: &Report, label: &str) -> String {
    let who = format!("somebody with write access adds the label `{label}`.");
    let changes = words::next_of_changes(report, &who);
    let fails = !evidence::failed_metrics(report).is_empty();
    let gates = fails.then(|| format!("Accept the failed gates: add the label `{label}`."));
    let sentences: Vec<String> = changes.into_iter().chain(gates).collect();
    sentences.join(" ")
}

/// The first case behind a failed gate, else a placeholder.
fn case(report: &Report) -> String {
    let failed = evidence::failed_metrics(report);
    let first = failed
        .iter()
        .find_map(|failed| Some((failed, failed.metric.evidence.cases.first()?)));
    first.map_or("CASE".to_owned(), |(failed, case)| {
        format!("{}/{}/{}", failed.suite.id, failed.agent.agent, case.case)
    })
}

/// The arguments of `goldgate run` that give the same result.
fn arguments(report: &Report) -> String {
    let tier = report.tiers.first().copied().unwrap_or(Tier::Deterministic);
    let mut out = format!(" --tier {}", tier.as_str());
    out.push_str(&plain_config(report));
    // Without a branch and without golden changes, the base may be only the commit that the baseline names.
    let compared = report.base_branch.is_some() || !report.golden_changes.is_empty();
    let base = report.base.as_deref().filter(|_| compared);
    if let Some(base) = base.filter(|commit| is_plain(commit)) {
        out.push_str(&format!(" --base {}", words::short(Some(base))));
    }
    // Each case has its own number of recordings, so one number for all would demand too many from some.
    if tier == Tier::Model && report.samples > 0 {
        out.push_str(&format!(" --samples {}", report.samples));
    }
    out
}

/// The option for the config; empty where backticks or a shell would change its name.
fn plain_config(report: &Report) -> String {
    let config = report
        .config
        .as_ref()
        .map(|path| path.as_str())
        .filter(|path| is_plain(path));
    config.map_or(String::new(), config_option)
}

/// Whether a text is safe as an argument of a shell and within backticks.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
}
