//! Reads a report; its content is untrusted data.

use std::collections::BTreeMap;

use super::evidence::{evidence, shortfall};
use super::form::{
    ApprovalForm, ChangeForm, CheckForm, LostForm, MetricForm, PassingForm, ReliabilityForm, ReportAgentForm,
    ReportCaseForm, ReportFile, ReportGateForm, ReportIdentityForm, ReportQuarantineForm, ReportSuiteForm, UsageForm,
};
use super::{SCHEMA, judges};
use crate::diag::Diagnostic;
use crate::files::SourceText;
use crate::format::Step::Key;
use crate::format::{JsonCursor, json};
use crate::model::{
    AgentName, AgentReport, AnsweredBy, Approval, Authority, Better, CaseId, CaseReport, CaseTrend, ChangeClass,
    CheckKey, CheckName, Comparison, Exclusion, Failure, GateKind, GateRuling, GoldenChange, Identity, Interruption,
    Layer, LostSample, MetricEvidence, MetricReport, NotGateable, PairCheck, PairResult, PairValue, Passing,
    Quarantine, Reliability, RepoPath, Report, Ruling, RunStatus, RunUsage, SWITCHED_OFF, Standing, SuiteId,
    SuiteReport, Tag, Tier, UngradedReason, Unit, Verdict, Weight,
};

/// Reads a stored report.
///
/// # Errors
/// Invalid content with its position.
pub fn read_report(source: &SourceText) -> Result<Report, Diagnostic> {
    let file: ReportFile = json::whole(source)?;
    if file.schema != SCHEMA {
        let at = JsonCursor::whole(source).key(&[Key("schema")]);
        let what = format!("unknown schema \"{}\"", file.schema);
        return Err(source.problem(at, "unknown-schema", what, format!("this version reads \"{SCHEMA}\"")));
    }
    let exit_code = file.exit_code;
    let report = report(file).map_err(|UnknownWord(what)| {
        source.problem(0, "bad-report", what, "use the report as goldgate wrote it, unedited")
    })?;
    match report.exit_code() == exit_code {
        true => Ok(report),
        false => {
            let at = JsonCursor::whole(source).key(&[Key("exit_code")]);
            let what = format!("exit_code {exit_code} contradicts the verdict {}", report.verdict.as_str());
            Err(source.problem(at, "contradiction", what, "use the report as goldgate wrote it, unedited"))
        }
    }
}

/// An unknown enum value, with the field.
struct UnknownWord(String);

type FormResult<T> = Result<T, UnknownWord>;

fn odd<T>(what: &str, found: &str) -> FormResult<T> {
    Err(UnknownWord(format!("{what} is \"{found}\"")))
}

fn report(file: ReportFile) -> FormResult<Report> {
    let tiers = match file.tier.as_str() {
        "all" => vec![Tier::Deterministic, Tier::Model],
        word => vec![tier(word)?],
    };
    let UsageForm { calls, retries, cached, saved, input_tokens, output_tokens, cost_usd, wall_ms } = file.usage;
    Ok(Report {
        tool_version: file.tool.version,
        config: file.config.map(|text| path("the config", &text)).transpose()?,
        commit: file.commit,
        base: file.base,
        tiers,
        authority: if file.blocking { Authority::Blocking } else { Authority::Advisory },
        samples: file.samples,
        started_at: file.started_at,
        finished_at: file.finished_at,
        suites: file.suites.into_iter().map(suite).collect::<FormResult<_>>()?,
        verdict: ruling(&file.verdict, file.reason)?,
        not_gateable: file.not_gateable.into_iter().map(NotGateable).collect(),
        called_off: file.called_off.map(|word| interruption(&word)).transpose()?,
        golden_changes: file.golden_changes.into_iter().map(change).collect::<FormResult<_>>()?,
        approval: file.approval.map(|ApprovalForm { by, at, head, digest }| Approval { by, at, head, digest }),
        notes: file.notes,
        usage: RunUsage { calls, retries, cached, saved, input_tokens, output_tokens, cost_usd, wall_ms },
    })
}

fn path(what: &str, text: &str) -> FormResult<RepoPath> {
    RepoPath::root().join(text).map_err(|bad| UnknownWord(format!("{what} {text:?} {bad}")))
}

fn change(form: ChangeForm) -> FormResult<GoldenChange> {
    let ChangeForm { what, needs_approval, file, class } = form;
    Ok(GoldenChange {
        words: what,
        weight: if needs_approval { Weight::NeedsApproval } else { Weight::Listed },
        file: file.map(|text| path("the file of a golden change", &text)).transpose()?,
        class: match ChangeClass::ALL.into_iter().find(|known| known.as_str() == class) {
            Some(class) => class,
            None => return odd("class of a golden change", &class),
        },
    })
}

fn interruption(word: &str) -> FormResult<Interruption> {
    Interruption::ALL.into_iter().find(|one| one.as_str() == word).map_or_else(|| odd("called_off", word), Ok)
}

