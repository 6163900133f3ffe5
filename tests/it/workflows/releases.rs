//! The release: its order, its names, and that nothing in it fails without being seen.

use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;

use super::{steps, uses, with, yaml};
use crate::repository::root;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a release is built, attested, published and tried before its tag appears",
            order,
        ),
        trial("no failure of a release is hidden", visible),
        trial("the setup action and the release agree on names", setup),
        trial(
            "main builds the action, and its base image is named by digest",
            image,
        ),
    ]
}

fn release() -> Value {
    yaml(".github/workflows/release.yml").1
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn order() {
    let form = release();
    let jobs = form["jobs"].as_object().unwrap();
    let order = [
        "checks", "build", "attest", "publish", "smoke", "tag", "packages",
    ];
    assert_eq!(jobs.len(), order.len());
    for pair in order.windows(2) {
        let [before, after] = pair else {
            unreachable!("windows of two")
        };
        let needs = match &jobs[*after]["needs"] {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            one => vec![one.as_str().unwrap()],
        };
        assert!(needs.contains(before), "{after} does not wait for {before}");
        assert!(
            jobs[*after]["if"].is_null(),
            "{after} can run after a failure"
        );
    }
    // The smoke test runs what users run, on the commit that they will pin.
    let smoke = &jobs["smoke"];
    assert!(
        smoke["strategy"]["matrix"]["runner"]
            .as_array()
            .unwrap()
            .len()
            >= 3
    );
    for wanted in ["./", "./setup"] {
        assert!(
            steps(smoke).any(|step| uses(step, wanted)),
            "the smoke test does not use {wanted}"
        );
    }
    for job in [smoke, &jobs["tag"], &jobs["packages"]] {
        let checkout = steps(job)
            .find(|step| uses(step, "actions/checkout"))
            .unwrap();
        assert_eq!(with(checkout)["ref"], "${{ needs.publish.outputs.commit }}");
    }
    // Nobody can take a package back, so only what was attested and tried goes to the registries, and only after the tag. What is
    // installed in the smoke test is what the attested artifact has.
    for (name, job) in jobs {
        let sends = steps(job).any(|step| {
            uses(step, "pypa/gh-action-pypi-publish")
                || step["run"]
                    .as_str()
                    .is_some_and(|run| run.contains("npm publish") || run.contains("npm.sh"))
        });
        assert_eq!(sends, name == "packages", "{name} publishes packages");
    }
    for job in [smoke, &jobs["packages"]] {
        let fetched = steps(job)
            .filter(|step| uses(step, "actions/download-artifact"))
            .map(with);
        assert_eq!(
            fetched
                .map(|with| with["pattern"].clone())
                .collect::<Vec<_>>(),
            ["packages"]
        );
    }
    let attested = steps(&jobs["attest"])
        .filter(|step| uses(step, "actions/attest-build-provenance"))
        .map(with);
    let subjects: String = attested
        .filter_map(|with| with.get("subject-path").cloned())
        .collect();
    assert!(
        subjects.contains("packages/pypi/*.whl") && subjects.contains("packages/npm/*.tgz"),
        "{subjects}"
    );
    // Only this job writes tags.
    let tagging = steps(&jobs["tag"]).any(|step| {
        step["run"]
            .as_str()
            .is_some_and(|run| run.contains("tag.sh"))
    });
    assert!(tagging);
    for script in ["version", "build", "image", "publish", "commit", "smoke"] {
        let text = read(&format!(".github/release/{script}.sh"));
        assert!(
            !text
                .lines()
                .any(|line| line.contains("push") && line.contains("refs/tags")),
            "{script}.sh pushes a tag"
        );
    }
}

fn visible() {
    let scripts = fs::read_dir(root().join(".github/release"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut texts: Vec<(String, String)> = scripts
        .map(|path| {
            (
                path.display().to_string(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect();
    texts.push(("setup/install.sh".to_owned(), read("setup/install.sh")));
    assert!(texts.len() >= 9, "{} scripts", texts.len());
    for (path, text) in &texts {
        assert!(
            text.contains("\nset -euo pipefail\n"),
            "{path} goes on after a failure"
        );
        for hidden in ["/dev/null", "|| true", "|| :", "2>&1"] {
            assert!(!text.contains(hidden), "{path} hides a failure: {hidden}");
        }
    }
    assert!(!read(".github/workflows/release.yml").contains("continue-on-error"));
}

fn setup() {
    let script = read("setup/install.sh");
    let (_, action) = yaml("setup/action.yml");
    let given = action["runs"]["steps"][0]["env"]
        .as_object()
        .unwrap()
        .keys();
    for name in given.filter(|name| name.starts_with("SETUP_")) {
        assert!(
            script.contains(name.as_str()),
            "install.sh does not read {name}"
        );
    }
    assert!(script.contains("archive=goldgate-$name.tar.gz"));
    assert!(read(".github/release/build.sh").contains("/goldgate-$name.tar.gz"));
    for built in release()["jobs"]["build"]["strategy"]["matrix"]["include"]
        .as_array()
        .unwrap()
    {
        let name = built["name"].as_str().unwrap();
        assert!(
            script.contains(&format!(") name={name} ;;")),
            "install.sh does not know {name}"
        );
    }
    // Only the commit of a release names a version.
    assert!(
        read("setup/release.txt")
            .lines()
            .all(|line| line.starts_with('#'))
    );
    assert!(read(".github/release/commit.sh").contains("setup/release.txt"));
}

fn image() {
    let (text, action) = yaml("action.yml");
    assert_eq!(action["runs"]["image"], "Dockerfile");
    // GitHub's Marketplace takes at most 125 characters.
    for file in ["action.yml", "setup/action.yml"] {
        let description = yaml(file).1["description"].as_str().unwrap().to_owned();
        assert!(
            description.len() < 125,
            "{file}: the description has {} characters",
            description.len()
        );
    }
    assert!(
        text.contains("\n  image: Dockerfile\n"),
        "commit.sh replaces this line"
    );
    let dockerfile = read("Dockerfile");
    for from in dockerfile
        .lines()
        .filter_map(|line| line.strip_prefix("FROM "))
    {
        assert!(
            from == "scratch" || from.contains("@sha256:"),
            "{from} is not named by digest"
        );
    }
    // The package on ghcr.io is linked to the repository by it.
    for script in ["build", "image"] {
        let text = read(&format!(".github/release/{script}.sh"));
        assert!(
            text.contains("org.opencontainers.image.source=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"),
            "{script}.sh"
        );
    }
}
