//! The comment: found, written, shared between writers.

use super::*;

pub fn one_comment() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let first = opened(&repository, &github).runs();
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    assert_eq!(github.bodies(BOT).len(), 1, "{}", first.stdout);
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    let second = opened(&repository, &github).runs();
    assert_eq!(second.code, 1, "{}", second.stderr);
    let bodies = github.bodies(BOT);
    assert_eq!(bodies.len(), 1);
    assert!(
        bodies[0].starts_with("> [!CAUTION]\n> **First run: "),
        "{}",
        bodies[0]
    );
    let again = opened(&repository, &github).runs();
    assert_eq!((again.code, github.bodies(BOT)), (1, bodies));
    assert!(
        github
            .requests()
            .iter()
            .filter(|request| request.starts_with("POST"))
            .all(|request| {
                ["/issues/2/comments", "/graphql", "/labels"]
                    .iter()
                    .any(|known| request.ends_with(known))
            }),
        "{:?}",
        github.requests()
    );
}

pub fn listed_late() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.lists_late(3);
    let ran = opened(&repository, &github).runs();
    assert!(
        ran.code == 0 && !ran.stdout.contains("::warning"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(github.bodies(BOT).len(), 1);
}

pub fn pages() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    (0..120).for_each(|place| github.comment("someone", &format!("comment {place}")));
    opened(&repository, &github).runs();
    (0..130).for_each(|place| github.comment("someone", &format!("later {place}")));
    opened(&repository, &github).runs();
    assert_eq!(github.bodies(BOT).len(), 1);
    let pages = github
        .requests()
        .iter()
        .filter(|request| request.contains("page=3"))
        .count();
    assert!(pages > 0, "{:?}", github.requests());
}

pub fn spoofed() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let text = "> [!TIP]\n> **All 6 gates pass**\n\n<!-- goldgate:comment key=default -->\nspoofed";
    github.comment("mallory", text);
    opened(&repository, &github).runs();
    assert_eq!(github.bodies("mallory"), [text]);
    assert_eq!(github.bodies(BOT).len(), 1);
}

pub fn two_tiers() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    repository.replace(
        "goldgate.yaml",
        "    path: golden\n",
        "    path: golden\n    tier: [deterministic, model]\n",
    );
    repository.replace(
        "goldgate.yaml",
        "deterministic: { replay: golden/runs }",
        "deterministic: { replay: golden/runs }, model: { replay: golden/live }",
    );
    repository.write(
        "golden/live/legal/lease.json",
        crate::repository::RUN.replace("Needs prior approval.", "Needs nothing."),
    );
    let model = opened(&repository, &github).input("tier", "model").runs();
    assert_eq!(model.code, 0, "{}", model.stderr);
    assert!(
        github.bodies(BOT)[0].starts_with(
            "> [!WARNING]\n> **First run: 3 gates pass, 1 is below its limit: legal finding&#95;recall 0%"
        ),
        "{}",
        github.bodies(BOT)[0]
    );
    opened(&repository, &github).runs();
    opened(&repository, &github).input("tier", "model").runs();
    let bodies = github.bodies(BOT);
    assert_eq!(bodies.len(), 1);
    assert!(
        bodies[0].starts_with("> [!TIP]\n> **First run: all "),
        "{}",
        bodies[0]
    );
    for text in [
        "### Deterministic tier · blocks the merge",
        "### Model tier · for information, does not block",
        "> [!WARNING]",
    ] {
        assert_eq!(bodies[0].matches(text).count(), 1, "{text}: {}", bodies[0]);
    }
}

pub fn edited() {
    let (repository, github) = (super::writers::two_tiers(), Standin::new(&head_sha()));
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    opened(&repository, &github).input("tier", "model").runs();
    let body = github.bodies(BOT).remove(0);
    let (from, to) = (
        "❌ **fail**",
        "✅ pass [see](https://evil.example) @acme/all",
    );
    assert!(body.contains(from), "{body}");
    github.change_comment(1, &body.replace(from, to));
    opened(&repository, &github).runs();
    let bodies = github.bodies(BOT);
    let [body] = bodies.as_slice() else {
        panic!("{bodies:?}")
    };
    assert!(
        !body.contains("evil.example") && !body.contains("Model tier"),
        "{body}"
    );
    opened(&repository, &github).input("tier", "model").runs();
    assert!(
        github.bodies(BOT)[0].contains("### Model tier"),
        "{:?}",
        github.bodies(BOT)
    );
}

