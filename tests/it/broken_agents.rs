//! Agents that got worse, one for each kind of suite: the visible part of the comment names the case and the cause.
//!
//! With `GOLDGATE_BROKEN=DIR` each writes its comment, its screen in four widths and its page there; `docs/pictures/render.sh` makes the
//! pictures of them.

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::golden_changes::commit_all;
use crate::repository::Repository;
use crate::trial;

/// A change of one recording; the path of its file tells the case.
type Breakage = fn(&mut Value, &str);

struct BrokenAgent {
    /// What the agent does wrong.
    what: &'static str,
    name: &'static str,
    suite: &'static str,
    /// The file of the agent that changed, and the rule that was added to it.
    rule: (&'static str, &'static str),
    /// The folders of the recordings that were made again.
    runs: &'static [&'static str],
    breaks: Breakage,
    /// How the headline begins.
    headline: &'static str,
    /// What a reader finds: the case, what it expects, what it got.
    tells: &'static [&'static str],
    /// What would mislead the reader.
    silent_on: &'static [&'static str],
}

const INTERVIEWER: (&str, &[&str]) = (
    "fixtures/interview/prompts/policies-v1.md",
    &["interview/runs", "stochastic/runs"],
);
const RECONCILER: (&str, &[&str]) = (
    "fixtures/reconciliation/prompts/policies-v1.md",
    &["reconciliation/runs", "property/runs"],
);
const ASSISTANT: (&str, &[&str]) = (
    "fixtures/tool_use/prompts/policies-v1.md",
    &["tool_use/runs"],
);

