//! Kind `reconciliation` (seed 001): agents that say how code, tests and requirements fit together.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use super::blame::{Blame, Fault};
use super::deltas::{Delta, Produced, kinds_by_item, produced};
use super::every_kind::{COMMON, with_common};
use super::expected_deltas::{DeltaForm, ExpectedDeltas};
use super::folder::{Folder, Read};
use super::quarantine::QuarantineForm;
use super::snapshot::{Range, Snapshot};
use super::{Audit, Cast, Desk, Kind, Layout, Pair, Shelf, Suite, folder};
use crate::diag::{Diagnostic, Diagnostics};
use crate::format::Step::Key;
use crate::format::{Place, SourceText, json};
use crate::model::{
    Ask, Check, CheckKey, ExplainedBy, Failure, Gate, Grade, Layer, MetricSpec, Run, Suite as SuiteConfig, indicator,
    share,
};

/// The kind.
pub const KIND: Kind = Kind {
    name: "reconciliation",
    scorer: "reconciliation/1",
    metrics: METRICS,
    cast: Cast::Named,
    layout: Layout::Evaluations,
    terms: &[],
    meaning: "agents that say how code, tests and requirements fit together, against a snapshot of a repository",
    open,
    schemas: || vec![("reconciliation-fixture", schemars::schema_for!(FixtureForm))],
};

