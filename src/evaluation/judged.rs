//! The results of LLM judges: recorded votes become marks, marks become counts, and human labels decide whether to trust them.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::{LoadedJudge, LoadedSuite};
use crate::diag::Diagnostic;
use crate::files::Files;
use crate::gate::judge_trust;
use crate::gate::judge_trust::LabelAvailability;
use crate::model::{
    Ask, Ballot, BaselineEntry, CaseId, Exclusion, JudgeConsensus, JudgeIdentity, JudgeReport,
    JudgedSample, Mark, MarkCounts, PairJudged, PairResult, Run, Sample, Trust,
};
use crate::render::plural;
use crate::suites::{Exhibit, LabelContent, Pair, outputs_digest};

/// Returns the judges' opinions on a pair's samples.
pub fn pair(
    loaded: &LoadedSuite,
    pair: &Pair,
    samples: &[Sample],
    files: &dyn Files,
) -> Result<Vec<PairJudged>, Diagnostic> {
    if loaded.judges.is_empty() {
        return Ok(Vec::new());
    }
    let Some(ask) = first_request(loaded, pair, files)? else {
        return Ok(Vec::new());
    };
    let runs = samples.iter().filter_map(|sample| match sample {
        Sample::Completed(runs) => runs.first(),
        Sample::Inconclusive { .. } | Sample::Spared => None,
    });
    let exhibits: Vec<(&Run, Exhibit)> = runs.map(|run| (run, loaded.exhibit(&ask, run))).collect();
    let outputs_sha256 = outputs_digest(samples);
    let spared = samples
        .iter()
        .filter(|sample| matches!(sample, Sample::Spared))
        .count();
    let mut judgements = Vec::new();
    for judge in &loaded.judges {
        let mut models = BTreeSet::new();
        let mut judged: Vec<JudgedSample> = Vec::new();
        for (run, exhibit) in &exhibits {
            let ballot = run
                .ballots
                .iter()
                .find(|ballot| ballot.judge == judge.config.name);
            models.extend(ballot.and_then(voter));
            judged.push(sample(judge, ballot, &exhibit.sha256));
        }
        judgements.push(PairJudged {
            judge: judge.config.name.clone(),
            opinion: judge_trust::of_pair(&judged, samples.len() - spared),
            samples: judged,
            model: joined(models),
            outputs_sha256: outputs_sha256.clone(),
        });
    }
    Ok(judgements)
}

/// Returns the request of the first run of a pair, which its judges see; `None` if the kind asks no agent.
pub fn first_request(
    loaded: &LoadedSuite,
    pair: &Pair,
    files: &dyn Files,
) -> Result<Option<Ask>, Diagnostic> {
    pair.runs
        .first()
        .map_or(Ok(None), |run| loaded.suite.ask(pair, run, files))
}

/// Returns the opinion on one sample. Votes by another rubric or on another output do not count.
fn sample(judge: &LoadedJudge, ballot: Option<&Ballot>, exhibit: &str) -> JudgedSample {
    let stale = match ballot {
        None => Some("no votes; run `goldgate judge`".to_owned()),
        Some(ballot) if ballot.rubric_sha256 != judge.rubric_sha256 => {
            Some("stale: its votes are by another rubric; run `goldgate judge`".to_owned())
        }
        Some(ballot) if ballot.judged_sha256 != exhibit => {
            Some("stale: its votes are on another task or output; run `goldgate judge`".to_owned())
        }
        Some(ballot) if ballot.votes.len() != judge.config.votes as usize => Some(format!(
            "stale: it has {}, but the config requires {}; run `goldgate judge`",
            plural(ballot.votes.len(), "vote", "votes"),
            judge.config.votes
        )),
        Some(_) => None,
    };
    match (stale, ballot) {
        (Some(why), _) => JudgedSample {
            opinion: JudgeConsensus::Unsettled(why),
            votes: Vec::new(),
        },
        (None, ballot) => {
            let votes = ballot
                .map(|ballot| ballot.votes.clone())
                .unwrap_or_default();
            JudgedSample {
                opinion: judge_trust::opinion(&votes, judge.config.votes),
                votes,
            }
        }
    }
}

