//! Recorded votes: what they come to, who may recommend, and that none of it gates.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{TARGETS, repository};
use crate::repository::Repository;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a judge with which people agree recommends a look, and its fail gates nothing",
            recommends,
        ),
        trial(
            "a judge with which people do not agree is told as such, with what to do",
            distrusted,
        ),
        trial(
            "a judge without labels is not trusted, and the report says how to label",
            unlabelled,
        ),
        trial(
            "what a person says by the judge's rubric is kept beside what others said of the case",
            labelling,
        ),
        trial(
            "a label on other outputs does not count for a judge",
            stale_label,
        ),
        trial(
            "votes that cannot be read take the place of none that were given",
            unreadable,
        ),
        trial("parts of a suite join to the judges of the whole", parts),
        trial(
            "a stored report tells what judges said as the run did",
            stored,
        ),
        trial(
            "a pull request that changes a judge is told so, and needs no approval",
            guarded,
        ),
    ]
}

/// The same with votes: the judge's command answers with the mark that stands in a file.
fn voted(cases: usize, marks: &[&str]) -> Repository {
    let repository = repository(cases, TARGETS);
    repository.write(
        "bench.sh",
        "cat > /dev/null\nprintf '{\"status\": \"completed\", \"outputs\": {\"verdict\": \"%s\", \"reason\": \"as told\"}}' $(cat mark)\n",
    );
    for case in 0..cases {
        repository.write("mark", marks[case % marks.len()]);
        let name = format!("wombat-{case}");
        // Each case is another output: the same one would not be voted on twice.
        repository.replace(
            &format!("runs/quokka/{name}.json"),
            "Write the atom b",
            &format!("Write the atom b, {case}"),
        );
        let ran = repository.goldgate(&["judge", "--quiet", "--case", &name]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    repository
}

fn labels(marks: &[&str]) -> String {
    let label = |(case, mark): (usize, &&str)| json!({ "case": format!("wombat-{case}"), "verdict": mark, "by": "Subject A", "reason": "so" });
    Value::from(marks.iter().enumerate().map(label).collect::<Vec<_>>()).to_string()
}

fn shown(repository: &Repository) -> String {
    let ran = repository.goldgate(&["run", "-v"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

fn report(repository: &Repository) -> Value {
    serde_json::from_str(
        &repository
            .goldgate(&["run", "-v", "--format", "json"])
            .stdout,
    )
    .unwrap()
}

fn judge(report: &Value) -> &Value {
    &report["suites"][0]["agents"][0]["judges"][0]
}

const MARKS: [&str; 10] = [
    "pass", "pass", "fail", "pass", "weak", "pass", "fail", "pass", "fail", "pass",
];

fn recommends() {
    let repository = voted(10, &MARKS);
    repository.write("people.json", labels(&MARKS));
    let text = shown(&repository);
    assert!(text.contains("judge keeps_promises of upkeep may recommend: its agreement with people is above 0.60 (kappa 1.00, 95% interval "), "{text}");
    assert!(
        text.contains("10 labels, base rate 60%, always \"pass\" would be right in 60%"),
        "{text}"
    );
    assert!(
        text.contains("recommends to review wombat-2 (fail: as told), wombat-4 (weak: as told), "),
        "{text}"
    );
    assert!(text.contains("next: `goldgate explain wombat-2`"), "{text}");
    assert!(text.contains("all 2 gates pass on"), "{text}");
    let told = report(&repository);
    assert_eq!(
        (&judge(&told)["share"], &judge(&told)["standing"]),
        (&json!(0.6), &json!("recommends"))
    );
    assert_eq!(
        (&told["verdict"], &told["exit_code"], &told["failures"]),
        (&json!("pass"), &json!(0), &json!([]))
    );
    assert!(
        told["suites"][0]["agents"][0]["metrics"]
            .get("keeps_promises")
            .is_none(),
        "it is no metric that a gate could see"
    );
    let one = repository.goldgate(&["explain", "wombat-2"]).stdout;
    assert!(
        one.contains("judges (advisory, not part of any gate)\n    keeps_promises: fail\n      sample 0 fail: as told"),
        "{one}"
    );
    // A share that fell is a reason to look, and still no gate.
    assert_eq!(
        repository
            .goldgate(&["run", "-v", "--update-baseline", "--quiet"])
            .code,
        0
    );
    repository.write("mark", "fail");
    assert_eq!(
        repository
            .goldgate(&["judge", "--quiet", "--again", "--case", "wombat-0"])
            .code,
        0
    );
    let text = shown(&repository);
    assert!(
        text.contains("recommends not to merge, because the share of passes fell from 60% to 50%, and to review"),
        "{text}"
    );
}

fn unreadable() {
    let repository = voted(3, &MARKS);
    let recording = |case: usize| repository.read(&format!("runs/quokka/wombat-{case}.json"));
    let before: Vec<String> = (0..3).map(recording).collect();
    // The judge answers with something that is no verdict.
    repository.write("mark", "perhaps");
    let ran = repository.goldgate(&["judge", "--quiet", "--again"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        (0..3).map(recording).collect::<Vec<_>>(),
        before,
        "what was said before stays to the letter"
    );
    // One vote of three can be read: it takes its own place, and the other two stay.
    repository.write(
        "bench.sh",
        "cat > /dev/null\nmkdir once 2> /dev/null && mark=fail || mark=perhaps\n\
         printf '{\"status\": \"completed\", \"outputs\": {\"verdict\": \"%s\", \"reason\": \"anew\"}}' $mark\n",
    );
    let ran = repository.goldgate(&["judge", "--quiet", "--again", "--case", "wombat-0"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let now: Value = serde_json::from_str(&recording(0)).unwrap();
    let votes = now["judgements"]["keeps_promises"]["votes"]
        .as_array()
        .unwrap()
        .clone();
    let reasons: Vec<&str> = votes
        .iter()
        .filter_map(|vote| vote["reason"].as_str())
        .collect();
    assert_eq!(
        (
            votes.len(),
            reasons.iter().filter(|reason| **reason == "anew").count()
        ),
        (3, 1),
        "{votes:?}"
    );
    assert_eq!(
        reasons
            .iter()
            .filter(|reason| **reason == "as told")
            .count(),
        2,
        "{votes:?}"
    );
}

fn distrusted() {
    let repository = voted(10, &MARKS);
    let mut people = MARKS;
    people.rotate_left(1);
    repository.write("people.json", labels(&people));
    let text = shown(&repository);
    assert!(
        text.contains("is not trusted yet and recommends nothing: its agreement with people is not above 0.60 (kappa "),
        "{text}"
    );
    assert!(
        text.contains(
            "improve its rubric, or label more cases: `goldgate label --suite upkeep --judge keeps_promises`"
        ),
        "{text}"
    );
    assert!(!text.contains("a look at"), "{text}");
    repository.replace("goldgate.yaml", "votes: 3", "votes: 3, kappa: 0");
    repository.write("people.json", labels(&MARKS[..9]));
    assert!(
        shown(&repository)
            .contains("is not trusted yet and recommends nothing: too few labels (kappa 1.00")
    );
}

fn unlabelled() {
    let repository = voted(1, &["pass"]);
    repository.replace("goldgate.yaml", ", labels: people.json", "");
    let text = shown(&repository);
    assert!(
        text.contains(
            "the config has no human labels for it; add `labels: FILE` to the judge, then label 20 cases: `goldgate label"
        ),
        "{text}"
    );
    let ran = repository.goldgate(&["label", "--judge", "keeps_promises", "--agreement"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr.contains(
            "has a judge \"keeps_promises\" with a file of labels; add labels: FILE to the judge"
        ),
        "{}",
        ran.stderr
    );
}

fn labelling() {
    let repository = voted(2, &["pass", "fail"]);
    repository.remove("people.json");
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    labels: rules.json\n",
    );
    repository.write("rules.json", "[]\n");
    let arguments = ["label", "--by", "Subject A", "--judge", "keeps_promises"];
    let ran = repository.goldgate_reading(&arguments, b"p\nkeeps all\nw\nkeeps some\n");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(
        ran.stdout.starts_with(
            "Mark by this rubric:\n  Keep what is promised.\n\n[1 of 2] upkeep/quokka/wombat-"
        ),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("People and the judge keeps_promises, 2 labels:"),
        "{}",
        ran.stdout
    );
    assert!(
        !ran.stdout.contains("as told"),
        "who marks is not told what the judge said: {}",
        ran.stdout
    );
    assert_eq!(
        serde_json::from_str::<Vec<Value>>(&repository.read("people.json"))
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        repository.read("rules.json"),
        "[]\n",
        "what is thought of the whole case is another question"
    );
    assert_eq!(judge(&report(&repository))["agreement"]["labels"], json!(2));
}

fn stale_label() {
    let repository = voted(1, &["pass"]);
    let label = json!([{ "case": "wombat-0", "verdict": "fail", "outputs_sha256": "00", "by": "Subject A", "reason": "so" }]);
    repository.write("people.json", label.to_string());
    let text = shown(&repository);
    assert!(
        text.contains(
            "too few labels; 1 label not counted, because the outputs have changed; label 20 cases"
        ),
        "{text}"
    );
}

fn parts() {
    let repository = voted(6, &MARKS);
    repository.write("people.json", labels(&MARKS[..6]));
    for part in ["1/2", "2/2"] {
        let folder = part.replace('/', "-");
        assert_eq!(
            repository
                .goldgate(&["run", "-v", "--quiet", "--shard", part, "--out", &folder])
                .code,
            0
        );
    }
    let merged = repository.goldgate(&["merge", "-v", "1-2", "2-2", "--format", "json"]);
    let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
    let whole = report(&repository);
    assert_eq!(judge(&merged), judge(&whole));
    assert_eq!(merged["suites"], whole["suites"]);
}

fn stored() {
    let repository = voted(3, &["pass", "fail", "weak"]);
    assert_eq!(
        repository
            .goldgate(&["run", "-v", "--quiet", "--out", "out"])
            .code,
        0
    );
    for (format, wanted) in [
        ("table", "judge keeps_promises"),
        (
            "markdown",
            "<summary>LLM judges, for what rules cannot score (advisory, not part of any gate)</summary>",
        ),
        ("html", "<th scope=\"row\">judge keeps_promises</th><td"),
        ("json", "\"judge\":\"keeps_promises\""),
    ] {
        let now = repository
            .goldgate(&["run", "-v", "--format", format])
            .stdout;
        assert!(now.contains(wanted), "{format}: {now}");
        assert_eq!(
            repository
                .goldgate(&["report", "-v", "out", "--format", format])
                .stdout,
            now,
            "{format}"
        );
    }
    assert!(
        !repository.read("out/junit.xml").contains("keeps_promises"),
        "advice is no test"
    );
}

fn guarded() {
    let repository = voted(1, &["pass"]);
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let done = command
            .current_dir(repository.path(""))
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    };
    repository.remove(".git");
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&[
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@acme.test",
        "commit",
        "-qm",
        "base",
    ]);
    repository.replace("goldgate.yaml", "votes: 3", "votes: 5");
    repository.write("rubric.md", "Keep more.\n");
    let ran = repository.goldgate_with(
        &["run", "-v", "--base", "HEAD"],
        &[("PATH", &std::env::var("PATH").unwrap())],
    );
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("[listed] judge keeps_promises of `upkeep`: bench by rubric.md, 3 votes"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("[listed] rubric of the judge keeps_promises of `upkeep` edited: "),
        "{}",
        ran.stdout
    );
    assert_eq!(repository.goldgate(&["judge", "--quiet"]).code, 0);
    let ran = repository.goldgate_with(
        &["run", "-v", "--base", "HEAD"],
        &[("PATH", &std::env::var("PATH").unwrap())],
    );
    // Votes are no content of a recording.
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    for words in ["recording of `upkeep/quokka`", "needs approval"] {
        assert!(!ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
}
