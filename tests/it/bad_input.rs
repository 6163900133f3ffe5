//! What is wrong in a repository is said with its place and its mend, and nothing is graded.

use libtest_mimic::Trial;

use crate::repository::Repository;
use crate::trial;

const EXPECTED: &str = "golden/expected/legal/lease.json";
const RUN: &str = "golden/runs/legal/lease.json";

type Spoil = fn(&Repository);

/// What is spoiled, how, with which arguments the program runs, and how the one line on it begins and ends.
const TABLE: &[(&str, Spoil, &[&str], &str, &str)] = &[
    (
        "broken YAML",
        |r| r.write("goldgate.yaml", "version: 1\nsuites: [\n"),
        &[],
        "goldgate.yaml:3:1: ",
        "",
    ),
    (
        "an unknown key of the config",
        |r| r.replace("goldgate.yaml", "baseline:", "basline:"),
        &[],
        "goldgate.yaml:2:1: unknown key \"basline\"; did you mean \"baseline\"?",
        "[unknown-key]",
    ),
    (
        "an unknown key of a gate",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { finding_recall: { mim: 0.9 } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:32: unknown key \"mim\"; did you mean \"min\"?",
        "[unknown-key]",
    ),
    (
        "a wrong type in the config",
        |r| r.replace("goldgate.yaml", "version: 1", "version: one"),
        &[],
        "goldgate.yaml:1:10: ",
        "[wrong-type]",
    ),
    (
        "a version that is newer",
        |r| r.replace("goldgate.yaml", "version: 1", "version: 2"),
        &[],
        "goldgate.yaml:1:1: unknown version 2; this goldgate reads version 1",
        "[unknown-version]",
    ),
    (
        "a suite id that stands twice",
        |r| {
            let text = r.read("goldgate.yaml");
            let suite = text.split_once("suites:\n").unwrap().1;
            r.write("goldgate.yaml", format!("{text}{suite}"));
        },
        &[],
        "goldgate.yaml:10:5: duplicate suite id \"contracts\"",
        "[duplicate-id]",
    ),
    (
        "a key that stands twice",
        |r| r.replace("goldgate.yaml", "version: 1", "version: 1\nversion: 1"),
        &[],
        "goldgate.yaml:2:1: duplicate key \"version\"",
        "[duplicate-key]",
    ),
    (
        "a bad pattern of cases",
        |_| {},
        &["--case", "a["],
        "command line: --case a[: ",
        "[bad-glob]",
    ),
    (
        "a path outside the repository",
        |r| r.replace("goldgate.yaml", "path: golden", "path: ../golden"),
        &[],
        "goldgate.yaml:7:5: the path \"../golden\" leaves the repository",
        "[path-outside]",
    ),
    (
        "an absolute path",
        |r| r.replace("goldgate.yaml", "replay: golden/runs", "replay: /etc"),
        &[],
        "goldgate.yaml:9:16: the path \"/etc\" is absolute",
        "[path-outside]",
    ),
    (
        "an unknown kind",
        |r| r.replace("goldgate.yaml", "kind: findings", "kind: finding"),
        &[],
        "goldgate.yaml:5:5: unknown kind \"finding\"; did you mean \"findings\"?",
        "[unknown-kind]",
    ),
    (
        "an unknown metric",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { recall: { min: 0.9 } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:14: unknown metric \"recall\"",
        "[unknown-metric]",
    ),
    (
        "a gate in the wrong direction",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { finding_recall: { max: 0.9 } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:32: max does not fit finding_recall: higher is better; write min or max_drop",
        "[bad-gate]",
    ),
    (
        "a zone that is too wide",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { citation_accuracy: { zone: 0.6 } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:35: zone is 0.6; write a number from 0 to 0.5",
        "[bad-gate]",
    ),
    (
        "a share in percent",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { false_positive_rate: { max: 15 } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:37: max is 15: false_positive_rate is a share between 0 and 1; did you mean 0.15?",
        "[bad-gate]",
    ),
    (
        "a change in percent",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { f1_score: { max_drop: 5 } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:26: max_drop is 5: f1_score is a share between 0 and 1; did you mean 0.05?",
        "[bad-gate]",
    ),
    (
        "a gate that no value can fail",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { finding_recall: { min: 0 } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:32: no value of finding_recall can fail this gate; write a limit that a value can miss",
        "[bad-gate]",
    ),
    (
        "a negative tolerance",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { f1_score: { max_drop: -0.1 } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:26: max_drop is -0.1; write 0 or more",
        "[negative]",
    ),
    (
        "a number that is none",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { f1_score: { max_drop: .nan } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:36: .nan is not a finite number; write a finite number",
        "[bad-number]",
    ),
    (
        "a percentage without its sign",
        |r| r.replace("goldgate.yaml", "version: 1", "version: 1\nregression: 5"),
        &[],
        "goldgate.yaml:2:1: regression is 5; write a percentage from 0.1% to 20%",
        "[bad-number]",
    ),
    (
        "a wrong value behind a key without a value",
        |r| {
            r.replace(
                "goldgate.yaml",
                "version: 1",
                "version: 1\ntargets:\nsamples: many",
            )
        },
        &[],
        "goldgate.yaml:3:10: invalid type: string \"many\"; expected a whole number, 0 or more",
        "[wrong-type]",
    ),
    (
        "a wrong value behind an alias",
        |r| {
            r.replace(
                "goldgate.yaml",
                "version: 1",
                "version: 1\nredact: &names [b]\nresults: *names",
            )
        },
        &[],
        "goldgate.yaml:3:10: invalid type: a list; expected a string",
        "[wrong-type]",
    ),
    (
        "a gate switched off without a reason",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    agents:",
                "    gates: { f1_score: { off: true } }\n    agents:",
            )
        },
        &[],
        "goldgate.yaml:8:14: a gate is disabled without a reason",
        "[no-reason]",
    ),
    (
        "an unknown target",
        |r| r.replace("goldgate.yaml", "replay: golden/runs", "target: claude"),
        &[],
        "goldgate.yaml:9:16: no target is called \"claude\"",
        "[unknown-target]",
    ),
    (
        "an unknown agent",
        |_| {},
        &["--agent", "legall"],
        "goldgate.yaml: --agent: unknown agent \"legall\"; did you mean \"legal\"?",
        "[nothing-selected]",
    ),
    (
        "a selector that matches nothing",
        |_| {},
        &["--case", "nothing-*"],
        "goldgate.yaml: no case matches \"nothing-*\"",
        "[nothing-selected]",
    ),
    (
        "a selector that matches nothing, beside one that matches",
        |_| {},
        &["--case", "leese", "--case", "lease"],
        "goldgate.yaml: no case matches \"leese\"; did you mean \"lease\"?",
        "[nothing-selected]",
    ),
    (
        "an empty suite",
        |r| r.remove(EXPECTED),
        &[],
        "goldgate.yaml:7:5: the suite \"contracts\" has no case",
        "[empty-suite]",
    ),
    (
        "an empty repository",
        |r| {
            r.remove("goldgate.yaml");
            r.remove("golden");
        },
        &[],
        "goldgate.yaml: the file does not exist; `goldgate init` writes one",
        "[missing-file]",
    ),
    (
        "a missing contract",
        |r| r.remove("golden/contracts/lease.md"),
        &[],
        "golden/expected/legal/lease.json: contract \"lease.md\" does not exist; add golden/contracts/lease.md",
        "[missing-contract]",
    ),
    (
        "an unknown key of a golden file",
        |r| r.replace(EXPECTED, "must_contain_keywords", "must_contain_keyword"),
        &[],
        "golden/expected/legal/lease.json:4:28: unknown key \"must_contain_keyword\"; did you mean \"must_contain_keywords\"?",
        "[unknown-key]",
    ),
    (
        "an unknown severity",
        |r| r.replace(EXPECTED, "\"medium\"", "\"middle\""),
        &[],
        "golden/expected/legal/lease.json:3:",
        "[unknown-value]",
    ),
    (
        "an empty keyword",
        |r| r.replace(EXPECTED, "[\"approval\"]", "[\" \"]"),
        &[],
        "golden/expected/legal/lease.json:4:",
        "[empty-keyword]",
    ),
    (
        "a least severity above the greatest",
        |r| {
            r.replace(
                EXPECTED,
                "\"medium\", \"max_severity\": \"critical\"",
                "\"high\", \"max_severity\": \"low\"",
            )
        },
        &[],
        "golden/expected/legal/lease.json:3:40: min_severity high is above max_severity low",
        "[empty-range]",
    ),
    (
        "a category that the suite does not list",
        |r| {
            r.replace(
                "goldgate.yaml",
                "    path: golden",
                "    path: golden\n    categories: [change_of_control, termination]",
            );
            r.replace(EXPECTED, "\"termination\"", "\"terminaton\"");
        },
        &[],
        "golden/expected/legal/lease.json:8:36: unknown category \"terminaton\"; did you mean \"termination\"?",
        "[unknown-category]",
    ),
    (
        "fewer findings at most than at least",
        |r| {
            r.replace(
                EXPECTED,
                "\"max_expected_findings\": 3",
                "\"min_expected_findings\": 2, \"max_expected_findings\": 1",
            )
        },
        &[],
        "golden/expected/legal/lease.json:9:56: min_expected_findings 2 is above max_expected_findings 1",
        "[empty-range]",
    ),
    (
        "a zone of a case that is too wide",
        |r| {
            r.replace(
                EXPECTED,
                "\"max_expected_findings\": 3",
                "\"ambiguity_zone\": 0.7",
            )
        },
        &[],
        "golden/expected/legal/lease.json:9:21: ambiguity_zone is 0.7",
        "[bad-zone]",
    ),
    (
        "a broken golden file",
        |r| r.write(EXPECTED, "{ \"expected_findings\": [ }"),
        &[],
        "golden/expected/legal/lease.json:1:26: invalid JSON",
        "[broken-json]",
    ),
    (
        "a golden file that is no UTF-8",
        |r| r.write(EXPECTED, b"{\n \"expected_gaps\": [\"\xff\"] }"),
        &[],
        "golden/expected/legal/lease.json:2:21: byte 0xFF is not UTF-8",
        "[not-utf8]",
    ),
    (
        "a file of 100 MB",
        |r| r.write(RUN, vec![b' '; 100_000_000]),
        &[],
        "golden/runs/legal/lease.json: the file is larger than 32 MiB",
        "[too-large]",
    ),
    (
        "a value that is nested too deeply",
        |r| r.write(RUN, format!("{}1{}", "[".repeat(5000), "]".repeat(5000))),
        &[],
        "golden/runs/legal/lease.json:1:",
        "",
    ),
    (
        "a loop of links",
        |r| {
            r.remove(RUN);
            std::os::unix::fs::symlink("lease.json", r.path(RUN)).unwrap();
        },
        &[],
        "golden/runs/legal/lease.json: this is a symbolic link, which the gate does not follow",
        "[bad-link]",
    ),
    (
        "a link out of the repository",
        |r| {
            r.remove(RUN);
            std::os::unix::fs::symlink("/etc/hostname", r.path(RUN)).unwrap();
        },
        &[],
        "golden/runs/legal/lease.json: this is a symbolic link, which the gate does not follow",
        "[bad-link]",
    ),
    (
        "a missing recording",
        |r| r.remove(RUN),
        &[],
        "golden/runs/legal/lease.json: legal: the case \"lease\" has no recording",
        "[no-recording]",
    ),
    (
        "two recordings of one sample",
        |r| r.write("golden/runs/legal/lease/0.json", crate::repository::RUN),
        &[],
        "golden/runs/legal/lease.json: the case \"lease\" has two recordings of sample 0",
        "[duplicate-recording]",
    ),
    (
        "a recording that belongs to no case",
        |r| r.write("golden/runs/legal/rent.json", crate::repository::RUN),
        &[],
        "golden/runs/legal/rent.json: this recording does not belong to any case of the suite \"contracts\"",
        "[foreign-recording]",
    ),
    (
        "a record of another case",
        |r| r.replace(RUN, "\"case\": \"lease\"", "\"case\": \"rent\""),
        &[],
        "golden/runs/legal/lease.json:2:49: the record says case \"rent\", its path says \"lease\"",
        "[record-of-another]",
    ),
    (
        "a half-written record",
        |r| r.write(RUN, &crate::repository::RUN[..120]),
        &[],
        "golden/runs/legal/lease.json:",
        "[broken-json]",
    ),
    (
        "NaN in a record",
        |r| r.replace(RUN, "\"sample\": 0", "\"sample\": NaN"),
        &[],
        "golden/runs/legal/lease.json:2:",
        "[broken-json]",
    ),
    (
        "an unknown status",
        |r| r.replace(RUN, "\"completed\"", "\"done\""),
        &[],
        "golden/runs/legal/lease.json:2:",
        "[unknown-status]",
    ),
    (
        "a baseline that cannot be read",
        |r| r.write("baselines/latest.json", "{"),
        &[],
        "baselines/latest.json:1:",
        "[broken-json]",
    ),
    (
        "a baseline of a newer version",
        |r| {
            r.write(
                "baselines/latest.json",
                "{\"schema\": \"goldgate.baseline/2\"}",
            )
        },
        &[],
        "baselines/latest.json:1:12: unknown schema \"goldgate.baseline/2\"",
        "[unknown-schema]",
    ),
    (
        "a named baseline that is not there",
        |_| {},
        &["--baseline", "other.json"],
        "other.json: the baseline does not exist",
        "[missing-file]",
    ),
];

pub fn trials() -> Vec<Trial> {
    let told = TABLE.iter().map(|(what, spoil, arguments, begins, ends)| {
        trial(
            format!("{what} is told with its place and mend"),
            move || {
                let repository = Repository::small();
                spoil(&repository);
                let ran = repository.goldgate(&[&["run"], *arguments].concat());
                assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
                let first = ran.stderr.lines().next().unwrap_or_default();
                assert!(
                    first.starts_with(begins) && first.ends_with(ends),
                    "{}",
                    ran.stderr
                );
                assert!(first.contains("; "), "a problem has a mend: {first}");
                assert!(
                    ran.stderr.ends_with("1 problem found; nothing was done\n"),
                    "{}",
                    ran.stderr
                );
            },
        )
    });
    let mut trials: Vec<Trial> = told.collect();
    trials.push(trial(
        "all problems are shown together, sorted by place",
        || {
            let repository = Repository::small();
            repository.replace(RUN, "\"completed\"", "\"done\"");
            repository.write("golden/expected/legal/rent.json", "{}");
            repository.write("golden/contracts/rent.md", "x");
            let ran = repository.goldgate(&["run"]);
            let lines: Vec<&str> = ran.stderr.lines().collect();
            assert_eq!((ran.code, lines.len()), (2, 3), "{}", ran.stderr);
            assert!(
                lines[0].starts_with("golden/runs/legal/lease.json:2:"),
                "{}",
                lines[0]
            );
            assert!(
                lines[1].starts_with("golden/runs/legal/rent.json: "),
                "{}",
                lines[1]
            );
        },
    ));
    trials
}
