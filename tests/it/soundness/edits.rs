//! What a person does to a repository, as a folder states it.

use serde::Deserialize;
use serde_json::Value;

use crate::repository::Repository;

/// One step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum Edit {
    /// Writes a file.
    Write { file: String, text: String },
    /// Replaces a text that has to be there in a file, or in every file of a folder.
    Replace {
        file: String,
        from: String,
        to: String,
    },
    /// Sets a value in a JSON file, by its pointer; `null` removes it.
    Set {
        file: String,
        at: String,
        value: Value,
    },
    /// Removes a file or a folder.
    Remove { path: String },
    /// Moves a file or a folder.
    Move { from: String, to: String },
    /// Copies a file or a folder.
    Copy { from: String, to: String },
    /// Makes a link.
    Link { path: String, to: String },
    /// Makes a bare clone of the repository as it is now, as ordinary files of a folder.
    Bare { folder: String },
    /// Makes a folder a submodule, with its files as they are in a commit of its own.
    Submodule { folder: String },
    /// Makes a folder a submodule that the index of the repository has and that is not checked out.
    Unfetched { folder: String },
    /// Gives the samples of each case of a folder other numbers: the last one becomes the first.
    Renumber { folder: String },
    /// Runs the program.
    Run { arguments: Vec<String> },
}

impl Edit {
    pub fn apply(&self, repository: &Repository) {
        match self {
            Self::Write { file, text } => repository.write(file, text),
            Self::Replace { file, from, to } => {
                for file in files(repository, file) {
                    repository.replace(&file, from, to);
                }
            }
            Self::Set { file, at, value } => {
                for file in files(repository, file) {
                    set(repository, &file, at, value);
                }
            }
            Self::Remove { path } => repository.remove(path),
            Self::Move { from, to } => {
                std::fs::create_dir_all(repository.path(to).parent().unwrap()).unwrap();
                std::fs::rename(repository.path(from), repository.path(to)).unwrap();
            }
            Self::Copy { from, to } => copy(repository, from, to),
            Self::Link { path, to } => {
                std::fs::create_dir_all(repository.path(path).parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(to, repository.path(path)).unwrap();
            }
            Self::Bare { folder } => bare(repository, folder),
            Self::Submodule { folder } => submodule(repository, folder),
            Self::Unfetched { folder } => unfetched(repository, folder),
            Self::Renumber { folder } => renumber(repository, folder),
            Self::Run { arguments } => {
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let path = std::env::var("PATH").unwrap();
                let ran = repository.goldgate_with(&arguments, &[("PATH", &path)]);
                assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
            }
        }
    }
}

/// The file, or every file below the folder.
pub fn files(repository: &Repository, path: &str) -> Vec<String> {
    let whole = repository.path(path);
    if whole.is_file() {
        return vec![path.to_owned()];
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&whole).unwrap_or_else(|error| panic!("{path}: {error}")) {
        found.extend(files(
            repository,
            &format!("{path}/{}", entry.unwrap().file_name().to_str().unwrap()),
        ));
    }
    found.sort();
    found
}

fn renumber(repository: &Repository, folder: &str) {
    for case in std::fs::read_dir(repository.path(folder)).unwrap() {
        let case = format!("{folder}/{}", case.unwrap().file_name().to_str().unwrap());
        let samples = files(repository, &case);
        let texts: Vec<String> = samples.iter().map(|file| repository.read(file)).collect();
        for (file, text) in samples
            .iter()
            .zip(texts.iter().cycle().skip(texts.len() - 1))
        {
            repository.write(file, text);
        }
    }
}

fn set(repository: &Repository, file: &str, at: &str, value: &Value) {
    let mut whole: Value = serde_json::from_str(&repository.read(file)).unwrap();
    let (parent, key) = at.rsplit_once('/').unwrap();
    let parent = whole
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("{file} has no {parent}"));
    match parent {
        Value::Object(fields) if value.is_null() => drop(fields.remove(key)),
        Value::Object(fields) => drop(fields.insert(key.to_owned(), value.clone())),
        Value::Array(items) if key == "-" => items.push(value.clone()),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value.clone(),
        other => panic!("{file}: {other}"),
    }
    repository.write(file, serde_json::to_string_pretty(&whole).unwrap());
}

fn copy(repository: &Repository, from: &str, to: &str) {
    if repository.path(from).is_file() {
        return repository.write(to, std::fs::read(repository.path(from)).unwrap());
    }
    crate::cases::copy(&repository.path(from), &repository.path(to));
}

/// What F3 of the findings did: `HEAD`, `objects` and `refs` are ordinary files, and git takes the folder for a repository.
fn bare(repository: &Repository, folder: &str) {
    let git = |arguments: &[&str]| {
        let ran = std::process::Command::new("git")
            .arg("-C")
            .arg(repository.path(""))
            .args([
                "-c",
                "user.name=Subject A",
                "-c",
                "user.email=a@example.org",
            ])
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    };
    git(&["stash", "push", "-q", "--include-untracked"]);
    git(&["stash", "apply", "-q"]);
    let scratch = tempfile::tempdir().unwrap();
    let bare = scratch.path().join("bare");
    git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    git(&[
        "push",
        "-q",
        "--force",
        bare.to_str().unwrap(),
        "stash@{0}:refs/heads/trick",
    ]);
    let name = std::fs::read_to_string(bare.join("HEAD"))
        .unwrap()
        .trim()
        .trim_start_matches("ref: ")
        .to_owned();
    git(&[
        "push",
        "-q",
        "--force",
        bare.to_str().unwrap(),
        &format!("stash@{{0}}:{name}"),
    ]);
    git(&["stash", "drop", "-q"]);
    crate::cases::copy(&bare, &repository.path(folder));
}

/// As a checkout with submodules has it: `.git` of the folder is a file that leads into that of the repository around it.
pub fn submodule(repository: &Repository, folder: &str) {
    let path = repository.path(folder);
    let own = repository.path(&format!(".git/modules/{folder}"));
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    for arguments in [
        &[
            "init",
            "-q",
            "--separate-git-dir",
            own.to_str().unwrap(),
            ".",
        ][..],
        &["add", "-A"],
        &["commit", "-q", "--no-verify", "-m", "inside"],
    ] {
        let identity = [
            "-c",
            "user.name=Subject A",
            "-c",
            "user.email=a@example.org",
        ];
        let ran = std::process::Command::new("git")
            .arg("-C")
            .arg(&path)
            .args(identity)
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}

fn unfetched(repository: &Repository, folder: &str) {
    submodule(repository, folder);
    let path = repository.path(folder);
    let (around, name) = (
        path.parent().unwrap(),
        path.file_name().unwrap().to_str().unwrap(),
    );
    for arguments in [
        &["rm", "-rq", "--cached", "--ignore-unmatch", name][..],
        &["add", name],
    ] {
        let ran = std::process::Command::new("git")
            .arg("-C")
            .arg(around)
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
}
