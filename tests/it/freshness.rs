//! Recordings are of this agent and of these inputs: another agent or another input gives no verdict.

mod bundled;
mod imported;
mod samples;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::{CONFIG, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = bundled::trials();
    trials.extend(imported::trials());
    trials.extend(samples::trials());
    trials.extend([
        trial(
            "everything below the folder of a prompt package counts, hidden files too",
            prompt_folder,
        ),
        trial(
            "a file in a folder of the prompt package counts beside other files of the agent",
            folder_of_prompts,
        ),
        trial("one stale sample takes the verdict from all", one_stale),
        trial(
            "an agent with recordings that names no files is refused, with the two ways out",
            unknown_agent,
        ),
        trial(
            "the reason why nobody can name an agent's files is in every report",
            nameless,
        ),
        trial("a fingerprint that matches no file gives no verdict", nothing_fits),
        trial(
            "a suite of several agents' runs is stale where its agents' recordings are",
            across,
        ),
        trial(
            "an agent that is a program in the deterministic tier has no recordings and names no files",
            program,
        ),
    ]);
    trials
}

/// A suite of one query, with an agent that is its prompt.
const TALK: &str = "\
version: 1
suites:
  - id: support
    kind: tool_use
    policy: seed
    path: cases.json
    agents:
      helper: { deterministic: { replay: runs, prompt: prompts/helper.md } }
";

fn talk() -> Repository {
    let repository = Repository::empty();
    repository.write("goldgate.yaml", TALK);
    repository.write("prompts/helper.md", "Look orders up before you answer.\n");
    repository.write(
        "cases.json",
        r#"[{ "id": "order-status", "category": "happy_path", "query": "Where is my order 17?",
             "expected_tools": [], "expected_output_contains": ["shipped"] }]"#,
    );
    answer(&repository, "runs/helper/order-status.json", json!({}));
    repository
}

/// A recording with this origin.
fn answer(repository: &Repository, file: &str, provenance: Value) {
    let record = json!({ "status": "completed", "outputs": { "text": "It was shipped." }, "provenance": provenance });
    repository.write(file, record.to_string());
}

fn sha256(text: &str) -> String {
    goldgate::files::sha256_hex(text.as_bytes())
}

fn run(repository: &Repository, more: &[&str]) -> Ran {
    repository.goldgate(&[&["run", "--format", "json"], more].concat())
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
}

/// Exit code and why no verdict can be given.
fn refused(repository: &Repository, more: &[&str]) -> (i32, String) {
    let ran = run(repository, more);
    (ran.code, report(&ran)["not_gateable"].to_string())
}

/// Exit code and what is said of the first agent.
fn noted(repository: &Repository) -> (i32, String) {
    let ran = run(repository, &[]);
    (
        ran.code,
        report(&ran)["suites"][0]["agents"][0]["notes"].to_string(),
    )
}