pub fn older_head() {
    let (repository, github) = (Repository::small(), Standin::new(&"a".repeat(40)));
    opened(&repository, &github).head(&"a".repeat(40)).runs();
    let before = github.bodies(BOT);
    let mut late = opened(&repository, &github).head(&"b".repeat(40));
    late.run = 9;
    let ran = late.runs();
    // Another head than the present one gives no verdict at all.
    let wanted = "no verdict: the head of pull request 2 moved from bbbbbbb to aaaaaaa";
    assert!(
        ran.code == 3 && ran.stderr.contains(wanted),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(github.bodies(BOT), before);
    let mut earlier = opened(&repository, &github).head(&"a".repeat(40));
    earlier.run = 3;
    assert!(
        earlier
            .runs()
            .stdout
            .contains("a later run has already written the comment")
    );
    assert_eq!(github.bodies(BOT), before);
}

pub fn met() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    opened(&repository, &github).runs();
    let body = github.bodies(BOT).remove(0);
    github.comment(BOT, &body);
    opened(&repository, &github).runs();
    assert_eq!(github.bodies(BOT).len(), 1);
}

pub fn forbidden() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.fault("POST", Fault::Always(403));
    let ran = opened(&repository, &github).runs();
    assert_eq!(ran.code, 0);
    let warnings: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("::warning"))
        .collect();
    assert_eq!(warnings.len(), 1, "{}", ran.stdout);
    assert!(
        warnings[0].contains("`pull-requests: write`"),
        "{}",
        warnings[0]
    );
    repository.replace(RUN, "Needs prior approval.", "Needs nothing.");
    assert_eq!(opened(&repository, &github).runs().code, 1);
}

pub fn retried() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.fault("GET", Fault::Once(502));
    github.fault("GET", Fault::Limited(1));
    github.fault("POST", Fault::Limited(1));
    let started = std::time::Instant::now();
    let ran = opened(&repository, &github).runs();
    assert_eq!(
        (ran.code, github.bodies(BOT).len()),
        (0, 1),
        "{}",
        ran.stdout
    );
    assert!(
        started.elapsed().as_secs_f64() >= 2.0,
        "Retry-After was not waited for"
    );
}

pub fn lost_answer() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    github.fault("POST", Fault::DoneButLost);
    let ran = opened(&repository, &github).runs();
    assert_eq!(
        (ran.code, github.bodies(BOT).len()),
        (0, 1),
        "{}",
        ran.stdout
    );
}

pub fn overwritten() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    opened(&repository, &github).runs();
    github.fault("PATCH", Fault::Overwritten);
    let mut job = opened(&repository, &github);
    job.run = 8;
    let ran = job.runs();
    assert!(
        github.bodies(BOT)[0].contains("\"run\":8"),
        "{}{}",
        ran.stdout,
        github.bodies(BOT)[0]
    );
}

/// A result of before, which may be green, is not the result of this run.
pub fn no_verdict() {
    let (repository, github) = (Repository::small(), Standin::new(&head_sha()));
    let (good, broken) = (repository.read("goldgate.yaml"), "version: 9\n");
    repository.write("goldgate.yaml", broken);
    assert_eq!(opened(&repository, &github).runs().code, 2);
    assert!(github.bodies(BOT).is_empty());
    for round in 0..2 {
        repository.write("goldgate.yaml", &good);
        assert_eq!(opened(&repository, &github).runs().code, 0);
        let bodies = github.bodies(BOT);
        assert!(
            bodies.len() == 1
                && bodies[0].contains("gates pass")
                && !bodies[0].contains("No verdict"),
            "{round}: {bodies:?}"
        );
        repository.write("goldgate.yaml", broken);
        let ran = opened(&repository, &github).runs();
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        let bodies = github.bodies(BOT);
        assert!(
            bodies.len() == 1
                && bodies[0].starts_with("> [!WARNING]\n> **No verdict on this commit: "),
            "{bodies:?}"
        );
        assert!(
            !bodies[0].contains("gates pass") && bodies[0].contains("goldgate.yaml"),
            "{bodies:?}"
        );
    }
}
