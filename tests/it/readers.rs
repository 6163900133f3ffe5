//! What a tired reader of a red comment or page has to find, and what must not mislead.

mod page;

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::golden_changes::{commit_all, git};
use crate::repository::{CONFIG, EXPECTED, RUN, Ran, Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut trials = page::trials();
    trials.extend([
        trial("a comment tells what blocks, which case, what moved and what to do, then folds the rest", order),
        trial("a comment has no empty sentence and no time of a machine", no_filler),
        trial("the line that reproduces a comment gives the same comment", reproduces),
        trial("a comparison without a moved number says so in the headline alone", nothing_moved),
        trial("a failed gate is not called noise anywhere", no_noise),
        trial("a failed gate shows its last baselines where git has them", past),
        trial("a comment shows what changed in the agent and in its output before it classifies a failure", since_base),
        trial("a changed setting of the agent's target is a likely cause once it was recorded again", target_settings),
        trial("a report names the recording of a case", recording),
        trial("an agent that needs twice the tokens and time is reported without a gate on them", uses),
        trial("a first run tells which gates pass and how to make a baseline", first_run),
        trial("a run without a verdict tells what is missing and the command that gets it", no_verdict),
        trial("a red screen has new failures first, breaks no word, and ends with the verdict", screen),
        trial("a next step changes the agent before the expectation", next_steps),
        trial("a failed tool is a cause only where passing samples do not have it", failed_tool),
        trial("a case that no sample passes is not called flaky", flaky),
    ]);
    trials
}

/// A repository whose agent reports another category than at the base commit; `finding` replaces its title.
fn red(title: &str) -> Repository {
    let repository = Repository::small();
    repository.remove(".git");
    repository.write("golden/expected/legal/lease.json", EXPECTED);
    repository.goldgate(&["run", "--update-baseline"]);
    commit_all(&repository);
    let run = RUN.replace("change-of-control", "rent").replace(
        "\"Change of control\"",
        &serde_json::json!(title).to_string(),
    );
    repository.write("golden/runs/legal/lease.json", run);
    repository
}

fn against_base(repository: &Repository, arguments: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    repository.goldgate_with(arguments, &[("PATH", &path)])
}

fn comment(repository: &Repository) -> String {
    let ran = against_base(
        repository,
        &["run", "--base", "HEAD", "--format", "markdown"],
    );
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

fn order() {
    let repository = red("Rent");
    repository.replace("golden/expected/legal/lease.json", ": 3", ": 4");
    let comment = comment(&repository);
    let parts = [
        "> **Merge blocked: legal finding&#95;recall 0%",
        "**1 golden change without an approval:**",
        "**contracts / legal: 1 broken case**",
        "- **lease**: finding&#95;recall 0% &#40;baseline 100%&#41;<br>expected a finding of change&#95;of&#95;control",
        "<br>next: ",
        "\nGates: finding&#95;recall 0% (needs ≥ 80%)",
        "<details>",
        "| | baseline | now | change | gate |",
        "Reproduce it: ",
        "unchanged numbers</summary>",
        "<sub>gates: ",
    ];
    let places: Vec<usize> = parts
        .iter()
        .map(|part| {
            comment
                .find(part)
                .unwrap_or_else(|| panic!("{part}: {comment}"))
        })
        .collect();
    assert!(places.is_sorted(), "{places:?}: {comment}");
    assert!(!comment.contains("<details open"), "{comment}");
    assert!(
        comment.contains("`goldgate explain contracts/legal/lease`"),
        "{comment}"
    );
}

fn no_filler() {
    let comment = comment(&red("Rent"));
    for filler in [
        "No failure of",
        "no model calls",
        "No number moved",
        " ms\n",
        " s\n\n",
        "0 calls",
    ] {
        assert!(!comment.contains(filler), "{filler:?}: {comment}");
    }
}

fn reproduces() {
    let repository = red("Rent");
    let comment = comment(&repository);
    let line = comment
        .split("Reproduce it: `")
        .nth(1)
        .and_then(|rest| rest.split('`').next())
        .unwrap();
    assert!(
        line.starts_with("goldgate run ") && line.contains(" --base "),
        "{line}"
    );
    let mut arguments: Vec<&str> = line.split(' ').skip(1).collect();
    arguments.extend(["--format", "markdown"]);
    let again = against_base(&repository, &arguments);
    // The note on the compared commit quotes the name that was given to --base. An id needs no note.
    let is_kept = |line: &&str| !line.is_empty() && !line.starts_with("- compared with ");
    let without_name = |text: &str| text.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
    assert_eq!(
        (again.code, without_name(&again.stdout)),
        (1, without_name(&comment)),
        "{}",
        again.stderr
    );
}

fn nothing_moved() {
    let repository = Repository::small();
    let first = repository.goldgate(&["run", "--format", "markdown"]).stdout;
    let next = "There is no baseline yet; <code>goldgate run --update-baseline</code> makes one.";
    assert!(
        first.contains(&format!(
            "> **First run: all 4 gates pass on 1 case. {next}**"
        )),
        "{first}"
    );
    repository.goldgate(&["run", "--update-baseline"]);
    let comment = repository.goldgate(&["run", "--format", "markdown"]).stdout;
    assert!(
        comment.contains(" gates pass on 1 case (no number moved).**"),
        "{comment}"
    );
    assert_eq!(comment.matches("o number moved").count(), 1, "{comment}");
}

fn no_noise() {
    let repository = Repository::bundled();
    let folder = repository.path("fixtures/contracts/runs/commercial/letter-of-intent");
    lower(&folder);
    assert_eq!(repository.stamp("goldgate.yaml").code, 0);
    let comment = repository.goldgate(&["run", "--format", "markdown"]);
    assert_eq!(comment.code, 1, "{}", comment.stderr);
    let says = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| {
            line.contains("severity_accuracy") || line.contains("severity&#95;accuracy")
        });
        lines.map(str::to_owned).collect()
    };
    let lines = says(&comment.stdout);
    assert!(
        lines.iter().any(|line| line.contains("95% interval")) && lines.len() > 3,
        "{lines:?}"
    );
    let fails = lines
        .iter()
        .filter(|line| line.contains("fail**") || line.contains("commercial severity"));
    for line in fails {
        assert!(!line.contains("within"), "{line}");
    }
    let page = repository.goldgate(&["run", "--format", "html"]).stdout;
    let failed = says(&page)
        .into_iter()
        .filter(|line| line.contains("<td class=\"fail\">fail"))
        .collect::<Vec<_>>();
    assert!(
        failed.len() == 1 && !failed[0].contains("within the noise"),
        "{failed:?}"
    );
}