/// In the order in which the grade gives them.
const OWN: &[MetricSpec] = &[
    MetricSpec {
        name: "scenario_pass_rate",
        gates: &[Gate::AS_THE_BASELINE],
        meaning: "fixtures whose deltas are all found, grounded, bounded and of the right kind / fixtures",
        ..MetricSpec::RATE
    },
    MetricSpec {
        name: "delta_recall",
        explained_by: ExplainedBy::Checks(&["deltas_found"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "expected pairs of item and kind that were produced / expected pairs",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "delta_precision",
        explained_by: ExplainedBy::Checks(&["kinds_right"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "produced pairs of item and kind that were expected / produced pairs",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "evidence_grounding",
        explained_by: ExplainedBy::Checks(&["evidence_grounded"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "claims that cite a path, test or coverage range, all existing in the snapshot / claims",
        ..MetricSpec::PLAIN
    },
    MetricSpec {
        name: "bounded_actions",
        explained_by: ExplainedBy::Checks(&["actions_bounded"]),
        gates: &[Gate::NO_LARGE_DROP],
        meaning: "1 if there are at most max_recommendations, each with a success condition, else 0",
        ..MetricSpec::PLAIN
    },
];

const METRICS: &[MetricSpec] = &with_common::<{ OWN.len() + COMMON.len() }>(OWN);

/// `fixtures/{case}.json`: a snapshot of a repository, and what is to be said of it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "reconciliation fixture")]
struct FixtureForm {
    /// What there is.
    snapshot: Snapshot,
    /// What has to be found.
    #[serde(default)]
    expected_deltas: Vec<DeltaForm>,
    /// The most recommendations that are right.
    max_recommendations: usize,
    /// The rule of the prompt package that this tests, by id or text.
    rule: Option<String>,
    /// What people should know of the case; nothing is judged by it.
    #[serde(default, rename = "notes")]
    _notes: Option<String>,
    /// Why the case does not gate for a while.
    quarantine: Option<QuarantineForm>,
}

struct Fixture {
    snapshot: Snapshot,
    files: BTreeSet<String>,
    tests: BTreeSet<String>,
    coverage: Vec<Range>,
    expected: ExpectedDeltas,
    most: usize,
    rule: Option<String>,
}

struct Reconciliation {
    folder: Folder<Fixture>,
}

fn open(suite: &SuiteConfig, shelf: &dyn Shelf) -> Result<Box<dyn Suite>, Diagnostics> {
    let folder = folder::open(suite, shelf, suite.path.child("fixtures"), |source, _| read(source))?;
    Ok(Box::new(Reconciliation { folder }))
}

fn read(source: &SourceText) -> Result<Read<Fixture>, Diagnostic> {
    let FixtureForm { snapshot, expected_deltas, max_recommendations, rule, _notes: _, quarantine } =
        json::golden(source)?;
    let place = Place::whole(source);
    let coverage = snapshot.ranges(&place.inner(&[Key("snapshot")]))?;
    let expected = ExpectedDeltas::read(&place, expected_deltas)?;
    let rule = place.rule(rule)?;
    let fixture = Fixture {
        files: snapshot.files.iter().cloned().collect(),
        tests: snapshot.tests.iter().cloned().collect(),
        snapshot,
        coverage,
        expected,
        most: max_recommendations,
        rule,
    };
    Ok(Read { quarantine: quarantine.map(|form| form.stated(&place)), ..Read::plain(fixture) })
}

impl Fixture {
    /// What a claim cites and the snapshot does not have.
    fn unknown<'a>(&self, delta: &'a Delta) -> Vec<&'a str> {
        let Delta { paths, tests, ranges, .. } = delta;
        let covered = |text: &str| {
            Range::read(text).is_some_and(|cited| {
                let known = self.coverage.iter().filter(|known| known.path == cited.path);
                known.into_iter().any(|known| known.from <= cited.from && cited.to <= known.to)
            })
        };
        let paths = paths.iter().filter(|path| !self.files.contains(*path));
        let tests = tests.iter().filter(|test| !self.tests.contains(*test));
        paths.chain(tests).chain(ranges.iter().filter(|range| !covered(range))).map(String::as_str).collect()
    }

    /// Whether a claim cites something, and all that it cites exists.
    fn grounds(&self, delta: &Delta) -> bool {
        delta.paths.len() + delta.tests.len() + delta.ranges.len() > 0 && self.unknown(delta).is_empty()
    }
}

impl Suite for Reconciliation {
    fn pairs(&self) -> &[Pair] {
        &self.folder.pairs
    }

    fn grade(&self, place: usize, runs: &[Run], desk: &Desk<'_>) -> Result<Grade, Diagnostic> {
        let (fixture, pair, run) = (self.folder.case(place), &self.folder.pairs[place], &runs[0]);
        let (produced, layer) = produced(run);
        let kinds = kinds_by_item(&produced.deltas);
        let (made, hit) = (kinds.values().map(BTreeSet::len).sum(), fixture.expected.hit(&kinds));
        let grounded = produced.deltas.iter().filter(|delta| fixture.grounds(delta)).count();
        let bounded =
            produced.conditions.len() <= fixture.most && produced.conditions.iter().all(|one| !one.is_empty());
        let blame = Blame::new(pair, run, desk, &produced.flaws);
        let checks = Reader { fixture, produced: &produced, blame }.checks(&kinds);
        let shortfalls = fixture.expected.surplus(&kinds);
        let mut grade = Grade { values: Vec::new(), checks, layer, shortfalls, kept: None };
        let passed = indicator(grade.passed());
        // Where nothing can be read, that nothing was asked for is no merit.
        let merit = |value: f64| (value == 0.0 || layer != Layer::Unreadable).then_some(value);
        grade.values = vec![
            Some(passed),
            share(hit, fixture.expected.len()).or(merit(1.0)),
            share(hit, made).or(merit(indicator(fixture.expected.is_empty()))),
            share(grounded, produced.deltas.len()),
            merit(indicator(bounded)),
        ];
        Ok(grade)
    }

    fn ask(&self, place: usize, _run: usize, _shelf: &dyn Shelf) -> Result<Option<Ask>, Diagnostic> {
        let fixture = self.folder.case(place);
        Ok(Some(fixture.snapshot.ask(Some(fixture.most))))
    }

    fn audit(&self, shelf: &dyn Shelf) -> Audit {
        self.folder.audit(shelf)
    }
}

/// One sample beside its fixture.
struct Reader<'a> {
    fixture: &'a Fixture,
    produced: &'a Produced,
    blame: Blame<'a>,
}

impl Reader<'_> {
    fn checks(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<Check> {
        let form = "make the agent answer {\"deltas\": [{item, kind, evidence}], \"recommendations\": [{action, success_condition}]}";
        let only = |word, expected: &dyn Fn() -> String, failure| Check::of(word, CheckKey::Only, 1, expected, failure);
        let most = self.fixture.most;
        vec![
            only(
                "schema",
                &|| "an answer of the form {deltas: [], recommendations: []}".to_owned(),
                self.blame.schema(form),
            ),
            only("deltas_found", &|| format!("the deltas {}", self.fixture.expected), self.missing(kinds)),
            only("kinds_right", &|| format!("the kinds {}", self.fixture.expected), self.wrong_kind(kinds)),
            only("evidence_grounded", &|| "claims that cite what the snapshot has".to_owned(), self.ungrounded()),
            only(
                "actions_bounded",
                &|| format!("at most {most} recommendations, each with a success condition"),
                self.unbounded(),
            ),
        ]
    }

    fn missing(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Option<Failure> {
        let missing = self.fixture.expected.missing(kinds);
        (!missing.is_empty()).then(|| {
            let action = match self.fixture.rule.as_deref() {
                Some(rule) if self.blame.had_rule(rule) => {
                    format!("the agent had rule {rule} and did not follow it: give it an example")
                }
                Some(rule) => format!("write rule {rule} into the prompt package"),
                None => "say in the prompt how such an item is told apart, and name the rule in the fixture".to_owned(),
            };
            let detail = format!("not found: {}", missing.join(", "));
            self.blame.failure(Fault::Content, self.fixture.rule.as_deref(), detail, action)
        })
    }

    fn wrong_kind(&self, kinds: &BTreeMap<&str, BTreeSet<&str>>) -> Option<Failure> {
        let wrong = self.fixture.expected.wrong(kinds);
        (!wrong.is_empty()).then(|| {
            let action = "sharpen the classification rules of the prompt package at this item".to_owned();
            self.blame.failure(Fault::Content, self.fixture.rule.as_deref(), wrong.join("; "), action)
        })
    }

    fn ungrounded(&self) -> Option<Failure> {
        let loose = self.produced.deltas.iter().filter(|delta| !self.fixture.grounds(delta));
        let loose: Vec<(&Delta, Vec<&str>)> = loose.map(|delta| (delta, self.fixture.unknown(delta))).collect();
        // What maps to nothing is mended before what is missing, whichever was written first.
        let (loose, unknown) = loose.iter().find(|(_, unknown)| !unknown.is_empty()).or(loose.first())?;
        let (detail, fault) = match unknown.is_empty() {
            true => (format!("{} is claimed without any evidence", loose.item), Fault::Content),
            false => {
                let cited = unknown.join(", ");
                (format!("{} cites what the snapshot does not have: {cited}", loose.item), Fault::Unmapped)
            }
        };
        let action = "make the agent cite only paths, tests and ranges that it was shown";
        Some(self.blame.failure(fault, self.fixture.rule.as_deref(), detail, action.to_owned()))
    }

    fn unbounded(&self) -> Option<Failure> {
        let (found, most) = (self.produced.conditions.len(), self.fixture.most);
        let open = self.produced.conditions.iter().filter(|one| one.is_empty()).count();
        let detail = match (found > most, open) {
            (true, _) => format!("{found} recommendations"),
            (false, 0) => return None,
            (false, open) => format!("{open} of {found} recommendations have no success condition"),
        };
        let action = "make the prompt bound the list of next tasks, each with a success condition";
        Some(self.blame.failure(Fault::Content, None, detail, action.to_owned()))
    }
}
