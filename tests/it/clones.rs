//! Clones that lack files or keep them elsewhere: partial clones, Git LFS, submodules, and a separate folder of git.

use libtest_mimic::Trial;

use crate::golden_changes::{commit_all, git, lfs_pointer};
use crate::repository::{EXPECTED, FILES, Ran, Repository};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a partial clone names the file that it lacks and the command that gets it",
            partial,
        ),
        trial(
            "a golden file that is a Git LFS pointer is called one",
            pointer,
        ),
        trial(
            "a file of the agent that is a Git LFS pointer is to be fetched, not recorded again",
            agent_pointer,
        ),
        trial(
            "a shallow clone without the merge base asks for it",
            shallow,
        ),
        trial(
            "a clone with a separate folder of git inside another repository is no submodule",
            separate,
        ),
        trial(
            "check, run, stamp and import name a submodule that is not checked out",
            without_submodule,
        ),
    ]
}

const GOLDEN: &str = "golden/expected/legal/lease.json";

fn judged(repository: &Repository, config: &str) -> Ran {
    let path = std::env::var("PATH").unwrap();
    repository.goldgate_with(
        &["run", "--base", "HEAD", "--config", config],
        &[("PATH", &path)],
    )
}

fn clone(into: &Repository, from: &Repository, options: &[&str]) {
    let from = format!("file://{}", from.path("").display());
    let options = [&["clone", "-q"], options, &[&from, "clone"]].concat();
    git(&into.path(""), &options);
}

fn committed() -> Repository {
    let repository = Repository::small();
    repository.remove(".git");
    commit_all(&repository);
    repository
}

