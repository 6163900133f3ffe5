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
    let judged = loaded.judges.iter().map(|judge| {
        let mut models = BTreeSet::new();
        let judged = exhibits.iter().map(|(run, exhibit)| {
            let ballot = run
                .ballots
                .iter()
                .find(|ballot| ballot.judge == judge.config.name);
            models.extend(ballot.and_then(voter));
            sample(judge, ballot, &exhibit.sha256)
        });
        let judged: Vec<JudgedSample> = judged.collect();
        PairJudged {
            judge: judge.config.name.clone(),
            opinion: judge_trust::of_pair(&judged, samples.len() - spared),
            samples: judged,
            model: joined(models),
            outputs_sha256: outputs_sha256.clone(),
        }
    });
    Ok(judged.collect())
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
    let program = || {
        ballot
            .target
            .as_ref()
            .map(|target| format!("target {target}"))
    };
    ballot.model.clone().or_else(program)
}

fn joined(names: BTreeSet<String>) -> Option<String> {
    (!names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join("+"))
}

/// Returns whether each judge of a suite is trusted, from its agreement with human labels on all counted pairs.
pub fn trust<'a>(
    loaded: &LoadedSuite,
    pairs: impl Iterator<Item = &'a PairResult> + Clone,
) -> Vec<Trust> {
    let trusts = loaded.judges.iter().enumerate().map(|(index, judge)| {
        let (mut marks, mut stale) = (Vec::new(), 0);
        for pair in pairs
            .clone()
            .filter(|pair| pair.exclusion == Exclusion::Counted)
        {
            let Some(judged) = pair.judged.get(index) else {
                continue;
            };
            let (current, old) = human_marks(judge, pair, judged.outputs_sha256.as_deref());
            stale += old;
            marks.extend(
                judged
                    .opinion
                    .mark()
                    .into_iter()
                    .flat_map(|mark| current.iter().map(move |one| (*one, mark))),
            );
        }
        let labelled = if judge.config.labels.is_some() {
            LabelAvailability::Yes
        } else {
            LabelAvailability::No
        };
        judge_trust::trust(&marks, stale, judge.config.floor, labelled)
    });
    trusts.collect()
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
    before: Option<&BaselineEntry>,
) -> Vec<JudgeReport> {
    let reports = loaded
        .judges
        .iter()
        .enumerate()
        .zip(trust)
        .map(|((index, judge), trust)| {
            let counted = pairs
                .iter()
                .filter(|pair| pair.exclusion == Exclusion::Counted);
            let judged: Vec<(&CaseId, &PairJudged)> = counted
                .filter_map(|pair| Some((&pair.case, pair.judged.get(index)?)))
                .collect();
            let settled: BTreeMap<&CaseId, Mark> = judged
                .iter()
                .filter_map(|(case, judged)| Some((*case, judged.opinion.mark()?)))
                .collect();
            let models = judged
                .iter()
                .filter(|(_, judged)| judged.opinion.mark().is_some());
            let identity = JudgeIdentity {
                model: joined(
                    models
                        .filter_map(|(_, judged)| judged.model.clone())
                        .collect(),
                ),
                rubric_sha256: judge.rubric_sha256.clone(),
                votes: judge.config.votes,
            };
            let count = |mark| narrow(settled.values().filter(|one| **one == mark).count());
            let entry = before.and_then(|entry| entry.judges.get(&judge.config.name));
            JudgeReport {
                name: judge.config.name.clone(),
                comparison: judge_trust::comparison(&identity, &settled, entry),
                identity,
                marks: MarkCounts(Mark::ALL.map(count)),
                unsettled: narrow(judged.len() - settled.len()),
                trust: trust.clone(),
            }
        });
    reports.collect()
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
