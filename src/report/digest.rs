//! The digest of a result. It binds an approval to what the approver has seen.

use serde_json::{Value, json};

use crate::files::sha256_hex;
use crate::model::{
    AgentReport, GateRuling, GoldenChange, JudgeIdentity, JudgeReport, MetricReport, RepoPath,
    Report, SuiteReport, Tier, Weight, six_places,
};

/// The digest of a result: its numbers, the numbers that they are compared with, gates, samples of the cases, identities, golden
/// changes, and the reasons why there is no verdict. The verdict follows from these.
///
/// It leaves out what differs when the same result is measured again: times, costs, the commit (an approval names it anyway), the
/// approval, and changes of the baseline file. So the commit that only writes the approved numbers into that file has the same
/// digest. If the deterministic tier ran, only that tier counts: it decides, and a model answers differently each time.
pub fn result_digest(report: &Report, baseline: Option<&RepoPath>) -> String {
    let suites: Vec<Value> = bound_suites(report).map(suite).collect();
    let is_baseline =
        |change: &&GoldenChange| change.file.is_none() || change.file.as_ref() != baseline;
    let mut changes: Vec<String> = report
        .golden_changes
        .iter()
        .filter(is_baseline)
        .map(change)
        .collect();
    changes.sort();
    // An approval lifts reasons, but the result that was approved had them.
    let mut refusals: Vec<&str> = report
        .not_gateable
        .iter()
        .chain(&report.lifted)
        .map(|why| why.0.as_str())
        .collect();
    refusals.sort_unstable();
    let seen = json!({
        "schema": "goldgate.result/1", "config": report.config.as_ref().map(RepoPath::as_str), "suites": suites, "changes": changes,
        "not_gateable": refusals,
    });
    sha256_hex(seen.to_string().as_bytes())
}

/// The suites that an approval binds.
pub(super) fn bound_suites(report: &Report) -> impl Iterator<Item = &SuiteReport> {
    let deterministic = report.tiers.contains(&Tier::Deterministic);
    report
        .suites
        .iter()
        .filter(move |suite| !deterministic || suite.tier == Tier::Deterministic)
}

fn suite(suite: &SuiteReport) -> Value {
    let agents: Vec<Value> = suite.agents.iter().map(agent).collect();
    json!({ "id": suite.id.as_str(), "kind": suite.kind, "tier": suite.tier.as_str(), "agents": agents })
}

/// What of an agent's result is bound by an approval.
pub(super) fn agent(agent: &AgentReport) -> Value {
    let identity = &agent.identity;
    let metrics: Vec<Value> = agent.metrics.iter().map(metric).collect();
    let cases: Vec<Value> = agent
        .cases
        .iter()
        .map(|case| {
            let values = case
                .values
                .iter()
                .map(|value| value.samples.iter().map(|one| places(*one)).collect());
            let samples: Vec<Vec<Value>> = values.collect();
            let mut value = json!({ "case": case.case.as_str(), "samples": samples });
            if !case.parts.is_empty() {
                value["parts"] = json!(case.parts);
            }
            value
        })
        .collect();
    let retired: Vec<&str> = agent.retired.keys().map(|case| case.as_str()).collect();
    let mut value = json!({
        "agent": agent.agent.as_str(), "suite_digest": identity.suite_digest, "scorer": identity.scorer,
        "model": identity.model, "prompt": identity.agent_sha256, "judge": identity.judge, "samples": identity.samples,
        "metrics": metrics, "cases": cases, "retired": retired,
    });
    // Judges affect no gate, but a baseline stores them.
    if !agent.judges.is_empty() {
        value["judges"] = agent.judges.iter().map(|one| judge(agent, one)).collect();
    }
    value
}

fn judge(agent: &AgentReport, judge: &JudgeReport) -> Value {
    let marks = agent.cases.iter().filter_map(|case| {
        let judged = case
            .judged
            .iter()
            .find(|judged| judged.judge == judge.name)?;
        Some(json!([case.case.as_str(), judged.opinion.mark()?.as_str()]))
    });
    let marks: Vec<Value> = marks.collect();
    let JudgeIdentity {
        model,
        rubric_sha256,
        votes,
    } = &judge.identity;
    json!([judge.name.as_str(), model, rubric_sha256, votes, marks])
}

fn metric(metric: &MetricReport) -> Value {
    // A threshold from the baseline differs between the base's baseline and the approved one, so it is left out.
    let gates: Vec<Value> = metric
        .gates
        .iter()
        .map(|gate| {
            let GateRuling {
                gate,
                threshold,
                from_baseline,
                zone,
                hard,
                ruling: _,
                base_commit: _,
                chance: _,
                new_parts: _,
            } = gate;
            let threshold = threshold.filter(|_| !from_baseline);
            json!([
                gate.as_str(),
                places(threshold),
                from_baseline,
                places(Some(*zone)),
                hard
            ])
        })
        .collect();
    json!([
        metric.name,
        places(metric.value),
        places(metric.comparison.baseline),
        gates
    ])
}

