//! `goldgate calibrate`: what it proposes is what a config takes, and is enough.

use libtest_mimic::Trial;

use crate::cases::copy;
use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "what is proposed can be pasted, and then nothing more is proposed",
            pasted,
        ),
        trial("nothing is written by a calibration", nothing_written),
        trial(
            "a gate that is switched off is not pasted back",
            switched_off,
        ),
        trial(
            "the rates of failures by chance are estimated from recordings",
            estimated,
        ),
        trial(
            "gates with few false alarms are written into the config, and nothing else",
            written,
        ),
        trial("hard gates are written only on demand", written_hard),
        trial(
            "gates that cannot be set in the text of a config are refused",
            not_written,
        ),
        trial(
            "a check prints how often an unchanged agent is blocked",
            checked,
        ),
        trial(
            "a failed gate says that it often fails by chance, and still fails",
            by_chance,
        ),
    ]
}

fn flaking() -> Repository {
    let repository = Repository::empty();
    let case = "tests/cases/calibrate/a_gate_that_flakes_is_given_its_width/files";
    copy(&root().join(case), &repository.path(""));
    repository
}

fn pasted() {
    let repository = flaking();
    let ran = repository.goldgate(&["calibrate"]);
    let (_, snippet) = ran.stdout.split_once("  # suite contracts\n").unwrap();
    let config = repository.read("goldgate.yaml");
    let (before, _) = config.split_once("    gates:\n").unwrap();
    repository.write("goldgate.yaml", format!("{before}{snippet}"));
    assert_eq!(repository.goldgate(&["check"]).code, 0);
    let again = repository.goldgate(&["calibrate"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""));
    assert!(
        again.stdout.ends_with("\nNo gate would change.\n"),
        "{}",
        again.stdout
    );
    assert!(again.stdout.contains("drop ≤ 19 pp"), "{}", again.stdout);
}

fn nothing_written() {
    let repository = flaking();
    let count = || std::fs::read_dir(repository.path("")).unwrap().count();
    repository.goldgate(&["calibrate"]);
    let (before, config) = (count(), repository.read("goldgate.yaml"));
    repository.goldgate(&["calibrate"]);
    assert_eq!(
        (count(), repository.read("goldgate.yaml")),
        (before, config)
    );
}

fn switched_off() {
    let repository = flaking();
    repository.replace(
        "goldgate.yaml",
        "f1_score: { max_drop: 0.05 }",
        "severity_accuracy: { off: true, reason: \"being redefined\" }",
    );
    let ran = repository.goldgate(&["calibrate"]);
    let (_, snippet) = ran.stdout.split_once("  # suite contracts\n").unwrap();
    assert!(
        snippet.contains("finding_precision") && !snippet.contains("severity_accuracy"),
        "{snippet}"
    );
}

const WORDS: [&str; 3] = ["rent", "term", "notice"];

