//! The list of an agent's files, and folders that move.

use super::*;
use crate::golden_changes::git;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an entry that leaves the list of an agent's files needs an approval, whatever joins it",
            leaves,
        ),
        trial("a longer list of an agent's files is listed", joins),
        trial(
            "a folder that moves with the same content is listed, and no recording has to be made again",
            moves,
        ),
        trial(
            "files that move below a pattern are stamped, and the headline says so",
            moves_below,
        ),
        trial(
            "a folder of recordings that moves is no change of them",
            recordings_move,
        ),
        trial(
            "another file of the prompt is listed if every recording was made again",
            prompt_moves,
        ),
        trial(
            "a prompt that leaves the folder of the pattern makes recordings stale",
            prompt_leaves,
        ),
        trial(
            "prompts, golden files and recordings that move at once are listed",
            all_moves,
        ),
    ]
}

fn leaves() {
    for (list, words) in [
        (
            "[README.md]",
            "files of `contracts/legal`: prompts/legal.md -> README.md; no longer in the list: prompts/legal.md",
        ),
        (
            "[README.md, 'prompts/**']",
            "no longer in the list: prompts/legal.md",
        ),
        (
            "{ none: it is elsewhere }",
            "files of `contracts/legal`: prompts/legal.md -> none; no longer in the list: prompts/legal.md",
        ),
    ] {
        let repository = recorded(Trust::Author);
        repository.write("README.md", "An agent.\n");
        commit_all(&repository);
        repository.replace("goldgate.yaml", "[prompts/legal.md]", list);
        answer_all(&repository);
        repository.stamp("goldgate.yaml");
        is(&against(&repository), Approval(words));
    }
}

fn joins() {
    let repository = recorded(Trust::Author);
    repository.write("README.md", "An agent.\n");
    commit_all(&repository);
    repository.replace(
        "goldgate.yaml",
        "[prompts/legal.md]",
        "[prompts/legal.md, README.md]",
    );
    is(&against(&repository), Refused("3 recordings are stale"));
    answer_all(&repository);
    repository.stamp("goldgate.yaml");
    is(
        &against(&repository),
        Listed("files of `contracts/legal`: prompts/legal.md -> prompts/legal.md, README.md"),
    );
}

fn moves() {
    let repository = recorded(Trust::Author);
    repository.replace("goldgate.yaml", "[prompts/legal.md]", "['prompts/**']");
    repository.stamp("goldgate.yaml");
    commit_all(&repository);
    git(&repository.path(""), &["mv", "prompts", "texts"]);
    repository.replace("goldgate.yaml", "['prompts/**']", "['texts/**']");
    is(
        &against(&repository),
        Listed("files of `contracts/legal`: prompts/** -> texts/**; their digest is the same"),
    );
    // The control: the file has another content as well.
    repository.write("texts/legal.md", "Report nothing.\n");
    is(&against(&repository), Refused("3 recordings are stale"));
}

fn moves_below() {
    let repository = recorded(Trust::Author);
    repository.replace("goldgate.yaml", "[prompts/legal.md]", "['prompts/**']");
    repository.stamp("goldgate.yaml");
    commit_all(&repository);
    repository.write("prompts/law/legal.md", repository.read("prompts/legal.md"));
    repository.remove("prompts/legal.md");
    is(
        &against(&repository),
        Refused(
            "3 recordings are stale: files of the agent moved, and no content changed (lease-0.json, lease-1.json, lease-2.json): \
             `goldgate stamp --suite contracts --agent legal --stale` makes them current",
        ),
    );
    let stamped = repository.goldgate(&[
        "stamp",
        "--suite",
        "contracts",
        "--agent",
        "legal",
        "--stale",
    ]);
    assert_eq!(stamped.code, 0, "{}", stamped.stderr);
    is(&against(&repository), Approval("stamped, not recorded"));
    // The control: a file has another content as well.
    repository.write("prompts/law/legal.md", "Report nothing.\n");
    is(
        &against(&repository),
        Refused("3 recordings are stale: prompts/law/legal.md changed since they were made"),
    );
}

