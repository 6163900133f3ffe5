//! Tables of mistakes in workflows and branch rules, and the workflows that ship.

use super::of_rules;
use crate::diag::Diagnostics;
use crate::files::SourceText;
use crate::format::workflow::{Workflow, read_workflow};
use crate::github::client::{BranchRules, QueueGrouping, RequiredCheck};
use crate::github::setup::gate_step::GateStep;
use crate::model::RepoPath;

fn workflow(name: &str, text: &str) -> Workflow {
    let file = RepoPath::root().child(name);
    read_workflow(&SourceText::new(file, text.as_bytes().to_vec()).unwrap()).unwrap()
}

const GATE: &str = "\
run-name: goldgate ${{ github.sha }}
on:
  pull_request: {types: [opened, synchronize, reopened, labeled, unlabeled, edited]}
  merge_group:
jobs:
  gate:
    name: Gate
    permissions: {contents: read, pull-requests: write, actions: read}
    steps:
      - uses: acme/goldgate@0123456789012345678901234567890123456789
";

fn of_workflows(workflows: &[Workflow]) -> Diagnostics {
    super::of_workflows(&GateStep::all(workflows))
}

fn codes(problems: Diagnostics) -> Vec<&'static str> {
    problems
        .sorted()
        .iter()
        .map(|problem| problem.code.as_str())
        .collect()
}

fn of_gate(text: &str) -> Vec<&'static str> {
    codes(of_workflows(&[workflow("gate.yml", text)]))
}

#[test]
fn the_workflows_that_ship_have_no_problem() {
    const SHARED: [(&str, &str); 2] = [
        (
            "model.yml",
            include_str!("../../../../docs/workflows/goldgate-model.yml"),
        ),
        (
            "record.yml",
            include_str!("../../../../docs/workflows/goldgate-record.yml"),
        ),
    ];
    for gate in [
        include_str!("../../../../docs/workflows/goldgate.yml"),
        include_str!("../../../../docs/workflows/goldgate-trusted.yml"),
    ] {
        let shared = SHARED.map(|(name, text)| workflow(name, text));
        let all: Vec<_> = shared
            .into_iter()
            .chain([workflow("gate.yml", gate)])
            .collect();
        assert_eq!(of_workflows(&all).sorted(), [], "{gate}");
    }
}

#[test]
fn each_mistake_in_a_workflow_is_found() {
    assert_eq!(of_gate(GATE), [] as [&str; 0]);
    for (from, to, code) in [
        (", edited]", "]", "missing-type"),
        (", unlabeled", "", "missing-type"),
        ("edited]}", "edited], paths: [src]}", "filtered"),
        (
            "    name: Gate\n",
            "    name: Gate\n    if: github.actor != 'bot'\n",
            "skippable",
        ),
        (
            "    name: Gate\n",
            "    name: Gate\n    needs: build\n",
            "skippable",
        ),
        ("contents: read", "contents: none", "missing-permission"),
        (", pull-requests: write", "", "missing-permission"),
        (", actions: read", "", "missing-permission"),
        ("run-name: goldgate ${{ github.sha }}\n", "", "no-run-name"),
        (
            "    name: Gate\n",
            "    name: Gate\n    concurrency: one\n",
            "grouped-gate",
        ),
        (
            "jobs:\n",
            "concurrency: { group: a }\njobs:\n",
            "grouped-gate",
        ),
        (
            "    name: Gate\n",
            "    name: Gate\n    if: ${{ always() && github.actor != 'bot' }}\n",
            "skippable",
        ),
        (
            "    name: Gate\n",
            "    name: Gate\n    continue-on-error: true\n",
            "ignored-failure",
        ),
        (
            "6789\n",
            "6789\n        continue-on-error: ${{ true }}\n",
            "ignored-failure",
        ),
        ("acme/goldgate@", "acme/other@", "no-gate"),
        (
            "    steps:",
            "    steps:\n      - {uses: acme/goldgate@v1, with: {tier: model}}\n    x:",
            "no-gate",
        ),
    ] {
        let changed = GATE.replace(from, to);
        assert_ne!(changed, GATE, "{from}");
        assert_eq!(of_gate(&changed), [code], "{from} -> {to}");
    }
    let always = GATE.replace(
        "    name: Gate\n",
        "    name: Gate\n    needs: [a, b]\n    if: ${{ always() }}\n",
    );
    assert_eq!(of_gate(&always), [] as [&str; 0]);
    assert_eq!(
        of_gate(&GATE.replace(
            "    name: Gate\n",
            "    name: Gate\n    continue-on-error: false\n"
        )),
        [] as [&str; 0]
    );
    assert_eq!(codes(of_workflows(&[])), ["no-gate"]);
}

#[test]
fn conditions_types_and_pins_are_read_exactly() {
    for condition in ["always()", "${{ !cancelled() }}"] {
        let own = format!("    name: Gate\n    if: \"{condition}\"\n");
        assert_eq!(
            of_gate(&GATE.replace("    name: Gate\n", &own)),
            [] as [&str; 0],
            "{condition}"
        );
    }
    for (reference, wanted) in [
        ("v1", 1),
        ("main", 1),
        ("0123456789012345678901234567890123456789", 0),
    ] {
        let step = format!("    steps:\n      - uses: acme/goldgate/setup@{reference}\n");
        let found = super::of_setup(&[workflow("gate.yml", &GATE.replace("    steps:\n", &step))]);
        assert_eq!(codes(found), vec!["not-pinned"; wanted], "{reference}");
    }
}

