//! Reads and writes the results of LLM judges in a report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    Agreement, JudgeComparison, JudgeConsensus, JudgeIdentity, JudgeName, JudgeReport, JudgeStanding, JudgedSample,
    Mark, PairJudged, Trust, Vote,
};

/// The result of one LLM judge for one agent. Advisory: no gate and no verdict uses it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportJudgeForm {
    /// Its name.
    pub judge: String,
    /// The models that voted; absent if none did.
    pub model: Option<String>,
    /// The SHA-256 of its rubric.
    pub rubric_sha256: String,
    /// Votes per output.
    pub votes: u32,
    /// The share of passing cases among those with a verdict.
    pub share: Option<f64>,
    /// Cases that pass.
    pub pass: u32,
    /// Cases with the verdict weak.
    pub weak: u32,
    /// Cases that fail.
    pub fail: u32,
    /// Cases without a verdict; never counted as a fail.
    pub unsettled: u32,
    /// The baseline's share, on the cases that both have.
    pub baseline: Option<f64>,
    /// The difference.
    pub delta: Option<f64>,
    /// Why it is not compared with the baseline.
    pub incomparable: Option<String>,
    /// Its agreement with people; absent if no label counts.
    pub agreement: Option<AgreementForm>,
    /// Labels whose output has changed since.
    pub stale_labels: u32,
    /// The kappa that it must exceed.
    pub floor: f64,
    /// `recommends`, or why it may not: `no_labels`, `too_few_labels`, `nothing_to_tell`, `below_floor`.
    pub standing: String,
}

/// The agreement of a judge with people.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct AgreementForm {
    /// Number of labels that count.
    pub labels: usize,
    /// Confusion matrix: rows are the marks of people, columns those of the judge, in the order fail, weak, pass.
    pub table: [[usize; 3]; 3],
    /// The share of equal marks.
    pub observed: f64,
    /// Cohen's kappa; absent if both sides always gave the same mark.
    pub kappa: Option<f64>,
    /// Its 95 % interval.
    pub ci95: Option<(f64, f64)>,
    /// Kappa in which neighbouring marks count as half a disagreement.
    pub weighted_kappa: Option<f64>,
    /// The share of labels that are pass.
    pub base_rate: f64,
    /// The most frequent mark of people.
    pub constant: String,
    /// The share of labels that equal this mark.
    pub constant_right: f64,
}

/// The result of a judge for one case.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct JudgedForm {
    /// The judge.
    pub judge: String,
    /// The models that voted.
    pub model: Option<String>,
    /// The verdict over all samples: `pass`, `weak`, `fail`; absent if unknown.
    pub verdict: Option<String>,
    /// Why the verdict is unknown.
    pub reason: Option<String>,
    /// The digest of the outputs that human labels must match.
    pub outputs_sha256: Option<String>,
    /// The completed samples.
    pub samples: Vec<JudgedSampleForm>,
}

/// The result of a judge for one sample.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct JudgedSampleForm {
    /// The median of its votes; absent if missing votes could change it.
    pub verdict: Option<String>,
    /// Why the verdict is unknown.
    pub reason: Option<String>,
    /// The votes that count.
    pub votes: Vec<ReportVoteForm>,
}

/// One vote.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReportVoteForm {
    /// `pass`, `weak` or `fail`; absent where the vote is missing.
    pub verdict: Option<String>,
    /// The judge's reason; for a missing vote, why it is missing.
    pub reason: String,
}

/// Converts a judge.
pub fn judge_form(judge: &JudgeReport) -> ReportJudgeForm {
    let JudgeReport { name, identity, marks, unsettled, comparison, trust } = judge;
    let JudgeIdentity { model, rubric_sha256, votes } = identity.clone();
    let [fail, weak, pass] = *marks;
    let (baseline, delta, incomparable) = match comparison {
        JudgeComparison::Absent => (None, None, None),
        JudgeComparison::Known { baseline, delta } => (Some(*baseline), Some(*delta), None),
        JudgeComparison::Incomparable(why) => (None, None, Some(why.clone())),
    };
    ReportJudgeForm {
        judge: name.to_string(),
        model,
        rubric_sha256,
        votes,
        share: judge.share(),
        pass,
        weak,
        fail,
        unsettled: *unsettled,
        baseline,
        delta,
        incomparable,
        agreement: trust.agreement.as_ref().map(agreement_form),
        stale_labels: trust.stale,
        floor: trust.floor,
        standing: trust.standing.as_str().to_owned(),
    }
}