fn partial() {
    let origin = committed();
    git(
        &origin.path(""),
        &["config", "uploadpack.allowFilter", "true"],
    );
    for filter in ["blob:none", "tree:0"] {
        let place = Repository::empty();
        clone(&place, &origin, &["--no-checkout", "--filter", filter]);
        for file in FILES {
            place.write(&format!("clone/{file}"), origin.read(file));
        }
        place.replace(
            &format!("clone/{GOLDEN}"),
            "\"max_expected_findings\": 3",
            "\"max_expected_findings\": 9",
        );
        let ran = judged(&place, "clone/goldgate.yaml");
        assert_eq!(ran.code, 3, "{filter}: {}{}", ran.stdout, ran.stderr);
        let remedy = "this clone was made with `--filter` and lacks files; `git fetch --refetch --no-filter origin` gets them";
        assert!(ran.stderr.contains(remedy), "{filter}: {}", ran.stderr);
        assert!(
            filter != "blob:none" || ran.stderr.contains(&format!("{GOLDEN}: ")),
            "{}",
            ran.stderr
        );
        git(
            &place.path("clone"),
            &["fetch", "-q", "--refetch", "--no-filter", "origin"],
        );
        let ran = judged(&place, "clone/goldgate.yaml");
        assert!(
            ran.code == 1 && ran.stdout.contains("[needs approval]"),
            "{filter}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

fn pointer() {
    let text = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 9\n",
        "0".repeat(64)
    );
    for file in [GOLDEN, "golden/contracts/lease.md"] {
        let not_pulled = Repository::small();
        not_pulled.write(file, &text);
        let ran = not_pulled.goldgate(&["run"]);
        let wanted = format!(
            "{file}:1:1: this is a Git LFS pointer, not the file itself; get the file with `git lfs pull`"
        );
        assert!(
            ran.code == 2 && ran.stderr.contains(&wanted),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
    let in_base = Repository::small();
    in_base.remove(".git");
    in_base.write(GOLDEN, &text);
    commit_all(&in_base);
    in_base.write(GOLDEN, EXPECTED);
    let ran = judged(&in_base, "goldgate.yaml");
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("this is a Git LFS pointer")
            || ran.stderr.contains("this is a Git LFS pointer")
    );
}

fn agent_pointer() {
    for files in ["prompts/legal.md", "'prompts/**'"] {
        let repository = Repository::small();
        repository.replace("goldgate.yaml", "[prompts/legal.md]", &format!("[{files}]"));
        let prompt = repository.read("prompts/legal.md");
        assert_eq!(repository.stamp("goldgate.yaml").code, 0);
        assert_eq!(repository.goldgate(&["run"]).code, 0, "the control");
        repository.write("prompts/legal.md", "Report nothing.\n");
        let ran = repository.goldgate(&["run"]);
        assert!(
            ran.code == 3
                && ran
                    .stdout
                    .contains("run the program that writes golden/runs again"),
            "the control: {}{}",
            ran.stdout,
            ran.stderr
        );
        repository.write("prompts/legal.md", lfs_pointer(&prompt));
        let ran = repository.goldgate(&["run"]);
        let remedy = "prompts/legal.md is a Git LFS pointer, not the file itself: get it with `git lfs pull`";
        assert!(
            ran.code == 3 && ran.stdout.contains(remedy),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(!ran.stdout.contains("record again"), "{}", ran.stdout);
    }
}

fn shallow() {
    let (origin, outer) = (committed(), Repository::empty());
    git(&origin.path(""), &["branch", "-M", "main"]);
    git(&origin.path(""), &["checkout", "-q", "-b", "change"]);
    origin.write("README.md", "Leases.\n");
    commit_all(&origin);
    git(&origin.path(""), &["checkout", "-q", "main"]);
    origin.write("golden/more.md", "More.\n");
    commit_all(&origin);
    clone(
        &outer,
        &origin,
        &["--depth", "1", "--no-single-branch", "--branch", "change"],
    );
    let path = std::env::var("PATH").unwrap();
    let judge = || {
        outer.goldgate_with(
            &[
                "run",
                "--base",
                "origin/main",
                "--merge-base",
                "--config",
                "clone/goldgate.yaml",
            ],
            &[("PATH", &path)],
        )
    };
    let ran = judge();
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr
            .contains("this clone is shallow, so where this branch began is not known"),
        "{}",
        ran.stderr
    );
    git(&outer.path("clone"), &["fetch", "-q", "--unshallow"]);
    let ran = judge();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

fn separate() {
    let (origin, outer) = (committed(), committed());
    let apart = Repository::empty();
    let folder = format!("--separate-git-dir={}", apart.path("apart").display());
    clone(&outer, &origin, &[&folder]);
    let ran = judged(&outer, "clone/goldgate.yaml");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let outermost = committed();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        "--name",
        "inner",
    ];
    let from = origin.path("").display().to_string();
    git(&outermost.path(""), &[&add[..], &[&from, "clone"]].concat());
    let ran = judged(&outermost, "clone/goldgate.yaml");
    assert!(
        ran.code == 2 && ran.stderr.contains("[config-in-submodule]"),
        "the control: {}",
        ran.stderr
    );
}

fn without_submodule() {
    let (origin, outer) = (committed(), Repository::empty());
    origin.replace("goldgate.yaml", "[prompts/legal.md]", "['prompts/**']");
    git(&origin.path("prompts"), &["init", "-q", "."]);
    git(&origin.path("prompts"), &["add", "-A"]);
    git(
        &origin.path("prompts"),
        &["commit", "-q", "--no-verify", "-m", "inside"],
    );
    git(&origin.path(""), &["rm", "-rq", "--cached", "prompts"]);
    commit_all(&origin);
    let path = std::env::var("PATH").unwrap();
    let config = ["--config", "clone/goldgate.yaml"];
    let ran = |arguments: &[&str]| {
        outer.goldgate_with(&[arguments, &config].concat(), &[("PATH", &path)])
    };
    clone(&outer, &origin, &[]);
    for command in ["check", "run"] {
        let ran = ran(&[command]);
        let words = "prompts: the folder is in a submodule that is not checked out";
        assert!(
            ran.code == 2 && ran.stderr.contains(words),
            "{command}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    // A digest of the files that are there would say nothing of the agent, also where other patterns find theirs.
    let recording = "clone/golden/runs/legal/lease.json";
    let before = outer.read(recording);
    let import = ["import", recording, "--out", "elsewhere"];
    for patterns in ["['prompts/**']", "['golden/contracts/*', 'prompts/**']"] {
        outer.replace("clone/goldgate.yaml", "['prompts/**']", patterns);
        for command in [&["stamp"][..], &["stamp", "--stale"], &import] {
            let ran = ran(command);
            let words = "prompts: files of `contracts/legal`: the folder is in a submodule that is not checked out, so its files are not \
                         known (`prompts/**`); check it out";
            assert!(
                ran.code == 2 && ran.stderr.contains(words),
                "{patterns} {command:?}: {ran:?}"
            );
        }
        assert_eq!(outer.read(recording), before, "{patterns}");
        assert!(!outer.path("elsewhere/legal").exists(), "{patterns}");
        outer.replace("clone/goldgate.yaml", patterns, "['prompts/**']");
    }
    let inside = format!("file://{}", origin.path("prompts").display());
    git(&outer.path("clone"), &["clone", "-q", &inside, "prompts"]);
    assert_eq!(ran(&["check"]).code, 0, "the control");
    assert_eq!(ran(&["stamp"]).code, 0, "the control");
    assert_ne!(outer.read(recording), before, "the control");
}
