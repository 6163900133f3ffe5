//! Kind `revision` (seed 003): agents that revise contracts, and critics that judge them, against a deterministic verifier.

use self::asked::ask;
use self::case::RevisionCase;
use self::checks::RevisionChecker;
use self::fault::FaultKind;
use self::produced::{VerifiedAttempt, produced};
use self::refinement::Loop;
use super::every_kind::{CASE_PASS_RATE, COMMON, with_common};
use super::failure_classifier::FailureClassifier;
use super::{AgentPolicy, Audit, Files, FixtureFolder, GradeContext, LegacyOutput, Pair, Refinement, Suite, SuiteKind};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{
    Aggregate, Ask, Better, Edge, ExplainedBy, Gate, Grade, Limit, LimitSide, MetricSpec, Role, Run, SampleFold,
    Scoring, SuiteConfig, UngradedReason, Unit, all_hold, indicator,
};

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
mod structure;
mod terms;

#[cfg(test)]
mod tests;

/// The kind.
pub const KIND: SuiteKind = SuiteKind {
    name: "revision",
    scorer: "revision/1",
    metrics: METRICS,
    agents: AgentPolicy::Named,
    legacy_output: LegacyOutput::Attempts,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "agents that revise contracts in RTF, and critics of such revisions, against a deterministic verifier",
    open,
    schemas: || vec![("revision-instructions", schemars::schema_for!(instructions::Instructions))],
};

const COUNT: MetricSpec =
    MetricSpec { better: Better::Lower, unit: Unit::Count, aggregate: Aggregate::Sum, ..MetricSpec::PLAIN };

/// No more than in the baseline, and none without a baseline.
const NO_MORE: &[Gate] =
    &[Gate::Threshold { side: LimitSide::Max, limit: Limit::Baseline { otherwise: Some(0.0) }, edge: Edge::Hard }];

/// In the order in which [`Revision::grade`] gives them.
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
        meaning: "the weighted criteria less the penalties, 0 to 1",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "entity_substitution",
        explained_by: ExplainedBy::Checks(&["entity_substitution"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "1 less 0.15 for each old name that is left, at least 0",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "jurisdiction_transformation",
        explained_by: ExplainedBy::Checks(&["jurisdiction_transformation"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "places of the old law or court that are gone / such places; 0 if the new law stands nowhere",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "liability_reallocation",
        explained_by: ExplainedBy::Checks(&["liability_reallocation"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "indemnity sentences that go the way that was asked for / indemnity sentences",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "clause_operations",
        explained_by: ExplainedBy::Checks(&["clause_operations"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "operations that are done / operations asked for and paragraphs that are gone unasked",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "legal_coherence",
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "1 less 0.2 for each of: broken references, orphans, undefined terms, broken numbers, unasked changes",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "remaining_entities",
        explained_by: ExplainedBy::Checks(&["entity_substitution"]),
        meaning: "places that still have an old name",
        ..COUNT
    },
    MetricSpec {
        name: "broken_references",
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        meaning: "cross-references that point nowhere or elsewhere",
        ..COUNT
    },
    MetricSpec {
        name: "orphans",
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        meaning: "definitions without use, sub-clauses without their clause",
        ..COUNT
    },
    MetricSpec {
        name: "unintended_changes",
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        gates: &[Gate::NONE],
        meaning: "paragraphs that changed without being asked for",
        ..COUNT
    },
    MetricSpec {
        name: "rtf_corruption",
        explained_by: ExplainedBy::Checks(&["format"]),
        better: Better::Lower,
        gates: &[Gate::NO_LARGE_RISE],
        meaning: "documents of which the format is damaged / documents",
        ..MetricSpec::RATE
    },
    MetricSpec {
        name: "attempts",
        unit: Unit::Count,
        better: Better::Lower,
        meaning: "attempts of a loop",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "critic_valid",
        explained_by: ExplainedBy::Checks(&["schema", "arithmetic", "consistent"]),
        gates: &[Gate::PERFECT],
        meaning: "evaluations of the right form, whose arithmetic is right and which do not contradict themselves / evaluations",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "false_satisfied",
        explained_by: ExplainedBy::Checks(&["not_falsely_satisfied"]),
        better: Better::Lower,
        gates: &[Gate::NONE],
        fold: SampleFold::Worst,
        aggregate: Aggregate::Worst,
        meaning: "evaluations that are satisfied with a document that is not satisfactory / evaluations",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "missed_failures",
        explained_by: ExplainedBy::Checks(&["failures_found"]),
        gates: NO_MORE,
        meaning: "failures that the verifier found and the critic did not",
        ..COUNT
    },
    MetricSpec {
        name: "invented_failures",
        explained_by: ExplainedBy::Checks(&["none_invented"]),
        gates: NO_MORE,
        meaning: "criteria that the critic blames without a fault in them",
        ..COUNT
    },
    CASE_PASS_RATE,
];

const METRICS: &[MetricSpec] = &with_common::<{ OWN.len() + COMMON.len() }>(OWN);

struct Revision {
    pairs: Vec<Pair>,
    places: Vec<usize>,
    roles: Vec<Role>,
    cases: Vec<RevisionCase>,
    scoring: Scoring,
}

fn open(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let scoring = suite.scoring.clone().unwrap_or_default();
    let opened = case::open_cases(suite, files, &scoring)?;
    let (mut pairs, mut places, mut roles) = (Vec::new(), Vec::new(), Vec::new());
    for (index, case) in opened.iter().enumerate() {
        for (name, agent) in &suite.agents {
            // A critic is asked where there is something to judge.
            if agent.role == Role::Critic && case.judged.is_none() {
                continue;
            }
            places.push(index);
            roles.push(agent.role);
            pairs.push(case.pair(suite, name));
        }
    }
    Ok(Box::new(Revision { pairs, places, roles, cases: opened, scoring }))
}

impl Suite for Revision {
    fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    fn grade(&self, index: usize, runs: &[Run], context: &GradeContext<'_>) -> Result<Grade, Diagnostic> {
        let (pair, case, run) = (&self.pairs[index], &self.cases[self.places[index]], &runs[0]);
        let produced = produced(run, self.roles[index], case, &self.scoring);
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let reader =
            RevisionChecker { case, produced: &produced, scoring: &self.scoring, role: self.roles[index], classifier };
        let mut values = match self.roles[index] {
            Role::Actor => of_the_document(produced.attempts.last()),
            Role::Critic => vec![None; 12],
        };
        values.push(produced.rounds.map(|rounds| rounds as f64));
        values.extend(reader.of_the_critic());
        let kept = audit::of_a_loop(&produced, &self.scoring, None);
        let checks = reader.checks();
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
        let produced = produced(run, self.roles[index], &self.cases[self.places[index]], &self.scoring);
        audit::of_a_loop(&produced, &self.scoring, Some(why))
    }

    fn audit(&self, files: &dyn Files) -> Audit {
        case::audit(&self.cases, files)
    }
}

/// The numbers of the last document; an agent that gave none is not satisfactory in anything.
fn of_the_document(last: Option<&VerifiedAttempt>) -> Vec<Option<f64>> {
    let Some(verification) = last.map(|attempt| attempt.verification.as_ref()) else {
        let mut nothing = vec![Some(0.0); 7];
        nothing.extend([None; 5]);
        return nothing;
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
