//! `goldgate.shard/1`: what one machine of several graded, for `goldgate merge`. The report of the part, and beside it what a report
//! leaves out: what was asked for, every number to the last bit, who answered, what is kept of single samples.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::report_v1::ReportFile;
use super::source::SourceText;
use super::{json, report_v1};
use crate::diag::Diagnostic;
use crate::model::{AnsweredBy, Authority, Freshness, PairResult, RecordingAge, Report, Shard, Tier};

/// The name of this form.
const SCHEMA: &str = "goldgate.shard/1";

/// What all parts of a run have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShardScope {
    /// The digest of the config.
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
    /// Only cases that fit these patterns.
    pub cases: Vec<String>,
    /// Samples per pair.
    pub samples: Option<u32>,
    /// The base commit that was named.
    pub base: Option<String>,
}

/// One part, read or to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardPart {
    /// Which part.
    pub shard: Shard,
    /// What was asked for.
    pub asked: ShardScope,
    /// Agents that were asked for and not run: in which tier, and why.
    pub not_run: Vec<(Tier, String)>,
    /// What was graded.
    pub report: Report,
}

/// The part as it is written. `goldgate merge` of the same version alone reads it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "goldgate part of a run, version 1")]
pub struct ShardFile<'a> {
    /// `goldgate.shard/1`.
    schema: String,
    /// Which part, such as `1/4`.
    shard: String,
    /// What was asked for, alike in all parts.
    asked: ShardScope,
    /// The report of the part.
    #[serde(borrow)]
    #[schemars(with = "ReportFile")]
    report: &'a RawValue,
    /// Agents that were asked for and not run.
    #[serde(default)]
    not_run: Vec<NotRunForm>,
    /// What the report leaves out, one entry for each pair of agent and case, in the report's order.
    beside: Vec<BesideForm>,
}

/// An agent that was asked for and not run.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NotRunForm {
    /// `deterministic` or `model`.
    tier: String,
    /// Who, and why.
    message: String,
}

/// What a report leaves out of one pair. Numbers are texts: a reader of JSON may lose their last bit.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BesideForm {
    /// The pair's value of each metric, to the last bit.
    values: Vec<Option<String>>,
    /// The value of each metric in each sample, to the last bit.
    samples: Vec<Vec<Option<String>>>,
    /// The model that answered.
    model: Option<String>,
    /// The digest of its prompt.
    prompt_sha256: Option<String>,
    /// Whether the recordings are of the agent as it is: `fresh`, `unknown`, `stale_noted` or `stale`.
    agent_age: String,
    /// Whether the recordings answer what the case asks: the same words.
    input_age: String,
    /// The digest of what its samples put out, where a person's score is on it.
    outputs_sha256: Option<String>,
    /// What the kind keeps of single samples, by their numbers.
    kept: BTreeMap<u32, String>,
    /// What the agent's program wrote to stderr.
    #[serde(default)]
    complaints: BTreeMap<u32, String>,
}

/// The part as JSON, with a line break at the end.
pub fn written(part: &ShardPart) -> String {
    let report = report_v1::written(&part.report);
    let raw = RawValue::from_string(report.trim_end().to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned());
    let form = ShardFile {
        schema: SCHEMA.to_owned(),
        shard: part.shard.to_string(),
        asked: part.asked.clone(),
        report: &raw,
        not_run: part
            .not_run
            .iter()
            .map(|(tier, message)| NotRunForm { tier: tier.as_str().to_owned(), message: message.clone() })
            .collect(),
        beside: pairs(&part.report).map(beside).collect(),
    };
    let mut text = serde_json::to_string(&form).unwrap_or_default();
    text.push('\n');
    text
}

fn pairs(report: &Report) -> impl Iterator<Item = &PairResult> {
    report.suites.iter().flat_map(|suite| &suite.agents).flat_map(|agent| &agent.cases).map(|case| &case.pair)
}

