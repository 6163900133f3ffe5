//! What a recording shows of the part of the agent's own code: the answer that it prints, the tools that it runs, the answers that it asks for.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::model_server::ModelServer;
use super::{EXCHANGES, RECORDING, against, config, record, repository};
use crate::golden_changes::commit_all;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "code that leaves recorded answers unasked gives no verdict",
            asks_less,
        ),
        trial(
            "a printed run record keeps its status and the calls that it states",
            printed_record,
        ),
    ]
}

/// A committed repository with the recording of an agent that behaves as its file says.
fn committed(server: &ModelServer, source: &str) -> Repository {
    committed_as(server, source, "version 1")
}

fn committed_as(server: &ModelServer, source: &str, behaviour: &str) -> Repository {
    let repository = repository("as-file", "openai");
    repository.write("agent.txt", format!("{behaviour}\n"));
    repository.write("goldgate.yaml", config("as-file", source, "openai"));
    let ran = record(&repository, server, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    repository.remove(".git");
    commit_all(&repository);
    repository
}

fn asks_less() {
    let server = ModelServer::new();
    let repository = committed(&server, EXCHANGES);
    repository.write("agent.txt", "version 2\n");
    assert_eq!(against(&repository, "HEAD").code, 0, "the control");
    repository.write("agent.txt", "runs no tool\n");
    let ran = against(&repository, "HEAD");
    let says = "the code took 1 of the 2 recorded answers, so it does less than before";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // An answer that is of no model counts as well.
    let repository = committed_as(&server, EXCHANGES, "is guarded");
    repository.write("agent.txt", "version 2\n");
    let ran = against(&repository, "HEAD");
    let says = "the code took 2 of the 3 recorded answers, so it does less than before; record again: `goldgate record";
    assert!(
        ran.code == 3 && ran.stdout.contains(says),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn printed_record() {
    let server = ModelServer::new();
    let repository = committed(&server, "{ replay: runs }");
    let before = repository.read(RECORDING);
    repository.write("agent.txt", "prints a failed run\n");
    let ran = record(&repository, &server, &[]);
    assert!(
        ran.code == 3 && ran.stderr.contains("not recorded") && ran.stderr.contains("lost"),
        "{}",
        ran.stderr
    );
    assert_eq!(repository.read(RECORDING), before);
    let recorded = |behaviour: &str| -> Value {
        repository.write("agent.txt", format!("{behaviour}\n"));
        let ran = record(&repository, &server, &[]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        serde_json::from_str(&repository.read(RECORDING)).unwrap()
    };
    for behaviour in ["states a call", "states a call otherwise"] {
        let recorded = recorded(behaviour);
        let calls = recorded["intermediate"]["tool_calls"].as_array().unwrap();
        let names: Vec<&str> = calls
            .iter()
            .filter_map(|call| call["name"].as_str())
            .collect();
        assert_eq!(names, ["find_order", "delete_account"], "{recorded}");
    }
    assert_eq!(
        recorded("counts a call")["metrics"]["tool_call_counts"],
        json!({ "delete_account": 1, "find_order": 1 })
    );
}
