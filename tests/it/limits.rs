//! The limits of inputs: the page and the code state the same ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use goldgate::model::InputLimit;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("the table of the page on limits is the program's own", page),
        trial(
            "every limit of the table is used by the program, and stands in the table once",
            used,
        ),
        trial(
            "a list of a case has at most 500 expectations in every kind",
            expectations,
        ),
        trial("a conversation has at most 100 turns", turns),
        trial(
            "agents are compared by at most 500 findings of each",
            compared,
        ),
        trial("a judge has at most 15 votes", votes),
        trial("a stored report has at most 1024 MiB", stored_report),
        trial("a file has at most 32 MiB, as has standard input", file),
        trial("a baseline has at most 256 MiB", baseline),
        trial(
            "YAML is nested at most 64 levels deep, and JSON 127",
            levels,
        ),
        trial("a case has at most 1,000 imported samples", samples),
        trial("a run has at most 1,000 shards", shards),
        trial(
            "every limit of the table has a test at the limit and above it",
            tested,
        ),
    ]
}

/// Where each limit is tested at the limit and above it: the name of a trial or of a unit test.
const TESTS: &[(&InputLimit, &str)] = &[
    (
        &InputLimit::FILE,
        "a file has at most 32 MiB, as has standard input",
    ),
    (&InputLimit::BASELINE, "a baseline has at most 256 MiB"),
    // A gigabyte of memory at the limit would be too much for a test: a large report below it is read, and one above it is not.
    (&InputLimit::REPORT, "a stored report has at most 1024 MiB"),
    (
        &InputLimit::ANSWER,
        "an answer that never ends is not read for ever",
    ),
    (
        &InputLimit::COMPLAINTS,
        "a process that floods stderr or prints without end is ended",
    ),
    (
        &InputLimit::EXCHANGES,
        "an_agent_makes_at_most_1000_calls_of_models",
    ),
    (&InputLimit::EXCHANGED, "an_agent_exchanges_at_most_16_mib"),
    (
        &InputLimit::ARCHIVE,
        "an archive of a commit has at most 256 MiB",
    ),
    // With smaller limits, because two gigabytes take half a minute to unpack.
    (
        &InputLimit::ARCHIVE_UNPACKED,
        "an_archive_at_its_limits_is_read",
    ),
    (&InputLimit::ARCHIVE_ENTRIES, "entries_are_counted"),
    (
        &InputLimit::API_ANSWER,
        "an_answer_of_at_most_128_mib_is_read",
    ),
    (
        &InputLimit::YAML_LEVELS,
        "YAML is nested at most 64 levels deep, and JSON 127",
    ),
    (
        &InputLimit::YAML_ALIASES,
        "the_aliases_of_a_file_repeat_at_most_1_mib",
    ),
    (
        &InputLimit::JSON_LEVELS,
        "YAML is nested at most 64 levels deep, and JSON 127",
    ),
    (
        &InputLimit::FOLDER_FILES,
        "a_folder_has_at_most_200_000_files",
    ),
    (&InputLimit::FOLDER_LEVELS, "folders_have_at_most_24_levels"),
    (
        &InputLimit::FIXTURE_FOLDERS,
        "a fixture repository has at most a thousand folders",
    ),
    (
        &InputLimit::EXPECTATIONS,
        "a list of a case has at most 500 expectations in every kind",
    ),
    (&InputLimit::TURNS, "a conversation has at most 100 turns"),
    (
        &InputLimit::COMPARED_FINDINGS,
        "agents are compared by at most 500 findings of each",
    ),
    (
        &InputLimit::OWN_EXPRESSIONS,
        "a suite and a case have at most 100 checks and metrics of their own",
    ),
    (
        &InputLimit::EXPRESSION,
        "an_expression_has_at_most_2000_characters_80_operators_and_40_levels",
    ),
    (
        &InputLimit::OPERATORS,
        "an_expression_has_at_most_2000_characters_80_operators_and_40_levels",
    ),
    (
        &InputLimit::EXPRESSION_LEVELS,
        "an_expression_has_at_most_2000_characters_80_operators_and_40_levels",
    ),
    (
        &InputLimit::SAMPLES,
        "a case has at most 1,000 imported samples",
    ),
    (&InputLimit::SHARDS, "a run has at most 1,000 shards"),
    (&InputLimit::VOTES, "a judge has at most 15 votes"),
    // More threads are no error: they are not started.
    (
        &InputLimit::THREADS,
        "more threads than are useful are not started",
    ),
];