/// Lets all recordings state today's digests.
fn stamp(repository: &Repository) {
    let ran = repository.stamp("goldgate.yaml");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn prompt_folder() {
    let repository = talk();
    repository.replace(
        "goldgate.yaml",
        "prompt: prompts/helper.md",
        "prompt: prompts",
    );
    stamp(&repository);
    for file in ["prompts/parts/tone.md", "prompts/.tone.md"] {
        assert_eq!(noted(&repository).0, 0, "the control");
        repository.write(file, "Be rude.\n");
        let (code, why) = refused(&repository, &[]);
        assert!(
            code == 3 && why.contains("the agent's files (prompts) changed since it was made"),
            "{file}: {why}"
        );
        // There is no target that could be run, and no recording says what made it.
        assert!(
            why.contains("run the program that writes runs again, then `goldgate stamp --suite support --agent helper --stale`"),
            "{why}"
        );
        let check = repository.goldgate(&["check"]);
        assert!(
            check.code == 2 && check.stderr.contains("[stale-recording]"),
            "{check:?}"
        );
        repository.remove(file);
    }
}

fn folder_of_prompts() {
    let repository = talk();
    repository.replace(
        "goldgate.yaml",
        "prompts/helper.md }",
        "prompts }, fingerprint: ['src/**']",
    );
    repository.write("src/agent.py", "pass\n");
    stamp(&repository);
    repository.write("prompts/rules/one.md", "Be kind.\n");
    assert_eq!(refused(&repository, &[]).0, 3, "a digest without that file");
    stamp(&repository);
    assert_eq!(noted(&repository).0, 0);
    repository.write("prompts/rules/one.md", "Be rude.\n");
    let (code, why) = refused(&repository, &[]);
    assert!(
        code == 3 && why.contains("the agent's files (src/**, prompts) changed since"),
        "{why}"
    );
}

fn one_stale() {
    let repository = talk();
    repository.remove("runs");
    let file = |sample: u32| format!("runs/helper/order-status/{sample}.json");
    answer(&repository, &file(0), json!({}));
    stamp(&repository);
    answer(&repository, &file(1), json!({}));
    let (code, notes) = noted(&repository);
    assert!(
        code == 0 && notes.contains("1 recording states no digests (order-status/1.json)"),
        "{notes}"
    );
    answer(
        &repository,
        &file(1),
        json!({ "agent_sha256": sha256("another") }),
    );
    let (code, why) = refused(&repository, &[]);
    assert!(
        code == 3
            && why.contains("1 recording is stale: ")
            && why.contains("changed since it was made (order-status/1.json)"),
        "{why}"
    );
}

fn unknown_agent() {
    let repository = talk();
    repository.replace("goldgate.yaml", ", prompt: prompts/helper.md", "");
    for command in ["run", "check"] {
        let ran = repository.goldgate(&[command]);
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        for words in [
            "goldgate.yaml:8:",
            "[unknown-agent-files]",
            "fingerprint: [prompts/**]",
            "{ none: \"why\" }",
        ] {
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
    }
    for wrong in [
        "{ none: '' }",
        "{ none: }",
        "{ nobody: knows }",
        "[]",
        "prompts",
    ] {
        repository.write(
            "goldgate.yaml",
            TALK.replace(
                ", prompt: prompts/helper.md }",
                &format!(" }}, fingerprint: {wrong}"),
            ),
        );
        let ran = repository.goldgate(&["run"]);
        assert!(
            ran.code == 2 && ran.stderr.contains("goldgate.yaml:8:"),
            "{wrong}: {}",
            ran.stderr
        );
    }
    repository.write(
        "goldgate.yaml",
        TALK.replace("md }", "md }, fingerprint: { none: who knows }"),
    );
    let ran = repository.goldgate(&["run"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("[contradiction]"),
        "{}",
        ran.stderr
    );
}

fn nameless() {
    let repository = talk();
    let none = " }, fingerprint: { none: a vendor's bot, we see answers alone }".replace(',', ";");
    repository.replace(
        "goldgate.yaml",
        ", prompt: prompts/helper.md }",
        &none.replacen("};", "},", 1),
    );
    let said =
        "unknown whether these recordings are of this agent: a vendor's bot; we see answers alone";
    let (code, notes) = noted(&repository);
    assert!(code == 0 && notes.contains(said), "{notes}");
    for form in ["table", "markdown"] {
        let ran = repository.goldgate(&["run", "--format", form]);
        let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("unknown whether these recordings are of this agent"),
            "{}",
            ran.stdout
        );
    }
}

fn nothing_fits() {
    let repository = talk();
    repository.replace(
        "goldgate.yaml",
        "{ replay: runs, prompt: prompts/helper.md }",
        "{ replay: runs }, fingerprint: [prompt/helper.md]",
    );
    let (code, why) = refused(&repository, &[]);
    assert!(
        code == 3 && why.contains("no file matches prompt/helper.md"),
        "{why}"
    );
}

fn across() {
    let repository = Repository::small();
    let stated = "  - { id: together, kind: cross_agent, policy: seed, path: together, runs_of: contracts }\n";
    repository.write("goldgate.yaml", format!("{CONFIG}{stated}"));
    repository.write(
        "together/cases/both.json",
        r#"{ "contract": "lease", "agents": ["legal", "legal"], "no_duplicates": true }"#,
    );
    if repository.goldgate(&["check"]).code != 0 {
        repository.replace("goldgate.yaml", "      legal:", "      finance: { deterministic: { replay: golden/runs }, fingerprint: [prompts/finance.md] }\n      legal:");
        repository.write("prompts/finance.md", "Report every cost.\n");
        repository.write(
            "golden/expected/finance/lease.json",
            r#"{ "expected_findings": [], "must_not_find": [{ "category": "fraud", "reason": "none is there" }] }"#,
        );
        repository.write(
            "golden/runs/finance/lease.json",
            r#"{ "status": "completed", "outputs": { "findings": [] } }"#,
        );
        repository.replace(
            "together/cases/both.json",
            r#"["legal", "legal"]"#,
            r#"["legal", "finance"]"#,
        );
    }
    let alone = ["--suite", "together"];
    assert!(!refused(&repository, &alone).1.contains("stale"));
    let mut record: Value =
        serde_json::from_str(&repository.read("golden/runs/legal/lease.json")).unwrap();
    record["provenance"] = json!({ "agent_sha256": sha256("another") });
    repository.write("golden/runs/legal/lease.json", record.to_string());
    let (code, why) = refused(&repository, &alone);
    assert!(
        code == 3
            && why.contains("together/all: contracts/legal: 1 recording is stale: the agent's files (prompts/legal.md) changed since it was made (lease.json)"),
        "{why}"
    );
    record["provenance"] = json!({ "input_sha256": sha256("another") });
    repository.write("golden/runs/legal/lease.json", record.to_string());
    let (code, why) = refused(&repository, &alone);
    assert!(
        code == 3 && why.contains("what the case asks changed since it was made"),
        "{why}"
    );
}

fn program() {
    let repository = talk();
    repository.replace(
        "goldgate.yaml",
        "{ replay: runs, prompt: prompts/helper.md }",
        "{ target: own }",
    );
    repository.write(
        "goldgate.yaml",
        format!(
            "{}targets:\n  own: {{ command: [\"/bin/sh\", \"agent.sh\"] }}\n",
            repository.read("goldgate.yaml")
        ),
    );
    let record = r#"{"status": "completed", "outputs": {"text": "It was shipped."}}"#;
    repository.write("agent.sh", format!("cat > /dev/null\necho '{record}'\n"));
    let (code, notes) = noted(&repository);
    assert!(code == 0 && !notes.contains("digest"), "{notes}");
}