/// What of a golden change is bound by an approval.
pub(super) fn change(change: &GoldenChange) -> String {
    let weight = match change.weight {
        Weight::NeedsApproval => "needs approval",
        Weight::Listed => "listed",
    };
    json!([
        weight,
        change.class.as_str(),
        change.file.as_ref().map(RepoPath::as_str),
        change.words
    ])
    .to_string()
}

/// A number with six decimal places, as in a baseline: two machines may differ in the last bit.
fn places(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| {
        json!(format!("{:.6}", six_places(value)))
    })
}

#[cfg(test)]
mod tests {
    use super::result_digest;
    use crate::model::{
        Approval, ChangeClass, GoldenChange, NotGateable, RepoPath, Report, ReportTool, Ruling,
        SuiteId, Tier, Verdict, Weight,
    };
    use crate::report::suite;

    fn report() -> Report {
        Report {
            commit: Some("a".to_owned()),
            base: Some("b".to_owned()),
            verdict: Ruling::Judged(Verdict::Fail),
            golden_changes: vec![
                change("baselines/latest.json", "f1"),
                change("goldgate.yaml", "floor"),
            ],
            ..Report::passing(vec![Tier::Deterministic, Tier::Model])
        }
    }

    fn change(file: &str, words: &str) -> GoldenChange {
        let file = RepoPath::root().join(file).ok();
        GoldenChange {
            words: words.to_owned(),
            weight: Weight::NeedsApproval,
            file,
            class: ChangeClass::Config,
        }
    }

    fn digest(report: &Report) -> String {
        result_digest(
            report,
            RepoPath::root().join("baselines/latest.json").ok().as_ref(),
        )
    }

    #[test]
    fn what_changes_when_the_same_result_is_measured_again_is_left_out() {
        let approval = Approval {
            by: "alice".to_owned(),
            at: "t".to_owned(),
            head: "a".to_owned(),
            digest: "d".to_owned(),
            reason: None,
        };
        let model = suite(
            SuiteId::new("live").unwrap(),
            "findings",
            Tier::Model,
            Vec::new(),
        );
        for same in [
            Report {
                commit: None,
                base: None,
                ..report()
            },
            Report {
                finished_at: "later".to_owned(),
                tool: ReportTool::goldgate("2"),
                ..report()
            },
            Report {
                verdict: Ruling::Judged(Verdict::Pass),
                approval: Some(approval),
                ..report()
            },
            Report {
                notes: vec!["note".to_owned()],
                ..report()
            },
            Report {
                golden_changes: vec![change("goldgate.yaml", "floor")],
                ..report()
            },
            Report {
                suites: vec![model],
                ..report()
            },
        ] {
            assert_eq!(digest(&same), digest(&report()));
        }
    }

    #[test]
    fn a_reason_that_the_approval_lifted_still_counts() {
        let why = |words: &str| NotGateable(words.to_owned());
        let before = Report {
            not_gateable: vec![why("a"), why("b")],
            ..report()
        };
        let after = Report {
            not_gateable: vec![why("b")],
            lifted: vec![why("a")],
            ..report()
        };
        assert_eq!(digest(&before), digest(&after));
    }

    #[test]
    fn what_an_approver_sees_is_bound() {
        let listed = GoldenChange {
            weight: Weight::Listed,
            ..change("goldgate.yaml", "floor")
        };
        let somewhere = GoldenChange {
            file: None,
            ..change("goldgate.yaml", "floor")
        };
        let graded = || {
            suite(
                SuiteId::new("s").unwrap(),
                "findings",
                Tier::Deterministic,
                Vec::new(),
            )
        };
        let others = [
            Report {
                golden_changes: Vec::new(),
                ..report()
            },
            Report {
                golden_changes: vec![change("goldgate.yaml", "other")],
                ..report()
            },
            Report {
                golden_changes: vec![listed],
                ..report()
            },
            Report {
                golden_changes: vec![somewhere],
                ..report()
            },
            Report {
                golden_changes: vec![change("goldgate.yaml", "floor"), change("x.json", "more")],
                ..report()
            },
            Report {
                not_gateable: vec![NotGateable("why".to_owned())],
                ..report()
            },
            Report {
                suites: vec![graded()],
                ..report()
            },
            Report {
                suites: vec![graded(), graded()],
                ..report()
            },
        ];
        let mut digests: Vec<String> = others
            .iter()
            .map(digest)
            .chain([digest(&report())])
            .collect();
        assert!(digests.iter().all(|digest| digest.len() == 64));
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), others.len() + 1);
    }
}
