//! Agents' own programs: what they write to stderr, and how they end.

use goldgate::files::sha256_hex;
use libtest_mimic::Trial;

use super::{model, report};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "what a program writes to stderr stands beside the report, by sample, without secrets",
            stderr,
        ),
        trial(
            "a worker is told that there is nothing more, and ends by itself",
            farewell,
        ),
    ]
}

/// A repository whose agent is this shell script, with the small repository's run to answer with as `$RUN`.
fn scripted(protocol: &str, script: &str) -> Repository {
    let repository = Repository::small();
    let run = repository
        .read("golden/runs/legal/lease.json")
        .replace('\n', " ")
        .replace("\"sample\": 0,", "");
    repository.write("agent.sh", script.replace("$RUN", &run));
    repository.write(
        "goldgate.yaml",
        format!(
            "version: 1\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n    tier: [deterministic, model]\n    \
             agents:\n      legal: {{ deterministic: {{ replay: golden/runs }}, fingerprint: [prompts/legal.md], model: {{ target: mine }} }}\ntargets:\n  \
             mine: {{ command: [\"/bin/sh\", \"agent.sh\"], protocol: {protocol} }}\n"
        ),
    );
    repository
}

fn stderr() {
    let script = "cat > /dev/null\necho 'key sk-ant-0123456789abcdefgh' >&2\n\
                  echo '</details> @everyone <!-- the index is old -->' >&2\ncat <<'END'\n$RUN\nEND\n";
    let repository = scripted("oneshot", script);
    let ran = model(
        &repository,
        &[
            "--samples",
            "2",
            "--format",
            "json",
            "--record",
            "recorded",
            "--out",
            "out",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        report(&ran)["suites"][0]["agents"][0]["cases"][0]["samples_completed"],
        2,
        "{}",
        ran.stdout
    );
    let said = "key sk-ant-[redacted]\n</details> @everyone <!-- the index is old -->\n";
    for sample in 0..2 {
        assert_eq!(
            repository.read(&format!("out/contracts/stderr/legal-lease-{sample}.txt")),
            said
        );
    }
    let notes = report(&ran)["suites"][0]["agents"][0]["notes"].to_string();
    let told = "the agent wrote to stderr in 2 samples; for lease #0 the last line is: </details> @everyone";
    assert!(notes.contains(told), "{notes}");
    let comment = repository.read("out/report.md");
    assert!(
        comment.contains("the agent wrote to stderr in 2 samples"),
        "{comment}"
    );
    assert!(
        !comment.contains("</details> @everyone") && !comment.contains("<!-- the index"),
        "{comment}"
    );
    let record = repository.read("recorded/legal/lease/0.json");
    let called = sha256_hex(br#"{"command":["/bin/sh","agent.sh"],"protocol":"Oneshot"}"#);
    assert!(
        record.contains(&format!("\"target_sha256\": \"{called}\"")),
        "{record}"
    );
    assert!(
        !record.contains("the index is old"),
        "a recording is what the agent answered, no log: {record}"
    );

    let parts = ["--samples", "2", "--shard", "1/1", "--out", "part"];
    assert_eq!(model(&repository, &parts).code, 0);
    let merged = repository.goldgate(&["merge", "-v", "part", "--out", "merged"]);
    assert_eq!(merged.code, 0, "{}", merged.stderr);
    assert_eq!(
        repository.read("merged/contracts/stderr/legal-lease-1.txt"),
        said,
        "a part hands it on"
    );
}

fn farewell() {
    let script = "while read -r request; do\n  id=$(printf '%s' \"$request\" | sed 's/.*\"id\": *\"\\([^\"]*\\)\".*/\\1/')\n  \
                  printf '{\"id\": \"%s\", ' \"$id\"\n  cat <<'END' | sed 's/^ *{//'\n$RUN\nEND\ndone\necho done > ended.txt\n";
    let repository = scripted("jsonl", script);
    let ran = model(&repository, &["--samples", "2", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        report(&ran)["suites"][0]["agents"][0]["cases"][0]["samples_completed"],
        2,
        "{}",
        ran.stdout
    );
    assert_eq!(
        repository.read("ended.txt"),
        "done\n",
        "what came after its last request was not cut off"
    );
}