fn tier(word: &str) -> FormResult<Tier> {
    match word {
        "deterministic" => Ok(Tier::Deterministic),
        "model" => Ok(Tier::Model),
        other => odd("tier", other),
    }
}

fn ruling(word: &str, reason: Option<String>) -> FormResult<Ruling> {
    match word {
        "pass" => Ok(Ruling::Judged(Verdict::Pass)),
        "inconclusive" => Ok(Ruling::Judged(Verdict::Inconclusive)),
        "fail" => Ok(Ruling::Judged(Verdict::Fail)),
        // The frozen form has one word for both.
        "skipped" => match reason.unwrap_or_default() {
            reason if reason.starts_with(SWITCHED_OFF) => Ok(Ruling::Off(reason)),
            reason => Ok(Ruling::Skipped(reason)),
        },
        other => odd("verdict", other),
    }
}

fn suite(form: ReportSuiteForm) -> FormResult<SuiteReport> {
    Ok(SuiteReport {
        id: SuiteId::new(&form.id).map_err(|bad| UnknownWord(bad.to_string()))?,
        kind: form.kind,
        tier: tier(&form.tier)?,
        verdict: ruling(&form.verdict, form.reason)?,
        agents: form.agents.into_iter().map(agent).collect::<FormResult<_>>()?,
    })
}

fn case_id(text: &str) -> FormResult<CaseId> {
    CaseId::new(text).map_err(|bad| UnknownWord(bad.to_string()))
}

fn agent(mut form: ReportAgentForm) -> FormResult<AgentReport> {
    let name = AgentName::new(&form.agent).map_err(|bad| UnknownWord(bad.to_string()))?;
    let ReportIdentityForm { suite_digest, scorer, model, prompt_sha256, judge, samples, tier } = form.identity;
    let mut metrics = Vec::new();
    for metric_name in &form.metric_order {
        let Some(one) = form.metrics.remove(metric_name) else {
            return odd("a metric in metric_order without values", metric_name);
        };
        metrics.push(metric(metric_name, one)?);
    }
    let cases = form.cases.into_iter().map(|one| case(&name, &form.metric_order, one));
    let tags = |counts: BTreeMap<String, u32>| {
        counts.into_iter().map(|(word, count)| Ok((tag(&word)?, count))).collect::<FormResult<_>>()
    };
    Ok(AgentReport {
        verdict: ruling(&form.verdict, form.reason)?,
        identity: Identity { suite_digest, scorer, model, prompt_sha256, judge, samples, tier },
        metrics,
        cases: cases.collect::<FormResult<_>>()?,
        judges: form
            .judges
            .into_iter()
            .map(|one| judges::judge(one).map_err(UnknownWord))
            .collect::<FormResult<_>>()?,
        reliability: form.reliability.map(reliability),
        retired: form.retired.into_iter().map(|(case, why)| Ok((case_id(&case)?, why))).collect::<FormResult<_>>()?,
        removed: form.removed.iter().map(|case| case_id(case)).collect::<FormResult<_>>()?,
        notes: form.notes,
        taxonomy_before: form.taxonomy_before.map(tags).transpose()?,
        infra_before: form.infra_before,
        agent: name,
    })
}

fn reliability(form: ReliabilityForm) -> Reliability {
    let ReliabilityForm { majority, every_sample, untold } = form;
    let passing = |PassingForm { passed, of, ci95 }| Passing { passed, of, ci95 };
    Reliability { majority: passing(majority), every: every_sample.map(passing), untold }
}

fn metric(name: &str, form: MetricForm) -> FormResult<MetricReport> {
    let better = match form.better.as_str() {
        "higher" => Better::Higher,
        "lower" => Better::Lower,
        "neither" => Better::Neither,
        other => return odd("better", other),
    };
    let unit = match form.unit.as_str() {
        "share" => Unit::Share,
        "count" => Unit::Count,
        "points" => Unit::Points,
        "spread" => Unit::Spread,
        other => return odd("unit", other),
    };
    Ok(MetricReport {
        name: name.to_owned(),
        value: form.value,
        ci95: form.value_ci95,
        better,
        unit,
        aggregate: form.aggregate,
        comparison: Comparison {
            baseline: form.baseline,
            delta: form.delta,
            ci95: form.ci95,
            detectable: form.detectable,
        },
        gates: form.gates.into_iter().map(gate).collect::<FormResult<_>>()?,
        verdict: ruling(&form.verdict, form.reason)?,
        evidence: MetricEvidence {
            cases: form
                .evidence
                .into_iter()
                .map(|one| evidence(one).map_err(UnknownWord))
                .collect::<FormResult<_>>()?,
            more: form.more_evidence,
        },
    })
}

fn gate(form: ReportGateForm) -> FormResult<GateRuling> {
    let ReportGateForm { gate, threshold, from_baseline, zone, hard, verdict, reason } = form;
    let kind = GateKind::ALL.into_iter().find(|kind| kind.as_str() == gate);
    let ruling = ruling(&verdict, reason)?;
    Ok(GateRuling {
        gate: kind.map_or_else(|| odd("a gate", &gate), Ok)?,
        threshold,
        from_baseline,
        zone,
        hard,
        ruling,
    })
}