fn agreement_form(found: &Agreement) -> AgreementForm {
    let Agreement { cases, table, observed, kappa, interval, weighted, base_rate, constant } = found;
    AgreementForm {
        labels: *cases,
        table: *table,
        observed: *observed,
        kappa: *kappa,
        ci95: *interval,
        weighted_kappa: *weighted,
        base_rate: *base_rate,
        constant: constant.0.as_str().to_owned(),
        constant_right: constant.1,
    }
}

/// Converts a judge's verdicts on a case.
pub fn judged_form(judged: &PairJudged) -> JudgedForm {
    let PairJudged { judge, model, opinion, samples, outputs_sha256 } = judged;
    let (verdict, reason) = opinion_form(opinion);
    let samples = samples.iter().map(|sample| {
        let (verdict, reason) = opinion_form(&sample.opinion);
        JudgedSampleForm { verdict, reason, votes: sample.votes.iter().map(vote_form).collect() }
    });
    JudgedForm {
        judge: judge.to_string(),
        model: model.clone(),
        verdict,
        reason,
        outputs_sha256: outputs_sha256.clone(),
        samples: samples.collect(),
    }
}

fn opinion_form(opinion: &JudgeConsensus) -> (Option<String>, Option<String>) {
    match opinion {
        JudgeConsensus::Settled(mark) => (Some(mark.as_str().to_owned()), None),
        JudgeConsensus::Unsettled(why) => (None, Some(why.clone())),
    }
}

fn vote_form(vote: &Vote) -> ReportVoteForm {
    match vote {
        Vote::Given { mark, reason } => {
            ReportVoteForm { verdict: Some(mark.as_str().to_owned()), reason: reason.clone() }
        }
        Vote::Missing(why) => ReportVoteForm { verdict: None, reason: why.clone() },
    }
}

/// Reads a judge.
///
/// # Errors
/// An unknown enum value.
pub fn judge(form: ReportJudgeForm) -> Result<JudgeReport, String> {
    let standing = JudgeStanding::ALL.into_iter().find(|one| one.as_str() == form.standing);
    let comparison = match (form.baseline, form.delta, form.incomparable) {
        (Some(baseline), Some(delta), None) => JudgeComparison::Known { baseline, delta },
        (None, None, Some(why)) => JudgeComparison::Incomparable(why),
        _ => JudgeComparison::Absent,
    };
    Ok(JudgeReport {
        name: name(&form.judge)?,
        identity: JudgeIdentity { model: form.model, rubric_sha256: form.rubric_sha256, votes: form.votes },
        marks: [form.fail, form.weak, form.pass],
        unsettled: form.unsettled,
        comparison,
        trust: Trust {
            agreement: form.agreement.map(agreement).transpose()?,
            stale: form.stale_labels,
            floor: form.floor,
            standing: standing.ok_or_else(|| format!("standing is \"{}\"", form.standing))?,
        },
    })
}

fn agreement(form: AgreementForm) -> Result<Agreement, String> {
    Ok(Agreement {
        cases: form.labels,
        table: form.table,
        observed: form.observed,
        kappa: form.kappa,
        interval: form.ci95,
        weighted: form.weighted_kappa,
        base_rate: form.base_rate,
        constant: (mark(&form.constant)?, form.constant_right),
    })
}

/// Reads a judge's verdicts on a case.
///
/// # Errors
/// An unknown enum value.
pub fn judged(form: JudgedForm) -> Result<PairJudged, String> {
    let sample = |form: JudgedSampleForm| {
        let votes: Result<_, String> = form.votes.into_iter().map(vote).collect();
        Ok(JudgedSample { opinion: opinion(form.verdict, form.reason)?, votes: votes? })
    };
    Ok(PairJudged {
        judge: name(&form.judge)?,
        model: form.model,
        opinion: opinion(form.verdict, form.reason)?,
        samples: form.samples.into_iter().map(sample).collect::<Result<_, String>>()?,
        outputs_sha256: form.outputs_sha256,
    })
}

fn opinion(verdict: Option<String>, reason: Option<String>) -> Result<JudgeConsensus, String> {
    match verdict {
        Some(word) => Ok(JudgeConsensus::Settled(mark(&word)?)),
        None => Ok(JudgeConsensus::Unsettled(reason.unwrap_or_default())),
    }
}

fn vote(form: ReportVoteForm) -> Result<Vote, String> {
    match form.verdict {
        Some(word) => Ok(Vote::Given { mark: mark(&word)?, reason: form.reason }),
        None => Ok(Vote::Missing(form.reason)),
    }
}

fn mark(word: &str) -> Result<Mark, String> {
    Mark::ALL.into_iter().find(|mark| mark.as_str() == word).ok_or_else(|| format!("a judge's verdict is \"{word}\""))
}

fn name(text: &str) -> Result<JudgeName, String> {
    JudgeName::new(text).map_err(|bad| bad.to_string())
}
