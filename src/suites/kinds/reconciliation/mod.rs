//! Kind `reconciliation`: agents that compare code, tests and requirements.

mod fixture;

use std::collections::{BTreeMap, BTreeSet};

use self::fixture::{Fixture, FixtureForm, TestRef, read_fixture};
use crate::diag::{Diagnostic, Diagnostics};
use crate::files::Files;
use crate::model::{
    Ask, Check, CheckKey, ExplainedBy, Failure, Gate, Grade, MetricSpec, Run, RunKey, SuiteConfig,
    all_hold, indicator, share,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CasePairs, FixtureFolder, GoldenForm, LegacyOutput, Pair, RunCaching, SampleScore,
    Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::{NoSettings, SettingsSpec};
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::case_frame::Framed;
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::deltas::{
    DELTAS, DELTAS_FIELDS, Delta, DeltaKind, DeltasOutput, kinds_by_item, produced,
};
use crate::suites::shared::failure_classifier::{CheckFailure, FailureClassifier};
use crate::suites::shared::folder;
use crate::suites::shared::own_metrics::{metrics, values_of_sample};
use crate::suites::shared::snapshot::LineRange;
use crate::text::line;

pub const KIND: SuiteKind = SuiteKind {
    name: "reconciliation",
    scorer: "reconciliation/1",
    metrics: ReconciliationMetrics::TABLE,
    family: None,
    agents: AgentPolicy::Named,
    score: SampleScore::Checks,
    never: &[],
    seed_gates: SeedGates::Stated,
    sampling: Sampling::Sampled,
    settings: SettingsSpec::of::<NoSettings>(),
    legacy_output: LegacyOutput::Evaluations,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "agents that compare code, tests and requirements, checked against a snapshot of a repository",
    open: open_suite,
    outputs: DELTAS,
    fields: DELTAS_FIELDS,
    answer: AnswerOutput::TextOrList("deltas"),
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    description: DescriptionKeys::USUAL,
    schemas: || {
        vec![(
            "reconciliation-fixture",
            schemars::schema_for!(Framed<FixtureForm>),
        )]
    },
};

metrics!(ReconciliationMetrics {
    scenario_pass_rate: MetricSpec {
        gates: &[Gate::AS_THE_BASELINE],
        meaning: "fixtures with all deltas found and of the right kind, evidence grounded, actions and errors bounded, and no linked test reported / fixtures",
        ..MetricSpec::RATE
    },
    delta_recall: MetricSpec {
        explained_by: ExplainedBy::Checks(&["deltas_found"]),
        meaning: "expected pairs of item and kind that were produced / expected pairs",
        ..MetricSpec::PLAIN
    },
    delta_precision: MetricSpec {
        explained_by: ExplainedBy::Checks(&["kinds_right"]),
        meaning: "produced pairs of item and kind that were expected / produced pairs",
        ..MetricSpec::PLAIN
    },
    evidence_grounding: MetricSpec {
        explained_by: ExplainedBy::Checks(&["evidence_grounded"]),
        meaning: "claims that cite a path, test or coverage range, all existing in the snapshot / claims",
        ..MetricSpec::PLAIN
    },
    bounded_actions: MetricSpec {
        explained_by: ExplainedBy::Checks(&["actions_bounded"]),
        meaning: "1 if there are at most max_recommendations, if stated, each with a success condition, else 0",
        ..MetricSpec::PLAIN
    },
});

struct Reconciliation {
    table: CaseTable<Fixture>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let table = folder::open_cases(
        suite,
        files,
        folder::case_folder(suite, files, "fixtures"),
        |source, _| read_fixture(source),
    )?;
    Ok(Box::new(Reconciliation { table }))
}

impl Fixture {
    /// The citations of a claim that the snapshot does not contain.
    fn unknown<'a>(&self, delta: &'a Delta) -> Vec<&'a str> {
        let Delta {
            paths,
            tests,
            ranges,
            ..
        } = delta;
        let mut unknown: Vec<&str> = Vec::new();
        for path in paths {
            if !self.files.contains(path) {
                unknown.push(path);
            }
        }
        for test in tests {
            if !self.tests.contains(test) {
                unknown.push(test);
            }
        }
        for range in ranges {
            if !self.is_covered(range) {
                unknown.push(range);
            }
        }
        unknown
    }

    fn is_covered(&self, range: &str) -> bool {
        let Some(cited) = LineRange::read(range) else {
            return false;
        };
        self.coverage.iter().any(|known| {
            known.path == cited.path && known.from <= cited.from && cited.to <= known.to
        })
    }

    /// Whether a claim cites something, and every citation exists.
    fn grounds(&self, delta: &Delta) -> bool {
        delta.paths.len() + delta.tests.len() + delta.ranges.len() > 0
            && self.unknown(delta).is_empty()
    }
}

