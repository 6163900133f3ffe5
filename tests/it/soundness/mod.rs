//! What a green check means: one folder an attack. `attack.yaml` names a repository, a change that makes the agent worse, and what
//! somebody does beside it to have it merged. Without the attack the change is red or has no verdict; with it, too.

mod base_values;
pub mod bases;
mod blocking_model_tier;
pub mod edits;
mod excuses;
mod fewer_samples;
mod first_baselines;
mod hidden_answers;
mod honest;
mod ignored_files;
mod lagging_baseline;
mod lost_samples;
mod missing_values;
mod more_samples;
mod random;
mod random_edits;
pub mod rules;
mod unexpected_calls;
mod unknown_values;
mod unseen_parts;

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use serde::Deserialize;

use self::edits::Edit;
use crate::golden_changes::commit_all;
use crate::repository::{Ran, Repository, root};
use crate::trial;

/// One attack, as its folder states it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// What somebody tries, in one sentence.
    pub why: String,
    /// The repository that it begins with: a function of `bases`.
    pub base: String,
    /// What makes the agent worse.
    #[serde(default)]
    pub regression: Vec<Edit>,
    /// The exit code of the regression alone.
    pub control: i32,
    /// What is done beside it.
    pub attack: Vec<Edit>,
    /// The exit code of both.
    pub verdict: i32,
    /// What the program says of it, on either stream.
    pub says: String,
    /// The program's arguments for the regression alone.
    #[serde(default = "against_base")]
    pub control_run: Vec<String>,
    /// Those for both.
    #[serde(default = "against_base")]
    pub run: Vec<String>,
}

fn against_base() -> Vec<String> {
    ["run", "--base", "HEAD"].map(str::to_owned).to_vec()
}

pub fn trials() -> Vec<Trial> {
    let each = |(name, folder): (String, PathBuf)| {
        trial(format!("no green: {name}"), move || attacked(&folder))
    };
    let mut trials: Vec<Trial> = attacks().into_iter().map(each).collect();
    trials.push(trial(
        "there are at least sixty attacks, and each says why",
        enough,
    ));
    trials.extend(base_values::trials());
    trials.extend(lagging_baseline::trials());
    trials.extend(missing_values::trials());
    trials.extend(excuses::trials());
    trials.extend(fewer_samples::trials());
    trials.extend(first_baselines::trials());
    trials.extend(hidden_answers::trials());
    trials.extend(honest::trials());
    trials.extend(ignored_files::trials());
    trials.extend(lost_samples::trials());
    trials.extend(blocking_model_tier::trials());
    trials.extend(more_samples::trials());
    trials.extend(random::trials());
    trials.extend(rules::trials());
    trials.extend(unexpected_calls::trials());
    trials.extend(unknown_values::trials());
    trials.extend(unseen_parts::trials());
    trials
}

/// What each attack is called, and its folder.
pub fn attacks() -> Vec<(String, PathBuf)> {
    let folders = std::fs::read_dir(root().join("tests/it/soundness/attacks")).unwrap();
    let mut attacks: Vec<_> = folders
        .map(|entry| {
            let folder = entry.unwrap().path();
            (
                folder
                    .file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('_', " "),
                folder,
            )
        })
        .collect();
    attacks.sort();
    attacks
}

pub fn read(folder: &Path) -> Attack {
    let text = std::fs::read_to_string(folder.join("attack.yaml")).unwrap();
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

fn attacked(folder: &Path) {
    let attack = read(folder);
    let repository = committed(&attack.base);
    attack
        .regression
        .iter()
        .for_each(|edit| edit.apply(&repository));
    let ran = unstamped(&repository, &attack.control_run);
    assert_eq!(
        ran.code, attack.control,
        "the control: {}{}",
        ran.stdout, ran.stderr
    );
    attack
        .attack
        .iter()
        .for_each(|edit| edit.apply(&repository));
    let ran = unstamped(&repository, &attack.run);
    assert_eq!(
        ran.code, attack.verdict,
        "{}: {}{}",
        attack.why, ran.stdout, ran.stderr
    );
    assert!(attack.verdict != 0, "an attack never ends green");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        said.contains(&attack.says),
        "{:?} is not said: {said}",
        attack.says
    );
}

/// A repository whose state is committed, with a baseline of its own numbers.
pub fn committed(base: &str) -> Repository {
    let repository = bases::base(base);
    let config = if base == "nested" {
        "evals/goldgate.yaml"
    } else {
        "goldgate.yaml"
    };
    repository.stamp(config);
    let ran = repository.goldgate(&[
        "run",
        "--update-baseline",
        "--quiet",
        "-v",
        "--config",
        config,
    ]);
    assert_eq!(ran.code, 0, "{base}: {}{}", ran.stdout, ran.stderr);
    commit_all(&repository);
    repository
}

/// Judges with recordings of the present files, as those of an agent that was recorded again are.
pub fn goldgate(repository: &Repository, arguments: &[String]) -> Ran {
    let config = arguments
        .iter()
        .skip_while(|argument| *argument != "--config")
        .nth(1);
    repository.stamp(config.map_or("goldgate.yaml", String::as_str));
    unstamped(repository, arguments)
}

/// Judges with the recordings as they are.
pub fn unstamped(repository: &Repository, arguments: &[String]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if arguments.contains(&"--base") {
        arguments.push("--dirty");
    }
    repository.goldgate_on_commit(&arguments, &[("PATH", &path)])
}

fn enough() {
    let folders: Vec<_> = std::fs::read_dir(root().join("tests/it/soundness/attacks"))
        .unwrap()
        .collect();
    assert!(folders.len() >= 60, "{}", folders.len());
    for folder in folders {
        let attack = read(&folder.unwrap().path());
        assert!(
            attack.why.ends_with('.') && attack.control != 0,
            "{}",
            attack.why
        );
    }
}