fn recordings_move() {
    let repository = recorded(Trust::Author);
    commit_all(&repository);
    git(&repository.path(""), &["mv", "runs", "recordings"]);
    repository.replace("goldgate.yaml", "replay: runs", "replay: recordings");
    is(&against(&repository), Silent);
    // The control: one of them is edited on the way.
    edit_file(&repository, "recordings/legal/lease-0.json", |run| {
        run["outputs"]["findings"][0]["description"] = json!("Needs an approval beforehand.");
    });
    is(
        &against(&repository),
        Refused("1 recording is stale: it was edited after it was made (lease-0.json)"),
    );
}

fn prompt_moves() {
    let repository = recorded(Trust::Author);
    repository.replace(
        "goldgate.yaml",
        "replay: runs }, fingerprint: [prompts/legal.md]",
        "replay: runs, prompt: prompts/legal.md }",
    );
    repository.stamp("goldgate.yaml");
    commit_all(&repository);
    repository.write(
        "prompts/lawyer.md",
        "Report every change of control, briefly.\n",
    );
    repository.replace(
        "goldgate.yaml",
        "prompt: prompts/legal.md",
        "prompt: prompts/lawyer.md",
    );
    answer(&repository, 0);
    repository.stamp("goldgate.yaml");
    is(
        &against(&repository),
        Approval(
            "files of `contracts/legal`: prompts/legal.md -> prompts/lawyer.md; not every recording was recorded again",
        ),
    );
    answer_all(&repository);
    repository.stamp("goldgate.yaml");
    is(
        &against(&repository),
        Listed("files of `contracts/legal`: prompts/legal.md -> prompts/lawyer.md"),
    );
}

/// The content goes to a file that no pattern names, behind a NUL or not.
fn prompt_leaves() {
    for end in ["", "\0"] {
        let repository = recorded(Trust::Author);
        repository.write("prompts/tone.md", "Be kind.\n");
        repository.replace("goldgate.yaml", "[prompts/legal.md]", "['prompts/**']");
        repository.stamp("goldgate.yaml");
        commit_all(&repository);
        let text = repository.read("prompts/legal.md");
        repository.remove("prompts/legal.md");
        repository.write("other/legal.md", format!("{text}{end}"));
        is(&against(&repository), Refused("3 recordings are stale"));
        repository.stamp("goldgate.yaml");
        is(&against(&repository), Approval("stamped, not recorded"));
    }
}

fn all_moves() {
    let repository = recorded(Trust::Author);
    repository.replace("goldgate.yaml", "[prompts/legal.md]", "['prompts/**']");
    repository.stamp("goldgate.yaml");
    commit_all(&repository);
    for (from, to) in [
        ("prompts", "agent/prompts"),
        ("golden", "tests/golden"),
        ("runs", "tests/runs"),
    ] {
        std::fs::create_dir_all(repository.path(to).parent().unwrap()).unwrap();
        git(&repository.path(""), &["mv", from, to]);
    }
    for (from, to) in [
        ("prompts/**", "agent/prompts/**"),
        ("path: golden", "path: tests/golden"),
        ("replay: runs", "replay: tests/runs"),
    ] {
        repository.replace("goldgate.yaml", from, to);
    }
    let ran = against(&repository);
    for listed in [
        "files of `contracts/legal`: prompts/** -> agent/prompts/**; their digest is the same",
        "golden files of `contracts`: golden -> tests/golden",
        "recordings of `contracts/legal`: runs -> tests/runs",
    ] {
        is(&ran, Listed(listed));
    }
    assert_eq!(
        report(&ran)["golden_changes"].as_array().map(Vec::len),
        Some(3),
        "{}",
        ran.stdout
    );
    // The control: an expectation is edited on the way.
    let file = "tests/golden/expected/legal/lease-1.json";
    repository.replace(
        file,
        "\"max_expected_findings\": 3",
        "\"max_expected_findings\": 9",
    );
    is(
        &against(&repository),
        Approval("expectation of lease-1 of `contracts` edited"),
    );
}