const BROKEN: [BrokenAgent; 12] = [
    // R3: "The reader is led to two cases that have nothing to do with it."
    BrokenAgent {
        what: "a severity is lowered",
        name: "severity",
        suite: "contracts",
        rule: (
            "fixtures/contracts/prompts/policies/commercial/policies-v1.md",
            "In doubt take the lower severity.",
        ),
        runs: &["contracts/runs/commercial"],
        breaks: lower_severity,
        headline: "Merge blocked: commercial severity_accuracy 70%, needs 84.5% (baseline 89.5%).",
        tells: &[
            "**letter-of-intent**: severity_accuracy 0% (baseline 100%)",
            "expected exclusivity with severity medium to high",
            "got exclusivity reported as low (3 of 3 samples)",
            "changed findings[0].severity: ~~high~~ **low**",
        ],
        silent_on: &["No failure of", "commercial-lease", "expected_gap"],
    },
    // R1: "Nothing says week or day." One sample repeats a failed call with success, here as at the base commit.
    BrokenAgent {
        what: "a call has another argument",
        name: "argument",
        suite: "assistant",
        rule: (ASSISTANT.0, "Ask for one day at a time."),
        runs: ASSISTANT.1,
        breaks: one_day,
        headline: "Merge blocked: assistant case_pass_rate 97.9%, needs 100% (baseline 100%).",
        tells: &[
            "**edge_case-17**: case_pass_rate 0% (baseline 100%)",
            "nearest call appointment_availability(period: \"day\"), expected \"week\"",
            "changed appointment_availability.period: ~~week~~ **day**",
        ],
        silent_on: &["tooling", "0 calls match", "mend the tool"],
    },
    BrokenAgent {
        what: "a tool is called twice",
        name: "extra-call",
        suite: "assistant",
        rule: (ASSISTANT.0, "Convert twice to be sure."),
        runs: ASSISTANT.1,
        breaks: convert_twice,
        headline: "Merge blocked: assistant case_pass_rate 95.8%, needs 100% (baseline 100%).",
        tells: &[
            "**convert-fever**: case_pass_rate 0% (baseline 100%)",
            "got called convert_units → convert_units",
            "changed calls: ",
        ],
        silent_on: &[],
    },
    BrokenAgent {
        what: "an agent needs twice the tokens and time",
        name: "slower",
        suite: "assistant",
        rule: (
            ASSISTANT.0,
            "Think every step through in writing before you answer.",
        ),
        runs: ASSISTANT.1,
        breaks: twice_as_slow,
        headline: "All 2 gates pass on 48 cases; assistant needs +100% tokens and +100% time.",
        tells: &[
            "tokens 1,379 → 2,758 (+100%, no gate is on it)",
            "latency 2.4 s → 4.8 s (+100%, no gate is on it)",
        ],
        silent_on: &[],
    },
    BrokenAgent {
        what: "a kind of difference is confused with another",
        name: "wrong-kind",
        suite: "reconciliation",
        rule: (RECONCILER.0, "In doubt call code ghost_code."),
        runs: RECONCILER.1,
        breaks: ghost_code,
        headline: "Merge blocked: reconciler ",
        tells: &[
            "**rec-001**: scenario_pass_rate 0% (baseline 100%)",
            "not found: ",
            "(coupled)",
            "~~coupled~~ **ghost_code**",
        ],
        silent_on: &[],
    },
    BrokenAgent {
        what: "answers cannot be read",
        name: "unreadable",
        suite: "reconciliation",
        rule: (RECONCILER.0, "Answer in prose first."),
        runs: RECONCILER.1,
        breaks: prose,
        headline: "Merge blocked: reconciler scenario_pass_rate 0%, needs 90% (baseline 100%).",
        tells: &[
            "**rec-001**: scenario_pass_rate 0% (baseline 100%)",
            "the text contains no readable JSON with a list \"deltas\"",
        ],
        silent_on: &[],
    },
    BrokenAgent {
        what: "a clause is lost",
        name: "lost-clause",
        suite: "revision",
        rule: (
            "fixtures/revision/prompts/contract-v3.md",
            "Leave out what repeats another clause.",
        ),
        runs: &["revision/runs"],
        breaks: lose_clause,
        headline: "Merge blocked: reviser newly failing: agency-tea.",
        tells: &[
            "agency-tea",
            "no unrequested change",
            "accept an improper advantage in connection with this Agreement.7.3 Fair work.",
        ],
        silent_on: &[],
    },
    // R2: "The text says that precision is perfect." The numbers are means, and those of each run.
    BrokenAgent {
        what: "one scenario is unstable",
        name: "unstable",
        suite: "variability",
        rule: (INTERVIEWER.0, "Two atoms are enough."),
        runs: INTERVIEWER.1,
        breaks: unstable,
        headline: "Merge blocked: interviewer scenario_pass_rate 66.7%, needs 100% (baseline 100%).",
        tells: &[
            "**sto-002**: ",
            "3 of 5 samples reach both thresholds; mean recall 0.56, needs 0.75 (by sample: 1.00 0.00 0.86 0.00 0.93)",
        ],
        silent_on: &["precision 1.00 of", "recall 0.57 of"],
    },
    BrokenAgent {
        what: "atoms have another category",
        name: "category",
        suite: "interview",
        rule: (INTERVIEWER.0, "Call everything that a person sees ux."),
        runs: INTERVIEWER.1,
        breaks: ux,
        headline: "Merge blocked: interviewer ",
        tells: &[
            "**int-019**: ",
            "security",
            "has the category \"ux\", not security",
        ],
        silent_on: &[],
    },
    BrokenAgent {
        what: "a classification depends on the order of files",
        name: "order",
        suite: "stability",
        rule: (RECONCILER.0, "Judge the first file most carefully."),
        runs: RECONCILER.1,
        breaks: by_order,
        headline: "Merge blocked: reconciler classification_stability 66.7%, needs 100% (baseline 100%).",
        tells: &[
            "**prop-05**: classification_stability 66.7% (baseline 100%)",
            "files reordered: classified differently: src/alarm/battery.ts",
            "~~coupled~~ **orphan_test**",
        ],
        silent_on: &[],
    },
    BrokenAgent {
        what: "a file is not read",
        name: "not-read",
        suite: "evidence",
        rule: (
            "fixtures/evidence/prompts/policies-v1.md",
            "The README is enough.",
        ),
        runs: &["evidence/runs"],
        breaks: readme_only,
        headline: "Merge blocked: inspector task_pass_rate 66.7%, needs 100% (baseline 100%).",
        tells: &[
            "**buggy_calc**: ",
            "calc/core.py was not inspected; the agent inspected README.md",
            "~~tests/test_core.py~~ **README.md**",
        ],
        silent_on: &[],
    },
    BrokenAgent {
        what: "one agent does not call another one",
        name: "hand-off",
        suite: "cross",
        rule: (
            "fixtures/contracts/prompts/policies/privacy/policies-v1.md",
            "Leave notices of breaches out.",
        ),
        runs: &["contracts/runs/privacy"],
        breaks: no_breach,
        headline: "Merge blocked: ",
        tells: &[
            "cloud-hand-offs",
            "breach-notice-calls-legal",
            "breach_notification",
        ],
        silent_on: &[],
    },
];

