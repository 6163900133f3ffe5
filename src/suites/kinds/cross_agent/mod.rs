//! Kind `cross_agent` (seed 000): compares the runs of several agents on one document.

mod passages;
mod view;

use std::collections::BTreeSet;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use self::view::View;
use super::triggers::{rule_ids, trigger_checks};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::files::{EntryKind, Files, read_case, sha256_hex};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json};
use crate::model::{
    AgentName, BadId, Better, CaseId, Edge, ExplainedBy, Gate, Grade, Layer, Limit, LimitSide, MetricSpec, RepoPath,
    Run, RunKey, SuiteConfig, SuiteId, all_hold, indicator, share,
};
use crate::suites::GradeContext;
use crate::suites::kind::{
    AgentPolicy, CaseIndex, FixtureFolder, GoldenForm, LegacyOutput, Pair, RunCaching, Suite, SuiteKind,
};
use crate::suites::settings::{NoSettings, SettingsSpec};
use crate::suites::shared::answer::text::AnswerOutput;
use crate::suites::shared::audit::Audit;
use crate::suites::shared::case_table::CaseTable;
use crate::suites::shared::every_kind::CASE_PASS_RATE;
use crate::suites::shared::expected::{ExpectedFinding, ExpectedForm};
use crate::suites::shared::failure_classifier::FailureClassifier;
use crate::suites::shared::meaning::without_notes;
use crate::suites::shared::own_metrics::{ByMetric, metrics};
use crate::suites::shared::produced::{FINDINGS, FindingsOutput, produced};
use crate::suites::shared::quarantine::QuarantineForm;
use crate::suites::shared::rules::Rules;

