//! Behaviour by folders: `tests/cases/AREA/SENTENCE/` has what the user has and what has to come out.
//!
//! `command` is the command line, or several of them one a line, `stdin` what it reads, `files/` the repository, `code`,
//! `stdout` and `stderr` what comes out; what is not there is
//! not looked at. `BLESS=1` writes them.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::repository::{Repository, root};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    let mut folders = Vec::new();
    for area in folders_of(&root().join("tests/cases")) {
        folders.extend(folders_of(&area));
    }
    let named = folders.into_iter().map(|folder| {
        let name = folder
            .strip_prefix(root().join("tests/cases"))
            .unwrap()
            .display()
            .to_string()
            .replace('_', " ");
        trial(name, move || check(&folder))
    });
    named.collect()
}

fn folders_of(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

fn check(folder: &Path) {
    let repository = Repository::empty();
    if folder.join("files").is_dir() {
        copy(&folder.join("files"), &repository.path(""));
    }
    let command = fs::read_to_string(folder.join("command")).unwrap();
    let input = fs::read(folder.join("stdin")).unwrap_or_default();
    let mut came = [
        ("code", String::new()),
        ("stdout", String::new()),
        ("stderr", String::new()),
    ];
    for line in command.lines() {
        let ran = repository.goldgate_reading(&line.split_whitespace().collect::<Vec<_>>(), &input);
        let texts = [format!("{}\n", ran.code), ran.stdout, ran.stderr];
        came.iter_mut()
            .zip(texts)
            .for_each(|((_, all), text)| all.push_str(&text));
    }
    for (name, text) in came {
        let file = folder.join(name);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let Ok(wanted) = fs::read_to_string(&file) else {
            continue;
        };
        assert!(
            wanted == text,
            "{name} differs; BLESS=1 rewrites it\n--- wanted\n{wanted}\n--- came\n{text}"
        );
    }
}

/// Copies a folder with everything in it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
