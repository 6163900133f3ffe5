//! The jobs of a matrix grade shards, and one job with the input `parts` judges them and writes the comment.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::approval::{LABEL, Story, base_sha};
use super::{BOT, Job, RUN, head_sha, opened};
use crate::golden_changes::{add_case, recording};
use crate::repository::{Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "the parts of a matrix become one verdict, one comment and the report of one job",
            whole,
        ),
        trial(
            "an approval counts for merged parts as for one job",
            approved,
        ),
        trial("the parts of a merge group are judged as one", of_a_group),
        trial(
            "parts that are missing, foreign or of another commit are refused by the merging job",
            refused,
        ),
    ]
}

pub const PLACE: &str = ".goldgate/parts";
const PARTS: [&str; 3] = ["1/3", "2/3", "3/3"];

/// The jobs of the matrix: each leaves its folder where the merging job downloads it to.
pub fn grade(repository: &Repository, github: &super::Standin) {
    for (place, shard) in PARTS.iter().enumerate() {
        let out = format!(".goldgate/parts/goldgate-part-{}", place + 1);
        let ran = opened(repository, github)
            .input("shard", shard)
            .input("out", &out)
            .runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
    assert!(
        github.bodies(BOT).is_empty(),
        "a part has written a comment"
    );
}

fn merged(repository: &Repository, github: &super::Standin, run: u64) -> Ran {
    let mut job = opened(repository, github).input("parts", PLACE);
    job.run = run;
    job.runs()
}

fn several() -> Repository {
    let repository = Repository::small();
    for case in 0..5 {
        add_case(&repository, case);
        repository.write(
            &format!("golden/{}", recording(case)),
            repository.read(&recording(case)),
        );
    }
    repository.goldgate(&["run", "--update-baseline"]);
    repository
}

/// The report without what differs between two runs of the same.
fn report(repository: &Repository) -> Value {
    let mut report: Value =
        serde_json::from_str(&repository.read(".goldgate/report/report.json")).unwrap();
    report["usage"] = Value::Null;
    report
}

fn whole() {
    let (repository, github) = (several(), super::Standin::new(&head_sha()));
    for file in ["goldgate.yaml", "baselines/latest.json"] {
        github.file(file, &repository.read(file));
    }
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    grade(&repository, &github);
    let ran = merged(&repository, &github, 7);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let of_parts = report(&repository);
    let body = github.bodies(BOT).remove(0);
    assert!(
        body.starts_with("> [!CAUTION]\n> **Merge blocked: "),
        "{body}"
    );
    // One job that grades the whole says the very same.
    let mut job = opened(&repository, &github);
    job.run = 7;
    assert_eq!(job.runs().code, 1);
    assert_eq!(of_parts, report(&repository));
    assert_eq!(github.bodies(BOT), [body]);
}

fn approved() {
    let story = Story::new();
    grade(&story.checkout, &story.github);
    assert_eq!(merged(&story.checkout, &story.github, 7).code, 1);
    story.github.label_by("alice", LABEL);
    story.is_approved(&merged(&story.checkout, &story.github, 8), "alice");
}

fn of_a_group() {
    let (repository, github) = (several(), super::Standin::new(&head_sha()));
    github.files(&repository);
    let branch = format!("refs/heads/gh-readonly-queue/master/pr-2-{}", base_sha());
    let job = || {
        let mut job = Job::new(&repository, &github, "merge_group", "merge_group");
        let group = &mut job.event["merge_group"];
        group["head_ref"] = json!(branch);
        group["base_ref"] = json!("refs/heads/master");
        job
    };
    let judged = || {
        for (place, shard) in PARTS.iter().enumerate() {
            let out = format!(".goldgate/parts/goldgate-part-{}", place + 1);
            let ran = job().input("shard", shard).input("out", &out).runs();
            assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        }
        job().input("parts", PLACE).runs()
    };
    let ran = judged();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        report(&repository)["commit"],
        job().event["merge_group"]["head_sha"]
    );
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(judged().code, 1);
    assert!(github.bodies(BOT).is_empty());
}

fn refused() {
    let (repository, github) = (several(), super::Standin::new(&head_sha()));
    let told = |job: Job<'_>, wanted: &str| {
        let ran = job.input("parts", PLACE).runs();
        assert!(
            ran.code == 2 && ran.stderr.contains(wanted),
            "{wanted}: {} {}",
            ran.code,
            ran.stderr
        );
    };
    told(
        opened(&repository, &github),
        "/.goldgate/parts: the folder does not exist; download the folder of each shard",
    );
    grade(&repository, &github);
    told(
        opened(&repository, &github).input("shard", "1/3"),
        "leave shard out: the step with parts joins all of them",
    );
    github.push(&"c".repeat(40));
    told(
        opened(&repository, &github).head(&"c".repeat(40)),
        "the shards have the commit",
    );
    github.push(&head_sha());
    github.branch("master", &"d".repeat(40));
    told(
        opened(&repository, &github),
        "the shards have the base commit",
    );
    github.branch("master", &base_sha());
    repository.remove(".goldgate/parts/goldgate-part-2");
    told(opened(&repository, &github), "the shard 2/3 is missing");
    repository.write(".goldgate/parts/other/notes.txt", "no part");
    told(opened(&repository, &github), "this folder has no shard");
    repository.remove(".goldgate/parts/other");
    // One shard of another matrix, and one that is there twice.
    let shard = |of: &str, out: &str| {
        let ran = opened(&repository, &github)
            .input("shard", of)
            .input("out", out)
            .runs();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    };
    shard("2/4", ".goldgate/parts/goldgate-part-2");
    told(opened(&repository, &github), "are shards of different runs");
    shard("2/3", ".goldgate/parts/goldgate-part-2");
    shard("2/3", ".goldgate/parts/again");
    told(
        opened(&repository, &github),
        "the shard 2/3 is given 2 times",
    );
    assert!(github.bodies(BOT).is_empty());
}
