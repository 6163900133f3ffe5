//! Calls of a tool that a case forbids.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{bases, goldgate};
use crate::golden_changes::{commit_all, git};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "a forbidden tool is forbidden under the name of an MCP server, too",
        forbidden,
    )]
}

/// Twelve cases that expect `find` and forbid `delete_account`.
fn repository() -> Repository {
    let repository = bases::base("answers");
    repository.remove("runs");
    let case = |case: usize| {
        json!({
            "id": format!("c{case}"), "category": "happy_path", "query": format!("Question {case}?"),
            "expected_tools": ["find"], "expected_output_contains": ["paris"],
            "trajectory": { "mode": "superset", "tools": [{ "name": "find" }], "forbidden_tools": ["delete_account"] },
        })
    };
    let golden: Vec<Value> = (0..12).map(case).collect();
    repository.write("golden/cases.json", json!(golden).to_string());
    record(&repository, "v1", "find");
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    git(&repository.path(""), &["branch", "-M", "main"]);
    repository
}

/// Records a version of the agent that calls `find` in every case, and in one case this tool as well.
fn record(repository: &Repository, version: &str, tool: &str) {
    repository.write("prompt.md", format!("Name the capital, {version}.\n"));
    for case in 0..12 {
        let tools = if case == 1 {
            vec!["find", tool]
        } else {
            vec!["find"]
        };
        let calls: Vec<Value> = tools
            .iter()
            .map(|name| json!({ "name": name, "arguments": {}, "result": "{}" }))
            .collect();
        let run = json!({
            "status": "completed", "outputs": { "text": format!("Paris, {version}.") },
            "intermediate": { "tool_calls": calls },
        });
        for sample in 0..3 {
            repository.write(
                &format!("runs/helper/c{case}/{sample}.json"),
                run.to_string(),
            );
        }
    }
}

fn forbidden() {
    for (tool, code) in [
        ("list_accounts", 0),
        ("mcp__crm__list_accounts", 0),
        ("delete_account", 1),
        ("mcp__crm__delete_account", 1),
    ] {
        let repository = repository();
        record(&repository, "v2", tool);
        let ran = goldgate(
            &repository,
            &["run", "-v", "--base", "main"].map(str::to_owned),
        );
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(
            ran.stdout
                .contains("called forbidden tools: delete_account"),
            code == 1,
            "{}",
            ran.stdout
        );
    }
}