/// Twelve documents with three findings each, and an agent that misses some of them: by the number of document, sample and finding.
fn documents(samples: usize, misses: fn(usize, usize, usize) -> bool) -> Repository {
    let repository = Repository::empty();
    repository.write(
        "goldgate.yaml",
        "version: 1\nbaseline: latest.json\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n    agents:\n      \
         legal: { deterministic: { replay: golden/runs }, fingerprint: { none: written by hand } }\n",
    );
    for document in 0..12 {
        let expected = WORDS.map(|word| {
            format!(
                r#"{{"category": "{word}", "min_severity": "low", "max_severity": "high", "must_contain_keywords": ["{word}"]}}"#
            )
        });
        repository.write(
            &format!("golden/contracts/d{document}.md"),
            "The rent, the term, the notice.\n",
        );
        let text = format!(r#"{{"expected_findings": [{}]}}"#, expected.join(", "));
        repository.write(&format!("golden/expected/legal/d{document}.json"), text);
        for sample in 0..samples {
            record(&repository, document, sample, &|finding| {
                misses(document, sample, finding)
            });
        }
    }
    repository
}

fn record(repository: &Repository, document: usize, sample: usize, misses: &dyn Fn(usize) -> bool) {
    let found = WORDS
        .iter()
        .enumerate()
        .filter(|(finding, _)| !misses(*finding));
    let found: Vec<String> = found
        .map(|(_, word)| {
            format!(r#"{{"category": "{word}", "severity": "medium", "title": "The {word}", "citations": [{{"file": "d{document}.md"}}]}}"#)
        })
        .collect();
    let text = format!(
        r#"{{"status": "completed", "outputs": {{"findings": [{}], "gaps": []}}}}"#,
        found.join(", ")
    );
    repository.write(
        &format!("golden/runs/legal/d{document}/{sample}.json"),
        text,
    );
}

fn estimated() {
    // Every document misses one finding in one of six samples, so a median of three never misses one.
    let repository = documents(6, |document, sample, finding| {
        sample == document % 6 && finding == 0
    });
    let ran = repository.goldgate(&["calibrate"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let row = ran
        .stdout
        .lines()
        .find(|line| line.contains("legal finding_recall"))
        .unwrap();
    let cells: Vec<&str> = row
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    // One sample of twelve documents misses nothing with (5/6)^12 = 11%.
    let first: f64 = cells[1].split('%').next().unwrap().parse().unwrap();
    assert!((86.0..=92.0).contains(&first), "{row}");
    assert_eq!(cells[2].split('/').next(), Some("0%"), "{row}");
    assert!(
        ran.stdout.contains(
            "contracts: too few samples are recorded for an estimate with 9 samples per case"
        ),
        "{}",
        ran.stdout
    );
    // Nothing of it decides.
    assert_eq!(repository.goldgate(&["run"]).code, 0);
}

/// A config whose gate on f1_score is too narrow for its agent, and no other gate fails by chance.
const NARROW: &str = "version: 1 # of this format
suites:
  # The contracts of Acme.
  - id: contracts
    kind: findings
    policy: seed
    path: golden
    gates:
      finding_recall: { min: 0.1 }   # few are enough
      f1_score: { max_drop: 0.01 }
      finding_precision:
        max_drop: 0.9

    agents:
      legal: { deterministic: { replay: golden/runs }, fingerprint: { none: written by hand } }
";

fn narrow() -> Repository {
    let repository = documents(6, |document, sample, finding| {
        (document + sample) % 4 == 0 && finding == 0
    });
    repository.write("goldgate.yaml", NARROW);
    repository
}

fn written() {
    let repository = narrow();
    let ran = repository.goldgate(&["calibrate", "--write"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let config = repository.read("goldgate.yaml");
    let kept: Vec<&str> = NARROW
        .lines()
        .filter(|line| !line.contains("f1_score"))
        .collect();
    let added: Vec<&str> = config.lines().filter(|line| !kept.contains(line)).collect();
    let [reason, gate, default] = added[..] else {
        panic!("{config}")
    };
    let why =
        "    # goldgate calibrate: with 6 samples per case, an unchanged agent fails in about ";
    assert!(reason.starts_with(why), "{config}");
    assert!(
        gate.starts_with("      f1_score: { max_drop: 0."),
        "{config}"
    );
    assert!(
        default.starts_with("      case_pass_rate: { max_drop: 0."),
        "{config}"
    );
    assert_eq!(
        config.lines().count(),
        NARROW.lines().count() + 2,
        "{config}"
    );
    assert!(
        ran.stdout
            .contains("contracts: f1_score { max_drop: 0.01 } becomes { max_drop: 0."),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.ends_with("goldgate.yaml is written\n"),
        "{}",
        ran.stdout
    );
    // Now nothing more is needed, and the file stays.
    let again = repository.goldgate(&["calibrate", "--write"]);
    assert!(
        again.stdout.ends_with(": no gate needs a change\n"),
        "{}",
        again.stdout
    );
    assert_eq!(repository.read("goldgate.yaml"), config);
    // As any change of a gate, it is a golden change.
    assert_eq!(repository.goldgate(&["check"]).code, 0);
}

fn written_hard() {
    let repository = narrow();
    let hard = NARROW
        .replace("min: 0.1", "min: 1")
        .replace("max_drop: 0.01", "max_drop: 0.5");
    repository.write("goldgate.yaml", &hard);
    let ran = repository.goldgate(&["calibrate", "--write"]);
    assert_eq!(repository.read("goldgate.yaml"), hard);
    assert!(
        ran.stdout
            .contains("or use `goldgate calibrate --write --hard-too`"),
        "{}",
        ran.stdout
    );
    repository.goldgate(&["calibrate", "--write", "--hard-too"]);
    let config = repository.read("goldgate.yaml");
    assert!(
        config.contains("finding_recall: { min: 0.") && config.contains("# few are enough"),
        "{config}"
    );
    assert_eq!(repository.goldgate(&["calibrate", "--hard-too"]).code, 2);
    assert_eq!(
        repository
            .goldgate(&["calibrate", "--write", "--agent", "legal"])
            .code,
        2
    );
}

fn not_written() {
    let repository = narrow();
    let anchored = NARROW
        .replace(
            "      f1_score: { max_drop: 0.01 }",
            "      f1_score: &one { max_drop: 0.01 }",
        )
        .replace(
            "      finding_precision:\n        max_drop: 0.9\n",
            "      finding_precision: { max_drop: 0.9 }\n      gap_recall: *one\n",
        );
    repository.write("goldgate.yaml", &anchored);
    let ran = repository.goldgate(&["calibrate", "--write"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr
            .contains("the gates of the suite \"contracts\" cannot be set in this text"),
        "{}",
        ran.stderr
    );
    assert_eq!(repository.read("goldgate.yaml"), anchored);
}

fn checked() {
    let ran = narrow().goldgate(&["check"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let line = ran
        .stdout
        .lines()
        .find(|line| line.contains("blocked"))
        .unwrap();
    assert!(
        line.starts_with(
            "contracts: with 6 samples per case, an unchanged agent would be blocked in about "
        ),
        "{line}"
    );
}

fn by_chance() {
    // A miss in one of three samples of most documents: an unchanged agent often misses it in two.
    let repository = documents(3, |document, sample, finding| {
        sample == document % 3 && finding == 1 && document < 9
    });
    assert_eq!(
        repository
            .goldgate(&["run", "--update-baseline", "--quiet", "-v"])
            .code,
        0
    );
    assert_eq!(repository.goldgate(&["run"]).code, 0);
    record(&repository, 0, 1, &|finding| finding == 1);
    let folder = "out";
    let ran = repository.goldgate(&["run", "--out", folder]);
    assert_eq!(ran.code, 1, "the gate decides: {}", ran.stdout);
    let report: serde_json::Value =
        serde_json::from_str(&repository.read("out/report.json")).unwrap();
    let metrics = &report["suites"][0]["agents"][0]["metrics"];
    let chance = &metrics["finding_recall"]["gates"][0]["chance"];
    assert!(
        chance["rate"].as_f64().unwrap() > 0.5 && chance["approximate"] == true,
        "{chance}"
    );
    assert!(
        metrics["citation_accuracy"]["gates"][0]
            .get("chance")
            .is_none(),
        "only failed gates say so"
    );
    for text in [
        repository.read("out/report.md"),
        repository.read("out/report.html"),
    ] {
        assert!(
            text.contains("n unchanged agent fails this gate in about "),
            "{text}"
        );
        assert!(text.contains("this may be noise"), "{text}");
    }
    let terminal: String = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(terminal.contains("noise"), "{}", ran.stdout);
    // A miss in every sample of every document is no chance, although the gate often fails by it.
    for (document, sample) in
        (0..12).flat_map(|document| (0..3).map(move |sample| (document, sample)))
    {
        record(&repository, document, sample, &|finding| finding == 1);
    }
    repository.goldgate(&["run", "--out", folder]);
    let text = repository.read("out/report.md");
    assert!(
        text.contains(
            "ore than noise: the 95% interval of this change excludes zero, although an unchanged agent fails "
        ),
        "{text}"
    );
    // Nor is a miss in every sample of a document that was right before.
    let repository = documents(3, |document, sample, finding| {
        sample == document % 3 && finding == 1 && document < 9
    });
    assert_eq!(
        repository
            .goldgate(&["run", "--update-baseline", "--quiet", "-v"])
            .code,
        0
    );
    (0..3).for_each(|sample| record(&repository, 11, sample, &|finding| finding == 1));
    assert_eq!(repository.goldgate(&["run", "--out", folder]).code, 1);
    for text in [
        repository.read("out/report.md"),
        repository.read("out/report.html"),
    ] {
        assert!(
            text.contains("rong in every sample, and right in the baseline: d11"),
            "{text}"
        );
        assert!(!text.contains("this may be noise"), "{text}");
    }
    // A steady baseline says nothing of the kind.
    let steady = documents(3, |_, _, _| false);
    steady.goldgate(&["run", "--update-baseline", "--quiet", "-v"]);
    (0..2).for_each(|sample| record(&steady, 0, sample, &|finding| finding == 1));
    let ran = steady.goldgate(&["run", "--out", folder]);
    assert_eq!(ran.code, 1);
    assert!(
        !steady.read("out/report.md").contains("an unchanged agent"),
        "{}",
        ran.stdout
    );
}
