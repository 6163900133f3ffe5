//! Edits every key of the config's schema: a change needs an approval unless it is marked otherwise.

use std::collections::BTreeSet;

use serde_json::Value;

use super::compare;
use crate::files::SourceText;
use crate::golden_changes::found::ChangeCollector;
use crate::golden_changes::{gates, same_suite};
use crate::model::{Config, RepoPath, Tier, Weight};
use crate::suites::{KINDS, SettingEdits, read_config};

/// A config that states every key.
const WHOLE: &str = r#"
version: 1
baseline: baselines/latest.json
results: .goldgate
early_stop: true
regression: 5%
samples: 3
redact: ['sk-[a-z]+']
budget: { max_cost_usd: 2.0, max_tokens: 1000, max_minutes: 5 }
prices: { m: { input: 1.0, output: 2.0, cached_input: 0.5 } }
targets:
  chat: { provider: openai, model: m, base_url: 'https://a.example/v1', api_key_env: A_KEY, temperature: 0.5, max_tokens: 9 }
  cloud: { provider: bedrock, model: m, region: eu-central-1 }
  mine: { command: ['./agent.sh'], protocol: oneshot, env: [A_NAME], concurrency: 2, timeout: 60s }
  seen: { command: [./seen.sh], capture: openai }
  web: { http: 'http://127.0.0.1:1/run', stall: 30s }
suites:
  - id: contracts
    kind: findings
    policy: seed
    path: golden
    tier: [deterministic, model]
    samples: 3
    labels: golden/labels.json
    agents:
      legal:
        fingerprint: ['prompts/**']
        deterministic: { replay: runs }
        model: { target: chat, record: false, prompt: prompts }
      live: { deterministic: { target: mine } }
    judges: { tone: { target: chat, rubric: rubric.md, votes: 3, labels: tone.json, kappa: 0.5 } }
    gates:
      finding_recall: { min: 0.9, zone: 0.1, hard: false }
      tokens: { max: 30000, zone: 30000, in_zone: { max_rise: 500 } }
      false_positive_rate: { max: 0.1 }
      citation_accuracy: { min: baseline, otherwise: 0.5 }
      f1_score: { max_drop: 0.1 }
      quote_grounding: { max_drop: 0.2 }
      gap_recall: { min: 0.3, zone: 0.25, in_zone: { max_drop: 0.03 } }
      severity_accuracy: { off: true, reason: because }
  - { id: cross, kind: cross_agent, path: cross, runs_of: contracts }
  - id: assistant
    kind: tool_use
    path: cases.json
    never: [forbidden_tool]
    floor: 0.5
    no_newly_failing: true
    reasoning: shown
    terms: { disclaimer: d.txt }
    fields: { text: answer }
    checks: [{ name: polite, expr: size(text) > 1, rule: T-1 }]
    metrics: [{ name: words, expr: size(text), better: higher, aggregate: mean, unit: count }]
    agents: { a: { fingerprint: { none: nobody knows }, deterministic: { replay: r } } }
  - id: revision
    kind: revision
    path: revision
    agents:
      critic: { role: critic, fingerprint: [x.md], deterministic: { replay: r } }
      loop: { deterministic: { target: mine, critic: web } }
      code: { deterministic: { replay: exchanges, target: seen, recordings: kept }, fingerprint: [y.md] }
"#;

/// The expected weight of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedChange {
    Nothing,
    Listed,
    Approval,
}

use ExpectedChange::{Approval, Listed, Nothing};

