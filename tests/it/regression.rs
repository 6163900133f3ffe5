//! The policy `regression`, through the program: what its four rules say, what they compare with, and what moves a baseline.

use std::fs;

use goldgate::chance::Sample;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::golden_changes::commit_all;
use crate::rates::agents::{Dice, Kind, Quality, draw};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("each rule of the policy regression is red by itself", rules),
        trial(
            "more planned samples than are recorded are named with what records them",
            more_samples,
        ),
        trial(
            "fewer cases that pass in every sample are said beside the number of before",
            fewer_in_every_sample,
        ),
        trial(
            "a case that may be lost names the command that records the missing samples",
            asked,
        ),
        trial(
            "the samples that are asked for are recorded up to the first right one",
            until_right,
        ),
        trial(
            "samples that were asked for count for the lost case alone",
            asked_samples,
        ),
        trial("what an agent never does is red in most samples", never),
        trial(
            "equal answers of a cache count with their first sample",
            cached,
        ),
        trial(
            "agents share the chance of a false alarm by their p",
            several_agents,
        ),
        trial(
            "what main lost already is listed and red for nobody",
            lost_on_main,
        ),
        trial("chance does not move a baseline", updates),
        trial(
            "a case that is new or asks something else is compared with nothing",
            new_cases,
        ),
        trial(
            "samples that other rules graded are not compared",
            other_rules,
        ),
        trial("settings of the policy are checked", settings),
        trial(
            "an unchanged agent of 95% is red in few of its re-recordings",
            unchanged,
        ),
        trial(
            "a loss that the majority of three samples hides is red",
            hidden_by_majorities,
        ),
    ]
}

/// The recordings of an agent: a text for each case, with a mark for each sample. `+` is right, `-` wrong, `!` calls a tool where none is expected.
pub type Marks<'a> = &'a [&'a str];

fn answer(case: usize, sample: usize, mark: char) -> Value {
    let text = match mark {
        '-' => format!("no idea {sample}"),
        _ => format!("right {case}, take {sample}"),
    };
    let calls = match mark {
        '!' => json!([{"name": "pay", "arguments": {}, "result": "done"}]),
        _ => json!([]),
    };
    json!({"status": "completed", "outputs": {"text": text}, "intermediate": {"tool_calls": calls}})
}

pub fn record(repository: &Repository, agent: &str, marks: Marks<'_>) {
    let _ = fs::remove_dir_all(repository.path(&format!("runs/{agent}")));
    for (case, samples) in marks.iter().enumerate() {
        for (sample, mark) in samples.chars().enumerate() {
            let file = format!("runs/{agent}/case-{case:02}/{sample}.json");
            repository.write(&file, answer(case, sample, mark).to_string());
        }
    }
}

fn write_cases(repository: &Repository, count: usize) {
    let case = |case: usize| {
        json!({
            "id": format!("case-{case:02}"), "category": "happy_path", "query": format!("question {case}"),
            "expected_tools": [],
            "answer": {"any_of": [format!("right {case},")]}
        })
    };
    let cases: Vec<Value> = (0..count).map(case).collect();
    repository.write("cases.json", json!(cases).to_string());
}

/// A suite with these agents and further lines, and its baseline of these recordings.
pub fn repository(agents: &[&str], marks: Marks<'_>, lines: &str) -> Repository {
    let repository = Repository::empty();
    let mut config = format!(
        "version: 1\nbaseline: latest.json\nsuites:\n  - id: s\n    kind: tool_use\n    path: cases.json\n{lines}    agents:\n"
    );
    for agent in agents {
        config.push_str(&format!(
            "      {agent}: {{ deterministic: {{ replay: runs }}, fingerprint: {{ none: made up }} }}\n"
        ));
        record(&repository, agent, marks);
    }
    repository.write("goldgate.yaml", config);
    write_cases(&repository, marks.len());
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout + &ran.stderr);
    repository
}

/// The exit code, and the policies of the agents.
pub fn judged(repository: &Repository, more: &[&str]) -> (i32, Vec<Value>) {
    let ran = repository.goldgate(&[&["run", "--format", "json"], more].concat());
    let report: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}", ran.stdout + &ran.stderr));
    let agents = report["suites"][0]["agents"].as_array().unwrap();
    (
        ran.code,
        agents.iter().map(|agent| agent["policy"].clone()).collect(),
    )
}

const STEADY: [&str; 12] = ["+++"; 12];

/// Twelve cases of three samples, all right, with these in place of the first ones.
fn with_first<'a>(first: &[&'a str]) -> Vec<&'a str> {
    let rest = STEADY[first.len()..].iter().copied();
    first.iter().copied().chain(rest).collect()
}