fn required(name: &str, app: Option<u64>) -> RequiredCheck {
    RequiredCheck {
        name: name.to_owned(),
        app,
    }
}

fn rules_of(gate: &str, rules: &BranchRules) -> Diagnostics {
    let workflows = [workflow("gate.yml", gate)];
    of_rules(&workflows, &GateStep::all(&workflows), "main", rules)
}

#[test]
fn each_mistake_in_the_rules_of_a_branch_is_found() {
    let table = [
        (vec![required("Gate", Some(15_368))], None, vec![]),
        (vec![], None, vec!["not-required"]),
        (vec![required("Gate", None)], None, vec!["any-source"]),
        (
            vec![required("gate", Some(15_368))],
            None,
            vec!["not-required", "other-name"],
        ),
        // A typing error, and a check of a workflow that is not there. Other systems report checks, too.
        (
            vec![
                required("Gate", Some(15_368)),
                required("Gaet", Some(15_368)),
            ],
            None,
            vec!["other-name"],
        ),
        (
            vec![
                required("Gate", Some(15_368)),
                required("Gaet", None),
                required("Gaet", Some(7)),
            ],
            None,
            vec![],
        ),
        (
            vec![required("Gate", Some(15_368))],
            Some(QueueGrouping::Every),
            vec![],
        ),
        (
            vec![required("Gate", Some(15_368))],
            Some(QueueGrouping::OnlyLast),
            vec!["queue-grouping"],
        ),
    ];
    for (required, queue, wanted) in table {
        let rules = BranchRules {
            required,
            queue,
            ..BranchRules::default()
        };
        let mut found = codes(rules_of(GATE, &rules));
        found.sort_unstable();
        assert_eq!(found, wanted, "{rules:?}");
    }
    let rules = BranchRules {
        required: vec![required("Gate", Some(15_368))],
        queue: Some(QueueGrouping::Every),
        ..BranchRules::default()
    };
    assert_eq!(
        codes(rules_of(&GATE.replace("  merge_group:\n", ""), &rules)),
        ["no-merge-group"]
    );
}

#[test]
fn a_filter_that_leaves_out_the_branch_is_found() {
    let rules = BranchRules {
        required: vec![required("Gate", Some(15_368))],
        ..BranchRules::default()
    };
    for (filter, wanted) in [
        ("branches: [develop]", vec!["filtered"]),
        ("branches-ignore: [main]", vec!["filtered"]),
        ("branches: [develop, main]", vec![]),
        ("branches: ['ma*']", vec![]),
        ("branches-ignore: [develop]", vec![]),
    ] {
        let gate = GATE.replace("edited]}", &format!("edited], {filter}}}"));
        assert_eq!(codes(rules_of(&gate, &rules)), wanted, "{filter}");
        // Without a required check nothing stays pending.
        let none = BranchRules::default();
        assert_eq!(codes(rules_of(&gate, &none)), ["not-required"], "{filter}");
    }
}

#[test]
fn a_gate_in_a_called_workflow_reports_its_check_below_the_calling_job() {
    let called = GATE.replace(
        "  pull_request: {types: [opened, synchronize, reopened, labeled, unlabeled, edited]}\n  merge_group:\n",
        "  workflow_call:\n",
    );
    let caller = "\
run-name: goldgate ${{ github.sha }}
on: {pull_request: {types: [opened, synchronize, reopened, labeled, unlabeled, edited]}, merge_group: }
jobs:
  calls:
    uses: ./.github/workflows/gate.yml
";
    let found = |caller: &str, name: &str| {
        let workflows = [
            workflow(".github/workflows/gate.yml", &called),
            workflow("ci.yml", caller),
        ];
        let gates = GateStep::all(&workflows);
        let rules = BranchRules {
            required: vec![required(name, Some(15_368))],
            queue: Some(QueueGrouping::Every),
            ..BranchRules::default()
        };
        let mut problems = super::of_workflows(&gates);
        problems.extend(of_rules(&workflows, &gates, "main", &rules));
        codes(problems)
    };
    assert_eq!(found(caller, "calls / Gate"), [] as [&str; 0]);
    assert_eq!(found(caller, "Gate"), ["not-required"]);
    for (from, to, code) in [
        (", edited]", "]", "missing-type"),
        ("edited]}", "edited], paths: [a]}", "filtered"),
        (", merge_group: ", "", "no-merge-group"),
        (
            "  calls:\n",
            "  calls:\n    if: github.actor != 'bot'\n",
            "skippable",
        ),
    ] {
        let changed = caller.replace(from, to);
        assert_ne!(changed, caller, "{from}");
        assert_eq!(found(&changed, "calls / Gate"), [code], "{from}");
    }
    let both = called.replace("  workflow_call:\n", "  workflow_call:\n  push:\n");
    let workflows = [
        workflow(".github/workflows/gate.yml", &both),
        workflow("ci.yml", caller),
    ];
    assert_eq!(
        GateStep::all(&workflows)[0].checks(),
        ["calls / Gate", "Gate"]
    );
}
