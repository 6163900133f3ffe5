//! Writes a report.

use std::collections::BTreeMap;

use serde_json::json;

use super::SCHEMA;
use super::evidence::{evidence_form, shortfall_form};
use super::form::{
    ApprovalForm, ChangeForm, CheckForm, FailureForm, LocationForm, LostForm, MetricForm, PassingForm, ReliabilityForm,
    ReportAgentForm, ReportCaseForm, ReportFile, ReportGateForm, ReportIdentityForm, ReportQuarantineForm,
    ReportSuiteForm, ReportToolForm, UsageForm, ValueForm,
};
use super::judges::{judge_form, judged_form};
use crate::model::{
    AgentReport, Approval, Authority, CaseReport, Exclusion, FailureLine, GateRuling, GoldenChange, Identity,
    MetricReport, Noise, PairCheck, PairValue, Passing, Quarantine, Reliability, RepoPath, Report, Ruling, RunUsage,
    Standing, SuiteReport, Tag, Tier, UngradedReason, Unit, Weight,
};

/// The report as indented JSON with a trailing newline.
pub fn written(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(&form(report)).unwrap_or_default();
    text.push('\n');
    text
}

/// The verdicts only.
pub fn summary(report: &Report) -> String {
    let suites = report.suites.iter().map(|suite| {
        let agents: BTreeMap<&str, &str> =
            suite.agents.iter().map(|agent| (agent.agent.as_str(), agent.verdict.as_str())).collect();
        json!({ "id": suite.id.as_str(), "tier": suite.tier.as_str(), "verdict": suite.verdict.as_str(), "agents": agents })
    });
    let not_gateable: Vec<&str> = report.not_gateable.iter().map(|why| why.0.as_str()).collect();
    let value = json!({
        "schema": "goldgate.summary/1", "verdict": report.verdict.as_str(), "exit_code": report.exit_code(),
        "commit": report.commit, "suites": suites.collect::<Vec<_>>(), "not_gateable": not_gateable,
        "notes": report.notes,
    });
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

fn reason(ruling: &Ruling) -> Option<String> {
    ruling.reason().map(str::to_owned)
}

fn tier(tiers: &[Tier]) -> String {
    match tiers {
        [only] => only.as_str().to_owned(),
        _ => "all".to_owned(),
    }
}

fn form(report: &Report) -> ReportFile {
    let mut taxonomy: BTreeMap<String, u32> = Tag::ALL.into_iter().map(|tag| (tag.as_str().to_owned(), 0)).collect();
    for failure in report.failures().filter_map(|line| line.check.failure.as_ref()) {
        *taxonomy.entry(failure.tag.as_str().to_owned()).or_default() += 1;
    }
    let RunUsage { calls, retries, cached, saved, input_tokens, output_tokens, cost_usd, wall_ms } = report.usage;
    ReportFile {
        schema: SCHEMA.to_owned(),
        tool: ReportToolForm { name: "goldgate".to_owned(), version: report.tool_version.clone() },
        config: report.config.as_ref().map(|file| file.as_str().to_owned()),
        commit: report.commit.clone(),
        base: report.base.clone(),
        tier: tier(&report.tiers),
        samples: report.samples,
        started_at: report.started_at.clone(),
        finished_at: report.finished_at.clone(),
        verdict: report.verdict.as_str().to_owned(),
        reason: reason(&report.verdict),
        blocking: report.authority == Authority::Blocking,
        exit_code: report.exit_code(),
        suites: report.suites.iter().map(suite).collect(),
        failures: report.failures().filter_map(failure).collect(),
        taxonomy,
        infra: report.lost_samples() as u64,
        golden_changes: report.golden_changes.iter().map(change).collect(),
        approval: report.approval.as_ref().map(approval),
        not_gateable: report.not_gateable.iter().map(|why| why.0.clone()).collect(),
        called_off: report.called_off.map(|why| why.as_str().to_owned()),
        notes: report.notes.clone(),
        usage: UsageForm { calls, retries, cached, saved, input_tokens, output_tokens, cost_usd, wall_ms },
    }
}

fn change(change: &GoldenChange) -> ChangeForm {
    let GoldenChange { words, weight, file, class } = change;
    ChangeForm {
        what: words.clone(),
        needs_approval: *weight == Weight::NeedsApproval,
        file: file.as_ref().map(|file| file.as_str().to_owned()),
        class: class.as_str().to_owned(),
    }
}

fn approval(approval: &Approval) -> ApprovalForm {
    let Approval { by, at, head, digest } = approval.clone();
    ApprovalForm { by, at, head, digest }
}

fn suite(suite: &SuiteReport) -> ReportSuiteForm {
    ReportSuiteForm {
        id: suite.id.to_string(),
        kind: suite.kind.clone(),
        tier: suite.tier.as_str().to_owned(),
        verdict: suite.verdict.as_str().to_owned(),
        reason: reason(&suite.verdict),
        agents: suite.agents.iter().map(agent).collect(),
    }
}

fn agent(agent: &AgentReport) -> ReportAgentForm {
    let Identity { suite_digest, scorer, model, prompt_sha256, judge, samples, tier } = agent.identity.clone();
    ReportAgentForm {
        agent: agent.agent.to_string(),
        verdict: agent.verdict.as_str().to_owned(),
        reason: reason(&agent.verdict),
        identity: ReportIdentityForm { suite_digest, scorer, model, prompt_sha256, judge, samples, tier },
        metric_order: agent.metrics.iter().map(|metric| metric.name.clone()).collect(),
        metrics: agent.metrics.iter().map(|one| (one.name.clone(), metric(one))).collect(),
        judges: agent.judges.iter().map(judge_form).collect(),
        reliability: agent.reliability.map(reliability),
        cases: agent.cases.iter().map(|one| case(agent, one)).collect(),
        retired: agent.retired.iter().map(|(case, why)| (case.to_string(), why.clone())).collect(),
        removed: agent.removed.iter().map(ToString::to_string).collect(),
        notes: agent.notes.clone(),
        read_layers: agent.layers().into_iter().map(|(layer, count)| (layer.as_str().to_owned(), count)).collect(),
        infra_before: agent.infra_before,
        taxonomy_before: agent
            .taxonomy_before
            .as_ref()
            .map(|counts| counts.iter().map(|(tag, count)| (tag.as_str().to_owned(), *count)).collect()),
    }
}

fn reliability(reliability: Reliability) -> ReliabilityForm {
    let Reliability { majority, every, untold } = reliability;
    let passing = |Passing { passed, of, ci95 }| PassingForm { passed, of, ci95 };
    ReliabilityForm { majority: passing(majority), every_sample: every.map(passing), untold }
}

fn metric(metric: &MetricReport) -> MetricForm {
    MetricForm {
        value: metric.value,
        value_ci95: metric.ci95,
        baseline: metric.comparison.baseline,
        delta: metric.comparison.delta,
        ci95: metric.comparison.ci95,
        noise: metric.comparison.noise().map(Noise::as_str).map(str::to_owned),
        detectable: metric.comparison.detectable,
        aggregate: metric.aggregate.clone(),
        better: metric.better.as_str().to_owned(),
        unit: unit(metric.unit).to_owned(),
        gates: metric.gates.iter().map(gate).collect(),
        verdict: metric.verdict.as_str().to_owned(),
        reason: reason(&metric.verdict),
        evidence: metric.evidence.cases.iter().map(evidence_form).collect(),
        more_evidence: metric.evidence.more,
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Share => "share",
        Unit::Count => "count",
        Unit::Points => "points",
        Unit::Spread => "spread",
    }
}

fn gate(gate: &GateRuling) -> ReportGateForm {
    ReportGateForm {
        gate: gate.gate.as_str().to_owned(),
        threshold: gate.threshold,
        from_baseline: gate.from_baseline,
        zone: gate.zone,
        hard: gate.hard,
        verdict: gate.ruling.as_str().to_owned(),
        reason: reason(&gate.ruling),
    }
}

fn case(agent: &AgentReport, case: &CaseReport) -> ReportCaseForm {
    let pair = &case.pair;
    let lost = pair.lost.iter().map(|lost| match &lost.why {
        UngradedReason::Ended { status, error } => {
            LostForm { sample: lost.sample, status: Some(status.as_str().to_owned()), error: error.clone() }
        }
        UngradedReason::NotRecorded => LostForm { sample: lost.sample, status: None, error: None },
    });
    let values = agent.metrics.iter().zip(&pair.values);
    ReportCaseForm {
        case: pair.case.to_string(),
        verdict: case.verdict.as_str().to_owned(),
        reason: reason(&case.verdict),
        golden: pair.golden.as_str().to_owned(),
        samples_planned: pair.planned,
        samples_completed: pair.completed,
        samples_passed: pair.passing,
        excluded: pair.exclusion != Exclusion::Counted,
        quarantine: pair.quarantine.as_deref().map(quarantine),
        inconclusive: lost.collect(),
        samples_spared: pair.spared,
        passed: standing(pair.passed).to_owned(),
        metrics: values
            .map(|(metric, value)| {
                let PairValue { value: folded, samples } = value;
                let form = ValueForm { value: *folded, samples: samples.to_vec(), spread: value.spread() };
                (metric.name.clone(), form)
            })
            .collect(),
        checks: pair.checks.iter().map(|one| check(&pair.golden, one)).collect(),
        shortfalls: pair.shortfalls.iter().map(shortfall_form).collect(),
        judged: pair.judged.iter().map(judged_form).collect(),
        read_layer: pair.layers.iter().map(|layer| layer.number()).collect(),
        baseline_state: case.trend.as_str().to_owned(),
        flaky: case.is_flaky(),
    }
}

fn quarantine(quarantine: &Quarantine) -> ReportQuarantineForm {
    let Quarantine { owner, reason, expires } = quarantine.clone();
    ReportQuarantineForm { owner, reason, expires }
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Passes => "passes",
        Standing::PassesFlaky => "passes_flaky",
        Standing::FailsFlaky => "fails_flaky",
        Standing::Fails => "fails",
    }
}