fn beside(pair: &PairResult) -> BesideForm {
    let exact = |value: &Option<f64>| value.map(|value| format!("{value:?}"));
    let AnsweredBy { model, prompt_sha256, freshness } = pair.answered_by.clone();
    BesideForm {
        values: pair.values.iter().map(|value| exact(&value.value)).collect(),
        samples: pair.values.iter().map(|value| value.samples.iter().map(exact).collect()).collect(),
        model,
        prompt_sha256,
        agent_age: freshness.agent.as_str().to_owned(),
        input_age: freshness.input.as_str().to_owned(),
        outputs_sha256: pair.outputs_sha256.clone(),
        kept: pair.kept.iter().map(|(sample, text)| (*sample, text.to_string())).collect(),
        complaints: pair.complaints.clone(),
    }
}

/// Reads a part.
///
/// # Errors
/// What in it cannot be.
pub fn read_shard(source: &SourceText) -> Result<ShardPart, Diagnostic> {
    let help = "merge the folders that goldgate run --shard wrote, unedited";
    let refuse = |what: String| Diagnostic::of_file(&source.file, "bad-shard", what, help);
    let form: ShardFile<'_> = json::whole(source)?;
    if form.schema != SCHEMA {
        return Err(refuse(format!("unknown schema \"{}\"", form.schema)));
    }
    let shard: Shard = form.shard.parse().map_err(refuse)?;
    let inner = SourceText::from_text(source.file.clone(), form.report.get().to_owned());
    let mut report = report_v1::read_report(&inner)?;
    if pairs(&report).count() != form.beside.len() {
        return Err(refuse("its report and what stands beside it have not the same pairs".to_owned()));
    }
    let agents = report.suites.iter_mut().flat_map(|suite| &mut suite.agents);
    let cases = agents.flat_map(|agent| &mut agent.cases);
    for (case, beside) in cases.zip(form.beside) {
        complete(&mut case.pair, beside).ok_or_else(|| refuse("a value of it is none".to_owned()))?;
    }
    let tier_of = |word: &str| [Tier::Deterministic, Tier::Model].into_iter().find(|tier| tier.as_str() == word);
    let not_run = form.not_run.into_iter().map(|one| Some((tier_of(&one.tier)?, one.message)));
    let not_run: Vec<(Tier, String)> =
        not_run.collect::<Option<_>>().ok_or_else(|| refuse("a tier of it is none".to_owned()))?;
    let blocking = if form.asked.blocking { Authority::Blocking } else { Authority::Advisory };
    report.authority = blocking;
    Ok(ShardPart { shard, asked: form.asked, not_run, report })
}

fn age(word: &str) -> Option<RecordingAge> {
    let all = [RecordingAge::Fresh, RecordingAge::Unknown, RecordingAge::StaleNoted, RecordingAge::Stale];
    all.into_iter().find(|age| age.as_str() == word)
}

fn complete(pair: &mut PairResult, beside: BesideForm) -> Option<()> {
    let BesideForm { values, samples, model, prompt_sha256, agent_age, input_age, outputs_sha256, kept, complaints } =
        beside;
    let freshness = Freshness { agent: age(&agent_age)?, input: age(&input_age)? };
    let number = |text: Option<String>| match text {
        None => Some(None),
        Some(text) => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Some),
    };
    if values.len() != pair.values.len() || samples.len() != pair.values.len() {
        return None;
    }
    for ((place, value), list) in pair.values.iter_mut().zip(values).zip(samples) {
        place.value = number(value)?;
        place.samples = list.into_iter().map(number).collect::<Option<_>>()?;
    }
    pair.answered_by = AnsweredBy { model, prompt_sha256, freshness };
    pair.outputs_sha256 = outputs_sha256;
    pair.complaints = complaints;
    pair.kept = kept.into_iter().map(|(sample, text)| (sample, text.into())).collect();
    Some(())
}