impl Suite for Reconciliation {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    fn grade(
        &self,
        pair: &Pair,
        runs: &[Run],
        context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let (fixture, run) = (self.table.case(pair), &runs[0]);
        let (produced, layer) = produced(run);
        let kinds = kinds_by_item(&produced.deltas);
        let (made, hit) = (
            kinds.values().map(BTreeSet::len).sum(),
            fixture.expected.hit(&kinds),
        );
        let grounded = produced
            .deltas
            .iter()
            .filter(|delta| fixture.grounds(delta))
            .count();
        let bounded = fixture
            .most
            .is_none_or(|most| produced.conditions.len() <= most)
            && produced
                .conditions
                .iter()
                .all(|condition| !condition.is_empty());
        let classifier = FailureClassifier::new(pair, run, context, &produced.flaws);
        let checks = ReconciliationChecker {
            fixture,
            produced: &produced,
            classifier,
        }
        .checks(&kinds);
        let shortfalls = fixture.expected.surplus(&kinds);
        let values = ReconciliationMetrics {
            scenario_pass_rate: Some(indicator(all_hold(&checks))),
            delta_recall: share(hit, fixture.expected.len()).or(Some(1.0)),
            delta_precision: share(hit, made).or(Some(indicator(fixture.expected.is_empty()))),
            evidence_grounding: share(grounded, produced.deltas.len()),
            bounded_actions: Some(indicator(bounded)),
        };
        Ok(Grade {
            values: values_of_sample(ReconciliationMetrics::TABLE, layer.into(), values),
            checks,
            layer,
            shortfalls,
            kept: None,
        })
    }

    fn ask(
        &self,
        pair: &Pair,
        _run: &RunKey,
        _files: &dyn Files,
    ) -> Result<Option<Ask>, Diagnostic> {
        let fixture = self.table.case(pair);
        let request = fixture.snapshot.ask(fixture.most, &fixture.contents);
        Ok(Some(request))
    }
}

/// One sample and its fixture.
struct ReconciliationChecker<'a> {
    fixture: &'a Fixture,
    produced: &'a DeltasOutput,
    classifier: FailureClassifier<'a>,
}

