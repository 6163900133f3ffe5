//! The repositories of `tests/cases`, and the whole program run in one of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use goldgate::app::{Ended, execute};
use goldgate::world::World;

/// The largest repository that is a seed, in bytes.
const LARGEST: usize = 120_000;

/// The files of each small repository, by path.
pub fn small_repositories() -> Vec<BTreeMap<String, Vec<u8>>> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let mut small = Vec::new();
    for case in folders(&cases).iter().flat_map(|kind| folders(kind)) {
        let mut files = BTreeMap::new();
        collect(&case.join("files"), "", &mut files);
        let size: usize = files.values().map(Vec::len).sum();
        if files.contains_key("goldgate.yaml") && size <= LARGEST {
            small.push(files);
        }
    }
    assert!(!small.is_empty(), "tests/cases has no repository");
    small
}

/// A folder that no other process uses.
pub fn own_folder() -> PathBuf {
    env::temp_dir().join(format!("goldgate-fuzz-{}", std::process::id()))
}

/// Runs the program in a folder.
pub fn run(folder: &Path, arguments: &[&str]) -> Ended {
    env::set_current_dir(folder).expect("the folder of the seed exists");
    execute(["goldgate"].iter().chain(arguments).map(Into::into), &mut World::of_process())
}

/// Writes a file and its folders.
pub fn write(path: &Path, bytes: &[u8]) {
    path.parent().map(fs::create_dir_all).and_then(Result::ok).expect("a folder in the temporary folder");
    fs::write(path, bytes).expect("a file in the temporary folder");
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else if let Ok(bytes) = fs::read(entry.path()) {
            files.insert(name, bytes);
        }
    }
}
