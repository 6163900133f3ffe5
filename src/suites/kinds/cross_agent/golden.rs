//! The golden file of a case: one document, several agents.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::triggers::rule_ids;
use crate::diag::{Code, Diagnostic};
use crate::files::{SourceText, sha256_hex};
use crate::format::Step::{At, Key};
use crate::format::{JsonCursor, Step, json};
use crate::model::{AgentName, BadId, CaseId, RunKey, SuiteId};
use crate::suites::kind::{CaseIndex, Pair};
use crate::suites::shared::case_files::CaseSource;
use crate::suites::shared::case_frame::{CaseForm, FRAME_WITHOUT_ANSWER, Framed};
use crate::suites::shared::case_keys::DescriptionKeys;
use crate::suites::shared::expected::{ExpectedFinding, ExpectedForm};
use crate::suites::shared::match_rules::MatchRules;
use crate::suites::shared::meaning::digested_case;
use crate::suites::shared::rules::Rules;

/// `cases/{case}.json`: one document, several agents.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "cross-agent case")]
pub struct CrossAgentCaseForm<'a> {
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
}

impl CaseForm for CrossAgentCaseForm<'_> {
    const FRAME: &'static [&'static str] = FRAME_WITHOUT_ANSWER;
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

/// A finding that several agents must produce.
pub struct Shared {
    pub expected: ExpectedFinding,
    /// The number of agents that must produce it.
    pub min_agents: usize,
    /// The largest allowed difference between its severities, in steps.
    pub max_spread: u32,
}

/// A case, ready to be graded.
pub struct CrossAgentCase {
    pub agents: Vec<AgentName>,
    /// The findings that several agents must produce.
    pub shared: Vec<Shared>,
    /// Whether each finding may appear in the result of one agent only.
    pub no_duplicates: bool,
    /// Whether the agents must agree on severities.
    pub no_contradictions: bool,
    /// The rules that must fire, with their lines in the golden file.
    pub expected: Vec<(String, u32)>,
    /// The rules that must not fire, with their lines in the golden file.
    pub forbidden: Vec<(String, u32)>,
}

impl CrossAgentCase {
    /// Whether every run would pass. Agents can only contradict each other in shared findings.
    fn is_empty(&self) -> bool {
        self.shared.is_empty()
            && self.expected.is_empty()
            && self.forbidden.is_empty()
            && !self.no_duplicates
    }
}

pub fn read_golden(
    file: &CaseSource,
    source: &SourceText,
    rules: &Rules,
    runs_of: &SuiteId,
) -> Result<(Pair, CrossAgentCase), Diagnostic> {
    let case = CaseId::new(&file.id.text).map_err(|bad| bad_case_id(file, bad))?;
    let Framed { frame, form } = json::golden::<Framed<CrossAgentCaseForm<'_>>>(source)?;
    let cursor = JsonCursor::whole(source);
    let contract =
        CaseId::new(&form.contract).map_err(|bad| bad_id(&cursor, &[Key("contract")], bad))?;
    let mut agents = Vec::new();
    for (index, agent) in form.agents.iter().enumerate() {
        let agent = AgentName::new(agent)
            .map_err(|bad| bad_id(&cursor, &[Key("agents"), At(index)], bad))?;
        agents.push(agent);
    }
    if agents.iter().collect::<BTreeSet<_>>().len() != agents.len() || agents.len() < 2 {
        return Err(cursor.problem_of_key(
            &[Key("agents")],
            Code::BAD_AGENTS,
            "the case has fewer than two agents, or names one of them twice",
            "name two or more different agents",
        ));
    }
    cursor.few_expectations("shared_findings", form.shared_findings.len())?;
    let mut shared = Vec::new();
    for raw in &form.shared_findings {
        shared.push(read_shared(
            &JsonCursor::part(source, raw),
            &form,
            agents.len(),
        )?);
    }
    let mut runs = Vec::with_capacity(agents.len());
    for agent in &agents {
        runs.push(RunKey {
            suite: runs_of.clone(),
            agent: agent.clone(),
            case: contract.clone(),
        });
    }
    let stated = frame.case(&cursor, ())?;
    let pair = Pair {
        case,
        agent: AgentName::new("all").map_err(|bad| bad_case_id(file, bad))?,
        digest: sha256_hex(digested_case(&source.text, DescriptionKeys::USUAL).as_bytes()),
        runs,
        samples: None,
        marks: stated.marks,
        quarantine: stated.quarantine,
        answer: None,
        zone: None,
        golden: source.file.clone(),
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
    if case.is_empty() {
        let help =
            "add shared_findings, expected_triggers or must_not_trigger, or no_duplicates: true";
        let message = "the case requires nothing";
        return Err(cursor.problem(&[], Code::ASKS_NOTHING, message, help));
    }
    Ok((pair, case))
}

fn bad_case_id(file: &CaseSource, bad: BadId) -> Diagnostic {
    file.problem(&file.id, Code::BAD_ID, bad.to_string(), bad.help())
}

fn bad_id(cursor: &JsonCursor<'_>, path: &[Step<'_>], bad: BadId) -> Diagnostic {
    cursor.problem(path, Code::BAD_ID, bad.to_string(), bad.help())
}

fn read_shared(
    cursor: &JsonCursor<'_>,
    form: &CrossAgentCaseForm<'_>,
    agents: usize,
) -> Result<Shared, Diagnostic> {
    let SharedForm {
        expected,
        min_agents,
        max_severity_spread,
    } = SharedForm::read(cursor)?;
    let min_agents = min_agents.unwrap_or(form.min_agents);
    if min_agents == 0 || min_agents > agents {
        let message = format!("min_agents is {min_agents}, the case has {agents} agents");
        let help = format!("write 1 to {agents}");
        return Err(cursor.problem_of_key(
            &[Key("min_agents")],
            Code::UNSATISFIABLE,
            message,
            help,
        ));
    }
    Ok(Shared {
        expected: ExpectedFinding::of(expected, cursor, &MatchRules::default())?,
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
        let Own {
            min_agents,
            max_severity_spread,
        } = cursor.read()?;
        let mut fields: serde_json::Map<String, Value> = cursor.read()?;
        if fields.get("required") == Some(&Value::Bool(false)) {
            let message = "a shared finding is always required, so required: false has no effect";
            let help = "remove required; remove the finding if no agent has to make it";
            return Err(cursor.problem_of_key(&[Key("required")], Code::NO_EFFECT, message, help));
        }
        fields.remove("min_agents");
        fields.remove("max_severity_spread");
        let expected = serde_json::from_value(fields.into()).map_err(|error| {
            let message = format!("not a valid expected finding: {error}");
            cursor.problem(
                &[],
                Code::BAD_VALUE,
                message,
                "write it as in expected/{agent}/{contract}.json",
            )
        })?;
        Ok(Self {
            expected,
            min_agents,
            max_severity_spread,
        })
    }
}