fn past() {
    let repository = red("Rent");
    let recording = "golden/runs/legal/lease.json";
    let worse = repository.read(recording);
    repository.write(recording, RUN);
    repository.replace(
        "baselines/latest.json",
        "\"finding_recall\": 1.0",
        "\"finding_recall\": 0.9",
    );
    commit_all(&repository);
    repository.write(recording, &worse);
    let once = comment(&repository);
    assert!(
        once.contains("\nfinding&#95;recall, last 2 baselines: "),
        "{once}"
    );
    let page = against_base(&repository, &["run", "--format", "html"]).stdout;
    assert!(
        page.contains("finding_recall, last 2 baselines: ") && page.contains("<polyline"),
        "{page}"
    );
    // One committed baseline is no history. A shallow clone does not have the older ones.
    assert!(!comment(&red("Rent")).contains("baselines: "), "{once}");
    let clone = Repository::empty();
    clone.remove(".git");
    let origin = format!("file://{}", repository.path("").display());
    git(
        &clone.path(""),
        &["clone", "-q", "--depth", "1", &origin, "."],
    );
    clone.write(recording, &worse);
    let shallow = comment(&clone);
    assert!(
        shallow.contains("finding&#95;recall 0%") && !shallow.contains("baselines: "),
        "{shallow}"
    );
}

