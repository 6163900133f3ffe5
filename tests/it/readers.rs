//! What a tired reader of a red comment or page has to find, and what must not mislead.

use std::path::Path;

use libtest_mimic::Trial;

use crate::golden_changes::{commit_all, git};
use crate::repository::{EXPECTED, RUN, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a comment tells what blocks, which case, what moved and what to do, then folds the rest", order),
        trial("a comment has no empty sentence and no time of a machine", no_filler),
        trial("the line that reproduces a comment gives the same comment", reproduces),
        trial("a comparison without a moved number says so in the headline alone", nothing_moved),
        trial("a failed gate is not called noise anywhere", no_noise),
        trial("a failed gate shows its last baselines where git has them", past),
        trial("a page shows hostile texts and runs none of them", hostile),
        trial("a page allows its own style and script alone", policy),
    ]
}

/// A repository whose agent reports another category than at the base commit; `finding` replaces its title.
fn red(title: &str) -> Repository {
    let repository = Repository::small();
    repository.remove(".git");
    repository.write("golden/expected/legal/lease.json", EXPECTED);
    repository.goldgate(&["run", "--update-baseline"]);
    commit_all(&repository);
    let run = RUN
        .replace("change-of-control", "rent")
        .replace("\"Change of control\"", &serde_json::json!(title).to_string());
    repository.write("golden/runs/legal/lease.json", run);
    repository
}

fn against_base(repository: &Repository, arguments: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    repository.goldgate_with(arguments, &[("PATH", &path)])
}

fn comment(repository: &Repository) -> String {
    let ran = against_base(repository, &["run", "--base", "HEAD", "--format", "markdown"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

fn order() {
    let comment = comment(&red("Rent"));
    let parts = [
        "> **Merge blocked: legal finding&#95;recall 0%",
        "**1 golden change without an approval:**",
        "**contracts / legal: finding&#95;recall 0%, needs 80% (baseline 100%)**",
        "- lease 0% (baseline 100%)\n  - expected a finding of change&#95;of&#95;control",
        "<br>likely cause: prompt. Next: ",
        "| | baseline | now | change | gate |",
        "Reproduce it: ",
        "<details>",
        "unchanged numbers</summary>",
        "<sub>head ",
    ];
    let places: Vec<usize> =
        parts.iter().map(|part| comment.find(part).unwrap_or_else(|| panic!("{part}: {comment}"))).collect();
    assert!(places.is_sorted(), "{places:?}: {comment}");
    assert!(!comment.contains("<details open"), "{comment}");
    assert!(comment.contains("`goldgate explain contracts/legal/lease`"), "{comment}");
}

fn no_filler() {
    let comment = comment(&red("Rent"));
    for filler in ["No failure of", "no model calls", "No number moved", " ms\n", " s\n\n", "0 calls"] {
        assert!(!comment.contains(filler), "{filler:?}: {comment}");
    }
}

fn reproduces() {
    let repository = red("Rent");
    let comment = comment(&repository);
    let line = comment.split("Reproduce it: `").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    assert!(line.starts_with("goldgate run ") && line.contains(" --base "), "{line}");
    let mut arguments: Vec<&str> = line.split(' ').skip(1).collect();
    arguments.extend(["--format", "markdown"]);
    let again = against_base(&repository, &arguments);
    assert_eq!((again.code, &again.stdout), (1, &comment), "{}", again.stderr);
}

fn nothing_moved() {
    let repository = Repository::small();
    let first = repository.goldgate(&["run", "--format", "markdown"]).stdout;
    assert!(first.contains("> **All 6 gates pass on 1 case.**"), "{first}");
    repository.goldgate(&["run", "--update-baseline"]);
    let comment = repository.goldgate(&["run", "--format", "markdown"]).stdout;
    assert!(comment.contains(" gates pass on 1 case (no number moved).**"), "{comment}");
    assert_eq!(comment.matches("o number moved").count(), 1, "{comment}");
}

fn no_noise() {
    let repository = Repository::bundled();
    let folder = repository.path("fixtures/contracts/runs/commercial/letter-of-intent");
    lower(&folder);
    let comment = repository.goldgate(&["run", "--format", "markdown"]);
    assert_eq!(comment.code, 1, "{}", comment.stderr);
    let says = |text: &str| -> Vec<String> {
        let lines =
            text.lines().filter(|line| line.contains("severity_accuracy") || line.contains("severity&#95;accuracy"));
        lines.map(str::to_owned).collect()
    };
    let lines = says(&comment.stdout);
    assert!(lines.iter().any(|line| line.contains("95% interval")) && lines.len() > 3, "{lines:?}");
    let fails = lines.iter().filter(|line| line.contains("fail**") || line.contains("commercial severity"));
    for line in fails {
        assert!(!line.contains("within"), "{line}");
    }
    assert!(comment.stdout.contains("nchanged agent fails this gate in "), "{}", comment.stdout);
    let page = repository.goldgate(&["run", "--format", "html"]).stdout;
    let failed = says(&page).into_iter().filter(|line| line.contains("<td class=\"fail\">fail")).collect::<Vec<_>>();
    assert!(failed.len() == 1 && !failed[0].contains("within the noise"), "{failed:?}");
}

fn past() {
    let repository = red("Rent");
    repository.replace("baselines/latest.json", "\"finding_recall\": 1.0", "\"finding_recall\": 0.9");
    commit_all(&repository);
    let once = comment(&repository);
    assert!(once.contains("\nLast 2 baselines: "), "{once}");
    let page = against_base(&repository, &["run", "--format", "html"]).stdout;
    assert!(page.contains("Last 2 baselines: ") && page.contains("<polyline"), "{page}");
    // One committed baseline is no history. A shallow clone does not have the older ones.
    assert!(!comment(&red("Rent")).contains("baselines: "), "{once}");
    let clone = Repository::empty();
    clone.remove(".git");
    let origin = format!("file://{}", repository.path("").display());
    git(&clone.path(""), &["clone", "-q", "--depth", "1", &origin, "."]);
    let shallow = comment(&clone);
    assert!(shallow.contains("finding&#95;recall 0%") && !shallow.contains("baselines: "), "{shallow}");
}

/// Lowers the first severity of each recording in a folder.
fn lower(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        run["outputs"]["findings"][0]["severity"] = serde_json::json!("low");
        std::fs::write(&path, run.to_string()).unwrap();
    }
}

const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=//evil.example onerror=alert(1)>\" ' & <!-- \u{2028} ]]>";

fn page(repository: &Repository) -> String {
    let ran = repository.goldgate(&["run", "--format", "html"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    ran.stdout
}

fn hostile() {
    let page = page(&red(HOSTILE));
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), "the text is shown: {page}");
    assert!(page.contains("\\u003c/script\\u003e"), "the details have it, too: {page}");
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2), "{page}");
    for tag in ["<img", "<!--", "\u{2028}", "]]&gt;<"] {
        assert!(!page.contains(tag), "{tag:?}: {page}");
    }
    let data = page.split("type=\"application/json\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["cases"].as_array().unwrap().len(), 1);
    assert!(data.to_string().contains("onerror=alert(1)"), "{data}");
}

fn policy() {
    let page = page(&red("Rent"));
    let policy =
        page.split("http-equiv=\"Content-Security-Policy\" content=\"").nth(1).and_then(|rest| rest.split('"').next());
    let policy = policy.unwrap();
    assert!(
        policy.starts_with("default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    for loading in [" src=", "url(", "@import", " style=", " onclick=", "http:", "https:"] {
        assert!(!page.contains(loading), "{loading}: {page}");
    }
}
