//! Kind `triggers`: the cross-domain rules themselves, without a model.

use std::collections::BTreeSet;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{Files, SourceText, sha256_hex};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, json};
use crate::model::{
    AgentName, Better, CaseId, Check, CheckKey, ExplainedBy, Failure, Gate, Grade, Layer,
    MetricSpec, NeverClass, RepoPath, Run, SuiteConfig, Tag, all_hold, indicator, share,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CaseIndex, CasePairs, FixtureFolder, GoldenForm, GuardClass, LegacyOutput,
    OutputLists, Pair, RunCaching, SampleScore, Sampling, SeedGates, Suite, SuiteKind,
};
use crate::suites::settings::{NoSettings, SettingsSpec};
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::audit::Audit;
use crate::suites::shared::case_files::{CaseSource, named_cases, suite_folder};
use crate::suites::shared::case_frame::{CaseForm, FRAME_WITHOUT_ANSWER, Framed};
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::finding::{CitationParts, Finding, FindingParts, Severity};
use crate::suites::shared::meaning::digested_case;
use crate::suites::shared::own_metrics::{ByMetric, metrics};
use crate::suites::shared::rules::{Rules, RulesFile};

pub const KIND: SuiteKind = SuiteKind {
    name: "triggers",
    scorer: "triggers/1",
    metrics: TriggersMetrics::TABLE,
    family: None,
    agents: AgentPolicy::Own("rules"),
    score: SampleScore::Checks,
    never: &[GuardClass::of_checks(
        NeverClass::MustNotFind,
        &["must_not_trigger"],
    )],
    seed_gates: SeedGates::Stated,
    sampling: Sampling::Computed,
    settings: SettingsSpec::of::<NoSettings>(),
    legacy_output: LegacyOutput::None,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "rules that call another agent for some findings; no model is called",
    open: open_suite,
    outputs: OutputLists::NONE,
    fields: &[],
    answer: AnswerOutput::None,
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    description: DescriptionKeys::USUAL,
    schemas: || {
        vec![
            (
                "trigger-case",
                schemars::schema_for!(Framed<TriggerCaseForm>),
            ),
            ("trigger-rules", schemars::schema_for!(RulesFile)),
        ]
    },
};

metrics!(TriggersMetrics {
    case_pass_rate: MetricSpec {
        gates: &[Gate::PERFECT],
        meaning: "cases in which exactly the expected rules fired / cases",
        ..MetricSpec::RATE
    },
    trigger_recall: MetricSpec {
        explained_by: ExplainedBy::Checks(&["expected_trigger"]),
        meaning: "expected rules that fired / expected rules",
        ..MetricSpec::PLAIN
    },
    trigger_precision: MetricSpec {
        explained_by: ExplainedBy::Checks(&["must_not_trigger", "no_other_trigger"]),
        meaning: "expected rules that fired / rules that fired",
        ..MetricSpec::PLAIN
    },
    forbidden_trigger_rate: MetricSpec {
        explained_by: ExplainedBy::Checks(&["must_not_trigger"]),
        better: Better::Lower,
        meaning: "forbidden rules that fired / rules that fired",
        ..MetricSpec::PLAIN
    },
});

/// `cases/{case}.json`: findings of one agent, and the rules that they must fire.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "trigger case")]
struct TriggerCaseForm {
    /// The agent that made the findings.
    agent: String,
    /// The findings.
    #[serde(default)]
    findings: Vec<TriggerFindingForm>,
    /// The ids of exactly the rules that must fire.
    #[serde(default)]
    expected_triggers: Vec<String>,
    /// The ids of rules that must not fire.
    #[serde(default)]
    must_not_trigger: Vec<String>,
}

impl CaseForm for TriggerCaseForm {
    const FRAME: &'static [&'static str] = FRAME_WITHOUT_ANSWER;
}

/// A finding, written by a person.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TriggerFindingForm {
    category: String,
    severity: Option<Severity>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    citations: Vec<TriggerCitationForm>,
}

/// A citation of a file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TriggerCitationForm {
    #[serde(default)]
    file: String,
    section: Option<String>,
    #[serde(default)]
    quote: String,
}

struct TriggerCase {
    agent: String,
    findings: Vec<Finding>,
    expected: Vec<(String, u32)>,
    forbidden: Vec<(String, u32)>,
}