fn page() {
    let file = root().join("docs/limits.md");
    let text = fs::read_to_string(&file).unwrap();
    let head = "| input | limit | what to do |\n|---|---|---|\n";
    let (before, rest) = text.split_once(head).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let rows: Vec<String> = InputLimit::ALL
        .iter()
        .map(|limit| format!("| {} | {limit} | {} |", limit.input, limit.help))
        .collect();
    let current = format!("{before}{head}{}\n\n{after}", rows.join("\n"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &current).unwrap();
    } else {
        assert!(
            current == text,
            "docs/limits.md is not current; BLESS=1 rewrites it\n{}",
            rows.join("\n")
        );
    }
}

fn sources(folder: &Path, texts: &mut String) {
    for entry in fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if entry.is_dir() {
            sources(&entry, texts);
        } else if !entry.ends_with("input_limit.rs") {
            texts.push_str(&fs::read_to_string(entry).unwrap());
        }
    }
}

fn used() {
    let table = fs::read_to_string(root().join("src/model/input_limit.rs")).unwrap();
    let names: Vec<&str> = table
        .split("pub const ")
        .skip(1)
        .filter_map(|part| part.split_once(": Self ="))
        .map(|(name, _)| name)
        .collect();
    let mut texts = String::new();
    sources(&root().join("src"), &mut texts);
    for name in &names {
        assert!(
            texts.contains(&format!("InputLimit::{name}")),
            "no code uses the limit {name}"
        );
        assert_eq!(
            table.matches(&format!("&Self::{name},")).count(),
            1,
            "{name}"
        );
    }
    let inputs: BTreeSet<&str> = InputLimit::ALL.iter().map(|limit| limit.input).collect();
    assert_eq!(
        (inputs.len(), names.len()),
        (InputLimit::ALL.len(), InputLimit::ALL.len())
    );
}

fn edit(repository: &Repository, file: &str, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_str(&repository.read(file)).unwrap();
    change(&mut value);
    repository.write(file, serde_json::to_string_pretty(&value).unwrap());
}

/// A golden file, its list, and an entry of it.
fn lists() -> [(&'static str, &'static str, Value); 4] {
    let finding = || json!({ "category": "liability", "must_contain_keywords": ["cap"] });
    [
        (
            "fixtures/contracts/expected/legal/change-of-control.json",
            "expected_findings",
            finding(),
        ),
        (
            "fixtures/contracts/expected/legal/sla.json",
            "must_not_find",
            json!({ "category": "liability" }),
        ),
        (
            "fixtures/cross/cases/licence-lapses-on-merger.json",
            "shared_findings",
            finding(),
        ),
        (
            "fixtures/interview/scenarios/int-001.json",
            "expectedAtoms",
            json!({ "minOutcomes": 1 }),
        ),
    ]
}

fn expectations() {
    let repository = Repository::bundled();
    let limit = InputLimit::EXPECTATIONS.count();
    let said = |count: usize| {
        for (file, list, entry) in lists() {
            edit(&repository, file, |case| {
                case[list] = vec![entry; count].into()
            });
        }
        repository.goldgate(&["check"]).stderr
    };
    let at_limit = said(limit);
    assert!(!at_limit.contains("[too-many]"), "{at_limit}");
    let above = said(limit + 1);
    for (file, list, _) in lists() {
        let words = format!(
            "501 entries in `{list}`; the limit is 500; {} [too-many]",
            InputLimit::EXPECTATIONS.help
        );
        let line = above
            .lines()
            .find(|line| line.starts_with(&format!("{file}:")))
            .unwrap_or_default();
        assert!(line.ends_with(&words), "{file}: {above}");
    }
}