fn case(agent: &AgentName, order: &[String], mut form: ReportCaseForm) -> FormResult<CaseReport> {
    let mut take = |name: &String| {
        form.metrics
            .remove(name)
            .map_or_else(PairValue::default, |one| PairValue { value: one.value, samples: one.samples.into() })
    };
    let pair = PairResult {
        case: case_id(&form.case)?,
        agent: agent.clone(),
        golden: RepoPath::root()
            .join(&form.golden)
            .map_err(|bad| UnknownWord(format!("the golden file {:?} {bad}", form.golden)))?,
        planned: form.samples_planned,
        completed: form.samples_completed,
        passing: form.samples_passed,
        exclusion: match (form.excluded, &form.quarantine) {
            (_, Some(_)) => Exclusion::Quarantined,
            (true, None) => Exclusion::NoMajority,
            (false, None) => Exclusion::Counted,
        },
        quarantine: form
            .quarantine
            .map(|ReportQuarantineForm { owner, reason, expires }| Box::new(Quarantine { owner, reason, expires })),
        lost: form.inconclusive.into_iter().map(lost).collect::<FormResult<_>>()?,
        spared: form.samples_spared,
        values: order.iter().map(&mut take).collect(),
        passed: match form.passed.as_str() {
            "passes" => Standing::Passes,
            "passes_flaky" => Standing::PassesFlaky,
            "fails_flaky" => Standing::FailsFlaky,
            "fails" => Standing::Fails,
            other => return odd("passed", other),
        },
        checks: form.checks.into_iter().map(check).collect::<FormResult<_>>()?,
        shortfalls: form.shortfalls.into_iter().map(shortfall).collect(),
        layers: form.read_layer.iter().map(|number| layer(*number)).collect::<FormResult<_>>()?,
        kept: Vec::new(),
        complaints: BTreeMap::new(),
        judged: form
            .judged
            .into_iter()
            .map(|one| judges::judged(one).map_err(UnknownWord))
            .collect::<FormResult<_>>()?,
        outputs_sha256: None,
        answered_by: AnsweredBy::default(),
    };
    let trend = match form.baseline_state.as_str() {
        "still_failing" => CaseTrend::StillFailing,
        "newly_failing" => CaseTrend::NewlyFailing,
        "newly_passing" => CaseTrend::NewlyPassing,
        "still_passing" => CaseTrend::StillPassing,
        "new" => CaseTrend::New,
        "unknown" => CaseTrend::Unknown,
        other => return odd("baseline_state", other),
    };
    Ok(CaseReport { pair, verdict: ruling(&form.verdict, form.reason)?, trend })
}

fn layer(number: u8) -> FormResult<Layer> {
    let all = [Layer::Structured, Layer::Strict, Layer::Repaired, Layer::Salvaged, Layer::Unreadable];
    all.into_iter().find(|layer| layer.number() == number).ok_or_else(|| UnknownWord(format!("read_layer is {number}")))
}

fn lost(form: LostForm) -> FormResult<LostSample> {
    let status = |word: &str| {
        let all =
            [RunStatus::Completed, RunStatus::Error, RunStatus::Timeout, RunStatus::Stalled, RunStatus::Cancelled];
        all.into_iter()
            .find(|status| status.as_str() == word)
            .ok_or_else(|| UnknownWord(format!("status is \"{word}\"")))
    };
    let why = match form.status {
        Some(word) => UngradedReason::Ended { status: status(&word)?, error: form.error },
        None => UngradedReason::NotRecorded,
    };
    Ok(LostSample { sample: form.sample, why })
}

fn tag(word: &str) -> FormResult<Tag> {
    Tag::ALL.into_iter().find(|tag| tag.as_str() == word).ok_or_else(|| UnknownWord(format!("tag is \"{word}\"")))
}

fn check(form: CheckForm) -> FormResult<PairCheck> {
    let failure = match (form.tag, form.detail, form.next_action) {
        (Some(word), Some(detail), Some(next_action)) => {
            Some(Box::new(Failure { tag: tag(&word)?, detail, next_action }))
        }
        _ => None,
    };
    let standing = match (form.passed, form.flaky) {
        (true, false) => Standing::Passes,
        (true, true) => Standing::PassesFlaky,
        (false, true) => Standing::FailsFlaky,
        (false, false) => Standing::Fails,
    };
    let expected = form.expected.map(String::into_boxed_str);
    let line = form.location.map_or(1, |location| location.line);
    Ok(PairCheck { name: check_name(&form.name), line, standing, failure, expected })
}

fn check_name(text: &str) -> CheckName {
    let parts = text.strip_suffix(']').and_then(|rest| rest.split_once('['));
    let (word, key) = match parts {
        None => (text, CheckKey::Only),
        Some((word, key)) => (word, key.parse().map_or_else(|_| CheckKey::Named(key.into()), CheckKey::At)),
    };
    CheckName { word: word.to_owned().into(), key }
}
