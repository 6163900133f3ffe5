//! What a recording shows of the part of the agent's own code: the answer that it prints, the tools that it runs, the answers that it asks for.

use libtest_mimic::Trial;

use super::model_server::ModelServer;
use super::{EXCHANGES, RECORDING, against, config, record, repository};
use crate::golden_changes::commit_all;
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("code that prints its answer no more, or runs no tool any more, needs an approval", recorded_less),
        trial("code that leaves recorded answers unasked gives no verdict", asks_less),
        trial("a printed run record keeps its status and the calls that it states", printed_record),
    ]
}

/// A committed repository with the recording of an agent that behaves as its file says.
fn committed(server: &ModelServer, source: &str) -> Repository {
    let repository = repository("as-file", "openai");
    repository.write("goldgate.yaml", config("as-file", source, "openai"));
    let ran = record(&repository, server, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(repository.goldgate(&["run", "--update-baseline"]).code, 0);
    repository.remove(".git");
    commit_all(&repository);
    repository
}

fn recorded_less() {
    for (behaviour, code, says) in [
        ("version 2", 0, "as expected for new recordings"),
        ("prints nothing", 1, "whose program printed its answer on the base commit and prints none now"),
        ("runs no tool", 1, "without any result of a tool that had results on the base commit"),
    ] {
        let server = ModelServer::new();
        let repository = committed(&server, "{ replay: runs }");
        repository.write("agent.txt", format!("{behaviour}\n"));
        let ran = record(&repository, &server, &[]);
        assert_eq!(ran.code, 0, "{behaviour}: {}", ran.stderr);
        let ran = against(&repository, "HEAD");
        assert!(ran.code == code && ran.stdout.contains(says), "{behaviour}: {}{}", ran.stdout, ran.stderr);
    }
}

fn asks_less() {
    let server = ModelServer::new();
    let repository = committed(&server, EXCHANGES);
    repository.write("agent.txt", "version 2\n");
    assert_eq!(against(&repository, "HEAD").code, 0, "the control");
    repository.write("agent.txt", "runs no tool\n");
    let ran = against(&repository, "HEAD");
    let says = "the code took 1 of the 2 recorded answers of its model";
    assert!(ran.code == 3 && ran.stdout.contains(says), "{}{}", ran.stdout, ran.stderr);
}

fn printed_record() {
    let server = ModelServer::new();
    let repository = committed(&server, "{ replay: runs }");
    let before = repository.read(RECORDING);
    repository.write("agent.txt", "prints a failed run\n");
    let ran = record(&repository, &server, &[]);
    assert!(ran.code == 3 && ran.stderr.contains("not recorded") && ran.stderr.contains("lost"), "{}", ran.stderr);
    assert_eq!(repository.read(RECORDING), before);
    repository.write("agent.txt", "states a call\n");
    let ran = record(&repository, &server, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let recorded: serde_json::Value = serde_json::from_str(&repository.read(RECORDING)).unwrap();
    let calls = recorded["intermediate"]["tool_calls"].as_array().unwrap();
    let names: Vec<&str> = calls.iter().filter_map(|call| call["name"].as_str()).collect();
    assert_eq!(names, ["find_order", "delete_account"], "{recorded}");
}
