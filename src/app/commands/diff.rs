//! `goldgate diff`: compares two reports or two baselines side by side.

use std::collections::BTreeMap;

use crate::app::cli::DiffArgs;
use crate::app::cli_error::CliError;
use crate::files::SourceText;
use crate::format::{baseline_v1, report_v1};
use crate::model::{InputLimit, Unit};
use crate::render::side_by_side;
use crate::render::side_by_side::MetricRow;
use crate::suites::metric_spec;
use crate::world::{Disk, World};

/// The metric values of a file, by suite, agent and metric.
type AgentValues = BTreeMap<(String, String, String), Option<f64>>;

/// Prints every value that is in at least one of the files. Returns the exit code.
///
/// # Errors
/// A file that is neither a report nor a baseline.
pub fn diff(args: &DiffArgs, world: &World) -> Result<u8, CliError> {
    let (before, after) = (values(&args.before)?, values(&args.after)?);
    let mut keys: Vec<_> = before.keys().chain(after.keys()).cloned().collect();
    keys.sort();
    keys.dedup();
    let rows: Vec<MetricRow> = keys
        .into_iter()
        .map(|key| MetricRow {
            before: before.get(&key).copied().flatten(),
            after: after.get(&key).copied().flatten(),
            unit: metric_spec(&key.2).map_or(Unit::Share, |spec| spec.unit),
            suite: key.0,
            agent: key.1,
            metric: key.2,
        })
        .collect();
    world.say(&side_by_side::side_by_side(&rows, world.columns()));
    Ok(0)
}

fn values(path: &str) -> Result<AgentValues, CliError> {
    let (disk, file) = Disk::of_file(path)?;
    let source: SourceText = disk.own_text(&file, &InputLimit::REPORT)?;
    // The schema name decides. A file with neither schema gets the errors of an invalid baseline.
    if source.text.contains("\"goldgate.report/") {
        let report = report_v1::read_report(&source)?;
        let agents = report.suites.iter().flat_map(|suite| suite.agents.iter().map(move |agent| (suite, agent)));
        let values = agents.flat_map(|(suite, agent)| {
            agent
                .metrics
                .iter()
                .map(move |metric| ((suite.id.to_string(), agent.agent.to_string(), metric.name.clone()), metric.value))
        });
        return Ok(values.collect());
    }
    let baseline = baseline_v1::read_baseline(&source)?;
    let mut values = AgentValues::new();
    for (suite, agents) in &baseline.suites {
        for (agent, entry) in agents {
            for (metric, value) in &entry.metrics {
                values.insert((suite.to_string(), agent.to_string(), metric.clone()), Some(*value));
            }
        }
    }
    Ok(values)
}