/// The kind.
pub const KIND: SuiteKind = SuiteKind {
    name: "cross_agent",
    scorer: "cross_agent/1",
    metrics: CrossAgentMetrics::TABLE,
    agents: AgentPolicy::OwnWithRunsOf("all"),
    settings: SettingsSpec::of::<NoSettings>(),
    legacy_output: LegacyOutput::None,
    fixtures: FixtureFolder::InSuite,
    label_dimensions: &[],
    terms: &[],
    meaning: "several agents on one document: what they should share, repeat and agree on",
    open: open_suite,
    outputs: FINDINGS,
    answer: AnswerOutput::None,
    caching: RunCaching::Usual,
    golden: GoldenForm::OneCase,
    history_keys: &[],
    schemas: || vec![("cross-agent-case", schemars::schema_for!(CrossAgentCaseForm<'_>))],
};

metrics!(CrossAgentMetrics {
    cross_recall: MetricSpec {
        name: "cross_recall",
        explained_by: ExplainedBy::Checks(&["shared_finding"]),
        gates: &[Gate::Threshold { side: LimitSide::Min, limit: Limit::Number(0.80), edge: Edge::Hard }],
        meaning: "shared findings that enough agents produced / shared findings",
        ..MetricSpec::PLAIN
    },
    duplicate_rate: MetricSpec {
        name: "duplicate_rate",
        better: Better::Lower,
        gates: &[Gate::NO_LARGE_RISE],
        meaning: "findings that another agent also produced, by category and quote or wording / findings",
        ..MetricSpec::PLAIN
    },
    contradiction_rate: MetricSpec {
        name: "contradiction_rate",
        explained_by: ExplainedBy::Checks(&["no_contradiction"]),
        better: Better::Lower,
        gates: &[Gate::Threshold { side: LimitSide::Max, limit: Limit::Number(0.0), edge: Edge::Hard }],
        meaning: "shared findings whose severities differ too much between agents / shared findings",
        ..MetricSpec::PLAIN
    },
    case_pass_rate: MetricSpec { gates: &[Gate::AS_THE_BASELINE], ..CASE_PASS_RATE },
});

/// `cases/{case}.json`: one document, several agents.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "cross-agent case")]
struct CrossAgentCaseForm<'a> {
    /// The document: a case of the suite that `runs_of` names.
    contract: String,
    /// The agents.
    agents: Vec<String>,
    /// The number of agents that must produce a shared finding; 2 by default.
    #[serde(default = "two")]
    min_agents: usize,
    /// The findings that several agents must produce.
    // Borrowed from the text, so that every part has a position.
    #[serde(borrow, default)]
    #[schemars(with = "Vec<SharedForm>")]
    shared_findings: Vec<&'a RawValue>,
    /// Whether each finding may appear in the result of one agent only.
    #[serde(default)]
    no_duplicates: bool,
    /// Whether the agents must agree on severities; true by default. If false, the case has no `contradiction_rate`.
    #[serde(default = "yes")]
    no_contradictions: bool,
    /// The largest allowed difference between the severities of one shared finding, in steps; 1 by default.
    #[serde(default = "one")]
    max_severity_spread: u32,
    /// The ids of rules of `rules.yaml` that must fire on the agents' findings.
    #[serde(default)]
    expected_triggers: Vec<String>,
    /// The ids of rules that must not fire.
    #[serde(default)]
    must_not_trigger: Vec<String>,
    /// A note for people; grading ignores it.
    #[serde(default, rename = "notes")]
    _notes: Option<String>,
    /// Why the case is excluded from gating for now.
    quarantine: Option<QuarantineForm>,
}

/// An expected finding with its own values of two settings of the case; it is always required.
#[derive(JsonSchema)]
#[schemars(rename = "SharedSchema")]
struct SharedForm {
    #[serde(flatten)]
    expected: ExpectedForm,
    /// The number of agents that must produce it.
    min_agents: Option<usize>,
    /// The largest allowed difference between its severities, in steps.
    max_severity_spread: Option<u32>,
}

fn two() -> usize {
    2
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

struct Shared {
    expected: ExpectedFinding,
    min_agents: usize,
    max_spread: u32,
}

struct CrossAgentCase {
    agents: Vec<AgentName>,
    shared: Vec<Shared>,
    no_duplicates: bool,
    no_contradictions: bool,
    expected: Vec<(String, u32)>,
    forbidden: Vec<(String, u32)>,
}

/// The documents that the agents may cite.
struct Documents {
    folder: RepoPath,
    /// Their file names.
    names: BTreeSet<String>,
}

struct CrossAgent {
    folder: RepoPath,
    /// The documents that the agents may cite; `None` if they are unknown.
    documents: Option<Documents>,
    rules: Rules,
    table: CaseTable<CrossAgentCase>,
}

fn open_suite(suite: &SuiteConfig, files: &dyn Files) -> Result<Box<dyn Suite>, Diagnostics> {
    let mut problems = Diagnostics::default();
    let Some(runs_of) = suite.runs_of.as_ref() else {
        let help = "name the suite whose runs are compared";
        return Err(Diagnostic::of_file(
            &suite.path,
            Code::MISSING_KEY,
            format!("the suite \"{}\" has no runs_of", suite.id),
            help,
        )
        .into());
    };
    let has_rules = files.list(&suite.path).is_ok_and(|entries| entries.iter().any(|entry| entry.name == "rules.yaml"));
    let rules = match has_rules {
        true => files
            .text(&suite.path.child("rules.yaml"))
            .map_err(Diagnostics::from)
            .and_then(|source| Rules::read(&source)),
        false => Ok(Rules::default()),
    };
    let rules = problems.keep_all(rules).unwrap_or_default();
    // If they cannot be listed, their own suite reports it.
    let documents = suite.runs_in.as_ref().and_then(|path| {
        let folder = path.child("contracts");
        let names = files.list(&folder).ok()?.into_iter().map(|entry| entry.name).collect();
        Some(Documents { folder, names })
    });
    let folder = suite.path.child("cases");
    let entries = problems.keep(files.list(&folder)).unwrap_or_default();
    let names: Vec<String> =
        entries.into_iter().filter(|entry| entry.kind == EntryKind::File).map(|entry| entry.name).collect();
    let read: Vec<_> = names
        .par_iter()
        .filter_map(|name| {
            let stem = name.strip_suffix(".json")?;
            let file = folder.child(name);
            Some(read_case(files, &file, |own| read_golden(own, &rules, runs_of, file.clone(), stem)))
        })
        .collect();
    let read: Vec<(Pair, CrossAgentCase)> = read.into_iter().filter_map(|one| problems.keep(one)).collect();
    let table = CaseTable::of(read.into_iter().map(|(pair, case)| (case, [pair])));
    problems.or(Box::new(CrossAgent { folder, documents, rules, table }))
}

fn read_golden(
    files: &dyn Files,
    rules: &Rules,
    runs_of: &SuiteId,
    file: RepoPath,
    stem: &str,
) -> Result<(Pair, CrossAgentCase), Diagnostic> {
    let bad_id = |bad: BadId| Diagnostic::of_file(&file, Code::BAD_ID, bad.to_string(), bad.help());
    let case = CaseId::new(stem).map_err(bad_id)?;
    let source = files.text(&file)?;
    let form: CrossAgentCaseForm<'_> = json::golden(&source)?;
    let cursor = JsonCursor::whole(&source);
    let bad = |path: &[Step<'_>], bad: BadId| cursor.problem(path, Code::BAD_ID, bad.to_string(), bad.help());
    let contract = CaseId::new(&form.contract).map_err(|id| bad(&[Key("contract")], id))?;
    let mut agents = Vec::new();
    for (at, agent) in form.agents.iter().enumerate() {
        agents.push(AgentName::new(agent).map_err(|id| bad(&[Key("agents"), At(at)], id))?);
    }
    if agents.iter().collect::<BTreeSet<_>>().len() != agents.len() || agents.len() < 2 {
        return Err(cursor.problem_of_key(
            &[Key("agents")],
            Code::BAD_AGENTS,
            "the case has fewer than two agents, or names one of them twice",
            "name two or more different agents",
        ));
    }
    let mut shared = Vec::new();
    for raw in &form.shared_findings {
        shared.push(read_shared(&JsonCursor::part(&source, raw), &form, agents.len())?);
    }
    let mut runs: Vec<RunKey> = Vec::new();
    for agent in &agents {
        runs.push(RunKey { suite: runs_of.clone(), agent: agent.clone(), case: contract.clone() });
    }
    let pair = Pair {
        case,
        agent: AgentName::new("all").map_err(bad_id)?,
        digest: sha256_hex(without_notes(&source.text).as_bytes()),
        runs,
        samples: None,
        quarantine: form.quarantine.map(|form| form.stated(&cursor)),
        answer: None,
        zone: None,
        golden: file,
        case_index: CaseIndex::NOT_SET,
    };
    let case = CrossAgentCase {
        agents,
        shared,
        no_duplicates: form.no_duplicates,
        no_contradictions: form.no_contradictions,
        expected: rule_ids(&cursor, rules, "expected_triggers", form.expected_triggers)?,
        forbidden: rule_ids(&cursor, rules, "must_not_trigger", form.must_not_trigger)?,
    };
    Ok((pair, case))
}

fn read_shared(cursor: &JsonCursor<'_>, form: &CrossAgentCaseForm<'_>, agents: usize) -> Result<Shared, Diagnostic> {
    let SharedForm { expected, min_agents, max_severity_spread } = SharedForm::read(cursor)?;
    let min_agents = min_agents.unwrap_or(form.min_agents);
    if min_agents == 0 || min_agents > agents {
        let what = format!("min_agents is {min_agents}, the case has {agents} agents");
        let help = format!("write 1 to {agents}");
        return Err(cursor.problem_of_key(&[Key("min_agents")], Code::UNSATISFIABLE, what, help));
    }
    Ok(Shared {
        expected: ExpectedFinding::of(expected, cursor, None)?,
        min_agents,
        max_spread: max_severity_spread.unwrap_or(form.max_severity_spread),
    })
}

impl SharedForm {
    /// Reads the two settings, and the rest as an expected finding, which refuses unknown keys.
    fn read(cursor: &JsonCursor<'_>) -> Result<Self, Diagnostic> {
        #[derive(Deserialize)]
        struct Own {
            min_agents: Option<usize>,
            max_severity_spread: Option<u32>,
        }
        let Own { min_agents, max_severity_spread } = cursor.read()?;
        let mut fields: serde_json::Map<String, Value> = cursor.read()?;
        if fields.get("required") == Some(&Value::Bool(false)) {
            let what = "a shared finding is always required, so required: false has no effect";
            let help = "remove required; remove the finding if no agent has to make it";
            return Err(cursor.problem_of_key(&[Key("required")], Code::NO_EFFECT, what, help));
        }
        fields.remove("min_agents");
        fields.remove("max_severity_spread");
        let expected = serde_json::from_value(fields.into()).map_err(|error| {
            let what = format!("not a valid expected finding: {error}");
            cursor.problem(&[], Code::BAD_VALUE, what, "write it as in expected/{agent}/{contract}.json")
        })?;
        Ok(Self { expected, min_agents, max_severity_spread })
    }
}

impl Suite for CrossAgent {
    fn pairs(&self) -> &[Pair] {
        self.table.pairs()
    }

    fn audit(&self, files: &dyn Files) -> Audit {
        let mut audit = Audit::default();
        audit.strays(files, &self.folder);
        audit
    }

    fn grade(&self, pair: &Pair, runs: &[Run], context: &GradeContext<'_>) -> Result<Grade, Diagnostic> {
        let case = self.table.case(pair);
        let produced: Vec<FindingsOutput> = runs.iter().map(produced).collect();
        let blames: Vec<FailureClassifier<'_>> = case
            .agents
            .iter()
            .zip(runs)
            .zip(&produced)
            .map(|((agent, run), one)| FailureClassifier::of(agent, run, context, &one.flaws))
            .collect();
        let view = View { case, produced: &produced, blames: &blames, documents: self.documents.as_ref() };
        let doubled = view.duplicates(context)?;
        let all = produced.iter().map(|one| one.findings.len()).sum();
        let found = case.shared.iter().filter(|shared| view.finders(shared).len() >= shared.min_agents).count();
        let contradicted = || case.shared.iter().filter(|shared| view.spread(shared) > shared.max_spread).count();
        // Without a required agreement nothing is measured, so that no gate can fail on it.
        let contradictions = case.no_contradictions.then(|| share(contradicted(), case.shared.len()).unwrap_or(0.0));
        let mut checks = view.checks(&doubled);
        let fired = view.fired(&self.rules);
        let all_fired: BTreeSet<&str> = fired.iter().flatten().copied().collect();
        let classifier =
            |id: &str, detail: String, action: String| view.wrongly_called(&self.rules, &fired, id, &detail, &action);
        checks.extend(trigger_checks(&self.rules, &case.expected, &case.forbidden, &all_fired, &classifier));
        let layer = produced.iter().map(|one| one.layer).max().unwrap_or(Layer::Structured);
        // An unreadable answer repeats and contradicts nothing; that earns no points.
        let merit = |value: &f64| *value > 0.0 || layer != Layer::Unreadable;
        let values = CrossAgentMetrics {
            cross_recall: share(found, case.shared.len()),
            duplicate_rate: Some(share(doubled.len(), all).unwrap_or(0.0)).filter(merit),
            contradiction_rate: contradictions.filter(merit),
            case_pass_rate: Some(indicator(all_hold(&checks))),
        };
        let shortfalls = view.shortfalls(&doubled);
        Ok(Grade { values: values.into_table_order(), checks, shortfalls, layer, kept: None })
    }
}
