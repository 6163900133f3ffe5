//! Kind `revision`: grades agents that revise contracts, and critics of such revisions, with a deterministic verifier.

use std::collections::BTreeMap;

use self::asked::ask;
use self::case::RevisionCase;
use self::checks::{CriticValues, RevisionChecker};
use self::fault::{Criterion, FaultKind, count_of};
use self::produced::{VerifiedAttempt, produced};
use self::refinement::Loop;
use self::settings::RevisionSettings;
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::Files;
use crate::model::{
    AgentName, Aggregate, Ask, Better, ExplainedBy, Gate, Grade, MetricSpec, NeverClass,
    OutputField, Role, Run, RunKey, SampleFold, SuiteConfig, UngradedReason, Unit, all_hold,
    indicator,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CasePairs, FixtureFolder, GoldenForm, GuardClass, LegacyOutput, OutputLists, Pair,
    Refinement, RunCaching, SampleScore, Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::SettingsSpec;
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::audit::Audit;
use crate::suites::shared::case_frame::Framed;
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::every_kind::CASE_PASS_RATE;
use crate::suites::shared::failure_classifier::FailureClassifier;
use crate::suites::shared::own_metrics::{ByMetric, metrics};

mod alignment;
mod asked;
mod audit;
mod binding;
mod broken_references;
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
mod unfounded;
mod wording;

#[cfg(test)]
mod tests;

/// What its actors and critics put out.
const FIELDS: &[OutputField] = &[
    OutputField::named("document", &[]),
    OutputField::named("text", &[]),
    OutputField::named("evaluation", &[]),
    OutputField::named("attempts", &[]),
    OutputField::named("attempts.document", &["candidate"]),
    OutputField::named("attempts.evaluation", &["critic"]),
];

/// The suite kind `revision`.
pub const KIND: SuiteKind = SuiteKind {
    name: "revision",
    scorer: "revision/1",
    metrics: RevisionMetrics::TABLE,
    family: None,
    agents: AgentPolicy::ActorsAndCritics,
    score: SampleScore::Value("overall_score", 1.0),
    never: &[
        GuardClass::of_checks(NeverClass::FalseSatisfied, &["not_falsely_satisfied"]),
        GuardClass::on_request(NeverClass::UnintendedChange, "unintended_changes"),
    ],
    seed_gates: SeedGates::Stated,
    sampling: Sampling::Sampled,
    settings: SettingsSpec::of::<RevisionSettings>(),
    legacy_output: LegacyOutput::Attempts,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "agents that revise RTF contracts, and critics of such revisions, with a deterministic verifier",
    open,
    outputs: OutputLists::NONE,
    fields: FIELDS,
    answer: AnswerOutput::UnderOrWhole(&["document", "text"]),
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    description: DescriptionKeys::USUAL,
    schemas: || {
        vec![(
            "revision-instructions",
            schemars::schema_for!(Framed<instructions::Instructions>),
        )]
    },
};

const COUNT: MetricSpec = MetricSpec {
    better: Better::Lower,
    unit: Unit::Count,
    aggregate: Aggregate::Sum,
    ..MetricSpec::PLAIN
};

metrics!(RevisionMetrics {
    satisfied: MetricSpec {
        gates: &[Gate::PERFECT],
        meaning: "documents that reach the quality gate without a critical failure / documents",
        ..MetricSpec::RATE
    },
    overall_score: MetricSpec {
        explained_by: ExplainedBy::Checks(&[
            "entity_substitution",
            "jurisdiction_transformation",
            "liability_reallocation",
            "clause_operations",
            "legal_coherence",
            "format",
            "quality_gate",
        ]),
        meaning: "weighted criteria scores minus penalties, 0 to 1",
        ..MetricSpec::PLAIN
    },
    entity_substitution: MetricSpec {
        explained_by: ExplainedBy::Checks(&["entity_substitution"]),
        meaning: "1 minus 0.15 for each remaining old name, at least 0",
        ..MetricSpec::PLAIN
    },
    jurisdiction_transformation: MetricSpec {
        explained_by: ExplainedBy::Checks(&["jurisdiction_transformation"]),
        meaning: "replaced mentions of the old law or court / all such mentions; 0 if the new law does not appear",
        ..MetricSpec::PLAIN
    },
    liability_reallocation: MetricSpec {
        explained_by: ExplainedBy::Checks(&["liability_reallocation"]),
        meaning: "indemnity sentences in the requested direction / indemnity sentences",
        ..MetricSpec::PLAIN
    },
    clause_operations: MetricSpec {
        explained_by: ExplainedBy::Checks(&["clause_operations"]),
        meaning: "operations done / (operations requested + paragraphs removed without a request)",
        ..MetricSpec::PLAIN
    },
    legal_coherence: MetricSpec {
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        meaning: "1 minus 0.2 for each kind of problem: broken references, orphans, undefined terms, numbering, unrequested changes",
        ..MetricSpec::PLAIN
    },
    remaining_entities: MetricSpec {
        explained_by: ExplainedBy::Checks(&["entity_substitution"]),
        meaning: "occurrences of old names",
        ..COUNT
    },
    broken_references: MetricSpec {
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        meaning: "cross-references to a missing or wrong section",
        ..COUNT
    },
    orphans: MetricSpec {
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        meaning: "unused definitions and sub-clauses whose parent clause is missing",
        ..COUNT
    },
    unintended_changes: MetricSpec {
        explained_by: ExplainedBy::Checks(&["legal_coherence"]),
        meaning: "paragraphs changed without a request",
        ..COUNT
    },
    rtf_corruption: MetricSpec {
        explained_by: ExplainedBy::Checks(&["format"]),
        better: Better::Lower,
        meaning: "documents with a damaged format / documents",
        ..MetricSpec::RATE
    },
    attempts: MetricSpec {
        unit: Unit::Count,
        better: Better::Lower,
        meaning: "attempts in the actor-critic loop",
        ..MetricSpec::PLAIN
    },
    critic_valid: MetricSpec {
        explained_by: ExplainedBy::Checks(&["schema", "arithmetic", "consistent"]),
        meaning: "evaluations that are well-formed, add up and do not contradict themselves / evaluations",
        ..MetricSpec::PLAIN
    },
    false_satisfied: MetricSpec {
        explained_by: ExplainedBy::Checks(&["not_falsely_satisfied"]),
        better: Better::Lower,
        gates: &[Gate::NONE],
        fold: SampleFold::Worst,
        aggregate: Aggregate::Worst,
        meaning: "evaluations satisfied with a document that fails the verifier / evaluations",
        ..MetricSpec::PLAIN
    },
    missed_failures: MetricSpec {
        explained_by: ExplainedBy::Checks(&["failures_found"]),
        meaning: "failures found by the verifier but not by the critic",
        ..COUNT
    },
    invented_failures: MetricSpec {
        explained_by: ExplainedBy::Checks(&["none_invented"]),
        meaning: "criteria that the critic reports as unmet and the verifier as met",
        ..COUNT
    },
    case_pass_rate: CASE_PASS_RATE,
});

struct Revision {
    table: CaseTable<RevisionCase>,
    roles: BTreeMap<AgentName, Role>,
}

fn open(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let settings = suite
        .settings
        .get::<RevisionSettings>()
        .cloned()
        .unwrap_or_default();
    let opened = case::open_cases(suite, files, &settings)?;
    let mut rows = Vec::with_capacity(opened.len());
    for entry in opened {
        let mut pairs = Vec::new();
        for (name, agent) in &suite.agents {
            // A critic gets only the cases that have a revised document.
            if agent.role == Role::Actor || entry.case.judged.is_some() {
                pairs.push(entry.pair(suite, name));
            }
        }
        rows.push((entry.case, pairs));
    }
    let table = CaseTable::of(suite.path.child("cases"), rows);
    let roles = suite
        .agents
        .iter()
        .map(|(name, agent)| (name.clone(), agent.role))
        .collect();
    Ok(Box::new(Revision { table, roles }))
}

impl Revision {
    fn role(&self, pair: &Pair) -> Role {
        self.roles[&pair.agent]
    }
}

impl Suite for Revision {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let (case, role, run) = (self.table.case(pair), self.role(pair), &runs[0]);
        let produced = produced(run, role, case);
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let checker = RevisionChecker {
            case,
            produced: &produced,
            scoring: &case.scoring,
            role,
            classifier,
        };
        let document = match role {
            Role::Actor => document_values(produced.attempts.last()),
            Role::Critic => RevisionMetrics::default(),
        };
        let CriticValues {
            valid,
            falsely_satisfied,
            missed,
            invented,
        } = checker.critic_values();
        let kept = audit::loop_artifact(&produced, &case.scoring, None);
        let checks = checker.checks();
        let values = RevisionMetrics {
            attempts: produced.rounds.map(|rounds| rounds as f64),
            critic_valid: valid,
            false_satisfied: falsely_satisfied,
            missed_failures: missed,
            invented_failures: invented,
            case_pass_rate: Some(indicator(all_hold(&checks))),
            ..document
        };
        Ok(Grade {
            values: values.into_table_order(),
            checks,
            layer: produced.layer,
            shortfalls: Vec::new(),
            kept,
        })
    }

    fn ask(
        &self,
        pair: &Pair,
        _run: &RunKey,
        files: &dyn Files,
    ) -> Result<Option<Ask>, Diagnostic> {
        let scoring = &self.table.case(pair).scoring;
        ask(&pair.golden, self.role(pair), scoring, files).map(Some)
    }

    fn refinement(
        &self,
        pair: &Pair,
        files: &dyn Files,
    ) -> Result<Option<Box<dyn Refinement>>, Diagnostic> {
        match self.role(pair) {
            Role::Actor => Loop::open(&pair.golden, &self.table.case(pair).scoring, files)
                .map(|refinement| Some(Box::new(refinement) as _)),
            Role::Critic => Ok(None),
        }
    }

    fn unfinished(&self, pair: &Pair, run: &Run, why: &UngradedReason) -> Option<Box<str>> {
        let case = self.table.case(pair);
        let produced = produced(run, self.role(pair), case);
        audit::loop_artifact(&produced, &case.scoring, Some(why))
    }

    fn audit(&self, files: &dyn Files) -> Audit {
        case::audit(&self.table.cases, files)
    }
}