struct Triggers {
    folder: RepoPath,
    rules: Rules,
    table: CaseTable<TriggerCase>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let rules = suite_folder(&suite.path).child("rules.yaml");
    let rules = files
        .text(&rules)
        .map_err(Diagnostics::from)
        .and_then(|source| Rules::read(&source));
    let Some(rules) = problems.keep_all(rules) else {
        return Err(problems);
    };
    let folder = suite.path.child("cases");
    let cases = named_cases(suite, files, &folder, &mut problems);
    let agent = AgentName::new("rules")
        .map_err(|bad| Diagnostic::of_file(&folder, Code::BAD_ID, bad.to_string(), bad.help()))?;
    let read: Vec<_> = cases
        .par_iter()
        .map(|case| case.read(files, |source, _| read_golden(case, source, &rules, &agent)))
        .collect();
    let mut rows: Vec<(TriggerCase, [Pair; 1])> = Vec::new();
    for case in read {
        if let Some((pair, case)) = problems.keep(case) {
            rows.push((case, [pair]));
        }
    }
    let table = CaseTable::of(folder, rows);
    problems.or(Box::new(Triggers {
        folder: suite_folder(&suite.path),
        rules,
        table,
    }))
}

fn read_golden(
    file: &CaseSource,
    source: &SourceText,
    rules: &Rules,
    agent: &AgentName,
) -> Result<(Pair, TriggerCase), Diagnostic> {
    let id = CaseId::new(&file.id.text)
        .map_err(|bad| file.problem(&file.id, Code::BAD_ID, bad.to_string(), bad.help()))?;
    let Framed { frame, form } = json::golden::<Framed<TriggerCaseForm>>(source)?;
    let cursor = JsonCursor::whole(source);
    let findings = form.findings.iter().map(|form| {
        Finding::of(&FindingParts {
            category: &form.category,
            severity: form.severity,
            title: &form.title,
            description: &form.description,
            citations: form
                .citations
                .iter()
                .map(|citation| CitationParts {
                    file: &citation.file,
                    section: citation.section.as_deref().unwrap_or_default(),
                    quote: &citation.quote,
                })
                .collect(),
        })
    });
    let case = TriggerCase {
        findings: findings.collect(),
        expected: rule_ids(&cursor, rules, "expected_triggers", form.expected_triggers)?,
        forbidden: rule_ids(&cursor, rules, "must_not_trigger", form.must_not_trigger)?,
        agent: form.agent,
    };
    if let Some((both, _)) = case.forbidden.iter().find(|(id, _)| {
        case.expected
            .iter()
            .any(|(expected_id, _)| expected_id == id)
    }) {
        let message = format!("the rule \"{both}\" is both expected and forbidden");
        let path = [Key("must_not_trigger")];
        return Err(cursor.problem_of_key(
            &path,
            Code::UNSATISFIABLE,
            message,
            "remove it from one of the lists",
        ));
    }
    let stated = frame.case(&cursor, ())?;
    let pair = Pair {
        case: id,
        agent: agent.clone(),
        golden: source.file.clone(),
        digest: sha256_hex(digested_case(&source.text, DescriptionKeys::USUAL).as_bytes()),
        runs: Vec::new(),
        samples: None,
        marks: stated.marks,
        quarantine: stated.quarantine,
        answer: None,
        zone: None,
        case_index: CaseIndex::NOT_SET,
    };
    Ok((pair, case))
}

/// The rule ids of the list under `key`, each with its line.
///
/// # Errors
/// An id without a rule.
pub fn rule_ids(
    cursor: &JsonCursor<'_>,
    rules: &Rules,
    key: &str,
    ids: Vec<String>,
) -> Result<Vec<(String, u32)>, Diagnostic> {
    let mut known = Vec::with_capacity(ids.len());
    for (index, id) in ids.into_iter().enumerate() {
        let cursor = cursor.inner(&[Key(key), At(index)]);
        if let Err(help) = rules.known(&id) {
            let message = format!("unknown rule \"{id}\"");
            return Err(cursor.problem(&[], Code::UNKNOWN_RULE, message, help));
        }
        known.push((id, cursor.line()));
    }
    Ok(known)
}

impl Suite for Triggers {
    fn case_pairs(&self) -> &CasePairs {
        &self.table.pairs
    }

    fn audit(&self, files: &dyn Files) -> Audit {
        let mut audit = Audit::of_folder(files, &self.table.pairs.path);
        let expected: BTreeSet<&str> = self
            .table
            .cases
            .iter()
            .flat_map(|case| &case.expected)
            .map(|(id, _)| id.as_str())
            .collect();
        for id in self.rules.ids().filter(|id| !expected.contains(id)) {
            let message = format!("no case expects the rule \"{id}\", so it is not tested");
            audit.note(
                &self.folder.child("rules.yaml"),
                message,
                "add a case that fires it, or remove the rule",
            );
        }
        audit
    }