/// Returns who voted: the model, or the target if its program does not name the model.
fn voter(ballot: &Ballot) -> Option<String> {
    if let Some(model) = &ballot.model {
        return Some(model.clone());
    }
    let target = ballot.target.as_ref()?;
    Some(format!("target {target}"))
}

fn joined(names: BTreeSet<String>) -> Option<String> {
    (!names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join("+"))
}

/// Returns whether each judge of a suite is trusted, from its agreement with human labels on all counted pairs.
pub fn trust<'a>(
    loaded: &LoadedSuite,
    pairs: impl Iterator<Item = &'a PairResult> + Clone,
) -> Vec<Trust> {
    let mut trusts = Vec::new();
    for (index, judge) in loaded.judges.iter().enumerate() {
        let (mut marks, mut stale) = (Vec::new(), 0);
        for pair in pairs.clone() {
            if pair.exclusion != Exclusion::Counted {
                continue;
            }
            let Some(judged) = pair.judged.get(index) else {
                continue;
            };
            let (current, old) = human_marks(judge, pair, judged.outputs_sha256.as_deref());
            stale += old;
            if let Some(mark) = judged.opinion.mark() {
                marks.extend(current.into_iter().map(|human_mark| (human_mark, mark)));
            }
        }
        let labelled = if judge.config.labels.is_some() {
            LabelAvailability::Yes
        } else {
            LabelAvailability::No
        };
        trusts.push(judge_trust::trust(
            &marks,
            stale,
            judge.config.floor,
            labelled,
        ));
    }
    trusts
}

/// Returns the human marks of the current outputs, and the number of marks on other outputs. If a person set several labels, the
/// last one counts.
fn human_marks(judge: &LoadedJudge, pair: &PairResult, outputs: Option<&str>) -> (Vec<Mark>, u32) {
    let mut by_person: BTreeMap<&str, (Mark, bool)> = BTreeMap::new();
    for label in judge.labels.of(&pair.agent, &pair.case) {
        let LabelContent::Verdict(mark, on) = &label.content else {
            continue;
        };
        by_person.insert(&label.by, (*mark, on.is_none() || on.as_deref() == outputs));
    }
    let stale = by_person.values().filter(|(_, current)| !current).count();
    let current = by_person
        .into_values()
        .filter(|(_, current)| *current)
        .map(|(mark, _)| mark);
    (current.collect(), u32::try_from(stale).unwrap_or(u32::MAX))
}

/// Returns the judges' results for one agent.
pub fn agent(
    loaded: &LoadedSuite,
    pairs: &[&PairResult],
    trust: &[Trust],
    baseline_entry: Option<&BaselineEntry>,
) -> Vec<JudgeReport> {
    let mut reports = Vec::new();
    for ((index, judge), trust) in loaded.judges.iter().enumerate().zip(trust) {
        let mut judged_cases = 0;
        let mut settled: BTreeMap<&CaseId, Mark> = BTreeMap::new();
        let mut models = BTreeSet::new();
        for pair in pairs {
            if pair.exclusion != Exclusion::Counted {
                continue;
            }
            let Some(judged) = pair.judged.get(index) else {
                continue;
            };
            judged_cases += 1;
            if let Some(mark) = judged.opinion.mark() {
                settled.insert(&pair.case, mark);
                models.extend(judged.model.clone());
            }
        }
        let identity = JudgeIdentity {
            model: joined(models),
            rubric_sha256: judge.rubric_sha256.clone(),
            votes: judge.config.votes,
        };
        let marks =
            Mark::ALL.map(|mark| narrow(settled.values().filter(|case| **case == mark).count()));
        let entry = baseline_entry.and_then(|entry| entry.judges.get(&judge.config.name));
        reports.push(JudgeReport {
            name: judge.config.name.clone(),
            comparison: judge_trust::comparison(&identity, &settled, entry),
            identity,
            marks: MarkCounts(marks),
            unsettled: narrow(judged_cases - settled.len()),
            trust: trust.clone(),
        });
    }
    reports
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
