//! A small repository in a folder of its own, and the program run in it with a clean environment.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use crate::cases::copy;

/// A repository that one test may change as it likes.
pub struct Repository {
    folder: TempDir,
    keeps_digests: AtomicBool,
}

/// What a run of the program gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

pub const CONFIG: &str = "\
version: 1
baseline: baselines/latest.json
suites:
  - id: contracts
    kind: findings
    policy: seed
    path: golden
    agents:
      legal: { deterministic: { replay: golden/runs }, fingerprint: [prompts/legal.md] }
";

/// The files of [`Repository::small`].
pub const FILES: [&str; 5] = [
    "goldgate.yaml",
    "prompts/legal.md",
    "golden/contracts/lease.md",
    "golden/expected/legal/lease.json",
    "golden/runs/legal/lease.json",
];

pub const EXPECTED: &str = r#"{
  "expected_findings": [
    { "category": "change_of_control", "min_severity": "medium", "max_severity": "critical",
      "must_contain_keywords": ["change of control", "consent"], "keyword_synonyms": { "consent": ["approval"] },
      "citation_must_reference": "lease.md" }
  ],
  "expected_gaps": ["Missing_Doc"],
  "must_not_find": [ { "category": "termination", "reason": "there is no such right here" } ],
  "max_expected_findings": 3
}
"#;

pub const RUN: &str = r#"{
  "schema": "goldgate.run/1", "agent": "legal", "case": "lease", "sample": 0, "status": "completed",
  "outputs": {
    "findings": [
      { "category": "change-of-control", "severity": "P1", "title": "Change of control",
        "description": "Needs prior approval.", "citations": [ { "file": "docs/lease.md", "quote": "a change of control" } ] }
    ],
    "gaps": ["missing doc"]
  }
}
"#;

impl Repository {
    /// An empty repository.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        Self {
            folder,
            keeps_digests: AtomicBool::new(false),
        }
    }

    /// One findings suite with one agent on one contract, that passes.
    pub fn small() -> Self {
        let repository = Self::empty();
        repository.write("goldgate.yaml", CONFIG);
        repository.write(
            "golden/contracts/lease.md",
            "# Lease\n\nOn a change of control the landlord has to approve.\n",
        );
        repository.write("golden/expected/legal/lease.json", EXPECTED);
        repository.write("golden/runs/legal/lease.json", RUN);
        repository.write("prompts/legal.md", "Report every change of control.\n");
        repository
    }

    /// This repository's own suites, with their recordings and the baseline.
    pub fn bundled() -> Self {
        let repository = Self::empty();
        for folder in ["fixtures", "examples", "baselines"] {
            copy(&root().join(folder), &repository.path(folder));
        }
        repository.write(
            "goldgate.yaml",
            std::fs::read(root().join("goldgate.yaml")).unwrap(),
        );
        repository
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    pub fn replace(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} has no {from:?}");
        self.write(file, text.replace(from, to));
    }

    pub fn remove(&self, file: &str) {
        let path = self.path(file);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap()
        } else {
            std::fs::remove_file(path).unwrap()
        }
    }

    /// Runs the program here.
    pub fn goldgate(&self, arguments: &[&str]) -> Ran {
        self.goldgate_with(arguments, &[])
    }

    /// Runs the program here with something on its standard input.
    pub fn goldgate_reading(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let file = self.path(".stdin");
        std::fs::write(&file, input).unwrap();
        let file = std::fs::File::open(file).unwrap();
        ran(program(self.folder.path()).args(arguments).stdin(file))
    }

    /// Runs the program here with further environment variables. A test edits files and compares them with a commit at once, so `--base`
    /// comes with `--dirty` and with digests of these files; see [`Self::goldgate_on_commit`].
    pub fn goldgate_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut arguments = arguments.to_vec();
        let is_compared = matches!(arguments.first(), Some(&"run" | &"merge"));
        if is_compared && arguments.contains(&"--base") && !arguments.contains(&"--dirty") {
            arguments.push("--dirty");
            let config = arguments
                .iter()
                .skip_while(|argument| **argument != "--config")
                .nth(1);
            self.stamp(config.copied().unwrap_or("goldgate.yaml"));
        }
        self.goldgate_on_commit(&arguments, variables)
    }

    /// Lets the recordings state the present files, as those of an agent that was recorded again do. A config that cannot be read has none.
    pub fn stamp(&self, config: &str) -> Ran {
        ran(program(self.folder.path()).args(["stamp", "--stale", "--config", config]))
    }

    /// From now on the recordings keep the digests that they state, for a test that is about recordings.
    pub fn keep_digests(&self) {
        self.keeps_digests.store(true, Ordering::Relaxed);
    }

    /// Lets the recordings of every config here, or one folder below, state the present files, unless a test keeps their digests.
    pub fn stamp_unless_kept(&self) {
        if self.keeps_digests.load(Ordering::Relaxed) {
            return;
        }
        let folders = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        let below = folders.map(|entry| entry.file_name().into_string().unwrap());
        let configs = below.map(|folder| format!("{folder}/goldgate.yaml"));
        for config in configs.chain(["goldgate.yaml".to_owned()]) {
            if self.path(&config).is_file() {
                self.stamp(&config);
            }
        }
    }

    /// Runs the program here with exactly these arguments: without `--dirty`, the files have to be those of the commit.
    pub fn goldgate_on_commit(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        ran(program(self.folder.path())
            .args(arguments)
            .envs(variables.iter().copied()))
    }
}

/// The program under test: the one that cargo has built beside the tests, or the one that `GOLDGATE_BINARY` names.
pub fn binary() -> PathBuf {
    std::env::var_os("GOLDGATE_BINARY").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_goldgate")),
        PathBuf::from,
    )
}

/// The program with nothing of this process's environment, and a clock that stands still.
pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(binary());
    command
        .current_dir(folder)
        .env_clear()
        .env("SOURCE_DATE_EPOCH", "1795219200");
    command
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The root of this crate.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
