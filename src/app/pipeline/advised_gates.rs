//! Writes gates with few false alarms into the config.

use super::operating::{RatesFor, operating_as_recorded};
use super::plan::LoadedSuite;
use crate::app::cli_error::CliError;
use crate::diag::{Code, Diagnostic};
use crate::files::{Files, SourceText};
use crate::format::config::with_gate;
use crate::format::yaml::Step::{At, Key};
use crate::format::yaml::edit::with_comment;
use crate::gate::operating::{Advice, HardGates};
use crate::gate::{GatedMetric, PlannedGate, planned_in};
use crate::model::{Config, Report, SuiteConfig, Tier};
use crate::render::operating::{CALIBRATED, SuiteOperating, change_line, reason, unchanged_line};
use crate::suites::read_config;
use crate::world::Disk;

/// Writes the gates that give few false alarms into the config, and returns what changed. All other settings stay.
///
/// # Errors
/// A config in which the gates cannot be set, or that cannot be written.
pub fn write_gates(
    config: &str,
    report: &Report,
    suites: &[LoadedSuite],
    hard: HardGates,
) -> Result<String, CliError> {
    let (disk, file) = Disk::of_config(config)?;
    let before = disk.text(&file)?;
    let (mut source, mut lines) = (before.clone(), Vec::new());
    for suite in operating_as_recorded(report, suites, RatesFor::Changing(hard)) {
        let found = suites
            .iter()
            .find(|loaded| loaded.config.id == *suite.suite);
        match (found, &suite.advice) {
            (Some(loaded), Some(advice)) if !advice.gates.is_empty() => {
                source = with_advice(&source, loaded, &suite, advice)?;
                lines.extend(
                    advice
                        .gates
                        .iter()
                        .map(|one| change_line(&suite, one, &loaded.metrics)),
                );
                lines.push(format!("{}: {}", suite.suite, reason(&suite, advice)));
            }
            (_, advice) => lines.push(unchanged_line(&suite, advice.as_ref(), hard)),
        }
    }
    if source != before {
        disk.replace_input(&file, source.text.as_bytes())
            .map_err(CliError::Work)?;
        lines.push(format!("{file} is written"));
    }
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The text of the config with the gates of one suite; reading it again gives exactly these gates, and every other setting as it was.
fn with_advice(
    source: &SourceText,
    loaded: &LoadedSuite,
    suite: &SuiteOperating<'_>,
    advice: &Advice,
) -> Result<SourceText, CliError> {
    let refuse = || {
        let what = format!(
            "the gates of the suite \"{}\" cannot be set in this text",
            loaded.config.id
        );
        let help = "write them by hand: `goldgate calibrate` without --write prints them";
        CliError::from(Diagnostic::of_file(
            &source.file,
            Code::BAD_GATE,
            what,
            help,
        ))
    };
    let old = read_config(source)?;
    let mut edited = source.clone();
    let mut wanted = loaded.metrics.clone();
    for one in &advice.gates {
        let config = read_config(&edited)?;
        let now = config.suite(&loaded.config.id).ok_or_else(refuse)?;
        let planned = &mut wanted[one.metric];
        let metric = planned.spec.name;
        let gate = &mut planned.gates[one.index].gate;
        edited = with_gate(&edited, now, metric, gate, &one.gate).ok_or_else(refuse)?;
        *gate = one.gate;
    }
    let at = [Key("suites"), At(loaded.config.index), Key("gates")];
    let comment = format!("{CALIBRATED} {}", reason(suite, advice));
    let text = with_comment(&edited, &at, CALIBRATED, &comment).ok_or_else(refuse)?;
    let edited = SourceText::from_text(source.file.clone(), text);
    let new = read_config(&edited)?;
    let gated = new.suite(&loaded.config.id).ok_or_else(refuse)?;
    match means(gated, &wanted) && is_same_elsewhere(&old, &new, gated) {
        true => Ok(edited),
        false => Err(refuse()),
    }
}

/// Whether a suite's config has exactly these gates.
fn means(suite: &SuiteConfig, wanted: &[GatedMetric]) -> bool {
    wanted.iter().all(|metric| {
        let planned = planned_in(&metric.spec, suite, Tier::Deterministic).unwrap_or_default();
        let mut missing: Vec<&PlannedGate> = metric.gates.iter().collect();
        let known = planned
            .iter()
            .all(|gate| match missing.iter().position(|one| *one == gate) {
                Some(at) => {
                    missing.swap_remove(at);
                    true
                }
                None => false,
            });
        known && missing.is_empty()
    })
}

/// Whether two configs differ in nothing but the gates of one suite.
fn is_same_elsewhere(old: &Config, new: &Config, gated: &SuiteConfig) -> bool {
    let mut restored = new.clone();
    for suite in restored
        .suites
        .iter_mut()
        .filter(|suite| suite.id == gated.id)
    {
        let before = old.suite(&gated.id);
        suite.gates = before
            .map(|before| before.gates.clone())
            .unwrap_or_default();
    }
    restored == *old
}