pub fn trials() -> Vec<Trial> {
    let told = |agent: &'static BrokenAgent| {
        let name = format!(
            "a comment alone tells a new reader the case and the cause where {}",
            agent.what
        );
        trial(name, move || is_told(agent))
    };
    BROKEN.iter().map(told).collect()
}

/// The number of words that a reader gets through in a minute.
const MINUTE: usize = 230;

fn is_told(agent: &BrokenAgent) {
    let repository = broken(agent);
    let path = std::env::var("PATH").unwrap();
    let run = ["run", "--suite", agent.suite, "--base", "HEAD"];
    let with = |more: &[&str], variables: &[(&str, &str)]| {
        let variables: Vec<_> = [("PATH", path.as_str())]
            .into_iter()
            .chain(variables.iter().copied())
            .collect();
        repository
            .goldgate_with(&[&run[..], more].concat(), &variables)
            .stdout
    };
    let comment = with(&["--format", "markdown"], &[]);
    if let Some(folder) = std::env::var_os("GOLDGATE_BROKEN") {
        let file = |end: &str| Path::new(&folder).join(format!("{}{end}", agent.name));
        std::fs::write(file(".md"), &comment).unwrap();
        std::fs::write(file(".html"), with(&["--format", "html"], &[])).unwrap();
        for columns in ["60", "80", "120", "200"] {
            let screen = with(&[], &[("COLUMNS", columns), ("FORCE_COLOR", "1")]);
            std::fs::write(file(&format!("-{columns}.ansi")), screen).unwrap();
        }
    }
    let visible = plain(comment.split("<details").next().unwrap());
    let headline = visible.lines().nth(1).unwrap();
    assert!(
        headline.starts_with(&format!("> **{}", agent.headline)),
        "{visible}"
    );
    let read = |text: &str| {
        visible
            .find(text)
            .map(|end| visible[..end].split_whitespace().count())
    };
    let rule = format!("{}: **{}**", agent.rule.0, agent.rule.1);
    for text in agent.tells.iter().copied().chain([rule.as_str()]) {
        let words = read(text).unwrap_or_else(|| panic!("{text}: {visible}"));
        assert!(
            words < MINUTE,
            "{text} stands after {words} words: {visible}"
        );
    }
    for text in agent.silent_on.iter().chain(&["No verdict", "~~{", "**{"]) {
        assert!(!visible.contains(text), "{text}: {visible}");
    }
    quiet_on_recordings(&comment, &visible);
    small_things(&plain(&comment));
}

/// R8: "First block of the comment is noise": recordings are made again with each change of an agent.
fn quiet_on_recordings(comment: &str, visible: &str) {
    assert!(
        !visible.contains("golden change") && !visible.contains("recordings of"),
        "{visible}"
    );
    let why = " are of this change&#58; ";
    assert!(
        comment.contains(why),
        "the reason stands before the names, whole: {comment}"
    );
}

/// R11: "−0.1 pp ▼ worse beside 82.5% | 82.5%", "(1 calls match)", a flaky case that no sample passes, a graph that is none.
fn small_things(comment: &str) {
    for text in [
        "(1 calls",
        "1 samples",
        "(0 of 3 pass)",
        "conditional edge",
        "&#",
    ] {
        assert!(!comment.contains(text), "{text}: {comment}");
    }
    for row in comment.lines().filter(|line| line.contains("▼")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_ne!(cells[2], cells[3], "{row}");
    }
}

/// The bundled suites with this agent's recordings made again, after a rule was added to its prompt.
fn broken(agent: &BrokenAgent) -> Repository {
    let repository = Repository::bundled();
    repository.remove(".git");
    // What these documents state has no gate on the check that fails here.
    if ["revision", "cross"].contains(&agent.suite) {
        let kind = format!("  - id: {}\n", agent.suite);
        repository.replace(
            "goldgate.yaml",
            &kind,
            &format!("{kind}    no_newly_failing: true\n"),
        );
    }
    commit_all(&repository);
    let (file, rule) = agent.rule;
    repository.write(
        file,
        format!("{}\n\n{rule}\n", repository.read(file).trim_end()),
    );
    for folder in agent.runs {
        for path in recordings(&repository.path("fixtures").join(folder)) {
            let mut run: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            record_again(&mut run);
            (agent.breaks)(&mut run, &path.to_string_lossy());
            std::fs::write(&path, run.to_string()).unwrap();
        }
    }
    repository
}

