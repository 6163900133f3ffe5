//! `goldgate baseline import`: numbers that another system measured become the baseline of a suite.

use crate::app::cli::{BaselineAction, BaselineArgs};
use crate::diag::{Code, Diagnostic, did_you_mean};
use crate::files::Files;
use crate::format::aggregate_baseline::AggregateBaseline;
use crate::format::baseline_v1;
use crate::model::{Baseline, BaselineEntry, InputLimit, SuiteConfig};
use crate::render::CliError;
use crate::suites::{kind, read_config};
use crate::text::named;
use crate::workspace::baseline::{Need, load};
use crate::world::{Disk, World};

/// Imports a baseline. Returns the exit code.
///
/// # Errors
/// An unknown suite, a config without a baseline, or a file that cannot be read or written.
pub fn baseline(args: &BaselineArgs, world: &World) -> Result<u8, CliError> {
    let BaselineAction::Import = args.action;
    let (disk, config_file) = Disk::of_config(&args.config)?;
    let config = read_config(&disk.text(&config_file)?)?;
    let Some(file) = config.baseline else {
        let (message, help) = (
            "the config has no baseline",
            "add baseline: baselines/latest.json",
        );
        return Err(Diagnostic::of_file(&args.config, Code::NO_BASELINE, message, help).into());
    };
    let Some(suite) = config
        .suites
        .iter()
        .find(|suite| suite.id.as_str() == args.suite)
    else {
        let known = config.suites.iter().map(|suite| suite.id.as_str());
        let help = did_you_mean(&args.suite, known, "name a suite of the config");
        let message = format!("unknown suite \"{}\"", args.suite);
        return Err(Diagnostic::of_command_line(Code::UNKNOWN_SUITE, message, help).into());
    };
    let (folder, path) = Disk::of_file(&args.file)?;
    let read = AggregateBaseline::read(&folder.own_text(&path, &InputLimit::BASELINE)?)?;
    let _lock = disk.lock(&file)?;
    let mut baseline = load(&disk, &file, Need::Configured)?.unwrap_or_else(|| Baseline {
        commit: read.commit.clone(),
        captured_at: read.timestamp.clone(),
        samples: read.samples,
        ..Baseline::default()
    });
    let imported = Imported::into(&mut baseline, suite, &read);
    if imported.agents.is_empty() {
        let message = "the file has numbers of no agent of the suite";
        let help = format!("its agents: {}", named(&imported.others));
        return Err(Diagnostic::of_file(&args.file, Code::UNKNOWN_AGENT, message, help).into());
    }
    disk.replace_own(&file, &InputLimit::BASELINE, &|out| {
        baseline_v1::write_baseline(&baseline, out)
    })?;
    let suite = &suite.id;
    world.say(&format!(
        "wrote the numbers of {} into {file}; commit it to the base branch to use it\n",
        named(&imported.agents)
    ));
    world.tell(&format!(
        "{suite}: goldgate did not measure these numbers, so a difference may come from its rules; `goldgate run \
         --update-baseline` replaces them"
    ));
    for (names, why) in [
        (&imported.others, "agents that the suite does not have"),
        (&imported.metrics, "metrics that the kind does not have"),
    ] {
        if !names.is_empty() {
            world.tell(&format!("left out: {why}: {}", named(names)));
        }
    }
    Ok(0)
}

/// What was imported, and what was left out.
#[derive(Default)]
struct Imported {
    agents: Vec<String>,
    others: Vec<String>,
    metrics: Vec<String>,
}

impl Imported {
    /// Replaces the entries of the suite's agents.
    fn into(baseline: &mut Baseline, suite: &SuiteConfig, read: &AggregateBaseline) -> Self {
        let kind = kind(&suite.kind);
        let mut imported = Self::default();
        for (name, numbers) in &read.metrics {
            let Some(agent) = suite.agents.keys().find(|agent| agent.as_str() == name) else {
                imported.others.push(name.clone());
                continue;
            };
            let mut entry = BaselineEntry::default();
            for (metric, value) in numbers {
                let Some(number) = value.as_f64() else {
                    continue;
                };
                if kind.is_some_and(|kind| kind.metric_named(metric).is_some()) {
                    entry.metrics.insert(metric.clone(), number);
                } else if !imported.metrics.contains(metric) {
                    imported.metrics.push(metric.clone());
                }
            }
            let entries = baseline.suites.entry(suite.id.clone()).or_default();
            entries.insert(agent.clone(), entry);
            imported.agents.push(name.clone());
        }
        imported
    }
}