/// A key of the schema, an edit of it (from, to), and the expected weight.
type SettingRow = (&'static str, &'static str, &'static str, ExpectedChange);

const ROWS: &[SettingRow] = &[
    (
        "ConfigFile.early_stop",
        "early_stop: true",
        "early_stop: false",
        Nothing,
    ),
    (
        "ConfigFile.version",
        "version: 1",
        "version: 1 # one",
        Nothing,
    ),
    (
        "ConfigFile.baseline",
        "baselines/latest.json",
        "b.json",
        Nothing,
    ),
    ("ConfigFile.results", ".goldgate", "golden", Nothing),
    (
        "ConfigFile.samples",
        "samples: 3\nredact",
        "samples: 1\nredact",
        Approval,
    ),
    (
        "ConfigFile.suites",
        "- { id: cross, kind: cross_agent, path: cross, runs_of: contracts }",
        "",
        Approval,
    ),
    (
        "ConfigFile.targets",
        "web: { http",
        "more: { http: 'http://127.0.0.1:9/' }\n  web: { http",
        Listed,
    ),
    (
        "ConfigFile.budget",
        "max_minutes: 5",
        "max_minutes: 6",
        Nothing,
    ),
    (
        "ConfigFile.prices",
        "prices: { m:",
        "prices: { n:",
        Approval,
    ),
    ("ConfigFile.redact", "sk-[a-z]+", "x", Approval),
    ("SuiteForm.id", "id: cross", "id: other", Approval),
    (
        "SuiteForm.kind",
        "kind: cross_agent, path: cross, runs_of: contracts",
        "kind: triggers, path: cross",
        Approval,
    ),
    (
        "SuiteForm.was",
        "id: cross",
        "was: across, id: cross",
        Nothing,
    ),
    ("SuiteForm.path", "path: golden", "path: easy", Approval),
    (
        "SuiteForm.tier",
        "tier: [deterministic, model]",
        "tier: [model]",
        Approval,
    ),
    (
        "SuiteForm.samples",
        "samples: 3\n    labels",
        "samples: 1\n    labels",
        Approval,
    ),
    (
        "SuiteForm.samples",
        "samples: 3\n    labels",
        "samples: 5\n    labels",
        Listed,
    ),
    ("SuiteForm.agents", "legal:\n", "other:\n", Approval),
    (
        "SuiteForm.gates",
        "gap_recall: { min: 0.3,",
        "gap_recall: { min: 0.27,",
        Approval,
    ),
    (
        "SuiteForm.runs_of",
        "runs_of: contracts",
        "runs_of: revision",
        Approval,
    ),
    ("SuiteForm.terms", "d.txt", "e.txt", Approval),
    (
        "TermFileForm.file",
        "disclaimer: d.txt",
        "disclaimer: { file: e.txt }",
        Approval,
    ),
    (
        "TermFileForm.whole_words",
        "disclaimer: d.txt",
        "disclaimer: { file: d.txt, whole_words: false }",
        Approval,
    ),
    (
        "SuiteForm.terms",
        "    terms: { disclaimer: d.txt }\n",
        "",
        Approval,
    ),
    (
        "SuiteForm.fields",
        "text: answer",
        "text: [answer, reply]",
        Approval,
    ),
    (
        "SuiteForm.checks",
        "checks: [",
        "checks: [{ name: brief, expr: size(text) < 9 }, ",
        Listed,
    ),
    (
        "SuiteForm.checks",
        "    checks: [{ name: polite, expr: size(text) > 1, rule: T-1 }]\n",
        "",
        Approval,
    ),
    ("OwnCheckForm.name", "name: polite", "name: kind", Approval),
    (
        "OwnCheckForm.expr",
        "size(text) > 1",
        "size(text) > 0",
        Approval,
    ),
    ("OwnCheckForm.rule", "rule: T-1", "rule: T-2", Approval),
    (
        "SuiteForm.metrics",
        "metrics: [",
        "metrics: [{ name: calls, expr: size(calls), better: lower }, ",
        Listed,
    ),
    (
        "OwnMetricForm.name",
        "name: words",
        "name: length",
        Approval,
    ),
    (
        "OwnMetricForm.expr",
        "expr: size(text),",
        "expr: size(calls),",
        Approval,
    ),
    (
        "OwnMetricForm.better",
        "better: higher",
        "better: lower",
        Approval,
    ),
    (
        "OwnMetricForm.aggregate",
        "aggregate: mean",
        "aggregate: worst",
        Approval,
    ),
    ("OwnMetricForm.unit", "unit: count", "unit: usd", Approval),
    (
        "SuiteForm.labels",
        "golden/labels.json",
        "other.json",
        Approval,
    ),
    (
        "SuiteForm.judges",
        "judges: { tone:",
        "judges: { style:",
        Listed,
    ),
    (
        "ConfigFile.regression",
        "regression: 5%",
        "regression: 1%",
        Approval,
    ),
    ("SuiteForm.policy", "    policy: seed\n", "", Approval),
    (
        "SuiteForm.never",
        "never: [forbidden_tool]",
        "never: []",
        Approval,
    ),
    ("SuiteForm.floor", "floor: 0.5", "floor: 0.4", Approval),
    (
        "SuiteForm.no_newly_failing",
        "no_newly_failing: true",
        "no_newly_failing: false",
        Approval,
    ),
    (
        "SuiteForm.reasoning",
        "reasoning: shown",
        "reasoning: hidden",
        Approval,
    ),
    (
        "SuiteForm.no_newly_failing",
        "path: cross, runs_of",
        "path: cross, no_newly_failing: true, runs_of",
        Listed,
    ),
    (
        "NoFingerprintForm.none",
        "none: nobody knows",
        "none: we forgot",
        Approval,
    ),
    (
        "NoFingerprintForm.none",
        "{ none: nobody knows }",
        "['x.md']",
        Listed,
    ),
    (
        "AgentForm.deterministic",
        "deterministic: { target: mine }",
        "deterministic: { target: web }",
        Approval,
    ),
    ("AgentForm.model", "record: false", "record: true", Listed),
    (
        "AgentForm.fingerprint",
        "['prompts/**']",
        "['prompts/a.md']",
        Nothing,
    ),
    (
        "AgentForm.was",
        "legal:\n",
        "legal:\n        was: law\n",
        Nothing,
    ),
    ("AgentForm.role", "role: critic, ", "", Approval),
    (
        "SourceForm.replay",
        "{ replay: runs }",
        "{ replay: moved }",
        Listed,
    ),
    (
        "SourceForm.replay",
        "{ replay: runs }",
        "{ target: mine }",
        Approval,
    ),
    (
        "SourceForm.attempts",
        "{ replay: runs }",
        "{ replay: \"runs/{case}\", attempts: \"attempt_*\" }",
        Listed,
    ),
    (
        "SourceForm.target",
        "{ target: mine }",
        "{ target: web }",
        Approval,
    ),
    ("SourceForm.critic", "critic: web", "critic: mine", Approval),
    (
        "SourceForm.prompt",
        "prompt: prompts",
        "prompt: others",
        Nothing,
    ),
    ("SourceForm.record", "record: false", "record: true", Listed),
    (
        "SourceForm.recordings",
        "recordings: kept",
        "recordings: others",
        Approval,
    ),
    ("GateForm.min", "min: 0.9", "min: 0.8", Approval),
    ("GateForm.min", "min: 0.9", "min: 0.95", Listed),
    ("GateForm.max", "max: 0.1", "max: 0.2", Approval),
    (
        "GateForm.otherwise",
        "otherwise: 0.5",
        "otherwise: 0.4",
        Approval,
    ),
    ("GateForm.zone", "zone: 0.1", "zone: 0.2", Approval),
    (
        "GateForm.in_zone",
        ", in_zone: { max_drop: 0.03 }",
        "",
        Listed,
    ),
    (
        "BandForm.max_drop",
        "max_drop: 0.03",
        "max_drop: 0.04",
        Approval,
    ),
    (
        "BandForm.max_rise",
        "max_rise: 500",
        "max_rise: 400",
        Listed,
    ),
    ("GateForm.hard", "hard: false", "hard: true", Listed),
    (
        "GateForm.max_drop",
        "max_drop: 0.1",
        "max_drop: 0.2",
        Approval,
    ),
    (
        "GateForm.off",
        "citation_accuracy: { min: baseline, otherwise: 0.5 }",
        "citation_accuracy: { off: true, reason: none }",
        Approval,
    ),
    (
        "GateForm.reason",
        "reason: because",
        "reason: why not",
        Listed,
    ),
    (
        "TargetForm.provider",
        "{ provider: openai",
        "{ provider: anthropic",
        Listed,
    ),
    (
        "TargetForm.model",
        "bedrock, model: m",
        "bedrock, model: n",
        Listed,
    ),
    ("TargetForm.base_url", "a.example", "b.example", Listed),
    ("TargetForm.api_key_env", "A_KEY", "B_KEY", Listed),
    ("TargetForm.region", "eu-central-1", "eu-west-1", Listed),
    (
        "TargetForm.temperature",
        "temperature: 0.5",
        "temperature: 0.6",
        Listed,
    ),
    (
        "TargetForm.max_tokens",
        "max_tokens: 9",
        "max_tokens: 8",
        Listed,
    ),
    ("TargetForm.command", "./agent.sh", "./fixture.sh", Approval),
    (
        "TargetForm.capture",
        "capture: openai",
        "capture: anthropic",
        Approval,
    ),
    (
        "TargetForm.protocol",
        "protocol: oneshot",
        "protocol: jsonl",
        Approval,
    ),
    (
        "TargetForm.http",
        "127.0.0.1:1/run",
        "127.0.0.1:2/run",
        Approval,
    ),
    ("TargetForm.env", "env: [A_NAME]", "env: [B_NAME]", Approval),
    (
        "TargetForm.concurrency",
        "concurrency: 2",
        "concurrency: 3",
        Listed,
    ),
    ("TargetForm.timeout", "timeout: 60s", "timeout: 61s", Listed),
    ("TargetForm.stall", "stall: 30s", "stall: 31s", Listed),
    (
        "ConfigFile.approval",
        "samples: 3\nredact",
        "samples: 3\napproval: { label: ok }\nredact",
        Approval,
    ),
    (
        "ApprovalForm.label",
        "samples: 3\nredact",
        "samples: 3\napproval: { label: ok }\nredact",
        Approval,
    ),
    (
        "ApprovalForm.approvers",
        "samples: 3\nredact",
        "samples: 3\napproval: { approvers: admin }\nredact",
        Approval,
    ),
    (
        "ApprovalForm.allow_self_approval",
        "samples: 3\nredact",
        "samples: 3\napproval: { allow_self_approval: true }\nredact",
        Approval,
    ),
    (
        "ApprovalForm.record_label",
        "samples: 3\nredact",
        "samples: 3\napproval: { record_label: again }\nredact",
        Approval,
    ),
    (
        "ApprovalForm.baseline",
        "samples: 3\nredact",
        "samples: 3\napproval: { baseline: any }\nredact",
        Approval,
    ),
    (
        "ConfigFile.recordings",
        "samples: 3\nredact",
        "samples: 3\nrecordings: { trust: ci }\nredact",
        Approval,
    ),
    (
        "RecordingsForm.trust",
        "samples: 3\nredact",
        "samples: 3\nrecordings: { trust: ci }\nredact",
        Approval,
    ),
    (
        "TargetForm.record",
        "stall: 30s",
        "stall: 30s, record: trusted",
        Approval,
    ),
    (
        "BudgetForm.max_cost_usd",
        "max_cost_usd: 2.0",
        "max_cost_usd: 3.0",
        Nothing,
    ),
    (
        "BudgetForm.max_tokens",
        "max_tokens: 1000",
        "max_tokens: 2000",
        Nothing,
    ),
    (
        "BudgetForm.max_minutes",
        "max_minutes: 5",
        "max_minutes: 6",
        Nothing,
    ),
    ("PriceForm.input", "input: 1.0", "input: 3.0", Listed),
    ("PriceForm.input", "input: 1.0", "input: 0.9", Approval),
    ("PriceForm.output", "output: 2.0", "output: 1.9", Approval),
    (
        "PriceForm.cached_input",
        "cached_input: 0.5",
        "cached_input: 0.4",
        Approval,
    ),
    ("PriceForm.cached_input", ", cached_input: 0.5", "", Listed),
    (
        "JudgeForm.target",
        "tone: { target: chat",
        "tone: { target: cloud",
        Listed,
    ),
    ("JudgeForm.rubric", "rubric.md", "other.md", Listed),
    ("JudgeForm.votes", "votes: 3", "votes: 5", Listed),
    ("JudgeForm.labels", "tone.json", "other.json", Listed),
    ("JudgeForm.kappa", "kappa: 0.5", "kappa: 0.4", Listed),
];

/// Keys that other tests cover: the baseline's file, and the files of an agent with its recordings.
const ELSEWHERE: [&str; 4] = [
    "ConfigFile.baseline",
    "AgentForm.fingerprint",
    "SourceForm.prompt",
    "GateForm.max_rise",
];

fn read_text(text: &str) -> Config {
    let source = SourceText::from_text(RepoPath::root().child("goldgate.yaml"), text.to_owned());
    let messages = |problems: crate::diag::Diagnostics| {
        problems.sorted().iter().map(ToString::to_string).collect()
    };
    read_config(&source)
        .map_err(|problems| -> Vec<String> { messages(problems) })
        .unwrap()
}

fn weight_of(before: &str, after: &str) -> ExpectedChange {
    weight_in(before, after, &[Tier::Deterministic])
}

fn weight_in(before: &str, after: &str, deciding: &[Tier]) -> ExpectedChange {
    let (before, after) = (read_text(before), read_text(after));
    let mut found = ChangeCollector::default();
    compare(&before, &after, deciding, &mut found);
    for suite in &after.suites {
        if let Some(old) = same_suite(&before, suite) {
            gates::compare(old, suite, &mut found);
        }
    }
    match found.all().iter().map(|change| change.weight).min() {
        None => Nothing,
        Some(Weight::Listed) => Listed,
        Some(Weight::NeedsApproval) => Approval,
    }
}

#[test]
fn each_key_of_the_config_has_its_weight() {
    for (key, from, to, expected) in ROWS {
        assert_eq!(WHOLE.matches(from).count(), 1, "{key}: {from}");
        assert_eq!(
            weight_of(WHOLE, &WHOLE.replace(from, to)),
            *expected,
            "{key}: {from} -> {to}"
        );
    }
    assert_eq!(weight_of(WHOLE, &format!("# A remark.\n{WHOLE}")), Nothing);
}

/// What answers decides the verdict of a model tier that blocks.
#[test]
fn a_target_of_a_blocking_model_tier_needs_an_approval() {
    for (from, to, expected) in [
        ("{ provider: openai", "{ provider: anthropic", Approval),
        ("model: { target: chat", "model: { target: web", Approval),
        ("concurrency: 2", "concurrency: 3", Listed),
    ] {
        assert_eq!(WHOLE.matches(from).count(), 1, "{from}");
        let after = WHOLE.replace(from, to);
        assert_eq!(weight_of(WHOLE, &after), Listed, "{from} -> {to}");
        assert_eq!(
            weight_in(WHOLE, &after, &[Tier::Deterministic, Tier::Model]),
            expected,
            "{from} -> {to}"
        );
    }
}

/// The keys that a kind adds, in a suite that states all of them.
#[test]
fn each_key_of_a_kind_has_its_weight() {
    for kind in KINDS {
        let SettingEdits { suite, edits } = &kind.settings.edits;
        let whole = format!(
            "version: 1\nsuites:\n  - id: s\n    kind: {}\n    path: p\n{suite}",
            kind.name
        );
        for (key, from, to, weight) in *edits {
            let expected = weight.map_or(Nothing, |weight| match weight {
                Weight::Listed => Listed,
                Weight::NeedsApproval => Approval,
            });
            assert_eq!(
                whole.matches(from).count(),
                1,
                "{}: {key}: {from}",
                kind.name
            );
            assert_eq!(
                weight_of(&whole, &whole.replace(from, to)),
                expected,
                "{key}: {from} -> {to}"
            );
        }
    }
}

/// A new key of the config needs a row that states what its change needs.
#[test]
fn no_key_of_the_schema_is_forgotten() {
    let schema = include_str!("../../../docs/schemas/config.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let keys = |name: &str, of: &Value| -> Vec<String> {
        let properties = of["properties"].as_object().into_iter().flatten();
        properties.map(|(key, _)| format!("{name}.{key}")).collect()
    };
    let mut expected: BTreeSet<String> = keys("ConfigFile", &schema).into_iter().collect();
    schema["$defs"]
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, of)| expected.extend(keys(name, of)));
    let of_kinds = KINDS
        .iter()
        .flat_map(|kind| kind.settings.edits.edits)
        .map(|(key, ..)| *key);
    let known = ROWS
        .iter()
        .map(|(key, ..)| *key)
        .chain(ELSEWHERE)
        .chain(of_kinds);
    let known: BTreeSet<String> = known.map(str::to_owned).collect();
    assert_eq!(known, expected);
}