fn turns() {
    let repository = Repository::bundled();
    let limit = InputLimit::TURNS.count();
    let file = "fixtures/tool_use/eval_cases.json";
    let said = |count: usize| {
        edit(&repository, file, |cases| {
            let turns = vec![json!({ "user": "And then?", "tools": [] }); count];
            cases["cases"][0] = json!({ "id": "talk", "category": "multi_step", "turns": turns });
        });
        repository.goldgate(&["check"]).stderr
    };
    let at_limit = said(limit);
    assert!(!at_limit.contains("[too-many]"), "{at_limit}");
    let above = said(limit + 1);
    let words = format!(
        "101 entries in `turns`; the limit is 100; {} [too-many]",
        InputLimit::TURNS.help
    );
    assert!(
        above
            .lines()
            .any(|line| line.starts_with(file) && line.ends_with(&words)),
        "{above}"
    );
}

fn compared() {
    let repository = Repository::bundled();
    let case: Value =
        serde_json::from_str(&repository.read("fixtures/cross/cases/sale-exit-charge.json"))
            .unwrap();
    let (agent, contract) = (
        case["agents"][0].as_str().unwrap(),
        case["contract"].as_str().unwrap(),
    );
    let recording = format!("fixtures/contracts/runs/{agent}/{contract}/0.json");
    let schema = |count: usize| {
        edit(&repository, &recording, |run| {
            let finding = run["outputs"]["findings"][0].clone();
            run["outputs"]["findings"] = vec![finding; count].into();
        });
        let ran = repository.goldgate(&["run", "--suite", "cross", "--format", "json"]);
        ran.stdout.contains(&format!(
            "{count} findings; the agents of a case are compared by at most 500 each"
        ))
    };
    assert!(!schema(500));
    assert!(schema(501));
}

fn votes() {
    let repository = Repository::bundled();
    let config = repository.read("goldgate.yaml");
    let said = |votes: u32| {
        repository.write(
            "goldgate.yaml",
            config.replacen("votes: 3", &format!("votes: {votes}"), 1),
        );
        repository.goldgate(&["check"])
    };
    let at_limit = said(15);
    assert!(
        !at_limit.stderr.contains("[bad-votes]"),
        "{}",
        at_limit.stderr
    );
    let above = said(17);
    assert!(
        above.code == 2
            && above
                .stderr
                .contains("votes is 17; write an odd number from 1 to 15"),
        "{}",
        above.stderr
    );
}

fn stored_report() {
    let repository = Repository::bundled();
    repository.write("out/report.json", "");
    let said = |bytes: u64| {
        let file = fs::File::options()
            .write(true)
            .open(repository.path("out/report.json"))
            .unwrap();
        file.set_len(bytes).unwrap();
        repository.goldgate(&["report", "out", "--format", "markdown"])
    };
    // A file without blocks on the disk, which is no JSON.
    let below = said(64 * 1024 * 1024);
    assert!(
        below.code == 2 && !below.stderr.contains("[too-large]"),
        "{}",
        below.stderr
    );
    let above = said(InputLimit::REPORT.most + 1);
    assert!(
        above.code == 2 && above.stderr.contains("the file is larger than 1024 MiB"),
        "{}",
        above.stderr
    );
}

/// The file, with blanks behind its text up to a size.
fn padded(repository: &Repository, file: &str, bytes: usize) {
    let text = repository.read(file);
    repository.write(
        file,
        format!(
            "{}{}",
            text.trim_end(),
            " ".repeat(bytes - text.trim_end().len())
        ),
    );
}

fn file() {
    let repository = Repository::small();
    let limit = InputLimit::FILE.count();
    for file in [
        "goldgate.yaml",
        "golden/expected/legal/lease.json",
        "golden/runs/legal/lease.json",
    ] {
        padded(&repository, file, limit);
        let ran = repository.goldgate(&["run"]);
        assert_eq!(ran.code, 0, "{file}: {}", ran.stderr);
        padded(&repository, file, limit + 1);
        let ran = repository.goldgate(&["run"]);
        let words = format!(
            "{file}: the file is larger than 32 MiB; {} [too-large]",
            InputLimit::FILE.help
        );
        assert!(
            ran.code == 2 && ran.stderr.contains(&words),
            "{file}: {}",
            ran.stderr
        );
        padded(&repository, file, 2000);
    }
    let answer = |bytes: usize| format!("{}{{\"findings\": []}}", " ".repeat(bytes - 16));
    let read = repository.goldgate_reading(&["repair"], answer(limit).as_bytes());
    assert_eq!(read.code, 0, "{}", read.stderr);
    let refused = repository.goldgate_reading(&["repair"], answer(limit + 1).as_bytes());
    assert!(
        refused.code == 2 && refused.stderr.contains("larger than 32 MiB"),
        "{}",
        refused.stderr
    );
}