fn since_base() {
    let repository = red("Rent");
    repository.write("prompts/legal.md", "Report every change of the rent.\n");
    let comment = comment(&repository);
    let parts = [
        "**contracts / legal: 1 broken case**",
        "Changed since the base commit, so the likely cause:\n\n- prompts/legal.md: Report every change of ~~control.~~ **the rent.**\n",
        "\nNext: undo or reword this change, and record again; where the new behaviour is right, change the cases\n",
        "- **lease**: finding&#95;recall 0% &#40;baseline 100%&#41;<br>",
        "<br>changed findings&#91;0&#93;.category: ~~change-of-control~~ **rent**\n",
    ];
    let places: Vec<usize> = parts
        .iter()
        .map(|part| {
            comment
                .find(part)
                .unwrap_or_else(|| panic!("{part}: {comment}"))
        })
        .collect();
    assert!(places.is_sorted(), "{places:?}: {comment}");
    assert_eq!(
        comment.matches("findings&#91;0&#93;.category").count(),
        1,
        "once for a case: {comment}"
    );
    assert!(
        !comment.contains("tag: prompt"),
        "the change is the cause, not what the tag hints at: {comment}"
    );
    let screen = against_base(&repository, &["run", "--base", "HEAD"]).stdout;
    assert!(
        screen.contains(
            "    prompts/legal.md: Report every change of [-control.-] {+the rent.+}\n    next: undo or reword"
        ),
        "{screen}"
    );
    assert!(
        screen.contains("    changed  findings[0].category: [-change-of-control-] {+rent+}\n"),
        "{screen}"
    );
    let page = against_base(&repository, &["run", "--base", "HEAD", "--format", "html"]).stdout;
    assert!(
        page.contains("<del>control.</del> <ins>the rent.</ins>"),
        "{page}"
    );
    assert!(
        page.contains("findings[0].category: </span>change-of-control</p>"),
        "the baseline's side: {page}"
    );
    assert!(
        page.contains("<del>change-of-control</del> <ins>rent</ins>"),
        "{page}"
    );
    let details = page::details(&page);
    let sides = serde_json::json!(["findings[0].category", "change-of-control", "rent"]);
    assert_eq!(details["cases"][0]["o"][0], sides, "{details}");
    // An agent that is as before is not a cause, and without a base commit nothing is known.
    assert!(
        !self::comment(&red("Rent")).contains("Changed since"),
        "{comment}"
    );
    assert!(
        !repository
            .goldgate(&["run", "--format", "markdown"])
            .stdout
            .contains("since the base commit")
    );
}

