//! Kind `revision` (seed 003): grades agents that revise contracts, and critics of such revisions, with a deterministic verifier.

use self::asked::ask;
use self::case::RevisionCase;
use self::checks::RevisionChecker;
use self::fault::FaultKind;
use self::produced::{VerifiedAttempt, produced};
use self::refinement::Loop;
use self::scoring::Scoring;
use self::settings::RevisionSettings;
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::Files;
use crate::model::{
    Aggregate, Ask, Better, Edge, ExplainedBy, Gate, Grade, Limit, LimitSide, MetricSpec, Role, Run, SampleFold,
    SuiteConfig, UngradedReason, Unit, all_hold, indicator,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, FixtureFolder, GoldenForm, LegacyOutput, OutputLists, Pair, Refinement, RunCaching, Suite, SuiteKind,
};
use crate::suites::settings::SettingsSpec;
use crate::suites::shared::audit::Audit;
use crate::suites::shared::every_kind::{CASE_PASS_RATE, COMMON, with_common};
use crate::suites::shared::failure_classifier::FailureClassifier;

mod alignment;
mod asked;
mod audit;
mod case;
mod checks;
mod clauses;
mod coherence;
mod critic;
mod draft;
mod fault;
mod instructions;
mod liability;
mod produced;
mod references;
mod refinement;
mod replaced;
mod score;
mod scoring;
mod settings;
mod structure;
mod terms;

#[cfg(test)]
mod tests;

/// The suite kind `revision`.
pub const KIND: SuiteKind = SuiteKind {
    name: "revision",
    scorer: "revision/1",
    metrics: METRICS,
    agents: AgentPolicy::ActorsAndCritics,
    settings: SettingsSpec::of::<RevisionSettings>(),
    legacy_output: LegacyOutput::Attempts,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "agents that revise RTF contracts, and critics of such revisions, with a deterministic verifier",
    open,
    outputs: OutputLists::NONE,
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    history_keys: &[],
    schemas: || vec![("revision-instructions", schemars::schema_for!(instructions::Instructions))],
};

const COUNT: MetricSpec =
    MetricSpec { better: Better::Lower, unit: Unit::Count, aggregate: Aggregate::Sum, ..MetricSpec::PLAIN };

/// Gate: at most the value of the baseline, or 0 without a baseline.
const NO_MORE: &[Gate] =
    &[Gate::Threshold { side: LimitSide::Max, limit: Limit::Baseline { otherwise: Some(0.0) }, edge: Edge::Hard }];