    fn grade(
        &self,
        pair: &Pair,
        _runs: &[Run],
        _context: &GradeContext<'_>,
    ) -> Result<Grade, Diagnostic> {
        let case = self.table.case(pair);
        let fired = self.rules.fired(&case.agent, &case.findings);
        let expected = distinct_ids(&case.expected);
        let hit = expected.intersection(&fired).count();
        let wrong = distinct_ids(&case.forbidden).intersection(&fired).count();
        let checks = self.checks(case, &fired);
        let values = TriggersMetrics {
            case_pass_rate: Some(indicator(all_hold(&checks))),
            trigger_recall: Some(share(hit, expected.len()).unwrap_or(1.0)),
            trigger_precision: Some(share(hit, fired.len()).unwrap_or(1.0)),
            forbidden_trigger_rate: Some(share(wrong, fired.len()).unwrap_or(0.0)),
        };
        let (layer, shortfalls) = (Layer::Structured, Vec::new());
        Ok(Grade {
            values: values.into_table_order(),
            checks,
            layer,
            shortfalls,
            kept: None,
        })
    }
}

impl Triggers {
    /// The checks; all pass exactly if the expected rules fired and no other.
    fn checks(&self, case: &TriggerCase, fired: &BTreeSet<&str>) -> Vec<Check> {
        let mut checks = trigger_checks(
            &self.rules,
            &case.expected,
            &case.forbidden,
            fired,
            &|_, detail, next_action| Failure {
                tag: Tag::Routing,
                detail,
                next_action,
            },
        );
        let (expected, forbidden) = (distinct_ids(&case.expected), distinct_ids(&case.forbidden));
        let mut surplus = Vec::new();
        for id in fired {
            if !expected.contains(id) && !forbidden.contains(id) {
                surplus.push(*id);
            }
        }
        let failure = (!surplus.is_empty()).then(|| Failure {
            tag: Tag::Routing,
            detail: format!("unexpected rules fired: {}", surplus.join(", ")),
            next_action: "narrow the rule's conditions in rules.yaml, or expect it here".to_owned(),
        });
        checks.push(Check::of(
            "no_other_trigger",
            CheckKey::Only,
            case.expected.first().map_or(1, |(_, line)| *line),
            || match case.expected.as_slice() {
                [] => "no rule fires".to_owned(),
                expected => {
                    let ids: Vec<&str> = expected.iter().map(|(id, _)| id.as_str()).collect();
                    format!("only these rules fire: {}", ids.join(", "))
                }
            },
            failure,
        ));
        checks
    }
}

/// One check for each expected and each forbidden rule; `classifier` makes a failure from rule id, evidence and next
/// action.
pub fn trigger_checks(
    rules: &Rules,
    expected: &[(String, u32)],
    forbidden: &[(String, u32)],
    fired: &BTreeSet<&str>,
    classifier: &dyn Fn(&str, String, String) -> Failure,
) -> Vec<Check> {
    let mut checks = Vec::new();
    for (id, line) in expected {
        let failure = (!fired.contains(id.as_str())).then(|| {
            let detail = format!(
                "the rule {id} did not fire, so {} is not called",
                rules.calls(id)
            );
            classifier(
                id,
                detail,
                format!(
                    "compare the conditions of {id} in rules.yaml with the findings of this case"
                ),
            )
        });
        checks.push(Check::of(
            "expected_trigger",
            CheckKey::named(id.as_str()),
            *line,
            || format!("the rule {id} fires"),
            failure,
        ));
    }
    for (id, line) in forbidden {
        let failure = fired.contains(id.as_str()).then(|| {
            let detail = format!("the rule {id} fired and called {}", rules.calls(id));
            classifier(
                id,
                detail,
                format!("narrow the conditions of {id} in rules.yaml"),
            )
        });
        checks.push(Check::of(
            "must_not_trigger",
            CheckKey::named(id.as_str()),
            *line,
            || format!("the rule {id} does not fire"),
            failure,
        ));
    }
    checks
}

fn distinct_ids(list: &[(String, u32)]) -> BTreeSet<&str> {
    list.iter().map(|(id, _)| id.as_str()).collect()
}
