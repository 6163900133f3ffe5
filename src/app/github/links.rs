//! The links of a report on GitHub, and whether it asks for an approval.

use super::inputs::ActionInputs;
use crate::model::{Better, MOVED, MetricReport, Report};
use crate::publish;
use crate::render::markdown::{Acceptance, Links, MovedNumbers};
use crate::world::Env;

/// The links of a report that this job measured.
pub(super) fn links(env: &Env, inputs: &ActionInputs, report: &Report) -> Links {
    links_of_run(
        env,
        &inputs.approving.label,
        report,
        env.get("GITHUB_RUN_ID"),
    )
}

/// The links of a report that a run of this repository measured.
pub(super) fn links_of_run(env: &Env, label: &str, report: &Report, run: Option<&str>) -> Links {
    Links {
        acceptance: acceptance(report, label),
        ..addresses(env, report, run)
    }
}

/// The addresses alone: a report that the pull request measured itself asks for no approval.
pub(super) fn addresses(env: &Env, report: &Report, run: Option<&str>) -> Links {
    let (Some(server), Some(repository)) =
        (env.get("GITHUB_SERVER_URL"), env.get("GITHUB_REPOSITORY"))
    else {
        return Links::default();
    };
    Links {
        files: report
            .commit
            .as_ref()
            .map(|commit| format!("{server}/{repository}/blob/{commit}")),
        run: run.map(|run| format!("{server}/{repository}/actions/runs/{run}")),
        acceptance: Acceptance::Unasked,
    }
}

fn acceptance(report: &Report, label: &str) -> Acceptance {
    if !can_be_approved(report) {
        return Acceptance::Unasked;
    }
    let numbers = if has_worse_number(report) {
        MovedNumbers::Worse(publish::reason_example())
    } else if has_moved_number(report) {
        MovedNumbers::NoneWorse
    } else {
        MovedNumbers::None
    };
    Acceptance::Label {
        name: label.to_owned(),
        numbers,
    }
}

/// Whether a number is worse than in the baseline, so that an approval needs a reason.
fn has_worse_number(report: &Report) -> bool {
    own_moves(report).any(|(metric, delta)| match metric.better {
        Better::Higher => delta < -MOVED,
        Better::Lower => delta > MOVED,
        Better::Neither => false,
    })
}

/// Whether a number differs from that of the baseline.
fn has_moved_number(report: &Report) -> bool {
    own_moves(report).any(|(_, delta)| delta.abs() > MOVED)
}

/// Whether an approval would change the result.
pub(super) fn can_be_approved(report: &Report) -> bool {
    let is_open = report.approval.is_none() && report.lasting.is_empty();
    is_open && (has_moved_number(report) || report.unapproved().next().is_some())
}

/// The metrics with their difference from the baseline, except for what the base branch already shows: nobody is asked to approve numbers
/// of others. Of an agent that the base branch fails as well, numbers without a gate are taken for those of the base branch.
fn own_moves(report: &Report) -> impl Iterator<Item = (&MetricReport, f64)> {
    report.agents().flat_map(|agent| {
        let is_behind = agent.metrics.iter().any(|metric| of_base(metric).is_some());
        agent.metrics.iter().filter_map(move |metric| {
            let is_own = match (of_base(metric), metric.value) {
                (Some(base), Some(value)) => (value - base).abs() > MOVED,
                (Some(_), None) => true,
                (None, _) => !is_behind || !metric.gates.is_empty(),
            };
            metric
                .comparison
                .delta
                .filter(|_| is_own)
                .map(|delta| (metric, delta))
        })
    })
}

/// The value at the tip of the base branch, if it excuses a gate.
fn of_base(metric: &MetricReport) -> Option<f64> {
    metric
        .gates
        .iter()
        .find_map(|gate| gate.base_commit.as_ref().map(|base| base.value))
}
