//! The repositories that attacks begin with.

use serde_json::Value;

use crate::cases::copy;
use crate::guard::add_case;
use crate::repository::{Repository, root};

/// The repository of this name.
pub fn base(name: &str) -> Repository {
    match name {
        "contracts" => contracts(),
        "command" => command(),
        "evidence" => evidence(),
        "assistant" => assistant(),
        "interview" => interview(),
        "triggers" => triggers(),
        "nested" => nested(),
        other => panic!("there is no base {other}"),
    }
}

fn empty() -> Repository {
    let repository = Repository::empty();
    repository.remove(".git");
    repository
}

const CONTRACTS: &str = "\
version: 1
baseline: baselines/latest.json
suites:
  - id: contracts
    kind: findings
    path: golden
    categories: [change_of_control, termination]
    agents:
      legal:
        fingerprint: ['prompts/**']
        deterministic: { replay: runs }
    gates:
      finding_precision: { min: 0.5 }
";

/// A dozen leases, one agent, one recording each.
fn contracts() -> Repository {
    let repository = empty();
    repository.write("goldgate.yaml", CONTRACTS);
    repository.write("prompts/legal.md", "Report every change of control.\n");
    (0..12).for_each(|case| add_case(&repository, case));
    repository
}

/// The same below a folder, with the config in it.
fn nested() -> Repository {
    let flat = contracts();
    let repository = empty();
    copy(&flat.path(""), &repository.path("evals"));
    repository
}

/// The same, but a command answers in place of recordings.
fn command() -> Repository {
    let repository = contracts();
    let config = CONTRACTS.replace(
        "        fingerprint: ['prompts/**']\n        deterministic: { replay: runs }",
        "        deterministic: { target: c }",
    );
    repository.write("goldgate.yaml", format!("{config}targets:\n  c: {{ command: ['sh', './agent.sh'] }}\n"));
    let run = repository.read("runs/legal/lease-0.json");
    let run = run.replace("\"case\": \"lease-0\", ", "").replace("docs/lease-0.md", "lease-$N.md");
    let program = "N=$(sed -n 's/.*\"case\": *\"lease-\\([0-9]*\\)\".*/\\1/p' | head -1)\ncat <<END\n";
    repository.write("agent.sh", format!("{program}{run}END\n"));
    repository.remove("runs");
    repository
}

/// Parts of this repository's own suites.
fn bundled(folders: &[&str], config: &str) -> Repository {
    let repository = empty();
    folders.iter().for_each(|folder| copy(&root().join(folder), &repository.path(folder)));
    repository.write("goldgate.yaml", format!("version: 1\nbaseline: baselines/latest.json\nsuites:\n{config}"));
    repository
}

fn evidence() -> Repository {
    bundled(
        &["fixtures/evidence", "fixtures/repos"],
        "  - id: evidence\n    kind: evidence\n    path: fixtures/evidence\n    agents:\n      inspector:\n        fingerprint: \
         [fixtures/evidence/prompts/policies-v1.md]\n        deterministic: { replay: fixtures/evidence/runs }\n",
    )
}

fn assistant() -> Repository {
    let repository = bundled(
        &["fixtures/tool_use"],
        "  - id: assistant\n    kind: tool_use\n    path: fixtures/tool_use/eval_cases.json\n    terms: { disclaimer: \
         fixtures/tool_use/terms/disclaimer.txt }\n    flags:\n      offers_next_step: { when: true, terms: \
         fixtures/tool_use/terms/next_step.txt }\n      translates_to_french: { when: true, terms: \
         fixtures/tool_use/terms/french.txt }\n    tools: fixtures/tool_use/tools.json\n    agents:\n      assistant:\n        \
         fingerprint: [fixtures/tool_use/prompts/policies-v1.md]\n        deterministic: { replay: fixtures/tool_use/runs }\n",
    );
    // Each case has an id of its own, so that it may move.
    let file = "fixtures/tool_use/eval_cases.json";
    let mut cases: Value = serde_json::from_str(&repository.read(file)).unwrap();
    for (index, case) in cases["cases"].as_array_mut().unwrap().iter_mut().enumerate() {
        if case.get("id").is_none() {
            case["id"] = format!("{}-{index}", case["category"].as_str().unwrap()).into();
        }
    }
    repository.write(file, serde_json::to_string_pretty(&cases).unwrap());
    repository
}

fn interview() -> Repository {
    bundled(
        &["fixtures/interview"],
        "  - id: interview\n    kind: interview\n    path: fixtures/interview\n    terms: { vague: fixtures/interview/terms/vague.txt, \
         edge_case: fixtures/interview/terms/edge_case.txt }\n    agents:\n      interviewer:\n        fingerprint: \
         [fixtures/interview/prompts/policies-v1.md]\n        deterministic: { replay: fixtures/interview/runs }\n",
    )
}

fn triggers() -> Repository {
    bundled(&["fixtures/triggers"], "  - id: triggers\n    kind: triggers\n    path: fixtures/triggers\n")
}