/// What every new recording differs in: its time, its date and the digest of its agent. A recorder of an older version leaves out the last two.
fn record_again(run: &mut Value) {
    if let Some(provenance) = run["provenance"].as_object_mut() {
        provenance.remove("prompt_sha256");
        provenance.remove("fingerprint");
        provenance.remove("recorded_at");
    }
    let time = run["metrics"]["total_latency_ms"]
        .as_f64()
        .unwrap_or_default();
    run["metrics"]["total_latency_ms"] = json!(time + 1.0);
}

fn recordings(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(recordings(&path)),
            false => found.extend(
                path.extension()
                    .is_some_and(|end| end == "json")
                    .then_some(path),
            ),
        }
    }
    found
}

/// The text as a reader sees it: without Markdown's escapes.
fn plain(text: &str) -> String {
    let mut out = text
        .replace("&#8288;", "")
        .replace("&nbsp;", " ")
        .replace("<br>", "\n");
    for (escape, sign) in [
        (34, "\""),
        (39, "'"),
        (33, "!"),
        (40, "("),
        (41, ")"),
        (58, ":"),
        (91, "["),
        (93, "]"),
        (95, "_"),
    ] {
        out = out.replace(&format!("&#{escape};"), sign);
    }
    for (escape, sign) in [
        (42, "*"),
        (92, "\\"),
        (96, "`"),
        (123, "{"),
        (124, "|"),
        (125, "}"),
        (126, "~"),
    ] {
        out = out.replace(&format!("&#{escape};"), sign);
    }
    out
}

fn each<'a>(list: &'a mut Value, change: impl FnMut(&'a mut Value)) {
    list.as_array_mut().into_iter().flatten().for_each(change);
}

fn lower_severity(run: &mut Value, _: &str) {
    each(&mut run["outputs"]["findings"], |finding| {
        if finding["category"] == "exclusivity" {
            finding["severity"] = json!("low");
        }
    });
}

fn one_day(run: &mut Value, _: &str) {
    each(&mut run["intermediate"]["tool_calls"], |call| {
        if call["arguments"]["period"] == "week" {
            call["arguments"]["period"] = json!("day");
        }
    });
}

fn convert_twice(run: &mut Value, _: &str) {
    let Some(calls) = run["intermediate"]["tool_calls"].as_array_mut() else {
        return;
    };
    if let Some(first) = calls
        .first()
        .filter(|call| call["name"] == "convert_units")
        .cloned()
    {
        calls.insert(0, first);
    }
}

fn twice_as_slow(run: &mut Value, _: &str) {
    for (_, number) in run["metrics"].as_object_mut().unwrap() {
        if let Some(value) = number.as_f64() {
            *number = json!(value * 2.0);
        }
    }
}

fn ghost_code(run: &mut Value, path: &str) {
    if path.contains("rec-00") {
        each(&mut run["outputs"]["deltas"], |delta| {
            if delta["kind"] == "coupled" {
                delta["kind"] = json!("ghost_code");
            }
        });
    }
}

fn prose(run: &mut Value, path: &str) {
    if path.contains("rec-0") {
        run["outputs"] = json!({ "text": "Sure! Here is what I found: one promise has no test." });
    }
}

fn lose_clause(run: &mut Value, path: &str) {
    if let (true, Some(document)) = (
        path.contains("reviser/agency-tea"),
        run["outputs"]["document"].as_str(),
    ) {
        let from = document.len() / 2 + document[document.len() / 2..].find("\\par").unwrap();
        let to = from + 4 + document[from + 4..].find("\\par").unwrap();
        run["outputs"]["document"] = json!(format!("{}{}", &document[..from], &document[to..]));
    }
}

fn unstable(run: &mut Value, path: &str) {
    if path.contains("sto-002") && (path.ends_with("1.json") || path.ends_with("3.json")) {
        run["outputs"] = json!({ "atoms": [] });
    }
}

fn ux(run: &mut Value, path: &str) {
    if path.contains("int-019") {
        each(&mut run["outputs"]["atoms"], |atom| {
            atom["category"] = json!("ux")
        });
    }
}

fn by_order(run: &mut Value, path: &str) {
    if let (true, Some(delta)) = (
        path.contains("--order"),
        run["outputs"]["deltas"].get_mut(0),
    ) {
        delta["kind"] = json!("orphan_test");
    }
}

fn readme_only(run: &mut Value, path: &str) {
    if path.contains("buggy_calc") {
        run["outputs"]["files_inspected"] = json!(["README.md"]);
    }
}

fn no_breach(run: &mut Value, _: &str) {
    if let Some(findings) = run["outputs"]["findings"].as_array_mut() {
        findings.retain(|finding| finding["category"] != "breach_notification");
    }
}