/// The kind's own metrics, in the order in which [`Revision::grade`] returns their values.
const OWN: &[MetricSpec] = &[
    MetricSpec {
        name: "satisfied",
        gates: &[Gate::PERFECT],
        meaning: "documents that reach the quality gate without a critical failure / documents",
        ..MetricSpec::RATE
    },
    MetricSpec {
        name: "overall_score",
        explained_by: ExplainedBy::Checks(&[
            "entity_substitution",
            "jurisdiction_transformation",
            "liability_reallocation",
            "clause_operations",
            "legal_coherence",
            "format",
            "quality_gate",
        ]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "weighted criteria scores minus penalties, 0 to 1",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "entity_substitution",
        explained_by: ExplainedBy::Checks(&["entity_substitution"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "1 minus 0.15 for each remaining old name, at least 0",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "jurisdiction_transformation",
        explained_by: ExplainedBy::Checks(&["jurisdiction_transformation"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "replaced mentions of the old law or court / all such mentions; 0 if the new law does not appear",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "liability_reallocation",
        explained_by: ExplainedBy::Checks(&["liability_reallocation"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "indemnity sentences in the requested direction / indemnity sentences",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "clause_operations",
        explained_by: ExplainedBy::Checks(&["clause_operations"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "operations done / (operations requested + paragraphs removed without a request)",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "legal_coherence",
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "1 minus 0.2 for each kind of problem: broken references, orphans, undefined terms, numbering, unrequested changes",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "remaining_entities",
        explained_by: ExplainedBy::Checks(&["entity_substitution"]),
        meaning: "occurrences of old names",
        ..COUNT
    },
    MetricSpec {
        name: "broken_references",
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        meaning: "cross-references to a missing or wrong section",
        ..COUNT
    },
    MetricSpec {
        name: "orphans",
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        meaning: "unused definitions and sub-clauses whose parent clause is missing",
        ..COUNT
    },
    MetricSpec {
        name: "unintended_changes",
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        gates: &[Gate::NONE],
        meaning: "paragraphs changed without a request",
        ..COUNT
    },
    MetricSpec {
        name: "rtf_corruption",
        explained_by: ExplainedBy::Checks(&["format"]),
        better: Better::Lower,
        gates: &[Gate::NO_LARGE_RISE],
        meaning: "documents with a damaged format / documents",
        ..MetricSpec::RATE
    },
    MetricSpec {
        name: "attempts",
        unit: Unit::Count,
        better: Better::Lower,
        meaning: "attempts in the actor-critic loop",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "critic_valid",
        explained_by: ExplainedBy::Checks(&["schema", "arithmetic", "consistent"]),
        gates: &[Gate::PERFECT],
        meaning: "evaluations that are well-formed, add up and do not contradict themselves / evaluations",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "false_satisfied",
        explained_by: ExplainedBy::Checks(&["not_falsely_satisfied"]),
        better: Better::Lower,
        gates: &[Gate::NONE],
        fold: SampleFold::Worst,
        aggregate: Aggregate::Worst,
        meaning: "evaluations satisfied with a document that fails the verifier / evaluations",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "missed_failures",
        explained_by: ExplainedBy::Checks(&["failures_found"]),
        gates: NO_MORE,
        meaning: "failures found by the verifier but not by the critic",
        ..COUNT
    },
    MetricSpec {
        name: "invented_failures",
        explained_by: ExplainedBy::Checks(&["none_invented"]),
        gates: NO_MORE,
        meaning: "criteria that the critic reports as unmet and the verifier as met",
        ..COUNT
    },
    CASE_PASS_RATE,
];

const METRICS: &[MetricSpec] = &with_common::<{ OWN.len() + COMMON.len() }>(OWN);

struct Revision {
    pairs: Vec<Pair>,
    case_indexes: Vec<usize>,
    roles: Vec<Role>,
    cases: Vec<RevisionCase>,
    scoring: Scoring,
}

fn open(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let scoring = suite.settings.get::<RevisionSettings>().cloned().unwrap_or_default().scoring;
    let opened = case::open_cases(suite, files, &scoring)?;
    let (mut pairs, mut case_indexes, mut roles) = (Vec::new(), Vec::new(), Vec::new());
    for (index, case) in opened.iter().enumerate() {
        for (name, agent) in &suite.agents {
            // A critic gets only the cases that have a revised document.
            if agent.role == Role::Critic && case.judged.is_none() {
                continue;
            }
            case_indexes.push(index);
            roles.push(agent.role);
            pairs.push(case.pair(suite, name));
        }
    }
    Ok(Box::new(Revision { pairs, case_indexes, roles, cases: opened, scoring }))
}

impl Suite for Revision {
    fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    fn grade(&self, index: usize, runs: &[Run], context: &GradeContext<'_>) -> Result<Grade, Diagnostic> {
        let (pair, case, run) = (&self.pairs[index], &self.cases[self.case_indexes[index]], &runs[0]);
        let produced = produced(run, self.roles[index], case, &self.scoring);
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let checker =
            RevisionChecker { case, produced: &produced, scoring: &self.scoring, role: self.roles[index], classifier };
        let mut values = match self.roles[index] {
            Role::Actor => document_values(produced.attempts.last()),
            Role::Critic => vec![None; 12],
        };
        values.push(produced.rounds.map(|rounds| rounds as f64));
        values.extend(checker.critic_values());
        let kept = audit::loop_artifact(&produced, &self.scoring, None);
        let checks = checker.checks();
        values.push(Some(indicator(all_hold(&checks))));
        Ok(Grade { values, checks, layer: produced.layer, shortfalls: Vec::new(), kept })
    }

    fn ask(&self, index: usize, _run: usize, files: &dyn Files) -> Result<Option<Ask>, Diagnostic> {
        ask(&self.pairs[index].golden, self.roles[index], &self.scoring, files).map(Some)
    }

    fn refinement(&self, index: usize, files: &dyn Files) -> Result<Option<Box<dyn Refinement>>, Diagnostic> {
        match self.roles[index] {
            Role::Actor => {
                Loop::open(&self.pairs[index].golden, &self.scoring, files).map(|one| Some(Box::new(one) as _))
            }
            Role::Critic => Ok(None),
        }
    }

    fn unfinished(&self, index: usize, run: &Run, why: &UngradedReason) -> Option<Box<str>> {
        let produced = produced(run, self.roles[index], &self.cases[self.case_indexes[index]], &self.scoring);
        audit::loop_artifact(&produced, &self.scoring, Some(why))
    }

    fn audit(&self, files: &dyn Files) -> Audit {
        case::audit(&self.cases, files)
    }
}

/// The metric values of the last document. Without a document, scores are 0 and counts are `None`.
fn document_values(last: Option<&VerifiedAttempt>) -> Vec<Option<f64>> {
    let Some(verification) = last.map(|attempt| attempt.verification.as_ref()) else {
        let mut values = vec![Some(0.0); 7];
        values.extend([None; 5]);
        return values;
    };
    let count = |kinds: &[FaultKind]| {
        let found = verification.faults.iter().filter(|fault| kinds.contains(&fault.kind)).count();
        Some(found as f64)
    };
    let mut values = vec![Some(indicator(verification.satisfied)), Some(verification.overall)];
    values.extend(verification.scores.map(Some));
    values.extend([
        count(&[FaultKind::MissedEntity]),
        count(&[FaultKind::BrokenReference]),
        count(&[FaultKind::OrphanedDefinition, FaultKind::OrphanedClause]),
        count(&[FaultKind::Unintended]),
        Some(indicator(verification.of(FaultKind::Corrupt).next().is_some())),
    ]);
    values
}