fn rules() {
    let names = |policy: &Value, key: &str| policy[key].as_array().map_or(0, Vec::len);
    for (first, code, lost, asked) in [
        (&["+++"][..], 0, 0, 0),
        // One wrong sample each in one, two and three cases: p = 25%, 12.5% and 6.25%; in five 1.6%.
        (&["++-", "++-", "++-"], 0, 0, 0),
        (&["++-", "+-+", "++-", "++-", "++-"], 1, 0, 0),
        (&["---"], 1, 0, 1),
        (&["------"], 1, 1, 0),
    ] {
        let repository = repository(&["bot"], &STEADY, "");
        record(&repository, "bot", &with_first(first));
        let (found, policies) = judged(&repository, &[]);
        let policy = &policies[0];
        assert_eq!(
            (found, names(policy, "lost"), names(policy, "asked")),
            (code, lost, asked),
            "{first:?}: {policy}"
        );
    }
    let collapsed = repository(&["bot"], &["++", "+-", "++"], "");
    record(&collapsed, "bot", &["-+", "--", "--"]);
    let (code, policies) = judged(&collapsed, &["--samples", "2"]);
    assert_eq!(code, 1, "{policies:?}");
    assert!(policies[0]["pass_rate"].as_f64() < policies[0]["floor"].as_f64());
}

fn asked() {
    // Two other cases got better, so that the test is green.
    let marks = with_first(&["+++", "+--", "+--"]);
    let repository = repository(&["bot"], &marks, "");
    record(&repository, "bot", &with_first(&["---"]));
    let (_, policies) = judged(&repository, &[]);
    assert_eq!(
        policies[0]["asked"],
        json!([{
            "case": "case-00", "before": 3, "now": 3, "more": 3,
            "command": "goldgate record --suite s --agent bot --case case-00 --samples 6 --until-right -- COMMAND"
        }])
    );
    let ran = repository.goldgate(&["run"]);
    assert!(
        ran.stdout
            .contains("red if all 6 are wrong, or an approval")
            && ran
                .stdout
                .contains("--case case-00 --samples 6 --until-right"),
        "{}",
        ran.stdout
    );
}

fn until_right() {
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        "version: 1\nsuites:\n  - id: s\n    kind: tool_use\n    path: cases.json\n    agents:\n      bot: { deterministic: { replay: runs }, \
         fingerprint: [agent.sh] }\n",
    );
    write_cases(&repository, 2);
    // Every answer is the next line of a file.
    repository.write(
        "agent.sh",
        "head -n 1 answers\nsed 1d answers > rest\nmv rest answers\n",
    );
    let record = |answers: &str, options: &[&str]| {
        repository.write("answers", answers);
        let options = [&["record"], options, &["--", "sh", "agent.sh"]].concat();
        let ran = repository.goldgate(&options);
        assert_eq!(ran.code, 0, "{}", ran.stdout + &ran.stderr);
        let recorded = fs::read_dir(repository.path("runs/bot/case-00")).unwrap();
        (recorded.count(), repository.read("answers"))
    };
    let one_at_a_time = ["--concurrency", "1"];
    let three = [&["--samples", "3"], &one_at_a_time[..]].concat();
    let answers = "no\nright 1,\n".repeat(3);
    assert_eq!(record(&answers, &three), (3, String::new()));
    // Sample 5 is right, so that sample 6 is not needed; the other case is right already.
    let more = ["--samples", "6", "--until-right"];
    assert_eq!(
        record("no\nright 0,\nunused\n", &more),
        (5, "unused\n".to_owned())
    );
}