/// The metric values of the last document. Without a document, they are the worst ones, and counts are `None`.
fn document_values(last: Option<&VerifiedAttempt>) -> RevisionMetrics<Option<f64>> {
    let Some(verification) = last.map(|attempt| attempt.verification.as_ref()) else {
        return RevisionMetrics {
            satisfied: Some(0.0),
            overall_score: Some(0.0),
            entity_substitution: Some(0.0),
            jurisdiction_transformation: Some(0.0),
            liability_reallocation: Some(0.0),
            clause_operations: Some(0.0),
            legal_coherence: Some(0.0),
            rtf_corruption: Some(1.0),
            ..RevisionMetrics::default()
        };
    };
    let faults = &verification.faults;
    let orphans = count_of(
        faults,
        &[FaultKind::OrphanedDefinition, FaultKind::OrphanedClause],
    );
    RevisionMetrics {
        satisfied: Some(indicator(verification.satisfied)),
        overall_score: Some(verification.overall),
        entity_substitution: Some(verification.score(Criterion::Entities)),
        jurisdiction_transformation: Some(verification.score(Criterion::Jurisdiction)),
        liability_reallocation: Some(verification.score(Criterion::Liability)),
        clause_operations: Some(verification.score(Criterion::Clauses)),
        legal_coherence: Some(verification.score(Criterion::Coherence)),
        remaining_entities: Some(count_of(faults, &[FaultKind::MissedEntity]) as f64),
        broken_references: Some(count_of(faults, &[FaultKind::BrokenReference]) as f64),
        orphans: Some(orphans as f64),
        unintended_changes: Some(count_of(faults, &[FaultKind::Unintended]) as f64),
        rtf_corruption: Some(indicator(
            verification.of(FaultKind::Corrupt).next().is_some(),
        )),
        ..RevisionMetrics::default()
    }
}