fn baseline() {
    let repository = Repository::small();
    repository.write("baselines/latest.json", "");
    let said = |bytes: u64| {
        let file = fs::File::options()
            .write(true)
            .open(repository.path("baselines/latest.json"))
            .unwrap();
        file.set_len(bytes).unwrap();
        repository.goldgate(&["run"])
    };
    // A file without blocks on the disk, which is no JSON.
    let at_limit = said(InputLimit::BASELINE.most);
    assert!(
        at_limit.code == 2 && at_limit.stderr.contains("[broken-json]"),
        "{}",
        at_limit.stderr
    );
    let above = said(InputLimit::BASELINE.most + 1);
    assert!(
        above.code == 2 && above.stderr.contains("the file is larger than 256 MiB"),
        "{}",
        above.stderr
    );
}

fn levels() {
    let repository = Repository::small();
    let config = repository.read("goldgate.yaml");
    let yaml = |levels: usize| {
        // One level is the config's own mapping.
        let value = format!("{}{}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        repository.write("goldgate.yaml", format!("{config}later: {value}\n"));
        repository.goldgate(&["run"]).stderr
    };
    let (at_limit, above) = (yaml(64), yaml(65));
    assert!(
        at_limit.contains("[unknown-key]") && !at_limit.contains("[too-deep]"),
        "{at_limit}"
    );
    assert!(
        above.contains("goldgate.yaml:10:") && above.contains("[too-deep]"),
        "{above}"
    );
    let json = |levels: usize| {
        let answer = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        repository.goldgate_reading(&["repair"], answer.as_bytes())
    };
    let (at_limit, above) = (json(127), json(128));
    assert_eq!(at_limit.code, 0, "{}", at_limit.stderr);
    assert!(
        above.code == 2 && above.stderr.starts_with("standard input: "),
        "{}",
        above.stderr
    );
}

fn samples() {
    let repository = Repository::empty();
    let imported = |samples: usize| {
        repository.write(
            "t.jsonl",
            "[{\"role\": \"assistant\", \"content\": \"a\"}]\n".repeat(samples),
        );
        repository.goldgate(&[
            "import", "openai", "t.jsonl", "--out", "runs", "--agent", "h", "--case", "c",
            "--force",
        ])
    };
    let at_limit = imported(1000);
    assert_eq!(at_limit.code, 0, "{}", at_limit.stderr);
    assert!(repository.path("runs/h/c/999.json").exists());
    let above = imported(1001);
    assert!(
        above.code == 2 && above.stderr.contains("this case has 1001 samples"),
        "{}",
        above.stderr
    );
}

fn shards() {
    let repository = Repository::small();
    let ran = |shard: &str| repository.goldgate(&["run", "--shard", shard, "--out", "part"]);
    let at_limit = ran("1000/1000");
    assert_eq!(at_limit.code, 0, "{}", at_limit.stderr);
    let above = ran("1000/1001");
    assert!(
        above.code == 2 && above.stderr.contains("\"1000/1001\" is not a valid shard"),
        "{}",
        above.stderr
    );
}

fn tested() {
    let (mut texts, table) = (String::new(), "const TESTS: ");
    sources(&root().join("src"), &mut texts);
    sources(&root().join("tests/it"), &mut texts);
    // Without the table itself.
    let (before, rest) = texts.split_once(table).unwrap();
    let texts = format!("{before}{}", rest.split_once("];").unwrap().1);
    // A call may have its arguments on lines of their own.
    let texts = texts.split_whitespace().collect::<Vec<_>>().join(" ");
    let texts = texts.replace("trial( ", "trial(");
    for (limit, name) in TESTS {
        let is_there =
            texts.contains(&format!("trial(\"{name}\"")) || texts.contains(&format!("fn {name}()"));
        assert!(is_there, "{}: no test is called {name}", limit.input);
    }
    let tested: BTreeSet<&str> = TESTS.iter().map(|(limit, _)| limit.input).collect();
    assert_eq!(
        tested,
        InputLimit::ALL.iter().map(|limit| limit.input).collect()
    );
}
