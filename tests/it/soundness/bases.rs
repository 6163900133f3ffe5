//! The repositories that attacks begin with.

use serde_json::{Value, json};

use super::edits;
use crate::cases::copy;
use crate::golden_changes::{add_case, recording};
use crate::repository::{Repository, root};

/// The repository of this name.
pub fn base(name: &str) -> Repository {
    match name {
        "contracts" => contracts(),
        "approval" => approval(contracts()),
        "command" => command(),
        "evidence" => evidence(),
        "assistant" => assistant(),
        "interview" => interview(),
        "triggers" => triggers(),
        "answers" => answers(),
        "conversation" => conversation(),
        "conversation_of_anybody" => approval(conversation()),
        "two_suites" => two_suites(),
        "retired" => retired(),
        "nested" => nested(),
        "package" => package(),
        "submodule" => submodule(),
        "both_tiers" => both_tiers(),
        "hidden" => hidden(),
        "digests" => digests(),
        "samples" => samples(),
        "prompt_beside" => prompt_beside(),
        "back_slash" => back_slash(),
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
    policy: seed
    path: golden
    categories: [change_of_control, termination]
    agents:
      legal:
        fingerprint: ['prompts/**']
        deterministic: { replay: runs }
    gates:
      finding_precision: { min: 0.5 }
      quote_grounding: { max_drop: 0.15 }
";

/// A dozen leases, one agent, one recording each.
fn contracts() -> Repository {
    let repository = empty();
    repository.write("goldgate.yaml", CONTRACTS);
    repository.write("prompts/legal.md", "Report every change of control.\n");
    (0..12).for_each(|case| add_case(&repository, case));
    repository
}

/// The same, and every recording states the digests of the present files.
fn digests() -> Repository {
    let repository = contracts();
    repository.stamp("goldgate.yaml");
    repository
}

/// A base whose config trusts no author: what is listed needs an approval.
fn approval(repository: Repository) -> Repository {
    repository.replace(
        "goldgate.yaml",
        "version: 1\n",
        "version: 1\nrecordings: { trust: approval }\n",
    );
    repository
}

/// The same, but the list of the agent's files does not name its prompt.
fn prompt_beside() -> Repository {
    let repository = contracts();
    repository.write("src/agent.py", "print()\n");
    repository.replace("goldgate.yaml", "['prompts/**']", "['src/**']");
    repository.replace(
        "goldgate.yaml",
        "{ replay: runs }",
        "{ replay: runs, prompt: prompts/legal.md }",
    );
    repository
}

/// The same, with three different recordings of each case, which state no number.
fn samples() -> Repository {
    let repository = contracts();
    for case in 0..12 {
        let run: Value = serde_json::from_str(&repository.read(&recording(case))).unwrap();
        repository.remove(&recording(case));
        for sample in 0..3 {
            let mut run = run.clone();
            run.as_object_mut().unwrap().remove("sample");
            run["note"] = json!(sample);
            repository.write(
                &format!("runs/legal/lease-{case}/{sample}.json"),
                run.to_string(),
            );
        }
    }
    repository
}

/// The same, with a file whose name has a back slash.
fn back_slash() -> Repository {
    let repository = contracts();
    repository.write("prompts/a\\b.md", "Be brief.\n");
    repository
}

/// The same below a folder, with the config in it.
fn nested() -> Repository {
    let flat = contracts();
    let repository = empty();
    copy(&flat.path(""), &repository.path("evals"));
    repository
}

/// The same, with a prompt package that has a folder inside.
fn package() -> Repository {
    let repository = contracts();
    repository.replace("goldgate.yaml", "        fingerprint: ['prompts/**']\n", "");
    repository.replace(
        "goldgate.yaml",
        "{ replay: runs }",
        "{ replay: runs, prompt: prompts }",
    );
    repository.write("prompts/rules/one.md", "Rule 1: consent counts.\n");
    repository
}

/// The same, with the prompts in a submodule.
fn submodule() -> Repository {
    let repository = contracts();
    std::fs::create_dir(repository.path(".git")).unwrap();
    edits::submodule(&repository, "prompts");
    repository
}

/// The same, with recordings of both tiers.
fn both_tiers() -> Repository {
    let repository = contracts();
    copy(&repository.path("runs"), &repository.path("mruns"));
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    tier: [deterministic, model]\n",
    );
    let (one, both) = (
        "{ replay: runs }\n",
        "{ replay: runs }\n        model: { replay: mruns }\n",
    );
    repository.replace("goldgate.yaml", one, both);
    repository
}

/// The same, but a command answers in place of recordings.
fn command() -> Repository {
    let repository = contracts();
    let config = CONTRACTS.replace(
        "        fingerprint: ['prompts/**']\n        deterministic: { replay: runs }",
        "        deterministic: { target: c }",
    );
    repository.write(
        "goldgate.yaml",
        format!("{config}targets:\n  c: {{ command: ['sh', './agent.sh'] }}\n"),
    );
    let run = repository.read("runs/legal/lease-0.json");
    let run = run
        .replace("\"case\": \"lease-0\", ", "")
        .replace("docs/lease-0.md", "lease-$N.md");
    let program =
        "N=$(sed -n 's/.*\"case\": *\"lease-\\([0-9]*\\)\".*/\\1/p' | head -1)\ncat <<END\n";
    repository.write("agent.sh", format!("{program}{run}END\n"));
    repository.remove("runs");
    repository
}

/// Parts of this repository's own suites.
fn bundled(folders: &[&str], config: &str) -> Repository {
    let repository = empty();
    folders
        .iter()
        .for_each(|folder| copy(&root().join(folder), &repository.path(folder)));
    repository.write(
        "goldgate.yaml",
        format!("version: 1\nbaseline: baselines/latest.json\nsuites:\n{config}"),
    );
    repository
}

fn evidence() -> Repository {
    bundled(
        &["fixtures/evidence", "fixtures/repos"],
        "  - id: evidence\n    kind: evidence\n    policy: seed\n    path: fixtures/evidence\n    agents:\n      inspector:\n        fingerprint: \
         [fixtures/evidence/prompts/policies-v1.md]\n        deterministic: { replay: fixtures/evidence/runs }\n",
    )
}

/// The same with a retired task, whose recordings are still there.
fn retired() -> Repository {
    let repository = evidence();
    let task = "fixtures/evidence/tasks/buggy_calc.json";
    let mut golden: Value = serde_json::from_str(&repository.read(task)).unwrap();
    golden["lifecycle"]["retired"] = json!({"date": "2026-05-01", "reason": "its code is gone"});
    repository.write(task, golden.to_string());
    repository
}

/// The same with a hidden file in a fixture repository.
fn hidden() -> Repository {
    let repository = evidence();
    repository.write("fixtures/repos/buggy_calc/.env", "SECRET=1\n");
    repository
}

fn assistant() -> Repository {
    let repository = bundled(
        &["fixtures/tool_use"],
        "  - id: assistant\n    kind: tool_use\n    policy: seed\n    path: fixtures/tool_use/eval_cases.json\n    terms: { disclaimer: \
         fixtures/tool_use/terms/disclaimer.txt }\n    flags:\n      offers_next_step: { when: true, terms: \
         fixtures/tool_use/terms/next_step.txt }\n      translates_to_french: { when: true, terms: \
         fixtures/tool_use/terms/french.txt }\n    tools: fixtures/tool_use/tools.json\n    agents:\n      assistant:\n        \
         fingerprint: [fixtures/tool_use/prompts/policies-v1.md]\n        deterministic: { replay: fixtures/tool_use/runs }\n",
    );
    // Each case has an id of its own, so that it may move.
    let file = "fixtures/tool_use/eval_cases.json";
    let mut cases: Value = serde_json::from_str(&repository.read(file)).unwrap();
    for (index, case) in cases["cases"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .enumerate()
    {
        if case.get("id").is_none() {
            case["id"] = format!("{}-{index}", case["category"].as_str().unwrap()).into();
        }
    }
    repository.write(file, serde_json::to_string_pretty(&cases).unwrap());
    repository
}

const ANSWERS: &str = "\
version: 1
baseline: baselines/latest.json
suites:
  - id: answers
    kind: tool_use
    policy: seed
    path: golden/cases.json
    terms: { refusal: golden/refusal.txt }
    agents: { helper: { deterministic: { replay: runs }, fingerprint: [prompt.md] } }
    gates: { case_pass_rate: { min: 1.0 } }
";

/// Three cases with checks of the answer: texts, JSON by a schema in a file, and a refusal.
fn answers() -> Repository {
    let repository = empty();
    repository.write("goldgate.yaml", ANSWERS);
    repository.write("prompt.md", "Name the capital.\n");
    repository.write("golden/refusal.txt", "i cannot help\n");
    repository.write(
        "golden/schema.json",
        r#"{"type": "object", "required": ["city"]}"#,
    );
    let cases = [
        (
            "text",
            json!({"all_of": ["Paris"], "none_of": ["Lyon"]}),
            "The capital is Paris.",
        ),
        (
            "json",
            json!({"json_schema": "schema.json"}),
            r#"{"city": "Paris"}"#,
        ),
        (
            "refusal",
            json!({"refusal": true}),
            "I cannot help with that.",
        ),
    ];
    let case = |(id, answer, _): &(&str, Value, &str)| {
        json!({"id": id, "category": "happy_path", "query": id, "expected_tools": [],
            "expected_output_contains": [], "answer": answer})
    };
    let golden: Vec<Value> = cases.iter().map(case).collect();
    repository.write(
        "golden/cases.json",
        serde_json::to_string_pretty(&golden).unwrap(),
    );
    for (id, _, text) in cases {
        let record = json!({"status": "completed", "outputs": {"text": text}});
        repository.write(&format!("runs/helper/{id}.json"), record.to_string());
    }
    repository
}

/// A conversation of two turns.
fn conversation() -> Repository {
    let repository = empty();
    repository.write(
        "goldgate.yaml",
        "version: 1\nbaseline: baselines/latest.json\nsuites:\n  - id: talks\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    \
         agents: { helper: { deterministic: { replay: runs }, fingerprint: [prompt.md] } }\n",
    );
    repository.write("prompt.md", "Help customers.\n");
    let case = json!({"id": "cancel", "category": "multi_step", "turns": [
        {"user": "Where is order 17?", "tools": ["find_order"], "answer": {"all_of": ["Monday"]}},
        {"user": "Then cancel it.", "tools": [], "answer": {"any_of": ["too late"]}}]});
    repository.write(
        "cases.json",
        serde_json::to_string_pretty(&json!([case])).unwrap(),
    );
    let record = json!({"status": "completed",
        "outputs": {"turns": [
            {"user": "Where is order 17?", "text": "It arrives on Monday."},
            {"user": "Then cancel it.", "text": "It is too late."}]},
        "intermediate": {"tool_calls": [{"name": "find_order", "arguments": {"id": 17}, "result": "Monday", "turn": 0}]}});
    repository.write(
        "runs/helper/cancel.json",
        serde_json::to_string_pretty(&record).unwrap(),
    );
    repository
}

/// Two suites, whose cases have the same tag and the same beginning of their ids. The first one has a draft, too.
fn two_suites() -> Repository {
    let repository = empty();
    let suite = |id: &str| {
        let agent =
            format!("{{ deterministic: {{ replay: {id}/runs }}, fingerprint: [prompt.md] }}");
        format!(
            "  - {{ id: {id}, kind: tool_use, policy: seed, path: {id}/cases.json, agents: {{ helper: {agent} }} }}\n"
        )
    };
    let suites = suite("one") + &suite("two");
    repository.write(
        "goldgate.yaml",
        format!("version: 1\nbaseline: baselines/latest.json\nsuites:\n{suites}"),
    );
    repository.write("prompt.md", "Name the capital.\n");
    for id in ["one", "two"] {
        let case = json!({"id": format!("smoke-{id}"), "category": "happy_path", "query": "Of France?", "tags": ["smoke"],
            "expected_tools": [], "expected_output_contains": ["Paris"]});
        let draft = json!({"id": "draft", "category": "happy_path", "query": "Of Spain?", "draft": true,
            "expected_tools": [], "expected_output_contains": []});
        let record = json!({"status": "completed", "outputs": {"text": "Paris"}});
        let cases = if id == "one" {
            vec![case, draft]
        } else {
            vec![case]
        };
        if id == "one" {
            repository.write("one/runs/helper/draft.json", record.to_string());
        }
        repository.write(
            &format!("{id}/cases.json"),
            serde_json::to_string_pretty(&cases).unwrap(),
        );
        repository.write(
            &format!("{id}/runs/helper/smoke-{id}.json"),
            record.to_string(),
        );
    }
    repository
}

fn interview() -> Repository {
    bundled(
        &["fixtures/interview"],
        "  - id: interview\n    kind: interview\n    policy: seed\n    path: fixtures/interview\n    terms: { vague: fixtures/interview/terms/vague.txt, \
         edge_case: fixtures/interview/terms/edge_case.txt }\n    agents:\n      interviewer:\n        fingerprint: \
         [fixtures/interview/prompts/policies-v1.md]\n        deterministic: { replay: fixtures/interview/runs }\n",
    )
}

fn triggers() -> Repository {
    bundled(
        &["fixtures/triggers"],
        "  - id: triggers\n    kind: triggers\n    policy: seed\n    path: fixtures/triggers\n",
    )
}