impl ReconciliationChecker<'_> {
    fn checks(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<Check> {
        let form = "make the agent answer {\"deltas\": [{item, kind, evidence}], \"recommendations\": [{action, success_condition}]}";
        let mut checks = vec![
            Check::only(
                "schema",
                || "JSON with the lists deltas and recommendations".to_owned(),
                self.classifier.schema(form),
            ),
            Check::only(
                "deltas_found",
                || format!("the deltas {}", self.fixture.expected),
                self.missing(kinds),
            ),
            Check::only(
                "kinds_right",
                || format!("the kinds {}", self.fixture.expected),
                self.wrong_kind(kinds),
            ),
            Check::only(
                "evidence_grounded",
                || "every claim cites parts of the snapshot".to_owned(),
                self.ungrounded(),
            ),
            Check::only(
                "actions_bounded",
                || match self.fixture.most {
                    Some(most) => {
                        format!("recommendations: at most {most}, each with a success condition")
                    }
                    None => "recommendations: each with a success condition".to_owned(),
                },
                self.unbounded(),
            ),
        ];
        for (index, test) in (0_u32..).zip(&self.fixture.linked) {
            checks.push(Check::of(
                "not_orphan",
                CheckKey::At(index),
                1,
                || format!("no orphan \"{}\" of {}", test.test_name, test.file_path),
                self.reported(test),
            ));
        }
        if let Some(most) = self.fixture.most_errors {
            checks.push(Check::only(
                "errors_bounded",
                || format!("errors: at most {most}"),
                self.too_many_errors(most),
            ));
        }
        checks
    }

    fn reported(&self, test: &TestRef) -> Option<Failure> {
        let is_reported = self.produced.deltas.iter().any(|delta| {
            delta.kind == DeltaKind::OrphanTest.as_str()
                && delta.item == test.test_name
                && (delta.paths.is_empty() || delta.paths.contains(&test.file_path))
        });
        if !is_reported {
            return None;
        }
        let detail = format!("\"{}\" is reported, and an atom has it", test.test_name);
        let action = "make the agent read which tests the registry links to an atom".to_owned();
        let rule = self.fixture.rule.as_deref();
        Some(
            self.classifier
                .failure(CheckFailure::Content, rule, detail, action),
        )
    }

    fn too_many_errors(&self, most: usize) -> Option<Failure> {
        let count = self.produced.errors.len();
        let first = self.produced.errors.first().filter(|_| count > most)?;
        let detail = format!("errors: {count}; the first is {}", line(first, 200));
        let action = "fix what the agent reports".to_owned();
        Some(
            self.classifier
                .failure(CheckFailure::Unmapped, None, detail, action),
        )
    }

    fn missing(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Option<Failure> {
        let missing = self.fixture.expected.missing(kinds);
        if missing.is_empty() {
            return None;
        }
        let rule = self.fixture.rule.as_deref();
        let action = match rule {
            Some(rule) if self.classifier.had_rule(rule) => {
                format!("the agent had rule {rule} and did not follow it: add an example")
            }
            Some(rule) => format!("write rule {rule} into the prompt package"),
            None => {
                "make the prompt say how to recognize such an item, and name the rule in the fixture"
                    .to_owned()
            }
        };
        let detail = format!("not found: {}", missing.join(", "));
        Some(
            self.classifier
                .failure(CheckFailure::Content, rule, detail, action),
        )
    }

    fn wrong_kind(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Option<Failure> {
        let wrong = self.fixture.expected.wrong(kinds);
        if wrong.is_empty() {
            return None;
        }
        let action =
            "sharpen the classification rules of the prompt package for this item".to_owned();
        Some(self.classifier.failure(
            CheckFailure::Content,
            self.fixture.rule.as_deref(),
            wrong.join("; "),
            action,
        ))
    }

    fn ungrounded(&self) -> Option<Failure> {
        let loose = self
            .produced
            .deltas
            .iter()
            .filter(|delta| !self.fixture.grounds(delta));
        let loose: Vec<(&Delta, Vec<&str>)> = loose
            .map(|delta| (delta, self.fixture.unknown(delta)))
            .collect();
        // A citation that does not exist comes before a missing one, whatever their order.
        let (loose, unknown) = loose
            .iter()
            .find(|(_, unknown)| !unknown.is_empty())
            .or(loose.first())?;
        let (detail, fault) = if unknown.is_empty() {
            (
                format!("{} is claimed without any evidence", loose.item),
                CheckFailure::Content,
            )
        } else {
            let cited = unknown.join(", ");
            (
                format!("{} cites {cited}, not in the snapshot", loose.item),
                CheckFailure::Unmapped,
            )
        };
        let action = "make the agent cite only paths, tests and ranges of the snapshot";
        Some(self.classifier.failure(
            fault,
            self.fixture.rule.as_deref(),
            detail,
            action.to_owned(),
        ))
    }

    fn unbounded(&self) -> Option<Failure> {
        let count = self.produced.conditions.len();
        let open = self
            .produced
            .conditions
            .iter()
            .filter(|condition| condition.is_empty())
            .count();
        let detail = if self.fixture.most.is_some_and(|most| count > most) {
            format!("recommendations: {count}")
        } else if open > 0 {
            format!("recommendations without a success condition: {open} of {count}")
        } else {
            return None;
        };
        let action = "make the prompt limit the recommendations, each with a success condition";
        Some(
            self.classifier
                .failure(CheckFailure::Content, None, detail, action.to_owned()),
        )
    }
}
