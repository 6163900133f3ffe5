//! Cases of several agents in one file.

use super::*;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the quarantine of each agent's case is compared",
            quarantines,
        ),
        trial(
            "an edited expectation names its agent where several agents have the case",
            expectations,
        ),
        trial("a case is chosen by the tags of its own agent", tags),
    ]
}

/// Twelve leases of two agents in one file, with changes of the entries at these places: legal has the last twelve.
fn repository(changes: &[(usize, Value)]) -> Repository {
    let repository = Repository::empty();
    repository.remove(".git");
    repository.write("prompts/p.md", "Report every change of control.\n");
    repository.write(
        "goldgate.yaml",
        "version: 1\nbaseline: baselines/latest.json\nsuites:\n  - id: c\n    kind: findings\n    policy: seed\n    path: golden/cases.json\n    agents:\n      \
         legal: { fingerprint: ['prompts/**'], deterministic: { replay: runs } }\n      \
         finance: { fingerprint: ['prompts/**'], deterministic: { replay: runs } }\n",
    );
    let run = json!({
        "status": "completed",
        "outputs": { "findings": [{ "category": "coc", "severity": "high", "description": "x" }] },
    });
    for number in 0..12 {
        repository.write(
            &format!("golden/contracts/lease-{number}.md"),
            "The landlord has to approve.\n",
        );
        for agent in ["finance", "legal"] {
            repository.write(
                &format!("runs/{agent}/lease-{number}.json"),
                run.to_string(),
            );
        }
    }
    write_cases(&repository, changes);
    let ran = repository.goldgate(&["run", "--update-baseline", "--quiet"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    repository
}

fn write_cases(repository: &Repository, changes: &[(usize, Value)]) {
    let case = |agent: &str, number: usize| json!({ "id": format!("lease-{number}"), "agent": agent, "expected_findings": [{ "category": "coc" }] });
    let mut cases: Vec<Value> = ["finance", "legal"]
        .iter()
        .flat_map(|agent| (0..12).map(|number| case(agent, number)))
        .collect();
    for (place, change) in changes {
        let fields = change.as_object().unwrap().clone();
        cases[*place].as_object_mut().unwrap().extend(fields);
    }
    repository.write("golden/cases.json", json!(cases).to_string());
}

fn quarantines() {
    let quarantined = json!({ "quarantine": { "owner": "Subject A", "reason": "flaky", "expires": "2026-12-20" } });
    let before = repository(&[(3, quarantined.clone())]);
    let says = "put into quarantine until 2026-12-20 by Subject A: flaky";
    for others in [vec![(3, quarantined.clone())], Vec::new()] {
        write_cases(&before, &[vec![(15, quarantined.clone())], others].concat());
        let ran = against(&before, &[]);
        assert!(
            ran.code == 1 && ran.stdout.contains(says),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn expectations() {
    let before = repository(&[]);
    let most = json!({ "max_expected_findings": 9 });
    write_cases(&before, &[(3, most.clone()), (15, most)]);
    let ran = against(&before, &[]);
    for agent in ["finance", "legal"] {
        let says =
            format!("expectation of lease-3 of `c/{agent}` edited: max_expected_findings added: 9");
        assert!(
            ran.code == 1 && ran.stdout.contains(&says),
            "{says}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn tags() {
    let smoke = json!({ "tags": ["smoke"] });
    let tagged = [(15, smoke.clone()), (16, smoke.clone())];
    let before = repository(&tagged);
    write_cases(&before, &[&tagged[..], &[(17, smoke)]].concat());
    let ran = against(&before, &["--tag", "smoke"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    write_cases(&before, &tagged[..1]);
    let ran = against(&before, &["--tag", "smoke"]);
    assert!(
        ran.code == 1 && ran.stdout.contains("no longer chosen by --tag smoke"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}