fn target_settings() {
    let with = |temperature: &str| {
        let target = format!(
            "targets:\n  chat: {{ provider: openai, model: gpt-x, timeout: 9s{temperature} }}\n"
        );
        let config = CONFIG.replace(
            "runs }, finger",
            "runs }, model: { target: chat, prompt: prompts }, finger",
        );
        assert_ne!(config, CONFIG);
        config + &target
    };
    let repository = Repository::small();
    repository.remove(".git");
    repository.write("goldgate.yaml", with(""));
    let ran = repository.goldgate(&["run", "--update-baseline"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    repository.write(
        "goldgate.yaml",
        with(", temperature: 1.5").replace("9s", "8s"),
    );
    let listed = against_base(
        &repository,
        &["run", "--base", "HEAD", "--format", "markdown"],
    )
    .stdout;
    assert!(
        !listed.contains("chat.temperature"),
        "the recordings are the same: {listed}"
    );
    repository.write(
        "golden/runs/legal/lease.json",
        RUN.replace("change-of-control", "rent"),
    );
    let comment = comment(&repository);
    let cause = "Changed since the base commit, so the likely cause:\n\n- targets.chat.temperature: **1.5**\n\n";
    assert!(
        comment.contains(cause) && !comment.contains("chat.timeout"),
        "{comment}"
    );
}

fn recording() {
    let repository = red("Rent");
    let ran = against_base(&repository, &["run", "--base", "HEAD", "--format", "json"]);
    let recording = "\"recording\":\"golden/runs/legal/lease.json\"";
    assert!(ran.stdout.contains(recording), "{}", ran.stdout);
    let page = against_base(&repository, &["run", "--base", "HEAD", "--format", "html"]).stdout;
    assert!(
        page.contains("<span class=\"file\">golden/runs/legal/lease.json</span>"),
        "{page}"
    );
}

fn uses() {
    let repository = Repository::small();
    repository.remove(".git");
    let with = |tokens: u32, time: u32| {
        let metrics = format!(
            "\"metrics\": {{ \"total_tokens\": {tokens}, \"total_latency_ms\": {time} }},\n  \"outputs\""
        );
        RUN.replace("\"outputs\"", &metrics)
    };
    repository.write("golden/runs/legal/lease.json", with(1379, 2400));
    repository.goldgate(&["run", "--update-baseline"]);
    commit_all(&repository);
    let summary = |format: &str| {
        let ran = against_base(&repository, &["run", "--base", "HEAD", "--format", format]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        ran.stdout
    };
    assert!(summary("markdown").contains(" gates pass on 1 case (no number moved).**"));
    repository.write("golden/runs/legal/lease.json", with(2758, 4900));
    repository.write(
        "prompts/legal.md",
        "Report every change of control.\n\nThink every step through in writing.\n",
    );
    let sentence = "median of a sample since the base commit: tokens 1,379 → 2,758 (+100%, no gate is on it); \
                    latency 2.4 s → 4.9 s (+104%, no gate is on it)";
    for format in ["markdown", "table", "html"] {
        let text = summary(format);
        assert!(
            text.contains(" gates pass on 1 case; legal needs +100% tokens and +104% time."),
            "{text}"
        );
        assert!(
            text.to_lowercase().contains(sentence) && !text.contains("o number moved"),
            "{text}"
        );
    }
    let change = "  - changed since the base commit: prompts/legal.md: **Think every step through in writing.**\n";
    assert!(
        summary("markdown").contains(change),
        "{}",
        summary("markdown")
    );
    // Less than a tenth is within what every recording differs by.
    repository.write("golden/runs/legal/lease.json", with(1400, 2500));
    assert!(summary("markdown").contains("(no number moved).**"));
}

fn first_run() {
    let repository = Repository::small();
    repository.write(
        "golden/runs/legal/lease.json",
        RUN.replace("change-of-control", "rent"),
    );
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let last = ran.stdout.lines().last().unwrap();
    let next = "There is no baseline yet; `goldgate run --update-baseline` makes one.";
    let expected = "First run: 3 gates pass, 1 is below its limit: legal finding_recall 0%, needs 80% (not in the baseline). ";
    assert_eq!(last, format!("{expected}{next}"), "{}", ran.stdout);
    // A baseline that this run cannot be compared with is a baseline.
    repository.goldgate(&["run", "--update-baseline", "--all"]);
    repository.replace(
        "baselines/latest.json",
        "\"scorer\": \"",
        "\"scorer\": \"other-",
    );
    let ran = repository.goldgate(&["run"]);
    assert!(!ran.stdout.contains("First run"), "{}", ran.stdout);
}

fn no_verdict() {
    let repository = Repository::small();
    repository.replace(
        "golden/runs/legal/lease.json",
        "\"outputs\"",
        "\"provenance\": { \"agent_sha256\": \"0\" },\n  \"outputs\"",
    );
    let ran = repository.goldgate(&["run"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let last = ran.stdout.lines().last().unwrap();
    assert_eq!(
        last,
        "Merge blocked: no verdict is possible: contracts/legal: 1 recording is stale: the agent's files (prompts/legal.md) changed since it was made (lease.json)."
    );
    let why = "1 recording is stale: the agent's files (prompts/legal.md) changed since it was made (lease.json); run the program that writes golden/runs again, then `goldgate stamp --suite contracts --agent legal --stale`";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
    // However many files the agent has, the command is whole.
    let files: Vec<String> = (0..60)
        .map(|number| format!("prompts/department-{number}/policies/version-{number}/**/*.md"))
        .collect();
    repository.replace(
        "goldgate.yaml",
        "[prompts/legal.md]",
        &format!("[prompts/legal.md, \"{}\"]", files.join("\", \"")),
    );
    repository.write(&files[0].replace("**/*", "more"), "Be brief.\n");
    let command = "`goldgate stamp --suite contracts --agent legal --stale`";
    for format in ["table", "markdown"] {
        let told = repository
            .goldgate(&["run", "--format", format])
            .stdout
            .replace("<code>", "`")
            .replace("</code>", "`");
        let why = told
            .lines()
            .find(|line| line.to_lowercase().contains("no verdict:"))
            .unwrap();
        assert!(
            why.contains(command) && why.contains(" and 58 more") && why.chars().count() < 900,
            "{format}: {why}"
        );
    }
}

fn screen() {
    let repository = Repository::small();
    repository.remove(".git");
    repository.write(
        "golden/contracts/office.md",
        "# Office\n\nOn a change of control the landlord has to approve.\n",
    );
    repository.write(
        "golden/expected/legal/office.json",
        EXPECTED.replace("lease.md", "office.md"),
    );
    let office = RUN
        .replace("\"lease\"", "\"office\"")
        .replace("lease.md", "office.md");
    repository.write(
        "golden/runs/legal/office.json",
        office.replace("\"gaps\": [\"missing doc\"]", "\"gaps\": []"),
    );
    repository.goldgate(&["run", "--update-baseline"]);
    commit_all(&repository);
    repository.write(
        "golden/runs/legal/lease.json",
        RUN.replace("change-of-control", "rent"),
    );
    let path = std::env::var("PATH").unwrap();
    for columns in ["64", "80", "100", "120", "200"] {
        let ran = repository.goldgate_with(
            &["run", "--base", "HEAD"],
            &[("PATH", &path), ("COLUMNS", columns)],
        );
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        let place = |text: &str| {
            ran.stdout
                .find(text)
                .unwrap_or_else(|| panic!("{columns}: {text}: {}", ran.stdout))
        };
        assert!(
            place("\n  lease: ") < place("contracts/legal/office: expected_gap"),
            "{}",
            ran.stdout
        );
        assert!(
            ran.stdout.contains("1 case failed before, too"),
            "{}",
            ran.stdout
        );
        for name in ["finding_recall", "f1_score"] {
            let whole = ran
                .stdout
                .lines()
                .any(|line| line.split([' ', '/']).any(|word| word == name));
            assert!(
                whole || columns == "64",
                "{columns}: {name}: {}",
                ran.stdout
            );
        }
        let rows = ran.stdout.lines().filter(|line| line.contains('─'));
        let width: usize = columns.parse().unwrap();
        assert!(
            rows.into_iter().all(|row| row.chars().count() <= width),
            "{columns}: {}",
            ran.stdout
        );
        assert!(
            ran.stdout
                .lines()
                .last()
                .unwrap()
                .starts_with("Merge blocked: legal finding_recall 0%"),
            "{}",
            ran.stdout
        );
    }
}

/// Ways to say that the expectation is to be weakened. They may follow what to change in the agent, under a condition.
const WEAKENING: [&str; 5] = [
    "add its wording",
    "add it to",
    "add a synonym",
    "correct the case",
    "accept it",
];

fn next_steps() {
    let mut count = 0;
    for stdout in files_named(&root().join("tests/cases"), "stdout") {
        let text = std::fs::read_to_string(&stdout).unwrap();
        for step in text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("next: "))
        {
            count += 1;
            for weakening in WEAKENING
                .iter()
                .filter(|weakening| step.contains(*weakening))
            {
                let (before, _) = step.split_once(weakening).unwrap();
                assert!(
                    before.contains("; only if "),
                    "{}: {step}",
                    stdout.display()
                );
            }
            assert!(
                !step.contains(", or add ") && !step.starts_with("add "),
                "{}: {step}",
                stdout.display()
            );
        }
    }
    assert!(count > 50, "{count} next steps");
}

fn files_named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_named(&path, name));
        } else if path.file_name().is_some_and(|file| file == name) {
            found.push(path);
        }
    }
    found
}