fn location(golden: &RepoPath, line: u32) -> Option<LocationForm> {
    Some(LocationForm { file: golden.as_str().to_owned(), line })
}

fn check(golden: &RepoPath, check: &PairCheck) -> CheckForm {
    let failure = check.failure.as_deref();
    CheckForm {
        name: check.name.to_string(),
        passed: check.standing.passes(),
        flaky: check.standing.is_flaky(),
        tag: failure.map(|failure| failure.tag.as_str().to_owned()),
        expected: check.expected.as_deref().map(str::to_owned),
        detail: failure.map(|failure| failure.detail.clone()),
        next_action: failure.map(|failure| failure.next_action.clone()),
        location: location(golden, check.line),
    }
}

fn failure(line: FailureLine<'_>) -> Option<FailureForm> {
    let failure = line.check.failure.as_deref()?;
    Some(FailureForm {
        suite: line.suite.id.to_string(),
        agent: line.agent.agent.to_string(),
        case: line.case.pair.case.to_string(),
        check: line.check.name.to_string(),
        tag: failure.tag.as_str().to_owned(),
        expected: line.check.expected.as_deref().map(str::to_owned),
        detail: failure.detail.clone(),
        fix_strategy: failure.tag.fix_strategy().to_owned(),
        next_action: failure.next_action.clone(),
        location: location(&line.case.pair.golden, line.check.line),
    })
}
