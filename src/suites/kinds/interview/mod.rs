//! Kind `interview`: agents that turn a conversation into atoms of intent.

mod checks;
mod scenario;

use std::collections::BTreeSet;

use self::checks::{InterviewChecker, shortfalls};
use self::scenario::{InterviewScenario, InterviewScenarioForm, read_scenario};
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::Files;
use crate::model::{
    AgentName, Ask, CaseId, ExplainedBy, Gate, Grade, MetricSpec, PairResult, Ruling, Run, RunKey,
    SuiteConfig, Unit, all_hold, indicator, share,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CasePairs, FixtureFolder, GoldenForm, LegacyOutput, Pair, RunCaching, SampleScore,
    Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::{NoSettings, SettingsSpec};
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::atoms::{ATOMS, ATOMS_FIELDS, produced};
use crate::suites::shared::case_frame::Framed;
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::client::{Client, Opening};
use crate::suites::shared::failure_classifier::FailureClassifier;
use crate::suites::shared::labels::{LabelContent, Labels};
use crate::suites::shared::own_metrics::{metrics, values_of_sample};
use crate::suites::shared::person_scores::score_remarks;
use crate::suites::shared::rubric::{DIMENSIONS, EDGE_CASE, VAGUE, scores, unmeasured};
use crate::suites::shared::terms::TermList;
use crate::suites::shared::{folder, matching};

pub const KIND: SuiteKind = SuiteKind {
    name: "interview",
    scorer: "interview/1",
    metrics: InterviewMetrics::TABLE,
    family: None,
    agents: AgentPolicy::Named,
    score: SampleScore::Value("rubric_total", 12.0),
    never: &[],
    seed_gates: SeedGates::Stated,
    sampling: Sampling::Sampled,
    settings: SettingsSpec::of::<NoSettings>(),
    legacy_output: LegacyOutput::Evaluations,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &DIMENSIONS,
    terms: &[VAGUE, EDGE_CASE],
    meaning: "agents that turn a conversation into atoms of intent, compared with a scenario's expected atoms",
    open: open_suite,
    outputs: ATOMS,
    fields: ATOMS_FIELDS,
    answer: AnswerOutput::TextOrList("atoms"),
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    description: DescriptionKeys::USUAL,
    schemas: || {
        vec![(
            "interview-scenario",
            schemars::schema_for!(Framed<InterviewScenarioForm<'_>>),
        )]
    },
};

const POINTS: MetricSpec = MetricSpec {
    unit: Unit::Points,
    most: Some(2.0),
    ..MetricSpec::PLAIN
};

metrics!(InterviewMetrics {
    scenario_pass_rate: MetricSpec {
        gates: &[Gate::AS_THE_BASELINE],
        meaning: "readable scenarios with every expected atom, no non-goal, an outcome of every atom, and the minimum rubric score / scenarios",
        ..MetricSpec::RATE
    },
    atom_recall: MetricSpec {
        explained_by: ExplainedBy::Checks(&["expected_atom"]),
        meaning: "expected atoms matched by a produced atom / expected atoms",
        ..MetricSpec::PLAIN
    },
    atom_precision: MetricSpec {
        meaning: "largest one-to-one matching between produced and expected atoms / produced atoms",
        ..MetricSpec::PLAIN
    },
    rubric_total: MetricSpec {
        most: Some(12.0),
        meaning: "points over all six dimensions, 0 to 12",
        ..POINTS
    },
    atom_clarity: MetricSpec {
        meaning: "atoms with an observable outcome and no vague term, 0 to 2",
        ..POINTS
    },
    validator_testability: MetricSpec {
        meaning: "atoms with an executable validator, 0 to 2",
        ..POINTS
    },
    edge_case_coverage: MetricSpec {
        meaning: "questions that name an edge case, 0 to 2",
        ..POINTS
    },
    ambiguity_discipline: MetricSpec {
        meaning: "clarifying questions compared with the expected number, 0 to 2",
        ..POINTS
    },
    invariant_alignment: MetricSpec {
        meaning: "invariants found in some atom, 0 to 2",
        ..POINTS
    },
    compression: MetricSpec {
        meaning: "a suitable number of atoms for the rounds, 0 to 2",
        ..POINTS
    },
});

struct Interview {
    labels: Labels,
    table: CaseTable<InterviewScenario>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let vague = problems.keep(TermList::open(&VAGUE, suite, files));
    let edge_case = problems.keep(TermList::open(&EDGE_CASE, suite, files));
    let (Some(vague), Some(edge_case)) = (vague, edge_case) else {
        return Err(problems);
    };
    let table = folder::open_cases(
        suite,
        files,
        folder::case_folder(suite, files, "scenarios"),
        |source, _| read_scenario(source, &vague, &edge_case),
    )?;
    Ok(Box::new(Interview {
        labels: Labels::open(suite.labels.as_ref(), files)?,
        table,
    }))
}

impl Suite for Interview {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let (scenario, run) = (self.table.case(pair), &runs[0]);
        let (produced, layer) = produced(run);
        let edges: Vec<Vec<usize>> = scenario
            .expected
            .iter()
            .map(|expected| {
                (0..produced.atoms.len())
                    .filter(|atom| expected.matches(&produced.atoms[*atom]))
                    .collect()
            })
            .collect();
        let atoms_found = edges.iter().filter(|edges| !edges.is_empty()).count();
        let mut points = scores(&scenario.measure, &produced, |part| {
            produced.parts.contains(part) || context.has_recorded_part(&pair.agent, part)
        });
        for label in self.labels.of(&pair.agent, &pair.case) {
            if let LabelContent::Score(dimension, score, outputs) = &label.content
                && context.has_outputs(outputs.as_deref())
            {
                points.0[*dimension] = Some(*score);
            }
        }
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let checks = InterviewChecker {
            scenario,
            produced: &produced,
            points,
            classifier,
        }
        .checks(&edges);
        let shortfalls = shortfalls(scenario, &produced, &edges, points);
        let [
            clarity,
            testability,
            edge_cases,
            ambiguity,
            alignment,
            compression,
        ] = points.0.map(|points| points.map(f64::from));
        let values = InterviewMetrics {
            scenario_pass_rate: Some(indicator(all_hold(&checks))),
            atom_recall: share(atoms_found, scenario.expected.len()).or(Some(1.0)),
            atom_precision: share(
                matching::maximum(&edges, produced.atoms.len()),
                produced.atoms.len(),
            )
            .or(Some(indicator(scenario.expected.is_empty()))),
            rubric_total: Some(points.total()),
            atom_clarity: clarity,
            validator_testability: testability,
            edge_case_coverage: edge_cases,
            ambiguity_discipline: ambiguity,
            invariant_alignment: alignment,
            compression,
        };
        let mut values = values_of_sample(InterviewMetrics::TABLE, layer.into(), values);
        for (value, spec) in values.iter_mut().zip(InterviewMetrics::TABLE) {
            if DIMENSIONS.contains(&spec.name) && !points.is_measured(spec.name) {
                *value = None;
            }
        }
        Ok(Grade {
            values,
            checks,
            layer,
            shortfalls,
            kept: None,
        })
    }

    fn remarks(&self, pairs: &[PairResult], _verdict: &Ruling) -> Vec<String> {
        let mut remarks = score_remarks(&self.labels, pairs);
        remarks.extend(unmeasured(|name| {
            let mut values = pairs.iter().flat_map(|pair| &pair.values);
            values.any(|value| &*value.name == name && value.value.is_some())
        }));
        let failing: BTreeSet<(&CaseId, &AgentName)> = pairs
            .iter()
            .filter(|pair| !pair.passed.passes())
            .map(|pair| (&pair.case, &pair.agent))
            .collect();
        for pair in &self.table.pairs.counted {
            if failing.contains(&(&pair.case, &pair.agent)) {
                let shown = &self.table.case(pair).shown;
                let stated = shown.iter().filter(|(_, texts)| !texts.is_empty());
                remarks.extend(stated.map(|(title, texts)| {
                    format!("{title} of {}: {}", pair.case, texts.join("; "))
                }));
            }
        }
        remarks
    }

    fn ask(
        &self,
        pair: &Pair,
        _run: &RunKey,
        _files: &dyn Files,
    ) -> Result<Option<Ask>, Diagnostic> {
        let InterviewScenario {
            context,
            messages,
            persona,
            rounds,
            ..
        } = self.table.case(pair);
        let client = Client {
            context,
            facts: &[],
            opening: if messages.is_empty() {
                Opening::Nothing
            } else {
                Opening::Script(messages)
            },
            persona: persona.as_deref(),
            rounds: *rounds,
        };
        Ok(Some(client.ask()))
    }

    /// The request depends on the case alone.
    fn read_inputs(&self, _pair: &Pair, _files: &dyn Files) {}
}