fn flaky() {
    let repository = Repository::small();
    repository.remove("golden/runs/legal/lease.json");
    let sample = |number: u32, from: &str, to: &str| {
        let run = RUN.replace("\"sample\": 0", &format!("\"sample\": {number}"));
        assert!(run.contains(from), "{from}");
        repository.write(
            &format!("golden/runs/legal/lease/{number}.json"),
            run.replace(from, to),
        );
    };
    let comment = || repository.goldgate(&["run", "--format", "markdown"]).stdout;
    sample(0, "change-of-control", "rent");
    sample(1, "\"missing doc\"", "");
    sample(2, "change-of-control", "rent");
    assert!(
        comment().contains("2 of 3 samples") && !comment().contains("Flaky"),
        "{}",
        comment()
    );
    sample(1, "lease", "lease");
    assert!(
        comment().contains("Flaky (samples disagree) (1): contracts/legal/lease (1 of 3 pass)"),
        "{}",
        comment()
    );
}

fn failed_tool() {
    let repository = Repository::small();
    repository.remove("golden/runs/legal/lease.json");
    let sample = |number: u32, category: &str, calls: &str| {
        let intermediate =
            format!("\"sample\": {number}, \"intermediate\": {{ \"tool_calls\": [{calls}] }}");
        let run = RUN
            .replace("\"sample\": 0", &intermediate)
            .replace("change-of-control", category);
        repository.write(&format!("golden/runs/legal/lease/{number}.json"), run);
    };
    let comment = || repository.goldgate(&["run", "--format", "markdown"]).stdout;
    let (fails, works) = (
        "{ \"name\": \"search\", \"error\": \"503\" }",
        "{ \"name\": \"search\", \"result\": 1 }",
    );
    sample(0, "change-of-control", works);
    sample(1, "rent", fails);
    sample(2, "rent", fails);
    assert!(
        comment().contains(
            "next: fix the tool search first&#58; the agent worked without its result (`tooling`)"
        ),
        "{}",
        comment()
    );
    sample(0, "change-of-control", fails);
    assert!(
        comment().contains("<br>next: sharpen the category rules")
            && !comment().contains("(`tooling`)"),
        "{}",
        comment()
    );
    // A call that was repeated with success is not a cause either.
    sample(0, "change-of-control", works);
    for number in [1, 2] {
        sample(number, "rent", &format!("{fails}, {works}"));
    }
    assert!(
        comment().contains("<br>next: sharpen the category rules")
            && !comment().contains("(`tooling`)"),
        "{}",
        comment()
    );
}

/// Lowers the first severity of each recording in a folder.
fn lower(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut run: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        run["outputs"]["findings"][0]["severity"] = serde_json::json!("low");
        std::fs::write(&path, run.to_string()).unwrap();
    }
}
