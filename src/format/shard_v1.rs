//! Reads and writes `goldgate.shard/1`: the part of a run that one machine graded, for `goldgate merge`. It contains the report of the part
//! and what a report leaves out: the run's filters, exact numbers, models, and data about single samples.

use std::collections::BTreeMap;
use std::io;
use std::io::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{json, report_v1};
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::model::{AnsweredBy, PairResult, Report, Shard, Tier};

/// The value of `schema`.
const SCHEMA: &str = "goldgate.shard/1";

/// The settings that all parts of a run share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShardScope {
    /// The SHA-256 of the config.
    pub config_sha256: String,
    /// Whether a failed gate blocks.
    pub blocking: bool,
    /// Whether the verdicts of both tiers count.
    #[serde(default)]
    pub every_tier: bool,
    /// Only these suites.
    pub suites: Vec<String>,
    /// Only these agents.
    pub agents: Vec<String>,
    /// Only cases that match these patterns.
    pub cases: Vec<String>,
    /// Samples per pair.
    pub samples: Option<u32>,
    /// The base commit of the run.
    pub base: Option<String>,
    /// The branch of the base commit.
    pub base_branch: Option<String>,
}

/// One part of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardPart {
    /// Index and number of parts.
    pub shard: Shard,
    /// The settings of the run.
    pub asked: ShardScope,
    /// Agents that were selected but not run: tier and reason.
    pub not_run: Vec<(Tier, String)>,
    /// The report of the part.
    pub report: Report,
}

/// The part as a file. Only `goldgate merge` of the same version reads it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "goldgate part of a run, version 1")]
pub struct ShardFile<R> {
    /// `goldgate.shard/1`.
    schema: String,
    /// Index and number of parts, such as `1/4`.
    shard: String,
    /// The settings of the run, equal in all parts.
    asked: ShardScope,
    /// The report of the part.
    report: R,
    /// Agents that were selected but not run.
    #[serde(default)]
    not_run: Vec<NotRunForm>,
    /// What the report leaves out, one entry for each pair of agent and case, in the report's order.
    #[serde(rename = "beside")]
    exact: Vec<BesideForm>,
}

/// An agent that was selected but not run.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NotRunForm {
    /// The tier.
    tier: Tier,
    /// The agent and the reason.
    message: String,
}

/// What a report leaves out of one pair. Numbers are texts, because a JSON parser may lose their last bit.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BesideForm {
    /// The exact value of each metric.
    values: Vec<Option<String>>,
    /// The exact value of each metric in each sample.
    samples: Vec<Vec<Option<String>>>,
    /// The model that answered.
    model: Option<String>,
    /// The digest of its prompt.
    agent_sha256: Option<String>,
    /// The digest of its samples' outputs, if it has a human score.
    outputs_sha256: Option<String>,
    /// The kind's data about single samples, by sample number.
    kept: BTreeMap<u32, String>,
    /// What the agent's program wrote to stderr, by sample number.
    #[serde(default)]
    complaints: BTreeMap<u32, String>,
}

/// Writes the part as JSON with a trailing newline.
pub fn write_shard(part: &ShardPart, out: &mut dyn Write) -> io::Result<()> {
    let form = ShardFile {
        schema: SCHEMA.to_owned(),
        shard: part.shard.to_string(),
        asked: part.asked.clone(),
        report: &part.report,
        not_run: part
            .not_run
            .iter()
            .map(|(tier, message)| NotRunForm {
                tier: *tier,
                message: message.clone(),
            })
            .collect(),
        exact: pairs(&part.report).map(exact_form).collect(),
    };
    serde_json::to_writer(&mut *out, &form)?;
    out.write_all(b"\n")
}

fn pairs(report: &Report) -> impl Iterator<Item = &PairResult> {
    report.agents().flat_map(|agent| &agent.cases)
}

fn exact_form(pair: &PairResult) -> BesideForm {
    let AnsweredBy {
        model,
        agent_sha256,
    } = pair.answered_by.clone();
    BesideForm {
        values: pair.values.iter().map(|value| exact(value.value)).collect(),
        samples: pair
            .values
            .iter()
            .map(|value| value.samples.iter().copied().map(exact).collect())
            .collect(),
        model,
        agent_sha256,
        outputs_sha256: pair.outputs_sha256.clone(),
        kept: pair
            .kept
            .iter()
            .map(|(sample, text)| (*sample, text.to_string()))
            .collect(),
        complaints: pair.complaints.clone(),
    }
}

/// A number with all its digits.
fn exact(value: Option<f64>) -> Option<String> {
    value.map(|value| format!("{value:?}"))
}

fn bad_shard(source: &SourceText, description: impl Into<String>) -> Diagnostic {
    let help = "use the folders as goldgate run --shard wrote them, unedited";
    Diagnostic::of_file(&source.file, Code::BAD_SHARD, description, help)
}

/// Reads a part.
pub fn read_shard(source: &SourceText) -> Result<ShardPart, Diagnostic> {
    let form: ShardFile<&RawValue> = json::whole(source)?;
    if form.schema != SCHEMA {
        let description = format!("unknown schema \"{}\"", form.schema);
        return Err(bad_shard(source, description));
    }
    let shard: Shard = form
        .shard
        .parse()
        .map_err(|description: String| bad_shard(source, description))?;
    let mut report = report_v1::read_report_part(source, form.report)?;
    if pairs(&report).count() != form.exact.len() {
        let description = "the report and \"beside\" have different pairs";
        return Err(bad_shard(source, description));
    }
    let agents = report.suites.iter_mut().flat_map(|suite| &mut suite.agents);
    let cases = agents.flat_map(|agent| &mut agent.cases);
    for (case, exact) in cases.zip(form.exact) {
        if complete(case, exact).is_none() {
            return Err(bad_shard(source, "it contains an invalid value"));
        }
    }
    let not_run = form
        .not_run
        .into_iter()
        .map(|problem| (problem.tier, problem.message))
        .collect();
    report.authority = form.asked.blocking.into();
    Ok(ShardPart {
        shard,
        asked: form.asked,
        not_run,
        report,
    })
}

fn complete(pair: &mut PairResult, form: BesideForm) -> Option<()> {
    let BesideForm {
        values,
        samples,
        model,
        agent_sha256,
        outputs_sha256,
        kept,
        complaints,
    } = form;
    if values.len() != pair.values.len() || samples.len() != pair.values.len() {
        return None;
    }
    for ((metric, value), list) in pair.values.iter_mut().zip(values).zip(samples) {
        metric.value = read_exact(value)?;
        metric.samples = list.into_iter().map(read_exact).collect::<Option<_>>()?;
    }
    pair.answered_by = AnsweredBy {
        model,
        agent_sha256,
    };
    pair.outputs_sha256 = outputs_sha256;
    pair.complaints = complaints;
    pair.kept = kept
        .into_iter()
        .map(|(sample, text)| (sample, text.into()))
        .collect();
    Some(())
}

/// The number that [`exact`] wrote; `None` if it is not one.
fn read_exact(text: Option<String>) -> Option<Option<f64>> {
    let Some(text) = text else {
        return Some(None);
    };
    let number = text.parse::<f64>().ok()?;
    number.is_finite().then_some(Some(number))
}
