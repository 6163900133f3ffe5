//! The links of a report on GitHub, and whether it asks for an approval.

use crate::model::{Authority, Better, MOVED, MetricReport, Report};
use crate::render::markdown::{Acceptance, Links};
use crate::world::Env;
use crate::{publish, report};

/// The links of a report that this job measured. `description` is that of the pull request.
pub(super) fn links(env: &Env, label: &str, report: &Report, description: &str) -> Links {
    Links {
        acceptance: acceptance(report, label, description),
        ..addresses(env, report, env.get("GITHUB_RUN_ID"))
    }
}

/// The addresses alone: a report that the pull request measured itself asks for no approval.
fn addresses(env: &Env, report: &Report, run: Option<&str>) -> Links {
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

fn acceptance(report: &Report, label: &str, description: &str) -> Acceptance {
    if report.authority == Authority::Advisory || !report::asks_for_approval(report) {
        return Acceptance::Unasked;
    }
    let is_given = publish::reason(description).is_some();
    let asks = has_worse_number(report) && !is_given;
    Acceptance::Label {
        name: label.to_owned(),
        reason: asks.then(publish::reason_example),
    }
}

/// Whether a failed gate is about a number that is worse than in the baseline, so that an approval needs a reason.
fn has_worse_number(report: &Report) -> bool {
    report
        .metrics()
        .any(|metric| metric.gates.iter().any(|gate| gate.ruling.fails()) && is_worse(metric))
}

fn is_worse(metric: &MetricReport) -> bool {
    let delta = metric.comparison.delta.unwrap_or_default();
    match metric.better {
        Better::Higher => delta < -MOVED,
        Better::Lower => delta > MOVED,
        Better::Neither => false,
    }
}