fn asked_samples() {
    let repository = repository(&["bot"], &["+++", "+++"], "");
    let p = |first: &str| {
        record(&repository, "bot", &[first, "+++"]);
        judged(&repository, &[]).1[0]["p"].clone()
    };
    assert_eq!(p("---"), p("---+"));
    // They do not get into a baseline, whatever replaces it.
    let ran = repository.goldgate(&["run", "--update-baseline", "--all"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let baseline: Value = serde_json::from_str(&repository.read("latest.json")).unwrap();
    let entry = &baseline["suites"]["s"]["agents"]["bot"]["samples"]["case-00"];
    assert_eq!(entry["passed"], json!([false, false, false]), "{entry}");
}

fn never() {
    for (lines, first, code) in [
        ("", "!!!", 1),
        ("", "!!+", 1),
        ("", "!++", 0),
        ("    never: []\n", "!!+", 0),
    ] {
        // A flaky case, so that no other rule is red.
        let marks = with_first(&["+-+"]);
        let repository = repository(&["bot"], &marks, lines);
        record(&repository, "bot", &with_first(&[first]));
        let (found, policies) = judged(&repository, &[]);
        assert_eq!(found, code, "{lines}{first}: {}", policies[0]);
    }
    // What the baseline breaks already is listed.
    let repository = repository(&["bot"], &with_first(&["!++"]), "");
    record(&repository, "bot", &with_first(&["!!+"]));
    let (code, policies) = judged(&repository, &[]);
    assert_eq!((code, &policies[0]["never"]), (0, &json!([])));
}

fn cached() {
    let repository = repository(&["bot"], &STEADY, "");
    let long = |right: bool, case: usize| {
        let text = if right {
            format!("right {case}, ")
        } else {
            "no ".to_owned()
        };
        json!({"status": "completed", "outputs": {"text": text.repeat(100)}}).to_string()
    };
    repository.remove("runs/bot");
    for case in 0..12 {
        for sample in 0..3 {
            let file = format!("runs/bot/case-{case:02}/{sample}.json");
            repository.write(&file, long(case >= 3, case));
        }
    }
    let (_, policies) = judged(&repository, &[]);
    assert_eq!(policies[0]["samples"], json!(1), "{}", policies[0]);
    let ran = repository.goldgate(&["run", "-v"]);
    assert!(
        ran.stdout
            .contains("as from a cache: only the first one counts"),
        "{}",
        ran.stdout
    );
}

fn several_agents() {
    let agents = ["a", "b", "c", "d"];
    let repository = repository(&agents, &STEADY, "");
    let worse = with_first(&["++-", "+-+", "++-", "++-", "++-"]);
    record(&repository, "a", &worse);
    for other in ["b", "c", "d"] {
        record(&repository, other, &with_first(&["++-"]));
    }
    // p = 2.7% is below 5%, and not below a fourth of it.
    let (code, policies) = judged(&repository, &[]);
    assert_eq!(
        (code, &policies[0]["limit"]),
        (0, &json!(0.0125)),
        "{policies:?}"
    );
    assert_eq!(policies[0]["tested"], json!(4));
}

fn lost_on_main() {
    let repository = repository(&["bot"], &STEADY, "");
    record(&repository, "bot", &with_first(&["------"]));
    commit_all(&repository);
    let (code, policies) = judged(&repository, &["--base", "HEAD"]);
    assert_eq!(
        (code, &policies[0]["lost"]),
        (0, &json!([])),
        "{policies:?}"
    );
    let ran = repository.goldgate(&["run", "--base", "HEAD", "-v"]);
    assert!(ran.stdout.contains("already: case-00"), "{}", ran.stdout);
    // Another case is still lost.
    record(&repository, "bot", &with_first(&["------", "------"]));
    let (code, policies) = judged(&repository, &["--base", "HEAD"]);
    assert_eq!(
        (code, &policies[0]["lost"]),
        (1, &json!(["case-01"])),
        "{policies:?}"
    );
}

fn updates() {
    let shown = |repository: &Repository, case: &str| -> Value {
        let baseline: Value = serde_json::from_str(&repository.read("latest.json")).unwrap();
        baseline["suites"]["s"]["agents"]["bot"]["samples"][case]["passed"].clone()
    };
    let flaky = ["+-+"; 12];
    let repository = repository(&["bot"], &flaky, "");
    let before = shown(&repository, "case-00");
    for (marks, more, code, is_kept) in [
        // By chance better, by chance worse.
        (with_first(&["+++"; 2]), &[][..], 0, true),
        (flaky.to_vec(), &[], 0, true),
        (vec!["---"; 12], &[], 1, true),
        (vec!["+++"; 12], &[], 0, false),
        (vec!["---"; 12], &["--all"], 1, false),
    ] {
        let marks: Vec<&str> = if marks.len() == 12 && marks[2] == "+++" && is_kept {
            flaky
                .iter()
                .enumerate()
                .map(|(at, mark)| if at < 2 { "+++" } else { *mark })
                .collect()
        } else {
            marks
        };
        record(&repository, "bot", &marks);
        let ran = repository.goldgate(&[&["run", "--update-baseline"], more].concat());
        assert_eq!(ran.code, code, "{marks:?}: {}", ran.stdout + &ran.stderr);
        assert_eq!(
            shown(&repository, "case-00") == before,
            is_kept,
            "{marks:?}"
        );
    }
}

fn new_cases() {
    let repository = repository(&["bot"], &STEADY, "");
    write_cases(&repository, 13);
    let marks: Vec<&str> = STEADY.into_iter().chain(["---"]).collect();
    record(&repository, "bot", &marks);
    let (code, policies) = judged(&repository, &[]);
    assert_eq!(
        (code, &policies[0]["cases"]),
        (0, &json!(12)),
        "{policies:?}"
    );
}

fn other_rules() {
    let repository = repository(&["bot"], &STEADY, "");
    repository.replace("cases.json", "right 3,", "right 3, take");
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("1 case is not compared") && ran.stdout.contains("case-03"),
        "{}",
        ran.stdout
    );
    // The next step that it names mends it.
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(repository.goldgate(&["run"]).code, 0);
}

fn settings() {
    let repository = repository(&["bot"], &STEADY, "");
    let config = repository.read("goldgate.yaml");
    for (line, says) in [
        ("    policy: seeds\n", "unknown value"),
        ("    floor: 0\n", "floor is 0"),
        ("    floor: 1.5\n", "floor is 1.5"),
        ("    policy: seed\n    floor: 0.5\n", "floor has no effect"),
        ("    policy: seed\n    never: []\n", "never has no effect"),
        ("    never: [safety]\n", "no class \"safety\""),
        (
            "    gates: { case_pass_rate: { off: true, reason: why } }\n",
            "no gate that could be switched off",
        ),
    ] {
        let text = config.replace(
            "    path: cases.json\n",
            &format!("    path: cases.json\n{line}"),
        );
        repository.write("goldgate.yaml", text);
        let ran = repository.goldgate(&["check"]);
        assert!(
            ran.code == 2 && ran.stderr.contains(says),
            "{line}: {}",
            ran.stderr
        );
    }
    for alpha in ["5", "0.01%", "21%", "five"] {
        repository.write("goldgate.yaml", format!("regression: {alpha}\n{config}"));
        let ran = repository.goldgate(&["check"]);
        assert_eq!(ran.code, 2, "{alpha}: {}", ran.stderr);
    }
}

/// With the gates of majorities, 17 of 30 were red.
fn unchanged() {
    let dice = &mut Dice(17);
    let rates = Quality::Around(0.95).cases(12, dice);
    let mut recorded = || {
        let samples = draw(Kind::ToolUse, &rates, 3, dice);
        let mark = |sample: &Sample| if sample.passes { '+' } else { '-' };
        let case = |case: &Vec<Sample>| case.iter().map(mark).collect();
        samples.iter().map(case).collect::<Vec<String>>()
    };
    let baseline = recorded();
    let repository = repository(
        &["bot"],
        &baseline.iter().map(String::as_str).collect::<Vec<_>>(),
        "",
    );
    let red = (0..20)
        .filter(|_| {
            let marks = recorded();
            record(
                &repository,
                "bot",
                &marks.iter().map(String::as_str).collect::<Vec<_>>(),
            );
            judged(&repository, &[]).0 != 0
        })
        .count();
    assert!(red <= 2, "{red} of 20");
}

/// 75 of 78 samples were right, then 68; the cases that pass in a majority stayed the same.
fn hidden_by_majorities() {
    let case = |place: usize, wrong: usize| if place < wrong { "++-" } else { "+++" };
    let [before, now] =
        [3, 10].map(|wrong| (0..26).map(|place| case(place, wrong)).collect::<Vec<_>>());
    let repository = repository(&["bot"], &before, "");
    record(&repository, "bot", &now);
    let (code, policies) = judged(&repository, &[]);
    let p = policies[0]["p"].as_f64().unwrap();
    assert!(code == 1 && p <= 0.05, "{code} {p}");
}

/// The example of `goldgate demo` after its prompt changed: three samples of five cases.
fn example() -> Repository {
    let repository = Repository::empty();
    assert_eq!(repository.goldgate(&["demo", "desk"]).code, 0);
    repository
}

fn more_samples() {
    let repository = example();
    let run = |repository: &Repository| {
        repository
            .goldgate(&["run", "--config", "desk/goldgate.yaml"])
            .stdout
    };
    let says = "more samples are planned than are recorded, and the missing ones decide whether it regressed; \
                run the program that writes desk/golden/runs";
    let control = run(&repository);
    assert!(!control.contains(says), "{control}");
    repository.replace("desk/goldgate.yaml", "version: 1", "version: 1\nsamples: 5");
    let more = run(&repository);
    assert!(more.contains(says), "{more}");
}

fn fewer_in_every_sample() {
    let repository = example();
    let goldgate = |arguments: &[&str]| {
        let config = ["--config", "desk/goldgate.yaml"];
        repository.goldgate(&[arguments, &config].concat())
    };
    goldgate(&["run", "--update-baseline", "--all"]);
    let control = goldgate(&["run"]).stdout;
    assert!(
        control.contains("All 5 gates pass on 5 cases (no number moved)."),
        "{control}"
    );
    let file = "desk/golden/runs/desk/cancel/0.json";
    let text = repository.read(file).replace("cancel_order", "get_order");
    repository.write(file, text);
    assert_eq!(goldgate(&["stamp", "--stale"]).code, 0);
    let ran = goldgate(&["run"]);
    let says = "All 5 gates pass on 5 cases (3 of 5 pairs of agent and case pass in every sample, 4 before).";
    assert!(ran.code == 0 && ran.stdout.contains(says), "{}", ran.stdout);
}
